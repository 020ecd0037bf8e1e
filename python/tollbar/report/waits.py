# SPDX-License-Identifier: Apache-2.0
"""The page of a job that has ended: time lines of its ranks, their waiting coloured by who was late."""

from __future__ import annotations

from collections.abc import Sequence

from tollbar.data import accounts
from tollbar.data.accounts import Account, Place, Sum, WaitSpan
from tollbar.report import html
from tollbar.report.figures import COLOURS, Axis, Curve, Figure

PLACES = 4  #: call sites that have a picture, the worst first
_BARS = 600  #: of a picture; the longest


def of(account: Account, command: str) -> str:
    """The page, which needs nothing else."""
    places = list(dict.fromkeys(total.place for total in account.sums))
    return html.render(
        "waits.html.j2",
        {},
        account=account,
        command=command,
        late=[(accounts.name_of(rank), seconds) for rank, seconds in account.late().items()],
        everything=_lanes("waits", account, account.longest),
        shown=[(place, *_of_place(account, number, place)) for number, place in enumerate(places[:PLACES])],
        rest=len(places) - PLACES,
        name_of=accounts.name_of,
    )


def _of_place(account: Account, number: int, place: Place) -> tuple[Sequence[Sum], Figure]:
    sums = [total for total in account.sums if total.place == place]
    waits = [wait for wait in account.longest if wait.place == place]
    return sums, _lanes(f"waits-{number}", account, waits)


def _lanes(name: str, account: Account, waits: Sequence[WaitSpan]) -> Figure:
    """A row for each rank that has waited, a bar for each wait, a colour for each late rank, the worst ones first."""
    bars = sorted(waits, key=lambda wait: wait.begin_s - wait.end_s)[:_BARS]
    ranks = sorted({bar.by for bar in bars})
    lines: list[Curve] = []
    for late in account.late():
        if not (some := [bar for bar in bars if bar.late == late]):
            continue
        line = Curve(
            f"waiting for {accounts.name_of(late)}",
            [ranks.index(bar.by) for bar in some],
            [(bar.begin_s + bar.end_s) / 2 for bar in some],
            [bar.begin_s for bar in some],
            [bar.end_s for bar in some],
            colour=len(lines) % COLOURS,
            notes=[f"{bar.place[0]} {bar.number} at {bar.place[2]}" for bar in some],
        )
        lines.append(line)
    rows = Axis("", words=[f"rank {rank}" for rank in ranks])
    seconds = Axis("seconds since the first rank began", "linear")
    return Figure(name, "", lines, rows, seconds, "waited", groups=[account.ranks[rank] for rank in ranks])
