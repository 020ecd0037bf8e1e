# SPDX-License-Identifier: Apache-2.0
"""Programs that the text of the multiprogramming paper names, and the reload of a cache after a switch."""

import pytest
import tollbar_lab
from tollbar_lab.papers import multiprogramming
from tollbar_lab.papers.exhibit import at
from tollbar_lab.papers.stored import Stored

BARRIERS, RELOAD_US, SWITCH_US = 60, 50.0, 100.0


@pytest.fixture(scope="module")
def programs():
    made = multiprogramming.exhibits(Stored(nothing=True))
    return next(each for each in made if each.number == "Section 4.1 programs")


@pytest.mark.deep
def test_the_programs_of_the_text_have_a_negligible_overhead_with_combination_barriers(programs):
    gauss, ten, five = multiprogramming.PROGRAMS
    best = "combination, smart yield"
    overheads = [at(programs.points, best, program).model for program in (gauss, ten, five)]
    assert overheads == sorted(overheads)
    assert overheads[-1] < 1.2
    assert all(point.model < 6 for point in programs.points)
    assert at(programs.points, best, five).model == pytest.approx(
        multiprogramming.overhead_pct("combination", 50, "smart")
    )
    assert "46." in programs.sentence  # 512 barriers of twice 45 ms


def simulated(switch_us: float, profile_us: list[list[float]]) -> tollbar_lab.SchedulerOutcome:
    application = tollbar_lab.SchedulerApplication(barrier="combination", waiting="smart", profile_us=profile_us)
    return tollbar_lab.simulate_scheduler([application], processors=8, switch_us=switch_us, quantum_us=1e9)


def test_a_cache_that_is_filled_again_after_a_switch_is_a_longer_switch():
    """Two threads a processor take turns: whoever passed the barrier last goes on, the other comes by a switch."""
    same = [[400.0] * BARRIERS for _ in range(16)]
    cold = [
        [400.0 + (RELOAD_US if (thread >= 8) == (episode % 2 == 0) else 0.0) for episode in range(BARRIERS)]
        for thread in range(16)
    ]
    longer, reloading = simulated(SWITCH_US + RELOAD_US, same), simulated(SWITCH_US, cold)
    assert longer.switches == reloading.switches == 8 * (BARRIERS + 1)
    # The last switch of all is to a thread that leaves the last barrier, and has nothing to reload.
    assert longer.completed_us - reloading.completed_us == pytest.approx(RELOAD_US)
    assert reloading.completed_us > simulated(SWITCH_US, same).completed_us + (BARRIERS - 1) * RELOAD_US
