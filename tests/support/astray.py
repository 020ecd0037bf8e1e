# SPDX-License-Identifier: Apache-2.0
"""The ways in which a rank of tests/look/hanging.c goes astray, and what `tollbar run --on-hang kill` has to say."""

from __future__ import annotations

import re
from dataclasses import dataclass

from random_truth import numbers

HUNG = 75


@dataclass(frozen=True)
class Kind:
    """A way of going astray."""

    #: The place in which a look sees the rank, as a pattern; empty: nothing; None: it is not alone in that.
    seen: str | None
    reported: bool = True  #: by those that wait for it in a collective call


KINDS = {
    "absent": Kind(r"pause\(\) under go_astray"),
    "sleep": Kind(r"(clock_)?(nano)?sleep\(\) under go_astray"),
    "stopped": Kind(r"\S+ under go_astray"),
    "loop": Kind(r"compute\(\)"),
    "lock": Kind(r"\S*lock\w*\(\) under wait_for_lock"),
    "input": Kind(r"read\(\) under wait_for_input"),
    "communicator": Kind("MPI_Barrier of "),
    "collective": Kind("MPI_Allreduce"),
    "receive": Kind("MPI_Recv"),
    "order": Kind("MPI_Barrier of "),
    "call": Kind("MPI_Allreduce"),
    "root": Kind(None),
    "message": Kind("MPI_Recv"),
    "cycle": Kind(""),  # of all ranks
    "dead": Kind(""),
    "exited": Kind(""),
    "init": Kind(r"pause\(\) under main", reported=False),
}


@dataclass
class Said:
    code: int
    text: str

    @property
    def hangs(self) -> list[str]:
        return re.findall(r"^tollbar run: hangs: (.*)$", self.text, re.MULTILINE)

    @property
    def named(self) -> dict[str, set[int]]:
        """The ranks that each sentence about a communicator calls missing."""
        found = {}
        for each in self.hangs:
            about = re.match(r"(.+?) \(\d+ ranks\), .*?waited [\d.]+ s: (.*)", each)
            clauses = re.split(r"; |, (?=rank)", about[2].removeprefix("a cycle: ")) if about else []
            ranks = (re.match(r"(?:nothing heard from )?ranks? ([\d, and-]+)", clause) for clause in clauses)
            if about:
                found[about[1]] = {number for rank in ranks if rank for number in numbers(rank[1])}
        return found


def check(said: Said, kind: str, astray: int, ranks: int) -> None:
    expected = KINDS[kind]
    assert said.code == HUNG, said.text
    if expected.reported:
        named = said.named
        assert named.pop("MPI_COMM_WORLD") == (set(range(ranks)) if kind == "cycle" else {astray}), said.text
        # At another communicator that one waits for all the others.
        others = set(range(ranks)) - {astray}
        assert all(missing == others for missing in named.values()), said.text
    if kind in ("dead", "exited"):
        assert "is dead" in said.hangs[0], said.text
    if expected.seen is None:
        return
    seen = (re.match(r"rank (\d+) is in (.*); \d+ of \d+ are", each) for each in said.hangs)
    places = [place for place in seen if place]
    # A look that finds a rank in motion says nothing.
    least = set() if expected.reported else {astray}
    most = {astray} if expected.seen else set()
    assert least <= {int(each[1]) for each in places} <= most, said.text
    assert all(re.match(expected.seen, each[2]) for each in places), said.text
