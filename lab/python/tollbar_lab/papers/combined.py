# SPDX-License-Identifier: Apache-2.0
"""Figures 13 and 14 of Seyedroudbari and Kadiyala: threads inside nodes, both levels in one barrier.

No number of these figures is printed. The model has the costs of each level from the figure of that level:
the counter between threads from Figure 7, dissemination between nodes from Figure 11, each through the first
number that is printed, with L = o = g. The levels follow each other, so their prices add. The curve measured
here has one machine for both levels, fitted to all its points: contention.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from tollbar.data.places import Measurements, Situation
from tollbar.report import heat

from tollbar_lab.models import contention
from tollbar_lab.models.logp_fit import Measured
from tollbar_lab.papers import one_machine, stored
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, printed
from tollbar_lab.papers.lacking import Lack
from tollbar_lab.papers.stored import Stored

NAME = "openmp-mpi"
NODES, THREADS = range(2, 9), range(2, 13)
_CURVES = {"13a": (2, 4, 6, 8, 10, 12), "13b": (2, 3, 4, 5, 6, 7, 8)}

#: The barrier that is drawn; the first of these that was measured.
_MEASURED = ("turnstile/dissemination", "central/dissemination")
_TREE = "turnstile/mcs"
#: The part of a series' name that says with which MPI it was measured.
MPI = "(Open MPI|MPICH|Intel MPI)[^,]*"
#: The place that the paper's text names as the slowest: nodes, threads a node.
PEAK = (7, 12)
_TITLE = "Combined barrier, dissemination with omp sense-reverse"


@cache
def model_us(nodes: int, threads: int, *, contended: bool = False) -> float:
    """A barrier of so many nodes of so many threads, on the paper's machine.

    `contended`: messages between nodes are in each other's way, as Figure 12 asks for.
    """
    inside_us = level_us("Figure 7", one_machine.SENSE, threads)
    if contended:
        return inside_us + one_machine.fitted("Figure 12", contended=True).price_us("dissemination", nodes)
    return inside_us + level_us("Figure 11", "dissemination", nodes)


def level_us(number: str, series: str, ranks: int) -> float:
    """The barrier of one level, on the machine on which two cost what that figure prints."""
    plan = "central" if series == one_machine.SENSE else series
    two = Measured(plan, 2, printed(NAME, number, series, 2).value)
    return contention.fit([two], contended=False).price_us(plan, ranks)


def highest(*, contended: bool) -> list[int]:
    """The numbers of nodes at which 12 threads cost the most."""
    times = {nodes: model_us(nodes, max(THREADS), contended=contended) for nodes in NODES}
    return [nodes for nodes, us in times.items() if us > max(times.values()) * (1 - 1e-9)]


def exhibits(runs: Stored) -> list[Exhibit]:
    measured, nodes = timed(runs), Axes("nodes", "barrier, us", log_x=False)
    missing = runs.missing("hybrid", stored.any_of(measured))
    over_threads = [
        Point(f"{many} nodes", threads, model=model_us(many, threads)) for many in _CURVES["13b"] for threads in THREADS
    ]
    turned = [
        Point(
            f"{p.x:g} ranks, {p.series.partition(', ')[2]}",
            float(p.series.split()[0]),
            measured=p.measured,
            predicted=p.predicted,
        )
        for p in measured
    ]
    curves = [
        Exhibit(NAME, number, f"{_TITLE}: {what}", axes, points, _sentence(measured), missing, apart=MPI)
        for number, what, axes, points in (
            ("Figure 13a", "vs #mpi_nodes", nodes, [*_over_nodes(_CURVES["13a"]), *measured]),
            ("Figure 13b", "vs #omp_threads per node", replace(nodes, x="threads a node"), [*over_threads, *turned]),
        )
    ]
    return [*curves, _heat_map(measured, missing), _trees(runs)]


def _heat_map(measured: list[Point], missing: Lack | None) -> Exhibit:
    """Nodes by threads as colours, the model beside what each MPI was measured with."""
    modelled = _over_nodes(THREADS)
    by_mpi = {"model of the paper's cluster": modelled}
    for point in measured:
        by_mpi.setdefault(f"here: {point.series.partition(', ')[2]}", []).append(point)
    panels = [
        heat.Panel(
            title,
            {(int(point.x), int(point.series.split()[0])): point.model or point.measured or 0.0 for point in points},
            PEAK if points is modelled else None,
            f"the paper's peak, {PEAK[0]} nodes of {PEAK[1]} threads",
        )
        for title, points in by_mpi.items()
    ]
    picture = heat.svg("openmp-mpi-figure-14", panels, "nodes, or ranks", "threads a node, or a rank", "barrier, us")
    points = [*modelled, *measured]
    title = f"Heat map. {_TITLE}"
    return Exhibit(
        NAME, "Figure 14", title, Axes("nodes", "barrier, us"), points, _sentence(measured), missing, drawing=picture
    )


def tree_us(nodes: int, threads: int) -> float:
    """The same with the MCS tree between nodes, whose costs are those of Figure 10."""
    return level_us("Figure 7", one_machine.SENSE, threads) + level_us("Figure 10", "mcs", nodes)


def _trees(runs: Stored) -> Exhibit:
    """Section 1.3.1 describes this combination, and the paper shows no time of it."""
    measured = timed(runs, (_TREE,))
    modelled = [
        Point(f"{threads} threads a node", nodes, model=tree_us(nodes, threads))
        for threads in _CURVES["13a"]
        for nodes in NODES
    ]
    sentence = (
        "The paper has no number of this combination. With the costs of Figures 7 and 10 it takes "
        f"{tree_us(2, 12):.2f} us on 2 nodes of 12 threads and {tree_us(8, 12):.2f} us on 8; dissemination takes "
        f"{model_us(2, 12):.2f} and {model_us(8, 12):.2f} us with those of Figures 7 and 11."
    )
    title, axes = "Combined MCS-Sense barrier", Axes("nodes", "barrier, us")
    missing = runs.missing("hybrid", {_TREE: measured} if runs.hybrid else {"": measured})
    return Exhibit(NAME, "Section 1.3.1", title, axes, [*modelled, *measured], sentence, missing, apart=MPI)


def _over_nodes(threads: Iterable[int]) -> list[Point]:
    return [Point(f"{many} threads a node", nodes, model=model_us(nodes, many)) for many in threads for nodes in NODES]


def _sentence(measured: list[Point]) -> str:
    peak = " and ".join(map(str, highest(contended=True)))
    text = (
        "The paper prints no number of these figures, and a peak at 7 nodes of 12 threads. By the model that "
        f"takes {model_us(7, 12):.2f} us, as with {_others()} nodes; "
        f"where messages are in each other's way the peak is at {peak}."
    )
    if measured:
        slow = max(measured, key=lambda point: point.measured or 0)
        text += f" Here {slow.x:g} ranks take longest, with {slow.series}: {slow.measured:.4g} us."
    return text


def _others() -> str:
    *few, last = (str(nodes) for nodes in highest(contended=False) if nodes != 7)
    return f"{', '.join(few)} and {last}"


def timed(runs: Stored, names: Sequence[str] = _MEASURED) -> list[Point]:
    """Each with the price on the machine that fits all points of its MPI, where there are three or more."""
    points: list[Point] = []
    for mpi in dict.fromkeys(place.over for place in runs.hybrid):
        rows = list(_rows(_of_mpi(runs, mpi), names))
        machine = contention.fit([row for _, row in rows], contended=True) if len(rows) > 2 else None
        for place, row in rows:
            predicted_us = machine.price_us(row.plan, row.ranks) if machine else None
            series = f"{place.threads} threads a rank, {place.over}"
            if row.plan.startswith("central"):  # which is not what the title says
                series += ", whose threads meet at central"
            points.append(Point(series, place.ranks, measured=row.us, predicted=predicted_us))
    return points


def _of_mpi(runs: Stored, mpi: str) -> dict[Situation, Measurements]:
    return {place: measurements for place, measurements in runs.hybrid.items() if place.over == mpi}


def _rows(hybrid: Mapping[Situation, Measurements], names: Sequence[str]) -> Iterator[tuple[Situation, Measured]]:
    for place, measurements in hybrid.items():
        name = next((known.name for wanted in names if (known := measurements.find(wanted))), None)
        taken = measurements.time_ns(measurements.find(name)) if name else None
        if name and taken is not None:
            plan = name.replace("/", f"@{place.threads}/")
            yield place, Measured(plan, place.ranks * place.threads, taken / 1e3)
