# SPDX-License-Identifier: Apache-2.0
"""Jobs that hang in known ways. Of MPI's ranks `tollbar run --on-hang kill` names exactly the one that went astray,
says where it is, and ends the job; of threads at a barrier `tollbar who` names the one that has not come. A job that
is merely slow runs to its end."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from looking import BOOST, LAUNCHERS, LIBCXX, SOURCES, UNNOTICED, has_py_spy, names
from mpi_jobs import clean_environment
from needs import left_out
from tollbar.machine import mpi_hosts, mpis

LIMIT_S = 180
HUNG = 75


@dataclass(frozen=True)
class Kind:
    """A way of going astray."""

    #: What the look at the rank says that it does, as a pattern; empty: nothing; None: it is not alone in that.
    seen: str | None
    reported: bool = True  #: by those that wait for it in a collective call


KINDS = {
    "absent": Kind(r"pause\(\) under go_astray"),
    "sleep": Kind(r"(clock_)?(nano)?sleep\(\) under go_astray"),
    "stopped": Kind(r"\S+ under go_astray"),
    "loop": Kind(r"compute\(\)"),
    "lock": Kind(r"\S*lock\w*\(\) under wait_for_lock"),
    "input": Kind(r"read\(\) under wait_for_input"),
    "communicator": Kind("MPI_Barrier of "),
    "collective": Kind("MPI_Allreduce"),
    "receive": Kind("MPI_Recv"),
    "order": Kind("MPI_Barrier of "),
    "call": Kind("MPI_Allreduce"),
    "root": Kind(None),
    "message": Kind("MPI_Recv"),
    "cycle": Kind(""),  # of all ranks
    "dead": Kind(""),
    "exited": Kind(""),
    "init": Kind(r"pause\(\) under main", reported=False),
}


@pytest.fixture(scope="module")
def hosts(request):
    """Hosts out of network namespaces."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("no hosts: not root, or no command ip")
    with mpi_hosts.Hosts(request.param) as made:
        yield made


@dataclass
class Said:
    code: int
    text: str

    @property
    def hangs(self) -> list[str]:
        return re.findall(r"^tollbar run: hangs: (.*)$", self.text, re.MULTILINE)

    @property
    def named(self) -> dict[str, set[int]]:
        """The ranks that each sentence about a communicator calls missing."""
        found = {}
        for each in self.hangs:
            if far := re.match(r"\d+ of \d+ wait in \w+ number \d+ of ([^;]+); rank (\d+) \(.*?\) called ", each):
                found[far[1]] = {int(far[2])}
            if far := re.match(r"\d+ of \d+ wait in \w+ number \d+ of (.+?); missing: (.*)", each):
                without_places = re.sub(r" \((?:[^()]|\([^()]*\))*\)", "", far[2])
                listed = re.findall(r"(?:^|, | and )(\d+)(?=, | and |$)", without_places.partition(";")[0])
                found[far[1]] = {int(number) for number in listed}
            about = re.match(r"(.+?) \(\d+ ranks\), .*?waited [\d.]+ s: (.*)", each)
            clauses = re.split(r"; |, (?=rank)", about[2].removeprefix("a cycle: ")) if about else []
            ranks = (re.match(r"(?:nothing heard from )?ranks? ([\d, and]+)", clause) for clause in clauses)
            if about:
                found[about[1]] = {int(number) for rank in ranks if rank for number in re.findall(r"\d+", rank[1])}
        return found


def run(
    folder: Path, options: list[str], command: list[object], limit_s: float = 900, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tollbar", "run", *options, "--", *map(str, command)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        timeout=limit_s, env=clean_environment(folder) | variables, check=False,
    )  # fmt: skip


def watched(folder: Path, launch: list[str], program: list[object], **variables: str) -> Said:
    options = ["--timeout", "1", "--on-hang", "kill"]
    done = run(folder, options, [*launch, *program], LIMIT_S, **variables)
    return Said(done.returncode, done.stdout)


def check(said: Said, kind: str, astray: int, ranks: int) -> None:
    expected = KINDS[kind]
    assert said.code == HUNG, said.text
    if expected.reported:
        named = said.named
        assert named.pop("MPI_COMM_WORLD") == (set(range(ranks)) if kind == "cycle" else {astray}), said.text
        # At another communicator that one waits for all the others.
        others = set(range(ranks)) - {astray}
        assert all(missing == others for missing in named.values()), said.text
    if kind in ("dead", "exited"):
        assert "is dead" in said.hangs[0], said.text
    if expected.seen is None:
        return
    seen = (re.match(r"rank (\d+) is in (.*); \d+ of \d+ are", each) for each in said.hangs)
    places = [place for place in seen if place]
    # A look that finds a rank in motion says nothing.
    least = set() if expected.reported else {astray}
    most = {astray} if expected.seen else set()
    assert least <= {int(each[1]) for each in places} <= most, said.text
    assert all(re.match(expected.seen, each[2]) for each in places), said.text


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
    assert re.fullmatch(r"pause\(\) under late|late\(\) \(barrier\.py:\d+\)", missing), table.notes


FAR = spread(["sleep", "stopped", "loop", "collective", "receive", "call"], (2, 3, 4), ("first", "last"))


@pytest.mark.deep
@pytest.mark.parametrize(("mpi", "kind", "hosts", "astray"), sorted(FAR, key=lambda case: case[2]), indirect=["hosts"])
def test_the_reports_of_several_hosts_name_one_rank(compiled, tmp_path, hosts, mpi, kind, astray):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    launcher = mpis.of_launcher(shutil.which(LAUNCHERS[mpi][0]))
    ranks = 2 * hosts.count
    number = 0 if astray == "first" else ranks - 1
    launch = [LAUNCHERS[mpi][0], *hosts.options(launcher, 2), "-n", str(ranks)]
    said = watched(tmp_path, launch, [program, kind, number], UCX_NET_DEVICES="eth0")
    check(said, kind, number, ranks)


def named_in(text: str) -> set[int]:
    """The ranks that lines of the watch say have not come."""
    found = re.findall(r"ranks? ([\d, and]+?)(?: \(host [^)]*\))? ha(?:s|ve) not (?:come|arrived)", text)
    return {int(number) for each in found for number in re.findall(r"\d+", each)}


#: Runs that are merely slow, through each MPI.
SLOW_RUNS = int(os.environ.get("TOLLBAR_SLOW_RUNS", "20"))


@pytest.mark.deep
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_a_job_that_is_merely_slow_runs_to_its_end_and_no_other_rank_is_named(compiled, tmp_path, mpi):
    """One rank is stopped for half as long again as the time-out, so that it is reported, but not for two."""
    program = compiled("slow.c", f"mpicc.{mpi}", "-O2")
    for number in range(SLOW_RUNS):
        ranks = 2 + number % 7
        slow = number % ranks
        said = watched(tmp_path, [*LAUNCHERS[mpi], "-n", str(ranks)], [program, 100, slow, 1500])
        assert said.code == 0, said.text
        assert said.hangs == []
        assert named_in(said.text) <= {slow}, said.text
