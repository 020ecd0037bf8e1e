# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate exchange."""

import pytest
from tollbar.models import exchange

COLUMNS = "pes,experiment,barrier_us,send_us,fetch_us,closing_us,iteration_us,published_us"


def test_every_experiment_has_a_row_for_each_number_of_pes(tollbar):
    said = tollbar("simulate", "exchange", "--pes", "4,768", "--csv")
    assert said.code == 0, said.err
    assert ",".join(said.csv[0]) == COLUMNS
    assert len(said.csv) == 2 * len(exchange.shmem.SIGNALS)
    for row in said.csv:
        parts = ("barrier_us", "send_us", "fetch_us", "closing_us")
        assert float(row["iteration_us"]) == pytest.approx(sum(float(row[part]) for part in parts), abs=0.003)
        if row["pes"] == "768":
            assert float(row["iteration_us"]) == pytest.approx(float(row["published_us"]), rel=0.01)
        else:
            assert row["published_us"] == ""


def test_a_card_for_each_pe_is_nowhere_the_papers_machine(tollbar):
    said = tollbar("simulate", "exchange", "--pes", "768", "--pes-a-node", "1", "--csv")
    assert {row["published_us"] for row in said.csv} == {""}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--pes", "1"), "between 2 and 4096 PEs"),
        (("--pes", "5000"), "between 2 and 4096 PEs"),
        (("--pes-a-node", "0"), "--pes-a-node is a number from 1"),
    ],
)
def test_wrong_use_is_one_line(tollbar, words, told):
    said = tollbar("simulate", "exchange", *words)
    assert said.code == 2
    assert told in said.err
    assert said.err.count("\n") == 1
