# SPDX-License-Identifier: Apache-2.0
"""Raymond: split barriers in OpenSHMEM, one table of a sparse data exchange."""

from __future__ import annotations

from collections.abc import Iterator

from tollbar.data.statistics import Interval
from tollbar.models import exchange, shmem_published
from tollbar.models.shmem_published import EXPERIMENTS, ITERATIONS, OTHERS
from tollbar.papers import stored
from tollbar.papers.exhibit import Axes, Exhibit, Point, with_published
from tollbar.papers.stored import Stored

NAME = "split-shmem"


def exhibits(runs: Stored) -> list[Exhibit]:
    points = [Point("time", row.experiment, model=row.seconds) for row in exchange.table()]
    points = with_published(points, NAME, "Table 1")
    for experiment, pes, taken in _measured(runs):
        points.append(Point(f"{pes} PEs", experiment, measured=taken.value, low=taken.low, high=taken.high))
    order = sorted(shmem_published.published().items(), key=lambda item: item[1])
    modelled = sorted((point for point in points if point.model), key=lambda point: point.model or 0)
    same = {order[0][0], order[1][0]} == {modelled[0].x, modelled[1].x}
    sentence = (
        f"Printed, {order[0][0]} is the fastest with {order[0][1]:.3g} s and {order[-1][0]} the slowest with "
        f"{order[-1][1]:.4g} s; the model's two fastest are {'the same' if same else 'others'}."
    )
    title = "Dynamic sparse data exchange, 1000 iterations, 768 PEs"
    return [
        Exhibit(
            NAME, "Table 1", title, Axes("synchronized by", "s", log_y=False), points, sentence, runs.missing("shmem")
        ),
        _over_pes(runs),
    ]


def _measured(runs: Stored) -> Iterator[tuple[str, int, Interval]]:
    """Each experiment, the number of PEs, and the seconds of as many iterations as in the paper."""
    for experiment in (*EXPERIMENTS, *OTHERS):
        for pes, measured in runs.shmem.items():
            if taken := measured.median(experiment.barrier, "exchange_ns"):
                yield experiment.name, pes, taken.times(ITERATIONS / 1e9)


#: Barriers whose signals differ in kind.
_KINDS = ("64-bit Puts", "MPI_Ibarrier()", "64-bit AMOs", "32-bit AMOs")
_PES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 768)


def _over_pes(runs: Stored) -> Exhibit:
    """The same table against the number of PEs; the paper has one number of them."""
    points = []
    for pes in _PES:
        points += [
            Point(row.experiment, pes, model=row.seconds, published=row.published_s)
            for row in exchange.table(pes)
            if row.experiment in _KINDS
        ]
    points += [
        Point(experiment, pes, measured=taken.value, low=taken.low, high=taken.high)
        for experiment, pes, taken in _measured(runs)
        if experiment in _KINDS
    ]
    few, many = exchange.exchange(_PES[0]), exchange.exchange(_PES[-1])
    sentence = (
        f"Without its split barrier an iteration takes {few.all_us:.0f} us between {_PES[0]} PEs and "
        f"{many.all_us:.0f} us between {_PES[-1]}, of which {many.send_us:.0f} us go into announcing "
        f"{exchange.letters(_PES[-1])} letters and {many.fetch_us:.0f} us into fetching them."
    )
    title, points = "The same exchange with fewer PEs, 24 of them a node", stored.merged(points)
    return Exhibit(NAME, "Table 1 over PEs", title, Axes("PEs", "s"), points, sentence, runs.missing("shmem"))
