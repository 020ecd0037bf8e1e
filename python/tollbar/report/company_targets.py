# SPDX-License-Identifier: Apache-2.0
"""The targets of `tollbar bench company`, over all its cells: the entries `company` of targets.toml."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from tollbar.data import cells
from tollbar.data.cells import AUTO, Cell, Here
from tollbar.data.samples import Samples
from tollbar.report.target import Target, Wanted


def evaluate(found: Samples, listed: Sequence[Mapping[str, Any]]) -> list[Target]:
    """A row an entry; none where nothing was measured in company."""
    there = cells.gather(found)
    return [_row(asked, there) for asked in listed] if there else []


def _row(asked: Mapping[str, Any], there: Mapping[Cell, Here]) -> Target:
    label, case = asked.get("candidate", AUTO), asked["case"]
    known = {
        cell: values
        for cell, here in there.items()
        if all(getattr(cell, name) == value for name, value in asked["where"].items())
        and (values := _values(asked, here, label))
    }
    wanted = Wanted(asked.get("most"))
    if not known:
        return _target(asked, label, None, wanted.text, "not measured in this run")
    medians = {cell: statistics.median(values) for cell, values in known.items()}
    if "above" in asked:
        allowed = asked["of"] and asked["most"] * len(known) // asked["of"]
        far = sum(value > asked["above"] for value in medians.values())
        target = f"at most {allowed} of {len(known)}"
        return _target(asked, label, (far, None, None), target, "met" if far <= allowed else "missed")
    worst = max(medians, key=medians.__getitem__)
    value, low, high = medians[worst], min(known[worst]), max(known[worst])
    missed = [cell for cell in known if medians[cell] > asked["most"]]
    beyond = [cell for cell in missed if min(known[cell]) > asked["most"]]
    verdict = "missed" if beyond or (missed and not asked.get("tie")) else "tie" if missed else "met"
    verdict += f" in {len(missed)} of {len(known)} cells" if missed and len(known) > 1 else ""
    return _target(
        {**asked, "case": f"{case}: {worst.text}"}, label, (value, low, high), wanted.text, verdict, worst
    )  # fmt: skip


def _values(asked: Mapping[str, Any], here: Here, label: str) -> list[float]:
    """One a launch: microseconds, or a ratio to a barrier or to the best."""
    if asked.get("metric") == "us":
        return [value / 1e3 for value in here.turns.get(label, {}).values()]
    return here.ratios(label, asked.get("over"))


def _target(
    asked: Mapping[str, Any], label: str, reached: tuple[float, float | None, float | None] | None,
    target: str, verdict: str, cell: Cell | None = None,
) -> Target:  # fmt: skip
    return Target(
        asked["case"],
        cell.ranks if cell else asked["where"].get("ranks"),
        cell.placement if cell else asked["where"].get("placement"),
        label,
        *(reached or (None, None, None)),
        target,
        verdict,
    )
