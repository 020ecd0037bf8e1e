# SPDX-License-Identifier: Apache-2.0
"""Figures 1 and 2 of the NIC paper: the way of a barrier's messages between hosts and NICs, and its time line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import tollbar
from tollbar.backports import zip_equal

import tollbar_lab
from tollbar_lab.papers import lanes
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point
from tollbar_lab.papers.nic_work import NAME, WHERE

_PLAN, _CARD = "pairwise", "lanai4.3"
_NODES, _TIMED = 4, 8  # of Figure 1 and of Figure 2
_TITLES = {"HB": "host-based barrier", "NB": "NIC-based barrier"}
#: The lanes of a node, and the stages that each of them has, in the order in which they handle a message.
_LANES = {"host": ("send", "hrecv"), "SDMA": ("sdma",), "Xmit": ("xmit",), "Recv": ("recv",), "RDMA": ("rdma",)}
_WORDS = {"send": "Send", "sdma": "SDMA", "xmit": "Xmit", "recv": "Recv", "rdma": "RDMA", "hrecv": "HRecv"}


@cache
def history(barrier: str, nodes: int) -> tuple[tollbar_lab.NicSpan, ...]:
    """The work of all units of the nodes in one barrier."""
    plan, card = tollbar.plan(_PLAN, nodes), tollbar_lab.nic_parts(_CARD)
    return tuple(tollbar_lab.simulate_nic(plan, WHERE[barrier], card, most_spans=100_000).history)


def exhibits() -> list[Exhibit]:
    return [_levels(), _time_lines()]


def hops(barrier: str, nodes: int = _NODES) -> dict[str, int]:
    """How often one barrier goes down from a host, across between NICs, and up to a host."""
    done: list[str] = [span.stage for span in history(barrier, nodes)]
    down = "sdma" if barrier == "HB" else "send"  # a NIC-based barrier is started without a transfer
    return {"down": done.count(down), "across": done.count("recv"), "up": done.count("rdma")}


def _levels() -> Exhibit:
    points = [Point(barrier, hop, model=float(many)) for barrier in WHERE for hop, many in hops(barrier).items()]
    ways = {barrier: ", ".join(f"{many} {hop}" for hop, many in hops(barrier).items()) for barrier in WHERE}
    sentence = (
        f"Between {_NODES} nodes a host-based barrier has {ways['HB']}; a NIC-based one has {ways['NB']}, as each "
        "host starts its NIC once and is notified once."
    )
    title = "Host-based barrier (left) and NIC-based barrier (right)"
    return Exhibit(NAME, "Figure 1", title, Axes("hop", "messages"), points, sentence, drawing=_picture())


def _picture() -> str:
    """Both barriers: hosts above their NICs, arrows for the hops, with the step in which each is made."""
    panels = "".join(
        f'<g transform="translate({number * 470} 0)"><text x="10" y="20" class="name">{_TITLES[barrier]}</text>'
        f"{_panel(barrier)}</g>"
        for number, barrier in enumerate(WHERE)
    )
    head = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0L8 4L0 8z" class="{name}-head"/></marker>'
        for name in ("step-1", "step-2", "once")
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 930 330" width="930" height="330" role="img"><style>'
        "text { font: 12px sans-serif; fill: #333; text-anchor: middle; } .name { font-weight: bold; "
        "text-anchor: start; } text[class$=-word] { text-anchor: start; } "
        ".host { fill: #e9eef5; stroke: #888; } .nic { fill: #f7efdf; stroke: #888; } "
        ".hop { fill: none; stroke-width: 1.8; } .step-1 { stroke: #0a62b5; } .step-2 { stroke: #c43d3d; } "
        ".once { stroke: #6b7480; } .step-1-head, .step-1-word { fill: #0a62b5; } "
        ".step-2-head, .step-2-word { fill: #c43d3d; } .once-head, .once-word { fill: #6b7480; }"
        f"</style><defs>{head}</defs>{panels}</svg>\n"
    )


def _panel(barrier: str) -> str:
    """One of the barriers: a column for each node."""
    host_based = barrier == "HB"
    steps = _steps()
    drawn = []
    for node in range(_NODES):
        x = 60 + 110 * node
        for y, kind, words in ((40, "host", f"host {node}"), (150, "nic", f"NIC {node}")):
            drawn.append(
                f'<rect x="{x - 42}" y="{y}" width="84" height="36" rx="5" class="{kind}"/>'
                f'<text x="{x}" y="{y + 22}">{words}</text>'
            )
        if host_based:
            ways = [
                (x - 32 + 36 * step + 18 * up, up, f"step-{step + 1}", str(step + 1))
                for step in range(len(steps))
                for up in (False, True)
            ]
        else:
            ways = [(x - 28, False, "once", "start"), (x + 8, True, "once", "done")]
        for at, up, kind, words in ways:
            ends = "150V78" if up else "76V148"
            drawn.append(
                f'<path d="M{at} {ends}" class="hop {kind}" marker-end="url(#{kind})"/>'
                f'<text x="{at + 4}" y="{122 if up else 108}" class="{kind}-word">{words}</text>'
            )
    for number, pairs in enumerate(steps, start=1):
        for one, other in pairs:
            left, right = 60 + 110 * one + 8 * number, 60 + 110 * other - 8 * number
            deep = 190 + 34 * (other - one) + 14 * (number - 1)
            kind = f"step-{number}"
            drawn += [
                f'<path d="M{start} 188C{start} {deep + 30} {end} {deep + 30} {end} 188" class="hop {kind}" '
                f'marker-end="url(#{kind})"/>'
                for start, end in ((left, right), (right, left))
            ]
        drawn.append(f'<text x="{60 + 240 * (number - 1)}" y="318" class="{kind}-word">step {number}</text>')
    return "".join(drawn)


def _steps() -> list[list[tuple[int, int]]]:
    """The pairs of nodes that exchange messages in each step, from the words of the plan."""
    words = [tollbar.plan(_PLAN, _NODES).program(rank) for rank in range(_NODES)]
    signals = [[int(step[1:]) for step in word if step.startswith("!")] for word in words]
    return [
        [(one, peers[step]) for one, peers in enumerate(signals) if one < peers[step]]
        for step in range(len(signals[0]))
    ]


def _time_lines() -> Exhibit:
    """The time lines of node 0; all nodes of a power of two have the same."""
    of_node = {barrier: [span for span in history(barrier, _TIMED) if span.rank == 0] for barrier in WHERE}
    points = [
        Point(f"{barrier} {_WORDS[span.stage]}", span.from_us, model=span.until_us - span.from_us)
        for barrier, spans in of_node.items()
        for span in spans
    ]
    ends = {barrier: max(span.until_us for span in spans) for barrier, spans in of_node.items()}
    sentence = (
        f"One of {_TIMED} nodes, in three steps: host-based {len(of_node['HB'])} times a unit works, until "
        f"{ends['HB']:.2f} us; NIC-based {len(of_node['NB'])} times, until {ends['NB']:.2f} us: Send, RDMA and HRecv "
        "once, SDMA never. How the sums are split among the units is not in the paper."
    )
    title = "Timing of an eight node barrier, three steps, lanai4.3: a) host-based and b) NIC-based"
    axes, picture = Axes("from the start, us", "duration, us"), lanes.svg(_units(title, of_node))
    return Exhibit(NAME, "Figure 2", title, axes, points, sentence, drawing=picture)


def _units(title: str, of_node: dict[str, list[tollbar_lab.NicSpan]]) -> lanes.Lanes:
    """A lane for the host and for each unit of its NIC, of both barriers."""
    lane_of = {stage: lane for lane, stages in _LANES.items() for stage in stages}
    names: list[str] = []
    spans: list[lanes.Span] = []
    for part, (barrier, of) in zip_equal("ab", of_node.items()):
        used = [lane for lane in _LANES if any(lane_of[span.stage] == lane for span in of)]
        first: Sequence[str] = [f"{part}) {barrier} {lane}" for lane in used]
        spans += [
            lanes.Span(
                len(names) + used.index(lane_of[span.stage]),
                span.from_us,
                span.until_us,
                _WORDS[span.stage],
                f"{barrier}: {_WORDS[span.stage]}",
                _WORDS[span.stage],
            )
            for span in of
        ]
        names += first
    colours = {word: colour for colour, word in enumerate(_WORDS.values())}
    return lanes.Lanes(title, names, max(span.until_us for span in spans), spans, colours)
