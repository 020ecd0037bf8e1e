# SPDX-License-Identifier: Apache-2.0
"""The table by place: what was compared in one situation, with its medians and ratios.

for place, here in places.gather(found, places.THREADS).items():
    mcs = here.find("mcs")
    here.median(mcs, "period_ns"), here.ratio(here.find("std::barrier"), mcs)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tollbar.data import statistics, summaries
from tollbar.data.samples import CANDIDATE, PLACE, ROUND, USUAL_WAITS, Samples
from tollbar.data.statistics import Interval, Ratio, Series

#: What tells places apart; all else of a place is the same in it, or does not matter.
THREADS = ("ranks", "placement")
PROCESSES = ("over", "hosts", "ranks", "threads", "placement", "apart", "level")
RANKS = ("ranks",)
WORK = ("over", "ranks", "placement", "workload")

DOORS = ("component", "preload")
#: The times that make a candidate one, and those that tables show.
_MEASURED = ("period_ns", "latency_ns", "alone_latency_ns", "run_ns")
_FLOORS = ("one_way_ns", "yield_switch_ns")
TIMES = {"period": "period_ns", "latency": "latency_ns", "skew": "skew_ns", "span": "span_ns"}


class Candidate(NamedTuple):
    """One barrier under one waiting policy."""

    name: str
    kind: str
    wait: str

    @property
    def label(self) -> str:
        return self.name if self.wait in USUAL_WAITS else f"{self.name} ({self.wait})"


class Place(NamedTuple):
    """Where something was measured: the columns of samples.PLACE."""

    bench: str = "threads"
    over: str = "threads"
    hosts: int = 1
    ranks: int = 0
    threads: int = 1
    usable: int = 0
    placement: str = "free"
    apart: str = "launcher"
    company: str = "alone"
    level: str = "serialized"
    workload: str = "0"

    @property
    def crowded(self) -> bool:
        return self.ranks * self.threads > self.usable

    @property
    def along(self) -> str:
        """What stays the same along a curve over the ranks; a few of them may be pinned and many not."""
        each = -(-self.ranks // self.hosts)
        words = ["one host" if self.hosts == 1 else "a rank a host" if each == 1 else f"{each} ranks a host"]
        words += ["a control group each"] if self.apart == "cgroups" else []
        words += [self.level] if self.level != "serialized" else []
        return ", ".join(words)

    @property
    def layout(self) -> str:
        """How the ranks lie."""
        return f"{self.along}, pinned" if self.placement == "pinned" else self.along

    @property
    def text(self) -> str:
        """A place of processes in words."""
        inside = f" of {self.threads} threads" if self.threads > 1 else ""
        return f"{self.over}, {self.layout}, {self.ranks} ranks{inside}"


@dataclass(frozen=True, eq=False)
class Here:
    """Everything about one place, by candidate (or its label) and metric; beside those of samples.METRICS:

    over_floor: period over the floor of the same round and process; floor: that, of the first program;
    tail: the 99th percentile of a launch's latencies over their median.
    """

    place: Place
    found: Samples  #: its rows, a value for each round
    raw: pl.DataFrame  #: its rows as they were measured

    @cached_property
    def candidates(self) -> list[Candidate]:
        """In the order in which they were met."""
        timed = self.found.rows.filter(pl.col("metric").is_in(_MEASURED), pl.col("name") != "")
        rows = timed.select("name", "kind", "wait").unique(maintain_order=True)
        return [Candidate(*row) for row in rows.iter_rows()]

    @property
    def skipped(self) -> dict[tuple[str, str], str]:
        """(name, policy) -> why."""
        return {row[:2]: row[2] for row in self.found.skipped.select("name", "wait", "why").iter_rows()}

    @cached_property
    def _medians(self) -> dict[tuple[str, str], Interval]:
        key = ["candidate", "metric"]
        return summaries.intervals(summaries.medians(self.found.rows, key), key)

    @cached_property
    def _rounds(self) -> Mapping[Any, pl.DataFrame]:
        return self.found.rows.partition_by("candidate", "metric", as_dict=True)

    def labels(self, metric: str) -> list[str]:
        """Of whom that was measured."""
        return [label for label, each in self._medians if each == metric and label]

    def find(self, name: str, wait: str | None = None) -> Candidate | None:
        """The candidate of that name, under that policy or under its usual one."""
        named = [each for each in self.candidates if each.name == name and wait in (None, each.wait)]
        return min(named, key=lambda each: each.label != each.name, default=None)

    def median(self, candidate: Candidate | str | None, metric: str) -> Interval | None:
        """The median over launches; None where there is nothing."""
        return self._medians.get((_label(candidate), metric))

    def time(self, candidate: Candidate | str | None) -> str:
        """The latency; the loop period where no episode was stamped."""
        return "latency_ns" if self.median(candidate, "latency_ns") else "period_ns"

    def time_ns(self, candidate: Candidate | str | None) -> float | None:
        """Its median."""
        found = self.median(candidate, self.time(candidate))
        return found.value if found else None

    @property
    def floor(self) -> Interval | None:
        return self.median("", "floor")

    def series(self, candidate: Candidate | str | None, metric: str) -> Series:
        """launch -> round -> value."""
        rows = self._rounds.get((_label(candidate), metric))
        return {} if rows is None else summaries.series(rows)

    def quantiles(self, candidate: Candidate | str, metric: str, at: Sequence[float]) -> list[float]:
        """Of all rounds, for showing the spread; of nothing where there are none."""
        rows = self._rounds.get((_label(candidate), metric))
        return [] if rows is None else statistics.quantiles(rows["value"].to_numpy(), at)

    @cached_property
    def _latencies(self) -> Mapping[Any, pl.DataFrame]:
        return self.raw.filter(pl.col("metric") == "latency_ns").partition_by("candidate", as_dict=True)

    def latencies(self, candidate: Candidate) -> np.ndarray:
        """Of every episode."""
        rows = self._latencies.get((candidate.label,))
        return np.array([]) if rows is None else rows["value"].to_numpy()

    def ratio(
        self, of: Candidate | str | None, to: Candidate | str | None, metric: str = "period_ns"
    ) -> Ratio | None:
        """How many times as long `of` takes; None if they were not measured together."""
        return self.ratios(to, metric, [_label(of)]).get(_label(of))

    def ratios(
        self, to: Candidate | str | None, metric: str = "period_ns", of: Iterable[str] | None = None
    ) -> dict[str, Ratio]:
        """How many times as long everybody takes, or these; see summaries.ratios()."""
        rows = self.found.rows.filter(pl.col("metric").is_in([metric, *_FLOORS]))
        if of is not None:
            rows = rows.filter((pl.col("metric") != metric) | pl.col("candidate").is_in([_label(to), *of]))
        table = summaries.ratios(dataclasses.replace(self.found, rows=rows), metric, _label(to))
        return summaries.intervals(table, ["candidate"])


def _label(candidate: Candidate | str | None) -> str:
    return candidate.label if isinstance(candidate, Candidate) else str(candidate)


@lru_cache(maxsize=4)  # several tables of a page ask for the same
def gather(found: Samples, by: tuple[str, ...]) -> dict[Place, Here]:
    """The places that differ in these columns, in order."""
    if found.rows.is_empty():
        return {}
    rest = [name for name in PLACE if name not in by]
    raw = found.rows.with_columns(pl.col(name).first().over(by) for name in rest)
    rows = summaries.rounds(raw, [*PLACE, *CANDIDATE, "metric"])
    every = dataclasses.replace(found, rows=rows)
    rows = pl.concat([rows.select(raw.columns), *_added(every, raw)])
    of_raw, of_rounds = (each.partition_by(*by, as_dict=True) for each in (raw, rows))
    of_skipped = found.skipped.partition_by(*by, as_dict=True)
    there = {}
    for key, each in of_rounds.items():
        place = Place(*each.select(*PLACE).row(0))
        skipped = of_skipped.get(key, found.skipped.clear())
        there[place] = Here(place, dataclasses.replace(found, rows=each, skipped=skipped), of_raw[key])
    return dict(sorted(there.items()))


def _added(found: Samples, raw: pl.DataFrame) -> Iterable[pl.DataFrame]:
    """The rows of what is computed from several records of a round or launch."""
    floors = summaries.floors(found)
    nobody = {name: pl.lit("") for name in CANDIDATE}
    if not floors.is_empty():
        over = summaries.over_floor(found, "period_ns", [*PLACE, *CANDIDATE[1:]])
        yield over.with_columns(metric=pl.lit("over_floor")).select(raw.columns)
        first = floors.filter(pl.col("program") == pl.col("program").first().over(*PLACE))
        yield first.with_columns(**nobody, metric=pl.lit("floor"), value=pl.col("floor")).select(raw.columns)
    latencies, key = raw.filter(pl.col("metric") == "latency_ns"), [*PLACE, *CANDIDATE, "run", "launch"]
    ends = latencies.group_by(*key, *ROUND[2:], maintain_order=True).agg(
        middle=pl.col("value").median(), tail=pl.col("value").quantile(0.99, "linear")
    )
    tails = ends.group_by(*key, maintain_order=True).agg(
        pl.col("program").first(), pl.col("round").first(),
        value=pl.col("tail").median() / pl.col("middle").median().clip(1e-3),
    )  # fmt: skip
    yield tails.with_columns(metric=pl.lit("tail")).select(raw.columns)


@lru_cache(maxsize=4)
def threads(found: Samples) -> dict[Place, Here]:
    """The places of threads, pinned first, fewest ranks first."""
    rows = found.rows.filter(pl.col("apart") == "launcher", pl.col("bench") == "threads")
    here = gather(dataclasses.replace(found, rows=rows), THREADS)
    return dict(sorted(here.items(), key=lambda item: (item[0].placement != "pinned", item[0].ranks)))


def processes(found: Samples) -> dict[Place, Here]:
    """The places of an MPI's processes."""
    return gather(found, PROCESSES)


def by_ranks(found: Samples) -> dict[int, Here]:
    """By the number of ranks alone."""
    return {place.ranks: here for place, here in gather(found, RANKS).items()}


def layouts(there: Mapping[Place, Here]) -> dict[tuple[str, str], dict[int, Here]]:
    """For each MPI and layout the places by ranks, the widest first; pinned where there is both."""
    found: dict[tuple[str, str], dict[int, Here]] = {}
    for place, here in there.items():  # in order, so that pinned comes after free
        if place.threads == 1:
            found.setdefault((place.over, place.along), {})[place.ranks] = here
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def names(there: Iterable[Here], start: str = "") -> list[Candidate]:
    """The candidates of that name, or of that name with a parameter, in the order in which they were met."""
    met = dict.fromkeys(candidate for here in there for candidate in here.candidates)
    return [each for each in met if not start or each.name == start or each.name.startswith(f"{start}:")]


def own_of(here: Here) -> Candidate | None:
    """The MPI's own barrier as it comes; where ranks have threads, with what is usual around it."""
    own = (here.find("MPI_Barrier"), here.find("PMPI_Barrier"))
    return next(filter(None, (*own, *(one for one in here.candidates if one.kind == "mpi"))), None)
