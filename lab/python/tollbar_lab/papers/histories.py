# SPDX-License-Identifier: Apache-2.0
"""Graphical histories of executions, as the simulator of Markatos et al. 1991 draws them (section 3.1)."""

from __future__ import annotations

import tollbar_lab
from tollbar_lab.papers import lanes
from tollbar_lab.papers.exhibit import Axes, Exhibit

_PAPER = "multiprogramming"
_QUANTUM_US = 20000.0
#: 16 threads on 8 processors, with 1 ms of computing between barriers and switches of 0.1 ms.
_ONE_PROGRAM = {
    "A tree that spins: three barriers take six quanta": ("tree", "spin", 120000.0),
    "A tree that yields: two switches a barrier and processor, and waits between them": ("tree", "smart", 12000.0),
    "A combination barrier that yields: one switch a barrier and processor": ("combination", "smart", 12000.0),
}


def exhibits() -> list[Exhibit]:
    drawings = {title: _one_program(*program) for title, program in _ONE_PROGRAM.items()} | dict([_two_programs()])
    return [
        Exhibit(_PAPER, f"History {number}", title, Axes(""), [], f"{title}.", drawing=drawing)
        for number, (title, drawing) in enumerate(drawings.items(), start=1)
    ]


def _one_program(barrier: str, waiting: str, until_us: float) -> str:
    program = tollbar_lab.SchedulerApplication(barrier=barrier, waiting=waiting)
    outcome = tollbar_lab.simulate_scheduler([program], until_us=until_us)
    title = f"{barrier}, {waiting}, 16 threads on 8 processors"
    return lanes.svg(lanes.history(outcome, title, 8, until_us, _QUANTUM_US))


def _two_programs() -> tuple[str, str]:
    """Partitions that change, as section 1 has them; the title and the drawing."""
    until_us = 130000.0
    programs = [
        tollbar_lab.SchedulerApplication(
            threads=8, compute_us=10000, barriers=6, barrier="combination", waiting="smart", arrival_us=arrival_us
        )
        for arrival_us in (0.0, 25000.0)
    ]
    outcome = tollbar_lab.simulate_scheduler(programs, processors=8, policy="dynamic", until_us=until_us)
    first, second = outcome.applications
    title = (
        f"Partitions that change: {first.fewest_processors} of {first.most_processors} processors are left "
        f"when another program arrives; {second.moves} of its threads move when the first is done"
    )
    picture = lanes.history(outcome, "two programs of 8 threads on 8 processors", 8, until_us, _QUANTUM_US)
    return title, lanes.svg(picture)
