# SPDX-License-Identifier: Apache-2.0
"""The daemon of NICs is waited for as long as is agreed, and no longer."""

import pytest
from tollbar.machine import nic_daemon


@pytest.fixture
def daemon(tmp_path, monkeypatch):
    """Puts a script in place of the daemon."""

    def write(script):
        program = tmp_path / "bin" / "tollbar-nicd"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
        return str(tmp_path / "socket")

    return write


def test_a_daemon_that_is_never_ready_is_ended(daemon, monkeypatch):
    monkeypatch.setattr(nic_daemon, "_STARTING_S", 0.3)
    with pytest.raises(nic_daemon.DaemonError, match=r"was not ready within .* s and was ended"):
        nic_daemon.start("eth0", "auto", daemon("exec sleep 600"), [])


def test_a_daemon_that_ends_at_once_says_why(daemon):
    with pytest.raises(nic_daemon.DaemonError, match="no such card"):
        nic_daemon.start("eth0", "auto", daemon("echo tollbar-nicd: no such card >&2; exit 1"), [])


def test_a_nic_that_does_not_answer_has_no_time(daemon, monkeypatch):
    monkeypatch.setattr(nic_daemon, "_STARTING_S", 0.3)
    daemon("exec sleep 600")
    assert nic_daemon.echo_us("10.0.0.1") is None


def test_who_may_not_make_the_folder_of_the_socket_is_told_who_may(daemon, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    daemon("exit 1")
    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(
        nic_daemon.DaemonError, match=r"^/run/x: Permission denied; run it as root, or set TOLLBAR_NICD"
    ):
        nic_daemon.start("eth0", "auto", "/run/x/socket", [])
