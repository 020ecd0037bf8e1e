# SPDX-License-Identifier: Apache-2.0
"""What the papers claim in words, and whether it holds: each with what was computed, or the argument.

What is stated as a number of a table or figure stands in published.toml; what does not follow stands in
errata.py and counts here as a refuted claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tollbar.papers import claims_messages, claims_others, claims_scheduler, errata
from tollbar.papers.verdict import HOLDS, REFUTED, UNDECIDABLE, Row, Verdict

VERDICTS: tuple[Verdict, ...] = (HOLDS, REFUTED, UNDECIDABLE)
_MAKERS = {
    "openmp-mpi": claims_messages.openmp_mpi,
    "logp": claims_messages.logp_claims,
    "multiprogramming": claims_scheduler.multiprogramming_claims,
    "split-shmem": claims_others.split_shmem,
    "nic": claims_others.nic_claims,
}


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper."""

    paper: str
    where: str  #: section, table or figure
    says: str
    verdict: Verdict
    because: str  #: the derivation, with its numbers


def all_claims() -> list[Claim]:
    """In the order of the papers; those of a paper that are refuted by an erratum come last."""
    refuted = [
        Claim(
            erratum.paper,
            erratum.where,
            f"{erratum.about}: {erratum.printed}",
            REFUTED,
            f"what follows is {erratum.computed}",
        )
        for erratum in errata.all_errata()
        if erratum.printed != erratum.computed
    ]
    claims = []
    for paper, make in _MAKERS.items():
        claims += [Claim(paper, *row) for row in make()]
        claims += [claim for claim in refuted if claim.paper == paper]
    return claims


def counted(claims: Sequence[Claim], paper: str) -> dict[Verdict, int]:
    """How many claims of a paper have each verdict."""
    of = Counter(claim.verdict for claim in claims if claim.paper == paper)
    return {verdict: of[verdict] for verdict in VERDICTS}


__all__ = ["VERDICTS", "Claim", "Row", "all_claims", "counted"]
