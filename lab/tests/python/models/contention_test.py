# SPDX-License-Identifier: Apache-2.0
"""One machine for several barriers, with messages that get in each other's way."""

import pytest
from tollbar_lab.models.contention import Machine, alone_for, fit, worst
from tollbar_lab.models.logp_fit import Measured

SIZES = (2, 3, 5, 8, 12)


def rows(machine):
    return [Measured(plan, n, machine.price_us(plan, n)) for plan in ("mcs", "dissemination") for n in SIZES]


def test_a_price_is_its_longest_path_and_a_while_for_each_message():
    # Dissemination of 12: four messages in a row, and four by each of 12 ranks.
    assert Machine(2.0, 0.1).price_us("dissemination", 12) == pytest.approx(4 * 2.0 + 48 * 0.1)
    # The tree of 2: two messages in a row.
    assert Machine(2.0, 0.1).price_us("mcs", 2) == pytest.approx(2 * 2.0 + 2 * 0.1)


@pytest.mark.parametrize("machine", [Machine(2.0, 0.3), Machine(0.5, 0.0), Machine(0.0, 0.2)])
def test_a_fit_finds_the_machine_that_made_the_numbers(machine):
    found = fit(rows(machine), contended=True)
    assert found.message_us == pytest.approx(machine.message_us, abs=1e-9)
    assert found.alone_us == pytest.approx(machine.alone_us, abs=1e-9)
    assert worst(found, rows(machine)) < 1e-9


def test_a_fit_without_contention_has_none():
    found = fit(rows(Machine(2.0, 0.3)), contended=False)
    assert found.alone_us == 0
    assert worst(found, rows(Machine(2.0, 0.3))) > 0.1


@pytest.mark.parametrize("ranks", range(3, 40))
def test_with_the_part_that_is_needed_both_cost_the_same(ranks):
    part = alone_for("mcs", "dissemination", ranks)
    machine = Machine(1.0, part)
    assert machine.price_us("mcs", ranks) == pytest.approx(machine.price_us("dissemination", ranks))


def test_no_part_is_enough_for_a_dearer_plan_with_no_fewer_messages():
    assert alone_for("mcs", "dissemination", 2) is None
    assert alone_for("dissemination", "mcs", 12) == 0
