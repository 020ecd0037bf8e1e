# SPDX-License-Identifier: Apache-2.0
"""The published barriers between threads with one thing changed at a time, on simulated caches."""

import pytest
from tollbar.papers import on_caches, openmp_mpi
from tollbar.papers.exhibit import at
from tollbar.papers.one_machine import SENSE
from tollbar.papers.stored import Stored


@pytest.fixture(scope="module")
def exhibits():
    return {each.number: each for each in openmp_mpi.exhibits(Stored(nothing=True))}


def test_every_form_has_a_curve_from_2_to_16_threads(exhibits):
    for number, many in (("Figure 7 on caches", 7), ("Figure 8 on caches", 5)):
        points = [point for point in exhibits[number].points if point.model]
        assert len({point.series for point in points}) == many
        assert {point.x for point in points} == {2, 3, 4, 6, 8, 10, 12, 14, 16}
    assert at(exhibits["Figure 7 on caches"].points, SENSE, 8).published == 6.2


def test_between_two_threads_there_is_no_line_to_share():
    assert on_caches.times(on_caches.ONE_LINE, on_caches.OWN_LINES, 2) == 1


def test_a_line_for_each_flag_takes_less_than_a_critical_section(exhibits):
    shared = on_caches.times(on_caches.ONE_LINE, on_caches.OWN_LINES, 8)
    besides = on_caches.times(on_caches.PHASE, on_caches.ONE_LINE, 8)
    assert shared < 1.25 < 4 < besides
    told = exhibits["Figure 8 on caches"].sentence
    assert f"{shared:.2f} times" in told
    assert f"{besides:.2f} times" in told


def test_a_critical_section_costs_more_with_each_thread():
    ratios = [on_caches.times(on_caches.CRITICAL, SENSE, n) for n in (2, 4, 8, 16)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 2 * ratios[0]


def test_nobody_leaves_before_a_delay_is_over():
    for threads in (2, 16):
        assert on_caches.one_machine.simulated_us(on_caches.FIXED[-1], threads) >= 1.6
