# SPDX-License-Identifier: Apache-2.0
"""Pictures and exports of plans: SVG with a lane a member, and GOAL for LogGOPSim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Union

from tollbar._native import InvalidArgument, LogP, Message, Plan, messages, price

#: A rank, or a role by its letter.
Member = Union[int, str]

_STYLE = """<style>
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2937; }
.paper { fill: #ffffff; }
.name { font-size: 16px; font-weight: 600; }
.small { font-size: 12px; fill: #5b6675; }
.done { font-size: 12px; text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
.time { text-anchor: end; }
.rank { text-anchor: middle; font-weight: 600; }
.badge { fill: #e8edf4; }
.grid { stroke: #edf0f4; }
.lane { stroke: #bcc5d1; stroke-width: 2; }
.arrow { stroke: #2563eb; stroke-width: 1.5; stroke-opacity: 0.8; }
.head, .send { fill: #2563eb; }
.receive { fill: #e5850b; }
.send, .receive { stroke: #ffffff; stroke-width: 0.8; }
.message:hover .arrow { stroke-width: 3.5; stroke-opacity: 1; }
@media (prefers-color-scheme: dark) {
text { fill: #e5e7eb; }
.paper { fill: #14181f; }
.small { fill: #9aa5b4; }
.done { stroke: #14181f; }
.badge { fill: #2a323e; }
.grid { stroke: #222a35; }
.lane { stroke: #4a5567; }
.arrow { stroke: #78aefc; }
.head, .send { fill: #78aefc; }
.receive { fill: #f5b14c; }
.send, .receive { stroke: #14181f; }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" \
markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0,0.8 8,4 0,7.2z"/></marker></defs>
"""
#: The lane of a role: its steps are taken by its player.
_STYLE_OF_ROLES = """<style>
.played { stroke-dasharray: 5 4; }
.role { fill: #fdeccc; stroke: #e5850b; stroke-dasharray: 3 2; }
@media (prefers-color-scheme: dark) {
.role { fill: #4a3413; stroke: #f5b14c; }
}
</style>
"""
# In pixels.
_AXIS, _PITCH, _TOP, _BAR = 56, 66, 112, 9
_HOP, _LONGEST, _BETWEEN_LABELS = 88, 1800, 40


def draw_svg(plan: Plan, logp: LogP) -> str:
    """A self-contained SVG: one lane a rank or role, messages as arrows, time downwards as price() gives it.

    A role's lane is dashed and bears its letter. It is readable in light and dark surroundings. Raises what price()
    raises.
    """
    return "".join(_Picture(plan, logp).parts())


def to_goal(plan: Plan) -> str:
    """The plan in GOAL, the input language of LogGOPSim; roles are the ranks after the plan's own.

    Sends and receives have 1 byte and one tag a step; a step requires all operations of the step before it (a set of
    neighbouring awaits counts as one step). Raises InvalidArgument for a plan that has no price.
    After Hoefler, Schneider, Lumsdaine 2010.
    """
    try:
        price(plan, LogP(0, 0, 0))
    except InvalidArgument as error:
        raise InvalidArgument(str(error).replace("has no price", "has no GOAL", 1)) from None
    members = _numbers(plan)
    words = {member: plan.program(member) for member in members}
    tags: dict[tuple[str, str], Iterator[int]] = {}
    for member, word in words.items():
        sent = defaultdict(list)
        for position, step in enumerate(word):
            if step[0] == "!":
                sent[step[1:]].append(position)
        tags |= {(str(member), peer): iter(positions) for peer, positions in sent.items()}
    lines = [f"num_ranks {len(members)}\n"]
    for member, number in members.items():
        lines += [f"\nrank {number} {{\n", *_operations(str(member), words[member], tags, plan), "}\n"]
    return "".join(lines)


def _numbers(plan: Plan) -> dict[Member, int]:
    """The ranks and roles by their numbers, roles last."""
    return {member: number for number, member in enumerate([*range(plan.ranks), *plan.roles])}


def _operations(
    member: str, word: list[str], tags: Mapping[tuple[str, str], Iterator[int]], plan: Plan
) -> Iterable[str]:
    before = range(0)
    begin = 0
    while begin < len(word):
        end = begin + 1
        while word[begin][0] == "?" and end < len(word) and word[end][0] == "?":
            end += 1
        for position in range(begin, end):
            is_signal, peer = word[position][0] == "!", word[position][1:]
            tag = position if is_signal else next(tags[peer, member])
            number = int(peer) if peer.isdecimal() else plan.ranks + plan.roles.index(peer)
            yield f"l{position + 1}: {'send 1b to' if is_signal else 'recv 1b from'} {number} tag {tag}\n"
        for position in range(begin, end):
            yield from (f"l{position + 1} requires l{needed + 1}\n" for needed in before)
        before, begin = range(begin, end), end


class _Picture:
    """The geometry of the picture of a priced episode, and its elements."""

    def __init__(self, plan: Plan, logp: LogP) -> None:
        self._plan, self._logp = plan, logp
        self._price = price(plan, logp)
        self._messages = messages(plan, logp)
        self._numbers = _numbers(plan)
        counts = [_counted(plan.ranks, "rank"), *([_counted(len(plan.roles), "role")] if plan.roles else [])]
        self._title = f"{plan.name}, {', '.join(counts)}: {_number(self._price.last_us)} us"
        self._width = max(_AXIS + _PITCH * len(self._numbers) + 24, 32 + 9.0 * len(self._title.encode()))
        self._per_us = _HOP / logp.path_us if logp.path_us > 0 else 1.0
        if self._price.last_us * self._per_us > _LONGEST:
            self._per_us = _LONGEST / self._price.last_us
        self._height = self._y(self._price.last_us) + 74

    def parts(self) -> Iterable[str]:
        width, height = _number(self._width), _number(self._height)
        title = escape(self._title, quote=True).replace("&#x27;", "'")
        yield f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        yield f'width="{width}" height="{height}">\n<title>{title}</title>\n{_STYLE}'
        yield _STYLE_OF_ROLES if self._plan.roles else ""
        yield _element("rect", "paper", width=self._width, height=self._height, rx=8)
        yield _words("name", 16, 28, self._title)
        logp = self._logp
        overheads = f"o {_number(logp.o)}"
        if logp.o_r != logp.o:
            overheads = f"o_s {_number(logp.o)}, o_r {_number(logp.o_r)}"
        yield _words("small", 16, 47, f"L {_number(logp.L)}, {overheads}, g {_number(logp.g)} us")
        yield from self._axis()
        done_us = self._done_us()
        for member in self._numbers:
            yield from self._lane(member, done_us[member])
        for message in self._messages:
            yield from self._arrow(message)
        for rank in range(self._plan.ranks):
            yield _words("done", self._x(rank), self._y(done_us[rank]) + 17, _number(done_us[rank]))
        yield from self._legend()
        yield "</svg>\n"

    def _x(self, member: Member) -> float:
        return _AXIS + _PITCH * (self._numbers[member] + 0.5)

    def _y(self, us: float) -> float:
        return _TOP + us * self._per_us

    def _done_us(self) -> dict[Member, float]:
        """The completion of each rank; of a role, when it has sent its last message, which is the last it does."""
        done: dict[Member, float] = dict(enumerate(self._price.completion_us))
        for message in self._messages:
            if isinstance(message.from_rank, str):
                sent_us = message.sent_us + self._logp.o_s
                done[message.from_rank] = max(done.get(message.from_rank, 0.0), sent_us)
        return {member: done.get(member, 0.0) for member in self._numbers}

    def _axis(self) -> Iterable[str]:
        yield _words("small time", _AXIS - 8, _TOP - 24, "us")
        step, number = _tick_us(self._per_us), 0
        while number * step <= self._price.last_us:
            y = self._y(number * step)
            yield _element("line", "grid", x1=_AXIS, y1=y, x2=self._width - 16, y2=y)
            yield _words("small time", _AXIS - 8, y + 4, _number(number * step))
            number += 1

    def _lane(self, member: Member, done_us: float) -> Iterable[str]:
        is_role = isinstance(member, str)
        x, end, badge = self._x(member), self._y(done_us), 16 + 8 * len(str(member))
        yield _element("line", "lane played" if is_role else "lane", x1=x, y1=_TOP - 16, x2=x, y2=end)
        yield _element("line", "lane", x1=x - 9, y1=end, x2=x + 9, y2=end)
        kind = "badge role" if is_role else "badge"
        yield _element("rect", kind, x=x - badge / 2, y=_TOP - 40, width=badge, height=24, rx=12)
        yield _words("rank", x, _TOP - 23, str(member))

    def _arrow(self, message: Message) -> Iterable[str]:
        sender, receiver = message.from_rank, message.to_rank
        side = _BAR / 2 if self._numbers[sender] < self._numbers[receiver] else -_BAR / 2
        taken_us = message.received_us - self._logp.o_r
        times = f"sent {_number(message.sent_us)}, received {_number(message.received_us)} us"
        yield f'<g class="message"><title>{sender} -&gt; {receiver}, {times}</title>\n'
        yield _element(
            *("line", "arrow"),
            x1=self._x(sender) + side,
            y1=self._y(message.sent_us + self._logp.o_s),
            x2=self._x(receiver) - side,
            y2=self._y(taken_us),
            rest=' marker-end="url(#head)"/>\n',
        )
        yield self._bar("send", sender, message.sent_us, message.sent_us + self._logp.o_s)
        yield self._bar("receive", receiver, taken_us, message.received_us) + "</g>\n"

    def _bar(self, kind: str, member: Member, from_us: float, to_us: float) -> str:
        height = max(self._y(to_us) - self._y(from_us), 3.0)
        x, y = self._x(member) - _BAR / 2, self._y(from_us)
        return _element("rect", kind, x=x, y=y, width=_BAR, height=height, rx=1.5)

    def _legend(self) -> Iterable[str]:
        y = self._height - 18
        for kind, x, text in (("send", _AXIS, "sends a signal"), ("receive", _AXIS + 124, "takes a signal")):
            yield _element("rect", kind, x=x, y=y - 11, width=_BAR, height=13, rx=1.5)
            yield _words("small", x + 16, y, text)


def _number(value: float) -> str:
    """Up to three decimals, none where they are 0."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _element(tag: str, kind: str, rest: str = "/>\n", **attributes: float) -> str:
    listed = "".join(f' {name}="{_number(value)}"' for name, value in attributes.items())
    return f'<{tag} class="{kind}"{listed}{rest}'


def _words(kind: str, x: float, y: float, text: str) -> str:
    shown = escape(text, quote=True).replace("&#x27;", "'")
    return _element("text", kind, x=x, y=y, rest=f">{shown}</text>\n")


def _tick_us(pixels_per_us: float) -> float:
    """1, 2 or 5 times a power of ten: the smallest such step that leaves room between two labels."""
    step, number = 1e-3, 0
    while step * pixels_per_us < _BETWEEN_LABELS:
        step *= 2.5 if number % 3 == 1 else 2
        number += 1
    return step


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
