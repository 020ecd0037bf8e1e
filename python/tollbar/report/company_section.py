# SPDX-License-Identifier: Apache-2.0
"""What the report says of a run of `tollbar bench company`: a sentence, a chart, a row for each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tollbar.data import cells
from tollbar.data.cells import AUTO, FIXED, GROUP, TUNED, Cell, Here, Spread
from tollbar.data.samples import Samples
from tollbar.report import charts, tables
from tollbar.report.candidates import PEERS
from tollbar.report.charts import Line, time_text
from tollbar.report.tables import times_text

#: The companies in words, in the order of tables.
WORDS = {
    "alone": "alone",
    "1 neighbour": "beside a busy neighbour",
    "2 neighbours": "beside two busy neighbours",
    "1 neighbour in another session": "beside one in another session",
    "1 neighbour in another cgroup": "beside one in another control group",
    "a quota of 1.5 CPUs": "under a quota of 1.5 CPUs",
}
_SENTENCE = {
    "1 neighbour in another session": "beside a busy neighbour in another session",
    "1 neighbour in another cgroup": "beside a busy neighbour in another control group",
}
_AGAINST = ("pthread_barrier", "std::barrier")
_RATIO = {"scale": "log", "unit": "", "label": "times the best way to wait, less is better"}


@dataclass(frozen=True)
class Company:
    """The sentence of the first screen, and the section; a row has a ratio, or None, for each label."""

    sentence: Markup
    chart: Markup
    labels: Sequence[str]
    rows: Sequence[tuple[Cell, Here, Sequence[float | None]]]


def of(found: Samples) -> Company | None:
    """None where nothing was measured in company."""
    there = cells.gather(found)
    if not there:
        return None
    shown = labels(there)
    rows = [(cell, here, [here.ratio(label) for label in shown]) for cell, here in there.items()]
    return Company(_sentence(there), Markup(_chart(there, shown)), shown, rows)


def labels(there: Mapping[Cell, Here]) -> list[str]:
    """All that was measured: what need not be told how to wait, what users have today, what is told."""
    met = dict.fromkeys(label for here in there.values() for label in here.turns)
    first, last = [AUTO, GROUP, TUNED], [*PEERS, *FIXED]
    others = [label for label in met if label not in (*first, *last)]
    return [label for label in (*first, *others, *last) if label in met]


def word(company: str) -> str:
    return WORDS.get(company, company)


def _sentence(there: Mapping[Cell, Here]) -> Markup:
    """tollbar::barrier in the first company that was measured, against the best and others; and alone."""
    met = cells.by_company(there)
    known = {each: found for each, some in met.items() if (found := cells.spread(some, AUTO))}
    if not known:
        return Markup("<code>{}</code> was not measured.").format(AUTO)
    first = next((each for each in known if each != "alone"), "alone")
    where, found = _SENTENCE.get(first, word(first)), known[first]
    many = f", in the median of {len(found.ratios)} cells," if len(found.ratios) > 1 else ""
    text = Markup("{}{}{} <code>{}</code> takes {} as long as the best way to wait{}")
    worst = f" (at worst {_at(found)}: {found.worst.place})" if many else f" ({found.worst.place})"
    said = text.format(where[0].upper(), where[1:], many, AUTO, _times(found.median), worst)
    for peer in _AGAINST:
        if over := cells.spread(met[first], AUTO, peer):
            said += Markup(", {} as long as <code>{}</code>").format(_times(over.median), peer)
    if first != "alone" and "alone" in known:
        text = Markup("; alone {} as long as the best (at worst {})")
        said += text.format(_times(known["alone"].median), _at(known["alone"]))
    return said + "."


def _times(ratio: float) -> Markup:
    return Markup("<strong>{} \u00d7</strong>").format(times_text(ratio))


def _at(found: Spread) -> str:
    return f"{times_text(found.ratios[found.worst])}\u00a0\u00d7"


def _chart(there: Mapping[Cell, Here], shown: Sequence[str]) -> str:
    """Two rows a company: the median over its cells, and the worst one."""
    met = cells.by_company(there)
    groups = [(word(company), which) for company in met for which in ("median", "worst")]
    lines, notes = [], []
    for label in reversed([each for each in shown if each not in FIXED]):  # the first one is drawn last
        points: list[tuple[int, float, str]] = []
        for number, some in enumerate(met.values()):
            if found := cells.spread(some, label):
                far = f"{found.above} of {len(found.ratios)} cells above {cells.AS_GOOD:g}"
                points.append((2 * number, found.median, far))
                points.append((2 * number + 1, found.ratios[found.worst], found.worst.place))
        rows, values, told = zip(*points, strict=True)
        lines.append(Line(label, rows, values))
        notes.append(told)
    return charts.rows("company", groups, lines, _RATIO, "", notes)


def markdown(found: Samples) -> str:
    """Both tables for a page of documentation; empty where nothing was measured in company."""
    there = cells.gather(found)
    if not there:
        return ""
    shown = labels(there)
    by_company = (
        [word(company), *(_told(cells.spread(some, label)) for label in shown)]
        for company, some in cells.by_company(there).items()
    )
    every = (
        [
            word(cell.company), str(cell.ranks), cell.placement, cell.work,
            here.best, time_text(here.median(here.best)),
            *(times_text(here.ratio(label)) for label in shown),
        ]
        for cell, here in there.items()
    )  # fmt: skip
    cost = tables.markdown_table(["company", *shown], by_company)
    names = ["company", "threads", "placement", "computing", "best", "a turn of it", *shown]
    return f"{cost}\nEvery cell:\n\n{tables.markdown_table(names, every)}"


def _told(found: Spread | None) -> str:
    return f"{times_text(found.median)} ({times_text(found.ratios[found.worst])})" if found else ""
