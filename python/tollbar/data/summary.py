# SPDX-License-Identifier: Apache-2.0
"""From samples to numbers, the only way: medians, ratios, intervals and verdicts of every situation.

    summary(samples, "period_ns", to=FASTEST).filter(verdict="tie")

A row is one metric of one candidate in one situation. The statistics are those of tollbar.data.statistics: a
launch is the unit, and gives the median of its rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tollbar.backports import zip_equal
from tollbar.data import statistics
from tollbar.data.samples import FLOORS, PLACE, ROUND, Samples, all_values, floor_of
from tollbar.data.statistics import Interval, Ratio, Series

#: All that must be the same where candidates are compared.
SITUATION = list(PLACE)
#: As `to`: the candidate with the smallest median of its situation.
FASTEST = "the fastest"
_LAUNCH = ["run", "launch"]

#: Metrics that are a multiple of their process's floor where processes are compared: the distance between two
#: processors may change between them. Frames between hosts and one-time costs have no floor.
_FLOORED = ("period_ns", "latency_ns", "skew_ns", "span_ns", "alone_latency_ns", "alone_skew_ns")
_FAR = ("hosts", "loopback")


def summary(
    samples: Samples, *metrics: str, by: Sequence[str] = SITUATION, to: str | Sequence[str] | None = None
) -> pl.DataFrame:
    """`value`, `low`, `high` and `launches` of each situation, candidate and metric: the median over launches
    and its 95 % interval after all looks at its runs, null with too few launches; `least` and `most` are the ends of
    the launches, `mean` and `p99` are of all samples.

    With `to`, also `ratio`, `ratio_low`, `ratio_high` and `p_value`: how many times as much as the candidate
    `to` of the situation, and `verdict`: slower for certain (corrected for all pairs of the situation's candidates,
    for each metric), else tie; fastest, if all others are slower; apart, if both never shared a launch; ?, if they
    shared fewer than six. `among_low` and `among_high` are the ends of an interval of the ratio that holds together
    with those of all these pairs, so also where the data chose the fastest; null with too few launches for that.
    `to` is a candidate, the first of several that was measured, or FASTEST. The ratio is null where none of
    those was measured.

    Candidates of one process are paired by round. Times of different processes are compared in multiples of
    their own process's floor, if there is one. Groups keep the order of the rows.
    """
    rows = samples.of(*metrics) if metrics else samples.records
    key = [*by, "candidate", "metric"]
    table = medians(rows, key, samples.environments)
    if to is None:
        return table
    base = _base(table, [*by, "metric"], to)
    ratios = _ratios(samples, rounds(rows, key), base, by)
    return _judged(table.join(base, on=[*by, "metric"], how="left").join(ratios, on=key, how="left"), by)


def medians(rows: pl.DataFrame, by: Sequence[str], environments: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """The columns of summary() without a ratio, for each group of these rows, whose runs have these environments."""
    launches = _per_launch(rounds(rows, by), by).group_by(*by, maintain_order=True).agg("value", "run")
    ends = {"least": pl.col("value").list.min(), "most": pl.col("value").list.max()}
    intervals = [
        statistics.median_interval(values, _error(runs, environments))
        for values, runs in launches.select("value", "run").iter_rows()
    ]
    table = _with(launches.with_columns(**ends).drop("value", "run"), intervals, ("value", "low", "high", "launches"))
    values = all_values(rows)
    more = rows.group_by(by).agg(mean=values.mean(), p99=values.quantile(0.99, "linear"))
    return table.join(more, on=by, how="left", maintain_order="left")


def rounds(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One value for each group and round: the median of its samples. Rows may be records."""
    return rows.group_by(*by, *ROUND, maintain_order=True).agg(all_values(rows).median())


def _base(table: pl.DataFrame, situation: Sequence[str], to: str | Sequence[str]) -> pl.DataFrame:
    """The candidate, as `to`, that each situation's others are compared with."""
    if to == FASTEST:
        first = table.sort("value", maintain_order=True)
    else:
        order = {name: place for place, name in enumerate([to] if isinstance(to, str) else to)}
        rank = pl.col("candidate").replace_strict(order, default=0, return_dtype=pl.Int64)
        first = table.filter(pl.col("candidate").is_in(list(order))).sort(rank, maintain_order=True)
    return first.group_by(situation, maintain_order=True).agg(to=pl.col("candidate").first())


def _ratios(samples: Samples, rows: pl.DataFrame, to: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    situation = [*by, "metric"]
    key = [*by, "candidate", "metric"]
    base = rows.join(to, left_on=[*situation, "candidate"], right_on=[*situation, "to"], how="semi")
    base = base.drop("candidate").rename({"value": "base"})
    beside = rows.join(base, on=[*situation, *ROUND])
    apart = rows.join(base.select(situation).unique(), on=situation, how="semi").join(
        beside.select(key).unique(), on=key, how="anti"
    )
    logs = _per_launch(beside.with_columns(value=_log_ratio()), key)
    if not apart.is_empty():
        one = _per_launch(_over_floor(samples, apart, by), key)
        own = _over_floor(samples, base.rename({"base": "value"}), by)
        other = _per_launch(own, situation)
        pairs = one.join(other.rename({"value": "base"}), on=[*situation, *_LAUNCH])
        logs = pl.concat([logs, pairs.with_columns(value=_log_ratio()).select(logs.columns)])
    values = logs.group_by(*key, maintain_order=True).agg("value", "run")
    paired = [
        statistics.ratio_of_logs(launches, _error(runs, samples.environments))
        for launches, runs in values.select("value", "run").iter_rows()
    ]
    more = {name: [getattr(ratio, name) for ratio in paired] for name in ("p_value", "error")}
    columns = [pl.Series(name, numbers, dtype=pl.Float64) for name, numbers in more.items()]
    named = ("ratio", "ratio_low", "ratio_high", "pairs")
    return _with(values.drop("run").rename({"value": "logs"}), paired, named).with_columns(columns)


def _error(runs: Sequence[str], environments: Mapping[str, Mapping[str, Any]]) -> float:
    """The error of an interval of launches of these runs, a name a launch; the end of a run is a look at it."""
    between = {run: environments.get(run, {}).get("launches_a_look", 0) for run in runs}
    counts = Counter(run for run in runs if between[run])
    return statistics.error(-(-count // between[run]) for run, count in counts.items())


def _judged(table: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The table with its verdicts."""
    verdicts: list[str] = []
    among: list[Interval | None] = []
    for _, rows in table.group_by(*by, "metric", maintain_order=True):
        compared = [(row["candidate"] == row["to"], ratio(row)) for row in rows.iter_rows(named=True)]
        together = sum(known is not None for _, known in compared)
        slower = [
            known is not None
            and known.value > 1
            and statistics.all_pairs(known.p_value, together) <= 1 - statistics.LEVEL
            for _, known in compared
        ]
        for (is_base, known), is_slower in zip_equal(compared, slower):
            among.append(known and statistics.among(known, together))
            if is_slower:
                verdict = "slower"
            elif known is None:
                verdict = "apart"
            elif known.count < statistics.FEWEST:
                verdict = "?"
            else:
                verdict = "fastest" if is_base and sum(slower) == len(compared) - 1 else "tie"
            verdicts.append(verdict)
    joined = pl.concat([rows for _, rows in table.group_by(*by, "metric", maintain_order=True)] or [table])
    ends = {f"among_{end}": [known and getattr(known, end) for known in among] for end in ("low", "high")}
    columns = [pl.Series(name, values, dtype=pl.Float64) for name, values in ends.items()]
    return joined.with_columns(pl.Series("verdict", verdicts, dtype=pl.String), *columns)


def over_floor(samples: Samples, metric: str, situation: Sequence[str] = SITUATION) -> pl.DataFrame:
    """As rounds(), in multiples of the floor of the same round and process."""
    on = [*(name for name in SITUATION if name in situation), *ROUND]
    values = rounds(samples.of(metric), [*situation, "candidate"])
    joined = values.join(floors(samples).select(*on, "floor"), on=on)
    return joined.with_columns(value=pl.col("value") / pl.col("floor"))


def floors(samples: Samples) -> pl.DataFrame:
    """For each situation and round `floor`, what an episode cannot take less than, in nanoseconds."""
    known = []
    for place, rows in samples.of(*FLOORS).group_by(SITUATION, maintain_order=True):
        metric, times = floor_of(dict(zip_equal(SITUATION, place)))
        positive = rows.filter(pl.col("metric") == metric, pl.col("value") > 0)
        known.append(positive.select(*SITUATION, *ROUND, floor=pl.col("value") * times))
    columns = samples.records.select(*SITUATION, *ROUND).schema | {"floor": pl.Float64}
    return pl.concat(known) if known else pl.DataFrame(schema=columns)


def series(rows: pl.DataFrame) -> Series:
    """Rows of one candidate and metric as statistics.ratio wants them: launch -> round -> value.

    A clock's step can make 0, which has no logarithm.
    """
    values: dict[Any, dict[int, float]] = {}
    for run, launch, _, number, value in rounds(rows, []).select(*ROUND, "value").iter_rows():
        values.setdefault((run, launch), {})[number] = max(value, 1e-3)
    return values


def interval(row: Mapping[str, Any]) -> Interval:
    """The median of a row of summary()."""
    return Interval(row["value"], row["low"], row["high"], row["launches"])


def ratio(row: Mapping[str, Any]) -> Ratio | None:
    """The ratio of a row of summary()."""
    if row["ratio"] is None:
        return None
    ends = (row["ratio_low"], row["ratio_high"])
    return Ratio(row["ratio"], *ends, row["pairs"], row["p_value"], row["logs"], row["error"])


def _log_ratio() -> pl.Expr:
    """See series()."""
    return (pl.col("value").clip(1e-3) / pl.col("base").clip(1e-3)).log()


def _over_floor(samples: Samples, values: pl.DataFrame, situation: Sequence[str]) -> pl.DataFrame:
    """Rounds in multiples of their floor, where they have one."""
    near = pl.col("metric").is_in(_FLOORED)
    if "over" in situation:
        near &= ~pl.col("over").is_in(_FAR)
    known = floors(samples).select(*situation, *ROUND, "floor").unique()
    joined = values.join(known, on=[*situation, *ROUND], how="left")
    floor = pl.when(near).then(pl.col("floor")).fill_null(1.0)
    return joined.with_columns(value=pl.col("value") / floor).drop("floor")


def _per_launch(values: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    return values.group_by(*by, *_LAUNCH, maintain_order=True).agg(pl.col("value").median())


def _with(groups: pl.DataFrame, intervals: Sequence[Interval], names: Sequence[str]) -> pl.DataFrame:
    """The groups with the columns of their intervals."""
    ends = [(interval.value, interval.low, interval.high, interval.count) for interval in intervals]
    columns = list(zip_equal(*ends)) or [()] * len(names)
    types = (pl.Float64, pl.Float64, pl.Float64, pl.Int64)
    made = zip_equal(names, columns, types)
    return groups.with_columns(pl.Series(name, values, dtype=kind) for name, values, kind in made)
