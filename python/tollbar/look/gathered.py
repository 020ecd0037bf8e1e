# SPDX-License-Identifier: Apache-2.0
"""Lines on stderr that only the ranks of a run can seal, by which they tell it, and one sentence of several hosts."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tollbar import _native

#: The end of a line that told.cpp makes.
_SEAL = re.compile(rb" ([0-9a-f]{16})\]\s*$")
_HEAD = re.compile(r"(?P<name>.+?) \((?P<size>\d+) ranks\), (?P<call>MPI_\w+)")
_WAITED = re.compile(r" has waited (?P<seconds>[\d.]+) s.*?: (?P<clauses>.*)")
_STOPPED = re.compile(r"(^|, )(stopped|dead)(,|$)")
ACCOUNT = "account"
STANDING = "ranks"
_MOST_HOSTS, _MOST_RANKS = 1000, 100_000  #: more than that is no report


@dataclass(frozen=True)
class Line:
    """A line of tollbar's, and what its sealed end says."""

    text: str
    facts: str

    @property
    def shown(self) -> bool:
        """Whether it is for people too."""
        return not self.facts.startswith((ACCOUNT, STANDING))

    @property
    def call(self) -> tuple[str, str, int]:
        """The communicator of a collective call, the host by its first rank, and the number of the call; empty and 0
        where it is about something else."""
        kind, *facts = self.facts.split() or [""]  # a line of a thread has none
        return (facts[0], facts[2], int(facts[1])) if kind == "at" else ("", "", 0)

    @property
    def wait(self) -> str:
        """One wait has it in all its lines, whoever tells them, and no other wait has it; empty where nothing does."""
        return self.facts if self.facts.startswith(("at ", "in ")) else ""


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
    since: float  #: the rank that speaks has waited
    text: str
    clauses: str


@dataclass(frozen=True)
class _Standing:
    """The newest line of a host about one of its ranks: where it is, and its newest collective call by communicator."""

    clock: float
    doing: str
    calls: Mapping[str, tuple[int, str]]  #: the number and the fact_of() of conclusion.cpp


@dataclass
class Hosts:
    """The newest lines of each host. A call that ranks of several hosts make is one sentence a time-out, some time
    after the first of its lines, so that the others' are there."""

    timeout_s: float
    _calls: dict[str, dict[str, _Host]] = field(default_factory=dict)
    _ranks: dict[int, _Standing] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)

    def add(self, line: Line, clock: float) -> None:
        """Takes what a host tells."""
        if line.facts.startswith(STANDING):
            _, ranks, *newest = line.facts.split()
            calls = {name: (int(count), call) for name, count, call in (one.split(":") for one in newest)}
            standing = _Standing(clock, _brief(line.text), calls)
            for rank in map(int, ranks.split(",")):
                if rank in self._ranks or len(self._ranks) < _MOST_RANKS:
                    self._ranks[rank] = standing
        name, host, number = line.call
        if name and (match := _WAITED.search(line.text)):
            at = self._calls.setdefault(name, {})
            if host in at or len(at) < _MOST_HOSTS:
                since = clock - float(match["seconds"])
                at[host] = _Host(clock, number, since, line.text, match["clauses"])
            self._due.setdefault(name, clock + min(self.timeout_s / 2, 2.0))

    def sentences(self, clock: float) -> list[str]:
        """The sentences that are due now."""
        due = [name for name, at in self._due.items() if at <= clock]
        for name in due:
            del self._due[name]
        self._forget(clock - 1.5 * self.timeout_s - 2.0)
        return [sentence for name in due if (sentence := self.sentence(name))]

    def sentence(self, name: str) -> str:
        """The sentence on who waits and who is missing in the call of that communicator; empty if nobody is missing, or
        if all its ranks are on one host. A rank is believed to be where it was said to be while the others waited."""
        hosts = self._calls.get(name, {}).values()
        number = min((host.number for host in hosts), default=0)
        behind = [host for host in hosts if host.number == number]
        since = min((host.since for host in behind), default=0.0)
        ranks = {rank: one for rank, one in self._ranks.items() if name in one.calls and one.clock >= since}
        head = _HEAD.match(behind[0].text) if ranks and behind else None
        if not head:
            return ""
        missing: dict[str, list[int]] = {}
        came: dict[str, list[int]] = {}
        for rank, standing in sorted(ranks.items()):
            count, call = standing.calls[name]
            if count < number:
                missing.setdefault(standing.doing, []).append(rank)
            elif count == number:
                came.setdefault(call, []).append(rank)
        came = _joined(came)
        names = [f"{_native.listed(there)} ({doing})" for doing, there in missing.items() if _at_fault(doing, missing)]
        silent = int(head["size"]) - len(ranks)
        late = ", or in MPI_Init still" if head["name"] == "MPI_COMM_WORLD" else ""
        names += [f"{silent} on hosts that say nothing{late}"] if silent > 0 else []
        usual = _usual(came)
        odd = [
            f"{_named(there, self._ranks)} called {_described(call, usual)} where {len(came[usual])} "
            f"{'rank' if len(came[usual]) == 1 else 'ranks'} called {_described(usual, call)}"
            for call, there in came.items()
            if call != usual
        ] or [clause for host in behind for clause in host.clauses.split("; ") if " called " in clause]
        parts = ([f"missing: {', '.join(names)}"] if names else []) + odd
        wait = len(ranks) - sum(map(len, missing.values()))
        call = usual.partition(",")[0] or head["call"]
        said = f"{wait} of {head['size']} wait in {call} number {number} of {head['name']}"
        return "; ".join([said, *parts]) if parts else ""

    def _forget(self, oldest: float) -> None:
        self._ranks = {rank: standing for rank, standing in self._ranks.items() if standing.clock > oldest}
        for name, at in list(self._calls.items()):
            self._calls[name] = {host: line for host, line in at.items() if line.clock > oldest}
            if not self._calls[name]:
                del self._calls[name]


def _named(ranks: Sequence[int], standings: Mapping[int, _Standing]) -> str:
    """ "rank 3 (host a, process 4711, in MPI_Barrier 4 of ...)", "ranks 3 and 5"."""
    return f"ranks {_native.listed(ranks)}" if len(ranks) > 1 else f"rank {ranks[0]} ({standings[ranks[0]].doing})"


def _joined(came: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Calls of which the bytes are not known with those that fit: most of their kind."""
    joined = {call: list(ranks) for call, ranks in came.items()}
    for call in [call for call in joined if call.endswith(",")]:
        fit = [other for other in joined if other != call and other.rpartition(",")[0] == call[:-1]]
        if fit:
            joined[max(fit, key=lambda other: len(joined[other]))] += joined.pop(call)
    return joined


def _usual(came: Mapping[str, Sequence[int]]) -> str:
    """The call that most of them came to; of several, the lowest rank's."""
    by_name = Counter(call.partition(",")[0] for call, ranks in came.items() for _ in ranks)
    return max(came, key=lambda call: (by_name[call.partition(",")[0]], len(came[call])), default="")


def _described(call: str, other: str) -> str:
    """A call with what of it differs from the other; of another call, with its root."""
    (name, *parts), (its, *others) = call.replace(".", " ").split(","), other.replace(".", " ").split(",")
    pairs = zip(parts, others, strict=False) if name == its else [(parts[0], "")]
    shown = ", ".join(part for part, other in pairs if part != other)
    return f"{name} ({shown})" if shown else name


def _at_fault(doing: str, missing: Iterable[str]) -> bool:
    """Whether ranks doing that are named: where some are stopped or dead, others in calls may be waiting for these."""
    is_stopped, outside = _STOPPED.search(doing), "outside the MPI, " in doing
    return bool(is_stopped or outside or not any(map(_STOPPED.search, missing)))


def _brief(doing: str) -> str:
    """Without the last call."""
    return doing.partition(", after ")[0].partition(", before any ")[0]
