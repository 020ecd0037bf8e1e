# SPDX-License-Identifier: Apache-2.0
"""The first screen of the report: what users have today against tollbar, in a chart and a sentence each.

Charts, sentences and advice come from the same loop periods and the same ratios, so they agree. Each ratio that was
measured stands in a sentence with its interval, however wide; with fewer than six launches it has none and says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup, escape

from tollbar.backports import zip_equal
from tollbar.data import cells, places
from tollbar.data.samples import FLOORS, Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import SITUATION, medians, ratio, summary
from tollbar.report.figures import Axis, Curve, Figure
from tollbar.report.tables import interval_text, times_text

OURS = "tollbar::barrier"
#: The standard's barrier first: the sentence is about it where it was measured.
TODAY = ("std::barrier", "pthread_barrier", "libgomp", "libomp")
MPI_OWN = "MPI_Barrier"
#: The same in a process in which tollbar is preloaded, where both take turns.
MPI_BESIDE = "PMPI_Barrier"
DOORS = {"MPI_Barrier [preload]": "tollbar preloaded", "MPI_Barrier [component]": "tollbar's component"}

_PLACE = ["over", "placement", "ranks"]
_MOST_ROWS = 9  # of MPI: a phone shows them all
_IN_SENTENCES = (2, 4, 8)  # numbers of threads or ranks, where they were measured
_PLACEMENTS = ("free", "pinned")
_KEPT = "the plan that it has anyway"
_PERIOD = Axis("loop period, less is better", "log", "ns")

Key = tuple[str, str, int, str]  #: the values of _PLACE and the candidate
Where = tuple[str, int]  #: a placement and a number of threads
Ratios = Mapping[Key, Interval]


@dataclass(frozen=True)
class Panel:
    """One chart with its sentence."""

    name: str
    figure: Figure
    sentence: Markup


@dataclass(frozen=True)
class Advice:
    """Advice for some users: what to use, and why."""

    whom: str
    use: Markup
    why: Markup


def ratio_text(ratio: Interval) -> Markup:
    """A ratio and its interval, in words."""
    value = Markup("<strong>{} \u00d7</strong>").format(times_text(ratio.value))
    tie = ", a tie" if ratio.low is not None and ratio.high is not None and ratio.low <= 1 <= ratio.high else ""
    return value + f" ({interval_text(ratio)}{tie})"


@dataclass(frozen=True)
class First:
    """A panel for each placement of threads, the best measured first, that of MPI, and the advice."""

    threads: Sequence[Panel]
    mpi: Panel | None
    mpis: Sequence[Markup]  #: a sentence for each MPI; the first one's is the panel's
    beside: Markup | None  #: beside a neighbour; None where nothing was measured there
    advice: Sequence[Advice]

    @property
    def answer(self) -> list[str]:
        """The sentences as plain text, for a terminal."""
        sentences = [panel.sentence for panel in self.threads[:1]]
        sentences += [self.beside] if self.beside else []
        advice = [Markup("{}: {}").format(line.use, line.why) for line in self.advice]
        return [sentence.striptags() for sentence in (*sentences, *self.mpis, *advice)]


def first(of_threads: Samples, of_mpi: Samples | None = None, stored: Mapping[Where, str] | None = None) -> First:
    """The first screen, as far as there are samples; `stored` are the plans that the library finds for groups."""
    threads, processes = _alone(of_threads).filter(places.IS_PLAIN), _alone(of_mpi or of_threads)
    users = threads.filter(pl.col("candidate").is_in([OURS, *TODAY]))
    calls = processes.filter(pl.col("candidate").is_in([MPI_OWN, MPI_BESIDE, *DOORS]))
    ratios = _ratios(of_threads, threads, OURS)
    doors = _door_ratios(of_mpi, calls) if of_mpi else {door: {} for door in DOORS}
    panels = [
        Panel(name, _over_threads(users, of_threads, name), _of_threads(ratios, name)) for name in _by_launches(users)
    ]
    mpi, of_mpis = None, []
    if of_mpi and not calls.is_empty():
        of_mpis = _of_mpis(doors)
        mpi = Panel("mpi", _over_mpis(calls, of_mpi), of_mpis[0])
    measured = sorted(set(threads.select("placement", "ranks").iter_rows()))
    advice = _advice(ratios, doors, {} if stored is None else {where: stored.get(where, "") for where in measured})
    return First(panels, mpi, of_mpis, _beside(of_threads), advice)


def _advice(ratios: Ratios, doors: Mapping[str, Ratios], plans: Mapping[Where, str]) -> list[Advice]:
    """Three lines at most: threads, threads with ranks, processes."""
    made = []
    peer = next((name for name in TODAY if any(key[-1] == name for key in ratios)), None)
    if peer:
        against = {key: ratio for key, ratio in ratios.items() if key[-1] == peer}
        use = Markup("{} in place of {}").format(_code(OURS), _code(peer))
        made.append(Advice("Threads", use, Markup("{}.").format(_summary(against, "threads"))))
    if plans:
        made.append(Advice("Threads with ranks", _code("tollbar::group"), _stored(plans)))
    if by_mpi := _best_doors(doors):
        use = Markup("{}, the program started by {}").format(_code(MPI_OWN), _code("tollbar run"))
        made.append(Advice("MPI", use, Markup("; ").join(by_mpi) + "."))
    return made


def _alone(samples: Samples) -> pl.DataFrame:
    """Loop periods on one host, with nobody else and no computing between."""
    return samples.of("period_ns").filter(
        pl.col("apart") == "launcher", pl.col("hosts") == 1, pl.col("computing") == "0"
    )


def _by_launches(rows: pl.DataFrame) -> list[str]:
    """Placements: most numbers of threads first, then most launches; free before pinned where they tie."""
    known = {}
    for placement in ("free", "pinned"):
        placed = rows.filter(pl.col("placement") == placement)
        if not placed.is_empty():
            known[placement] = (placed["ranks"].n_unique(), placed.select("run", "launch", "ranks").n_unique())
    return sorted(known, key=lambda placement: known[placement], reverse=True)


def _ratios(samples: Samples, rows: pl.DataFrame, to: str) -> Ratios:
    """The loop period of each candidate over that of `to`, by place and candidate."""
    if rows.filter(pl.col("candidate") == to).is_empty():
        return {}
    floors = samples.of(*FLOORS)
    near = floors.join(rows.select(SITUATION).unique(), on=SITUATION, how="semi")
    kept = pl.concat([rows, near.select(rows.columns)])
    table = summary(dataclasses.replace(samples, records=kept), "period_ns", to=to)
    ratios = {tuple(row[name] for name in (*_PLACE, "candidate")): ratio(row) for row in table.iter_rows(named=True)}
    return {key: ratio for key, ratio in ratios.items() if ratio}


def _door_ratios(samples: Samples, rows: pl.DataFrame) -> dict[str, Ratios]:
    """The loop period of the MPI's own barrier over that of each door that was measured."""
    ratios: dict[str, Ratios] = {}
    for door in DOORS:
        by_place = _ratios(samples, rows, door) if door in rows["candidate"] else {}
        own = {(*key[:-1], MPI_OWN): ratio for key, ratio in by_place.items() if key[-1] == MPI_OWN}
        beside = {(*key[:-1], MPI_OWN): ratio for key, ratio in by_place.items() if key[-1] == MPI_BESIDE}
        ratios[door] = own | beside  # in one process, by turns, tells most
    return ratios


def _lines(rows: pl.DataFrame, samples: Samples, names: Iterable[str], along: str) -> list[Curve]:
    """A line for each name that was measured, with intervals, and a note at each point."""
    table = medians(rows, ["candidate", along], samples.environments).sort(along)
    lines = []
    for name in names:
        mine = table.filter(pl.col("candidate") == name)
        if mine.is_empty():
            continue
        low, high, notes = [], [], []
        for row in mine.iter_rows(named=True):
            sure = row["low"] is not None
            several = row["launches"] > 1
            low.append(row["low"] if sure else row["least"] if several else None)
            high.append(row["high"] if sure else row["most"] if several else None)
            notes.append("" if sure else f"{row['launches']} launches" if several else "one launch: no interval")
        lines.append(Curve(name, mine[along].to_list(), mine["value"].to_list(), low, high, notes=notes))
    return lines


def _over_threads(rows: pl.DataFrame, samples: Samples, name: str) -> Figure:
    lines = _lines(rows.filter(pl.col("placement") == name), samples, (OURS, *TODAY), "ranks")
    return Figure(f"today-{name}", "", lines, Axis("threads"), _PERIOD, "95 % interval", bars=True)


def _over_mpis(rows: pl.DataFrame, samples: Samples) -> Figure:
    places = rows.select("over", "ranks", "placement").unique().sort("over", "ranks", "placement")
    if len(places) > _MOST_ROWS:
        most, usable = max(2, _MOST_ROWS // places["over"].n_unique()), max(rows["processors"].to_list())
        places = pl.concat([_some(of_mpi, most, usable) for _, of_mpi in places.group_by("over", maintain_order=True)])
    numbered = places.with_row_index("row")
    labels = []
    for over, ranks, placement in places.iter_rows():
        twice = len(places.filter(pl.col("over") == over, pl.col("ranks") == ranks)) > 1
        labels.append(f"{ranks} ranks{', ' + placement if twice else ''}")
    placed = rows.join(numbered, on=["over", "ranks", "placement"]).with_columns(pl.col("row").cast(pl.Int64))
    lines = _lines(_owned(placed), samples, (MPI_OWN, *DOORS), "row")
    rows_of = Axis("", words=labels)
    return Figure("today-mpi", "", lines, rows_of, _PERIOD, "95 % interval", groups=places["over"].to_list())


def _owned(placed: pl.DataFrame) -> pl.DataFrame:
    """The same with the MPI's own barrier everywhere, that of a process with tollbar where it has no other."""
    owned = placed.filter(pl.col("candidate") == MPI_OWN)["row"].unique()
    stands_in = (pl.col("candidate") == MPI_BESIDE) & ~pl.col("row").is_in(owned.to_list())
    return placed.with_columns(candidate=pl.when(stands_in).then(pl.lit(MPI_OWN)).otherwise("candidate"))


def _some(places: pl.DataFrame, most: int, usable: int) -> pl.DataFrame:
    """The place that the page opens with, the most ranks, the fewest, and what is left room for."""
    shown = _nearest(places["ranks"].to_list(), usable)
    first = places["ranks"].to_list().index(shown)
    order = list(dict.fromkeys([first, len(places) - 1, 0, *range(len(places))]))
    return places[sorted(order[:most])]


def _of_threads(ratios: Ratios, placement: str) -> Markup:
    """The first peer that was measured, at each number of threads."""
    first = next((name for name in TODAY if any(key[1] == placement and key[-1] == name for key in ratios)), None)
    if first is None:
        return Markup("Nothing was measured that could be compared with {}.").format(_code(OURS))
    subject, than = Markup("a loop over {}").format(_code(first)), Markup("as long as one over {}").format(_code(OURS))
    known = {key[2]: ratio for key, ratio in ratios.items() if key[1] == placement and key[-1] == first}
    return _said(known, "threads", subject, than)


def _of_mpis(doors: Mapping[str, Ratios]) -> list[Markup]:
    """Each MPI at each number of ranks, by the first door of DOORS that was measured."""
    sentences = []
    for over, door in _doors(doors).items():
        known = {key[2]: ratio for key, ratio in doors[door].items() if key[0] == over}
        subject = Markup("{} of {}").format(_code(MPI_OWN), over)
        sentences.append(_said(known, "ranks", subject, f"as long as with {DOORS[door]}"))
    lacks = Markup("{} was never measured together with tollbar behind it.")
    return sentences or [lacks.format(_code(MPI_OWN))]


def _beside(samples: Samples) -> Markup | None:
    """The standard's barrier beside a busy neighbour, where threads move and do nothing else."""
    there = cells.gather(samples)
    for placement in _PLACEMENTS:
        if known := cells.ratios(there, TODAY[0], OURS, placement):
            subject = Markup("beside a busy neighbour a turn of {}").format(_code(TODAY[0]))
            than = Markup("as long as one of {}").format(_code(OURS))
            return _said(known, "threads", subject, than)
    return None


def _said(known: Mapping[int, Interval], what: str, subject: Markup, than: str) -> Markup:
    """The ratio at some numbers of participants."""
    shown = sorted(known.keys() & set(_IN_SENTENCES)) or sorted(known)[:3]
    ratios = _and([ratio_text(known[count]) for count in shown])
    return Markup("With {} {} {} takes {} {}.").format(_and(shown), what, subject, ratios, than)


def _and(parts: Iterable[object]) -> Markup:
    """A list in words, as `2, 4 and 8`."""
    *most, last = (Markup("{}").format(part) for part in parts)
    return Markup(" and ").join([Markup(", ").join(most), last]) if most else last


def _doors(doors: Mapping[str, Ratios]) -> dict[str, str]:
    """The first door of DOORS that was measured with each MPI: the fastest one would be chosen by what it claims."""
    overs = sorted({key[0] for ratios in doors.values() for key in ratios})
    return {over: next(door for door in DOORS if any(key[0] == over for key in doors[door])) for over in overs}


def _best_doors(doors: Mapping[str, Ratios]) -> list[Markup]:
    """The door of each MPI, and where it is not faster."""
    return [
        Markup("{}, {}: {}").format(
            over, DOORS[door], _summary({key: ratio for key, ratio in doors[door].items() if key[0] == over}, "ranks")
        )
        for over, door in _doors(doors).items()
    ]


def _summary(ratios: Ratios, what: str) -> Markup:
    """The places where tollbar is faster for certain, slower, and neither; the numbers stand above."""
    kinds = {
        "faster": lambda ratio: ratio.low is not None and ratio.low > 1,
        "slower": lambda ratio: ratio.low is not None and ratio.high < 1,
    }
    parts: list[Markup] = []
    certain: set[Key] = set()
    for kind, belongs in kinds.items():
        if mine := {key: ratio for key, ratio in ratios.items() if belongs(ratio)}:
            parts.append(Markup("{} with {}").format(kind, _counts(mine, what, ratios)))
            certain |= mine.keys()
    if tied := ratios.keys() - certain:
        parts.append(Markup("no difference is certain with {}").format(_counts(tied, what, ratios)))
    return Markup(", ").join(parts)


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
    """Numbers in words, as `2 to 8 and 64`: from one to another if nothing between them was measured besides."""
    stretches: list[list[int]] = []
    for place, count in enumerate(measured):
        if count in counts:
            if place and measured[place - 1] in counts:
                stretches[-1].append(count)
            else:
                stretches.append([count])
    texts = [
        f"{stretch[0]} to {stretch[-1]}" if len(stretch) > 2 else " and ".join(map(str, stretch))
        for stretch in stretches
    ]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _stored(plans: Mapping[Where, str]) -> Markup:
    """The plans that `tollbar tune` has stored; an empty one is that which a group has anyway."""
    every = [("threads", *where, "") for where in plans]
    by_plan: dict[str, list[Key]] = {}
    for key, plan in zip_equal(every, plans.values()):
        by_plan.setdefault(plan, []).append(key)
    if list(by_plan) == [""]:
        return Markup("nothing is stored, so it keeps {}.").format(_KEPT)
    parts = [
        Markup("{} with {}").format(_code(plan) if plan else _KEPT, _counts(keys, "threads", every))
        for plan, keys in sorted(by_plan.items(), key=lambda item: not item[0])
    ]
    return Markup("stored for it: {}.").format(Markup("; ").join(parts))


def _nearest(counts: Iterable[int], usable: int) -> int:
    """The count that equals the usable processors; else the next larger one, else the largest."""
    known = sorted(counts)
    return next((count for count in known if count >= max(2, usable)), known[-1])


def _code(name: str) -> Markup:
    return Markup("<code>{}</code>").format(escape(name))
