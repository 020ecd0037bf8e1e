# SPDX-License-Identifier: Apache-2.0
"""A measurement that an exhibit has not, and the command that makes it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

#: The barriers that compute on too few CPUs, as the paper on multiprogramming has them.
_CROWDED = "turnstile+spin turnstile+park mcs+spin mcs+park combination+park"
#: The words of the command for each kind of bench, and its options.
_COMMANDS = {
    "threads": ("threads", ""),
    "mpi": ("mpi", ""),
    "hybrid": ("hybrid", ""),
    "crowd": ("threads", f"{_CROWDED} --ranks 16 --placement pinned --cpus 1,2 --compute 1,100,10000"),
    "shmem": ("shmem", ""),
    "udp": ("nic", ""),
    "work": ("nic", "--compute paper"),
}


def stored_as(kind: str) -> str:
    """The kind of the runs that such a bench stores."""
    return "threads" if kind == "crowd" else kind


@dataclass(frozen=True)
class Lack:
    """A kind of bench, and the barriers in it that nothing has measured; without names all that it measures."""

    kind: str
    names: tuple[str, ...] = ()
    options: str = ""  #: without which nobody measures it

    @property
    def words(self) -> list[str]:
        """The command's arguments."""
        verb, options = _COMMANDS[self.kind]
        return ["bench", verb, *self.names, *options.split(), *self.options.split()]

    @property
    def command(self) -> str:
        return shlex.join(["tollbar", *self.words])


def together(lacks: Iterable[Lack]) -> list[Lack]:
    """One for each kind: all names of those that need no further options."""
    names: dict[str, dict[str, None]] = {}
    for lack in lacks:
        if not lack.options:
            names.setdefault(lack.kind, {}).update(dict.fromkeys(lack.names))
    return [Lack(kind, tuple(named)) for kind, named in names.items()]
