# SPDX-License-Identifier: Apache-2.0
"""Lines on stderr that only the ranks of a run can seal, by which they tell it, and one sentence of several hosts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from tollbar import _native

#: The end of a line that told.cpp makes.
_SEAL = re.compile(rb" ([0-9a-f]{16})\]\s*$")
_HEAD = re.compile(r"(?P<name>.+?) \((?P<size>\d+) ranks\), (?P<call>MPI_\w+)")
_MISSING = re.compile(r"ranks? (?P<ranks>[\d, and]+?)(?: \((?P<where>[^()]*)\))? ha(?:s|ve) not come(?P<doing>.*)")
_STILL = re.compile(r"rank (?P<rank>\d+) \((?P<where>[^()]*)\) is (?P<doing>.*)")
ACCOUNT = "account"
_MOST = 1000  #: of hosts and of ranks that stand still, and of calls: more than that is no report


@dataclass(frozen=True)
class Line:
    """A line of tollbar's, and what its sealed end says."""

    text: str
    facts: str

    @property
    def shown(self) -> bool:
        """Whether it is for people too."""
        return not self.facts.startswith((ACCOUNT, "still"))

    @property
    def comm(self) -> str:
        """The communicator of a collective call; empty where it is about something else."""
        return self.facts.split()[1] if self.facts.startswith("at ") else ""


def _drawn() -> tuple[int, int]:
    return secrets.randbits(64), secrets.randbits(64)


@dataclass(frozen=True)
class Secret:
    """A run's secret, which its ranks get by their environment."""

    accounts: bool  #: are wanted of them at their end
    key: tuple[int, int] = field(default_factory=_drawn)

    VARIABLE: ClassVar[str] = "_TOLLBAR_RUN"

    @property
    def value(self) -> str:
        high, low = self.key
        return f"{high:016x}{low:016x}{'a' if self.accounts else ''}"

    def unseal(self, line: bytes) -> Line | None:
        """The content of a line that a rank of this run has made; None of any other."""
        seal = _SEAL.search(line, max(0, len(line) - 20))  # no more of a line is tried, however long it is
        begin = line.rfind(b"tollbar: ")
        if not seal or begin < 0:
            return None
        sealed = line[begin + len(b"tollbar: ") : seal.start()]
        text, mark, facts = sealed.rpartition(b" [~")
        if not mark or int(seal[1], 16) != _native.siphash(self.key, sealed):
            return None
        return Line(text.decode(errors="replace"), facts.decode(errors="replace"))


@dataclass(frozen=True)
class _Host:
    """The newest line of a host about its ranks at a collective call."""

    clock: float
    number: int
    came: int
    present: int
    text: str


@dataclass
class Hosts:
    """The newest lines of each host. A call that ranks of several hosts make is one sentence a time-out, some time
    after the first of its lines, so that the others' are there."""

    timeout_s: float
    _calls: dict[str, dict[str, _Host]] = field(default_factory=dict)
    _still: dict[int, tuple[float, str, Mapping[str, int]]] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)

    def add(self, line: Line, clock: float) -> None:
        """Takes what a host tells."""
        kind, *facts = line.facts.split() or [""]  # a line of a thread has none
        if kind == "still" and (match := _STILL.match(line.text)) and len(self._still) < _MOST:
            counts = {name: int(count) for name, _, count in (fact.partition(":") for fact in facts)}
            self._still[int(match["rank"])] = clock, f"{match['where']}, {_brief(match['doing'])}", counts
        if kind != "at":
            return
        name, number, came, present, host = facts
        at = self._calls.setdefault(name, {})
        if len(at) < _MOST:
            at[host] = _Host(clock, int(number), int(came), int(present), line.text)
        if self._is_of_several(at):
            self._due.setdefault(name, clock + min(self.timeout_s / 2, 2.0))

    def sentences(self, clock: float) -> list[str]:
        """The sentences that are due now."""
        due = [name for name, at in self._due.items() if at <= clock]
        for name in due:
            del self._due[name]
        self._forget(clock - 1.5 * self.timeout_s - 2.0)
        return [sentence for name in due if (sentence := self.sentence(name))]

    def sentence(self, name: str) -> str:
        """The sentence on who waits and who is missing in the call of that communicator; empty if nobody is missing."""
        hosts = self._calls.get(name, {})
        if not hosts or not self._is_of_several(hosts):
            return ""
        number = min(host.number for host in hosts.values())
        behind = [host for host in hosts.values() if host.number == number]
        head = _HEAD.match(behind[0].text)
        if not head:
            return ""
        apart = {rank: state for rank, state in self._still.items() if name in state[2]}
        still = {rank: doing for rank, (_, doing, counts) in apart.items() if counts[name] < number}
        came = sum(host.came if host.number == number else host.present for host in hosts.values())
        came += len(apart) - len(still)
        there = sum(host.present for host in hosts.values()) + len(apart)
        clauses = [
            clause for host in behind for clause in host.text.partition("waited ")[2].split(": ", 1)[1].split("; ")
        ]
        missing = _missing(clauses)
        silent = int(head["size"]) - there
        names = [f"{rank} ({doing})" if doing else str(rank) for rank, doing in sorted({**still, **missing}.items())]
        names += [f"{silent} on hosts that say nothing"] if silent > 0 else []
        odd = [clause for clause in clauses if " called " in clause]
        parts = ([f"missing: {', '.join(names)}"] if names else []) + odd
        said = f"{came} of {head['size']} wait in {head['call']} number {number} of {head['name']}"
        return "; ".join([said, *parts]) if parts else ""

    def _forget(self, oldest: float) -> None:
        self._still = {rank: state for rank, state in self._still.items() if state[0] > oldest}
        for name, at in list(self._calls.items()):
            self._calls[name] = {host: line for host, line in at.items() if line.clock > oldest}
            if not self._calls[name]:
                del self._calls[name]

    @staticmethod
    def _is_of_several(hosts: Mapping[str, _Host]) -> bool:
        heads = (_HEAD.match(host.text) for host in hosts.values())
        sizes = [int(head["size"]) for head in heads if head]
        return len(hosts) > 1 or any(host.present < size for host, size in zip(hosts.values(), sizes, strict=False))


def _missing(clauses: Iterable[str]) -> dict[int, str]:
    missing = {}
    for clause in clauses:
        if named := _MISSING.match(clause):
            where = f"{named['where']}, {_brief(named['doing'].rpartition(': it is ')[2])}" if named["where"] else ""
            missing.update(dict.fromkeys(map(int, re.findall(r"\d+", named["ranks"])), where))
    return missing


def _brief(doing: str) -> str:
    """Without the last call."""
    return doing.partition(", after ")[0].partition(", before any ")[0]
