# SPDX-License-Identifier: Apache-2.0
"""Hosts for a measurement, and whether ranks can have control groups."""

import pytest
from tollbar import children
from tollbar.machine import mpi_hosts, mpis, paths
from tollbar.machine.mpi_hosts import Hosts, why_no_groups

MPI = mpis.Mpi("openmpi", "5.0.11", paths.Path("/"))


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A scripts/hosts that says what it is told; gives the file it says it to."""
    monkeypatch.setattr(mpi_hosts.paths, "checkout", lambda: tmp_path)
    path = tmp_path / "scripts" / "hosts"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nshift 2\necho "$@" >>{tmp_path}/told\n[ "$1" != options ] || echo --host a,b\n')
    path.chmod(0o755)
    return tmp_path / "told"


def test_hosts_are_up_for_as_long_as_they_are_needed(script):
    with Hosts(4) as hosts:
        assert hosts.options(MPI, 2) == ["--host", "a,b"]
    assert script.read_text().splitlines() == ["up 4", "options openmpi5 2", "down"]


def test_hosts_that_are_being_made_when_an_interrupt_comes_are_taken_down(script, monkeypatch):
    run = children.run

    def interrupted(command, *limit):
        done = run(command, *limit)
        if "up" in command:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(children, "run", interrupted)
    with pytest.raises(KeyboardInterrupt), Hosts(4):
        pass
    assert script.read_text().splitlines() == ["up 4", "down"]


def test_one_host_is_this_machine(script):
    with Hosts(1) as hosts:
        assert hosts.options(MPI, 4) == []
    assert not script.exists()


def test_hosts_that_cannot_be_made_say_why(script):
    (script.parent / "scripts" / "hosts").write_text("#!/bin/sh\necho hosts: needs root >&2\nexit 1\n")
    with pytest.raises(RuntimeError, match="needs root"), Hosts(2):
        pass


def test_outside_a_checkout_there_are_no_hosts(monkeypatch):
    monkeypatch.setattr(mpi_hosts.paths, "checkout", lambda: None)
    with pytest.raises(FileNotFoundError, match="only a checkout has"), Hosts(2):
        pass


def test_groups_need_a_cpu_controller(tmp_path):
    assert why_no_groups(tmp_path) == "there is no cpu controller"
    (tmp_path / "cgroup.subtree_control").write_text("memory pids\n")
    assert "is not given to groups" in why_no_groups(tmp_path)
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    assert why_no_groups(tmp_path) is None
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.shares").touch()
    assert why_no_groups(tmp_path) is None


def test_no_two_processes_that_live_make_hosts_of_one_name(monkeypatch):
    numbers = (1, 35, 36, 16**4, 16**5 + 1, 2**22)
    monkeypatch.setattr(mpi_hosts.paths, "checkout", lambda: None)
    names = []
    for number in numbers:
        monkeypatch.setattr("os.getpid", lambda number=number: number)
        names.append(Hosts(2)._id)
    assert len({*names}) == len(numbers)
    assert all(len(name) <= 6 for name in names)


def test_hosts_that_do_not_come_up_in_time_are_no_hosts(script, monkeypatch):
    (script.parent / "scripts" / "hosts").write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr(mpi_hosts, "_LIMIT_S", 0.3)
    with pytest.raises(RuntimeError, match="scripts/hosts up has not ended within"), Hosts(2):
        pass
