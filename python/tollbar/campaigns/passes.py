# SPDX-License-Identifier: Apache-2.0
"""Runs measuring programs: every situation in each of several shuffled passes; keeps their output.

A pass launches each program once in each situation. Programs of one situation follow each other at once, in
one session, so that what is compared has met the same machine.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tollbar.backports import add_note
from tollbar.campaigns.campaign import Campaign
from tollbar.data import results, schema
from tollbar.data.schema import Launch
from tollbar.data.statistics import FEWEST
from tollbar.machine import facts as machine
from tollbar.machine import noise
from tollbar.machine.session import Finished, Session

FIRST_ROUNDS = 2
_BEYOND = 3  # as many rounds have launches beyond those that were asked for, where times vary from round to round


@dataclass
class Outcome:
    """The folder of the run, how many passes were whole, and what was not available."""

    folder: Path
    passes: int = 0
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)  #: why the machine was not quiet
    unsafe: bool = False  #: somebody left an episode before everybody had entered it


#: Called after each situation with: situations done, situations in all, the next thing to be done, in words.
Report = Callable[[int, int, str], None]


def measure(work: Campaign, notes: Sequence[str], within: Path, report: Report) -> Outcome:
    """Does all of the work and stores it in a new folder in `within`.

    The run is called incomplete until it ends, and what interrupts it gets a note that says so.
    """
    known, seen = machine.facts(), noise.look()
    outcome = Outcome(results.new_run(within, work.kind), notes=list(notes))
    try:
        _measure(work, outcome, known, report)
    except BaseException as error:
        add_note(error, f"{outcome.folder} is incomplete")
        if "kind" in known:  # something may have been measured
            _write_end(outcome, known | {"incomplete": True}, seen)
        raise
    _write_end(outcome, known, seen)
    return outcome


def _write_end(outcome: Outcome, known: dict[str, Any], seen: noise.Look) -> None:
    """Stores what the run is about, how far it came, and how quiet the machine was until now."""
    marks = noise.marks(seen, known)
    outcome.noise = marks["noise"]
    known |= {
        "load_after": list(os.getloadavg()),
        "passes": outcome.passes,
        "notes": outcome.notes,
        "failures": outcome.failures,
        **marks,
    }
    results.write_environment(outcome.folder, known)


def _measure(work: Campaign, outcome: Outcome, known: dict[str, Any], report: Report) -> None:
    """All passes. Adds to `known` what the run is about."""
    neighbours = work.request.neighbours
    with tempfile.TemporaryDirectory() as scratch, Session(Path(scratch), neighbours, work.first) as session:
        known |= {
            "kind": work.kind,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seed": work.request.seed,
            "launches": work.request.launches,
            "rounds": work.request.rounds,
            "budget_s": work.request.budget_s,
            "ranks": list(work.request.ranks),
            "only": list(work.request.only),
            "full": work.request.full,
            **({"neighbours": _words(neighbours)} if neighbours else {}),
            **work.looks(),
            **work.facts(),
            "session": session.autogroup,
        }
        results.write_environment(outcome.folder, known | {"incomplete": True})
        work.prepare(outcome.folder, session)
        _run_passes(work, session, outcome, report)


def _words(neighbours: int) -> str:
    return f"{neighbours} neighbour{'s' if neighbours > 1 else ''}"


def _run_passes(work: Campaign, session: Session, outcome: Outcome, report: Report) -> None:
    """Stops before a situation that would not end within the budget; the first pass is always whole, and in a short run
    as many as an interval needs.

    After `launches` passes come further ones of the situations that want more."""
    chance = random.Random(work.request.seed)
    began, group = time.monotonic(), 0
    pace = _Pace(work)
    rounds, passes = min(work.request.rounds, FIRST_ROUNDS), work.request.launches
    least = min(FEWEST, passes) if work.request.short else 1
    wanted = list(work.situations)
    while wanted:
        number = outcome.passes
        total = group + len(wanted) * max(1, passes - number)
        chance.shuffle(wanted)
        for situation in wanted:
            left = work.request.budget_s - (time.monotonic() - began)
            if number >= least and pace.seconds(situation, rounds) > left:
                outcome.notes.append(f"the budget of {work.request.budget_s:.0f} s ended after {number} whole passes")
                return
            where = f"{work.say(situation)}, pass {number + 1}{f' of {passes}' if number < passes else ''}"
            report(group, total, where)
            names = work.programs(situation)
            chance.shuffle(names)
            seed = chance.getrandbits(31)  # one for all: what they draw is the same
            for name in names:
                turns = work.rounds(name, situation, rounds)
                start = work.start(name, situation, turns, seed)
                finished = session.run(start.command, start.limit_s, start.environment)
                pace.note(situation, name, finished.seconds / turns)
                if launch := _keep(outcome, finished, group, name, where):
                    work.note(situation, launch)
            group += 1
        outcome.passes = number + 1
        if outcome.passes < passes:
            left = work.request.budget_s - (time.monotonic() - began)
            rounds = pace.affordable(left / (passes - outcome.passes))
        else:
            wanted = [situation for situation in work.situations if work.wants_more(situation)]
            rounds = work.request.rounds * (_BEYOND if work.first else 1)
    report(group, group, "done")


class _Pace:
    """How long a round of each program took last in each situation."""

    def __init__(self, work: Campaign) -> None:
        self._work = work
        self._per_round: dict[Hashable, dict[str, float]] = {}

    def note(self, situation: Hashable, program: str, seconds_a_round: float) -> None:
        self._per_round.setdefault(situation, {})[program] = seconds_a_round

    def seconds(self, situation: Hashable, rounds: int) -> float:
        known = self._per_round.get(situation, {})
        return sum(seconds * self._work.rounds(name, situation, rounds) for name, seconds in known.items())

    def affordable(self, seconds: float) -> int:
        """The most rounds with which a pass takes no longer than that; at least one."""
        for rounds in range(self._work.request.rounds, 1, -1):
            if sum(self.seconds(situation, rounds) for situation in self._per_round) <= seconds:
                return rounds
        return 1


def _keep(outcome: Outcome, finished: Finished, group: int, program: str, where: str) -> Launch | None:
    """Stores a whole launch and gives it. One that failed is noted, and the others go on."""
    if finished.exit_code == 0:
        try:
            launch = schema.parse_launch(finished.output.splitlines(), f"the output of {program}")
        except schema.MalformedRecord as error:
            outcome.failures.append(f"{where}: {error}")
            return None
        results.write_launch(outcome.folder, group, program, finished.output)
        return launch
    if early := [line for line in finished.output.splitlines() if '"record":"violation"' in line]:
        outcome.unsafe = True
        outcome.failures.append(f"{where}: {program}: NOT A BARRIER, {early[0]}")
        return None
    why = "ran past its time limit" if finished.exit_code is None else f"ended with {finished.exit_code}"
    last = finished.errors.strip().splitlines()[-1:] or [""]
    outcome.failures.append(f"{where}: {program} {why}{': ' if last[0] else ''}{last[0]}")
    return None
