# SPDX-License-Identifier: Apache-2.0
"""A program whose calls are watched is the same program: however it finds its MPI, however it ends."""

import contextlib
import ctypes.util
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mpi_jobs import clean_environment, open_door, segments
from needs import left_out
from tollbar.look import processes
from watching import MISSING, RANKS, end_well, opened, reports, seats

#: As Debian calls the libraries.
FILES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


@pytest.mark.parametrize("now", ["", "1"])
@pytest.mark.parametrize(
    ("how", "where"), [("global", "names"), ("global", "handle"), ("local", "handle"), ("deep", "handle")]
)
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_program_that_opens_its_mpi_runs_as_ever(start, name, how, where, now):
    door = open_door(name)
    opening = [*opened(door), f"LD_BIND_NOW={now}"]
    job = start(door, 2, "loading", FILES[name], how, where, opened=opening, TOLLBAR_TIMEOUT="1")
    job.await_that(lambda: job.told() == 1, "the late rank")
    if where == "names" and not now:
        job.await_that(lambda: "MPI_Finalize 1" in job.said(), "the report")
    job.tell(1)
    outcome = job.finish()
    assert outcome.code == 0, outcome.said
    assert ("LD_BIND_NOW" in outcome.said) == (where == "names" and bool(now)), outcome.said


#: The rank that ends so, or its thread that does.
ENDS = ["exit", "_exit", "quick_exit", "abort", "killed", "MPI_Abort", "throws", "return", "finalizes"]


#: Of all ends together, for each MPI.
MOMENTS = 225


@pytest.fixture(scope="module")
def codes():
    return {}


@pytest.fixture
def ends_as_ever(start, codes):
    def ends_as_ever(door, how: str, microseconds: int) -> None:
        stock = codes.setdefault((door.name, how), set())
        # The shorter the time-out, the more often a watcher looks.
        outcome = start(door, 2, "ending", how, microseconds, opened=opened(door), TOLLBAR_TIMEOUT="0.16").finish()
        # Launchers have races of their own: MPICH's gives 9 in place of 7 in 3 of 60 unwatched runs.
        for _ in range(60):
            if outcome.code in stock:
                return
            stock.add(start(door, 2, "ending", how, microseconds, opened=[]).finish().code)
        assert outcome.code in stock, outcome.said

    return ends_as_ever


@pytest.mark.parametrize("how", ENDS)
def test_a_watched_rank_ends_with_the_code_that_it_has_unwatched(ends_as_ever, how):
    ends_as_ever(open_door("openmpi"), how, 30000)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("how", ENDS)
def test_whenever_it_ends_it_ends_so(ends_as_ever, name, how):
    luck = random.Random(how)
    for _ in range(MOMENTS // len(ENDS)):
        ends_as_ever(open_door(name), how, luck.randrange(300000))


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_calls_after_a_jump_out_of_a_call_are_counted(start, name):
    door = open_door(name)
    job = start(door, RANKS, "jumping", opened=opened(door), TOLLBAR_TIMEOUT="1")
    job.await_that(lambda: any(one["number"] == " 17" for one in reports(job)), "the report")
    report = reports(job)[-1]
    assert re.match(MISSING + "outside the MPI, .*, after MPI_Barrier 16 of MPI_COMM_WORLD", report["who"]), report
    end_well(job)


def file_of_seats(job) -> str:
    return next(file for process in job.processes() for file in seats(process))


def test_two_jobs_of_one_batch_script_have_a_file_each(start):
    """Their environment is like a rank's already, so that the launcher is taken for one, and the script for it."""
    door = open_door("mpich")
    files = []
    for secret in ("a", "b", "b"):
        job = start(
            door, RANKS, "watched", "allreduce", opened=opened(door), SLURM_PROCID="0", TOLLBAR_TIMEOUT="1",
            _TOLLBAR_RUN=32 * secret,
        )  # fmt: skip
        job.await_that(lambda job=job: job.told() == 1, "the late rank")
        files.append(file_of_seats(job).removesuffix(" (deleted)"))
        end_well(job)
    assert files[0] != files[1] == files[2]


#: Rank 1 never comes to MPI_Init, in which the others wait.
STAYS_AWAY = 'case "$OMPI_COMM_WORLD_RANK$PMI_RANK" in 1) exec sleep 1000;; esac; exec "$@"'


def below(job) -> list[int]:
    return processes.below(job.process.pid, processes.everything())


def in_init(start, door, *first):
    """A job whose rank 0 is in MPI_Init, that rank, and the name of its file."""
    job = start(
        door, 2, "watched", "allreduce", first=first, opened=[] if first else opened(door),
        before=["sh", "-c", STAYS_AWAY, "sh"], TOLLBAR_TIMEOUT="60",
    )  # fmt: skip
    found = []

    def is_there() -> bool:
        for one in below(job):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                found.extend((one, file) for file in seats(one))
        return bool(found)

    job.await_that(is_there, "the file")
    return job, *found[0]


def kill_all(job) -> None:
    for number in [job.process.pid, *below(job)]:
        with contextlib.suppress(ProcessLookupError):  # it may end as what started it is killed
            os.kill(number, signal.SIGKILL)
    job.process.wait()


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_the_next_job_removes_the_file_of_one_that_was_killed_in_its_start(start, name):
    door = open_door(name)
    killed, _, file_of_the_killed = in_init(start, door)
    _, _, file_of_the_living = in_init(start, door)
    kill_all(killed)
    assert file_of_the_killed in segments()
    start(door, 2, "ending", "_exit", 0, opened=opened(door), TOLLBAR_TIMEOUT="60").finish()
    assert file_of_the_killed not in segments()
    assert file_of_the_living in segments()


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_tollbar_run_removes_it_when_the_job_has_ended(start, name):
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "60", "--"]
    job, rank, file = in_init(start, open_door(name), *run)
    os.kill(rank, signal.SIGKILL)
    job.await_that(lambda: rank not in processes.everything(), "the end of the rank")
    for number in below(job):  # mpirun itself may hang
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    job.finish()
    assert file not in segments()


#: It has room for the first rank's part of the file alone.
SMALL = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=44k none /dev/shm && exec "$@"', "sh"]


def test_where_shared_memory_is_full_the_job_goes_on_unwatched_and_says_so_once(start):
    if subprocess.run([*SMALL, "true"], capture_output=True, check=False).returncode:
        left_out("no mount namespace can be made: no shared memory is full")
    door = open_door("component")
    few = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "OMPI_MCA_coll": "^tollbar,sm"}
    job = start(door, RANKS, "watched", "allreduce", first=SMALL, opened=opened(door), TOLLBAR_TIMEOUT="0.2", **few)
    job.await_that(lambda: job.told() == 1, "the late rank")
    time.sleep(1)  # the watcher of the one rank that has a place looks
    job.tell(1)
    outcome = job.finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said
    assert outcome.said.count("No space left on device; calls of ranks of this host are not watched") == 1, outcome.said


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("openmpi", 1),
        ("mpich", 0),
        pytest.param("openmpi", 0, marks=pytest.mark.deep),
        pytest.param("mpich", 1, marks=pytest.mark.deep),
    ],
)
def test_a_report_waits_for_no_rank_that_is_not_watched(start, name, without):
    door = open_door(name)
    words = [word for word in opened(door) if word != "env"]
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    mixed = ["sh", "-c", f'[ {rank} = {without} ] || export {" ".join(words)}; exec "$@"', "sh"]
    settings = {"TOLLBAR_TIMEOUT": "1", "_TOLLBAR_RUN": 32 * "c" + "a"}
    outcome = start(door, 2, "jumping", opened=mixed, **settings).finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said
    assert "no rank tells how long it has waited" in outcome.said


def test_the_launcher_keeps_and_forgets_no_name_where_ranks_of_a_host_have_the_component(start, programs):
    """Some launchers keep none, and some MPIs print lines about that."""
    door = open_door("component")
    load = opened(door, programs.get("plugin_names", door.compiler))
    settings = {"TOLLBAR_TIMEOUT": "1", "_TOLLBAR_RUN": 32 * "e" + "a"}
    outcome = start(door, 2, "jumping", opened=load, **settings).finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said
    assert not re.search("^(kept|forgotten): ", outcome.said, re.MULTILINE), outcome.said


LATE_IN_PYTHON = """
import time
from mpi4py import MPI
if MPI.COMM_WORLD.rank == 1: time.sleep(3)
MPI.COMM_WORLD.Barrier()
"""


@pytest.mark.deep
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_wheel_of_mpi4py_is_watched(tmp_path, name):
    """It is linked with no MPI: its extension modules open one."""
    words = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:", "--target", tmp_path]
    done = subprocess.run([*words, "mpi4py==4.1.2"], capture_output=True, text=True, check=False)
    if done.returncode:
        left_out(f"mpi4py's wheel is not there: {done.stderr.strip().splitlines()[-1]}")
    door = open_door(name)
    if name == "mpich":  # by the name that MPICH itself gives it
        library = ctypes.util.find_library("mpich")
        (tmp_path / "libmpi.so.12").symlink_to(next(Path("/usr/lib").glob(f"*/{library}")))
    settings = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": str(tmp_path), "MPI4PY_MPIABI": name}
    done = subprocess.run(
        [*door.launcher, "-n", "2", *opened(door), sys.executable, "-c", LATE_IN_PYTHON],
        env=clean_environment(tmp_path) | door.environment() | settings | {"TOLLBAR_TIMEOUT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search("MPI_Barrier 1 at .* rank 1 .* has not come: it is outside the MPI, asleep", done.stderr)


#: Rank 1 has shared memory of its own, as if it were on another host.
APART = '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exec unshare -m sh -c \'mount -t tmpfs none /dev/shm && exec "$@"\' sh "$@"'


@pytest.mark.parametrize("apart", [False, True])
def test_all_ranks_give_an_account_on_one_host_or_on_several(start, apart):
    if subprocess.run([*SMALL, "true"], capture_output=True, check=False).returncode:
        left_out("no mount namespace can be made: no rank is apart")
    door = open_door("component")
    settings = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "_TOLLBAR_RUN": 32 * "d" + "a"}
    before = ["sh", "-c", f'{APART}; exec "$@"', "sh"] if apart else []
    outcome = start(door, 2, "jumping", opened=[*before, *opened(door)], **settings).finish()
    assert outcome.code == 0, outcome.said
    ranks = re.findall(r"^tollbar: rank\t(\d)\t.* \[~account \w{16}\]$", outcome.said, re.MULTILINE)
    assert sorted(ranks) == ["0", "1"], outcome.said
