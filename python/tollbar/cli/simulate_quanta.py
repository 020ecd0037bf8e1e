# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate quanta: what a centralized spinning barrier takes on too few processors, by recurrence.

The appendix of Markatos et al. 1991: threads outnumber processors, up to two to one, and spin. R barriers
take 2 R - 1 quanta, where R = ceil(1 / (Q / T - 1)), Q is the quantum and T the computing time between two
barriers.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from fractions import Fraction

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns
from tollbar.models import quanta

_MOST_BARRIERS = 100_000


@dataclass(frozen=True)
class Pattern:
    """One computing time."""

    compute_us: float = column("computing time T between two barriers")
    quantum: float = column("the quantum Q in computing times: Q / T")
    R: int = column("so many barriers take 2 R - 1 quanta")
    per_barrier_us: float = column("by the recurrence, over all barriers")
    closed_us: float = column("by the closed form, Q (2 R - 1) / R")
    simulated_us: float | None = column("by `tollbar simulate scheduler`, of 16 threads on 15 processors")
    quanta: int = column("how many the recurrence takes for all barriers")


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "quanta",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__,
        epilog=describe_columns(Pattern),
    )
    parser.add_argument(
        "--compute-us", type=_times, default=(5000.0, 12000.0, 14000.0, 16000.0, 18000.0, 19000.0),
        metavar="US[,US...]", help="computing times, at most a quantum (default: six of Figure 2)",
    )  # fmt: skip
    parser.add_argument("--quantum-us", type=float, default=20000.0, metavar="US", help="(default: 20000)")
    parser.add_argument("--barriers", type=int, default=500, metavar="N", help="in a run (default: 500)")
    parser.set_defaults(run=run)


def _times(text: str) -> tuple[float, ...]:
    return tuple(arguments.microseconds(part) for part in text.split(","))


def run(args: argparse.Namespace) -> Table:
    if not 1 <= args.barriers <= _MOST_BARRIERS:
        raise WrongUse(f"--barriers is a number from 1 to {_MOST_BARRIERS}, not {args.barriers}")
    if not 0 < args.quantum_us < float("inf"):
        raise WrongUse(f"--quantum-us is a time above 0, not {args.quantum_us}")
    if late := [us for us in args.compute_us if not 0 < us < args.quantum_us]:
        raise WrongUse(f"--compute-us {late[0]:g}: the recurrence is for computing times below a quantum")
    return Table([pattern(us, args.quantum_us, args.barriers) for us in args.compute_us])


def pattern(compute_us: float, quantum_us: float, barriers: int) -> Pattern:
    ratio = Fraction(quantum_us) / Fraction(compute_us)
    taken = quanta.quanta_for(barriers, ratio) + 1
    return Pattern(
        compute_us=compute_us,
        quantum=float(ratio),
        R=quanta.pattern(ratio),
        per_barrier_us=taken * quantum_us / barriers,
        closed_us=float(quanta.closed_form(1, ratio)) * quantum_us,
        simulated_us=_simulated_us(compute_us, quantum_us, barriers),
        quanta=taken,
    )


def _simulated_us(compute_us: float, quantum_us: float, barriers: int) -> float:
    application = tollbar.SchedulerApplication(
        threads=16, compute_us=compute_us, barrier="centralized", waiting="spin", barriers=barriers
    )
    outcome = tollbar.simulate_scheduler([application], processors=15, quantum_us=quantum_us, switch_us=0)
    return outcome.applications[0].per_barrier_us
