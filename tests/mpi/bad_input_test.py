# SPDX-License-Identifier: Apache-2.0
"""What a user or a machine may get wrong: one line that says so, and a barrier that works."""

import shutil
import subprocess

import pytest
from mpi_jobs import leaves_nothing, segments
from needs import left_out
from tollbar.machine import doors, paths


def only_line(outcome) -> str:
    assert len(outcome.lines_of_tollbar()) == 1, outcome.said
    return outcome.lines_of_tollbar()[0]


def test_an_unknown_plan_is_named_once_with_what_is_accepted(run, door):
    line = only_line(run(door, 4, "late_rank", "4", "", TOLLBAR_PLAN="foo"))
    assert "foo" in line
    assert "dissemination" in line


def test_a_wrong_parameter_of_a_plan_is_named_once(run, door):
    assert "combining:1" in only_line(run(door, 4, "late_rank", "4", "", TOLLBAR_PLAN="combining:1"))


@pytest.mark.parametrize("value", ["soon", "-1"])
def test_a_wrong_time_limit_leaves_the_barrier_as_it_is(run, door, value):
    outcome = run(door, 4, "late_rank", "4", "", TOLLBAR_TIMEOUT=value)
    assert any(value in line for line in outcome.lines_of_tollbar()), outcome.said


def test_ranks_that_want_different_plans_are_named_and_choose_together(run, door):
    script = 'if [ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" = 2 ]; then export TOLLBAR_PLAN=mcs; fi; exec "$@"'
    line = only_line(run(door, 4, "late_rank", "4", "", before=["sh", "-c", script, "sh"], TOLLBAR_PLAN="bst"))
    assert "rank 0 'bst'" in line
    assert "rank 2 'mcs'" in line


def test_a_corrupt_tuning_file_is_left_alone(run, door, tmp_path):
    tuning = tmp_path / "corrupt"
    tuning.write_bytes(b'{"broken": \0\xff' + bytes(range(256)))
    before = tuning.read_bytes()
    run(door, 4, "late_rank", "3,4", "", TOLLBAR_TUNING=str(tuning))
    assert tuning.read_bytes() == before


def test_a_tuning_file_that_cannot_be_had_is_done_without(run, door):
    run(door, 4, "late_rank", "3,4", "", TOLLBAR_TUNING="/dev/null/tuning")


@pytest.fixture(scope="module")
def full_shared_memory() -> list[str]:
    """What starts a command in a world of its own whose /dev/shm holds 64 kB, all of them taken."""
    script = 'mount -t tmpfs -o size=64k none /dev/shm && (head -c 65536 /dev/zero >/dev/shm/full; exec "$@")'
    words = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.call([*words, "true"], stderr=subprocess.DEVNULL) != 0:
        pytest.skip("a mount namespace cannot be had, so /dev/shm cannot be full")
    return words


def test_ranks_meet_by_messages_where_shared_memory_is_full(run, door, full_shared_memory):
    # What the MPIs themselves do without it.
    own = {"OMPI_MCA_btl": "tcp,self", "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "sysv,self"}
    plans = ["", "dissemination", "mcs", "central", "turnstile/bst"]
    outcome = run(door, 5, "late_rank", "2,3,5", *plans, first=full_shared_memory, TOLLBAR_VERBOSE="1", **own)
    assert "use messages instead of shared memory" in outcome.said


def test_a_killed_rank_ends_the_job_and_leaves_nothing_behind(start, door):
    before = segments()
    job = start(door, 4, "killed")
    outcome = job.finish()
    assert outcome.code != 0
    assert "passed: " not in outcome.said
    assert len(job.processes()) == 4
    leaves_nothing(job, before)


@pytest.mark.every_door
def test_a_preload_for_another_mpi_says_so_and_steps_aside(run, door):
    if door.name == "component":
        pytest.skip("a component of another series is not loaded by Open MPI at all")
    other = paths.find_library(doors.PRELOADS["mpich" if door.name == "openmpi" else "openmpi"])
    if other is None:
        left_out("the preload of the other MPI is not built")
    outcome = run(door, 3, "late_rank", "2,3", "", opened=["env", f"LD_PRELOAD={other}"])
    assert any(other.name in line for line in outcome.lines_of_tollbar()), outcome.said
