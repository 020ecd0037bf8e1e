# SPDX-License-Identifier: Apache-2.0
"""The errata: rows that are computed, and a page whose numbers are theirs."""

import re
from itertools import combinations
from pathlib import Path

import pytest
import tollbar
from tollbar_lab.papers import errata, logp, multiprogramming, nic, published
from tollbar_lab.papers.exhibit import printed

PAGE = Path(__file__).resolve().parents[3] / "docs" / "errata.md"
PAGES = Path(__file__).resolve().parents[4] / "docs"  # of the house


@pytest.fixture(scope="module")
def rows() -> list[errata.Erratum]:
    return errata.all_errata()


def found(rows: list[errata.Erratum], about: str) -> list[tuple[str, str]]:
    return [(row.printed, row.computed) for row in rows if about in row.about]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("both see a count of 0", [("0 of 6", "4 of 6")]),
        ("has a step after", [("4, 7, 11", "2, 4, 8")]),
        ("maxima of the counter", [("9, 12", "none")]),
        ("2 and 8 costs nothing", [("at most 1", "1.90")]),
        ("if it grows as a logarithm", [("3.72", "1.23")]),  # 239.15 / 64.3
        ("over the MCS tree of 10", [("below 1", "1.77")]),  # 6.2 / 3.5
        ("256 nodes over 128", [("1.069", "2.003")]),
        # 3642.54 / 4009.79 and 4378.77 / 4343.63
        ("tournament over combining", [("0.91 and 1.01", "0.95 and 0.94")]),
        ("N T (2R-1)/R", [("18.0", "30.0")]),
        ("takes 2 quanta", [("all 120", "48 of 120")]),
        ("quanta of a tree of", [("3", "2"), ("4", "2"), ("3", "4")]),
        ("16 nodes: 216.70 / 105.37", [("2.09", "2.057")]),
        ("0.90 over 0.50", [("5.000", "9.000")] * 4),
        ("for the flat spot", [("at most 26.3", "71.2"), ("at most 15.5", "42.3")]),  # 54.175 + 17, 34.287 + 8
        ("largest factor", [("1.93", "1.62")]),
        ("360us on 2, 4, 8 and 16 nodes", [("up to 1.93", "1.13, 1.39, 1.59, 1.73")]),
        ("by the price", [("any", "0.20 to 0.30")]),
        ("by its formula", [("any", "0.20 to 0.50")]),
        ("last exchange", [("yes", "no")]),
        ("if it is dissemination by 32-bit AMOs", [("at least 978", "below 485")]),  # 1463 - 485
    ],
)
def test_what_follows_is_not_what_is_printed(rows, about, expected):
    assert found(rows, about) == expected


def test_the_barriers_of_figure_7_are_half_of_its_loops(rows):
    implied = [computed for _, computed in found(rows, "the barrier in Figure 7b")]
    assert implied == ["183.20", "102.38", "89.59", "60.31"]


def test_every_number_in_the_words_of_the_page_is_computed_or_printed(rows):
    known = {"0.625", "0.90", "0.50"}  # the fitted cost of a barrier, and the efficiencies of Figure 7
    for row in rows:
        known |= set(re.findall(r"\d+\.\d+", f"{row.about} {row.printed} {row.computed}"))
    known |= {f"{value.value:.2f}" for value in published.values()}
    known |= {f"{value.value}" for value in published.values()}
    small, large = (printed(logp.NAME, "Table 1", logp.CENTRAL, n).value for n in (128, 256))
    known.add(f"{100 * (large / small - 1):.1f}")
    worst = max(
        abs(logp.price_us(logp.PLANS[value.series], int(value.x)) / value.value - 1)
        for value in published.values_of(logp.NAME, "Table 1")
        if value.series != logp.CENTRAL
    )
    known.add(f"{100 * worst:.1f}")

    known.add(f"{nic.latency_us('lanai4.3', 'NB', 16, mpi=False):.2f}")

    words = re.sub(r"```.*?```", "", PAGE.read_text(), flags=re.DOTALL)
    words = re.sub(r"[Ss]ections? \d\.\d(?:\.\d)?|LANai \d\.\d|\]\([^)]*\)", "", words)
    told = set(re.findall(r"(?<![\d.])\d+\.\d+(?![\d.]*\d)", words))
    assert told - known == set()
    assert len(told) > 20


def test_three_pages_have_one_range_in_which_four_is_the_best_group():
    """A step on either side another group is cheaper: at 0.35 three."""

    def price(plan: str, ranks: int, costs: tollbar.LogP) -> float:
        return tollbar.price(tollbar.plan(plan, ranks), costs).last_us

    low, high = logp.best_at_four(price)
    beyond = tollbar.LogP(L=6, o=7, g=0)
    assert price("combining:3", 64, beyond) < price("combining:4", 64, beyond)
    assert f"from {low:.2f} t to {high:.2f} t" in PAGE.read_text()
    for page in ("algorithms/combining.md", "how-to/predict.md"):
        assert f"{low:.2f} to {high:.2f} of" in (PAGES / page).read_text(), page


def test_footnote_4_has_as_many_pairs_in_one_tree_and_across_both_as_the_page_says():
    def above(thread: int, children: int) -> set[int]:
        return {thread} | (above((thread - 1) // children, children) if thread else set())

    pairs = list(combinations(range(16), 2))
    slow = {pair for pair in pairs if multiprogramming.quanta_of_pair(*pair) > 1.5}
    in_a_tree = {(a, b) for a, b in pairs if a in above(b, 4) or a in above(b, 2)}
    assert in_a_tree < slow
    across = ", ".join(str(pair) for pair in sorted(slow - in_a_tree))
    assert (len(slow), len(in_a_tree), across) == (48, 44, "(1, 2), (2, 3), (2, 4), (3, 6)")
    told = PAGE.read_text()
    assert "In 44 of the 48" in told
    assert across.replace(", (3, 6)", " and (3, 6)") in told
