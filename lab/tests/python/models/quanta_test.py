# SPDX-License-Identifier: Apache-2.0
"""The recurrence of Markatos et al. 1991, its solution, and the simulator: three ways to the same numbers."""

import csv
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest
import tollbar_lab
from tollbar_lab.models import quanta

GOLDEN = Path(__file__).parents[4] / "tests" / "golden" / "seed002_recurrence.csv"
RATIOS = [Fraction(100 + percent, 100) for percent in range(1, 100)]


def rows():
    with GOLDEN.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["Q_over_T"])
def test_every_golden_row(row):
    ratio = Fraction(row["Q_over_T"])
    assert quanta.pattern(ratio) == int(row["R"])
    assert quanta.quanta_for(500, ratio) == int(row["quanta_for_500_recurrence"])
    assert float(quanta.closed_form(500, ratio)) == pytest.approx(float(row["quanta_for_500_closed_form"]), abs=5e-4)


@pytest.mark.parametrize("ratio", RATIOS[::6], ids=str)
def test_the_closed_form_is_what_the_simulator_needs(ratio):
    simulated = tollbar_lab.simulate_scheduler(
        [tollbar_lab.SchedulerApplication(compute_us=10000, barriers=500)],
        processors=15,
        quantum_us=float(ratio * 10000),
        switch_us=0,
    ).completed_us / float(ratio * 10000)
    assert simulated == pytest.approx(float(quanta.closed_form(500, ratio)), rel=2e-3)
    assert simulated == pytest.approx(quanta.quanta_for(500, ratio) + 1, rel=4e-3)


def test_the_recurrence_begins_as_computed_by_hand():
    """Each t_n is min(floor(t_(n - 1)) + 1, t_(n - 2) + Q)."""
    q = Fraction(3, 2)
    assert list(islice(quanta.recurrence(q), 6)) == [1, q, 2, 3, 2 + q, 4]


def test_beyond_two_computing_times_a_quantum_passes_one_barrier():
    assert list(islice(quanta.recurrence(Fraction(5, 2)), 5)) == [1, 2, 3, 4, 5]
    assert quanta.closed_form(500, Fraction(5, 2)) == 500


def test_a_time_in_place_of_the_quantum_would_pass_barriers_faster_than_one_a_quantum():
    computing_ms, quantum_ms = 12, 20
    share = quanta.closed_form(1, Fraction(quantum_ms, computing_ms))
    assert share * quantum_ms == 30
    assert share * computing_ms == 18 < quantum_ms


def test_no_processor_is_asked_for_that_takes_no_thread_off_the_fullest():
    for threads in range(1, 40):
        for processors in range(1, threads + 1):
            fullest = -(-threads // processors)
            found = quanta.processors_needed(threads, processors)
            assert -(-threads // found) == fullest  # the same time
            assert found == 1 or -(-threads // (found - 1)) > fullest  # and one fewer takes longer
    wanted = {1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 6: 6, 7: 6, 8: 8, 15: 8, 16: 16}
    assert {p: quanta.processors_needed(16, p) for p in wanted} == wanted
