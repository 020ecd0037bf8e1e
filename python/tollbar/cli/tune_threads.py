# SPDX-License-Identifier: Apache-2.0
"""tollbar tune threads: picks the fastest safe barrier for each situation of a stored run.

A choice rests on a run that measured the usual candidates often enough. One that is stored and rests on more
launches stays. A barrier that is faster alone and loses beside others is not stored.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tollbar.backports import zip_equal
from tollbar.cli import bench, tune_beside
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.cli.tune_beside import Checked
    from tollbar.data.places import Measurements, Situation
    from tollbar.data.statistics import Interval
    from tollbar.data.tuning import Entry


@dataclass(frozen=True)
class Tuned:
    """One situation and what to use in it."""

    ranks: int = column("how many threads")
    cpus: int = column("how many processors they may use")
    placement: str = column("pinned to processors, or free")
    plan: str = column("the plan to use, as `tollbar plans` spells it")
    verdict: str = column(
        "best: faster than every other; tie: as fast as others, and the one the model prefers; safe: "
        "others are faster alone and slower beside neighbours; default: nothing is stored, and the library "
        "goes on with what it does unasked; stored: what is stored already stays"
    )
    latency_ns: float | None = column("last entry to last exit, median over launches", default=None)
    runner_up: str | None = column("the next best, or the fastest of those it ties with", default=None)
    by: str | None = column("what is compared with the next best: latency, or the period of a loop", default=None)
    ratio: float | None = column("that of the next best divided by that of the choice", default=None)
    low: float | None = column(
        "lower end of its 95 % interval, which holds for all that may be chosen together; empty with too few launches",
        default=None,
    )
    high: float | None = column("upper end of it", default=None)
    launches: int | None = column("how many launches it rests on", default=None)
    measured: str | None = column("where it was measured and does not lose: placement and neighbours", default=None)
    kept: int | None = column("launches behind the stored choice, where it has more and stays", default=None)
    why: str | None = column("why nothing was stored", default=None)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results",
        nargs="?",
        type=Path,
        metavar="RUN",
        help="a stored run, or a folder of runs (default: the results folder; of its runs the one with most "
        "launches, the newest of equals; measures briefly if none has the usual candidates)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="take the newest run whatever it measured, and replace what rests on more launches",
    )


@dataclass(frozen=True)
class Basis:
    """The content of a run: the situations to choose for, all that there are, and why not for others."""

    folder: Path
    environment: Mapping[str, Any]
    founded: Sequence[Measurements] = ()
    there: Sequence[Measurements] = ()
    ignored: Sequence[str] = ()
    lacking: Mapping[Situation, str] = field(default_factory=dict)  #: what situations lack to be chosen for


def run(args: argparse.Namespace, stored: Sequence[Entry]) -> tuple[list[Entry], Table]:
    """The entries to store beside those that are, and the table that shows them."""
    from tollbar.machine import facts

    basis, notes = _basis(args)
    launches = {measured.place: _launches(measured) for measured in basis.founded}
    began = str(basis.environment.get("began", "an unknown time")).replace("T", " ").removesuffix("Z")
    notes.insert(
        0, f"from {basis.folder}, measured {began}: {sum(launches.values())} launches in {len(launches)} situations"
    )
    notes += [f"the machine was not quiet: {doubt}" for doubt in basis.environment.get("noise", ())]
    before = {entry.situation: entry for entry in stored}
    entries, rows = [], []
    machine = facts.short_id(basis.environment)
    for checked in _checked(basis, args.results):
        chosen = checked.choice
        if checked.why:
            notes.append(f"{_named(chosen.situation)}: {checked.why}")
        if not checked.measured:
            rows.append(_left(chosen.situation, checked.why, before))
            continue
        count = launches[chosen.situation]
        made = entry(checked, count, machine)
        kept = None if args.force else rests_on_more(before.get(made.situation), made)
        row = _row(checked, count, kept)
        if kept is not None:
            why = f"it rests on {kept} launches; --force replaces it"
            rows.append(replace(row, verdict="stored", why=why))
        elif _is_default(checked) and made.situation not in before:
            why = "nothing is faster than it for certain"
            rows.append(replace(row, verdict="default", measured=None, why=why))
        else:
            rows.append(row)
            entries.append(made)
    rows += [_left(place, why, before) for place, why in basis.lacking.items()]
    return entries, Table(rows, Tuned, notes=[*notes, *_reasons(rows)])


def _is_default(checked: Checked) -> bool:
    """Whether it cannot be told from what an untuned group runs."""
    from tollbar.data import choice
    from tollbar.data.statistics import Verdict

    usual = choice.untuned(checked.choice.situation).label
    return checked.choice.verdict == Verdict.TIE and usual in [other.label for other in checked.choice.tied]


def _left(place: Situation, why: str, before: Mapping[Any, Entry]) -> Tuned:
    """The row of a situation for which nothing is chosen: what is stored stays, else the default."""
    from tollbar.data import choice

    pinned = "yes" if place.placement == "pinned" else "no"
    known = {tuple(entry.pairs.get(key) for key in ("ranks", "cpus", "pinned")): entry for entry in before.values()}
    stored = known.get((str(place.ranks), str(place.processors), pinned))
    plan, verdict = (stored.pairs["plan"], "stored") if stored else (choice.untuned(place).name, "default")
    return Tuned(place.ranks, place.processors, place.placement, plan, verdict, why=why)


def _reasons(rows: Sequence[Tuned]) -> Iterator[str]:
    """A line for each reason why nothing was stored, with its situations."""
    by_why = defaultdict(list)
    for row in rows:
        if row.why:
            by_why[row.verdict, row.why].append(f"{row.ranks} threads {row.placement}")
    for (verdict, why), places in by_why.items():
        stays = {"default": "the default stays: ", "stored": "what is stored stays: "}.get(verdict, "")
        yield f"{', '.join(places)}: {stays}{why}"


def _checked(basis: Basis, named: Path | None) -> list[Checked]:
    """The choices that hold beside neighbours, by what was measured there since; here it is measured now."""
    from tollbar.data import choice, results
    from tollbar.machine import facts

    machine, this_machine = facts.short_id(basis.environment), facts.short_id(facts.facts())
    began = str(basis.environment.get("began", ""))
    within = results.folder() if named is None or (named / "environment.json").exists() else named
    runs = []
    for run in (run for kind in ("tune", "threads") for run in results.by_age(within, kind)):
        environment = results.read_environment(run)
        if (
            not results.about(environment).is_plain
            and facts.short_id(environment) == machine
            and str(environment.get("began", "")) >= began
        ):
            runs.append(run)
    chosen = [wanted for wanted in map(choice.choose, basis.founded) if wanted]
    return tune_beside.checked(chosen, basis.there, runs, may_measure=machine == this_machine)


def _basis(args: argparse.Namespace) -> tuple[Basis, list[str]]:
    """The run to take, with lines that say what is ignored."""
    named = args.results
    ignored: list[str] = []
    for folder in _runs(named, args.force):
        basis = _read(folder, args.force, anywhere=named is not None)
        ignored += basis.ignored
        if basis.founded:
            return basis, ignored
        if args.force:
            raise WrongUse(f"{folder} holds none of tollbar's own barriers; `tollbar bench threads` measures them")
    if named and ignored:
        raise WrongUse(f"{'; '.join(ignored)}; `tollbar bench threads` measures enough, --force takes it")
    if named:
        raise WrongUse(f"{named} holds no run; `tollbar bench threads` makes one")
    lack = "no stored run has enough" if ignored else "nothing is stored yet"
    print(f"tollbar tune: {lack}; measuring for half a minute", file=sys.stderr)
    return _read(bench.measure_briefly(), force=True, anywhere=True), ignored


def _runs(named: Path | None, force: bool) -> list[Path]:
    """The runs to look at, in this order: those with most launches first, of equals the newest."""
    from tollbar.data import results

    within = named or results.folder()
    if (within / "environment.json").exists():
        return [within]
    plain = [run for run in results.by_age(within, "threads") if results.about(results.read_environment(run)).is_plain]
    newest_first = plain[::-1]
    if force:
        return newest_first[:1]
    return sorted(newest_first, key=lambda run: len(list(run.glob("*.jsonl.gz"))), reverse=True)


def _read(folder: Path, force: bool, anywhere: bool) -> Basis:
    from tollbar.data import choice, places, results, samples
    from tollbar.machine import facts

    environment = results.read_environment(folder)
    if not force and not anywhere and facts.short_id(environment) != facts.short_id(facts.facts()):
        return Basis(folder, environment, ignored=[f"{folder.name} is ignored: it was measured on another machine"])
    if not force and environment.get("incomplete"):
        return Basis(folder, environment, ignored=[f"{folder.name} is ignored: it is incomplete"])
    there = list(places.threads(samples.read([folder])).values())
    if force:
        return Basis(folder, environment, [measured for measured in there if choice.rivals(measured)], there)
    if only := environment.get("only"):
        return Basis(folder, environment, ignored=[f"{folder.name} is ignored: it measured only {', '.join(only)}"])
    lacking = defaultdict(list)
    for measured in there:
        lacking[lacks(measured)].append(measured)
    ignored = [
        f"{folder.name}, {', '.join(_named(measured.place) for measured in those)}: ignored, {why}"
        for why, those in lacking.items()
        if why
    ]
    left = {measured.place: why for why, those in lacking.items() if why for measured in those}
    return Basis(folder, environment, lacking[""], there, () if lacking[""] else ignored, left)


def lacks(measured: Measurements) -> str:
    """The lack that keeps the situation from being chosen for; empty when it has the usual candidates and launches."""
    from tollbar.campaigns import threads as campaign
    from tollbar.data import choice
    from tollbar.data.statistics import FEWEST

    usual = set(choice.OWN) - ({"plan"} if measured.place.ranks > campaign.MANY else set())
    usual -= {"combination"} if measured.place.placement == "free" else set()
    usual -= {name.partition(":")[0] for name, _ in measured.skipped}
    missing = usual - {candidate.kind for candidate in choice.rivals(measured)}
    if missing:
        return f"no {' and no '.join(sorted(missing))} was measured"
    launches = _launches(measured)
    return f"{launches} of {FEWEST} launches" if launches < FEWEST else ""


def _launches(measured: Measurements) -> int:
    """How often every one of tollbar's own was measured."""
    from tollbar.data import choice

    own = choice.rivals(measured)
    return min((median.count for candidate in own if (median := measured.median(candidate, "latency_ns"))), default=0)


def _named(situation: Situation) -> str:
    return f"{situation.ranks} threads {situation.placement}"


def rests_on_more(stored: Entry | None, made: Entry) -> int | None:
    """How many launches what is stored rests on, if it is of the same machine and those are more.

    A choice that does not say where it was measured was only measured alone.
    """
    if stored is None or stored.pairs.get("machine") != made.pairs["machine"]:
        return None
    if "measured" not in stored.pairs:
        return None
    launches = stored.pairs.get("launches", "")
    more = launches.isascii() and launches.isdigit() and int(launches) > int(made.pairs["launches"])
    return int(launches) if more else None


def _where(checked: Checked) -> str:
    return ",".join(":".join(where) for where in checked.measured)


def entry(checked: Checked, launches: int, machine: str) -> Entry:
    """The choice as a line of the tuning file."""
    from tollbar.data.tuning import Entry

    chosen = checked.choice
    pairs = {
        "ranks": str(chosen.situation.ranks),
        "cpus": str(chosen.situation.processors),
        "pinned": "yes" if chosen.situation.placement == "pinned" else "no",
        "plan": chosen.pick.name,
        "wait": chosen.pick.wait,
        "verdict": str(chosen.verdict),
        "latency_ns": f"{chosen.latency.value:.1f}",
    }
    if chosen.runner_up and chosen.ratio:
        pairs |= {"runner_up": chosen.runner_up.name, "by": chosen.by}
        pairs |= _pairs(chosen.ratio, "ratio", "low", "high")
    pairs["measured"] = _where(checked)
    if checked.worst is not None:
        pairs |= _pairs(checked.worst, "worst", "worst_low", "worst_high")
    return Entry("threads", pairs | {"launches": str(launches), "machine": machine})


def _pairs(ratio: Interval, *names: str) -> dict[str, str]:
    """A ratio for the tuning file, and the ends of its interval where it has one, by these names."""
    known = zip_equal(names, (ratio.value, ratio.low, ratio.high))
    return {name: f"{value:.3f}" for name, value in known if value is not None}


def _row(checked: Checked, launches: int, kept: int | None) -> Tuned:
    chosen = checked.choice
    place, ratio = chosen.situation, chosen.ratio
    return Tuned(
        place.ranks,
        place.processors,
        place.placement,
        chosen.pick.name,
        str(chosen.verdict),
        latency_ns=chosen.latency.value,
        runner_up=chosen.runner_up.name if chosen.runner_up else None,
        by=chosen.by,
        ratio=ratio.value if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        launches=launches,
        measured=_where(checked),
        kept=kept,
    )
