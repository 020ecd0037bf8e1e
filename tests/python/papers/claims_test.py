# SPDX-License-Identifier: Apache-2.0
"""What the papers claim in words: every verdict, and the numbers of its derivation."""

import json
from fractions import Fraction

import pytest
from tollbar.cli import main
from tollbar.models import quanta
from tollbar.papers import claims, errata, multiprogramming

HOLDS, REFUTED, UNDECIDABLE = claims.VERDICTS


@pytest.fixture(scope="module")
def found() -> list[claims.Claim]:
    return claims.all_claims()


@pytest.mark.parametrize(
    ("paper", "begins", "verdict", "numbers"),
    [
        ("multiprogramming", "the results for 4, 2 and 1 processors", HOLDS, ("1.36", "2.70")),
        ("multiprogramming", "a tree takes two quanta", HOLDS, ("2.000",)),
        ("multiprogramming", "in simulation a tree is never better", HOLDS, ("0.053 to 1.000",)),
        (
            "multiprogramming",
            "measured, a tree is better",
            HOLDS,
            ("20.0 ms ahead from 4 to 14", "0.08 to 0.28 ms behind"),
        ),
        ("multiprogramming", "its linear time and its contention", HOLDS, ("60.0 to 100.0 ms", "39.7 to 79.9")),
        ("multiprogramming", "above 20 switches", HOLDS, ("9.3 %",)),
        ("multiprogramming", "a tree has an overhead of as much as 158", UNDECIDABLE, ("0.45",)),
        ("multiprogramming", "a combination has less than 10 %", HOLDS, ("4.6, 22.4", "1.7")),
        ("multiprogramming", "a combination has much less overhead", REFUTED, ("48.6 against 37.7",)),
        ("multiprogramming", "the completion time changes only", HOLDS, ("16 to 15, 8 to 7, 6 to 5",)),
        ("multiprogramming", "programs that are not coscheduled", HOLDS, ("0.1 to 5.2 % longer",)),
        ("multiprogramming", "above four switches of computing", UNDECIDABLE, ("13.0 % at 4", "63.1 % at 4")),
        ("multiprogramming", "an application that loses", HOLDS, ("leaves 15, 14, 12, 8", "1.505 to 1.506")),
        ("multiprogramming", "threads that compute equally", HOLDS, ("6.0, -1.3, -6.1", "25.0, 14.1, 5.5")),
        ("multiprogramming", "P_M processors", HOLDS, ("0.28 %",)),
        ("multiprogramming", "a fourth processor", HOLDS, ("33.4 %",)),
        ("multiprogramming", "the solution equals the recurrence", HOLDS, ("99 Q",)),
        ("multiprogramming", "the recurrence agrees for Q > 2", REFUTED, ("2.5", "2.0")),
        ("openmp-mpi", "the sense-reversing barrier's time is linearly", REFUTED, ("24.8 times",)),
        ("openmp-mpi", "the sense-reversing barrier has the lowest", REFUTED, ("6.2 us", "3.5 us")),
        ("openmp-mpi", "false sharing of the children's flags", REFUTED, ("0.75 to 1.21", "10.4 times")),
        ("openmp-mpi", "contention and false sharing make", UNDECIDABLE, ("1.11 to 1.24", "10.4 times")),
        ("openmp-mpi", "a fixed delay before the sense", UNDECIDABLE, ("0.91 to 1.19", "1600 ns")),
        ("openmp-mpi", "the MCS tree between nodes follows log4 N", REFUTED, ("7.0 times", "3.32 times")),
        ("openmp-mpi", "dissemination sends N ceil(log2 N)", HOLDS, ()),
        ("openmp-mpi", "with many nodes the MCS tree", UNDECIDABLE, ("2.87 against 1.72",)),
        ("openmp-mpi", "the peak is at 7 nodes", UNDECIDABLE, ("24 against 21", "2.37 us", "3.65 against 3.41")),
        ("logp", "dissemination delivers the best results", HOLDS, ("90 against 120",)),
        ("logp", "the asymptotic standard error", UNDECIDABLE, ()),
        ("split-shmem", "puts are faster than AMOs", HOLDS, ("0.485 against 0.663 and 0.551",)),
        ("nic", "the factor of improvement increases", HOLDS, ("1.35, 1.75, 1.94, 2.06",)),
        ("nic", "for an efficiency of 0.90", HOLDS, ("44.1 % at 0.90",)),
        ("nic", "at the GM level", UNDECIDABLE, ("2.00", "2.20")),
        ("nic", "the overhead of the MPI level grows", UNDECIDABLE, ("3.22 us at 2 nodes",)),
    ],
)
def test_a_verdict_has_the_numbers_of_its_derivation(found, paper, begins, verdict, numbers):
    (claim,) = [each for each in found if each.paper == paper and each.says.startswith(begins)]
    assert claim.verdict == verdict
    for number in numbers:
        assert number in claim.because


def test_no_claim_is_without_a_derivation_or_made_twice(found):
    assert all(claim.because and claim.verdict in claims.VERDICTS for claim in found)
    assert len({(claim.paper, claim.where, claim.says) for claim in found}) == len(found)


def test_whatever_the_errata_have_counts_as_refuted(found):
    wrong = [each for each in errata.all_errata() if each.printed != each.computed]
    refuted = {(claim.paper, claim.says) for claim in found if claim.verdict == REFUTED}
    assert {(each.paper, f"{each.about}: {each.printed}") for each in wrong} <= refuted


@pytest.mark.parametrize(
    ("waiting", "expected"), [("naive", (37.7, 35.5, 36.4, 35.6)), ("smart", (37.4, 19.4, 18.9, 14.0))]
)
def test_fewer_processors_are_similar_by_the_yield_of_section_3_4_alone(waiting, expected):
    found = [multiprogramming.overhead_pct("tree", 4, waiting, p) for p in (8, 4, 2, 1)]
    assert found == pytest.approx(expected, abs=0.05)


def test_the_solution_of_the_appendix_is_checked_against_the_recurrence_it_solves():
    q = Fraction(3, 2)
    passed = [t for _, t in zip(range(6), quanta.recurrence(q), strict=False)]
    assert passed == [1, q, 2, 3, 2 + q, 4]  # by hand: min(floor(t(n - 1)) + 1, t(n - 2) + Q)


def test_the_command_prints_every_claim(capsys, found):
    assert main(["reproduce", "claims", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["says"] for row in rows] == [claim.says for claim in found]


def test_the_index_counts_the_claims_of_each_paper(tmp_path, found):
    assert main(["reproduce", "split-shmem", "--no-measured", "-o", str(tmp_path)]) == 0
    text = (tmp_path / "index.html").read_text()
    counts = claims.counted(found, "split-shmem")
    assert f"{counts[HOLDS]} hold, {counts[REFUTED]} are refuted, {counts[UNDECIDABLE]} cannot" in text
