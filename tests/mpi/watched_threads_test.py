# SPDX-License-Identifier: Apache-2.0
"""A collective call of a watched rank is counted whichever of its threads makes it."""

import re

import pytest
from mpi_jobs import TESTS, open_door
from watching import MISSING, opened, reports

FLAGS = [f"-I{TESTS.parent / 'src'}"]
RANKS = 3


@pytest.fixture(params=["openmpi", "mpich"])
def watch(request, start):
    door = open_door(request.param)

    def watch(*how):
        settings = {"opened": opened(door), "TOLLBAR_TIMEOUT": "1", "flags": FLAGS}
        return start(door, RANKS, "watched_threads", *how, **settings)

    return watch


def end_well(job) -> None:
    job.tell(1)
    outcome = job.finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said


def test_threads_that_end_give_their_seats_back(watch):
    job = watch("one-after-the-other", 70)
    job.await_that(lambda: reports(job), "the report")
    report = reports(job)[0]
    assert (report["name"], report["call"], report["number"]) == ("MPI_COMM_WORLD", "MPI_Barrier", " 71")
    assert re.match(MISSING + r"outside the MPI, \w+[^,]*, after MPI_Barrier 70 of MPI_COMM_WORLD", report["who"])
    end_well(job)


def last_of_the_late_one(job) -> dict[str, str]:
    job.await_that(lambda: any(one["name"] == "the late one's" for one in reports(job)), "the report")
    return [one for one in reports(job) if one["name"] == "the late one's"][-1]


@pytest.mark.parametrize(("threads", "not_seen"), [(12, 0), pytest.param(70, 6, marks=pytest.mark.deep)])
def test_of_many_threads_at_once_the_one_that_is_late_is_named(watch, threads, not_seen):
    job = watch("at-once", threads)
    ends = f", {not_seen} of its threads not seen" if not_seen else ""
    job.await_that(lambda: last_of_the_late_one(job)["who"].endswith(ends), "the threads that are not seen")
    report = last_of_the_late_one(job)
    assert (report["call"], report["number"]) == ("MPI_Barrier", " 1")
    assert re.match(MISSING, report["who"]), report
    assert ("not seen" in report["who"]) == (not_seen > 0)
    end_well(job)


def test_where_threads_call_at_once_on_one_communicator_nobody_is_said_to_be_in_a_wrong_call(watch):
    job = watch("racing", 2)
    job.await_that(lambda: reports(job), "the report")
    who = reports(job)[0]["who"]
    assert who.startswith("cannot tell which of its calls meet, as threads of ranks 0 and 1 are in several at once; ")
    assert re.search(r"; rank 2 \(.*\) has made 10 collective calls there where others have made 11: ", who), who
    end_well(job)


def test_no_call_is_lost_where_threads_count_at_once(watch):
    outcome = watch("on-one", 3).finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said
