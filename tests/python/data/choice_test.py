# SPDX-License-Identifier: Apache-2.0
"""The choice: the fastest safe barrier, and in a tie the model's favourite."""

import pytest
from tollbar.data import choice, places, statistics
from tollbar.data.places import Candidate

TURNSTILE = Candidate("turnstile", "turnstile", "auto")
COMBINATION = Candidate("combination", "combination", "auto")
MCS = Candidate("mcs", "plan", "auto")
DISSEMINATION = Candidate("dissemination", "plan", "auto")
NOISE = (1.00, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.04, 0.96, 1.05, 1.00, 0.99)


@pytest.fixture
def compared(as_samples):
    """compared({candidate: latency}): a situation; the noise of each is another rotation of the same."""

    def made(latencies, periods=None, ranks=8, noises=()):
        noise = {each: NOISE[turn:] + NOISE[:turn] for turn, each in enumerate(latencies)} | dict(noises)
        launches = []
        for number in range(len(NOISE)):
            records = [{"record": "environment", "ranks": ranks, "placement": "free", "usable": 2}]
            for candidate, latency in latencies.items():
                off = noise[candidate][number]
                records += _records(candidate, latency * off, (periods or latencies)[candidate] * off)
            launches.append((number, "p", [*records, {"record": "done"}]))
        (here,) = places.threads(as_samples(*launches)).values()
        return here

    return made


def _records(candidate, latency, period):
    told = {"round": 0} | candidate._asdict()
    times = {name: [latency] for name in ("latency_ns", "skew_ns", "span_ns")}
    nothing = {"cpu_ns": 0, "voluntary": 0, "involuntary": 0, "cut": False}
    return [
        {"record": "batch", "episodes": 1, "elapsed_ns": period} | told | nothing,
        {"record": "episodes"} | told | times,
    ]


def test_the_fastest_is_chosen_with_its_distance_to_the_next(compared):
    chosen = choice.choose(compared({MCS: 100.0, TURNSTILE: 200.0, COMBINATION: 300.0}))
    assert (chosen.pick, chosen.verdict, chosen.runner_up) == (MCS, "best", TURNSTILE)
    assert chosen.ratio.value == pytest.approx(2.0, rel=0.03)
    assert chosen.ratio.low > 1


def test_the_distance_to_the_next_holds_together_with_those_of_all_pairs_by_both_clocks(compared):
    measured = compared({MCS: 100.0, TURNSTILE: 200.0, COMBINATION: 300.0})
    chosen = choice.choose(measured)
    alone = measured.ratio(TURNSTILE, MCS, "latency_ns")
    assert chosen.ratio == statistics.among(alone, len(choice.rivals(measured)), clocks=2)
    assert (chosen.ratio.low, chosen.ratio.high) != (alone.low, alone.high)


def test_a_tie_goes_to_the_favourite_of_the_model(compared):
    chosen = choice.choose(compared({DISSEMINATION: 99.9, MCS: 100.0, TURNSTILE: 100.1, COMBINATION: 200.0}))
    assert (chosen.pick, chosen.verdict) == (TURNSTILE, "tie")
    assert chosen.ratio.low < 1 < chosen.ratio.high
    assert set(chosen.tied) == {DISSEMINATION, MCS, TURNSTILE}


def test_among_plans_the_model_favours_the_fewest_messages(compared):
    assert choice.choose(compared({DISSEMINATION: 100.0, MCS: 100.0})).pick == MCS


def test_bare_spinning_and_foreign_barriers_are_never_chosen(compared):
    spin, peer = TURNSTILE._replace(wait="spin"), Candidate("std::barrier", "peer", "auto")
    barrier = Candidate("tollbar::barrier", "barrier", "auto")
    latencies = {spin: 1.0, peer: 2.0, barrier: 3.0, MCS: 100.0, TURNSTILE: 300.0}
    assert choice.choose(compared(latencies)).pick == MCS


def test_where_latency_and_loop_disagree_it_is_a_tie(compared):
    latencies = {MCS: 100.0, DISSEMINATION: 120.0}
    chosen = choice.choose(compared(latencies, periods={MCS: 150.0, DISSEMINATION: 100.0}))
    assert (chosen.pick, chosen.verdict, chosen.runner_up) == (DISSEMINATION, "tie", MCS)


def test_where_latency_tells_nothing_the_loop_decides(compared):
    latencies = {MCS: 100.0, DISSEMINATION: 100.0}
    chosen = choice.choose(compared(latencies, periods={MCS: 150.0, DISSEMINATION: 100.0}))
    assert (chosen.pick, chosen.verdict, chosen.by) == (DISSEMINATION, "best", "period")
    assert chosen.ratio.value == pytest.approx(1.5, rel=0.03)


def test_a_tie_out_of_ignorance_does_not_pick_what_looks_much_slower(compared):
    wild = {TURNSTILE: (0.3, 3.0, 1.0, 0.4, 2.5, 1.0) * 2}
    chosen = choice.choose(compared({MCS: 100.0, TURNSTILE: 150.0}, noises=wild))
    assert (chosen.pick, chosen.verdict) == (MCS, "tie")


def test_a_single_barrier_is_chosen_without_a_comparison(compared):
    chosen = choice.choose(compared({MCS: 100.0}))
    assert (chosen.pick, chosen.runner_up, chosen.ratio) == (MCS, None, None)


def test_without_any_of_our_own_there_is_no_choice(compared):
    assert choice.choose(compared({Candidate("std::barrier", "peer", "auto"): 1.0})) is None
