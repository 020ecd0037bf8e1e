# SPDX-License-Identifier: Apache-2.0
"""Jobs of MPI that hang in known ways: `tollbar run --on-hang kill` names exactly the rank that went astray,
says where it is, and ends the job; a job that is merely slow runs to its end."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from looking import LAUNCHERS
from mpi_jobs import clean_environment
from tollbar.machine import mpi_hosts, mpis

LIMIT_S = 180
HUNG = 75


@dataclass(frozen=True)
class Kind:
    """A way of going astray."""

    seen: str  #: what the look at the rank says that it does, as a pattern; empty: it is gone
    reported: bool = True  #: by those that wait for it at a barrier of tollbar's


KINDS = {
    "absent": Kind(r"pause\(\) under go_astray"),
    "sleep": Kind(r"(clock_)?(nano)?sleep\(\) under go_astray"),
    "stopped": Kind(r"\S+ under go_astray"),
    "loop": Kind(r"compute\(\)"),
    "lock": Kind(r"\S*lock\w*\(\) under wait_for_lock"),
    "input": Kind(r"read\(\) under wait_for_input"),
    "communicator": Kind(""),  # all of them are in MPI_Barrier
    "collective": Kind("MPI_Allreduce"),
    "receive": Kind("MPI_Recv"),
    "dead": Kind(""),
    "init": Kind(r"pause\(\) under main", reported=False),
}

#: A shell that stays when its program was killed, so that its launcher notices nothing, and goes with it.
UNNOTICED = ("sh", "-c", '"$@" || while [ -d /proc/$PPID ]; do sleep 0.1; done', "sh")


@pytest.fixture(scope="module", params=[2, 4])
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
            about = re.match(r"(.+?) \(\d+ ranks\), .*?(?:waited [\d.]+ s|missing of \d+): (.*)", each)
            clauses = re.split(r"; |, (?=rank)", about[2]) if about else []
            ranks = (re.match(r"(?:nothing heard from )?ranks? ([\d, and]+)", clause) for clause in clauses)
            if about:
                found[about[1]] = {int(number) for rank in ranks if rank for number in re.findall(r"\d+", rank[1])}
        return found


def watched(folder: Path, launch: list[str], program: list[object], **variables: str) -> Said:
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "1", "--on-hang", "kill", "--"]
    done = subprocess.run(
        [*run, *map(str, (*launch, *program))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT_S,
        env=clean_environment(folder) | variables, check=False,
    )  # fmt: skip
    return Said(done.returncode, done.stdout)


def check(said: Said, kind: str, astray: int, ranks: int) -> None:
    expected = KINDS[kind]
    assert said.code == HUNG, said.text
    if expected.reported:
        named = said.named
        assert named.pop("MPI_COMM_WORLD") == {astray}, said.text
        # At another communicator that one waits for all the others.
        others = set(range(ranks)) - {astray}
        assert all(missing == others for missing in named.values()), said.text
    if kind == "dead":
        assert "is dead" in said.hangs[0], said.text
    seen = (re.match(r"rank (\d+) is in (.*); \d+ of \d+ are", each) for each in said.hangs)
    places = [place for place in seen if place]
    # A look that finds a rank in motion says nothing.
    least = set() if expected.reported else {astray}
    most = {astray} if expected.seen else set()
    assert least <= {int(each[1]) for each in places} <= most, said.text
    assert all(re.match(expected.seen, each[2]) for each in places), said.text


#: The cases that every change waits for; the deep tests have all kinds on all numbers of ranks, through both MPIs.
QUICK = {
    ("openmpi", "sleep", 4), ("openmpi", "dead", 3), ("openmpi", "init", 4),
    ("mpich", "stopped", 3), ("mpich", "communicator", 4), ("mpich", "lock", 2),
}  # fmt: skip
CASES = [
    pytest.param(*case, marks=() if case in QUICK else pytest.mark.deep)
    for case in itertools.product(LAUNCHERS, KINDS, (2, 3, 4, 8, 16))
]


@pytest.mark.parametrize(("mpi", "kind", "ranks"), CASES)
def test_the_rank_that_went_astray_is_named_and_the_job_is_ended(compiled, tmp_path, mpi, kind, ranks):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    astray = ranks // 2
    before = UNNOTICED if kind == "dead" else ()
    launch = [*LAUNCHERS[mpi], "-n", str(ranks), *before]
    check(watched(tmp_path, launch, [program, kind, astray]), kind, astray, ranks)


@pytest.mark.deep
@pytest.mark.parametrize("mpi", LAUNCHERS)
@pytest.mark.parametrize("kind", ["sleep", "stopped", "loop", "collective", "receive"])
@pytest.mark.parametrize("astray", ["first", "last"])
def test_the_reports_of_several_hosts_name_one_rank(compiled, tmp_path, hosts, mpi, kind, astray):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    launcher = mpis.of_launcher(shutil.which(LAUNCHERS[mpi][0]))
    ranks = 2 * hosts.count
    number = 0 if astray == "first" else ranks - 1
    launch = [LAUNCHERS[mpi][0], *hosts.options(launcher, 2), "-n", str(ranks)]
    said = watched(tmp_path, launch, [program, kind, number], UCX_NET_DEVICES="eth0")
    check(said, kind, number, ranks)


#: Runs that are merely slow, through each MPI.
SLOW_RUNS = int(os.environ.get("TOLLBAR_SLOW_RUNS", "20"))


@pytest.mark.deep
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_a_job_that_is_merely_slow_runs_to_its_end_and_no_other_rank_is_named(compiled, tmp_path, mpi):
    """One rank is stopped for half as long again as the time-out, so that it is reported, but not for two."""
    program = compiled("slow.c", f"mpicc.{mpi}", "-O2")
    for run in range(SLOW_RUNS):
        ranks = 2 + run % 7
        slow = run % ranks
        said = watched(tmp_path, [*LAUNCHERS[mpi], "-n", str(ranks)], [program, 100, slow, 1500])
        assert said.code == 0, said.text
        assert said.hangs == []
        named = re.findall(r"rank (\d+) \(host \S+ process \d+\) has not arrived", said.text)
        assert set(named) <= {str(slow)}, said.text
