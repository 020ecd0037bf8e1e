# SPDX-License-Identifier: Apache-2.0
"""Whether a claim holds, and the rows that say why."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["holds", "refuted", "undecidable"]
HOLDS: Verdict = "holds"
REFUTED: Verdict = "refuted"
UNDECIDABLE: Verdict = "undecidable"  #: neither the paper's numbers nor a model of it decide

#: Where it stands, what it says, the verdict, and its derivation.
Row = tuple[str, str, Verdict, str]


def decided(holds: bool) -> Verdict:
    return HOLDS if holds else REFUTED
