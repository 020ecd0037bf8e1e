# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --cpus: more threads than processors, measured and simulated side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tollbar import laboratory
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.campaigns.campaign import Request


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


def computing(request: Request, compute: Sequence[str] | None) -> Request:
    """The same with these computing times and variations. Raises WrongUse for what is no time above 0."""
    if not compute:
        return request
    parts = [workload.partition("~") for workload in compute]
    try:
        times = tuple(dict.fromkeys(float(us) for us, _, _ in parts))
        shares = tuple(dict.fromkeys(float(share or 0) for _, _, share in parts))
    except ValueError:
        raise WrongUse("--compute with --cpus takes US or US~SHARE, no application") from None
    if min(times) <= 0 or max(times) > 1e6 or len(times) * len(shares) != len(compute):
        raise WrongUse("--compute with --cpus takes times above 0, each of them with the same shares")
    return dataclasses.replace(request, compute_us=times, variations=shares)


def on_these_processors(request: Request) -> Request:
    """The same, on no more processors than there are. Raises WrongUse where more were asked for."""
    from tollbar.campaigns.campaign import amounts
    from tollbar.machine import cpus

    usable = cpus.usable().cpus
    fitting = tuple(number for number in request.processors if number <= usable)
    if fitting != tuple(request.processors) and list(request.processors) != amounts("crowd")["processors"]:
        raise WrongUse(f"--cpus {max(request.processors)}: this process may use {usable}")
    return dataclasses.replace(request, processors=fitting)


def table(folder: Path, failed: bool) -> Table:
    """The points of a stored run, measured and simulated."""
    from tollbar.data import samples

    try:
        crowds = laboratory.part("crowd").gather(samples.read([folder]))
    except ValueError as error:
        raise CheckFailed(f"{error}; every sample is in {folder}") from None
    notes = [*_notes(crowds), f"every sample is in {folder}"] if crowds else []
    return Table(rows(crowds) if crowds else [], Crowded, failed=failed, notes=notes)


def rows(crowds: Any) -> list[Crowded]:
    """One a point, by situation."""
    return sorted(
        map(_row, crowds.points),
        key=lambda row: (row.ranks, row.processors, row.variation, row.compute_us, row.period_us),
    )


def _row(point: Any) -> Crowded:
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
        model=" ".join(laboratory.part("crowd").model_of(point.candidate)),
    )


def _notes(crowds: Any) -> list[str]:
    from tollbar.report.crowd_section import verdict_text, verdicts

    scheduler = crowds.scheduler
    return [
        f"this machine: a quantum is {scheduler.quantum_us.value / 1e3:.3g} ms, a switch by yielding "
        f"{scheduler.yield_us.value:.3g} us, by waking and sleeping {scheduler.sleep_us.value:.3g} us",
        *map(verdict_text, verdicts(crowds)),
    ]
