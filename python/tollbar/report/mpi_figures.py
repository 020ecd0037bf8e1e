# SPDX-License-Identifier: Apache-2.0
"""The figures about barriers between processes, each with a caption that says machine, spread and prediction.

They are those of two papers: Seyedroudbari and Kadiyala 2020 (Fig. 10 to 14: MPI, and MPI with threads), and
Hoefler et al., "A practical Approach to the Rating of Barrier Algorithms using the LogP Model and Open MPI"
(Fig. 4, 8, 10, 12, 13).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tollbar.data import places
from tollbar.data.places import Candidate, Here, Place
from tollbar.data.samples import Samples
from tollbar.models.prediction import Model
from tollbar.report import curves, plots
from tollbar.report.curves import Along, Figure
from tollbar.report.plots import Line

_MOST_LINES = plots.COLOURS
_MOST_SETTINGS = 4  # MPIs and layouts that stand together in one figure
#: Hoefler et al.: figure, what it shows, and the plans in it, with all their parameters.
_LOGP = (
    ("4", "Central counter", ("central",)),
    ("8", "Combining tree", ("combining",)),
    ("10", "Tournament", ("tournament",)),
    ("12", "Dissemination", ("dissemination",)),
    ("13", "All of these, and the MPI's own", ("central", "combining", "tournament", "dissemination")),
)


def of(found: Samples) -> list[Figure]:
    """From `tollbar bench mpi` or `bench hybrid`: what there are results for."""
    there = places.processes(found)
    machine = machine_text(next(iter(found.environments.values())))
    threads = any(place.threads > 1 for place in there)
    return _of_threads(there, machine) if threads else _of_ranks(there, machine)


def _of_ranks(there: Mapping[Place, Here], machine: str) -> list[Figure]:
    shown = {place: along for place, along in places.layouts(there).items() if len(along) > 1}
    if not shown:
        return []
    some = dict(list(shown.items())[:_MOST_SETTINGS])
    figures = _paper_1(some, machine + _pinned(some.values()))
    first = next(iter(shown))[0]
    for (mpi, layout), along in shown.items():
        if mpi == first:
            figures += _paper_2(along, layout, f"{machine}, {mpi}, {layout}{_pinned([along])}")
    for (mpi, layout), along in shown.items():
        where = f"{machine}, {mpi}, {layout}{_pinned([along])}"
        figures += _everything(along, f"all-{_slug(mpi, layout)}", where)
    return figures


def _of_threads(there: Mapping[Place, Here], machine: str) -> list[Figure]:
    """Threads inside ranks."""
    met = places.names(there.values())
    wanted = [each for outer in ("dissemination", "mcs") if (each := _first_with(met, outer))]
    figures = []
    for mpi in dict.fromkeys(place.over for place in there):
        of_mpi = {place: here for place, here in there.items() if place.over == mpi}
        for candidate in wanted:
            figures += _combined(of_mpi, candidate, f"{machine}, {mpi}")
    return figures


def machine_text(facts: Mapping[str, Any]) -> str:
    """The machine of a run, in a few words."""
    usable = facts.get("usable") or []
    return f"{facts.get('model') or 'unknown processor'}, {len(usable)} usable processors"


def _pinned(settings: Iterable[Along]) -> str:
    placed = [(ranks, here.place.placement) for along in settings for ranks, here in along.items()]
    pinned = sorted({ranks for ranks, placement in placed if placement == "pinned"})
    return f", {' and '.join(map(str, pinned))} ranks pinned" if pinned else ""


def _paper_1(settings: Mapping[tuple[str, str], Along], machine: str) -> list[Figure]:
    made = []
    for number, what, names in (
        ("10", "MCS tree between processes", ("mcs",)),
        ("11", "Dissemination between processes", ("dissemination",)),
        ("12", "Both", ("mcs", "dissemination")),
    ):
        lines, launches = [], []
        for (mpi, layout), along in settings.items():
            for candidate in (each for name in names for each in _by_any_way(along, name)):
                label = f"{candidate.label}, {mpi}, {layout}"
                found = curves.line(along, candidate, None, label, len(lines), band=len(settings) <= 2)
                lines += [found] if found else []
                launches.append(curves.launches(along.values(), [candidate]))
        text = f"{what} (Seyedroudbari and Kadiyala, Fig. {number}). {machine}; {_spread(lines, launches)}."
        made += curves.drawn(f"fig{number}", text, lines, plots.against, "latency", xlabel="ranks")
    return made


def _paper_2(along: Along, layout: str, where: str) -> list[Figure]:
    model = curves.model_of(along)
    made = []
    for number, what, names in _LOGP:
        some = [candidate for name in names for candidate in _named(along, name, alone=len(names) > 1)]
        lines = curves.with_predictions(along, some, model)
        launches = [curves.launches(along.values(), some)]
        if number == "13" and lines:
            own = next(filter(None, map(places.own_of, along.values())), None)
            found = curves.line(along, own, label="the MPI's own", band=False) if own else None
            lines += [found] if found else []
        text = (
            f"{what} (Hoefler et al., Fig. {number}). {where}; {_spread(lines, launches)}. {_foretold(model)}"
        )
        name = f"logp{number}-{_slug(layout)}"
        made += curves.drawn(name, text, lines, plots.against, "latency", xlabel="ranks")
    return made


def _everything(along: Along, name: str, where: str) -> list[Figure]:
    """All that has no parameter, without bands, in as few figures as colours allow."""
    some = [each for each in places.names(along.values()) if ":" not in each.name]
    some.sort(key=lambda each: (each.kind not in ("mpi", "door"), each.wait))
    made = []
    for start in range(0, len(some), _MOST_LINES):
        shown = some[start : start + _MOST_LINES]
        drawn = curves.several(along, shown)
        lines = [dataclasses.replace(line, low=None, high=None) for line in drawn]
        launches = [curves.launches(along.values(), shown)]
        part = f"-{start // _MOST_LINES + 1}" if start else ""
        text = f"Everything measured. {where}; {_spread(lines, launches)}."
        made += curves.drawn(name + part, text, lines, plots.against, "latency", xlabel="ranks")
    return made


def _combined(there: Mapping[Place, Here], candidate: Candidate, where: str) -> list[Figure]:
    launches = [curves.launches(there.values(), [candidate])]
    slug = _slug(candidate.name, next(iter(there)).over)
    made = []
    for part, words, lines, xlabel in (
        ("a", "against ranks", curves.over(there, candidate, "ranks", "threads"), "ranks"),
        ("b", "against threads a rank", curves.over(there, candidate, "threads", "ranks"), "threads a rank"),
    ):
        text = (
            f"{candidate.label} {words} (Seyedroudbari and Kadiyala, Fig. 13({part})). "
            f"{where}; {_spread(lines, launches)}."
        )
        made += curves.drawn(f"fig13{part}-{slug}", text, lines, plots.against, "latency", xlabel=xlabel)
    if grid := curves.grid(there, candidate):
        spread = f"{curves.widest(there.values(), candidate):.0%}"
        text = (
            f"{candidate.label}: median latency for ranks and threads (Seyedroudbari and Kadiyala, Fig. 14). "
            f"{where}; eight of ten rounds differ by at most {spread} of a cell's time, {_count(launches)}."
        )
        made += curves.drawn(f"fig14-{slug}", text, grid, plots.heat_figure, "threads a rank", "ranks")
    return made


def _by_any_way(along: Along, name: str) -> list[Candidate]:
    """The plan of that name by words and by messages."""
    met = [each for each in places.names(along.values(), name) if each.name == name]
    return sorted(met, key=lambda each: each.wait)  # the rounds' order is of no interest


def _named(along: Along, name: str, alone: bool = False) -> list[Candidate]:
    """The plan of that name with all its parameters, or the first of them alone; by messages if it can be."""
    met = [each for each in places.names(along.values(), name) if each.kind == "plan"]
    if name != "combining":
        met = [each for each in met if each.name == name]
    if messages := [each for each in met if each.wait == "messages"]:
        met = messages
    return met[:1] if alone else met[:4]


def _first_with(candidates: Sequence[Candidate], outer: str) -> Candidate | None:
    named = (f"turnstile/{outer}", f"central/{outer}")
    return next((each for each in candidates if each.name in named), None)


def _spread(lines: Sequence[Line], launches: Sequence[int]) -> str:
    bands = "bands hold eight of ten rounds" if any(line.low is not None for line in lines) else "medians"
    return f"{bands}, {_count(launches)}"


def _count(launches: Sequence[int]) -> str:
    fewest = min(launches, default=0)
    return f"{fewest} launch{'' if fewest == 1 else 'es'} a point"


def _foretold(model: Model | None) -> str:
    if model is None:
        return "No prediction: dissemination was not measured."
    return f"Dotted: predicted by LogP with {model.origin}."


def _slug(*words: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "-", " ".join(map(str, words)).lower()).strip("-")
