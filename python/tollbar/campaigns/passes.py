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

from tollbar.campaigns.campaign import Campaign
from tollbar.data import results, schema
from tollbar.machine import facts as machine
from tollbar.machine.session import Finished, Session

FIRST_ROUNDS = 2


@dataclass
class Outcome:
    """Where the run is stored, how many passes were whole, and what was not available."""

    folder: Path
    passes: int = 0
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unsafe: bool = False  #: somebody left an episode before everybody had entered it


#: Called after each situation with: situations done, situations in all, the next thing to be done, in words.
Report = Callable[[int, int, str], None]


def measure(work: Campaign, notes: Sequence[str], within: Path, report: Report) -> Outcome:
    """Does all of the work and stores it in a new folder in `within`."""
    known = machine.facts()
    outcome = Outcome(results.new_run(within, work.kind), notes=list(notes))
    neighbours = work.asked.neighbours
    with tempfile.TemporaryDirectory() as scratch, Session(Path(scratch), neighbours, work.first) as session:
        known |= {
            "kind": work.kind,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seed": work.asked.seed,
            "launches": work.asked.launches,
            "rounds": work.asked.rounds,
            "budget_s": work.asked.budget_s,
            "ranks": list(work.asked.ranks),
            "only": list(work.asked.only),
            "full": work.asked.full,
            **({"company": _company(neighbours)} if neighbours else {}),
            **work.facts(),
            "session": session.autogroup,
        }
        results.write_environment(outcome.folder, known)
        work.prepare(outcome.folder, session)
        _run_passes(work, session, outcome, report)
    known |= {
        "load_after": list(os.getloadavg()),
        "passes": outcome.passes,
        "notes": outcome.notes,
        "failures": outcome.failures,
    }
    results.write_environment(outcome.folder, known)
    return outcome


def _company(neighbours: int) -> str:
    return f"{neighbours} neighbour{'s' if neighbours > 1 else ''}"


def _run_passes(work: Campaign, session: Session, outcome: Outcome, report: Report) -> None:
    """Stops before a situation that would not end within the budget; the first pass is always whole."""
    chance = random.Random(work.asked.seed)
    began, total = time.monotonic(), work.asked.launches * len(work.situations)
    pace = _Pace(work)
    rounds, group = min(work.asked.rounds, FIRST_ROUNDS), 0
    for number in range(work.asked.launches):
        order = list(work.situations)
        chance.shuffle(order)
        for situation in order:
            left = work.asked.budget_s - (time.monotonic() - began)
            if number and pace.seconds(situation, rounds) > left:
                outcome.notes.append(
                    f"the budget of {work.asked.budget_s:.0f} s ended after {number} whole passes"
                )
                return
            where = f"{work.say(situation)}, pass {number + 1} of {work.asked.launches}"
            report(group, total, where)
            names = work.programs(situation)
            chance.shuffle(names)
            seed = chance.getrandbits(31)  # one for all: what they draw is the same
            for name in names:
                turns = work.rounds(name, situation, rounds)
                start = work.start(name, situation, turns, seed)
                finished = session.run(start.command, start.limit_s, start.environment)
                pace.note(situation, name, finished.seconds / turns)
                _keep(outcome, finished, group, name, where)
            group += 1
        outcome.passes = number + 1
        passes_left = work.asked.launches - outcome.passes
        if passes_left:
            left = work.asked.budget_s - (time.monotonic() - began)
            rounds = pace.affordable(left / passes_left)
    report(group, total, "done")


class _Pace:
    """How long a round of each program took last in each situation."""

    def __init__(self, work: Campaign) -> None:
        self._work = work
        self._per_round: dict[Hashable, dict[str, float]] = {}

    def note(self, situation: Hashable, program: str, seconds_a_round: float) -> None:
        self._per_round.setdefault(situation, {})[program] = seconds_a_round

    def seconds(self, situation: Hashable, rounds: int) -> float:
        known = self._per_round.get(situation, {})
        return sum(each * self._work.rounds(name, situation, rounds) for name, each in known.items())

    def affordable(self, seconds: float) -> int:
        """The most rounds with which a pass takes no longer than that; at least one."""
        for rounds in range(self._work.asked.rounds, 1, -1):
            if sum(self.seconds(situation, rounds) for situation in self._per_round) <= seconds:
                return rounds
        return 1


def _keep(outcome: Outcome, finished: Finished, group: int, program: str, where: str) -> None:
    """Stores a whole launch. One that failed is noted, and the others go on."""
    if finished.exit_code == 0:
        try:
            schema.parse_launch(finished.output.splitlines(), f"the output of {program}")
        except schema.MalformedRecord as error:
            outcome.failures.append(f"{where}: {error}")
            return
        results.write_launch(outcome.folder, group, program, finished.output)
        return
    if early := [line for line in finished.output.splitlines() if '"record":"violation"' in line]:
        outcome.unsafe = True
        outcome.failures.append(f"{where}: {program}: NOT A BARRIER, {early[0]}")
        return
    why = "ran past its time limit" if finished.exit_code is None else f"ended with {finished.exit_code}"
    last = finished.errors.strip().splitlines()[-1:] or [""]
    outcome.failures.append(f"{where}: {program} {why}{': ' if last[0] else ''}{last[0]}")
