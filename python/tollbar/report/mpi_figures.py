# SPDX-License-Identifier: Apache-2.0
"""The figures about barriers between processes, each with a caption that says machine, spread and prediction.

They are those of two papers: Seyedroudbari and Kadiyala 2020 (Fig. 10 to 14: MPI, and MPI with threads), and
Hoefler et al., "A practical Approach to the Rating of Barrier Algorithms using the LogP Model and Open MPI"
(Fig. 4, 8, 10, 12, 13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from tollbar.data import mpi_places
from tollbar.data.comparison import Candidate
from tollbar.data.mpi_places import Places
from tollbar.data.results import Run
from tollbar.models.prediction import Model
from tollbar.report import mpi_curves, plots
from tollbar.report.mpi_curves import ByNumber
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


@dataclass(frozen=True)
class Figure:
    """One picture with what has to be known to read it."""

    name: str
    caption: str
    svg: Markup


def of_ranks(run: Run) -> list[Figure]:
    """From `tollbar bench mpi`: what there are results for."""
    settings = mpi_places.layouts(mpi_places.gather(run.launches))
    shown = {place: found for place, found in settings.items() if len(found) > 1}
    if not shown:
        return []
    machine = machine_text(run)
    some = dict(list(shown.items())[:_MOST_SETTINGS])
    figures = _paper_1(some, machine + _pinned(some.values()))
    first = next(iter(shown))[0]
    for (mpi, layout), found in shown.items():
        if mpi == first:
            figures += _paper_2(found, layout, f"{machine}, {mpi}, {layout}{_pinned([found])}")
    for (mpi, layout), found in shown.items():
        figures += _everything(
            found, f"all-{_slug(mpi, layout)}", f"{machine}, {mpi}, {layout}{_pinned([found])}"
        )
    return figures


def of_threads(run: Run) -> list[Figure]:
    """From `tollbar bench hybrid`: threads inside ranks."""
    places = mpi_places.gather(run.launches)
    found = mpi_places.names(places.values())
    wanted = [each for outer in ("dissemination", "mcs") if (each := _first_with(found, outer))]
    mpis = list(dict.fromkeys(place.mpi for place in places))
    figures = []
    for mpi in mpis:
        here = {place: each for place, each in places.items() if place.mpi == mpi}
        for candidate in wanted:
            figures += _combined(here, candidate, f"{machine_text(run)}, {mpi}")
    return figures


def machine_text(run: Run) -> str:
    facts = run.environment
    usable = facts.get("usable") or []
    return f"{facts.get('model') or 'unknown processor'}, {len(usable)} usable processors"


def _pinned(settings: Iterable[ByNumber]) -> str:
    placed = [(ranks, each.situation.placement) for found in settings for ranks, each in found.items()]
    pinned = sorted({ranks for ranks, placement in placed if placement == "pinned"})
    return f", {' and '.join(map(str, pinned))} ranks pinned" if pinned else ""


def _paper_1(settings: Mapping[tuple[str, str], ByNumber], machine: str) -> list[Figure]:
    made = []
    for number, what, names in (
        ("10", "MCS tree between processes", ("mcs",)),
        ("11", "Dissemination between processes", ("dissemination",)),
        ("12", "Both", ("mcs", "dissemination")),
    ):
        lines, launches = [], []
        for (mpi, layout), found in settings.items():
            for candidate in (each for name in names for each in _by_any_way(found, name)):
                label = f"{candidate.label}, {mpi}, {layout}"
                line = mpi_curves.measured(found, candidate, label, len(lines), band=len(settings) <= 2)
                lines += [line] if line else []
                launches.append(mpi_curves.launches(found, [candidate]))
        if lines:
            caption = (
                f"{what} (Seyedroudbari and Kadiyala, Fig. {number}). {machine}; {_spread(lines, launches)}."
            )
            made.append(_figure(f"fig{number}", caption, lines))
    return made


def _paper_2(found: ByNumber, layout: str, where: str) -> list[Figure]:
    model = mpi_curves.model_of(found)
    made = []
    for number, what, names in _LOGP:
        candidates = [candidate for name in names for candidate in _named(found, name, alone=len(names) > 1)]
        lines = mpi_curves.with_predictions(found, candidates, model)
        if not lines:
            continue
        if number == "13":
            lines += _own_of_the_mpi(found, len(candidates))
        launches = [mpi_curves.launches(found, candidates)]
        caption = (
            f"{what} (Hoefler et al., Fig. {number}). {where}; {_spread(lines, launches)}. {_foretold(model)}"
        )
        made.append(_figure(f"logp{number}-{_slug(layout)}", caption, lines))
    return made


def _everything(found: ByNumber, name: str, where: str) -> list[Figure]:
    """All that has no parameter, without bands, in as few figures as colours allow."""
    candidates = [each for each in mpi_places.names(found.values()) if ":" not in each.name]
    candidates.sort(key=lambda each: (each.kind not in ("mpi", "door"), each.wait))
    made = []
    for start in range(0, len(candidates), _MOST_LINES):
        some = candidates[start : start + _MOST_LINES]
        drawn = [mpi_curves.measured(found, each, each.label, n, band=False) for n, each in enumerate(some)]
        lines = [line for line in drawn if line]
        if lines:
            part = f"-{start // _MOST_LINES + 1}" if start else ""
            launches = [mpi_curves.launches(found, some)]
            made.append(
                _figure(name + part, f"Everything measured. {where}; {_spread(lines, launches)}.", lines)
            )
    return made


def _combined(places: Places, candidate: Candidate, where: str) -> list[Figure]:
    launches = [mpi_curves.launches(dict(enumerate(places.values())), [candidate])]
    slug = _slug(candidate.name, next(iter(places)).mpi)
    made = []
    for part, words, lines, along in (
        ("a", "against ranks", mpi_curves.over_ranks(places, candidate), "ranks"),
        ("b", "against threads a rank", mpi_curves.over_threads(places, candidate), "threads a rank"),
    ):
        if lines:
            caption = (
                f"{candidate.label} {words} (Seyedroudbari and Kadiyala, Fig. 13({part})). "
                f"{where}; {_spread(lines, launches)}."
            )
            made.append(_figure(f"fig13{part}-{slug}", caption, lines, along))
    if grid := mpi_curves.grid(places, candidate):
        spread = f"{mpi_curves.widest(places, candidate):.0%}"
        caption = (
            f"{candidate.label}: median latency for ranks and threads (Seyedroudbari and Kadiyala, Fig. 14). "
            f"{where}; eight of ten rounds differ by at most {spread} of a cell's time, {_count(launches)}."
        )
        name = f"fig14-{slug}"
        made.append(Figure(name, caption, Markup(plots.heat_map(name, grid, "threads a rank", "ranks"))))
    return made


def _own_of_the_mpi(found: ByNumber, colour: int) -> list[Line]:
    own = next(filter(None, map(mpi_places.own_of, found.values())), None)
    line = mpi_curves.measured(found, own, "the MPI's own", colour, band=False) if own else None
    return [line] if line else []


def _by_any_way(found: ByNumber, name: str) -> list[Candidate]:
    """The plan of that name by words and by messages."""
    met = [each for each in mpi_places.names(found.values(), name) if each.name == name]
    return sorted(met, key=lambda each: each.wait)  # the rounds' order is of no interest


def _named(found: ByNumber, name: str, alone: bool = False) -> list[Candidate]:
    """The plan of that name with all its parameters, or the first of them alone; by messages if it can be."""
    met = [each for each in mpi_places.names(found.values(), name) if each.kind == "plan"]
    if name != "combining":
        met = [each for each in met if each.name == name]
    if messages := [each for each in met if each.wait == "messages"]:
        met = messages
    return met[:1] if alone else met[:4]


def _first_with(candidates: Sequence[Candidate], outer: str) -> Candidate | None:
    named = (f"turnstile/{outer}", f"central/{outer}")
    return next((each for each in candidates if each.name in named), None)


def _figure(name: str, caption: str, lines: Sequence[Line], xlabel: str = "ranks") -> Figure:
    return Figure(name, caption, Markup(plots.against(name, lines, "latency", xlabel=xlabel)))


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
