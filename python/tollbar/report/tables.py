# SPDX-License-Identifier: Apache-2.0
"""The tables of the report, and its advice in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tollbar.data import places, statistics
from tollbar.data.choice import Choice
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.summary import interval, medians, ratio, summary
from tollbar.report.candidates import PEERS

Places = Mapping[Situation, Measurements]

#: How processes are apart: all in one session, each in one of its own, each in a control group of its own.
TOGETHER, APART = "one session", ("sessions", "cgroups")


def times_text(value: float | None) -> str:
    """A ratio to three digits; a small one to two."""
    if value is None:
        return ""
    if 0 < value < 0.095:
        return f"{value:.2g}"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def interval_text(found: statistics.Interval | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{times_text(found.low)} to {times_text(found.high)}"


def wild(found: statistics.Interval | None) -> bool:
    """Whether an interval spans 1 by orders of magnitude: the ratio says nothing."""
    if found is None or found.low is None or found.high is None:
        return False
    return found.low <= 0.1 and found.high >= 10


def advice(choices: Sequence[Choice]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """What to use, in words: for each placement a sentence for each stretch of thread counts."""
    by_placement: dict[str, list[Choice]] = {}
    for chosen in choices:
        by_placement.setdefault(chosen.situation.placement, []).append(chosen)
    return [
        (placement, [_sentence(stretch) for stretch in _stretches(each)]) for placement, each in by_placement.items()
    ]


def _stretches(choices: Iterable[Choice]) -> list[list[Choice]]:
    stretches: list[list[Choice]] = []
    for chosen in choices:
        last = stretches[-1][-1] if stretches else None
        if last and (last.pick, last.verdict) == (chosen.pick, chosen.verdict):
            stretches[-1].append(chosen)
        else:
            stretches.append([chosen])
    return stretches


def _sentence(stretch: Sequence[Choice]) -> tuple[str, str, str]:
    """What stands before, in and after the name of what to use."""
    ranks = [chosen.situation.ranks for chosen in stretch]
    threads = f"{ranks[0]} threads" if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]} threads"
    return f"With {threads} use ", stretch[0].pick.label, _reason(stretch)


def _reason(stretch: Sequence[Choice]) -> str:
    if stretch[0].runner_up is None:
        return ", the only one measured."
    if stretch[0].verdict is statistics.Verdict.TIE:
        tied = dict.fromkeys(each.label for chosen in stretch for each in chosen.tied if each != chosen.pick)
        shown = list(tied)[:3]
        more = f" and {len(tied) - 3} more" if len(tied) > 3 else ""
        return f": a tie with {', '.join(shown)}{more}; the simplest within a tenth of the fastest."
    ahead = [chosen.ratio.value for chosen in stretch if chosen.ratio]
    second = " or ".join(dict.fromkeys(chosen.runner_up.label for chosen in stretch if chosen.runner_up))
    factor = times_text(min(ahead))
    if times_text(max(ahead)) != factor:
        factor += f" to {times_text(max(ahead))}"
    return f": the next best, {second}, takes {factor} times as long."


def apart(samples: Samples) -> list[dict[str, Any]]:
    """Loop periods between processes in one session, and how many times as long they take apart."""
    rows = samples.of("period_ns").filter(pl.col("apart").is_in([TOGETHER, *APART]), bench="threads")
    records = rows.with_columns(candidate=pl.col("apart"))
    key = ["ranks", "name"]
    table = summary(dataclasses.replace(samples, records=records), "period_ns", by=key, to=TOGETHER)
    every = {tuple(row[name] for name in (*key, "candidate")): row for row in table.iter_rows(named=True)}
    together = sorted(
        (row for row in every.values() if row["candidate"] == TOGETHER), key=lambda row: (row["ranks"], row["value"])
    )
    return [
        {
            "ranks": row["ranks"],
            "name": row["name"],
            "period": row["value"],
            "ratios": [ratio(of) if (of := every.get((row["ranks"], row["name"], how))) else None for how in APART],
        }
        for row in together
    ]


def waits(samples: Samples) -> list[tuple[str, statistics.Interval]]:
    """CPU time of all waiters over the time waited, least first."""
    table = medians(samples.of("waiters_share"), ["name"]).sort("value")
    return [(row["name"], interval(row)) for row in table.iter_rows(named=True)]


def gains(measured: Measurements, pick: Candidate) -> dict[str, statistics.Ratio | None]:
    """How many times as long a loop over each peer takes."""
    found = measured.ratios(pick, of=PEERS)
    return {name: found.get(name) for name in PEERS}


def crowded(there: Places) -> list[dict[str, Any]]:
    """Candidates where threads outnumber processors: distance to the bound, switches, tail."""
    return [
        {"place": place, "fewest": place.ranks - place.processors, "bound_ns": measured.floor.value} | row
        for place, measured in there.items()
        if place.crowded and measured.floor
        for row in sorted(rows_of(measured), key=lambda row: row["period"].value if row["period"] else 0.0)
        if row["candidate"].kind != "plan" and row["over_floor"]
    ]


def rows_of(measured: Measurements) -> list[dict[str, Any]]:
    """Everything about each candidate: medians with their intervals, and quantiles of all its episodes."""
    metrics = places.TIMES | {"switches": "switches", "cpu": "cpu_ns", "over_floor": "over_floor", "tail": "tail"}
    rows = []
    for candidate in measured.candidates:
        values = measured.latencies(candidate)
        p95, p99 = statistics.quantiles(values, (0.95, 0.99)) if len(values) else (None, None)
        medians = {name: measured.median(candidate, metric) for name, metric in metrics.items()}
        rows.append({"candidate": candidate, "p95": p95, "p99": p99} | medians)
    return rows


def everything(there: Iterable[Measurements]) -> list[tuple[Measurements, list[dict[str, Any]]]]:
    """Every candidate of every place, shortest latency first; what has no stamped episodes comes last."""
    return [
        (measured, sorted(rows_of(measured), key=lambda row: row["latency"].value if row["latency"] else np.inf))
        for measured in there
    ]


def launches(there: Places) -> tuple[int, int]:
    """The fewest and the most launches that a candidate had in a situation."""
    found = [measured.median(each, "period_ns") for measured in there.values() for each in measured.candidates]
    counts = [each.count if each else 0 for each in found]
    return min(counts, default=0), max(counts, default=0)


def machine_text(facts: Mapping[str, Any]) -> str:
    """The machine of a run, in a few words."""
    usable = facts.get("usable") or []
    return f"{facts.get('model') or 'unknown processor'}, {len(usable)} usable processors"


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The rows under those names, for a page of documentation, without the columns that are empty."""
    columns = zip(names, *rows, strict=True)
    kept = [(name, "---", *cells) for name, *cells in columns if any(cells)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in zip(*kept, strict=True))
