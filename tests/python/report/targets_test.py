# SPDX-License-Identifier: Apache-2.0
"""The targets: a figure is met or missed only when its whole interval is on one side."""

import pytest
from tollbar.campaigns import campaign, shmem
from tollbar.data import samples
from tollbar.data.statistics import Interval
from tollbar.report import targets
from tollbar.report.target import Wanted


@pytest.fixture
def rows(stored):
    return targets.evaluate(samples.read([stored(ranks=(2, 4, 8, 16, 64))]))


def find(rows, case, ranks, candidate):
    return next(row for row in rows if (row.case, row.ranks, row.candidate) == (case, ranks, candidate))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.9, 1.0, "met"),
        (0.9, 1.1, "met"),
        (1.05, 1.2, "tie"),
        (1.11, 1.2, "missed"),
        (None, None, "too few"),
    ],
)
def test_the_interval_decides(low, high, verdict):
    assert Wanted(1.1).verdict(Interval(1.0, low, high, 6)).startswith(verdict)


def test_a_target_with_two_ends_is_missed_below_and_above():
    assert Wanted(1.1, 0.9).verdict(Interval(0.5, 0.4, 0.6, 6)) == "missed"
    assert Wanted(1.1, 0.9).verdict(Interval(1.0, 0.95, 1.05, 6)) == "met"


def test_a_ratio_to_the_floor_is_judged(rows):
    row = find(rows, "loop period / one cache-line transfer", 2, "dissemination")
    assert row.value == pytest.approx(1.3, rel=0.05)
    assert row.low <= row.value <= row.high
    assert find(rows, "loop period / B(N)", 8, "tollbar::barrier").verdict == "met"


def test_switches_are_counted_against_the_fewest_possible(rows):
    row = find(rows, "switches an episode / (N - C)", 8, "combination")
    assert (row.value, row.verdict) == (1.0, "met")


def test_parking_is_compared_with_the_system_s_barrier(rows):
    row = find(rows, "loop period / that of pthread_barrier", 8, "turnstile (park)")
    assert row.value == pytest.approx(2.3 / 6.0, rel=0.1)
    assert row.verdict == "met"


def test_what_was_left_out_says_why(rows):
    row = find(rows, "loop period / that of ck_mcs", 2, "mcs")
    assert (row.value, row.verdict) == (None, "not measured: spins")


def test_what_was_not_asked_for_says_so(stored):
    rows = targets.evaluate(samples.read([stored(ranks=(2,), launches=2)]))
    assert "--ranks has no 64" in find(rows, "loop period / B(N)", 64, "tollbar::barrier").verdict


def test_a_crowded_target_cannot_be_measured_with_processors_to_spare(stored, replay, monkeypatch):
    monkeypatch.setattr(replay, "USABLE", 16)
    rows = targets.evaluate(samples.read([stored(ranks=(8,), launches=2)]))
    row = find(rows, "loop period / B(N)", 8, "tollbar::barrier")
    assert row.verdict == "not measurable here: 8 threads on 16 processors"


def test_processes_apart_are_compared_with_those_in_one_session(rows):
    row = find(rows, "loop period of processes in sessions of their own / in one session", 8, "turnstile")
    assert row.value == pytest.approx(1.5, rel=0.05)
    assert row.verdict == "met"
    row = find(rows, "loop period of processes in cgroups of their own / in one session", 8, "turnstile")
    assert row.value == pytest.approx(3.0, rel=0.05)
    assert row.verdict == "missed"


def test_the_cpu_time_of_waiters_is_judged(rows):
    case = "CPU time of 64 waiters / the 0.5 s that they wait"
    assert find(rows, case, 64, "turnstile").value == pytest.approx(0.01, rel=0.05)
    assert find(rows, case, 64, "turnstile").verdict == "met"
    assert find(rows, case, 64, "tollbar::barrier").verdict == "missed"


def test_what_unused_features_add_is_a_difference_of_medians(rows):
    case = "time that unused wait_for and missing() add to an episode / 5 ns"
    assert find(rows, case, 2, "turnstile").value == pytest.approx(1.5 / 5)
    assert find(rows, case, 2, "dissemination").value == pytest.approx(-0.5 / 5)
    assert find(rows, case, 2, "dissemination").verdict == "met"


def test_groups_that_could_not_be_made_say_why(stored, replay, monkeypatch):
    denied = {"record": "skipped", "name": "cgroups", "wait": "auto", "why": "permission denied"}
    kept = [row for row in replay.SINGLES["tollbar-bench-processes"] if row["apart"] != "cgroups"]
    monkeypatch.setitem(replay.SINGLES, "tollbar-bench-processes", [denied, *kept])
    rows = targets.evaluate(samples.read([stored(ranks=(8,), launches=2)]))
    row = find(rows, "loop period of processes in cgroups of their own / in one session", 8, "turnstile")
    assert (row.value, row.verdict) == (None, "not measured: permission denied")


def test_the_default_run_has_every_situation_that_a_target_is_about(stored):
    folder = stored(ranks=campaign.amounts("threads", "usual")["ranks"], launches=1, rounds=1)
    rows = targets.evaluate(samples.read([folder]))
    unasked = [row for row in rows if "--ranks has no" in row.verdict]
    assert unasked == []


def test_the_floors_are_said_in_words(stored):
    found = samples.read([stored(ranks=(2, 8), launches=2)])
    first, *bounds = targets.floors(found)
    assert first.startswith("one cache-line transfer: ")
    assert [each.partition(":")[0] for each in bounds] == ["B(8), pinned", "B(8), free"]


def test_every_target_is_about_a_metric_that_is_measured():
    known = {name for found in samples.METRICS.values() for name in found} | {"over_floor", "tail"}
    asked = [row | group for group in targets.listed() for row in group["rows"]]
    assert {row["metric"] for row in asked} <= known
    assert all({"most", "least", "within"} & row.keys() for row in asked)


def test_the_targets_of_openshmem_are_about_what_its_campaign_measures():
    cases = {(group["case"], *group["each"]["ranks"]) for group in targets.listed() if "case" in group}
    away = f"others' release, a posted PE away for {shmem.AWAY_MS} ms / 1 ms"
    skew = f"share of the barrier free to compute, {shmem.SKEW_US} µs of skew"
    assert {(away, shmem.AWAY_PES), (skew, shmem.OVERLAP_PES)} <= cases


def test_a_target_without_an_upper_end_is_missed_below():
    assert Wanted(least=0.8).text == "at least 0.8"
    assert Wanted(least=0.8).verdict(Interval(0.9, 0.85, 0.95, 6)) == "met"
    assert Wanted(least=0.8).verdict(Interval(0.7, 0.65, 0.75, 6)) == "missed"
