# SPDX-License-Identifier: Apache-2.0
"""The first screen of the report: what users have today against tollbar, in a chart and a sentence each.

Charts, sentences and advice come from the same loop periods and the same ratios, so they agree.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup, escape

from tollbar.data import summaries
from tollbar.data.choice import Choice
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.report import charts
from tollbar.report.charts import Line
from tollbar.report.tables import times_text, wild

OURS = "tollbar::barrier"
#: The standard's barrier first: the sentence is about it where it was measured.
TODAY = ("std::barrier", "pthread_barrier", "libgomp", "libomp")
MPI_OWN = "MPI_Barrier"
DOORS = {"MPI_Barrier [preload]": "tollbar preloaded", "MPI_Barrier [component]": "tollbar's component"}

_PLACE = ["over", "placement", "ranks"]
_MOST_ROWS = 9  # of MPI: a phone shows them all
_PERIOD = {"scale": "log", "unit": "ns", "label": "loop period, less is better"}

Key = tuple[str, str, int, str]  #: the values of _PLACE and the candidate
Ratios = Mapping[Key, Interval]


@dataclass(frozen=True)
class Panel:
    """One chart with its sentence."""

    name: str
    chart: Markup
    sentence: Markup


@dataclass(frozen=True)
class Advice:
    """For whom, what to use, and why."""

    whom: str
    use: Markup
    why: Markup


def told(found: Interval) -> Markup:
    """A ratio and its interval, in words."""
    value = Markup("<strong>{} \u00d7</strong>").format(times_text(found.value))
    if found.low is None:
        return value + " (one launch: no interval)"
    tie = ", a tie" if found.low <= 1 <= found.high else ""
    return value + f" ({times_text(found.low)} to {times_text(found.high)}{tie})"


@dataclass(frozen=True)
class First:
    """A panel for each placement of threads, the best measured first, that of MPI, and the advice."""

    threads: Sequence[Panel]
    mpi: Panel | None
    advice: Sequence[Advice]
    left_out: int  #: ratios whose interval says nothing


def first(of_threads: Samples, of_mpi: Samples | None, choices: Sequence[Choice]) -> First:
    """What there are samples for; `choices` are what `tollbar tune` stores."""
    threads, processes = _alone(of_threads), _alone(of_mpi or of_threads)
    users = threads.filter(pl.col("candidate").is_in([OURS, *TODAY]))
    calls = processes.filter(pl.col("candidate").is_in([MPI_OWN, *DOORS]))
    all_ratios = _ratios(of_threads, threads, OURS)
    all_doors = _door_ratios(of_mpi, calls) if of_mpi else {door: {} for door in DOORS}
    ratios, doors = _sane(all_ratios), {door: _sane(each) for door, each in all_doors.items()}
    compared = [key for key, each in all_ratios.items() if key[-1] in TODAY and wild(each)]
    panels = [
        Panel(placement, Markup(_over_threads(users.filter(pl.col("placement") == placement), placement)),
              _of_threads(ratios, placement, int(users["usable"].max())))
        for placement in _by_launches(users)
    ]  # fmt: skip
    mpi = None
    if of_mpi and not calls.is_empty():
        mpi = Panel("mpi", Markup(_over_mpis(calls)), _of_mpis(doors, int(calls["usable"].max())))
    dropped = sum(len(all_doors[door]) - len(doors[door]) for door in DOORS)
    return First(panels, mpi, _advice(ratios, doors, choices), len(compared) + dropped)


def _advice(ratios: Ratios, doors: Mapping[str, Ratios], choices: Sequence[Choice]) -> list[Advice]:
    """Three lines at most: threads, threads with ranks, processes."""
    made = []
    peer = next((name for name in TODAY if any(key[-1] == name for key in ratios)), None)
    if peer:
        against = {key: each for key, each in ratios.items() if key[-1] == peer}
        use = Markup("{} in place of {}").format(_code(OURS), _code(peer))
        made.append(Advice("Threads", use, Markup("{}.").format(_summary(against, "threads"))))
    if choices:
        use = Markup("{} after {}").format(_code("tollbar::group"), _code("tollbar tune"))
        made.append(Advice("Threads with ranks", use, _picks(choices, ratios)))
    if said := _best_doors(doors):
        use = Markup("{}, the program started by {}").format(_code(MPI_OWN), _code("tollbar run"))
        made.append(Advice("MPI", use, Markup("; ").join(said) + "."))
    return made


def _sane(ratios: Ratios) -> Ratios:
    return {key: each for key, each in ratios.items() if not wild(each)}


def _alone(found: Samples) -> pl.DataFrame:
    """Loop periods on one host, with nobody else and no computing between."""
    return found.of("period_ns").filter(
        pl.col("apart") == "launcher", pl.col("hosts") == 1, pl.col("workload") == "0"
    )


def _by_launches(rows: pl.DataFrame) -> list[str]:
    """Placements: most numbers of threads first, then most launches; free before pinned where they tie."""
    known = {}
    for placement in ("free", "pinned"):
        here = rows.filter(pl.col("placement") == placement)
        if not here.is_empty():
            known[placement] = (here["ranks"].n_unique(), here.select("run", "launch", "ranks").n_unique())
    return sorted(known, key=lambda each: known[each], reverse=True)


def _ratios(found: Samples, rows: pl.DataFrame, to: str) -> Ratios:
    """How many times as long each candidate takes as `to`, by place and candidate."""
    if rows.filter(pl.col("candidate") == to).is_empty():
        return {}
    floors = found.rows.filter(pl.col("metric") != "period_ns")
    there = floors.join(rows.select(summaries.SITUATION).unique(), on=summaries.SITUATION, how="semi")
    kept = pl.concat([rows, there.select(rows.columns)])
    table = summaries.ratios(dataclasses.replace(found, rows=kept), "period_ns", to)
    return summaries.intervals(table, [*_PLACE, "candidate"])


def _door_ratios(found: Samples, rows: pl.DataFrame) -> dict[str, Ratios]:
    """For each door that was measured, how many times as long the MPI's own takes."""
    ratios = {}
    for door in DOORS:
        there = _ratios(found, rows, door) if door in rows["candidate"] else {}
        ratios[door] = {key: each for key, each in there.items() if key[-1] == MPI_OWN}
    return ratios


def _lines(rows: pl.DataFrame, names: Iterable[str], along: str) -> tuple[list[Line], list[list[str]]]:
    """A line for each name that was measured, with intervals, and what is told of each point."""
    medians = summaries.medians(rows, ["candidate", along])
    apart = summaries.rounds(rows, ["candidate", along]).group_by("candidate", along, "run", "launch")
    launches = apart.agg(pl.col("value").median()).group_by("candidate", along)
    ends = launches.agg(pl.col("value").min().alias("least"), pl.col("value").max().alias("most"))
    table = medians.join(ends, on=["candidate", along]).sort(along)
    lines, notes = [], []
    for name in names:
        mine = table.filter(pl.col("candidate") == name)
        if mine.is_empty():
            continue
        low, high, said = [], [], []
        for each in mine.iter_rows(named=True):
            sure = each["low"] is not None
            several = each["launches"] > 1
            low.append(each["low"] if sure else each["least"] if several else None)
            high.append(each["high"] if sure else each["most"] if several else None)
            said.append(
                "" if sure else f"{each['launches']} launches" if several else "one launch: no interval"
            )
        lines.append(Line(name, mine[along].to_list(), mine["value"].to_list(), low, high))
        notes.append(said)
    return lines, notes


def _over_threads(rows: pl.DataFrame, name: str) -> str:
    lines, notes = _lines(rows, (OURS, *TODAY), "ranks")
    x = {"scale": "log2", "unit": "", "label": "threads"}
    return charts.curves(f"today-{name}", lines, x, _PERIOD, "95 % interval", bars=True, notes=notes)


def _over_mpis(rows: pl.DataFrame) -> str:
    places = rows.select("over", "ranks", "placement").unique().sort("over", "ranks", "placement")
    if len(places) > _MOST_ROWS:
        most, usable = max(2, _MOST_ROWS // places["over"].n_unique()), int(rows["usable"].max())
        places = pl.concat(
            [_some(each, most, usable) for _, each in places.group_by("over", maintain_order=True)]
        )
    numbered = places.with_row_index("row")
    groups = []
    for over, ranks, placement in places.iter_rows():
        twice = len(places.filter(pl.col("over") == over, pl.col("ranks") == ranks)) > 1
        groups.append((over, f"{ranks} ranks{', ' + placement if twice else ''}"))
    there = rows.join(numbered, on=["over", "ranks", "placement"]).with_columns(pl.col("row").cast(pl.Int64))
    lines, notes = _lines(there, (MPI_OWN, *DOORS), "row")
    return charts.rows("today-mpi", groups, lines, _PERIOD, "95 % interval", notes)


def _some(places: pl.DataFrame, most: int, usable: int) -> pl.DataFrame:
    """The one that is told, the most ranks, the fewest, and what is left room for."""
    told = _nearest(places["ranks"].to_list(), usable)
    first = places["ranks"].to_list().index(told)
    order = list(dict.fromkeys([first, len(places) - 1, 0, *range(len(places))]))
    return places[sorted(order[:most])]


def _of_threads(ratios: Ratios, placement: str, usable: int) -> Markup:
    """The standard's barrier, and the best of the others, at as many threads as processors or next to it."""
    here = {key: each for key, each in ratios.items() if key[1] == placement and key[-1] in TODAY}
    if not here:
        return Markup("Nothing was measured often enough to be compared with {}.").format(_code(OURS))
    ranks = _nearest({key[2] for key in here}, usable)
    by_name = {key[-1]: each for key, each in here.items() if key[2] == ranks}
    first = next(name for name in TODAY if name in by_name)
    said = Markup("With {} threads a loop over {} takes {} as long as one over {}").format(
        ranks, _code(first), told(by_name[first]), _code(OURS)
    )
    others = {name: each for name, each in by_name.items() if name != first}
    if others:
        best = min(others, key=lambda name: others[name].value)
        said += Markup("; over {}, the fastest of the others, {}").format(_code(best), told(others[best]))
    return said + "."


def _of_mpis(doors: Mapping[str, Ratios], usable: int) -> Markup:
    """Each MPI at as many ranks as processors, or next to it, with the better of its doors."""
    best = _at_best(doors)
    by_way: dict[tuple[int, str], list[tuple[str, Markup]]] = {}
    for over in sorted({key[0] for key in best}):
        ranks = _nearest({key[2] for key in best if key[0] == over}, usable)
        door, ratio = next(each for key, each in best.items() if key[0] == over and key[2] == ranks)
        by_way.setdefault((ranks, door), []).append((over, told(ratio)))
    if not by_way:
        text = Markup("{} was not measured often enough to be compared with tollbar behind it.")
        return text.format(_code(MPI_OWN))
    said = []
    for (ranks, door), ratios in by_way.items():
        (over, first), *others = ratios
        start = Markup("with {} ranks") if said else Markup("With {} ranks, {} as it comes takes")
        start = start.format(ranks, _code(MPI_OWN))
        text = start + Markup(" {} as long as with {} on {}").format(first, DOORS[door], over)
        said.append(
            Markup(", ").join([text, *(Markup("{} on {}").format(ratio, over) for over, ratio in others)])
        )
    return Markup("; ").join(said) + "."


def _at_best(doors: Mapping[str, Ratios]) -> dict[tuple[str, str, int], tuple[str, Interval]]:
    """For each place the door that is the most times faster."""
    best: dict[tuple[str, str, int], tuple[str, Interval]] = {}
    for door, ratios in doors.items():
        for key, ratio in ratios.items():
            if key[:-1] not in best or ratio.value > best[key[:-1]][1].value:
                best[key[:-1]] = door, ratio
    return dict(sorted(best.items()))


def _best_doors(doors: Mapping[str, Ratios]) -> list[Markup]:
    """For each MPI the door that is faster in the mean over its places, and where it is not faster."""
    made = []
    for over in sorted({key[0] for ratios in doors.values() for key in ratios}):
        mine = {door: {k: r for k, r in ratios.items() if k[0] == over} for door, ratios in doors.items()}
        means = {
            d: sum(math.log(r.value) for r in there.values()) / len(there)
            for d, there in mine.items()
            if there
        }
        door = max(means, key=lambda each: means[each])
        made.append(Markup("{}, {}: {}").format(over, DOORS[door], _summary(mine[door], "ranks")))
    return made


def _summary(ratios: Ratios, what: str) -> Markup:
    """Where tollbar is faster and by how much, where it is slower, where neither is certain."""
    kinds = {
        "faster": lambda each: each.low is not None and each.low > 1,
        "slower": lambda each: each.low is not None and each.high < 1,
        "faster in the only launch": lambda each: each.low is None and each.value >= 1,
        "slower in the only launch": lambda each: each.low is None and each.value < 1,
    }
    parts, certain = [], set()
    for kind, belongs in kinds.items():
        if mine := {key: each for key, each in ratios.items() if belongs(each)}:
            factors = sorted(max(each.value, 1 / each.value) for each in mine.values())
            parts.append(Markup("{} {} with {}").format(_range(factors), kind, _counts(mine, what, ratios)))
            certain |= mine.keys()
    if tied := ratios.keys() - certain:
        parts.append(Markup("no difference is certain with {}").format(_counts(tied, what, ratios)))
    return Markup(", ").join(parts)


def _range(factors: Sequence[float]) -> Markup:
    low, high = times_text(factors[0]), times_text(factors[-1])
    return Markup("<strong>{} \u00d7</strong>").format(low if low == high else f"{low} to {high}")


def _counts(keys: Iterable[Key], what: str, among: Iterable[Key]) -> str:
    """The numbers of participants among those that were measured, and the placement if they differ."""
    by_placement: dict[str, list[int]] = {}
    for key in sorted(keys):
        by_placement.setdefault(key[1], []).append(key[2])
    texts = {
        placement: _stretches(counts, sorted({key[2] for key in among if key[1] == placement}))
        for placement, counts in by_placement.items()
    }
    if len(set(texts.values())) == 1:
        only = f", {next(iter(texts))}" if len(texts) == 1 and what == "threads" else ""
        return f"{next(iter(texts.values()))} {what}{only}"
    return " and ".join(f"{text} {what} {placement}" for placement, text in texts.items())


def _stretches(counts: Sequence[int], measured: Sequence[int]) -> str:
    """As `2 to 8 and 64`: from one to another wherever nothing between them was measured besides."""
    stretches: list[list[int]] = []
    for place, count in enumerate(measured):
        if count in counts:
            if place and measured[place - 1] in counts:
                stretches[-1].append(count)
            else:
                stretches.append([count])
    texts = [
        f"{each[0]} to {each[-1]}" if len(each) > 2 else " and ".join(map(str, each)) for each in stretches
    ]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _picks(choices: Sequence[Choice], ratios: Ratios) -> Markup:
    """What `tollbar tune` stores, and its loop period as part of that of tollbar::barrier."""
    every = [("threads", each.situation.placement, each.situation.ranks, "") for each in choices]
    by_pick: dict[str, list[Choice]] = {}
    for each in choices:
        by_pick.setdefault(each.pick.label, []).append(each)
    said = []
    for label, mine in by_pick.items():
        keys = [("threads", each.situation.placement, each.situation.ranks, label) for each in mine]
        known = [(key, ratios[key]) for key in keys if key in ratios]
        text = Markup("{} with {}").format(_code(label), _counts(keys, "threads", every))
        if known:
            values = sorted(each.value for _, each in known)
            text += Markup(" ({} the loop period of {})").format(_range(values), _code(OURS))
        said.append(text)
    return Markup("; ").join(said) + "."


def _nearest(counts: Iterable[int], usable: int) -> int:
    """As many as there are processors; else the next more, else the most."""
    known = sorted(counts)
    return next((each for each in known if each >= max(2, usable)), known[-1])


def _code(name: str) -> Markup:
    return Markup("<code>{}</code>").format(escape(name))
