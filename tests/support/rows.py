# SPDX-License-Identifier: Apache-2.0
"""The rows that the watcher of a host tells, written as src/missing/rows.cpp has it, by other code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar import _native
from tollbar.look import gathered

_CALLS = Path(__file__).resolve().parents[2] / "src/missing/calls.txt"
NAMES = ["MPI_" + line.split()[0] for line in _CALLS.read_text().splitlines() if re.match("[A-Z]", line)]
NOT_KNOWN = "-"  #: all bits are set
_INSIDE = 1


@dataclass
class Comm:
    """A communicator of a rank, and its newest collective calls: the number is that of the last one."""

    number: int = 0
    call: str = "MPI_Allreduce"
    name: str = "MPI_COMM_WORLD"
    id: int = 1
    size: int = 4
    root: int | None = None
    operation: int = 0
    gives: int | None = 8

    @property
    def what(self) -> int:
        return NAMES.index(self.call) | self.operation << 16 | (0 if self.root is None else self.root + 1) << 32


@dataclass
class Rank:
    """A rank: outside the MPI, or for so long in the newest call of its first communicator, or in one for a message."""

    number: int
    comms: Sequence[Comm] = (Comm(),)
    waited_s: float = 0
    doing: str = "running"
    process: int = 100
    message: tuple[str, int, int] | None = None  #: the call, the partner and the tag
    site: str = "main (a.c:3)"


def rows(host: str, *ranks: Rank) -> str:
    texts: list[str] = []
    words = [word for rank in ranks for word in _rank(rank, texts)]
    return " ".join([_word(host), f"{len(texts):x}", *map(_word, texts), f"{len(ranks):x}", *words])


def _rank(rank: Rank, texts: list[str]) -> list[str]:
    first = rank.comms[0]
    inside = rank.waited_s > 0
    call, peer, tag = rank.message or (first.call, -2, -1)
    at = 7 << 24 | 1 << 12 | NAMES.index(call) << 2 | (_INSIDE if inside else 0)
    number = 0 if rank.message else first.number
    seat = [0, at, number, peer % 2**32, tag % 2**32, first.id, first.number, 0, int(rank.waited_s * 1e6)]
    head = [rank.number, rank.process, 1, 0, 0, 0, _place(rank.doing, texts)]
    comms = [word for index, comm in enumerate(rank.comms) for word in _comm(index, comm, rank.site, texts)]
    return [
        *map(_hex, head), "1", *map(_hex, seat), _hex(_place(rank.site, texts)),
        _hex(len(rank.comms)), *comms, "0",
    ]  # fmt: skip


def _comm(index: int, comm: Comm, site: str, texts: list[str]) -> list[str]:
    kept = min(comm.number, 4)
    one = [
        _hex(comm.what), NOT_KNOWN if comm.gives is None else _hex(comm.gives), NOT_KNOWN, _hex(_place(site, texts))
    ]  # fmt: skip
    head = [index, comm.id, comm.number, comm.size, 0, _place(comm.name, texts), kept]
    return [*map(_hex, head), *(one * kept)]


def _place(text: str, texts: list[str]) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)


def _hex(number: int) -> str:
    return f"{number:x}"


def _word(text: str) -> str:
    return "".join(letter if letter.isalnum() else f"%{ord(letter):02x}" for letter in text) or "%"


def lines(
    host: str, *ranks: Rank, turn: int = 1, version: int = _native.ROWS_VERSION, most: int = 200
) -> list[gathered.SealedLine]:
    """The lines by which they come."""
    text = rows(host, *ranks)
    parts = [text[at : at + most] for at in range(0, len(text), most)]
    facts = f"rows {version} {ranks[0].number} {turn} {{}} {len(parts)} {{}}"
    return [gathered.SealedLine("for `tollbar run`", facts.format(part, words)) for part, words in enumerate(parts)]


def sealed(key: tuple[int, int], line: gathered.SealedLine) -> bytes:
    """As a rank of the run with that secret writes it."""
    message = f"{line.text} [~{line.facts}".encode()
    return b"tollbar: " + message + b" %016x]\n" % _native.siphash(key, message)
