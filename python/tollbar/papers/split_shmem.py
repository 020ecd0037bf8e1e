# SPDX-License-Identifier: Apache-2.0
"""Raymond: split barriers in OpenSHMEM, one table of a sparse data exchange."""

from __future__ import annotations

from tollbar.models import shmem as shmem_model
from tollbar.models import shmem_published
from tollbar.papers.exhibit import Exhibit, Point, with_published
from tollbar.papers.stored import Stored
from tollbar.report import shmem_tables

NAME = "split-shmem"


def exhibits(here: Stored) -> list[Exhibit]:
    points = [Point("time", each.experiment, model=each.seconds) for each in shmem_model.table()]
    points = with_published(points, NAME, "Table 1")
    for row in shmem_tables.rows(here.shmem):
        if row.seconds is not None:
            taken, series = row.seconds, f"{row.pes} PEs here"
            points.append(
                Point(series, row.experiment.name, measured=taken.value, low=taken.low, high=taken.high)
            )
    order = sorted(shmem_published.published().items(), key=lambda item: item[1])
    modelled = sorted((point for point in points if point.model), key=lambda point: point.model or 0)
    same = {order[0][0], order[1][0]} == {modelled[0].x, modelled[1].x}
    sentence = (
        f"Printed, {order[0][0]} is the fastest with {order[0][1]:.3g} s and {order[-1][0]} the slowest with "
        f"{order[-1][1]:.4g} s; the model's two fastest are {'the same' if same else 'others'}."
    )
    return [
        Exhibit(
            NAME,
            "Table 1",
            "Dynamic sparse data exchange, 1000 iterations, 768 PEs",
            "synchronized by",
            "s",
            points,
            sentence,
            missing=here.missing("shmem"),
            log_y=False,
        )
    ]
