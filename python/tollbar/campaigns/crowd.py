# SPDX-License-Identifier: Apache-2.0
"""Campaigns of `tollbar bench threads --cpus`: threads that compute, on some of the processors.

After Markatos et al. 1991: the fewer processors a program has left, and the less it computes between two
barriers, the more its way of waiting counts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tollbar import InvalidArgument
from tollbar.campaigns import threads
from tollbar.campaigns.campaign import Campaign, Request
from tollbar.machine import paths

PROGRAM = "tollbar-bench-crowd"
#: A launch stops visiting barriers after that long, so that it ends within the limit of a launch.
_LAUNCH_S = 80.0


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    ranks: int
    processors: int
    compute_us: float
    variation: float

    @property
    def alone_us(self) -> float:
        """The time of an episode when only the computing counts: turns of the processor with most threads."""
        return -(-self.ranks // self.processors) * self.compute_us

    @property
    def workload(self) -> str:
        return f"{self.compute_us:g}~{self.variation:g}" if self.variation else f"{self.compute_us:g}"


def wanted(request: Request) -> list[Where]:
    """All combinations that are crowded."""
    return [
        Where(ranks, processors, compute_us, variation)
        for ranks in request.ranks
        for processors in request.processors
        for compute_us in request.compute_us
        for variation in request.variations
        if ranks > processors
    ]


def names() -> set[str]:
    """The barriers that can be measured, besides every plan."""
    return threads.names()


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Crowds, list[str]]]:
    """The work, and what is left out of it.

    Raises InvalidArgument where nothing is left, FileNotFoundError where the program is not there.
    """
    work, combinations = Crowds(request, paths.program(PROGRAM)), wanted(request)
    if not combinations:
        raise InvalidArgument("nothing is left to measure: every number in --ranks fits on its --cpus")
    if not work.situations:
        raise InvalidArgument(
            f"nothing is left to measure: computing alone takes more than {request.longest_ms:g} ms an episode"
        )
    left_out = len(combinations) - len(work.situations)
    why = f"computing alone would take more than {request.longest_ms:g} ms an episode"
    yield work, [f"{left_out} of {len(combinations)} situations are left out: {why}"] if left_out else []


class Crowds(Campaign):
    """Threads on a part of the processors. An episode may take seconds: launches show what varies."""

    kind = "crowd"

    def __init__(self, request: Request, program: Path) -> None:
        super().__init__(request)
        self._program = program
        self._usable = sorted(os.sched_getaffinity(0))

    @property
    def situations(self) -> list[Where]:
        return [where for where in wanted(self.request) if where.alone_us <= 1e3 * self.request.longest_ms]

    def facts(self) -> dict[str, Any]:
        return {name: list(getattr(self.request, name)) for name in ("processors", "compute_us", "variations")}

    def say(self, situation: Where) -> str:
        ranks, processors, _, _ = situation
        return f"{ranks} threads on {processors}, {situation.workload} µs between barriers"

    def programs(self, situation: Where) -> list[str]:
        return [PROGRAM]

    def command(self, program: str, situation: Where, rounds: int, seed: int) -> list[str]:
        # The mask is what a smaller machine looks like: the library judges by it how crowded it is.
        mask = ",".join(map(str, self._usable[: situation.processors]))
        command = ["taskset", "-c", mask, str(self._program), "--ranks", str(situation.ranks)]
        command += ["--placement", "pinned", "--rounds", str(rounds), "--seed", str(seed)]
        command += ["--workload", situation.workload, "--budget-ms", f"{1e3 * _LAUNCH_S:.0f}"]
        return [*command, "--only", ",".join(self.request.only)] if self.request.only else command
