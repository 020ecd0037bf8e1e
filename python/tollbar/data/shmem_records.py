# SPDX-License-Identifier: Apache-2.0
"""What the measuring programs of OpenSHMEM print besides what others print too. Times are nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """Iterations of the dynamic sparse data exchange back to back; every letter came, and whole."""

    round: int
    name: str
    kind: str
    wait: str
    iterations: int
    elapsed_ns: float
    letters: int

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.letters < 1 or self.elapsed_ns <= 0:
            raise ValueError("an exchange has an iteration and a letter at least, and takes time")


@dataclass(frozen=True)
class Away:
    """A PE posted and called nothing for so long; how long the slowest of the others took, a value a time."""

    round: int
    name: str
    kind: str
    wait: str
    away_ns: float
    released_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.released_ns:
            raise ValueError("released_ns must not be empty")


@dataclass(frozen=True)
class Overlap:
    """One PE posted late; the others computed until it had. A value an episode, summed over those PEs.

    Open is from a post until its test has said that it is over, inside what of that went into post and test.
    """

    round: int
    name: str
    kind: str
    wait: str
    skew_ns: float
    open_ns: tuple[float, ...]
    inside_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.open_ns or len(self.open_ns) != len(self.inside_ns) or min(self.open_ns) <= 0:
            raise ValueError("open_ns and inside_ns must be of one length, and an episode takes time")
