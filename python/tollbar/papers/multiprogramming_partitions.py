# SPDX-License-Identifier: Apache-2.0
"""What partitions cost several programs: beside coscheduling, where times vary, and when they change.

Quanta of 20 ms and switches of 100 us, as the simulator has them by default.
"""

from __future__ import annotations

from functools import cache

import tollbar
from tollbar.papers.exhibit import Exhibit
from tollbar.report import executions

_THREADS = 16
_SWITCH_US = 100.0
_GAUSS_US = 45000.0  # between the barriers of a Gaussian elimination


def uneven_pct(variation: float, waiting: str) -> float:
    """The overhead of combination barriers on 8 processors at 10 switches where computing times vary."""
    application = tollbar.SchedulerApplication(
        threads=_THREADS,
        compute_us=10 * _SWITCH_US,
        variation=variation,
        barrier="combination",
        waiting=waiting,
        barriers=600,
    )
    few, many = (
        tollbar.simulate_scheduler([application], processors=p).applications[0].per_barrier_us
        for p in (_THREADS // 2, _THREADS)
    )
    return 100 * (few / 2 / many - 1)


def come_and_go(threads: int) -> tollbar.SchedulerOutcome:
    """16 threads on 16 processors; a program of so many threads arrives when they are half through."""
    programs = [
        tollbar.SchedulerApplication(
            threads=number,
            compute_us=_GAUSS_US,
            barriers=60,
            barrier="combination",
            waiting="smart",
            arrival_us=arrival_us,
        )
        for number, arrival_us in ((_THREADS, 0.0), (threads, 30 * _GAUSS_US))
    ]
    return tollbar.simulate_scheduler(programs, processors=_THREADS, policy="dynamic")


@cache
def two_programs_ms(policy: str, switches: float, waiting: str) -> float:
    """A barrier of two programs of 16 threads on 16 processors, each with combination barriers."""
    application = tollbar.SchedulerApplication(
        threads=_THREADS, compute_us=switches * _SWITCH_US, barrier="combination", waiting=waiting, barriers=600
    )
    outcome = tollbar.simulate_scheduler([application, application], processors=_THREADS, policy=policy)
    return max(program.per_barrier_us for program in outcome.applications) / 1000


def history() -> Exhibit:
    """Partitions that change, as section 1 has them, in the simulator's graphical history."""
    until_us = 130000.0
    programs = [
        tollbar.SchedulerApplication(
            threads=8, compute_us=10000, barriers=6, barrier="combination", waiting="smart", arrival_us=arrival_us
        )
        for arrival_us in (0.0, 25000.0)
    ]
    outcome = tollbar.simulate_scheduler(programs, processors=8, policy="dynamic", until_us=until_us)
    first, second = outcome.applications
    caption = (
        f"Partitions that change: {first.fewest_processors} of {first.most_processors} processors are left "
        f"when another program arrives; {second.moves} of its threads move when the first is done"
    )
    picture = executions.Picture(
        name="execution-dynamic",
        title="two programs of 8 threads on 8 processors",
        processors=8,
        from_us=0,
        until_us=until_us,
        quantum_us=20000,
        spans=outcome.history,
        applications=2,
        arrived_us=[program.arrival_us for program in outcome.applications],
        completed_us=[program.completed_us for program in outcome.applications],
    )
    return Exhibit(
        "multiprogramming", "History 4", caption, "", "", [], f"{caption}.", drawing=executions.draw(picture)
    )
