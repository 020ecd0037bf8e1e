# SPDX-License-Identifier: Apache-2.0
"""The tables of the report, and its advice in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tollbar.data import comparison, statistics
from tollbar.data.choice import Choice
from tollbar.data.comparison import Candidate, Comparison, Situation
from tollbar.data.results import Run
from tollbar.data.singles import APART, TOGETHER

Comparisons = Mapping[Situation, Comparison]

#: What users have today, in the order of the tables.
PEERS = ("std::barrier", "pthread_barrier", "boost::barrier", "libgomp", "libomp")


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


def advice(choices: Sequence[Choice]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """What to use, in words: for each placement a sentence for each stretch of thread counts."""
    by_placement: dict[str, list[Choice]] = {}
    for chosen in choices:
        by_placement.setdefault(chosen.situation.placement, []).append(chosen)
    return [
        (placement, [_sentence(stretch) for stretch in _stretches(each)])
        for placement, each in by_placement.items()
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


def short(compared: Comparisons) -> list[tuple[str, str]]:
    """How many times as long loops over what users have today take than over tollbar::barrier, in words."""
    found: dict[str, list[float]] = {}
    for each in compared.values():
        own = each.find("tollbar::barrier")
        for name in PEERS:
            peer = each.find(name)
            if own and peer:
                found.setdefault(name, []).append(each.ratio(peer, own).value)
    return [
        (name, f"{times_text(min(ratios))} to {times_text(max(ratios))}") for name, ratios in found.items()
    ]


def apart(compared: Comparisons) -> list[dict[str, Any]]:
    """Loop periods between processes in one session, and how many times as long they take apart."""
    rows = []
    for situation, each in compared.items():
        for name in dict.fromkeys(name for name, _ in each.singles.processes):
            together = each.singles.processes.get((name, TOGETHER))
            if together:
                ratios = [each.singles.apart(name, how) for how in APART]
                period = statistics.summary(together).value
                rows.append({"ranks": situation.ranks, "name": name, "period": period, "ratios": ratios})
    return sorted(rows, key=lambda row: (row["ranks"], row["period"]))


def waits(compared: Comparisons) -> list[tuple[str, statistics.Interval]]:
    """CPU time of all waiters over the time waited, least first."""
    found = {name: each.singles.share(name) for each in compared.values() for name in each.singles.idle}
    return sorted(found.items(), key=lambda each: each[1].value)


def gains(compared: Comparison, pick: Candidate) -> dict[str, statistics.Ratio | None]:
    """How many times as long a loop over each peer takes."""
    found = {name: compared.find(name) for name in PEERS}
    return {name: compared.ratio(peer, pick) if peer else None for name, peer in found.items()}


def heat(compared: Comparisons, placement: str) -> dict[str, Any]:
    """Who wins where: each candidate's latency over that of the fastest, for each number of threads."""
    here = {situation.ranks: each for situation, each in compared.items() if situation.placement == placement}
    columns = {ranks: _to_the_fastest(each) for ranks, each in here.items()}
    rows = []
    for candidate in dict.fromkeys(candidate for column in columns.values() for candidate in column):
        ratios = [column.get(candidate) for column in columns.values()]
        known = [np.log(ratio) for ratio in ratios if ratio is not None]
        rows.append((float(np.mean(known)), candidate, [(ratio, _warmth(ratio)) for ratio in ratios]))
    rows.sort(key=lambda row: row[0])
    return {"ranks": list(columns), "rows": [row[1:] for row in rows]}


def _to_the_fastest(each: Comparison) -> dict[Candidate, float]:
    usual = [candidate for candidate in each.candidates if candidate.wait == "auto"]
    stamped = [candidate for candidate in usual if each.candidates[candidate].latency]
    if not stamped:
        return {}
    to_one = {candidate: each.ratio(candidate, stamped[0], "latency").value for candidate in stamped}
    return {candidate: ratio / min(to_one.values()) for candidate, ratio in to_one.items()}


def _warmth(ratio: float | None) -> int | None:
    """0 for the fastest, 100 for ten times as slow and worse."""
    return None if ratio is None else round(min(1.0, float(np.log10(ratio))) * 100)


def crowded(compared: Comparisons) -> list[dict[str, Any]]:
    """Candidates where threads outnumber processors: distance to the bound, switches, tail."""
    rows = []
    for situation, each in compared.items():
        if not each.crowded:
            continue
        for candidate, measured in each.candidates.items():
            if candidate.kind == "plan" or not measured.floor:
                continue
            rows.append({
                "situation": situation,
                "candidate": candidate,
                "over_bound": statistics.summary(measured.over_floor("period")),
                "bound_ns": statistics.summary(each.floor).value,
                "period": statistics.summary(measured.period).value,
                "switches": statistics.summary(measured.switches).value,
                "fewest": situation.ranks - each.usable,
                "tail": comparison.tail_ratio(measured),
            })  # fmt: skip
    place = {situation: number for number, situation in enumerate(compared)}
    return sorted(rows, key=lambda row: (place[row["situation"]], row["period"]))


def everything(compared: Comparisons) -> list[tuple[Comparison, list[dict[str, Any]]]]:
    """Every candidate of every situation, shortest latency first; what has no stamped episodes comes last."""
    found = []
    for each in compared.values():
        rows = []
        for candidate, measured in each.candidates.items():
            values = measured.latencies()
            p95, p99 = statistics.quantiles(values, (0.95, 0.99)) if len(values) else (None, None)
            rows.append({"candidate": candidate, "p95": p95, "p99": p99} | {
                name: comparison.summarise(getattr(measured, name))
                for name in (*comparison.TIMES, "switches", "cpu")
            } | {"over_floor": comparison.summarise(measured.over_floor("period"))})  # fmt: skip
        rows.sort(key=lambda row: row["latency"].value if row["latency"] else float("inf"))
        found.append((each, rows))
    return found


def launches(compared: Comparisons) -> tuple[int, int]:
    """The fewest and the most launches that a candidate had in a situation."""
    counts = [len(measured.period) for each in compared.values() for measured in each.candidates.values()]
    return min(counts, default=0), max(counts, default=0)


def versions(run: Run) -> dict[str, Any]:
    """What all measuring programs say alike, beyond what is known of the machine already."""
    told: dict[str, list[Any]] = {}
    for launch in run.launches:
        for name, value in launch.environment.facts.items():
            told.setdefault(name, []).append(value)
    return {
        name: values[0]
        for name, values in told.items()
        if name not in run.environment and all(value == values[0] for value in values)
    }
