# SPDX-License-Identifier: Apache-2.0
"""From samples to numbers: medians with their intervals, and ratios paired by round, a row for each group.

    summaries.medians(found.of("latency_ns"), ["ranks", "candidate"])
    summaries.ratios(found, "period_ns", to="std::barrier")

The statistics are those of tollbar.data.statistics: a launch is the unit, and gives the median of its rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from tollbar.data import statistics
from tollbar.data.samples import PLACE, ROUND, Samples, floor_of
from tollbar.data.statistics import Interval, Ratio, Series

#: All that must be the same where candidates are compared.
SITUATION = list(PLACE)
_LAUNCH = ["run", "launch"]

#: What is a multiple of its process's floor where processes are compared: the distance between two processors
#: may change between them. Not of a datagram's way, nor of what is measured once.
_FLOORED = ("period_ns", "latency_ns", "skew_ns", "span_ns", "alone_latency_ns", "alone_skew_ns")
_FAR = ("hosts", "loopback")


def medians(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """For each group `value`, `low`, `high` and `launches`: the median over launches and its 95 % interval.

    low and high are null where there are too few launches for an interval. Groups keep the order of the rows.
    """
    values = _per_launch(rounds(rows, by), by).group_by(*by, maintain_order=True).agg("value")
    return _with(values.drop("value"), map(statistics.median_interval, values["value"].to_list()))


def rounds(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One value for each group and round: the median of its samples."""
    return rows.group_by(*by, *ROUND, maintain_order=True).agg(pl.col("value").median())


def ratios(
    found: Samples, metric: str, to: str | pl.DataFrame, situation: Sequence[str] = SITUATION
) -> pl.DataFrame:
    """How many times as much each candidate takes as candidate `to` of its situation: `value`, `low`, `high`,
    `launches`, `p_value`. Situations in which `to` was not measured are left out. A table as `to` says a
    candidate for each situation.

    Candidates of one process are paired by round. Those of different processes are compared in multiples of
    their own process's floor, if there is one.
    """
    by = [*situation, "candidate"]
    each = rounds(found.of(metric), by)
    base = each.filter(pl.col("candidate") == to) if isinstance(to, str) else each.join(to, on=by, how="semi")
    base = base.drop("candidate").rename({"value": "base"})
    beside = each.join(base, on=[*situation, *ROUND])
    apart = each.join(base.select(situation).unique(), on=situation, how="semi").join(
        beside.select(by).unique(), on=by, how="anti"
    )
    logs = _per_launch(beside.with_columns(value=_log_ratio()), by)
    if not apart.is_empty():
        one = _per_launch(_over_floor(found, apart, metric, situation), by)
        own = _over_floor(found, base.rename({"base": "value"}), metric, situation)
        other = _per_launch(own, situation)
        pairs = one.join(other.rename({"value": "base"}), on=[*situation, *_LAUNCH])
        pairs = pairs.with_columns(value=_log_ratio())
        logs = pl.concat([logs, pairs.select(logs.columns)])
    values = logs.group_by(*by, maintain_order=True).agg("value")
    return _with(values.drop("value"), map(statistics.ratio_of_logs, values["value"].to_list()))


def over_floor(found: Samples, metric: str, situation: Sequence[str] = SITUATION) -> pl.DataFrame:
    """As rounds(), in multiples of the floor of the same round and process."""
    known = floors(found)
    on = [*(name for name in SITUATION if name in situation), *ROUND]
    each = rounds(found.of(metric), [*situation, "candidate"]).join(known.select(*on, "floor"), on=on)
    return each.with_columns(value=pl.col("value") / pl.col("floor"))


def floors(found: Samples) -> pl.DataFrame:
    """For each situation and round `floor`, what an episode cannot take less than, in nanoseconds."""
    known = []
    for place, rows in found.rows.group_by(SITUATION, maintain_order=True):
        metric, times = floor_of(dict(zip(SITUATION, place, strict=True)))
        here = rows.filter(pl.col("metric") == metric, pl.col("value") > 0)
        known.append(here.select(*SITUATION, *ROUND, floor=pl.col("value") * times))
    return pl.concat(known) if known else pl.DataFrame()


def series(rows: pl.DataFrame) -> Series:
    """Rows of one candidate and metric as statistics.judge wants them: launch -> round -> value.

    A clock's step can make 0, which has no logarithm.
    """
    found: dict[Any, dict[int, float]] = {}
    for run, launch, _, number, value in rounds(rows, []).select(*ROUND, "value").iter_rows():
        found.setdefault((run, launch), {})[number] = max(value, 1e-3)
    return found


def intervals(table: pl.DataFrame, key: Sequence[str]) -> dict[Any, Interval]:
    """What medians() or ratios() gave, by the values of some columns (by the value, if it is one column)."""
    found = {}
    for row in table.iter_rows(named=True):
        name = tuple(row[each] for each in key) if len(key) > 1 else row[key[0]]
        ends = row["value"], row["low"], row["high"], row["launches"]
        found[name] = Ratio(*ends, row["p_value"]) if "p_value" in row else Interval(*ends)
    return found


def _log_ratio() -> pl.Expr:
    """See series()."""
    return (pl.col("value").clip(1e-3) / pl.col("base").clip(1e-3)).log()


def _over_floor(found: Samples, each: pl.DataFrame, metric: str, situation: Sequence[str]) -> pl.DataFrame:
    """Rounds in multiples of their floor, where they have one."""
    if metric not in _FLOORED:
        return each
    near = ~pl.col("over").is_in(_FAR) if "over" in situation else pl.lit(True)
    known = floors(found).select(*situation, *ROUND, "floor").unique()
    joined = each.join(known, on=[*situation, *ROUND], how="left")
    floor = pl.when(near).then(pl.col("floor")).fill_null(1.0)
    return joined.with_columns(value=pl.col("value") / floor).drop("floor")


def _per_launch(each: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    return each.group_by(*by, *_LAUNCH, maintain_order=True).agg(pl.col("value").median())


def _with(groups: pl.DataFrame, found: Iterator[Interval]) -> pl.DataFrame:
    """The groups with the columns of their intervals."""
    listed = list(found)
    columns: dict[str, list[Any]] = {
        "value": [each.value for each in listed],
        "low": [each.low for each in listed],
        "high": [each.high for each in listed],
        "launches": [each.count for each in listed],
    }
    if any(isinstance(each, Ratio) for each in listed):
        columns["p_value"] = [each.p_value for each in listed]
    types = dict.fromkeys(("value", "low", "high", "p_value"), pl.Float64) | {"launches": pl.Int64}
    return groups.with_columns(pl.Series(name, values, dtype=types[name]) for name, values in columns.items())
