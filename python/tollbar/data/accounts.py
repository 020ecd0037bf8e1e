# SPDX-License-Identifier: Apache-2.0
"""How long the ranks of a job have waited for whom: the lines that they give at their end, and sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

#: In place of a rank that was late, as account.hpp has it.
ELSEWHERE, UNKNOWN = -1, -2
_NAMES = {ELSEWHERE: "a rank of another host", UNKNOWN: "unknown"}


Place = tuple[str, str, str]  #: a call, its communicator and where it was called
File = tuple[str, int]  #: the build id and the inode of that place's file, where they are known; else empty and 0


@dataclass(frozen=True)
class WaitSpan:
    """A rank has waited at a call from a time until another, in seconds since the first rank began."""

    by: int
    late: int
    place: Place
    number: int
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Sum:
    """All waits of all ranks for a late one, at one call of one communicator in one place."""

    place: Place
    late: int
    by: tuple[int, ...]
    waits: int
    waited_s: float
    longest_s: float | None  #: where it is among the longest of its rank


@dataclass(frozen=True)
class Account:
    """The account of a job that has ended."""

    ranks: dict[int, str]  #: their hosts
    lasted_s: float
    sums: Sequence[Sum]  #: the most waited first
    longest: Sequence[WaitSpan]
    files: Mapping[str, File] = field(default_factory=dict)  #: by the places that are in them

    def with_names(self, names: Mapping[str, str]) -> Account:
        """The same with places by these names."""

        def named(place: Place) -> Place:
            return (place[0], place[1], names.get(place[2], place[2]))

        sums = [replace(total, place=named(total.place)) for total in self.sums]
        return replace(self, sums=sums, longest=[replace(wait, place=named(wait.place)) for wait in self.longest])

    @property
    def waited_s(self) -> float:
        """The waits of all ranks together."""
        return sum(total.waited_s for total in self.sums)

    def late(self) -> dict[int, float]:
        """For whom others have waited, and how long together, the worst first."""
        by_late: dict[int, float] = {}
        for total in self.sums:
            by_late[total.late] = by_late.get(total.late, 0.0) + total.waited_s
        return dict(sorted(by_late.items(), key=lambda item: -item[1]))


def name_of(late: int) -> str:
    return _NAMES.get(late, f"rank {late}")


def read(lines: Iterable[str]) -> Account | None:
    """The account that these lines give, as account.hpp has them; None where no rank has given one."""
    records: dict[str, list[list[str]]] = {"rank": [], "sum": [], "wait": []}
    for kind, *fields in (line.split("\t") for line in lines):
        records[kind].append(fields)
    of_ranks = {int(rank): (host, float(began), float(ended)) for rank, host, began, ended in records["rank"]}
    if not of_ranks:
        return None
    began = min(span[1] for span in of_ranks.values())
    longest = [
        WaitSpan(*_of(fields), int(fields[8]), float(fields[9]) - began, float(fields[10]) - began)
        for fields in records["wait"]
    ]
    return Account(
        {rank: host for rank, (host, _, _) in sorted(of_ranks.items())},
        max(span[2] for span in of_ranks.values()) - began,
        _sums(records["sum"], longest),
        longest,
        {fields[4]: (fields[5], int(fields[6])) for fields in records["sum"]},
    )


def _of(fields: Sequence[str]) -> tuple[int, int, Place]:
    """A wait: its rank, the late rank and the place."""
    by, call, comm, ranks, site, _, _, late = fields[:8]
    return int(by), int(late), (call, f"{comm} ({ranks} ranks)", site)


def _sums(records: Sequence[Sequence[str]], longest: Sequence[WaitSpan]) -> list[Sum]:
    most: dict[tuple[Place, int], float] = {}
    for wait in longest:
        key = (wait.place, wait.late)
        most[key] = max(most.get(key, 0.0), wait.end_s - wait.begin_s)
    together: dict[tuple[Place, int], list[tuple[int, int, float]]] = {}
    for fields in records:
        by, late, place = _of(fields)
        together.setdefault((place, late), []).append((by, int(fields[8]), float(fields[9])))
    sums = [
        Sum(
            *key,
            by=tuple(sorted(by for by, _, _ in some)),
            waits=sum(waits for _, waits, _ in some),
            waited_s=sum(seconds for _, _, seconds in some),
            longest_s=most.get(key),
        )
        for key, some in together.items()
    ]
    return sorted(sums, key=lambda one: -one.waited_s)
