# SPDX-License-Identifier: Apache-2.0
"""tollbar bench shmem --paper and --model: the summary table of Raymond's paper, measured and modelled."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.table import Table, column, write

if TYPE_CHECKING:
    from tollbar.report.shmem_tables import Row


@dataclass(frozen=True)
class Summary:
    """One experiment of the paper with so many PEs. Seconds are those of 1000 iterations."""

    experiment: str = column("what synchronized the exchange")
    barrier: str = column("its name in --only and in the targets")
    published_s: float | None = column("the paper, 768 PEs")
    published_ratio: float | None = column("that over the paper's MPI_Ibarrier")
    pes: int = column("how many PEs here")
    seconds: float | None = column("the exchange here: median over launches")
    low_s: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_s: float | None = column("upper end of it")
    ratio: float | None = column("that over MPI_Ibarrier here, paired by round")
    post_and_wait_us: float | None = column("the barrier alone, back to back")


@dataclass(frozen=True)
class Modelled:
    """One experiment in the model."""

    experiment: str = column("what synchronized the exchange")
    pes: int = column("how many PEs")
    barrier_us: float = column("the split barrier alone")
    seconds: float = column("1000 iterations")
    published_s: float | None = column("the paper, with as many PEs")


def model(pes: Sequence[int] | None) -> Table:
    """What the paper's experiments cost in the model."""
    from tollbar.models import exchange, shmem_published

    rows = [
        Modelled(each.experiment, number, each.barrier_us, each.seconds, each.published_s)
        for number in pes or (shmem_published.PES,)
        for each in exchange.table(number)
    ]
    return Table(rows, Modelled)


def paper(folder: Path, failed: bool) -> Table:
    """The paper's table, with a stored run of this machine beside it."""
    from tollbar.data import places, samples
    from tollbar.report import shmem_tables

    read = samples.read([folder])
    there = places.by_ranks(read)
    skipped = read.skipped.select("name", "why").unique(maintain_order=True)
    notes = [f"not measured: {name}: {why}" for name, why in skipped.iter_rows()]
    found = shmem_tables.rows(there)
    text = f"seconds of 1000 iterations\n{_side_by_side(found, list(there))}"
    notes.append(f"every sample is in {folder}")
    return Table([_summary(row) for row in found], Summary, text=text, failed=failed, notes=notes)


def _summary(row: Row) -> Summary:
    from tollbar.report import shmem_tables

    seconds = row.seconds
    return Summary(
        row.experiment.name,
        row.experiment.barrier,
        row.experiment.seconds,
        shmem_tables.published_ratio(row.experiment),
        row.pes,
        seconds.value if seconds else None,
        seconds.low if seconds else None,
        seconds.high if seconds else None,
        row.ratio.value if row.ratio else None,
        row.period.value / 1e3 if row.period else None,
    )


def _side_by_side(found: Sequence[Row], pes: Sequence[int]) -> str:
    """The paper's table as the paper has it, and a column for each number of PEs."""
    row_type = dataclasses.make_dataclass(
        "SideBySide", ["experiment", "published_768", *(f"pes_{each}" for each in pes)]
    )
    lines: dict[str, list[object]] = {}
    for row in found:
        line = lines.setdefault(row.experiment.name, [row.experiment.name, row.experiment.seconds])
        line.append(float(f"{row.seconds.value:.3g}") if row.seconds else None)
    out = io.StringIO()
    write(Table([row_type(*line) for line in lines.values()], row_type), "table", out)
    return out.getvalue()
