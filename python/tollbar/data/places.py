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

from tollbar.data import statistics
from tollbar.data.neighbours import FIRST, in_words
from tollbar.data.samples import CANDIDATE, FLOORS, PLACE, ROUND, USUAL_WAITS, Samples, all_values
from tollbar.data.statistics import Interval, Ratio
from tollbar.data.summary import floors, interval, over_floor, ratio, rounds, summary

#: The columns that tell places apart; all else of a place is the same in it, or does not matter.
THREADS = ("ranks", "placement")
PROCESSES = ("over", "hosts", "ranks", "threads", "placement", "apart", "level")
RANKS = ("ranks",)
CELL = ("neighbours", "kept_to", "placement", "computing", "ranks")

#: Whether a row is of threads that nobody disturbs, on all CPUs, with nothing between barriers: their bare episodes
#: are stamped. Turns of other threads are timed.
IS_PLAIN = (pl.col("neighbours") == FIRST) & (pl.col("kept_to") == 0) & (pl.col("computing") == "0")

DOORS = ("component", "preload")
#: The times that make a candidate one, and those that tables show.
_MEASURED = ("period_ns", "latency_ns", "alone_latency_ns", "run_ns")
TIMES = {"period": "period_ns", "latency": "latency_ns", "skew": "skew_ns", "span": "span_ns"}


class Candidate(NamedTuple):
    """One barrier under one waiting policy."""

    name: str
    kind: str
    wait: str

    @property
    def label(self) -> str:
        return self.name if self.wait in USUAL_WAITS else f"{self.name} ({self.wait})"


class Situation(NamedTuple):
    """A situation in all its dimensions: the columns of samples.PLACE."""

    bench: str = "threads"
    over: str = "threads"
    hosts: int = 1
    ranks: int = 0
    threads: int = 1
    processors: int = 0
    kept_to: int = 0
    placement: str = "free"
    apart: str = "launcher"
    neighbours: str = FIRST
    level: str = "serialized"
    computing: str = "0"

    @property
    def crowded(self) -> bool:
        return self.ranks * self.threads > self.processors

    @property
    def compute_us(self) -> float:
        """The computing of a thread before each episode; of an application nothing is said."""
        return float(self.computing.partition("~")[0])

    @property
    def variation(self) -> float:
        """The share by which that varies."""
        return float(self.computing.partition("~")[2] or 0)

    @property
    def work(self) -> str:
        """The computing in words."""
        varied = f" ± {self.variation:.0%}".replace("%", " %") if self.variation else ""
        return f"{self.compute_us:g} µs{varied}"

    @property
    def along(self) -> str:
        """The place, without what changes along a curve over the ranks; a few of them may be pinned and many not."""
        ranks_a_host = -(-self.ranks // self.hosts)
        words = [
            "one host" if self.hosts == 1 else "a rank a host" if ranks_a_host == 1 else f"{ranks_a_host} ranks a host"
        ]
        words += ["a control group each"] if self.apart == "cgroups" else []
        words += [self.level] if self.level != "serialized" else []
        return ", ".join(words)

    @property
    def layout(self) -> str:
        """How the ranks lie."""
        return f"{self.along}, pinned" if self.placement == "pinned" else self.along

    @property
    def among(self) -> str:
        """The neighbours that want the CPUs of the threads, in words."""
        on = f"on {self.kept_to} CPU{'s' if self.kept_to > 1 else ''}" if self.kept_to else ""
        who = "" if on and self.neighbours == FIRST else in_words(self.neighbours)
        return ", ".join(filter(None, (on, who)))

    @property
    def text(self) -> str:
        """A place of processes in words."""
        inside = f" of {self.threads} threads" if self.threads > 1 else ""
        return f"{self.over}, {self.layout}, {self.ranks} ranks{inside}"


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything about one situation, by candidate (or its label) and metric. Metrics that samples lack:

    over_floor: period over the floor of the same round and process; floor: that, of the first program;
    tail: the 99th percentile of a launch's latencies over their median.
    """

    place: Situation
    samples: Samples  #: its rows, a value for each round
    raw: pl.DataFrame  #: its records as they were measured

    @cached_property
    def candidates(self) -> list[Candidate]:
        """In the order in which they were met."""
        timed = self.samples.records.filter(pl.col("metric").is_in(_MEASURED), pl.col("name") != "")
        rows = timed.select("name", "kind", "wait").unique(maintain_order=True)
        return [Candidate(*row) for row in rows.iter_rows()]

    @property
    def skipped(self) -> dict[tuple[str, str], str]:
        """(name, policy) -> why."""
        return {row[:2]: row[2] for row in self.samples.skipped.select("name", "wait", "why").iter_rows()}

    @cached_property
    def _medians(self) -> dict[tuple[str, str], Interval]:
        rows = summary(self.samples, by=()).iter_rows(named=True)
        return {(row["candidate"], row["metric"]): interval(row) for row in rows}

    @cached_property
    def _rounds(self) -> Mapping[Any, pl.DataFrame]:
        return self.samples.records.partition_by("candidate", "metric", as_dict=True)

    def labels(self, metric: str) -> list[str]:
        """The labels of which that was measured."""
        return [label for label, timed in self._medians if timed == metric and label]

    def find(self, name: str, wait: str | None = None) -> Candidate | None:
        """The candidate of that name, under that policy or under its usual one."""
        named = [
            candidate for candidate in self.candidates if candidate.name == name and wait in (None, candidate.wait)
        ]
        return min(named, key=lambda candidate: candidate.label != candidate.name, default=None)

    def median(self, candidate: Candidate | str | None, metric: str) -> Interval | None:
        """The median over launches; None where there is nothing."""
        return self._medians.get((_label(candidate), metric))

    def time(self, candidate: Candidate | str | None) -> str:
        """The latency; the loop period where no episode was stamped."""
        return "latency_ns" if self.median(candidate, "latency_ns") else "period_ns"

    def time_ns(self, candidate: Candidate | str | None) -> float | None:
        """Its median."""
        median = self.median(candidate, self.time(candidate))
        return median.value if median else None

    @property
    def floor(self) -> Interval | None:
        return self.median("", "floor")

    def quantiles(self, candidate: Candidate | str, metric: str, at: Sequence[float]) -> list[float]:
        """Quantiles of all rounds, for showing the spread; empty where there are none."""
        rows = self._rounds.get((_label(candidate), metric))
        return [] if rows is None else statistics.quantiles(rows["value"].to_numpy(), at)

    @cached_property
    def _latencies(self) -> Mapping[Any, pl.DataFrame]:
        return self.raw.filter(pl.col("metric") == "latency_ns").partition_by("candidate", as_dict=True)

    def latencies(self, candidate: Candidate) -> np.ndarray:
        """The latencies of every episode."""
        rows = self._latencies.get((candidate.label,))
        return np.array([]) if rows is None else rows.select(all_values(rows))["value"].to_numpy()

    @cached_property
    def _against(self) -> dict[tuple[str, str], dict[str, Ratio]]:
        """The answers of ratio() so far: one pass over the rows answers for everybody."""
        return {}

    def ratio(self, of: Candidate | str | None, to: Candidate | str | None, metric: str = "period_ns") -> Ratio | None:
        """How many times as long `of` takes; None if they were not measured together."""
        key = (_label(to), metric)
        if key not in self._against:
            self._against[key] = self.ratios(to, metric)
        return self._against[key].get(_label(of))

    def ratios(
        self, to: Candidate | str | None, metric: str = "period_ns", of: Iterable[str] | None = None
    ) -> dict[str, Ratio]:
        """How many times as long everybody takes, or these; see summary()."""
        rows = self.samples.of(metric, *FLOORS)
        if of is not None:
            rows = rows.filter((pl.col("metric") != metric) | pl.col("candidate").is_in([_label(to), *of]))
        table = summary(dataclasses.replace(self.samples, records=rows), metric, to=_label(to))
        ratios = {row["candidate"]: ratio(row) for row in table.iter_rows(named=True)}
        return {label: known for label, known in ratios.items() if known}


def _label(candidate: Candidate | str | None) -> str:
    return candidate.label if isinstance(candidate, Candidate) else str(candidate)


@lru_cache(maxsize=4)  # several tables of a page ask for the same
def gather(samples: Samples, by: tuple[str, ...]) -> dict[Situation, Measurements]:
    """The places that differ in these columns, in order."""
    if samples.records.is_empty():
        return {}
    rest = [name for name in PLACE if name not in by]
    raw = samples.records.with_columns(pl.col(name).first().over(by) for name in rest)
    rows = rounds(raw, [*PLACE, *CANDIDATE, "metric"])
    every = dataclasses.replace(samples, records=rows)
    rows = pl.concat([rows.select(raw.columns), *_added(every, raw)])
    of_raw, of_rounds = (table.partition_by(*by, as_dict=True) for table in (raw, rows))
    of_skipped = samples.skipped.partition_by(*by, as_dict=True)
    there = {}
    for key, rounds_there in of_rounds.items():
        place = Situation(*rounds_there.select(*PLACE).row(0))
        skipped = of_skipped.get(key, samples.skipped.clear())
        own = dataclasses.replace(samples, records=rounds_there, skipped=skipped)
        there[place] = Measurements(place, own, of_raw[key])
    return dict(sorted(there.items()))


def _added(samples: Samples, raw: pl.DataFrame) -> Iterable[pl.DataFrame]:
    """The rows of what is computed from several records of a round or launch."""
    known = floors(samples)
    nobody = {name: pl.lit("") for name in CANDIDATE}
    if not known.is_empty():
        over = over_floor(samples, "period_ns", [*PLACE, *CANDIDATE[1:]])
        yield over.with_columns(metric=pl.lit("over_floor")).select(raw.columns)
        first = known.filter(pl.col("program") == pl.col("program").first().over(*PLACE))
        yield first.with_columns(**nobody, metric=pl.lit("floor"), value=pl.col("floor")).select(raw.columns)
    latencies, key = raw.filter(pl.col("metric") == "latency_ns"), [*PLACE, *CANDIDATE, "run", "launch"]
    ends = latencies.group_by(*key, *ROUND[2:], maintain_order=True).agg(
        middle=all_values(latencies).median(), tail=all_values(latencies).quantile(0.99, "linear")
    )
    tails = ends.group_by(*key, maintain_order=True).agg(
        pl.col("program").first(),
        pl.col("round").first(),
        value=pl.col("tail").median() / pl.col("middle").median().clip(1e-3),
    )
    yield tails.with_columns(metric=pl.lit("tail")).select(raw.columns)


@lru_cache(maxsize=4)
def threads(samples: Samples) -> dict[Situation, Measurements]:
    """The plain places of threads, pinned first, fewest ranks first."""
    records = samples.records.filter(pl.col("apart") == "launcher", pl.col("bench") == "threads", IS_PLAIN)
    situations = gather(dataclasses.replace(samples, records=records), THREADS)
    return dict(sorted(situations.items(), key=lambda item: (item[0].placement != "pinned", item[0].ranks)))


def processes(samples: Samples) -> dict[Situation, Measurements]:
    """The places of an MPI's processes."""
    return gather(samples, PROCESSES)


def by_ranks(samples: Samples) -> dict[int, Measurements]:
    """By the number of ranks alone."""
    return {place.ranks: measured for place, measured in gather(samples, RANKS).items()}


def layouts(there: Mapping[Situation, Measurements]) -> dict[tuple[str, str], dict[int, Measurements]]:
    """For each MPI and layout the places by ranks, the widest first; pinned where there is both."""
    by_layout: dict[tuple[str, str], dict[int, Measurements]] = {}
    for place, measured in there.items():  # in order, so that pinned comes after free
        if place.threads == 1:
            by_layout.setdefault((place.over, place.along), {})[place.ranks] = measured
    return dict(sorted(by_layout.items(), key=lambda item: -len(item[1])))


def names(there: Iterable[Measurements], start: str = "") -> list[Candidate]:
    """The candidates of that name, or of that name with a parameter, in the order in which they were met."""
    met = dict.fromkeys(candidate for measured in there for candidate in measured.candidates)
    return [
        candidate for candidate in met if not start or candidate.name == start or candidate.name.startswith(f"{start}:")
    ]


def own_of(measured: Measurements) -> Candidate | None:
    """The MPI's own barrier as it comes; where ranks have threads, with what is usual around it."""
    own = (measured.find("MPI_Barrier"), measured.find("PMPI_Barrier"))
    return next(filter(None, (*own, *(one for one in measured.candidates if one.kind == "mpi"))), None)
