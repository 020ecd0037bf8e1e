# SPDX-License-Identifier: Apache-2.0
"""The fastest barrier alone may be the slowest beside others: whether a choice holds there, before it is stored.

A choice that differs from what an untuned group runs is stored only where it loses nowhere: alone and beside
a neighbour, and if its threads are not pinned when the group is made, among free and among pinned threads, as
they may pin themselves later. It does not lose where the 95 % interval of its ratio to an untuned group says so.
Situations of which that is not known are measured.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from tollbar.cli import bench
from tollbar.data import neighbours

if TYPE_CHECKING:
    from pathlib import Path

    from tollbar.data.choice import Choice
    from tollbar.data.places import Candidate, Measurements, Situation
    from tollbar.data.statistics import Interval, Ratio

#: A ratio to an untuned group that is certainly above that is a loss; so is one that may be above cells.AS_GOOD.
LOSES = 1.05
#: The company in which a choice has to hold, by the words of the tuning file: what results have.
NEIGHBOURS = {"alone": neighbours.ALONE, "neighbour": (neighbours.NEIGHBOURS["neighbour"].stored,)}
LAUNCHES = 8  #: so many leave the greatest of the ratios of two workloads a lower end
_BUDGET_S = 25.0

Where = tuple[str, str]  #: placement, neighbours as in NEIGHBOURS


@dataclass(frozen=True)
class Checked:
    """A choice that may be stored, where it was measured, and why it is not what is fastest alone."""

    choice: Choice
    measured: Sequence[Where]
    worst: Interval | None = None  #: its turn over that of an untuned group, where it is worst
    why: str = ""


@dataclass(frozen=True)
class _Claim:
    """A choice, what it has to hold against, and the ratios that have an interval."""

    choice: Choice
    untuned: Candidate
    ratios: Mapping[Where, Sequence[Ratio]]

    @property
    def lacking(self) -> list[Where]:
        return [where for where, ratios in self.ratios.items() if not ratios]


def checked(
    chosen: Sequence[Choice], there: Iterable[Measurements], runs: Iterable[Path], may_measure: bool
) -> list[Checked]:
    """The entries to store. `there` has what was measured alone, `runs` are those beside neighbours."""
    from tollbar.data import cells, samples

    known = {(measured.place.ranks, measured.place.placement): measured for measured in there}
    claims = _claims(chosen, known, cells.gather(samples.read(runs)))
    if may_measure and any(claim.lacking for claim in claims):
        run = _measure([claim for claim in claims if claim.lacking])
        claims = _claims(chosen, known, cells.gather(samples.read([*runs, *run])))
    return [_judged(claim, known) for claim in claims]


def _claims(
    chosen: Sequence[Choice], known: Mapping[Any, Measurements], beside_them: Mapping[Situation, Measurements]
) -> list[_Claim]:
    from tollbar.data import choice

    claims = []
    for wanted in chosen:
        untuned = choice.untuned(wanted.situation)
        ranks, placement = wanted.situation.ranks, wanted.situation.placement
        places = ["pinned"] if placement == "pinned" else ["free", "pinned"]
        ratios: dict[Where, list[Ratio]] = {}
        for where in places if wanted.pick.label != untuned.label else ():
            measured = known.get((ranks, where))
            alone = measured and measured.ratio(wanted.pick.label, untuned.label)
            for word, company in NEIGHBOURS.items():
                there = {cell: measured for cell, measured in beside_them.items() if cell.neighbours in company}
                some = _ratios(there, wanted.pick, untuned, (where, ranks))
                some += [alone] if alone and word == "alone" else []
                ratios[where, word] = [ratio for ratio in some if ratio.low is not None]
        claims.append(_Claim(wanted, untuned, ratios))
    return claims


def _ratios(
    among: Mapping[Situation, Measurements], pick: Candidate, untuned: Candidate, there: tuple[str, int]
) -> list[Ratio]:
    """A ratio for everything that was computed between barriers there; none where they were not compared."""
    from tollbar.data import cells

    return [
        ratio
        for cell, measured in among.items()
        if (cell.placement, cell.ranks) == there
        and not cell.kept_to
        and (ratio := cells.ratio(measured, pick.label, untuned.label))
    ]


def _judged(claim: _Claim, known: Mapping[Any, Measurements]) -> Checked:
    from tollbar.data import choice, statistics
    from tollbar.report import tables

    chosen, untuned = claim.choice, claim.untuned
    own = chosen.situation.placement, "alone"
    if not claim.ratios:
        return Checked(chosen, [own])
    worst = {where: statistics.greatest(ratios) for where, ratios in claim.ratios.items() if ratios}
    lost = {where: ratio for where, ratio in worst.items() if not _keeps_up(ratio)}
    if not lost and not claim.lacking:
        return Checked(chosen, list(claim.ratios), statistics.greatest([*chain(*claim.ratios.values())]))
    what = chosen.pick.label
    if lost:
        where = max(lost, key=lambda place: lost[place].value)
        why = f"{what} takes {tables.ratio_text(lost[where])} times as long {_text(where)}"
    else:
        why = f"{what} was not measured in {statistics.FEWEST} launches {_text(claim.lacking[0])}"
    measured = known.get((chosen.situation.ranks, chosen.situation.placement))
    latency = measured and measured.median(untuned.label, "latency_ns")
    if not measured or not latency:
        return Checked(chosen, [], why=f"{why}, and nothing else was")
    alone = measured.ratio(chosen.pick.label, untuned.label)
    safe = dataclasses.replace(
        chosen,
        pick=untuned,
        verdict="safe",
        latency=latency,
        runner_up=chosen.pick,
        ratio=alone and statistics.one_of(alone, len(choice.rivals(measured))),
        by="period",
    )
    return Checked(safe, [own], why=why)


def _keeps_up(ratio: Interval) -> bool:
    """Whether it is known to be no loss. Every ratio has an interval."""
    from tollbar.data.cells import AS_GOOD

    assert ratio.low is not None
    assert ratio.high is not None
    return ratio.low <= LOSES and ratio.high <= AS_GOOD


def _text(where: Where) -> str:
    placement, who = where
    return f"{'beside a neighbour' if who == 'neighbour' else who}, {placement}"


def _measure(claims: Sequence[_Claim]) -> list[Path]:
    """The run that says what those lack; none where it cannot be had."""
    from tollbar.campaigns.campaign import Request
    from tollbar.cli.errors import CheckFailed, WrongUse

    lacking = {where for claim in claims for where in claim.lacking}
    request = Request(
        ranks=sorted({claim.choice.situation.ranks for claim in claims}),
        launches=LAUNCHES,
        budget_s=_BUDGET_S,
        only=list(dict.fromkeys(name for claim in claims for name in _names(claim))),
        placements=sorted({placement for placement, _ in lacking}),
        beside=[word for word in NEIGHBOURS if word in {who for _, who in lacking}],
        workloads=("0", "20~0.5"),
        turns_ms=60,
    )
    names = " and ".join(request.only)
    print(f"tollbar tune: measuring {names} {', '.join(request.beside)}", file=sys.stderr)
    try:
        return [bench.measure_beside(request)]
    except (CheckFailed, WrongUse) as error:
        print(f"tollbar tune: {error}", file=sys.stderr)
        return []


def _names(claim: _Claim) -> tuple[str, str]:
    return claim.choice.pick.name, claim.untuned.name
