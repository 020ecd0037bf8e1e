# SPDX-License-Identifier: Apache-2.0
"""Two barriers of a figure on one machine: what LogP, contention and caches say of the print."""

from math import log

import pytest
import tollbar_lab
from tollbar_lab.papers import errata, one_machine
from tollbar_lab.papers.exhibit import at


def simulated_us(barrier, threads):
    return tollbar_lab.simulate_cores(barrier, threads, machine=tollbar_lab.cores_machine("skylake")).barrier_us


@pytest.fixture(scope="module")
def exhibits():
    return {each.number: each for each in one_machine.exhibits()}


def test_both_curves_have_the_same_costs(exhibits):
    points = exhibits["Figure 12 on one machine"].points
    two = at(points, "dissemination", 2).model
    # L = o = g: dissemination of 2 is one message, of 12 four in a row; the tree of 12 has 20 thirds.
    assert at(points, "dissemination", 12).model == pytest.approx(4 * two)
    assert at(points, "mcs", 12).model == pytest.approx(20 / 3 * two)


def test_contention_turns_the_order_between_nodes_to_that_of_the_print(exhibits):
    points = exhibits["Figure 12 on one machine"].points

    def ahead(way):
        return at(points, f"mcs{way}", 12).model < at(points, f"dissemination{way}", 12).model

    assert not ahead("")
    assert ahead(", messages in each other's way")


def test_what_it_takes_is_derived_from_paths_and_messages():
    # Per message of three thirds: the tree's path is 20/3, dissemination's 4; they send 22 and 48.
    assert one_machine.needed() == pytest.approx((20 / 3 - 4) / (48 - 22))
    costs = one_machine.fitted("Figure 12", contended=True)
    assert one_machine.share_pct() == pytest.approx(100 * costs.alone_us / costs.message_us)
    assert round(one_machine.share_pct()) == 39
    off = [
        abs(costs.price_us(plan, nodes) / us - 1)
        for plan, nodes, us in (
            ("mcs", 2, 0.5), ("mcs", 10, 3.5), ("dissemination", 2, 0.43), ("dissemination", 12, 4.3),
        )
    ]  # fmt: skip
    assert 100 * max(off) == pytest.approx(one_machine.off_pct("Figure 12", contended=True))
    assert round(100 * max(off)) == 21


def test_between_threads_contention_of_messages_explains_nothing():
    assert one_machine.ratio("Figure 9", 2, contended=True) == pytest.approx(1)
    assert one_machine.ratio("Figure 9", 8, contended=True) == pytest.approx(1)
    assert one_machine.printed_ratio(8) == pytest.approx(64.3 / 6.2)
    assert round(log((64.3 - 6.2) / (1.02 - 0.25)) / log(4)) == 3  # the page says the cube


def test_caches_make_the_tree_a_third_slower_not_ten_times():
    slower = simulated_us("mcs", 8) / simulated_us("central", 8)
    assert slower == pytest.approx(4 / 3, abs=0.05)


def test_a_line_for_each_flag_gains_less_than_a_critical_section_costs():
    us = {form: simulated_us(form, 8) for form in ("mcs_flags:one_line", "mcs_flags:own_lines")}
    assert us["mcs_flags:one_line"] < 1.25 * us["mcs_flags:own_lines"]
    assert simulated_us("mcs_phase:one_line", 8) > 4 * us["mcs_flags:one_line"]
    ratios = [simulated_us("sense_reversing:critical", n) / simulated_us("sense_reversing", n) for n in (2, 4, 8, 16)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 2 * ratios[0]


def test_the_errata_compare_one_machine_with_the_print():
    found = {(row.printed, row.computed) for row in errata.all_errata() if "one machine" in row.about}
    assert found == {("4.08", "1.00"), ("10.37", "0.94"), ("below 0.93", "1.67")}


def test_a_sentence_has_the_numbers_of_its_points(exhibits):
    nodes = exhibits["Figure 12 on one machine"].sentence
    assert all(number in nodes for number in ("1.67 times", "0.67 times", "39 %", "21 %", "From 10 %"))


def test_a_word_that_threads_contend_for_makes_the_counter_dearer_not_the_tree():
    for threads in (2, 8):
        assert one_machine.word_ratio(threads) < one_machine.ratio("Figure 9", threads, contended=True)
        assert one_machine.word_ratio(threads) < one_machine.printed_ratio(threads) / 4
