# SPDX-License-Identifier: Apache-2.0
"""A run of a random program: what its ranks did, and whether what was said of them is true."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from random_programs import KINDS, ROOTED, Comm, Program, Step

MOST_RANKS = 8
PAGE_BYTES = 4 * MOST_RANKS + 16 * 8192
#: A thread may be without its CPU between what it writes down and its call.
SLACK_S = 0.02
#: And so long on a full machine.
LOST_S = 0.5
#: A place of which a line tells was seen shortly before the line is read.
READ_S = 1.0

_HEAD = re.compile(
    r"(?:(?P<comm>\S+|a communicator without a name) \((?P<size>\d+) ranks\), )?MPI_(?P<call>\w+)(?: (?P<number>\d+))?"
    r"(?: (?:from|to) (?P<peer>any rank|a rank elsewhere|rank \d+))?(?: \(tag \d+\))? at (?P<site>\S+): "
    r"rank (?P<waiter>\d+) on \S+ (?:has waited (?P<seconds>[\d.]+) s|waits)(?P<how>[^:]*): (?P<clauses>.*)"
)
_RANKS = r"ranks? (?P<ranks>\d+(?:(?:, | and )\d+)*)(?: \(host [^()]*\))? "
_ABSENT = re.compile(
    _RANKS + r"ha(?:s|ve) (?P<what>not come|freed it, or not seen it made): (?:it is|they are) (?P<place>.*)"
)
_OTHER = re.compile(
    _RANKS
    + r"called MPI_(?P<call>\w+).*?(?: where (?P<beside>rank \d+)?.*? called MPI_(?P<usual>\w+).*|, which do not meet)?"
)
#: Clauses that leave something open.
_OPEN = re.compile(r"all its ranks have come.*|cannot tell which of them are neighbours.*")
_UNKNOWN = re.compile(r"\d+ of its ranks ha(?:s|ve) freed it, or not seen it made: cannot tell which")
_PLACED = re.compile(r"(?:a cycle: |\d+ ranks wait for it: )?" + _RANKS + r"(?:is|are) (?P<place>.*)")
_SEEN = re.compile(r"(?P<clauses>rank \d+ (?:is in|has no) .*); \d+ of \d+ are in MPI_(?P<call>\w+)")
_STILL = re.compile(r"(?P<clauses>rank \d+ is stopped in .*); \d+ of \d+ are not stopped")
_INSIDE = re.compile(
    r"(?:stopped, )?(?:in|polling by) MPI_(?P<call>\w+)(?: (?P<number>\d+) of (?P<comm>[^,;]+?))? ?(?:from|to|at|$)"
)
_AFTER = re.compile(r"after MPI_(?P<call>\w+) (?P<number>\d+) of (?P<comm>\S+)")


@dataclass
class Stop:
    """A rank that was stopped from outside."""

    rank: int
    begin: float
    end: float = math.inf


@dataclass
class Record:
    """When each step began and ended, from the page that the ranks write."""

    program: Program
    page: bytes
    timeout_s: float
    until: float = math.inf  #: later times are those of a job that is being ended
    stops: list[Stop] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.index = {step: at for at, step in enumerate(self.program.steps)}
        self.counted: dict[tuple[int, Comm], list[Step]] = {}
        for step in self.program.steps:
            if step.counts and step.comm:
                self.counted.setdefault((step.rank, step.comm), []).append(step)
        self.lanes = self.program.lanes()

    def began(self, step: Step) -> float:
        return self._time(step, 0)

    def ended(self, step: Step) -> float:
        return self._time(step, 8)

    def _time(self, step: Step, offset: int) -> float:
        at = struct.unpack_from("d", self.page, 4 * MOST_RANKS + 16 * self.index[step] + offset)[0]
        return at if 0 < at <= self.until else math.inf

    def stands(self) -> dict[tuple[int, int], int]:
        """How many steps each lane has ended."""
        return {lane: sum(self.ended(step) < math.inf for step in steps) for lane, steps in self.lanes.items()}

    def comes(self, rank: int, comm: Comm, number: int) -> float:
        """When the rank came to that call for certain: it may have been stopped on its way."""
        calls = self.counted.get((rank, comm), [])
        came = self.began(calls[number - 1]) if number <= len(calls) else math.inf
        for stop in self.stops:
            if stop.rank == rank and stop.begin <= came + SLACK_S and stop.end > came:
                came = stop.end + SLACK_S
        return came

    def is_stopped(self, rank: int, begin: float, end: float) -> bool:
        astray = self.program.astray
        by_itself = (
            astray is not None and astray.rank == rank and astray.word in ("astray-stopped", "astray-killed",
            "astray-exited") and self.began(astray) <= end
        )  # fmt: skip
        return by_itself or any(one.rank == rank and one.begin <= end and one.end >= begin for one in self.stops)

    def inside(self, rank: int, begin: float, end: float) -> list[Step]:
        """The steps with a call of the MPI that threads of the rank were in, at some time between."""
        return [
            step
            for step in self.program.steps
            if step.rank == rank and step.call and self.began(step) <= end and self.ended(step) >= begin
        ]


class Judge:
    """Finds what is untrue in lines."""

    def __init__(self, record: Record) -> None:
        self.record, self.program = record, record.program
        self.comms = {comm.name: comm for comm in self.program.comms}
        self.named: set[int] = set()  #: of all lines so far

    def mistake(self, at: float, text: str) -> str:
        """A line's mistake, in words; `at`: when it was read."""
        try:
            if match := _HEAD.search(text):
                return self._of_wait(at, match)
            if match := _SEEN.search(text):
                return self._of_look(at, match)
            if match := _STILL.search(text):
                return self._of_stopped(at, match["clauses"])
        except KeyError as error:
            return f"no communicator {error}"
        return "" if "hangs: (no look at it: " in text else "another line"

    def _of_look(self, at: float, match: re.Match[str]) -> str:
        """A look from outside says which ranks are elsewhere than the many in a collective call."""
        if match["call"] == "Init":
            return ""
        ranks = re.findall(r"rank (\d+) (is in (?:P?MPI_(\w+))?|has no process)", match["clauses"])
        self.named |= {int(rank) for rank, *_ in ranks}
        for rank, where, call in ranks:
            inside = self.record.inside(int(rank), at - READ_S, at)
            steady = [one for one in inside if self.record.began(one) < at - READ_S and self.record.ended(one) > at]
            if where.startswith("is in") and not (inside if call else not steady or any(map(polls, steady))):
                return f"rank {rank} is elsewhere"
        return ""

    def _of_stopped(self, at: float, clauses: str) -> str:
        ranks = {int(rank) for rank in re.findall(r"rank (\d+) is stopped", clauses)}
        self.named |= ranks
        wrong = {rank for rank in ranks if not self.record.is_stopped(rank, at - READ_S, at)}
        return f"ranks {wrong} are not stopped" if wrong else ""

    def _of_wait(self, at: float, head: re.Match[str]) -> str:
        waiter = int(head["waiter"])
        astray = self.program.astray
        if astray and astray.call and waiter == astray.rank:
            self.named.add(waiter)  # it waits for others, as they do for it
        least_s = self.record.timeout_s * 0.95 if head["seconds"] else 0.0
        if head["number"]:
            comm, number = self.comms[head["comm"]], int(head["number"])
            calls = self.record.counted.get((waiter, comm), [])
            if number > len(calls) or calls[number - 1].call != head["call"]:
                return f"rank {waiter} has no {head['call']} {number} of {comm.name}"
            mine = calls[number - 1]
            if not self.record.began(mine) <= at:
                return f"rank {waiter} has not come to {head['call']} {number} of {comm.name}"
            due = self.record.began(mine) + least_s
            wrong = self._at_meeting(head["clauses"], waiter, comm, number, due, at)
        else:
            wrong = self._at_message(head, waiter, at)
        return wrong

    def _at_meeting(self, clauses: str, waiter: int, comm: Comm, number: int, due: float, at: float) -> str:
        comes = {rank: self.record.comes(rank, comm, number) for rank in comm.members}
        absent: set[int] = set()
        for clause in clauses.split("; "):
            if match := _ABSENT.fullmatch(clause):
                ranks = numbers(match["ranks"])
                absent |= ranks
                if strangers := ranks - set(comm.members):
                    return f"ranks {strangers} do not belong to {comm.name}"
                latest = min(due, at - LOST_S)
                if came := {rank for rank in ranks if comes[rank] < latest and match["what"] == "not come"}:
                    return f"ranks {came} had come"
                if wrong := self._place(ranks, match["place"], at):
                    return wrong
            elif match := _OTHER.fullmatch(clause):
                absent |= numbers(match["ranks"])
                self.named |= numbers(match["beside"] or "")  # either may be the one that is wrong
                if wrong := self._other(match, comm, number, at):
                    return wrong
            elif _UNKNOWN.fullmatch(clause):
                absent |= set(comm.members)
            elif not _OPEN.fullmatch(clause):
                return f"not understood: {clause}"
        self.named |= absent
        missing = {rank for rank, came in comes.items() if came > at} - absent
        if any(self.record.is_stopped(rank, at - READ_S, at) for rank in absent | missing):
            missing = {rank for rank in missing if not self.record.inside(rank, at - READ_S, at)}
        missing = {rank for rank in missing if not self._finalized(rank, at)}
        return f"left out: {missing}" if missing else ""

    def _finalized(self, rank: int, at: float) -> bool:
        return any(step.word == "finalize" and self.record.ended(step) <= at for step in self.record.lanes[rank, 0])

    def _other(self, match: re.Match[str], comm: Comm, number: int, at: float) -> str:
        ranks = numbers(match["ranks"])
        calls = {rank: self.record.counted.get((rank, comm), [])[number - 1 : number] for rank in comm.members}
        forms = {
            rank: (
                made[0].call,
                made[0].numbers[5] if made[0].word == "meet" and KINDS[made[0].numbers[1]] in ROOTED else 0,
            )
            for rank, made in calls.items()
            if made and self.record.began(made[0]) <= at
        }
        if not ranks <= set(forms):
            return f"ranks {ranks - set(forms)} have not come"
        if {forms[rank][0] for rank in ranks} != {match["call"]}:
            return f"they called {forms}"
        usual = {rank for rank, form in forms.items() if form not in {forms[one] for one in ranks}}
        if match["usual"] and not any(forms[rank][0] == match["usual"] for rank in usual):
            return f"nobody called {match['usual']} otherwise"
        if match["usual"] and len(ranks) > len(usual):
            return f"ranks {ranks} are the most"
        return ""

    def _at_message(self, head: re.Match[str], waiter: int, at: float) -> str:
        record = self.record
        steps = [step for step in record.inside(waiter, at - READ_S, at) if step.call == head["call"]]
        if not steps and not (head["call"] in ("Recv", "Mprobe") and record.inside(waiter, at - READ_S, at)):
            return f"rank {waiter} is not in MPI_{head['call']}"
        for clause in head["clauses"].split("; "):
            match = _PLACED.fullmatch(clause)
            if not match:
                return f"not understood: {clause}"
            ranks = numbers(match["ranks"])
            self.named |= ranks
            if wrong := self._place(ranks, match["place"], at):
                return wrong
        if "a cycle: " in head["clauses"]:
            astray = self.program.astray
            if not astray or astray.call not in ("Recv", "Ssend"):
                return "there is no cycle"
        elif (head["peer"] or "").startswith("rank "):
            peers = {self._peer(step) for step in steps}
            if steps and int(head["peer"][5:]) not in peers:
                return f"its partner is of {peers}"
        return ""

    def _peer(self, step: Step) -> int:
        where = {"send": 1, "receive": 1, "swap": 2, "astray-receives": 1, "astray-sends": 1, "astray-probes": 1}
        return step.comm.members[step.numbers[where[step.word]]] if step.comm and step.word in where else -1

    def _place(self, ranks: set[int], place: str, at: float) -> str:
        for rank in ranks:
            if not self._is_at(rank, place, at):
                return f"rank {rank} is not there: {place}"
        return ""

    def _is_at(self, rank: int, place: str, at: float) -> bool:
        record, begin = self.record, at - READ_S
        after = _AFTER.search(place)
        if after:
            comm = self.comms[after["comm"]]
            calls = record.counted.get((rank, comm), [])[int(after["number"]) - 1 :][:1]
            if not calls or calls[0].call != after["call"] or not record.began(calls[0]) <= at:
                return False
        if place.startswith("past MPI_Finalize"):
            return self._finalized(rank, at)
        if place.startswith(("dead", "stopped")) and not record.is_stopped(rank, begin, at):
            return False
        inside = record.inside(rank, begin, at)
        if place.startswith("outside the MPI"):
            steady = [step for step in inside if record.began(step) < begin and record.ended(step) > at]
            return all(map(polls, steady))
        if match := _INSIDE.match(place):
            some = [step for step in inside if step.call == match["call"]]
            if match["call"] in ("Recv", "Mrecv", "Isend", "Irecv", "Comm_set_name") and inside:
                return True  # as a part of a step
            if match["number"]:
                comm = self.comms[match["comm"]]
                calls = record.counted.get((rank, comm), [])[int(match["number"]) - 1 :][:1]
                some = [step for step in some if step in calls]
            return bool(some)
        return place.startswith("dead")


def polls(step: Step) -> bool:
    """Whether it calls the MPI again and again, and is outside in between."""
    return step.call in ("Test", "Testall", "Testany", "Iprobe")


def numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def lines_of(text: str) -> Sequence[str]:
    """The sentences of a line: those of one hang are side by side."""
    return text.split(" | ")
