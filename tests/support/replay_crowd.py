# SPDX-License-Identifier: Apache-2.0
"""Launches of threads that compute on too few CPUs, with times known in advance."""

import fake_program

QUANTUM_NS, YIELD_NS, SLEEP_NS = 4e6, 1500.0, 2500.0
#: name, kind, wait, switches of each turn of a processor
BARRIERS = (
    ("turnstile", "turnstile", "auto", 1.0),
    ("turnstile", "turnstile", "spin", QUANTUM_NS / YIELD_NS),
    ("combination", "combination", "park", 2.0),
    ("mcs", "plan", "auto", 12.0),
    ("std::barrier", "peer", "auto", 1.2),
    ("pthread_barrier", "peer", "auto", 6.0),
)


def record(
    name: str, kind: str, wait: str, compute_us: float, variation: float, period_us: float,
    turns: int = 100, switches: float = 16.0, busy: float = 1.0, processors: int = 1,
) -> dict:  # fmt: skip
    """One visit. Rank 0's own time of few turns is far off, as it may be."""
    is_few = turns < 20
    elapsed = 1e3 * period_us * turns * (0.5 if is_few else 1.0)
    between = {"between_ns": 1e3 * period_us * turns} if is_few else {}
    workload = f"{compute_us:g}~{variation:g}" if variation else f"{compute_us:g}"
    return fake_program.record(
        "turns", name=name, kind=kind, wait=wait, workload=workload, turns=turns, elapsed_ns=elapsed,
        cpu_ns=busy * processors * elapsed, involuntary=round(switches * turns), **between,
    )  # fmt: skip


def scheduler(quanta: list[float] | None = None) -> list[dict]:
    """The records that --scheduling adds to a round."""
    quanta = [0.2 * QUANTUM_NS, QUANTUM_NS, QUANTUM_NS] if quanta is None else quanta
    return [
        fake_program.record("floor", one_way_ns=None, yield_switch_ns=YIELD_NS, exchange_ns=None),
        fake_program.record("scheduling", quantum_ns=quanta, sleep_switch_ns=SLEEP_NS),
    ]


def launch(ranks: int, processors: int, visits: list[dict]) -> list[str]:
    """The lines of a launch."""
    environment = fake_program.record("environment", ranks=ranks, usable=processors, placement="pinned")
    return fake_program.text([environment, *scheduler(), *visits]).splitlines()


def visits(ranks: int, processors: int, compute_us: float, variation: float) -> list[dict]:
    turns = -(-ranks // processors)
    return [
        record(name, kind, wait, compute_us, variation, turns * (compute_us + switches * YIELD_NS / 1e3),
               switches=ranks * switches, processors=processors)
        for name, kind, wait, switches in BARRIERS
    ]  # fmt: skip
