# SPDX-License-Identifier: Apache-2.0
"""One tidy table of what was measured: a row is one value of one metric of one candidate in one round.

    found = samples.read([folder])
    found.of("period_ns").group_by("ranks", "candidate").agg(pl.col("value").median())

Measuring programs print records (schema.json); METRICS says what is computed from each. polars holds the
table: it has typed columns, makes rows of lists, and groups a million rows in milliseconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from tollbar.data import neighbours, results, schema
from tollbar.data.results import Stored

#: The columns of a place; what stands there for programs that do not say it.
PLACE: dict[str, int | str] = {
    "bench": "threads",  # the sub-verb of `tollbar bench`; work: with --compute
    "over": "threads",  # what signals travel over: threads, the name of an MPI, shmem, loopback, hosts
    "hosts": 1,
    "ranks": 0,
    "threads": 1,  # of each rank
    "processors": 0,  # that may be used, of a host
    "kept_to": 0,  # as many where threads were kept to fewer than there are; 0: all
    "placement": "free",  # or pinned
    "apart": "launcher",  # how processes are apart: launcher, one session, sessions, cgroups
    "neighbours": neighbours.FIRST,  # who else wants the processors
    "level": "serialized",  # who may call the MPI, where ranks have threads
    "computing": "0",  # microseconds of computing before each episode, ~ its variation
}

#: The field of a record that has each.
_PRINTED = {name: name for name in PLACE} | {"processors": "usable", "neighbours": "company", "computing": "workload"}

#: The bench of a kind of runs that is not named after it: what `tollbar tune` measures by itself.
_BENCHES = {"tune": "threads"}

#: A barrier as it is shown, and its parts: its name, its waiting policy, its kind (plan, mpi, library, ...).
CANDIDATE = ("candidate", "name", "wait", "kind")

#: Launches with one number follow each other in one situation. Rounds of one program are paired.
ROUND = ("run", "launch", "program", "round")

_EPISODES = {
    "period_ns": pl.col("elapsed_ns") / pl.col("episodes"),
    "cpu_ns": pl.col("cpu_ns") / pl.col("episodes"),
    "switches": (pl.col("voluntary") + pl.col("involuntary")) / pl.col("episodes"),
}

#: The metrics of a record of each kind; a list gives a row for each of its values.
#: Period is the time of many turns over their number, a turn being computing, if any, and an episode; least is the
#: computing of the rank that computes longest, which no turn can be shorter than. Latency is last entry to last exit,
#: skew first exit to last exit, span first entry to last exit, call the time of rank 0 in its call, inside the mean
#: time of all ranks in theirs, inside_each that of each rank, in their order. A few turns are timed from last entry to
#: last entry: the own time of rank 0 depends on when it happens to leave.
METRICS: dict[str, dict[str, pl.Expr]] = {
    "batch": _EPISODES,
    "episodes": {
        name: pl.col(name) for name in ("latency_ns", "skew_ns", "span_ns", "call_ns", "inside_ns", "inside_each_ns")
    },
    "isolated": {"alone_latency_ns": pl.col("latency_ns"), "alone_skew_ns": pl.col("skew_ns")},
    "processes": {"period_ns": _EPISODES["period_ns"]},
    "idle": {"waiters_share": pl.col("cpu_ns") / pl.col("waited_ns")},
    "set_up": {"set_up_ns": pl.col("set_up_ns")},
    "late": {
        "busiest_waiter_share": pl.col("waiter_cpu_ns").list.max() / pl.col("waited_ns"),
        "wake_ns": pl.col("wake_ns"),
    },
    "work": {
        "period_ns": pl.col("elapsed_ns") / pl.col("runs") / pl.col("phases"),
        "least_ns": pl.col("longest_ns") / pl.col("phases"),
        "run_ns": pl.col("elapsed_ns") / pl.col("runs"),
        "longest_ns": pl.col("longest_ns"),
        "computing_ns": pl.col("computing_ns"),
        "phases": pl.col("phases"),
        "barrier_ns": (pl.col("elapsed_ns") / pl.col("runs") - pl.col("longest_ns")) / pl.col("phases"),
    },
    "turns": {
        "period_ns": pl.coalesce("between_ns", "elapsed_ns") / pl.col("turns"),
        "cpu_ns": pl.col("cpu_ns") / pl.col("turns"),
        "switches": (pl.col("voluntary") + pl.col("involuntary")) / pl.col("turns"),
        "busy_share": pl.col("cpu_ns") / pl.col("elapsed_ns") / pl.col("processors"),
    },
    "dsde": {"exchange_ns": pl.col("elapsed_ns") / pl.col("iterations")},
    "away": {"released_ns": pl.col("released_ns")},
    "overlap": {"free_share": 1 - pl.col("inside_ns") / pl.col("open_ns")},
    "round_trips": {"trip_ns": pl.col("trip_ns")},
    "scheduling": {"quantum_ns": pl.col("quantum_ns"), "sleep_switch_ns": pl.col("sleep_switch_ns")},
    "floor": {name: pl.col(name) for name in ("one_way_ns", "yield_switch_ns", "exchange_ns")},
}

#: Policies that need not be told: the usual one, and where there is none to choose.
USUAL_WAITS = ("auto", "", "own")

_COLUMNS = pl.Schema(
    {
        **{name: pl.String if isinstance(usual, str) else pl.Int64 for name, usual in PLACE.items()},
        **dict.fromkeys(CANDIDATE, pl.String),
        **dict.fromkeys(ROUND, pl.String) | {"launch": pl.Int64, "round": pl.Int64},
        "metric": pl.String,
        "value": pl.Float64,
    }
)
_TYPES: dict[str, type[pl.DataType] | pl.DataType] = {
    "int": pl.Int64,
    "float": pl.Float64,
    "str": pl.String,
    "bool": pl.Boolean,
    "floats": pl.List(pl.Float64),
}


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows of some runs, what was not measured and why, and what is known of each run by its name.

    A run has millions of values and thousands of records: select and group `records`, not `rows`.
    """

    records: pl.DataFrame  #: the columns of `rows`; `value` may be a list, of all values of the record
    skipped: pl.DataFrame  #: the columns of PLACE, name, wait, why
    environments: Mapping[str, Mapping[str, Any]]
    facts: Mapping[str, Mapping[str, Any]]  #: what all programs of a run say alike

    @cached_property
    def rows(self) -> pl.DataFrame:
        """A row for each value."""
        return _exploded(self.records)

    def of(self, *metrics: str) -> pl.DataFrame:
        """The rows of these metrics."""
        return _exploded(self.records.filter(pl.col("metric").is_in(metrics)))


def read(folders: Iterable[Path]) -> Samples:
    """Everything in the folders of these runs.

    Raises MalformedRecord that names the line, or FileNotFoundError where there is no such run.
    """
    return gather(map(results.read, folders))


def gather(runs: Iterable[Stored]) -> Samples:
    """Everything in these runs."""
    runs = list(runs)
    tables = [table for run in runs for table in _tables(run)]
    left_out = [record for run in runs for record in _left_out(run)]
    columns = {name: _COLUMNS[name] for name in (*PLACE, "name", "wait")} | {"why": pl.String}
    return Samples(
        pl.concat(tables) if tables else pl.DataFrame(schema=_COLUMNS | {"value": pl.List(pl.Float64)}),
        pl.DataFrame(left_out, schema=columns).unique(maintain_order=True),
        {run.folder.name: run.environment for run in runs},
        {run.folder.name: _run_facts(run) for run in runs},
    )


def newest(samples: Samples) -> Samples:
    """The rows of each situation from the newest run that has it."""
    by_age = sorted(samples.environments, key=lambda name: str(samples.environments[name].get("began", "")))
    if len(by_age) < 2:
        return samples
    age = pl.col("run").replace_strict({name: age for age, name in enumerate(by_age)}, return_dtype=pl.Int64)
    kept = samples.records.filter(age == age.max().over(*PLACE))
    return dataclasses.replace(samples, records=kept)


#: The metrics of which floor_of() takes one.
FLOORS = ("one_way_ns", "yield_switch_ns")


def floor_of(place: Mapping[str, Any]) -> tuple[str, int]:
    """The metric of the floor that bounds an episode there, and how many times it.

    One cache-line transfer, or where participants share processors B(N) = (ceil(N / C) - 1) yield switches:
    between two releases every participant must run once.
    """
    participants = place["ranks"] * place["threads"]
    if participants <= place["processors"]:
        return "one_way_ns", 1
    return "yield_switch_ns", -(-participants // place["processors"]) - 1


def all_values(rows: pl.DataFrame) -> pl.Expr:
    """All values of a group of these rows, which may be records."""
    return pl.col("value").explode() if rows.schema["value"] == pl.List else pl.col("value")


def _exploded(records: pl.DataFrame) -> pl.DataFrame:
    return records.explode("value") if records.schema["value"] == pl.List else records


def _tables(run: Stored) -> Iterator[pl.DataFrame]:
    """A table of records for each metric, with what the launches know of them."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for number, program, launch in run.launches:
        place = _place(run, program, launch.environment)
        for kind, records in launch.records.items():
            if kind == "skipped":
                continue
            for record in records:
                facts = place | {"run": run.folder.name, "launch": number, "program": _process(program, launch)}
                facts |= _named(record, launch.environment) | _special(record)
                by_kind.setdefault(kind, []).append(record | facts)
    for kind, records in by_kind.items():
        types = {name: _TYPES[text.split("|")[0].strip("+?")] for name, text in schema.fields(kind).items()}
        table = pl.DataFrame(
            records, schema=types | {k: v for k, v in _COLUMNS.items() if k not in ("metric", "value")}
        )
        for metric, value in METRICS.get(kind, {}).items():
            named = table.with_columns(value.alias("value"), pl.lit(metric).alias("metric")).select(*_COLUMNS)
            if named.schema["value"] != pl.List(pl.Float64):
                named = named.with_columns(pl.concat_list(pl.col("value").cast(pl.Float64)))
            named = named.cast(_COLUMNS | {"value": pl.List(pl.Float64)})
            known = named.with_columns(pl.col("value").list.drop_nulls())
            yield known.filter(pl.col("value").list.len() > 0)


def _left_out(run: Stored) -> Iterator[dict[str, Any]]:
    for _, program, launch in run.launches:
        for record in launch.records.get("skipped", ()):
            facts = {"name": record["name"], "wait": record.get("wait", "auto"), "why": record["why"]}
            yield _place(run, program, launch.environment) | facts


def _run_facts(run: Stored) -> dict[str, Any]:
    facts: dict[str, list[Any]] = {}
    for _, _, launch in run.launches:
        for name, value in launch.environment.items():
            if name != "record":
                facts.setdefault(name, []).append(value)
    return {name: values[0] for name, values in facts.items() if all(value == values[0] for value in values)}


def _place(run: Stored, program: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    bench = _BENCHES.get(kind := str(run.environment.get("kind") or PLACE["bench"]), kind)
    place = PLACE | {name: facts[field] for name, field in _PRINTED.items() if facts.get(field)}
    over = _over(program, facts)
    hosts = place["ranks"] if over == "hosts" else int(place["hosts"])  # a rank on each
    who = str(run.environment.get("neighbours") or place["neighbours"])
    if who == neighbours.FIRST and run.environment.get("beside"):
        who = neighbours.NEIGHBOURS["alone"].stored
    kept_to = place["processors"] if run.environment.get("kept_to") else 0
    if kept_to == len(run.environment.get("usable") or ()):
        kept_to = 0
    return place | {"bench": bench, "over": over, "hosts": hosts, "neighbours": who, "kept_to": kept_to}


def _over(program: str, facts: Mapping[str, Any]) -> str:
    """Barriers that are compared with each other have run over the same: on hosts an MPI is beside what needs none."""
    if program.startswith("mpi.") or "network" in facts:
        return "hosts" if facts.get("network") == "namespaces" or int(facts.get("hosts") or 1) > 1 else "loopback"
    return "shmem" if "shmem" in facts else str(facts.get("mpi") or PLACE["over"])


def _process(program: str, launch: schema.Launch) -> str:
    """Settings of an MPI are different programs."""
    facts = launch.environment
    return " ".join([program, *(str(facts[name]) for name in ("setting", "door") if facts.get(name))])


def _named(record: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The candidate; of an MPI's barrier the name tells which setting or door stood behind it."""
    name, wait, kind = (record.get(field) or "" for field in ("name", "wait", "kind"))
    if kind in ("mpi", "door") and not name.startswith("PMPI_"):
        setting, door = str(facts.get("setting") or "stock"), str(facts.get("door") or "none")
        behind = setting if kind != "door" or setting.startswith(door) else door
        name = name if behind == "stock" else f"{name} [{behind}]"
    label = name if wait in USUAL_WAITS else f"{name} ({wait})"
    return {"candidate": label, "name": name, "wait": wait, "kind": kind}


def _special(record: Mapping[str, Any]) -> dict[str, Any]:
    """The place as far as a record says it itself."""
    special = ("apart", "computing", "neighbours")
    return {name: record[_PRINTED[name]] for name in special if _PRINTED[name] in record}
