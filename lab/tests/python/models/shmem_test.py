# SPDX-License-Identifier: Apache-2.0
"""The model of the split-mode paper: its order at 768 PEs, and how firm that is."""

import dataclasses

import pytest
from tollbar_lab.models import exchange, shmem_published
from tollbar_lab.models import shmem as shmem_model


def in_order(seconds):
    """The experiments, fastest first; what looks at the same slots is one."""
    return [name for name in sorted(seconds, key=seconds.get) if name != "Progress engine integration"]


def modelled():
    return {each.experiment: each.seconds for each in exchange.table()}


def test_the_model_has_the_papers_order_and_is_within_a_percent_of_every_row():
    published = shmem_published.published()
    assert in_order(modelled()) == in_order(published)
    assert modelled() == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("cost", ["o", "L", "occupied"])
def test_puts_before_ibarrier_before_amos_does_not_hang_on_one_cost(monkeypatch, cost, factor):
    changed = {
        name: dataclasses.replace(signal, **{cost: factor * getattr(signal, cost)})
        for name, signal in shmem_model.SIGNALS.items()
    }
    monkeypatch.setattr(shmem_model, "SIGNALS", changed)
    wanted = ["64-bit Puts", "MPI_Ibarrier()", "64-bit AMOs", "32-bit AMOs"]
    assert [name for name in in_order(modelled()) if name in wanted] == wanted


def test_what_makes_amos_slow_is_the_card_that_the_pes_of_a_node_share():
    amo, put = (shmem_model.SIGNALS[name] for name in ("64-bit AMOs", "64-bit Puts"))
    shared, alone = (shmem_model.barrier_us(amo, 768, a_node) for a_node in (24, 1))
    assert shared > 4 * alone
    assert shmem_model.barrier_us(put, 768, 1) == pytest.approx(shmem_model.barrier_us(put, 768, 24))


def test_the_fewer_are_outstanding_the_more_is_waited():
    times = [
        shmem_model.barrier_us(dataclasses.replace(shmem_model.SIGNALS["Non-blocking 64-bit AMO"], outstanding=n))
        for n in (1, 2, 4)
    ]
    assert times == sorted(times, reverse=True)
    assert times[-1] > shmem_model.barrier_us(shmem_model.SIGNALS["64-bit AMOs"])


def test_other_numbers_of_pes_are_compared_with_nothing():
    assert {each.published_s for each in exchange.table(16)} == {None}
