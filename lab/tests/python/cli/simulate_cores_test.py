# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate cores."""

import json

import pytest
import tollbar_lab
from tollbar_lab.models import cores

COLUMNS = "barrier,cores,barrier_us,times_fastest,misses,machine,placement,spread_us,episodes,seed"


def rows(tollbar, *arguments):
    return tollbar("simulate", "cores", *arguments, "--csv").csv


def refusal(tollbar, *arguments):
    return tollbar("simulate", "cores", *arguments).refusal


def test_the_columns_are_stable(tollbar):
    assert ",".join(rows(tollbar, "pairwise", "--ranks", 2)[0]) == COLUMNS


def test_every_barrier_is_compared_with_the_fastest_of_its_size(tollbar):
    found = rows(tollbar, "--ranks", "4,16")
    assert {row["barrier"] for row in found} == set(cores.CANDIDATES)
    for size in ("4", "16"):
        assert min(float(row["times_fastest"]) for row in found if row["cores"] == size) == 1


def test_the_same_question_has_the_same_answer(tollbar):
    words = ("--ranks", "24", "--spread", "0,2", "--machine", "mesh")
    assert rows(tollbar, *words) == rows(tollbar, *words)


def test_sizes_that_were_not_asked_for_end_with_the_machine(tollbar):
    found = rows(tollbar, "pairwise", "--machine", "icelake")
    assert [row["cores"] for row in found] == ["2", "4", "8", "16"]


def test_a_machine_survives_its_file(tollbar, tmp_path):
    path = tmp_path / "machine.json"
    machine = tollbar_lab.cores_machine("mesh").changed(numbers={"cluster_ns": 33.0})
    path.write_text(json.dumps(cores.to_json(machine, {"cpu": "none"})))
    assert cores.machine(str(path)).numbers == machine.numbers
    assert cores.machine(str(path)).cores == machine.cores
    same = rows(tollbar, "pairwise", "--machine", path, "--ranks", 4)[0]
    assert float(same["barrier_us"]) < float(
        rows(tollbar, "pairwise", "--machine", "mesh", "--ranks", 4)[0]["barrier_us"]
    )


def test_a_line_time_is_found_from_what_was_measured():
    machine = tollbar_lab.cores_machine("epyc")
    found = cores.line_ns_for(machine, "cluster_ns", (0, 1), 60.0)
    again = tollbar_lab.cores_one_way_ns(machine.changed(numbers={"cluster_ns": found}), 0, 1)
    assert again == pytest.approx(60.0, rel=0.05)


def test_the_busy_part_is_found_from_contended_additions():
    machine = tollbar_lab.cores_machine("icelake")
    found = cores.busy_for(machine, 4, tollbar_lab.cores_contended_add_ns(machine, 4))
    assert found == pytest.approx(machine.numbers["busy"], abs=0.01)
