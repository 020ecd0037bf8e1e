# SPDX-License-Identifier: Apache-2.0
"""Jobs that hang in known ways. Of MPI's ranks `tollbar run --on-hang kill` names exactly the one that went astray,
says where it is, and ends the job; of threads at a barrier `tollbar who` names the one that has not come. A job that
is merely slow runs to its end, and of its ranks only those that are late are named."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import math
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from astray import KINDS, Said, check
from looking import BOOST, LAUNCHERS, LIBCXX, SOURCES, UNNOTICED, has_py_spy, names
from mpi_jobs import clean_environment
from needs import left_out
from random_truth import numbers
from tollbar.machine import mpi_hosts, mpis

LIMIT_S = 180


@pytest.fixture(scope="module")
def hosts(request):
    """Hosts out of network namespaces."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("no hosts: not root, or no command ip")
    with mpi_hosts.Hosts(request.param) as made:
        yield made


def launched(folder: Path, options: list[str], command: list[object], **variables: str) -> dict[str, Any]:
    return {
        "args": [sys.executable, "-m", "tollbar", "run", *options, "--", *map(str, command)],
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT,
        "text": True, "errors": "replace", "env": clean_environment(folder) | variables,
    }  # fmt: skip


def watched(folder: Path, launch: list[str], program: list[object], **variables: str) -> Said:
    options = ["--timeout", "1", "--on-hang", "kill"]
    command = launched(folder, options, [*launch, *program], **variables)
    with subprocess.Popen(**command) as job:
        try:
            text, _ = job.communicate(timeout=LIMIT_S)
        finally:
            job.terminate()  # and its job with it
    return Said(job.returncode, text)


#: The cases that every change waits for; the deep tests have each kind through each MPI, on one of these numbers of
#: ranks, or on all of them.
QUICK = {
    ("openmpi", "sleep", 4), ("openmpi", "dead", 3), ("openmpi", "init", 4),
    ("mpich", "stopped", 3), ("mpich", "communicator", 4), ("mpich", "lock", 2),
}  # fmt: skip
RANKS = (2, 3, 4, 8, 16)
#: All cases, for an hour or so, and not one of each kind through each MPI.
WHOLE = os.environ.get("TOLLBAR_ORACLE") == "whole"


def spread(kinds: Sequence[str], *values: Sequence[object]) -> list[tuple]:
    """Each kind through each MPI with one of the combinations of values, the next one each time."""
    others = list(itertools.product(*values))
    cases = itertools.product(enumerate(LAUNCHERS), enumerate(kinds))
    return [
        (mpi, kind, *rest)
        for (number, mpi), (turn, kind) in cases
        for rest in (others if WHOLE else [others[(turn + 2 * number) % len(others)]])
    ]


CASES = [
    pytest.param(*case, marks=() if case in QUICK else pytest.mark.deep)
    for case in dict.fromkeys([*sorted(QUICK), *spread(list(KINDS), RANKS)])
]


@pytest.mark.parametrize(("mpi", "kind", "ranks"), CASES)
def test_the_rank_that_went_astray_is_named_and_the_job_is_ended(compiled, tmp_path, mpi, kind, ranks):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    astray = ranks // 2
    before = UNNOTICED if kind in ("dead", "exited") else ()
    launch = [*LAUNCHERS[mpi], "-n", str(ranks), *before]
    check(watched(tmp_path, launch, [program, kind, astray]), kind, astray, ranks)


def test_a_wait_is_told_in_time_though_another_rank_has_stood_still_for_longer(compiled, tmp_path):
    program = compiled("hanging.c", "mpicc.mpich", "-O2", "-g")
    for _ in range(5):  # a busy machine delays a watcher, too
        said = watched(tmp_path, [*LAUNCHERS["mpich"], "-n", "2"], [program, "sleep", 1, 2.6])
        if float(re.search(r" has waited ([\d.]+) s", said.text)[1]) <= 1.1:
            return
    pytest.fail(said.text)


#: Programs of which one thread does not come to a barrier: the source, the compiler with its options, if there is one,
#: and what stands before the number of threads.
THREADS = {
    "pthread": ("pthread_barrier.c", ("gcc", "-O2"), ("pause",)),
    "libstdc++": ("std_barrier.cpp", ("g++", "-std=c++20", "-O0"), ()),
    "libc++": ("std_barrier.cpp", LIBCXX, ()),
    "boost": ("std_barrier.cpp", BOOST, ()),
    "libgomp": ("openmp.c", ("gcc", "-O2", "-fopenmp"), ("barrier",)),
    "libomp": ("openmp.c", ("clang-14", "-O2", "-fopenmp"), ("barrier",)),
    "python": ("barrier.py", (), ()),
}


@pytest.mark.deep
@pytest.mark.parametrize("kind", THREADS)
@pytest.mark.parametrize("threads", [2, 3, 4, 8, 16])
def test_the_thread_that_does_not_come_is_named(compiled, started, look_until, kind, threads):
    source, compiler, words = THREADS[kind]
    if not compiler and not has_py_spy():
        left_out("py-spy is not installed")
    program = [compiled(source, *compiler)] if compiler else [sys.executable, SOURCES / source]
    job = started(*program, *words, threads)
    table = look_until(lambda table: table.failed and len(names(table, "waits")) == threads - 1, job.pid)
    [missing] = names(table, "missing", "guess")
    assert re.fullmatch(r"pause\(\) under late|sleep\(\) under late \(barrier\.py:\d+\)", missing), table.notes


#: Over UCX MPICH aborts the ranks whose peer has gone, so that nobody hangs.
FAR = [
    case
    for case in spread([kind for kind in KINDS if kind != "init"], (2, 3, 4), ("first", "last"))
    if case[0] != "mpich" or case[1] not in ("dead", "exited")
]


@pytest.mark.deep
@pytest.mark.parametrize(("mpi", "kind", "hosts", "astray"), sorted(FAR, key=lambda case: case[2]), indirect=["hosts"])
def test_the_reports_of_several_hosts_name_one_rank(compiled, tmp_path, hosts, mpi, kind, astray):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    launcher = mpis.of_launcher(shutil.which(LAUNCHERS[mpi][0]))
    ranks = 2 * hosts.count
    number = 0 if astray == "first" else ranks - 1
    before = UNNOTICED if kind in ("dead", "exited") else ()
    launch = [LAUNCHERS[mpi][0], *hosts.options(launcher, 2), "-n", str(ranks), *before]
    said = watched(tmp_path, launch, [program, kind, number], UCX_NET_DEVICES="eth0")
    check(said, kind, number, ranks)


def named_in(text: str) -> set[int]:
    """The ranks that a line of the watch says have not come."""
    found = re.findall(r"ranks? ([\d, and-]+?)(?: \(host [^)]*\))? ha(?:s|ve) not come", text)
    return {number for each in found for number in numbers(each)}


#: Runs that are merely slow, through each MPI: moments in which ranks of a job are late. A job lives through many.
SLOW_RUNS = int(os.environ.get("TOLLBAR_SLOW_RUNS", "210"))
SLOW_TIMEOUT_S = 0.1
#: Crowded: with what CPUs that are full of others leave, which only root gives back.
WAYS = ("stopped", "computes", "sleeps", *(["crowded"] if os.geteuid() == 0 else []))
#: Of slow.c: its calls, and its struct page.
CALLS = ("Allreduce", "Barrier", "Bcast", "Reduce", "Allgather", "Alltoall", "Ibarrier")
MOST_RANKS, MOST_CALLS = 8, 1 << 20
WORDS, TIMES = struct.calcsize(f"i{MOST_RANKS}i{MOST_RANKS}i0d"), struct.calcsize("3d")


@dataclass(frozen=True)
class Moment:
    way: str
    ranks: list[int]
    begin: float
    end: float


class Slow:
    """A job of slow.c that is watched: what its ranks did, and what was said of them."""

    def __init__(self, folder: Path, launch: Sequence[str], ranks: int, program: Path, crowd: Sequence[int]) -> None:
        self.ranks, self.crowd = ranks, crowd
        self.lines: list[tuple[float, str]] = []
        self.moments: list[Moment] = []
        with (folder / "page").open("w+b") as file:
            file.truncate(WORDS + MOST_RANKS * MOST_CALLS * TIMES)
            self.page = mmap.mmap(file.fileno(), 0)
        options = ["--timeout", str(SLOW_TIMEOUT_S), "--on-hang", "true"]
        self.job = subprocess.Popen(**launched(folder, options, [*launch, "-n", ranks, program, folder / "page"]))
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        for line in self.job.stdout:
            self.lines.append((time.monotonic(), line))

    def process(self, rank: int) -> int:
        return struct.unpack_from("i", self.page, 4 + 4 * rank)[0]

    def turn(self, way: str, rank: int, *, slow: bool) -> None:
        process = self.process(rank)
        if way == "stopped":
            os.kill(process, signal.SIGSTOP if slow else signal.SIGCONT)
        elif way == "crowded":
            os.sched_setscheduler(process, os.SCHED_IDLE if slow else os.SCHED_OTHER, os.sched_param(0))
            for each in self.crowd:
                os.kill(each, signal.SIGCONT if slow else signal.SIGSTOP)
        else:
            struct.pack_into("i", self.page, 4 + 4 * (MOST_RANKS + rank), WAYS.index(way) if slow else 0)

    def live_through(self, moments: int, chance: random.Random) -> None:
        """Moments in which a rank or two are slow for longer than the time-out, and not for two."""
        while not all(map(self.process, range(self.ranks))):
            assert self.job.poll() is None, self.lines
            time.sleep(0.01)
        while len(self.moments) < moments and self.job.poll() is None:
            time.sleep(chance.uniform(0.3, 1) * SLOW_TIMEOUT_S)
            way = chance.choice(WAYS)
            ranks = chance.sample(range(self.ranks), 2 if self.ranks > 2 and chance.random() < 0.25 else 1)
            begin = time.monotonic()
            with contextlib.suppress(ProcessLookupError):  # the job has ended, which its exit code tells
                for rank in ranks:
                    self.turn(way, rank, slow=True)
                time.sleep(chance.uniform(1.4, 1.9) * SLOW_TIMEOUT_S)
                for rank in ranks:
                    self.turn(way, rank, slow=False)
            self.moments.append(Moment(way, ranks, begin, time.monotonic()))

    def end(self) -> int:
        struct.pack_into("i", self.page, 0, 1)
        code = self.job.wait(LIMIT_S)
        self.reader.join()
        return code

    def times(self, rank: int, call: int) -> tuple[float, float, float]:
        """When the rank came to the call, had come for certain, and left it. Of a barrier that the door serves the MPI
        hears nothing."""
        came, passed, left = struct.unpack_from("3d", self.page, WORDS + TIMES * (rank * MOST_CALLS + call))
        is_served = left and not passed and CALLS[call % len(CALLS)] == "Barrier"
        return came or math.inf, came if is_served else passed or math.inf, left or math.inf

    def mistake(self, said_at: float, line: str) -> str:
        """A line's mistake, in words; to call a wait a hang is right after two time-outs."""
        least_s = SLOW_TIMEOUT_S * (2 if "hangs: " in line else 1)
        line = line.replace("tollbar run: hangs: ", "tollbar: ")
        if "MPI_Comm_dup" in line or "MPI_Finalize" in line or re.match(r"tollbar: .*; \d+ of \d+ are ", line):
            return ""
        if line.startswith(("tollbar: as said, now for ", "tollbar: besides, ranks wait in ")):
            return ""  # nothing new
        if told := re.match(r"tollbar: (\w+) \(\d+ ranks\), MPI_(\w+) (\d+) at .*?: rank (\d+) on .*? waited", line):
            return self.mistake_at(*told.groups(), least_s, said_at, line)
        # All have come, and it is not known for what one waits: the line tells where all the others are, or those that
        # are stopped.
        if not (told := re.match(r"tollbar: MPI_Wait at .*?: rank (\d+) on \S+ has waited \S+ s: (.*)", line)):
            return "another line"
        clauses = re.findall(r"(?:^|; )ranks? ([\d, and-]+?) (?:\([^)]*\) is|are) ", told[2])
        named = {number for ranks in clauses for number in numbers(ranks)}
        stopped = {
            rank for each in self.moments for rank in each.ranks
            if each.way == "stopped" and each.begin <= said_at <= each.end + SLOW_TIMEOUT_S
        }  # fmt: skip
        right = named == set(range(self.ranks)) - {int(told[1])} or named <= stopped
        return "" if right else f"named: {named}, stopped: {stopped}"

    def mistake_at(
        self, comm: str, name: str, number: str, waiter: str, least_s: float, said_at: float, line: str
    ) -> str:
        """A line at a collective call is wrong when it names a rank that came within the time-out, or leaves one out
        that had not come by then and was in no other call."""
        count = int(number) - 1
        call = 5 * count + 4 if comm == "again" else (count - 1) // 4 * 5 + (count - 1) % 4
        due = self.times(int(waiter), call)[0] + least_s
        named = named_in(line)
        late = {rank for rank in range(self.ranks) if self.times(rank, call)[1] >= due}
        absent = {rank for rank in late if self.times(rank, call)[0] > said_at and self.times(rank, call - 1)[2] < due}
        right = name == CALLS[call % len(CALLS)] and " called " not in line and absent <= named <= late
        return "" if right else f"late: {late}, absent: {absent}, named: {named}"


@pytest.mark.deep
@pytest.mark.parametrize("ranks", range(2, MOST_RANKS + 1))
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_a_job_that_is_merely_slow_runs_to_its_end_and_only_late_ranks_are_named(
    compiled, started, tmp_path, mpi, ranks
):
    tool = compiled("slow.c", f"mpicc.{mpi}", "-O2", "-DTOOL", "-shared", "-fPIC")
    program = compiled("slow.c", f"mpicc.{mpi}", "-O2", str(tool))
    crowd = [started("sh", "-c", "echo ready; kill -STOP $$; while :; do :; done").pid for _ in range(os.cpu_count())]
    slow = Slow(tmp_path, LAUNCHERS[mpi], ranks, program, crowd)
    try:
        slow.live_through(-(-SLOW_RUNS // (MOST_RANKS - 1)), random.Random(ranks))
    finally:
        code = slow.end()
    said = "".join(line for _, line in slow.lines)
    assert code == 0, said
    wrong = [(mistake, line) for at, line in slow.lines if (mistake := slow.mistake(at, line))]
    begins = [each.begin for each in slow.moments]
    heard = {bisect.bisect(begins, at) for at, _ in slow.lines} - {0}
    print(
        f"{mpi}, {ranks} ranks: {len(slow.moments)} moments, {len(heard)} of them with a report; "
        f"{len(slow.lines)} reports, {len(wrong)} wrong"
    )
    assert all(slow.times(rank, call)[1] < math.inf for rank in range(ranks) for call in range(len(CALLS)))
    assert wrong == [], "\n".join(map(str, wrong))
    assert len(heard) >= len(slow.moments) / 10
