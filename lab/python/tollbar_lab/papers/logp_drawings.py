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
            "Open MPI Architecture",
            [*([tier] for tier in _TIERS), _FRAMEWORKS],
            "tollbar is a component of the framework coll, as the paper's is; its messages are those of the pml.",
        ),
        _boxed(
            "Figure 3",
            "A Component's Lifecycle, and what tollbar's does",
            [[stage] for stage in _LIFE],
            "A communicator has one module of the component for as long as it lives.",
        ),
    ]


def _parameters() -> Exhibit:
    plan = tollbar.parse_plan("two messages", "0: !1 !2\n1: ?0\n2: ?0")
    points = [Point(name, what, model=us) for name, (us, what) in _PARAMETERS.items()]
    last_us = tollbar.price(plan, _APART).last_us
    sentence = f"Rank 0 sends two messages g apart; the second is received after g + o_s + L + o_r = {last_us:g} us."
    axes = Axes("what it is", "us")
    return Exhibit(
        _PAPER, "Figure 1", "Visualization of the LogP parameters", axes, points, sentence, drawing=_labelled(last_us)
    )


def _labelled(last_us: float) -> str:
    """Rank 0 sends to ranks 1 and 2, time to the right; each parameter stands where it is."""
    left, wide, tall = 70, 26, 70  # pixels: before the start, of a microsecond, between ranks
    costs = _APART
    drawn = []

    def x(us: float) -> float:
        return left + wide * us

    def y(rank: int) -> int:
        return 80 + tall * rank

    def box(rank: int, from_us: float, takes_us: float, name: str) -> None:
        drawn.append(
            f'<rect x="{x(from_us):g}" y="{y(rank) - 13}" width="{wide * takes_us:g}" height="26" class="{name}"/>'
            f'<text x="{x(from_us + takes_us / 2):g}" y="{y(rank) + 4}">{name}</text>'
        )

    def measure(from_us: float, until_us: float, height: int, name: str) -> None:
        drawn.append(
            f'<path d="M{x(from_us):g} {height - 5}v10M{x(until_us):g} {height - 5}v10'
            f'M{x(from_us):g} {height}H{x(until_us):g}" class="span"/>'
            f'<text x="{x((from_us + until_us) / 2):g}" y="{height - 6}">{name}</text>'
        )

    for rank in range(3):
        drawn.append(f'<path d="M{left} {y(rank)}H{x(last_us + 1):g}" class="life"/>')
        drawn.append(f'<text x="{left - 32}" y="{y(rank) + 4}">rank {rank}</text>')
    for number, receiver in enumerate((1, 2)):
        sent_us = number * max(costs.g, costs.o_s)
        left_us, come_us = sent_us + costs.o_s, sent_us + costs.o_s + costs.L
        drawn.append(f'<path d="M{x(left_us):g} {y(0) + 13}L{x(come_us):g} {y(receiver) - 13}" class="message"/>')
        box(0, sent_us, costs.o_s, "o_s")
        box(receiver, come_us, costs.o_r, "o_r")
        measure(left_us, come_us, y(receiver) + 30, "L")
    measure(0, max(costs.g, costs.o_s), y(0) - 26, "g")
    values = f"L {costs.L:g}, o_s {costs.o_s:g}, o_r {costs.o_r:g}, g {costs.g:g} us; all is over at {last_us:g} us"
    drawn.append(f'<text x="{left}" y="24" class="told">{values}</text>')
    width, height = x(last_us + 2), y(2) + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
        f'height="{height}" role="img"><style>text {{ font: 13px sans-serif; fill: #333; text-anchor: middle; }} '
        ".told { text-anchor: start; font-weight: bold; } .o_s { fill: #cfe0f3; stroke: #0a62b5; } "
        ".o_r { fill: #f3d6d6; stroke: #c43d3d; } .life { stroke: #bbb; } .message { stroke: #1a7f4b; "
        "stroke-width: 1.8; } .span { stroke: #666; fill: none; }</style>"
        f"{''.join(drawn)}</svg>\n"
    )


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
