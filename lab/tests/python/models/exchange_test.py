# SPDX-License-Identifier: Apache-2.0
"""The sparse exchange: requests that queue at cards, letters that grow with the PEs, and the paper's row."""

import pytest
from tollbar_lab.models import exchange, shmem, shmem_published

PUT = shmem.SIGNALS["64-bit Puts"]
TRIP = 2 * (PUT.o + PUT.L)


def test_one_pe_waits_for_nobody():
    requests = [[(0, 0.5), (1, 0.25)]]
    assert exchange.last_us(requests, 2.0) == pytest.approx(2 * (2.0 + TRIP) + 0.75)


def test_requests_of_many_queue_at_one_card():
    requests = [[(0, 0.5)] for _ in range(10)]
    assert exchange.last_us(requests, 0.0) == pytest.approx(TRIP + 10 * 0.5)


def test_requests_to_cards_of_their_own_do_not():
    requests = [[(card, 0.5)] for card in range(10)]
    assert exchange.last_us(requests, 0.0) == pytest.approx(TRIP + 0.5)


def test_a_second_request_goes_out_when_the_first_is_answered():
    # PE 0 has two requests; the card is free again when the second comes, after the one of PE 1.
    requests = [[(0, 0.5), (0, 0.5)], [(0, 0.5)]]
    assert exchange.last_us(requests, 0.0) == pytest.approx(2 * (TRIP + 0.5))


def test_two_pes_send_one_letter_each_in_a_time_that_is_added_up():
    found = exchange.exchange(2, 1)
    amo = shmem.SIGNALS["64-bit AMOs"]
    assert found.send_us == pytest.approx(exchange.LETTER_US + PUT.o + TRIP + amo.occupied)
    assert TRIP < found.fetch_us < TRIP + PUT.occupied + 1024 / 6800 + 1e-9
    assert found.closing_us == pytest.approx(TRIP / 2 + PUT.o)


def test_the_exchange_meets_the_papers_row_of_puts_at_its_number_of_pes():
    (row,) = [each for each in exchange.table() if each.experiment == "64-bit Puts"]
    assert row.seconds == pytest.approx(shmem_published.published()["64-bit Puts"], rel=0.001)


def test_an_iteration_grows_with_the_letters_of_a_pe():
    times = [exchange.exchange(pes).all_us for pes in (2, 4, 16, 64, 256, 768)]
    assert times == sorted(times)
    assert times[-1] > 9 * times[0]  # ten letters a PE instead of one
    assert [exchange.letters(pes) for pes in (2, 3, 4, 5, 768)] == [1, 2, 2, 3, 10]


def test_a_card_of_its_own_for_each_pe_makes_sending_cheaper():
    assert exchange.exchange(96, 1).send_us < exchange.exchange(96, 96).send_us


def test_the_same_seed_gives_the_same_and_another_hardly_another():
    one = exchange.exchange(96).all_us
    exchange.exchange.cache_clear()
    assert exchange.exchange(96).all_us == one
    assert exchange.exchange(96, seed=2).all_us == pytest.approx(one, rel=0.05)


@pytest.mark.parametrize("wrong", [(1, 24, 4), (8, 0, 4), (8, 24, 0)])
def test_too_few_are_refused(wrong):
    with pytest.raises(ValueError, match="at least"):
        exchange.exchange(*wrong)
