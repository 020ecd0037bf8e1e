# SPDX-License-Identifier: Apache-2.0
"""tollbar plans."""

import tollbar as library


def test_every_algorithm_and_the_two_level_forms_are_listed(tollbar):
    names = [row["plan"].partition("[")[0] for row in tollbar("plans", "--format", "csv").csv]
    assert names == [algorithm.name for algorithm in library.catalogue()] + ["INNER@K/OUTER", "INNER/OUTER"]


def test_the_columns_are_stable(tollbar):
    first = tollbar("plans", "--format", "csv").out.splitlines()[0]
    assert first == "plan,default,restrictions,inner,paper,player,runs_on"
    assert list(tollbar("plans", "--format", "json").json[0]) == first.split(",")


def test_parameters_are_shown_with_what_is_accepted(tollbar):
    rows = {row["plan"]: row for row in tollbar("plans", "--format", "json").json}
    assert rows["dissemination[:W]"]["default"] == "1"
    assert rows["dissemination[:W]"]["restrictions"] == "1 to 7"
    assert rows["dissemination[:W]"]["inner"] is False
    assert rows["mcs[:ARRIVAL,WAKEUP]"]["default"] == "4,2"
    assert rows["central"]["restrictions"] is None


def test_who_plays_the_roles_and_where_a_plan_runs_is_said(tollbar):
    rows = {row["plan"]: row for row in tollbar("plans", "--format", "json").json}
    assert (rows["turnstile"]["player"], rows["turnstile"]["runs_on"]) == ("the last rank to arrive", None)
    assert rows["combination[:P[/PLAN]]"]["default"] == "2/dissemination"
    assert rows["switch"]["player"] == "the switch"
    assert (rows["card[:PLAN]"]["player"], rows["card[:PLAN]"]["runs_on"]) == (None, "NICs")


def test_the_plain_table_is_aligned(tollbar):
    lines = tollbar("plans").out.splitlines()
    at = lines[0].index("paper")
    assert all(line[at - 1] == " " and line[at] != " " for line in lines[1:10])
