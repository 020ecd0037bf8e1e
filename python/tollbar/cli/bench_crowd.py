# SPDX-License-Identifier: Apache-2.0
"""tollbar bench crowd: barriers where threads outnumber processors, measured and simulated side by side."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.table import Table, column
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.models.crowd import Crowds, Point

RANKS = (16,)
PROCESSORS = (1, 2)
COMPUTE_US = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, 50000.0)
VARIATIONS = (0.0, 0.5)
LAUNCHES, BUDGET_S, LONGEST_MS = 3, 600.0, 200.0
QUICK = {"compute_us": (1.0, 30.0, 1000.0), "launches": 1, "budget": 60.0, "longest": 50.0}
FULL = {"ranks": (8, 16, 64), "launches": 6, "budget": 4 * 3600.0, "longest": 1000.0}


@dataclass(frozen=True)
class Crowded:
    """One barrier in one situation; fastest first."""

    ranks: int = column("how many threads")
    processors: int = column("on how many processors")
    variation: float = column("by which share the computing times vary")
    compute_us: float = column("computing of each thread before each barrier")
    candidate: str = column("the barrier, and how it waits where that was said")
    period_us: float = column("an episode with its computing: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches", detail=True)
    high_us: float | None = column("upper end of it", detail=True)
    overhead_pct: float = column("how much longer that is than computing alone")
    simulated_us: float = column("the same, simulated with this machine's quantum and cost of a switch")
    simulated_pct: float = column("its overhead")
    ratio: float = column("measured / simulated")
    switches: float = column("context switches an episode, all threads", detail=True)
    simulated_switches: float = column("those in the simulator", detail=True)
    busy: float = column("share of the processors' time that the threads had", detail=True)
    model: str = column("the simulator's barrier and way of waiting", detail=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--processors", type=_processors, metavar="C[,C...]",
        help=f"crowd only: on how many processors (default: {','.join(map(str, PROCESSORS))})",
    )  # fmt: skip
    parser.add_argument(
        "--compute-us", type=_times, metavar="US[,US...]",
        help="crowd only: computing before each barrier "
        f"(default: {','.join(f'{us:g}' for us in COMPUTE_US)}; situations with more than {LONGEST_MS:g} ms "
        f"of computing an episode only with --full, above {FULL['longest']:g} ms never)",
    )  # fmt: skip
    parser.add_argument(
        "--variation", type=_shares, metavar="SHARE[,SHARE...]",
        help="crowd only: by how much computing times vary "
        f"(default: {','.join(f'{share:g}' for share in VARIATIONS)})",
    )  # fmt: skip


def _processors(text: str) -> tuple[int, ...]:
    found = text.split(",")
    for part in found:
        if not (part.isascii() and part.isdigit() and 1 <= int(part) <= 1024):
            raise argparse.ArgumentTypeError(f"'{part}' is not a number of processors from 1 to 1024")
    return tuple(dict.fromkeys(map(int, found)))


def _times(text: str) -> tuple[float, ...]:
    return _numbers(text, lambda us: 0 < us <= 1e6, "a time above 0 and up to 1000000 us")


def _shares(text: str) -> tuple[float, ...]:
    return _numbers(text, lambda share: 0 <= share <= 1, "a share from 0 to 1")


def _numbers(text: str, accepts: Callable[[float], bool], meaning: str) -> tuple[float, ...]:
    found = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        if not accepts(number):
            raise argparse.ArgumentTypeError(f"'{part}' is not {meaning}")
        found.append(number)
    return tuple(dict.fromkeys(found))


def run(args: argparse.Namespace) -> Table:
    """Measures, stores, simulates, and prints both."""
    from tollbar.data import results
    from tollbar.models import crowd
    from tollbar.report import crowd_section

    folder, unsafe = measure(args)
    try:
        crowds = crowd.gather(results.read_run(folder).launches)
    except ValueError as error:
        raise CheckFailed(f"{error}; every sample is in {folder}") from None
    notes = [*_notes(crowds), f"every sample is in {folder}"] if crowds else []
    if crowds:
        notes[:0] = crowd_section.sentences(crowds, crowd_section.agreements(crowds))
    return Table(rows(crowds) if crowds else [], Crowded, failed=unsafe, notes=notes)


def measure(args: argparse.Namespace) -> tuple[Path, bool]:
    """Runs what the arguments ask for; gives the folder, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import crowd as crowd_campaign
    from tollbar.data import results
    from tollbar.machine import cpus

    usual = {
        "ranks": RANKS, "compute_us": COMPUTE_US, "launches": LAUNCHES, "budget": BUDGET_S,
        "longest": LONGEST_MS,
    }  # fmt: skip
    usual |= FULL if args.full else QUICK if args.quick else {}
    usable = cpus.usable().cpus
    asked = args.processors or tuple(each for each in PROCESSORS if each <= usable)
    if too_many := [each for each in asked if each > usable]:
        raise WrongUse(f"--processors {too_many[0]}: this process may use {usable}")
    settings = crowd_campaign.Settings(
        ranks=args.ranks or usual["ranks"],
        processors=asked,
        compute_us=args.compute_us or usual["compute_us"],
        variations=args.variation if args.variation is not None else VARIATIONS,
        launches=args.launches or usual["launches"],
        budget_s=args.budget or usual["budget"],
        longest_ms=usual["longest"],
        only=args.only,
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    if not settings.wanted:
        raise WrongUse("nothing is left to measure: every number in --ranks fits on its --processors")
    if not settings.situations:
        raise WrongUse(
            "nothing is left to measure: computing alone takes more than "
            f"{settings.longest_ms:g} ms an episode"
        )
    try:
        with Watcher(settings.launches * len(settings.situations)) as watcher:
            return told(crowd_campaign.measure(settings, args.output or results.folder(), watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None


def rows(crowds: Crowds) -> list[Crowded]:
    """One a point, by situation."""
    return sorted(
        map(_row, crowds.points),
        key=lambda row: (row.ranks, row.processors, row.variation, row.compute_us, row.period_us),
    )


def _row(point: Point) -> Crowded:
    from tollbar.models.crowd import model_of

    period = point.period
    return Crowded(
        ranks=point.place.ranks,
        processors=point.place.processors,
        variation=point.place.variation,
        compute_us=point.compute_us,
        candidate=point.candidate.label,
        period_us=period.value,
        low_us=period.low,
        high_us=period.high,
        overhead_pct=point.overhead_pct,
        simulated_us=point.simulated.period_us,
        simulated_pct=point.simulated_overhead_pct,
        ratio=point.ratio,
        switches=point.switches,
        simulated_switches=point.simulated.switches,
        busy=point.busy,
        model=" ".join(model_of(point.candidate)),
    )


def _notes(crowds: Crowds) -> list[str]:
    from tollbar.report.crowd_section import verdict_text, verdicts

    scheduler = crowds.scheduler
    return [
        f"this machine: a quantum is {scheduler.quantum_us.value / 1e3:.3g} ms, a switch by yielding "
        f"{scheduler.yield_us.value:.3g} us, by waking and sleeping {scheduler.sleep_us.value:.3g} us",
        *map(verdict_text, verdicts(crowds)),
    ]
