# SPDX-License-Identifier: Apache-2.0
"""With TOLLBAR_TIMEOUT a barrier says who is missing, and ends well when the missing rank comes after all."""

import os
import re
import signal
import socket
import subprocess

import pytest
from code_places import PLACE, line_of
from mpi_jobs import open_door
from needs import left_out

RANKS = 5
ABSENT = 2
#: "the solvers" is all but the last; the fourth barrier is the one the absent rank does not come to. A component knows
#: its barriers alone, a preload every call and the ranks of MPI_COMM_WORLD.
REPORT = re.compile(
    rf"tollbar: (?P<name>the \w+) \((?P<ranks>\d+) ranks\), (MPI_B|b)arrier (?P<count>\d+) at (?P<site>{PLACE}): "
    r"rank (?P<teller>\d+) (\(rank \d+ of MPI_COMM_WORLD\) )?on (?P<host>\S+) "
    r"has waited (?P<waited>\d+\.\d) s: (?P<who>.*)\n"
)


def reports(job, name="the solvers") -> list[dict[str, str]]:
    return [found.groupdict() for found in REPORT.finditer(job.said()) if found["name"] == name]


def begin(start, door, kind, how, **settings):
    """The job once it has said that somebody is missing, and what it said."""
    job = start(door, RANKS, "missing", kind, how, TOLLBAR_TIMEOUT="1", **settings)
    job.await_that(lambda: job.told() == 1, "the rank stays away")
    job.await_that(lambda: reports(job), "the report")
    return job, reports(job)[0]


def check(job, report) -> None:
    assert (report["ranks"], report["count"], report["host"]) == (str(RANKS - 1), "4", socket.gethostname())
    assert float(report["waited"]) >= 1.0
    assert report["teller"] != str(ABSENT)
    where = f"host {socket.gethostname()}, process {job.processes()[ABSENT]}"
    address = rf"rank {ABSENT} \((rank {ABSENT} of MPI_COMM_WORLD, )?{re.escape(where)}\)"
    assert re.search(address, report["who"]), report
    assert len(re.findall(r"\brank \d+ \(", report["who"])) == 1, report  # nobody else


def end_well(job) -> None:
    outcome = job.finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said


def named_and_comes_later(start, door, how, kind) -> None:
    job, report = begin(start, door, kind, how, TOLLBAR_PLAN="turnstile")
    check(job, report)
    job.tell(1)
    if how == "stopped":
        os.kill(job.processes()[ABSENT], signal.SIGCONT)
    end_well(job)


@pytest.mark.every_door
@pytest.mark.parametrize("how", ["stopped", "loop"])
def test_a_rank_that_does_not_come_is_named_and_may_come_later(start, door, how):
    named_and_comes_later(start, door, how, "barrier")


@pytest.mark.parametrize("how", ["stopped", "loop"])
def test_a_rank_that_does_not_come_to_an_ibarrier_of_the_component_is_named(start, how):
    named_and_comes_later(start, open_door("component"), how, "ibarrier")


@pytest.mark.parametrize("plan", ["dissemination", "mcs", "central"])
def test_a_plan_of_many_words_names_it_too(start, plan):
    job, report = begin(start, open_door("component"), "barrier", "loop", TOLLBAR_PLAN=plan)
    check(job, report)
    job.tell(1)
    end_well(job)


#: Shared memory in which no rank finds room for its row, nor a communicator for its words.
FULL = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4k none /dev/shm && exec "$@"', "sh"]


def test_where_a_preload_cannot_watch_the_barrier_says_of_which_ranks_nothing_is_heard(start):
    if subprocess.run([*FULL, "true"], capture_output=True, check=False).returncode:
        left_out("no mount namespace can be made: no shared memory is full")
    few = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "OMPI_MCA_coll": "^tollbar,sm"}
    job, report = begin(start, open_door("openmpi"), "barrier", "loop", first=FULL, TOLLBAR_PLAN="dissemination", **few)
    assert "calls of ranks of this host are not watched" in job.said()
    assert f"nothing heard from rank {ABSENT} (rank {ABSENT} of MPI_COMM_WORLD, " in report["who"], report
    job.tell(1)
    end_well(job)


def test_the_report_says_where_the_others_wait_and_where_the_missing_one_was_last(start, door):
    job, report = begin(start, door, "barrier", "loop")
    assert "missing.c:" in line_of(report["site"]), report
    last = re.search(
        rf"(its last barrier on this communicator was number 3|after MPI_Barrier 3 of the solvers) at ({PLACE})",
        report["who"],
    )
    assert last, report
    assert "missing.c:" in line_of(last[2])
    job.tell(1)
    end_well(job)


def test_a_rank_in_another_communicators_barrier_is_named_by_those_it_keeps_waiting(start, door):
    job, report = begin(start, door, "barrier", "elsewhere")
    check(job, report)
    job.await_that(lambda: reports(job, "the pair"), "the report of the other communicator")
    (other, *_) = reports(job, "the pair")
    absent = f"host {socket.gethostname()}, process {job.processes()[RANKS - 1]}"
    ranks = [f"rank 1 (rank {RANKS - 1} of MPI_COMM_WORLD, {absent})", f"rank {RANKS - 1} ({absent})"]
    assert any(rank in other["who"] for rank in ranks), other
    job.tell(1)
    end_well(job)


# Stays when its program was killed, so that the launcher notices nothing, and goes with the launcher.
UNNOTICED = '"$@" || while [ -d /proc/$PPID ]; do sleep 0.1; done'


def test_a_dead_rank_is_named_where_its_launcher_has_not_noticed(start, door):
    job, report = begin(start, door, "barrier", "gone", before=["sh", "-c", UNNOTICED, "sh"])
    check(job, report)
    assert "is dead" in report["who"], report


def test_without_a_limit_nobody_is_named(run, door):
    assert run(door, 4, "late_rank", "4", "").lines_of_tollbar() == []
