# SPDX-License-Identifier: Apache-2.0
"""The page of a job's waits: whole, and with a bar for each wait in the colour of who was late."""

from __future__ import annotations

import json
import re

from tollbar.data.accounts import Account, Sum, WaitSpan
from tollbar.report import waits

PLACES = [("MPI_Allreduce", "world <1> (4 ranks)", f"./x+0x{n}") for n in range(6)]


def account() -> Account:
    longest = [WaitSpan(by, 2 + by % 2, place, n, n, n + 0.5) for n, place in enumerate(PLACES) for by in (0, 1)]
    sums = [Sum(place, late, (0, 1), 5, 6.0 - n, 0.5) for n, place in enumerate(PLACES) for late in (2, 3)]
    return Account(dict.fromkeys(range(4), "h"), 20.0, sums, longest)


def charts_of(text: str) -> list[dict]:
    return [json.loads(each) for each in re.findall(r'<script type="application/json">(.*?)</script>', text)]


def test_the_page_is_whole_and_loads_nothing():
    text = waits.of(account(), "mpirun -n 4 './x'")
    assert re.findall(r'(?:src|href)="(?!data:)[^"#]', text) == []
    for element in ("section", "figure", "table", "details", "ul"):
        assert text.count(f"<{element}") == text.count(f"</{element}>"), element
    assert "mpirun -n 4 &#39;./x&#39;" in text
    assert "world &lt;1&gt;" in text


def test_each_rank_that_waited_has_a_line_and_each_late_rank_a_colour():
    everything, *places = charts_of(waits.of(account(), "x"))
    assert everything["rows"] == [["h", "rank 0"], ["h", "rank 1"]]
    by_name = {each["name"]: each for each in everything["series"]}
    assert set(by_name) == {"waiting for rank 2", "waiting for rank 3"}
    assert len({each["colour"] for each in by_name.values()}) == 2
    points = by_name["waiting for rank 2"]["points"]
    assert len(points) == len(PLACES)
    assert points[1][:4] == [1.25, 0, 1, 1.5]
    assert "MPI_Allreduce 1 at ./x+0x1" in points[1][4]
    assert len(places) == waits.PLACES


def test_places_that_have_no_picture_are_in_the_table():
    assert "2 more places" in waits.of(account(), "x")


def test_a_job_without_waits_says_so():
    assert "No rank waited" in waits.of(Account({0: "h"}, 1.0, [], []), "x")
