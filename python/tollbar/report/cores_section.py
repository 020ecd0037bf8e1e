# SPDX-License-Identifier: Apache-2.0
"""What the report says of many cores, all of it simulated: never in a picture with what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tollbar
from tollbar.models import cores
from tollbar.report.charts import Line
from tollbar.report.figures import Figure

MACHINES = ("epyc", "mesh")

#: What is shown, with the colour that the same barrier has elsewhere where it has one.
_BARRIERS = ("tollbar::barrier", "auto", "std::barrier", "libgomp", "one-word")
_SIZES = (2, 4, 8, 16, 32, 64, 128, 256)
_EPISODES = 20


class NoMachine(ValueError):
    """Neither is one built in by that name, nor is the file one."""


@dataclass(frozen=True)
class Simulated:
    """One machine: where it is from, its numbers, and an episode of each barrier by cores, in nanoseconds."""

    name: str
    file: str  #: empty for one that is built in
    numbers: Mapping[str, float]
    sizes: Sequence[int]
    times: Mapping[str, Sequence[float]]
    figure: Figure


def of(spellings: Sequence[str] = MACHINES) -> list[Simulated]:
    """A part for each machine that is built in or in a file. Raises NoMachine for what is neither."""
    return [_simulated(spelling) for spelling in spellings]


@cache  # a machine in a file does not change while a page is made
def _simulated(spelling: str) -> Simulated:
    try:
        machine = cores.machine(spelling)
    except ValueError as error:
        raise NoMachine(error) from None
    sizes = [size for size in _SIZES if size <= len(machine.cores)]
    times = {
        barrier: [
            1000 * tollbar.simulate_cores(barrier, size, machine=machine, episodes=_EPISODES).barrier_us
            for size in sizes
        ]
        for barrier in _BARRIERS
    }
    lines = [
        Line(barrier, sizes, middle, colour=number, dashed=True)
        for number, (barrier, middle) in enumerate(times.items())
    ]
    name = f"cores-{machine.name}"
    caption = f"Simulated, not measured: {machine.name}, one barrier after another"
    figure = Figure(name, caption, lines, "simulated cores", "simulated time of an episode")
    file = "" if spelling in tollbar.cores_machines else Path(spelling).name
    return Simulated(machine.name, file, machine.numbers, sizes, times, figure)
