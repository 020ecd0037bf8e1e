# SPDX-License-Identifier: Apache-2.0
"""tollbar price."""

import csv
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden" / "logp_a_small.csv"
COLUMNS = "plan,ranks,last_us,first_us,mean_us,messages"
NAMED_ALIKE = ("central", "tournament", "bst", "butterfly", "dissemination")


def test_rows_equal_the_golden_ones(tollbar):
    with GOLDEN.open() as file:
        golden = {row["algorithm"]: row for row in csv.DictReader(file) if row["P"] == "37"}
    rows = tollbar("price", *NAMED_ALIKE, "--ranks", 37, "--logp", "10,5,3", "--format", "csv").csv
    assert {row["plan"] for row in rows} == set(NAMED_ALIKE)
    for row in rows:
        wanted = golden[row["plan"]]
        assert float(row["last_us"]) == float(wanted["exact_last_us"])
        assert float(row["first_us"]) == float(wanted["exact_first_us"])
        assert float(row["mean_us"]) == pytest.approx(float(wanted["exact_mean_us"]), abs=1e-4)
        assert row["messages"] == wanted["messages"]


def test_the_columns_are_stable(tollbar):
    assert tollbar("price", "mcs", "--ranks", 2, "--format", "csv").out.splitlines()[0] == COLUMNS
    assert list(tollbar("price", "mcs", "--ranks", 2, "--format", "json").json[0]) == COLUMNS.split(",")
    assert tollbar("price", "mcs", "--ranks", 2).out.split("\n")[0].split() == COLUMNS.split(",")


def test_plans_are_sorted_by_ranks_and_then_by_price(tollbar):
    rows = tollbar("price", "--ranks", "64,16", "--logp", "10,5,3", "--format", "json").json
    assert [row["ranks"] for row in rows] == [16] * 11 + [64] * 11
    for size in (16, 64):
        prices = [row["last_us"] for row in rows if row["ranks"] == size]
        assert prices == sorted(prices)


def test_a_range_prices_every_size(tollbar):
    rows = tollbar("price", "mcs", "--ranks", "3..5,9", "--format", "json").json
    assert [row["ranks"] for row in rows] == [3, 4, 5, 9]


def test_the_receive_semantics_may_be_chosen(tollbar):
    def price(receive):
        arguments = ("price", "central", "--ranks", 4, "--late", "1:50", "--format", "json")
        (row,) = tollbar(*arguments, "--receive", receive).json
        return row["last_us"]

    assert price("plan-order") > price("at-await")
    assert price("on-arrival") > 0


def test_a_late_rank_delays_everybody(tollbar):
    def price(*late):
        (row,) = tollbar("price", "dissemination", "--ranks", 8, *late, "--format", "json").json
        return row

    late = price("--late", "3:100", "--late", "5:7")
    assert late["last_us"] == price()["last_us"] + 100
    assert late["first_us"] > 100


def test_a_machine_has_a_term_for_a_word_that_many_add_to(tollbar):
    said = tollbar("price", "turnstile", "dissemination", "--logp", "epyc", "--ranks", "64", "--format", "json")
    rows = {row["plan"]: row for row in said.json}
    assert rows["dissemination"]["contended_us"] == rows["dissemination"]["last_us"]
    assert rows["turnstile"]["last_us"] < rows["dissemination"]["last_us"] < rows["turnstile"]["contended_us"]
    assert "computed, not measured" in tollbar("price", "mcs", "--logp", "epyc", "--ranks", "4").err


@pytest.mark.parametrize("ranks", [16, 32, 64, 128])
def test_the_contended_word_costs_what_its_simulation_takes(tollbar, ranks):
    priced = tollbar("price", "turnstile", "--logp", "epyc", "--ranks", ranks, "--format", "json").json
    simulated = tollbar("simulate", "cores", "one-word", "--ranks", ranks, "--format", "json").json
    assert priced[0]["contended_us"] == pytest.approx(simulated[0]["barrier_us"], rel=0.3)


def test_overheads_may_be_given_apart(tollbar):
    """Equations 1 to 4 of the LogP paper: f_s = max(o_s, g), f_r = max(o_r, g), t = max(g, o_s + L + o_r)."""
    (row,) = tollbar("price", "central", "--ranks", 10, "--logp", "10,2,6,3", "--format", "json").json
    assert row["last_us"] == 2 * (2 + 10 + 6) + 8 * 6 + 8 * 3
    same, one = (
        tollbar("price", "mcs", "--ranks", 13, "--logp", logp, "--format", "json").json
        for logp in ("10,5,5,3", "10,5,3")
    )
    assert same == one


def test_a_file_of_words_costs_what_its_plan_costs(tollbar, tmp_path):
    file = tmp_path / "good"
    file.write_text(tollbar("show", "mcs", "--ranks", 8).out)
    of_mcs, of_file = tollbar("price", "mcs", file, "--ranks", 8, "--format", "json").json
    assert of_file == of_mcs | {"plan": str(file)}
    assert tollbar("price", file, "--format", "json").json == [of_file]
    said = tollbar("price", file, "--ranks", 8).refusal
    own = "a FILE has its own number of ranks, one line each"
    assert said == f"tollbar price: {own}; leave out --ranks or name a PLAN\n"
    said = tollbar("price", "mcs", file, "--ranks", "2..8", "--crossover").refusal
    assert said == "tollbar price: --crossover compares many sizes, and a FILE has one; name a PLAN\n"
