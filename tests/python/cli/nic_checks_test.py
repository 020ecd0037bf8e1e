# SPDX-License-Identifier: Apache-2.0
"""What a host lacks for barriers on its NIC is named, with what would mend it."""

import pytest
from tollbar.cli import nic_checks
from tollbar.cli.findings import ABSENT, OK, WRONG
from tollbar.machine import kernel, nic_daemon


@pytest.fixture
def no_daemon(tmp_path):
    return str(tmp_path / "nobody")


def row(found, what):
    return next(each for each in found if each.what == what)


def state(groups: int, most: int = 4) -> dict:
    return {
        "interface": "lo",
        "mode": "generic",
        "most": most,
        "departed": 0,
        "held": groups,
        "counts": {},
        "groups": [{}] * groups,
    }


def test_a_daemon_that_is_not_there_is_named_with_the_command_that_starts_it(no_daemon):
    found = row(nic_checks.findings(no_daemon), "NIC daemon's socket")
    assert (found.state, found.remedy) == (ABSENT, "sudo tollbar nic up")
    assert no_daemon in found.why


def test_an_old_kernel_is_named(no_daemon, monkeypatch):
    monkeypatch.setattr(nic_checks.platform, "release", lambda: "6.1.0-31-amd64")
    found = row(nic_checks.findings(no_daemon), "kernel for NICs")
    assert found.state == ABSENT
    assert "6.1.0-31-amd64" in found.why
    monkeypatch.setattr(nic_checks.platform, "release", lambda: "6.12.9")
    assert row(nic_checks.findings(no_daemon), "kernel for NICs").state == OK


def test_a_right_that_is_missing_is_named(no_daemon, monkeypatch):
    monkeypatch.setattr(kernel, "lacking", lambda *names: ["CAP_BPF", "CAP_PERFMON"])
    found = row(nic_checks.findings(no_daemon), "right to load BPF")
    assert found.state == ABSENT
    assert "no CAP_BPF and no CAP_PERFMON" in found.why
    monkeypatch.setattr(kernel, "lacking", lambda *names: [])
    assert row(nic_checks.findings(no_daemon), "right to load BPF").state == OK


def test_a_nic_that_is_nearly_full_is_named(monkeypatch):
    monkeypatch.setattr(nic_daemon, "status", lambda _: state(4))
    found = row(nic_checks.findings("anywhere"), "groups on the NIC")
    assert found.state == WRONG
    assert "--groups 8" in found.remedy
    monkeypatch.setattr(nic_daemon, "status", lambda _: state(1))
    assert row(nic_checks.findings("anywhere"), "groups on the NIC").state == OK


def test_an_interface_that_is_not_there_is_named(no_daemon):
    assert row(nic_checks.findings(no_daemon, "no-such"), "interface no-such").state == WRONG


@pytest.fixture
def nobody(tollbar, no_daemon, monkeypatch):
    """The command on a host whose daemon does not run."""
    monkeypatch.setenv("TOLLBAR_NICD", no_daemon)
    return tollbar


def test_a_status_that_cannot_be_had_is_a_failed_check(nobody, no_daemon):
    said = nobody("nic", "status")
    assert said.code == 1
    assert said.err.startswith(f"tollbar nic: no daemon at {no_daemon}")


def test_nics_that_answer_and_nics_that_do_not_are_told_apart(nobody, monkeypatch):
    monkeypatch.setattr(nic_daemon, "echo_us", {"10.0.0.1": 30.0, "10.0.0.2": None}.get)
    assert nobody("doctor", "10.0.0.1").code == 0
    said = nobody("doctor", "10.0.0.1", "10.0.0.2", "--format", "csv")
    assert said.code == 1
    assert "NIC 10.0.0.1,ok,its program answered in 30 us," in said.out
    assert 'NIC 10.0.0.2,wrong,"its program does not answer' in said.out


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("up", "--groups", "0"), "'0' is not a number of groups from 1 to 1024"),
        (("up", "--groups", "-5"), "'-5' is not a number of groups from 1 to 1024"),
        (("up", "--groups", "1025"), "'1025' is not a number of groups from 1 to 1024"),
        (("up", "--per-user", "0"), "'0' is not a number of groups from 1 to 1024"),
        (("down", "--groups", "4"), "--groups is not an option of `tollbar nic down`"),
        (("status", "--interface", "eth0"), "--interface is not an option of `tollbar nic status`"),
        (("down", "10.0.0.1"), "unrecognized arguments: 10.0.0.1"),
    ],
)
def test_what_a_verb_of_the_nic_does_not_take_is_refused_before_anything_starts(nobody, monkeypatch, asked, why):
    for does in ("start", "stop", "status"):
        monkeypatch.setattr(nic_daemon, does, lambda *_: pytest.fail("something was done"))
    assert why in nobody("nic", *asked).refusal
