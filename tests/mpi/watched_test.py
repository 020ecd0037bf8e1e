# SPDX-License-Identifier: Apache-2.0
"""With TOLLBAR_TIMEOUT a collective call says for whom it waits, where those are and what they do instead."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from code_places import PLACE, line_of
from mpi_jobs import open_door, through
from needs import left_out
from tollbar.machine import doors, paths
from watching import HOST, MISSING, ODD, RANKS, REPORT, end_well, first_report, library, opened, reports, seats


@pytest.fixture
def watch(start):
    """watch(door, how...) -> the job, whose calls are watched."""

    def watch(door, *how, program="watched", **settings):
        settings = {"TOLLBAR_TIMEOUT": "1", "opened": opened(door)} | settings
        return start(door, RANKS, program, *how, **settings)

    return watch


@pytest.mark.every_door
@pytest.mark.parametrize(
    ("how", "call"),
    [
        ("barrier", "MPI_Barrier"),
        ("allreduce", "MPI_Allreduce"),
        ("bcast", "MPI_Bcast"),
        ("gather", "MPI_Gather"),
        ("scatter", "MPI_Scatter"),
        ("allgather", "MPI_Allgather"),
        ("alltoall", "MPI_Alltoall"),
        ("alltoallv", "MPI_Alltoallv"),
        ("split", "MPI_Comm_split"),
    ],
)
def test_the_rank_that_does_not_come_to_a_collective_call_is_named(watch, door, how, call):
    job = watch(door, how)
    report = first_report(job)
    assert (report["name"], report["ranks"], report["call"], report["number"]) == ("MPI_COMM_WORLD", "4", call, " 2")
    assert float(report["waited"]) >= 1.0
    missing = re.fullmatch(
        MISSING + rf"outside the MPI, (?:running|asleep)[^,]*, after MPI_Bcast 1 of MPI_COMM_WORLD at ({PLACE})",
        report["who"],
    )
    assert missing, report
    assert int(missing[1]) == job.processes()[ODD]
    assert "watched.c:" in line_of(report["site"])
    assert "watched.c:" in line_of(missing[2])
    end_well(job)


def test_a_rank_has_come_before_the_mpi_has_answered_a_question(watch, door):
    job = watch(door, program="asking")
    assert re.match(MISSING, first_report(job)["who"]), job.said()
    end_well(job)


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_barrier_of_another_communicator_with_the_same_ranks_is_another_barrier(watch, door, when):
    job = watch(door, when, program="elsewhere")
    number = 1 if when == "first" else 2
    job.await_that(lambda: len({report["name"] for report in reports(job)}) == 2, "the reports about both")
    at = {report["name"]: report["who"] for report in reports(job)}
    assert re.match(MISSING + f"in MPI_Barrier {number} of copy", at["MPI_COMM_WORLD"]), at
    assert job.told() == 0, "somebody has passed a barrier"


@pytest.mark.parametrize(("how", "wait"), [("iallreduce", "in MPI_Wait"), ("tested", "polling by MPI_Test")])
def test_a_nonblocking_call_is_named_with_the_wait_for_it(watch, door, how, wait):
    job = watch(door, how)
    report = first_report(job)
    assert (report["call"], report["number"]) == ("MPI_Iallreduce", " 2")
    assert report["how"].startswith(f" {wait} at "), report
    assert re.match(MISSING, report["who"]), report
    end_well(job)


@pytest.mark.parametrize(
    ("by", "call"), [("wait", "MPI_Wait"), ("waitall", "MPI_Waitall"), ("start", "MPI_Wait"), ("test", "MPI_Test")]
)
def test_a_wait_for_a_request_names_the_partner_of_its_message(watch, door, by, call):
    job = watch(door, "later", by)
    job.await_that(lambda: any(one["call"] == call for one in reports(job)), "the report")
    report = next(one for one in reports(job) if one["call"] == call)
    assert re.match(rf"(?:\d ranks wait for it: )?rank {ODD} \(host {HOST}, process \d+\) is outside", report["who"])
    end_well(job)


def test_of_requests_that_are_none_the_mpi_says_so(watch, door):
    outcome = watch(door, "wrong").finish()
    assert (outcome.code, outcome.said.count("passed: 16 checks")) == (0, 1), outcome.said


def test_a_wait_is_for_the_collective_call_of_its_request(watch, door):
    for _ in range(3):
        job = watch(door, "begun")
        report = first_report(job)
        if not report["how"].endswith(", perhaps for this call"):
            break
        end_well(job)  # two requests may have one of the 512 places, which is the later one's then
    assert (report["name"], report["call"], report["number"]) == ("the other", "MPI_Ibcast", " 1")
    assert re.fullmatch(rf" in MPI_Wait at {PLACE}", report["how"]), report
    assert re.match(MISSING, report["who"]), report
    end_well(job)


@pytest.mark.parametrize("name", ["component", "openmpi", "mpich", *through(["mpich-wheel"])])
def test_the_rank_that_has_not_started_a_persistent_call_is_named(watch, name):
    job = watch(open_door(name), "persistent")
    report = first_report(job)
    assert (report["name"], report["call"], report["number"]) == ("MPI_COMM_WORLD", "MPI_Allreduce_init", " 3")
    assert re.fullmatch(rf" in MPI_Wait at {PLACE}, for start 3 of it", report["how"]), report
    assert re.match(MISSING.replace("come", "started it"), report["who"]), report
    end_well(job)


@pytest.mark.parametrize(
    ("made_by", "call", "last"),
    [
        ("cart_create", "MPI_Neighbor_allgather", "MPI_Cart_create 2"),
        ("idup", "MPI_Barrier", "MPI_Comm_idup 2"),
        ("create_group", "MPI_Barrier", "MPI_Bcast 1"),
        ("intercomm_create", "MPI_Barrier", "MPI_Comm_split 2"),
    ],
)
def test_a_rank_that_has_not_yet_used_a_communicator_is_missing_there(watch, door, made_by, call, last):
    job = watch(door, "new", made_by)
    job.await_that(lambda: any(one["name"] == "the new one" for one in reports(job)), "the report")
    report = next(one for one in reports(job) if one["name"] == "the new one")
    assert (report["call"], report["number"]) == (call, " 1")
    assert re.match(MISSING + f"outside the MPI, .*, after {last} of MPI_COMM_WORLD at ", report["who"]), report
    end_well(job)


def test_another_collective_call_is_named_beside_the_one_of_the_others(watch, door):
    report = first_report(watch(door, "call"))
    assert re.fullmatch(
        rf"rank {ODD} \(host {HOST}, process \d+\) called MPI_Bcast \(root 0\) at {PLACE} "
        "where 3 ranks called MPI_Allreduce",
        report["who"],
    ), report


def test_another_root_is_named_beside_the_one_of_the_others(watch, door):
    report = first_report(watch(door, "root"))
    assert re.fullmatch(
        rf"rank {ODD} \(host {HOST}, process \d+\) called MPI_Bcast \(root 3\) at {PLACE} "
        rf"where 3 ranks called MPI_Bcast \(root {ODD}\)",
        report["who"],
    ), report


@pytest.mark.parametrize(
    ("call", "bytes_", "others"),
    [
        ("Gather", "4 bytes", "8 bytes"),
        ("Scatter", "4 bytes", "8 bytes"),
        ("Allgather", "0 bytes given and 8 bytes expected", "8 bytes"),
    ],
)
def test_bytes_that_do_not_meet_are_named(watch, door, call, bytes_, others):
    said = re.compile(
        rf"rank 3 \(host {HOST}, process \d+\) called MPI_{call} \({bytes_}\) at {PLACE} "
        rf"where 2 ranks called MPI_{call} \({others}\); " + MISSING
    )
    job = watch(door, "unlike", call.lower())
    # A root goes on: what it waits for then may be overdue before that is, where ranks wait for a CPU.
    job.await_that(lambda: any(said.match(report["who"]) for report in reports(job)), "the report")


def test_two_communicators_in_different_orders_are_told_apart(watch, door):
    job = watch(door, "order")
    job.await_that(lambda: {one["name"] for one in reports(job)} == {"the first", "the other"}, "both reports")
    by_name = {one["name"]: one["who"] for one in reports(job)}
    assert re.match(MISSING + "in MPI_Allreduce 1 of the other at", by_name["the first"]), by_name
    assert by_name["the other"].startswith("ranks 0, 1 and 3 have not come: they are in MPI_Allreduce 1 of the first")


def test_a_cycle_of_receives_is_named_as_one(watch, door):
    job = watch(door, "cycle")
    job.await_that(lambda: "a cycle: " in job.said(), "the report")
    for rank in range(RANKS):
        partner = (rank + 1) % RANKS
        one = rf"rank {rank} \(host {HOST}, process \d+\) is in MPI_Recv from rank {partner} \(tag 7\) at "
        assert re.search(one, job.said()), job.said()


def test_a_message_that_nobody_sends_names_the_partner(watch, door):
    job = watch(door, "message")
    job.await_that(lambda: job.told() == 1 and any(one["call"] == "MPI_Recv" for one in reports(job)), "the report")
    report = next(one for one in reports(job) if one["call"] == "MPI_Recv")
    assert report["teller"] == "1"
    assert re.match(rf"rank {ODD} \(host {HOST}, process \d+\) is outside the MPI", report["who"]), report
    end_well(job)


@pytest.mark.parametrize(
    ("how", "doing"),
    [
        ("stopped", "outside the MPI, stopped"),
        ("asleep", "outside the MPI, asleep"),
        ("computes", "outside the MPI, running"),
        ("has it computed", "outside the MPI, running"),
        ("recv", r"in MPI_Recv from rank 3 \(tag 7\) at "),
    ],
)
def test_what_the_missing_rank_does_is_said(watch, door, how, doing):
    job = watch(door, how, "allreduce")
    report = first_report(job)
    assert re.match(MISSING + doing, report["who"]), report
    if how == "stopped":
        os.kill(job.processes()[ODD], signal.SIGCONT)
        end_well(job)


# Stays when its program was killed, so that the launcher notices nothing, and goes with the launcher.
UNNOTICED = '"$@" || while [ -d /proc/$PPID ]; do sleep 0.1; done'


def test_a_dead_rank_is_named_where_its_launcher_has_not_noticed(watch, door):
    job = watch(door, "gone", "allreduce", before=["sh", "-c", UNNOTICED, "sh"])
    assert re.match(MISSING + "dead, after MPI_Bcast 1", first_report(job)["who"])


def test_threads_of_a_rank_are_seen_each_by_itself(watch, door):
    job = watch(door, "threads")
    job.await_that(lambda: any(one["name"] == "the second's" for one in reports(job)), "the report")
    report = next(one for one in reports(job) if one["name"] == "the second's")
    assert re.match(MISSING, report["who"]), report
    end_well(job)


def test_a_node_says_it_once_and_again_every_time_out(watch, door):
    job = watch(door, "allreduce")
    job.await_that(lambda: len(reports(job)) >= 3, "the third report")
    # When they come, and not what they say: of the host's watchers one may have seen the wait for less long.
    first, _, third, *_ = (at for at, line in zip(job.times, job.lines, strict=False) if REPORT.search(line))
    assert third - first >= 1.5
    end_well(job)


def test_ranks_whose_stderr_is_a_file_say_their_line_there_and_tell_nobody_rows(start, door, tmp_path):
    """A run that gathers what ranks tell does not read that file."""
    to_file = ["sh", "-c", 'exec "$@" 2>>said', "sh"]
    run = {"TOLLBAR_TIMEOUT": "1", "_TOLLBAR_RUN": "0" * 32}
    job = start(door, RANKS, "watched", "allreduce", opened=[*to_file, *opened(door)], **run)
    said = tmp_path / "said"
    job.await_that(lambda: said.exists() and REPORT.search(said.read_text()), "the report")
    job.tell(1)
    assert job.finish().code == 0
    assert "[~" not in said.read_text()


def test_slow_calls_name_nobody(watch, door):
    job = watch(door, "slow", TOLLBAR_TIMEOUT="3")
    outcome = job.finish()
    assert outcome.code == 0, outcome.said
    waited = [int(seconds) for seconds in re.findall(r"waited (\d+) s at most", outcome.said)]
    if max(waited) < 3:  # more on a machine that is too busy, and then a line is right
        assert outcome.lines_of_tollbar() == [], outcome.said


def has_watcher(process: int) -> bool:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return any((task / "comm").read_text().strip() == "tollbar-watch" for task in tasks)


@pytest.mark.parametrize(("timeout", "there"), [("1", True), ("", False), ("0", False)])
def test_there_is_a_file_and_a_thread_only_with_a_time_out(watch, door, timeout, there):
    job = watch(door, "allreduce", TOLLBAR_TIMEOUT=timeout)
    job.await_that(lambda: job.told() == 1, "the rank stays away")
    if there:
        job.await_that(lambda: all(map(has_watcher, job.processes())), "the threads")
    for process in job.processes():
        assert has_watcher(process) == there
        assert [re.sub(r"\w+ ", "ID ", file) for file in seats(process)] == [
            f"tollbar.{os.getuid()}.calls.ID (deleted)"
        ] * there
    end_well(job)


@pytest.mark.parametrize("now", ["", "1"])
@pytest.mark.parametrize("interface", doors.PRELOADS)
def test_a_program_without_mpi_runs_as_ever(interface, now):
    path = paths.find_library(doors.PRELOADS[interface]) or left_out(f"no preload for {interface} is built")
    environment = {"LD_PRELOAD": str(path), "LD_BIND_NOW": now, "TOLLBAR_TIMEOUT": "1"}
    done = subprocess.run(["/bin/echo", "fine"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


def test_in_the_wrong_mpi_the_library_names_the_right_one_and_watches_nothing(start):
    door, other = open_door("mpich"), open_door("openmpi")
    load = ["env", f"LD_PRELOAD={library(other)}"]
    outcome = start(door, RANKS, "watched", "slow", opened=load, TOLLBAR_TIMEOUT="1").finish()
    assert outcome.code == 0, outcome.said
    (line,) = outcome.lines_of_tollbar()
    assert "libtollbar_mpi_openmpi.so does not serve MPICH" in line
    assert line.endswith("preload libtollbar_mpi_mpich.so; MPI_Barrier is left unchanged")


def test_a_call_that_the_mpi_has_not_is_refused_and_no_crash(start):
    load = ["env", f"LD_PRELOAD={library(open_door('mpich'))}"]
    outcome = start(open_door("openmpi"), 2, "weak_name", opened=load, TOLLBAR_TIMEOUT="1").finish()
    assert (outcome.code, outcome.said.count("refused\n")) == (0, 2), outcome.said
    assert "tollbar: MPI_Comm_create_from_group is not in this MPI, and the program took a hook for it" in outcome.said


@pytest.mark.parametrize("timeout_s", ["3", "0"])
@pytest.mark.parametrize("ahead", [True, False])
def test_a_tool_sees_its_calls_ahead_and_behind(watch, door, programs, ahead, timeout_s):
    tool = programs.get("plugin_tool", door.compiler)
    load = opened(door, before=(tool,)) if ahead else opened(door, tool)
    outcome = watch(door, "slow", TOLLBAR_TIMEOUT=timeout_s, opened=load).finish()
    assert outcome.said.count(" saw 40 calls") == RANKS, outcome.said


@pytest.mark.parametrize("way", ["INCLUDED", "MODULE", "F08"])
@pytest.mark.parametrize("name", ["component", "openmpi", "mpich"])
def test_calls_of_fortran_are_watched(watch, name, way):
    door = open_door(name)
    job = watch(door, program="watched.F90", flags=[f"-D{way}"])
    report = first_report(job)
    assert (report["name"], report["call"], report["number"]) == ("the solvers", "MPI_Allreduce", " 3")
    assert re.match(
        rf"rank 3 \(host {HOST}, process \d+\) has not come: it is in MPI_Wait from rank 0 \(tag 5\) at {PLACE}, "
        "after MPI_Iallreduce 2 of the solvers at",
        report["who"],
    ), report


def test_the_start_of_a_program_of_fortran_has_one_argument(watch):
    job = watch(open_door("openmpi"), "allreduce", flags=["-DAS_FORTRAN", "-Wl,--no-as-needed", "-lmpi_mpifh"])
    assert re.match(MISSING, first_report(job)["who"])
    end_well(job)


@pytest.mark.parametrize("name", through(["openmpi-wheel", "mpich-wheel", "abi-wheel"]))
def test_newer_mpis_are_watched_too(watch, name):
    job = watch(open_door(name), "allreduce")
    assert re.match(MISSING, first_report(job)["who"])
    end_well(job)
