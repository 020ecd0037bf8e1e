# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --cpus: more threads than processors, measured and, by tollbar-lab, simulated side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tollbar.cli import laboratory
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.campaigns.campaign import Request
    from tollbar.data.crowds import Crowds, Point, Scheduler


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
    simulated_us: float | None = column(
        "the same, simulated with this machine's quantum and cost of a switch; empty without tollbar-lab"
    )
    simulated_pct: float | None = column("its overhead")
    ratio: float | None = column("measured / simulated")
    switches: float = column("context switches an episode, all threads", detail=True)
    simulated_switches: float | None = column("those in the simulator", detail=True)
    busy: float = column("share of the processors' time that the threads had", detail=True)
    model: str | None = column("the simulator's barrier and way of waiting", detail=True)


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
    """The points of a stored run."""
    from tollbar.data import crowds, samples

    try:
        run = crowds.gather(samples.read([folder]))
    except ValueError as error:
        raise CheckFailed(f"{error}; every sample is in {folder}") from None
    notes = [*_notes(run), f"every sample is in {folder}"] if run else []
    return Table(rows(run) if run else [], Crowded, failed=failed, notes=notes)


def rows(crowds: Crowds) -> list[Crowded]:
    """One a point, by situation."""
    return sorted(
        (_row(point, _by_the_model(point, crowds.scheduler)) for point in crowds.points),
        key=lambda row: (row.ranks, row.processors, row.variation, row.compute_us, row.period_us),
    )


def _by_the_model(point: Point, scheduler: Scheduler) -> dict[str, Any]:
    """The columns that the laboratory's simulator fills; empty without it."""
    if not laboratory.is_here():
        return dict.fromkeys(("simulated_us", "simulated_pct", "ratio", "simulated_switches", "model"))
    crowd = laboratory.part("bench.crowd")
    simulated = crowd.simulated(point, scheduler)
    return {
        "simulated_us": simulated.period_us,
        "simulated_pct": 100 * (simulated.period_us / point.alone_us - 1),
        "ratio": point.period.value / simulated.period_us,
        "simulated_switches": simulated.switches,
        "model": " ".join(crowd.model_of(point.candidate)),
    }


def _row(point: Point, by_the_model: dict[str, Any]) -> Crowded:
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
        switches=point.switches,
        busy=point.busy,
        **by_the_model,
    )


def _notes(crowds: Crowds) -> list[str]:
    from tollbar.report.crowd_section import verdict_text, verdicts

    scheduler = crowds.scheduler
    return [
        f"this machine: a quantum is {scheduler.quantum_us.value / 1e3:.3g} ms, a switch by yielding "
        f"{scheduler.yield_us.value:.3g} us, by waking and sleeping {scheduler.sleep_us.value:.3g} us",
        *map(verdict_text, verdicts(crowds)),
    ]
