# SPDX-License-Identifier: Apache-2.0
"""Whether what is said of a random program that ran is true, and leaves nobody out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from random_programs import KINDS, ROOTED, Comm, Step
from random_record import Record

#: A line without a number of seconds is of a look that was taken so long before it is read, or later.
READ_S = 3.0
MOST_AT_ONCE, MOST_PERSISTENT = 16, 16  #: src/doors/pmpi/watch: requests of a call, persistent calls of a rank

_HEAD = re.compile(
    r"(?:(?P<comm>\S+|a communicator without a name) \((?P<size>\d+) ranks\), )?"
    r"(?:MPI_(?P<call>\w+)|the (?:persistent|begun) call)(?: (?P<number>\d+))?"
    r"(?: (?:to or from|from|to) (?P<peer>any rank|a rank elsewhere|rank \d+))?(?: \(tag \d+\))?(?: at .+?)?: "
    r"rank (?P<waiter>\d+) on \S+ (?:has waited (?P<seconds>[\d.]+) s|waits)(?P<how>.*?): (?P<clauses>.*)"
)
_RANKS = r"ranks? (?P<ranks>\d+(?:(?:, | and )\d+)*)(?: \(host [^()]*\))? "
_ABSENT = re.compile(
    _RANKS + r"ha(?:s|ve) (?P<what>not come|not started it|freed it, or not seen it made): "
    r"(?:it is|they are) (?P<place>.*)"
)
_OTHER = re.compile(
    _RANKS
    + r"called MPI_(?P<call>\w+).*?(?: where (?P<beside>rank \d+)?.*? called MPI_(?P<usual>\w+).*|, which do not meet)?"
)
_ALL_CAME = re.compile(r"all its ranks have come.*")
_LEFT = re.compile(r"ranks? (\d+(?:(?:, | and )\d+)*) \((?:outside the MPI|dead|stopped)")
_NEIGHBOURS = re.compile(r"cannot tell which of them are neighbours.*")
_NEEDS = re.compile(r"cannot tell which of them it needs")
_STARTED = re.compile(r"cannot tell whether " + _RANKS + "started it")
_UNKNOWN = re.compile(r"\d+ of its ranks ha(?:s|ve) freed it, or not seen it made: cannot tell which")
_NOT_YET = re.compile(
    r"(?:\d+ of its ranks|ranks? [\d, and-]+) "
    r"(?:(?:is|are) not watched on this host, or|ha(?:s|ve) told nothing meanwhile, or (?:is|are)) in MPI_Init still"
)
_PLACED = re.compile(r"(?:a cycle: |\d+ ranks wait for it: )?" + _RANKS + r"(?:is|are) (?P<place>.*)")
_SEEN = re.compile(r"(?P<clauses>rank \d+ (?:is in|has no) .*); \d+ of \d+ (?:is|are) in MPI_(?P<call>\w+)")
_STILL = re.compile(r"(?P<clauses>rank \d+ is stopped in .*); \d+ of \d+ are not stopped")
_INSIDE = re.compile(
    r"(?:stopped, )?(?:in|polling by) MPI_(?P<call>\w+)(?: (?P<number>\d+) of (?P<comm>[^,;]+?))?"
    r" ?(?:to or from|from|to|at|$)"
)
_AFTER = re.compile(r"after MPI_(?P<call>\w+) (?P<number>\d+) of (?P<comm>\S+)")
_START = re.compile(r", for start (?P<start>\d+) of it")
_AS_SAID = re.compile(r"tollbar: as said, now for (?P<seconds>[\d.]+) s: (?P<calls>.*)")
_NOBODY = "nobody is found missing"
_BESIDES = re.compile(r"tollbar: besides, ranks wait in .*")
_BRIEF = re.compile(r"(?P<about>.*?)(?:: ranks? [\d, and-]+)?")
_SECONDS = re.compile(r"(?<= has waited )[\d.]+(?= s)")


class Judge:
    """Finds what is untrue in lines."""

    def __init__(self, record: Record) -> None:
        self.record, self.program = record, record.program
        self.comms = {comm.name: comm for comm in self.program.comms}
        self.named: set[int] = set()  #: of all lines so far
        self.said: dict[str, str] = {}  #: the last line, by its head

    def mistake(self, at: float, text: str, since: float = 0) -> str:
        """A line's mistake, in words; `at`: when it was read. `since`: the look was taken then or later."""
        self.begin, self.at = since or at - READ_S, at
        try:
            if match := _AS_SAID.fullmatch(text):
                return self._said_again(at, match)
            if _BESIDES.fullmatch(text):
                return ""
            if match := _HEAD.search(text):
                self.said[text.removeprefix("tollbar: ").partition(" at ")[0]] = text
                return self._of_wait(match)
            if match := _SEEN.search(text):
                return self._of_look(match)
            if match := _STILL.search(text):
                return self._of_stopped(match["clauses"])
            if text == _NOBODY:
                moved = self.record.moves(self.begin - self.record.lost_s, self.at)
                return "" if moved else "nothing moves, and nobody is missing"
        except KeyError as error:
            return f"no communicator {error}"
        return "another line"

    def _said_again(self, at: float, match: re.Match[str]) -> str:
        """It says the same of each call, whole, of which the longest wait has lasted so long."""
        calls = match["calls"].split("; ")
        for call in calls:
            about = _BRIEF.fullmatch(call)["about"]
            if about not in self.said and not call.startswith("and "):
                return f"{about} was not said"
            text = self.said.get(about, "")
            text = _SECONDS.sub(match["seconds"], text) if len(calls) == 1 else text
            if text and (wrong := self.mistake(at, text)):
                return wrong
        return ""

    def _of_look(self, match: re.Match[str]) -> str:
        """A look from outside says which ranks are elsewhere than the many in a collective call."""
        if match["call"] == "Init":
            return ""
        ranks = re.findall(r"rank (\d+) (is in (?:P?MPI_(\w+))?|has no process)", match["clauses"])
        self.named |= {int(rank) for rank, *_ in ranks}
        for rank, where, call in ranks:
            if where.startswith("is in") and not (self._inside(int(rank)) if call else self._may_be_outside(int(rank))):
                return f"rank {rank} is elsewhere"
        return ""

    def _of_stopped(self, clauses: str) -> str:
        ranks = {int(rank) for rank in re.findall(r"rank (\d+) is stopped", clauses)}
        self.named |= ranks
        wrong = {rank for rank in ranks if not self._is_stopped(rank)}
        return f"ranks {wrong} are not stopped" if wrong else ""

    def _of_late_ranks(self, comm: Comm, text: str) -> str:
        """One is in MPI_Init still: all of the job are on this host."""
        all_here = all(self.record.came(rank) < self.begin - self.record.lost_s for rank in comm.members)
        return f"all have left MPI_Init: {text}" if all_here else ""

    def _of_wait(self, head: re.Match[str]) -> str:
        waiter = int(head["waiter"])
        astray = self.program.astray
        if astray and astray.call and waiter == astray.rank:
            self.named.add(waiter)  # it waits for others, as they do for it
        if not head["number"]:
            return self._at_message(head, waiter)
        comm, number = self.comms[head["comm"]], int(head["number"])
        mine = self.record.numbered(waiter, comm, number)
        if mine is None or head["call"] not in (None, mine.call):
            return f"rank {waiter} has no {head['call']} {number} of {comm.name}"
        if self.record.began(mine) > self.at:
            return f"rank {waiter} has not come to {head['call']} {number} of {comm.name}"
        self._looked_after(mine, head)
        start = _START.search(head["how"])
        if start is None:
            return self._at_meeting(head, comm, number, mine)
        starts = {rank: self._start_of(rank, comm, number, int(start["start"])) for rank in comm.members}
        return self._absence(head["clauses"], comm, number, starts, mine)

    def _looked_after(self, step: Step, head: re.Match[str]) -> None:
        """The look was taken when the step had lasted as long as the line says, to a tenth of a second, or later."""
        if head["seconds"]:
            self.begin = min(self.at, self.record.began(step) + float(head["seconds"]) - 0.06)

    def _start_of(self, rank: int, comm: Comm, number: int, start: int) -> Step | None:
        made = self.record.numbered(rank, comm, number)
        starts = self.record.starts.get((rank, made.numbers[3]), []) if made else []
        return starts[start - 1] if 0 < start <= len(starts) else None

    def _at_meeting(self, head: re.Match[str], comm: Comm, number: int, mine: Step) -> str:
        calls = {rank: self.record.numbered(rank, comm, number) for rank in comm.members}
        if "perhaps" in head["how"]:
            inside = self._inside(mine.rank)
            sure = [step for step in inside if step.word == "wait" and self._is_for_one(step, mine)]
            if sure and len(inside) == 1:
                return f"rank {mine.rank} waits for this call for certain"
        return self._absence(head["clauses"], comm, number, calls, mine)

    def _is_for_one(self, wait: Step, call: Step) -> bool:
        """Whether the requests of that wait are all of that call, and it is known."""
        polls_several = polls(wait) and wait.call != "Test"
        return set(wait.waits_for) == {call} and not polls_several

    def _absence(self, text: str, comm: Comm, number: int, calls: dict[int, Step | None], mine: Step) -> str:
        """The mistake in what is said of ranks that are not in the same call of a communicator."""
        absent: set[int] = set()
        made = self.record.numbered(mine.rank, comm, number) or mine
        for clause in text.split("; "):
            if match := _ABSENT.fullmatch(clause):
                ranks = numbers(match["ranks"])
                absent |= ranks
                if strangers := ranks - set(comm.members):
                    return f"ranks {strangers} do not belong to {comm.name}"
                if match["what"].startswith("not"):
                    if came := {rank for rank in ranks if self.record.had_come(calls[rank], self.begin)}:
                        return f"ranks {came} had come"
                elif has := {rank for rank in ranks if not self._is_elsewhere(rank, comm)}:
                    return f"ranks {has} have {comm.name}"
                if wrong := self._place(ranks, match["place"]):
                    return wrong
            elif match := _OTHER.fullmatch(clause):
                absent |= numbers(match["ranks"])
                self.named |= numbers(match["beside"] or "")  # either may be the one that is wrong
                if wrong := self._other(match, comm, number):
                    return wrong
            elif match := _STARTED.fullmatch(clause):
                absent |= numbers(match["ranks"])
                most = max(len([key for key in self.record.starts if key[0] == rank]) for rank in absent)
                if most < MOST_PERSISTENT:
                    return f"it can be told: {clause}"
            elif _UNKNOWN.fullmatch(clause):
                absent |= set(comm.members)
                if not any(self._is_elsewhere(rank, comm) for rank in comm.members):
                    return f"it can be told: {clause}"
            elif _NOT_YET.fullmatch(clause):
                absent |= set(comm.members)
                if wrong := self._of_late_ranks(comm, clause):
                    return wrong
            elif _NEIGHBOURS.fullmatch(clause):
                if "eighbor" not in made.call:
                    return f"it can be told: {clause}"
            elif _ALL_CAME.fullmatch(clause):
                self.named |= {rank for ranks in _LEFT.findall(clause) for rank in numbers(ranks)}
            elif not _NEEDS.fullmatch(clause):
                return f"not understood: {clause}"
        self.named |= absent
        begun = {rank: self.record.began(call) if call else math.inf for rank, call in calls.items()}
        missing = {rank for rank, began in begun.items() if began > self.at} - absent
        if any(map(self._is_stopped, absent | missing)):
            missing = {rank for rank in missing if not self._inside(rank)}
        missing = {rank for rank in missing if not self.record.has_finalized(rank, self.at)}
        return f"left out: {missing}" if missing else ""

    def _is_elsewhere(self, rank: int, comm: Comm) -> bool:
        return self.record.is_elsewhere(rank, comm, self.begin, self.at)

    def _other(self, match: re.Match[str], comm: Comm, number: int) -> str:
        ranks = numbers(match["ranks"])
        calls = {rank: self.record.numbered(rank, comm, number) for rank in comm.members}
        forms = {
            rank: (made.call, made.numbers[5] if made.word == "meet" and KINDS[made.numbers[1]] in ROOTED else 0)
            for rank, made in calls.items()
            if made and self.record.began(made) <= self.at
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

    def _at_message(self, head: re.Match[str], waiter: int) -> str:
        seconds = float(head["seconds"] or 0)
        steps = [
            step
            for step in self.record.inside(waiter, 0, self.at)
            if head["call"] in step.calls and self.record.ended(step) >= self.record.began(step) + seconds - 0.06
        ]
        steps = steps if seconds else [step for step in steps if step in self._inside(waiter)]
        if not steps:
            return f"rank {waiter} is not in MPI_{head['call']}"
        self._looked_after(min(steps, key=self.record.began), head)
        for clause in head["clauses"].split("; "):
            match = _PLACED.fullmatch(clause)
            if not match:
                return f"not understood: {clause}"
            ranks = numbers(match["ranks"])
            self.named |= ranks
            if wrong := self._place(ranks, match["place"]):
                return wrong
        if "a cycle: " in head["clauses"]:
            astray = self.program.astray
            return "" if astray and astray.call in ("Recv", "Ssend", "Wait") else "there is no cycle"
        partners = {rank for step in steps for rank in step.partners}
        if (head["peer"] or "").startswith("rank ") and int(head["peer"][5:]) not in partners:
            return f"its partner is of {partners}"
        if not head["peer"] and len(steps) == 1 and self._must_name_its_partner(steps[0]):
            return f"its partner, {partners}, is not named"
        return ""

    def _must_name_its_partner(self, step: Step) -> bool:
        """Whether it waits for messages that all come from one rank."""
        known = all(one.word == "receive" or one.word.startswith("astray") for one in step.waits_for or [step])
        several = step.word == "wait" and (len(step.waits_for) > MOST_AT_ONCE or (polls(step) and step.call != "Test"))
        return step.word in ("wait", "astray-awaits") and len(step.partners) == 1 and known and not several

    def _place(self, ranks: set[int], place: str) -> str:
        for rank in ranks:
            if not self._is_at(rank, place):
                return f"rank {rank} is not there: {place}"
        return ""

    def _is_at(self, rank: int, place: str) -> bool:
        record = self.record
        if after := _AFTER.search(place):
            call = record.numbered(rank, self.comms[after["comm"]], int(after["number"]))
            if call is None or call.call != after["call"] or not record.began(call) <= self.at:
                return False
        if place.startswith("past MPI_Finalize"):
            return record.has_finalized(rank, self.at)
        if place.startswith(("dead", "stopped")) and not self._is_stopped(rank):
            return False
        if place.startswith("outside the MPI"):
            return self._may_be_outside(rank)
        if match := _INSIDE.match(place):
            # A step calls others besides, such as MPI_Comm_set_name.
            parts = ("Recv", "Mrecv", "Isend", "Irecv", "Comm_set_name")
            some = [step for step in self._inside(rank) if match["call"] in {*step.calls, *parts}]
            if match["number"]:
                call = record.numbered(rank, self.comms[match["comm"]], int(match["number"]))
                some = [step for step in some if step is call]
            return bool(some)
        return place.startswith("dead")

    def _is_stopped(self, rank: int) -> bool:
        return self.record.is_stopped(rank, self.begin, self.at)

    def _inside(self, rank: int) -> list[Step]:
        return self.record.inside(rank, self.begin, self.at)

    def _may_be_outside(self, rank: int) -> bool:
        """Whether no thread of it was in a call for certain all the while."""
        record = self.record
        all_the_while = (
            step for step in self._inside(rank) if record.had_come(step, self.begin) and record.ended(step) > self.at
        )
        return all(map(polls, all_the_while))


def polls(step: Step) -> bool:
    """Whether it calls the MPI again and again, and is outside in between."""
    return step.call in ("Test", "Testall", "Testany", "Iprobe")


def numbers(text: str) -> set[int]:
    """The numbers in "0-2, 5 and 7"."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return {number for first, last in ranges for number in range(int(first), int(last or first) + 1)}


def lines_of(text: str) -> Sequence[str]:
    """The sentences of a line: those of one hang are side by side."""
    return text.split(" | ")
