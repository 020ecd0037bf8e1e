# SPDX-License-Identifier: Apache-2.0
"""The choice: the fastest safe barrier, and in a tie the model's favourite."""

import pytest
from tollbar.data import choice
from tollbar.data.comparison import Candidate, Comparison, Measured, Situation

TURNSTILE = Candidate("turnstile", "turnstile", "auto")
COMBINATION = Candidate("combination", "combination", "auto")
MCS = Candidate("mcs", "plan", "auto")
DISSEMINATION = Candidate("dissemination", "plan", "auto")
NOISE = (1.00, 1.02, 0.98, 1.01, 0.99, 1.03)


def compared(latencies, periods=None, ranks=8):
    """A situation with these middles; the noise of each candidate is another rotation of the same values."""
    made = Comparison(Situation("free", ranks), 2)
    for turn, (candidate, latency) in enumerate(latencies.items()):
        noise = NOISE[turn:] + NOISE[:turn]
        period = (periods or latencies)[candidate]
        made.candidates[candidate] = Measured(
            "p",
            latency={launch: {0: latency * each} for launch, each in enumerate(noise)},
            period={launch: {0: period * each} for launch, each in enumerate(noise)},
        )
    return made


def test_the_fastest_is_chosen_with_its_distance_to_the_next():
    chosen = choice.choose(compared({MCS: 100.0, TURNSTILE: 200.0, COMBINATION: 300.0}))
    assert (chosen.pick, chosen.verdict, chosen.runner_up) == (MCS, "best", TURNSTILE)
    assert chosen.ratio.value == pytest.approx(2.0, rel=0.03)
    assert chosen.ratio.low > 1


def test_a_tie_goes_to_the_favourite_of_the_model():
    chosen = choice.choose(compared({DISSEMINATION: 99.9, MCS: 100.0, TURNSTILE: 100.1, COMBINATION: 200.0}))
    assert (chosen.pick, chosen.verdict) == (TURNSTILE, "tie")
    assert chosen.ratio.low < 1 < chosen.ratio.high
    assert set(chosen.tied) == {DISSEMINATION, MCS, TURNSTILE}


def test_among_plans_the_model_favours_the_fewest_messages():
    assert choice.choose(compared({DISSEMINATION: 100.0, MCS: 100.0})).pick == MCS


def test_bare_spinning_and_foreign_barriers_are_never_chosen():
    spin, peer = TURNSTILE._replace(wait="spin"), Candidate("std::barrier", "peer", "auto")
    barrier = Candidate("tollbar::barrier", "barrier", "auto")
    latencies = {spin: 1.0, peer: 2.0, barrier: 3.0, MCS: 100.0, TURNSTILE: 300.0}
    assert choice.choose(compared(latencies)).pick == MCS


def test_where_latency_and_loop_disagree_it_is_a_tie():
    latencies = {MCS: 100.0, DISSEMINATION: 120.0}
    chosen = choice.choose(compared(latencies, periods={MCS: 150.0, DISSEMINATION: 100.0}))
    assert (chosen.pick, chosen.verdict, chosen.runner_up) == (DISSEMINATION, "tie", MCS)


def test_where_latency_tells_nothing_the_loop_decides():
    latencies = {MCS: 100.0, DISSEMINATION: 100.0}
    chosen = choice.choose(compared(latencies, periods={MCS: 150.0, DISSEMINATION: 100.0}))
    assert (chosen.pick, chosen.verdict, chosen.by) == (DISSEMINATION, "best", "period")
    assert chosen.ratio.value == pytest.approx(1.5, rel=0.03)


def test_a_tie_out_of_ignorance_does_not_pick_what_looks_much_slower():
    unsure = compared({MCS: 100.0, TURNSTILE: 150.0})
    for launch, noise in enumerate((0.3, 3.0, 1.0, 0.4, 2.5, 1.0)):
        unsure.candidates[TURNSTILE].latency[launch] = {0: 150.0 * noise}
        unsure.candidates[TURNSTILE].period[launch] = {0: 150.0 * noise}
    chosen = choice.choose(unsure)
    assert (chosen.pick, chosen.verdict) == (MCS, "tie")


def test_a_single_barrier_is_chosen_without_a_comparison():
    chosen = choice.choose(compared({MCS: 100.0}))
    assert (chosen.pick, chosen.runner_up, chosen.ratio) == (MCS, None, None)


def test_without_any_of_our_own_there_is_no_choice():
    assert choice.choose(compared({Candidate("std::barrier", "peer", "auto"): 1.0})) is None
