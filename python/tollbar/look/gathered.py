# SPDX-License-Identifier: Apache-2.0
"""Lines on stderr that only the ranks of a run can seal, and the conclusion from what all its hosts tell by them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tollbar import _native

#: The end of a line that told.cpp makes.
_SEAL = re.compile(rb" ([0-9a-f]{16})\]\s*$")
#: A launcher's tag of a line, where it is asked to put one: "[1,0]<stderr>:", "[0] ".
_TAG = re.compile(rb"(?:\w{3} \w{3} +\d+ [\d:.]+ \d{4})?\[[^\]]*\](?:<\w+>)?:? ?")
#: The beginning of a line with rows, and the rest of one that was torn apart.
_FOR_US = re.compile(rb"tollbar: [^\[\]]*\[~rows ")
_REST = re.compile(rb"[0-9a-f -]* [0-9a-f]{16}\]\s*")
ACCOUNT = "account"
_MOST_HOSTS, _MOST_RANKS = 10_000, 1_000_000  #: more than that is no report
_OTHERS_S = 2.0  #: at most, for which the rows of other hosts are awaited
_MOST_LINES = 3  #: for people, at a time
_MOST_CALLS = 8  #: in a line
_OTHER_VERSION = "ranks tell what another version of tollbar has to read"
_MOST_KEPT = 1000  #: of what has been said


@dataclass(frozen=True)
class SealedLine:
    """A line of tollbar's, and what its sealed end says."""

    text: str
    facts: str

    @property
    def is_report(self) -> bool:
        """Whether it says who is missing; else it is for us alone."""
        return self.facts.startswith("missing ")


def for_people(line: bytes, is_sealed: bool) -> bytes:
    """The part of a line that is shown: all of a program's, of one behind which a sealed one came what is before that,
    without an end or a launcher's tag, and nothing of lines for us alone that a launcher has torn apart."""
    text = line[: line.rfind(b"tollbar: ")] if is_sealed else line
    torn = _FOR_US.search(text)
    text = text[: torn.start()] if torn else text
    return b"" if (_TAG.fullmatch(text) and (is_sealed or torn)) or _REST.fullmatch(line) else text


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

    @classmethod
    def read(cls, value: str) -> Secret | None:
        """The secret with that value; None of none."""
        match = re.fullmatch(r"([0-9a-f]{16})([0-9a-f]{16})(a?)", value)
        return cls(bool(match[3]), (int(match[1], 16), int(match[2], 16))) if match else None

    def sealed(self, text: str, facts: str) -> str:
        """The line that unseal() reads, as a rank would make it."""
        content = f"{text} [~{facts}"
        return f"tollbar: {content} {_native.siphash(self.key, content.encode()):016x}]"

    def unseal(self, line: bytes) -> SealedLine | None:
        """The content of a line that a rank of this run has made; None of any other."""
        seal = _SEAL.search(line, max(0, len(line) - 20))  # no more of a line is tried, however long it is
        begin = line.rfind(b"tollbar: ")
        if not seal or begin < 0:
            return None
        sealed = line[begin + len(b"tollbar: ") : seal.start()]
        text, mark, facts = sealed.rpartition(b" [~")
        if not mark or int(seal[1], 16) != _native.siphash(self.key, sealed):
            return None
        return SealedLine(text.decode(errors="replace"), facts.decode(errors="replace"))


@dataclass
class _Host:
    """The newest rows of a host."""

    rows: _native.Rows
    clock: float
    is_news: bool = True  #: nothing has been concluded since


@dataclass
class _Parts:
    """Rows of a host that are on their way."""

    turn: str
    of: int
    texts: dict[int, str] = field(default_factory=dict)
    size: int = 0


@dataclass
class Hosts:
    """The newest rows of each host. Some time after the first of them, so that the others' are there, who is missing
    is concluded from all; at once from those of a job that is on one host."""

    timeout_s: float
    refused: set[str] = field(default_factory=set)  #: what cannot be concluded from, and why: said once each
    _rows: dict[str, _Host] = field(default_factory=dict)  #: by the lowest rank of the host
    _ranks: int = 0  #: of all of these
    _parts: dict[str, _Parts] = field(default_factory=dict)
    _said: dict[str, float] = field(default_factory=dict)  #: when, by wait
    _due: float | None = None

    def add(self, line: SealedLine, clock: float) -> str | None:
        """Takes what a host tells; gives what is to be said of rows that cannot be read, once a reason."""
        try:
            kind, version, first, turn, part, parts, text = line.facts.split(" ", 6)
            is_known = kind == "rows" and int(version) == _native.ROWS_VERSION
            number, of = int(part), int(parts)
        except ValueError:
            is_known = False
        if not is_known:
            return self.refuse()
        at = self._parts.get(first)
        if at is None or at.turn != turn:
            at = self._parts[first] = _Parts(turn, of)
        at.texts[number] = text
        at.size += len(text)
        if len(at.texts) < at.of and at.size <= _native.MOST_BYTES_OF_ROWS and len(self._parts) <= _MOST_HOSTS:
            return None
        del self._parts[first]
        try:
            rows = _native.Rows("".join(at.texts[number] for number in range(at.of)))
        except (ValueError, KeyError):
            return self.refuse("what ranks of a host tell cannot be read")
        before = self._rows[first].rows.ranks if first in self._rows else 0
        if len(self._rows) - bool(before) >= _MOST_HOSTS or self._ranks - before + rows.ranks > _MOST_RANKS:
            return self.refuse(f"more than {_MOST_HOSTS} hosts or {_MOST_RANKS} ranks tell of themselves")
        self._rows[first] = _Host(rows, clock)
        self._ranks += rows.ranks - before
        due = clock if rows.is_whole_job else clock + min(self.timeout_s / 2, _OTHERS_S)
        self._due = due if self._due is None else min(self._due, due)
        return None

    def missing(self, clock: float, is_over: bool = False) -> list[_native.Missing]:
        """The conclusions that are due, about each wait once a time-out; where the job is over, at once."""
        if self._due is None or (clock < self._due and not is_over):
            return []
        self._due = None
        oldest = clock - 1.5 * self.timeout_s - _OTHERS_S
        self._rows = {first: host for first, host in self._rows.items() if host.clock > oldest}
        self._ranks = sum(host.rows.ranks for host in self._rows.values())
        self._said = {wait: at for wait, at in self._said.items() if at > clock - 0.5 * self.timeout_s}
        hosts = [(host.rows, clock - host.clock, host.is_news) for host in self._rows.values()]
        new = [one for one in _native.conclude(hosts) if one.wait not in self._said]
        self._said |= dict.fromkeys((one.wait for one in new), clock)
        for host in self._rows.values():
            host.is_news = False
        return new

    def refuse(self, why: str = _OTHER_VERSION) -> str | None:
        """Gives the reason, the first time."""
        if why in self.refused:
            return None
        self.refused.add(why)
        return why


@dataclass
class Spoken:
    """Conclusions as people read them: three lines at most at a time. All that has been said before, and has not
    changed, is one short line; a wait that finds no line is named, and said at another time."""

    _before: dict[str, str] = field(default_factory=dict)  #: by wait: the sentence without its seconds

    def lines(self, conclusions: Sequence[_native.Missing]) -> list[str]:
        lasting = {one.wait: one.text.replace(f" has waited {one.waited_s:.1f} s", "", 1) for one in conclusions}
        again = [one for one in conclusions if self._before.get(one.wait) == lasting[one.wait]]
        new = [one for one in conclusions if one not in again]
        room = _MOST_LINES - bool(again)
        shown = new if len(new) <= room else new[: room - 1]
        rest = new[len(shown) :]
        kept = {wait: text for wait, text in self._before.items() if wait not in lasting}
        kept |= {one.wait: lasting[one.wait] for one in (*again, *shown)}
        self._before = dict(list(kept.items())[-_MOST_KEPT:])
        lines = [one.text for one in shown]
        if rest:
            lines.append(f"besides, ranks wait in {_brief(rest)}")
        if again:
            lines.append(f"as said, now for {max(one.waited_s for one in again):.1f} s: {_brief(again)}")
        return lines


def _brief(calls: Sequence[_native.Missing]) -> str:
    more = f"; and {len(calls) - _MOST_CALLS} more" if len(calls) > _MOST_CALLS else ""
    return "; ".join(map(_call, calls[:_MOST_CALLS])) + more


def _call(one: _native.Missing) -> str:
    ranks = "rank" if len(one.named) == 1 else "ranks"
    return f"{one.about}: {ranks} {_native.listed(one.named)}" if one.named else one.about
