# SPDX-License-Identifier: Apache-2.0
"""The MPI transport on a simulated cluster (SimGrid's SMPI): it takes its price, and names the missing.

The library is that of every MPI, and so is the source of its messages, compiled by SMPI's compiler; links and
costs of messages are LogP's.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import tollbar
from random_truth import numbers
from tollbar.machine import paths
from tollbar_lab.models import cluster

ROOT = Path(__file__).resolve().parents[4]
HERE = Path(__file__).resolve().parent

PARAMETERS = ["combining:3", "fway_tournament:2", "mcs:2,3", "dissemination:2", "dissemination:5"]
TWO_LEVELS = ["central@4/dissemination", "mcs@3/pairwise"]
WITHOUT_ROLES = [algorithm.name for algorithm in tollbar.catalogue() if not algorithm.player]
EVERY_PLAN = [name for name in WITHOUT_ROLES if not tollbar.runs_on(name)] + PARAMETERS + TWO_LEVELS
OF_MANY_RANKS = ["central", "mcs", "tournament", "combining", "dissemination", "central@16/dissemination:3"]

pytestmark = pytest.mark.needs(
    shutil.which("smpicxx") and shutil.which("smpirun"),
    "no SimGrid (apt-get install libsimgrid-dev): the MPI transport is not tested under it",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """With the programs in it. The library brings all of tollbar that knows no mpi.h."""
    made = tmp_path_factory.mktemp("smpi")
    flags = ["-O1", "-fPIC", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{ROOT / 'lab'}", "-c"]
    compilations = [
        ["smpicxx", "-std=c++20", *flags, path, "-o", made / f"{path.stem}.o"]
        for path in (HERE / "prices.cpp", HERE / "missing.cpp")
    ]
    p2p = ROOT / "lab" / "models" / "cluster" / "simulated_p2p.c"
    compilations.append(["smpicc", "-std=gnu11", *flags, p2p, "-o", made / "simulated_p2p.o"])
    running = [subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in compilations]
    failed = [said for each in running if (said := each.communicate()[1]) and each.returncode]
    assert failed == []
    library = paths.build_folder() / "libtollbar.a"
    for name in ("prices", "missing"):
        objects = [made / f"{each}.o" for each in ("simulated_p2p", name)]
        subprocess.run(["smpicxx", *objects, library, "-o", made / name], check=True, capture_output=True)
    return made


def simulate(folder: Path, program: str, ranks: int, logp: tollbar.LogP, *words: str) -> list[str]:
    """The lines that the program prints on a cluster of so many hosts, a rank on each."""
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(cluster.logp_platform(ranks, logp.L))
    hosts.write_text("".join(f"host{rank}\n" for rank in range(ranks)))
    settings = [f"--cfg={name}:{value}" for name, value in cluster.settings(logp, "").items()]
    command = ["smpirun", "-quiet", "-no-privatize", "-np", ranks, "-platform", platform, "-hostfile", hosts]
    done = subprocess.run(
        [*map(str, command), *settings, "--log=root.thresh:warning", folder / program, *words],
        env={**os.environ, "TOLLBAR_WAIT": "spin"},  # real naps would only make it slow
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def assert_priced_right(folder: Path, plans: list[str], ranks: int, logp: tollbar.LogP) -> None:
    simulated = {}
    for line in simulate(folder, "prices", ranks, logp, *plans):
        plan, last, first = line.split()
        simulated[plan] = (float(last), float(first))
    assert list(simulated) == plans
    for plan in plans:
        price = tollbar.price(tollbar.plan(plan, ranks), logp, tollbar.Receive.plan_order)
        assert simulated[plan] == pytest.approx((price.last_us, price.first_us), abs=0.05), plan


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 16, 64])
def test_every_plan_takes_the_time_of_its_price(folder, ranks):
    assert_priced_right(folder, EVERY_PLAN, ranks, tollbar.LogP(L=10, o=5, g=5))


def test_it_does_so_with_a_long_way_and_little_work(folder):
    assert_priced_right(folder, EVERY_PLAN, 13, tollbar.LogP(L=20, o=1, g=1))


def test_512_ranks_take_the_time_of_their_price(folder):
    assert_priced_right(folder, OF_MANY_RANKS, 512, tollbar.LogP(L=10, o=5, g=5))


def named(text: str) -> set[int]:
    """The ranks in "nothing heard from rank 3 (host ...); nothing heard from ranks 5 and 6 (...)"."""
    listed = re.findall(r"nothing heard from ranks? ([\d, and-]+)", text)
    return {rank for ranks in listed for rank in numbers(ranks)}


@pytest.mark.parametrize(
    "plan", ["central", "mcs", "tournament", "dissemination", "pairwise", "central@4/dissemination", "turnstile@4/mcs"]
)
@pytest.mark.parametrize("late", [0, 2, 6])
def test_whoever_stays_away_is_missed_by_all_others_and_nobody_else_is(folder, plan, late):
    ranks = 7
    lines = simulate(folder, "missing", ranks, tollbar.LogP(L=10, o=5, g=5), plan, str(late))
    assert lines[-1] == "all have left"
    missed = {int(line.partition(":")[0]): named(line) for line in lines[:-1]}
    assert sorted(missed) == [rank for rank in range(ranks) if rank != late]
    assert set.intersection(*missed.values()) == {late}, lines
