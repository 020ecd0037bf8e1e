# SPDX-License-Identifier: Apache-2.0
"""Makes up stored runs of `tollbar bench mpi` and `bench hybrid` whose times follow the LogP model."""

import random

import fake_program
import tollbar
from fake_program import USABLE

PLANS = ("mcs", "dissemination", "central", "combining:2", "combining:4", "tournament")
ONE_WAY_NS = 3e3  # 2 o + L, in equal parts


def latency_ns(name: str, ranks: int) -> float:
    """The price by LogP, or for MPI_Barrier twice dissemination."""
    if "MPI_" in name:
        return 2 * latency_ns("dissemination", ranks)
    third = ONE_WAY_NS / 3
    price = tollbar.price(tollbar.plan(name, ranks), tollbar.LogP(L=third, o=third, g=third))
    return max(price.last_us, price.messages * 2 * third / USABLE if ranks > USABLE else 0.0)


def behind(door: str, ranks: int) -> float:
    """MPI_Barrier takes half of the time with tollbar behind it."""
    return latency_ns("MPI_Barrier", ranks) / (1 if door == "none" else 2)


def ranks_launch(ranks: int, hosts: int, seed: int, door: str = "none", setting: str = "stock") -> str:
    """One launch of so many ranks; hosts is 1, or a host for each. Behind a door only MPI_Barrier."""
    chance = random.Random(f"{ranks} {hosts} {seed}")
    far = 1.0 if hosts == 1 else 20.0
    made = [_environment(ranks, seed, hosts=str(hosts), door=door, setting=setting)]
    for number in range(3):
        made.append(fake_program.floor(number, 30, 1400))
        kind = "mpi" if door == "none" else "door"
        made += _measured(chance, number, "MPI_Barrier", kind, "auto", far * behind(door, ranks))
        if setting == "by turns":
            made += _measured(chance, number, "PMPI_Barrier", "mpi", "auto", far * behind("none", ranks))
        for name in ("MPI_Bcast", "PMPI_Bcast") if setting == "watched" else ():
            made += _measured(chance, number, name, "mpi", "auto", 2 * latency_ns(name, ranks))
        for name in PLANS if door == "none" and setting == "stock" else ():
            time = far * latency_ns(name, ranks)
            made += _measured(chance, number, name, "plan", "auto", time / 10 if hosts == 1 else time)
            made += _measured(chance, number, name, "plan", "messages", time) if hosts == 1 else []
    return fake_program.text(made)


def threads_launch(ranks: int, threads: int, seed: int) -> str:
    """One launch of ranks with threads: linear in both, as in the paper."""
    chance = random.Random(f"{ranks} {threads} {seed}")
    made = [_environment(ranks, seed, hosts="1", threads=threads)]
    for number in range(2):
        for name, factor in (("turnstile/dissemination", 1.0), ("turnstile/mcs", 1.1)):
            made += _measured(chance, number, name, "combination", "auto", factor * 1e3 * ranks * threads)
    return fake_program.text(made)


def _environment(ranks: int, seed: int, **more: object) -> dict:
    facts = {"model": "Replay", "kernel": "none", "seed": seed, "mpi": "Open MPI 4.1.4"}
    return fake_program.environment(ranks, **facts, **more)


def _measured(chance: random.Random, number: int, name: str, kind: str, wait: str, period: float) -> list[dict]:
    noisy = [period * fake_program.noise(chance) for _ in range(20)]
    label = {"round": number, "name": name, "kind": kind, "wait": wait}
    return fake_program.measured(label, 100, period, noisy, [0.5 * each for each in noisy], noisy)
