# SPDX-License-Identifier: Apache-2.0
"""Raymond: split barriers in OpenSHMEM, one table of a sparse data exchange."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tollbar.data.places import Measurements

from tollbar_lab.models import exchange, shmem_published
from tollbar_lab.models.shmem_published import EXPERIMENTS, ITERATIONS, OTHERS
from tollbar_lab.papers import stored
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, with_published
from tollbar_lab.papers.stored import Stored

NAME = "split-shmem"


def exhibits(runs: Stored) -> list[Exhibit]:
    points = [Point("time", row.experiment, model=row.seconds) for row in exchange.table()]
    points = with_published(points, NAME, "Table 1")
    points += [replace(taken, series=f"{taken.x} PEs", x=taken.series) for taken in _measured(runs)]
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
            NAME,
            "Table 1",
            title,
            Axes("synchronized by", "1000 iterations, s", log_y=False),
            points,
            sentence,
            runs.missing("shmem", stored.any_of(points)),
        ),
        _over_pes(runs),
    ]


#: The row from which the model has what an iteration takes besides its split barrier.
_FITTED = "dissemination (puts)"


def _measured(runs: Stored) -> Iterator[Point]:
    """Each experiment over the PEs: the seconds of as many iterations as in the paper.

    The prediction adds what the barrier takes alone to the rest of an iteration, as the model does.
    """
    for experiment in (*EXPERIMENTS, *OTHERS):
        for pes, measured in runs.shmem.items():
            if taken := measured.median(experiment.barrier, "exchange_ns"):
                rest_ns, alone_ns = _rest_ns(measured), measured.time_ns(experiment.barrier)
                known = rest_ns is not None and alone_ns is not None and experiment.barrier != _FITTED
                yield Point(
                    experiment.name,
                    pes,
                    measured=taken.value * _SECONDS,
                    low=taken.low and taken.low * _SECONDS,
                    high=taken.high and taken.high * _SECONDS,
                    predicted=((rest_ns or 0) + (alone_ns or 0)) * _SECONDS if known else None,
                )


#: Seconds of all iterations, for each nanosecond of one.
_SECONDS = ITERATIONS / 1e9


def _rest_ns(measured: Measurements) -> float | None:
    """An iteration here without its split barrier."""
    whole, alone_ns = measured.median(_FITTED, "exchange_ns"), measured.time_ns(_FITTED)
    return None if whole is None or alone_ns is None else max(0.0, whole.value - alone_ns)


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
    points += [taken for taken in _measured(runs) if taken.series in _KINDS]
    few, many = exchange.exchange(_PES[0]), exchange.exchange(_PES[-1])
    sentence = (
        f"Without its split barrier an iteration takes {few.all_us:.0f} us between {_PES[0]} PEs and "
        f"{many.all_us:.0f} us between {_PES[-1]}, of which {many.send_us:.0f} us go into announcing "
        f"{exchange.letters(_PES[-1])} letters and {many.fetch_us:.0f} us into fetching them."
    )
    title, points = "The same exchange with fewer PEs, 24 of them a node", stored.merged(points)
    return Exhibit(
        NAME,
        "Table 1 over PEs",
        title,
        Axes("PEs", "1000 iterations, s"),
        points,
        sentence,
        runs.missing("shmem", stored.any_of(points)),
    )
