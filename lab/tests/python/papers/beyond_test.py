# SPDX-License-Identifier: Apache-2.0
"""Sections 3.1 and 4 of the OpenMP and MPI paper: spikes, growth, delays, more threads, all barriers together."""

from itertools import pairwise

import pytest
import tollbar_lab
from tollbar_lab.papers import beyond, combined, openmp_mpi, panels
from tollbar_lab.papers.exhibit import at
from tollbar_lab.papers.stored import Stored


@pytest.fixture(scope="module")
def exhibits():
    return {each.number: each for each in openmp_mpi.exhibits(Stored(nothing=True))}


def test_the_simulated_node_has_two_sockets_of_12_cores():
    sockets = [socket for _, socket in beyond.node().cores]
    assert (sockets.count(0), sockets.count(1)) == (12, 12)


def test_the_counter_has_no_spike_at_9_and_12_threads_but_a_step_after_a_socket(exhibits):
    times = [beyond.simulated_us("sense_reversing", threads) for threads in beyond.THREADS]
    assert times == sorted(times)
    assert beyond.maxima() == []
    steps = {n: times[n - 2] / times[n - 3] for n in beyond.THREADS[1:]}
    assert max(steps, key=lambda n: steps[n] if n > 4 else 0) == 13
    assert "has no maximum from 2 to 16 threads, but a step to 2.5 times at 13" in exhibits["Figure 7"].sentence
    prices = [point.model for point in exhibits["Figure 7"].points if point.series == "sense_reversing"]
    assert [b - a for a, b in pairwise(prices)] == pytest.approx([0.25 / 3] * 14)


def test_a_maximum_is_a_number_of_threads_that_takes_longer_than_both_beside_it(monkeypatch):
    monkeypatch.setattr(beyond, "simulated_us", lambda barrier, threads: threads + 5 * (threads in (9, 12)))
    assert beyond.maxima() == [9, 12]


def test_the_tree_s_price_is_a_logarithm_and_up_to_8_threads_a_line_as_well(exhibits):
    assert beyond.fits(8) == pytest.approx((0.965, 0.972), abs=5e-4)
    assert beyond.fits(64) == pytest.approx((0.868, 0.992), abs=5e-4)
    # By hand: the slope is (64.3 - 1.02) / 6 us a thread.
    assert beyond.free_at() == pytest.approx(2 - 1.02 / (63.28 / 6))
    assert beyond.growth() == pytest.approx((239.15 / 64.3, (1.02 + 63.28 * 1.2297) / 64.3), abs=1e-3)
    assert "1.90 threads" in exhibits["Figure 8"].sentence


def test_the_parts_b_of_figures_7_and_8_end_at_8_threads(exhibits):
    for number in ("Figure 7", "Figure 8"):
        few, all_of_them = exhibits[f"{number}b"].points, exhibits[number].points
        assert few == [point for point in all_of_them if point.x <= 8]
        (panel,) = panels.of(exhibits[f"{number}b"])
        assert panel.y.scale == "linear"


def test_no_one_delay_is_the_fastest_at_all_numbers_of_threads(exhibits):
    fastest = {beyond.fastest_delay(threads) for threads in beyond.THREADS}
    assert {"fixed delay of 400 ns", "exponential back-off"} <= fastest
    points = exhibits["Section 3.1.3"].points
    for threads in (8, 16):
        way = beyond.fastest_delay(threads)
        assert at(points, way, threads).model == min(p.model for p in points if p.x == threads)


def test_the_tree_is_ahead_beyond_16_threads_by_more_and_more(exhibits):
    points = exhibits["Section 3.1.3 beyond 16 threads"].points
    ratios = [at(points, "sense_reversing", n).model / at(points, "mcs", n).model for n in (16, 32, 64, 128)]
    assert ratios == sorted(ratios)
    assert ratios[0] > 1.5
    outcome = tollbar_lab.simulate_cores("mcs", 64, machine=tollbar_lab.cores_machine("epyc"))
    assert at(points, "mcs", 64).model == outcome.barrier_us


def test_threads_processes_and_both_levels_stand_side_by_side(exhibits):
    points = exhibits["Section 4"].points
    assert at(points, "counter between threads", 8).published == 6.2
    assert at(points, "MCS tree between processes", 10).published == 3.5
    assert at(points, "dissemination between processes", 12).model == pytest.approx(4 * 0.43)
    assert at(points, "both levels, 12 threads a node", 84).model == combined.model_us(7, 12)
    two = {point.series: point.published for point in points if point.x == 2 and point.published}
    assert min(two, key=two.get) == "counter between threads"
    assert "1.77 times" in exhibits["Section 4"].sentence
