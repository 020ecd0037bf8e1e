# SPDX-License-Identifier: Apache-2.0
"""The figures that tollbar wants to reach, as targets.toml lists them: ratios to floors and to peers."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tollbar.data import places, statistics
from tollbar.data.places import Here, Place
from tollbar.data.samples import USUAL_WAITS, Samples
from tollbar.data.statistics import Interval, Series
from tollbar.report import company_targets
from tollbar.report.target import Target, Wanted


def evaluate(found: Samples) -> list[Target]:
    """Every target of what was measured, in the order of the file.

    Runs over several hosts have those over hosts alone, and runs on one host all others.
    """
    there = _there(found)
    rows: list[Target] = []
    for group in listed():
        known = {place: here for place, here in there.items() if place.bench == group["bench"]}
        if known and any(place.hosts > 1 for place in known) == ("hosts" in group):
            made = [row for asked in _expanded(group) for row in _rows(asked, found, known)]
            rows += _measured(made) if group.get("measured") else made
    return rows + company_targets.evaluate(found, _file()["company"])


def floors(found: Samples) -> list[str]:
    """What the ratios are ratios to, in words: the medians of the floors."""
    said, of_ranks = [], {}
    for place, here in places.threads(found).items():
        if here.floor and place.crowded:
            said.append(f"B({place.ranks}), {place.placement}: {here.floor.value / 1e3:.4g} µs")
        elif here.floor and (place.ranks, place.placement) == (2, "pinned"):
            said.insert(0, f"one cache-line transfer: {here.floor.value:.4g} ns")
    for place, here in _there(found).items():
        if here.floor and place.bench != "threads" and (place.hosts, place.apart) == (1, "launcher"):
            of_ranks.setdefault(place.ranks, []).append(here.floor.value)
    for ranks, values in sorted(of_ranks.items()):
        name = "one cache-line transfer" if ranks == 2 else f"B({ranks})"
        said.append(f"{name}: {min(values) / 1e3:.4g} µs")
    return said


def listed() -> list[dict[str, Any]]:
    """The entries of targets.toml."""
    return _file()["targets"]


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))


def _there(found: Samples) -> dict[Place, Here]:
    return places.gather(found, ("bench", *places.PROCESSES))


def _expanded(group: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Its rows, with the numbers of their ranks and all names put in."""
    shared = {key: value for key, value in group.items() if key not in ("each", "rows")}
    for values in itertools.product(*group["each"].values()):
        names = dict(zip(group["each"], values, strict=True))
        for row in group["rows"]:
            if names["ranks"] not in row.get("ranks", [names["ranks"]]):
                continue
            asked = {key: _filled(value, names) for key, value in (shared | row).items()} | names
            if isinstance(asked.get("over"), (int, float)):
                asked["case"] = asked["case"].replace("{over}", f"{asked['over'] / 1e3:.4g} µs")
            yield asked


def _filled(value: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(value, dict) and str(names["ranks"]) in value:
        return value[str(names["ranks"])]
    for name, text in names.items():
        value = value.replace(f"{{{name}}}", str(text)) if isinstance(value, str) else value
    return value


def _measured(rows: list[Target]) -> list[Target]:
    """Those that have a value; the first, if none of those ranks has one."""
    kept: list[Target] = []
    for _, some in itertools.groupby(rows, key=lambda row: row.ranks):
        alike = list(some)
        kept += [row for row in alike if row.value is not None] or alike[:1]
    return kept


def _rows(asked: Mapping[str, Any], found: Samples, known: Mapping[Place, Here]) -> Iterator[Target]:
    """A row; over hosts one for each MPI that was measured there."""
    if asked.get("hosts") == "ranks":
        for place, here in known.items():
            if place.hosts == place.ranks == asked["ranks"]:
                yield _row(asked, found, known, here)
    else:
        yield _row(asked, found, known, _find(asked, known))


def _find(asked: Mapping[str, Any], known: Mapping[Place, Here]) -> Here | None:
    """The first such place: of several releases of an MPI the oldest."""
    for place, here in known.items():
        if (
            place.ranks == asked["ranks"]
            and place.placement == asked.get("placement", place.placement)
            and place.apart == asked.get("apart", "launcher")
            and (place.hosts, place.threads) == (1, 1)
            and ("mpi" not in asked or place.over.startswith(f"{asked['mpi']} "))
        ):
            return here
    return None


def _row(asked: Mapping[str, Any], found: Samples, known: Mapping[Place, Here], here: Here | None) -> Target:
    reached, why = None, _why_not(asked, known, here)
    if here and not why:
        reached, why = _reached(asked, known, here)
    wanted = _wanted(asked, here)
    place = here.place if here else None
    mpi = asked.get("mpi")
    if place and place.bench != "threads":
        mpi = place.over if place.bench == "mpi" else library(found)
    placement = asked.get("placement") or (place and place.placement)
    return Target(
        asked["case"],
        asked["ranks"],
        f"{place.hosts} hosts" if place and place.hosts > 1 else placement,
        asked["candidate"],
        *((reached.value, reached.low, reached.high) if reached else (None, None, None)),
        wanted.text,
        wanted.verdict(reached) if reached else why or _missing(asked, found, here),
        mpi,
    )


def library(found: Samples) -> str:
    return str(next((told["mpi"] for told in found.told.values() if "mpi" in told), "an OpenSHMEM"))


def _wanted(asked: Mapping[str, Any], here: Here | None) -> Wanted:
    if "within" not in asked:
        return Wanted(asked.get("most"), asked.get("least"))
    part = asked["within"] / _spare(asked, here.place.usable if here else 2)
    return Wanted(1 + part, 1 - part)


def _spare(asked: Mapping[str, Any], usable: int) -> int:
    return max(1, asked["ranks"] - usable)


def _reached(
    asked: Mapping[str, Any], known: Mapping[Place, Here], here: Here
) -> tuple[Interval | None, str]:
    """What was reached, or why not where that is not only that something is missing."""
    candidate, metric, over = asked["candidate"], asked["metric"], asked.get("over", 1.0)
    if isinstance(over, dict):
        other = _find({**asked, **over}, known)
        if other is None and "mpi" in over:
            return None, f"not measured: no {over['mpi']} in this run"
        base = other.series(over.get("candidate", candidate), metric) if other else {}
        return _between(here.series(candidate, metric), base), ""
    if isinstance(over, str) and over != "N - C":
        return here.ratio(candidate, over, metric), ""
    divisor = _spare(asked, here.place.usable) if over == "N - C" else over
    reached = here.median(candidate, metric)
    if reached is None and metric == "over_floor" and here.median(candidate, "period_ns"):
        return None, "not measurable here: the floor could not be measured"
    return reached and reached.times(1 / divisor), ""


def _between(of: Series, to: Series) -> Interval | None:
    """The ratio of what was measured in different places: by round if they shared launches, else by pass."""
    if not of or not to:
        return None
    if of.keys() & to.keys():
        return statistics.ratio(of, to)
    one, other = (dict(enumerate(each[key] for key in sorted(each))) for each in (of, to))
    return statistics.ratio_between(one, other)


def _why_not(asked: Mapping[str, Any], known: Mapping[Place, Here], here: Here | None) -> str:
    """Why nobody can have measured it; empty where there is no reason."""
    crowded, words = asked.get("crowded"), _file()["words"][asked["bench"]]
    if here is None:
        asked_for = [place for place in known if _find({**asked, "apart": place.apart}, known)]
        return "" if asked_for else f"not measured: {words['unasked'].format_map(asked)}"
    if crowded is not None and crowded != here.place.crowded:
        usable = here.place.usable
        return f"not measurable here: {asked['ranks']} {words['participants']} on {usable} processors"
    return ""


def _missing(asked: Mapping[str, Any], found: Samples, here: Here | None) -> str:
    """What the programs say of what they left out, else that it is missing."""
    name, over = asked["candidate"], asked.get("over")
    if here and isinstance(over, str) and here.median(name, asked["metric"]):
        name = over
    left_out = found.skipped.filter(bench=asked["bench"], ranks=asked["ranks"])
    if "placement" in asked:
        left_out = left_out.filter(placement=asked["placement"])
    for row in left_out.iter_rows(named=True):
        label = row["name"] if row["wait"] in USUAL_WAITS else f"{row['name']} ({row['wait']})"
        if label in (name, asked.get("skipped")):
            return f"not measured: {row['why']}"
    missing = _file()["words"][asked["bench"]]["missing"]
    return f"not measured: {missing.format_map({**asked, 'candidate': name})}"
