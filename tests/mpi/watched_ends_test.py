# SPDX-License-Identifier: Apache-2.0
"""A program whose calls are watched is the same program: however it finds its MPI, however it ends."""

import random
import re
import subprocess

import pytest
from mpi_jobs import open_door
from tollbar.machine import doors, paths
from watching import opened

#: Nothing of an MPI may be bound where the library is loaded: a program may open its MPI long after that.
OF_AN_MPI = re.compile(r"\s(P?MPI_\w+|ompi_\w+|p?mpi_\w+)(@\S+)?( \+ \w+)?$")


@pytest.mark.parametrize("name", [*doors.PRELOADS.values(), *doors.WATCHES.values()])
def test_a_preload_binds_no_name_of_an_mpi_when_it_is_loaded(name):
    path = paths.find_library(name) or pytest.skip(f"{name} is not built")
    words = ["readelf", "-rW", path]
    table = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "JUMP_SLO" in table
    early = [line for line in table.splitlines() if OF_AN_MPI.search(line) and "JUMP_SLO" not in line]
    assert early == []
    flags = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"BIND_NOW|FLAGS.*\bNOW\b", flags)


@pytest.mark.parametrize("now", ["", "1"])
@pytest.mark.parametrize(
    ("how", "where"), [("global", "names"), ("global", "handle"), ("local", "handle"), ("deep", "handle")]
)
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_program_that_opens_its_mpi_runs_as_ever(start, name, how, where, now):
    door = open_door(name)
    file = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[name]
    opening = [*opened(door), f"LD_BIND_NOW={now}"]
    job = start(door, 2, "loading", file, how, where, opened=opening, TOLLBAR_TIMEOUT="1")
    job.await_that(lambda: job.told() == 1, "the late rank")
    if where == "names" and not now:
        job.await_that(lambda: "MPI_Finalize 1" in job.said(), "the report")
    job.tell(1)
    outcome = job.finish()
    assert outcome.code == 0, outcome.said
    assert ("LD_BIND_NOW" in outcome.said) == (where == "names" and bool(now)), outcome.said


#: The rank that ends so, or its thread that does.
ENDS = ["exit", "_exit", "quick_exit", "abort", "killed", "MPI_Abort", "return", "finalizes"]


@pytest.fixture(scope="module")
def codes():
    return {}


@pytest.fixture
def ends_as_ever(start, codes):
    def ends_as_ever(door, how: str, microseconds: int) -> None:
        key = (door.name, how)
        if key not in codes:
            codes[key] = start(door, 2, "ending", how, 0, opened=[]).finish().code
        # The shorter the time-out, the more often a watcher looks.
        outcome = start(door, 2, "ending", how, microseconds, opened=opened(door), TOLLBAR_TIMEOUT="0.16").finish()
        assert outcome.code == codes[key], outcome.said

    return ends_as_ever


@pytest.mark.parametrize("how", ENDS)
def test_a_watched_rank_ends_with_the_code_that_it_has_unwatched(ends_as_ever, how):
    ends_as_ever(open_door("openmpi"), how, 30000)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("how", ENDS)
def test_whenever_it_ends_it_ends_so(ends_as_ever, name, how):
    luck = random.Random(how)
    for _ in range(25):
        ends_as_ever(open_door(name), how, luck.randrange(300000))
