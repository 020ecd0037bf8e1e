# SPDX-License-Identifier: Apache-2.0
"""Figures 1 to 3 of Hoefler et al.: the parameters, where a barrier lives in Open MPI, and its life there."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import tollbar

from tollbar_lab.papers.exhibit import Axes, Exhibit, Point

_PAPER = "logp"
#: Parameters that differ, so that each is seen.
_APART = tollbar.LogP(L=10, o=5, g=8, o_r=3)
_PARAMETERS = {
    "L": (_APART.L, "from the end of a send to the earliest begin of its receive"),
    "o_s": (_APART.o_s, "a message keeps its sender's processor busy"),
    "o_r": (_APART.o_r, "a message keeps its receiver's processor busy"),
    "g": (_APART.g, "from the begin of a rank's send, or receive, to that of its next"),
}
#: Open MPI's tiers; of the frameworks in the last one those that a barrier meets.
_TIERS = (
    ("MPI layer", "MPI_Barrier, MPI_Ibarrier"),
    ("run-time environment", "starts ranks, forwards their output"),
    ("component architecture", "frameworks and their components"),
)
_FRAMEWORKS = (
    ("coll: collectives", "tollbar, tuned, basic, libnbc"),
    ("pml: messages", "tollbar's signals between nodes"),
    ("btl, mtl: transports", "carry them (the paper's PTL)"),
    ("topo: topologies", "not used"),
)
#: The stages of a component, and what coll/tollbar does in each.
_LIFE = (
    ("selection", "a communicator is made: coll_tollbar_priority against the others'"),
    ("initialization", "keeps what else would serve the communicator; the plan follows with the first barrier"),
    ("checkpoint/restart", "nothing: Open MPI has given it up"),
    ("normal usage", "ranks agree on a plan, then run it"),
    ("finalization", "the communicator is freed: channels and shared memory go"),
)


def exhibits() -> list[Exhibit]:
    return [
        _parameters(),
        _boxed(
            "Figure 2",
            "Where a barrier lives in Open MPI",
            [*([tier] for tier in _TIERS), _FRAMEWORKS],
            "tollbar is a component of the framework coll, as the paper's is; its messages are those of the pml.",
        ),
        _boxed(
            "Figure 3",
            "The life of a component, and what tollbar's does",
            [[stage] for stage in _LIFE],
            "A communicator has one module of the component for as long as it lives.",
        ),
    ]


def _parameters() -> Exhibit:
    plan = tollbar.parse_plan("two messages", "0: !1 !2\n1: ?0\n2: ?0")
    points = [Point(name, what, model=us) for name, (us, what) in _PARAMETERS.items()]
    last_us = tollbar.price(plan, _APART).last_us
    sentence = f"Rank 0 sends two messages g apart; the second is received after g + o_s + L + o_r = {last_us:g} us."
    svg, axes = tollbar.draw_svg(plan, _APART), Axes("what it is", "us")
    return Exhibit(_PAPER, "Figure 1", "The parameters of LogP", axes, points, sentence, drawing=svg)


def _boxed(number: str, title: str, rows: Sequence[Sequence[tuple[str, str]]], sentence: str) -> Exhibit:
    points = [Point(name, what) for row in rows for name, what in row]
    return Exhibit(_PAPER, number, title, Axes("what it does"), points, sentence, drawing=_boxes(rows))


def _boxes(rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Rows of boxes, each with a name and a line of words."""
    width, height, gap = 860, 52, 12
    drawn = []
    for number, row in enumerate(rows):
        wide = (width - gap * (len(row) - 1)) / len(row)
        top = number * (height + gap)
        for place, (name, words) in enumerate(row):
            left = place * (wide + gap)
            drawn.append(
                f'<rect x="{left:g}" y="{top}" width="{wide:g}" height="{height}" rx="6" class="box"/>'
                f'<text x="{left + 10:g}" y="{top + 21}" class="name">{escape(name)}</text>'
                f'<text x="{left + 10:g}" y="{top + 40}">{escape(words)}</text>'
            )
    tall = len(rows) * (height + gap) - gap
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width + 2} {tall + 2}" width="{width + 2}" '
        f'height="{tall + 2}" role="img"><style>text {{ font: 11px sans-serif; fill: #333; }} '
        ".name { font-weight: bold; } .box { fill: #f4f4f2; stroke: #888; }</style>"
        f"{''.join(drawn)}</svg>\n"
    )
