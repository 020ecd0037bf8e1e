# SPDX-License-Identifier: Apache-2.0
"""The committed results: what is stored reads back, and the pages are what it says."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
import replay_mpi
from tollbar.data import cells, results, samples
from tollbar.data.summary import medians
from tollbar.report import compared, published, threads_section, times
from tollbar.report.charts import time_text
from tollbar.report.tables import times_text

ROOT = Path(__file__).resolve().parents[3]
STORED = ROOT / "bench" / "results"


@pytest.mark.deep
def test_what_is_stored_gives_the_same_times_as_the_samples(stored_once, tmp_path):
    found = published.write([stored_once], tmp_path)
    whole = samples.read([stored_once])
    for table in (found, whole):
        assert not table.rows.is_empty()
    by = ["ranks", "placement", "candidate"]
    periods = [medians(each.of("period_ns").filter(apart="launcher"), by, each.environments) for each in (found, whole)]
    assert periods[0].sort(by).equals(periods[1].sort(by))
    rows, wanted = ([row["today"] for each in times.situations(one) for row in each] for one in (found, whole))
    assert rows == pytest.approx(wanted, nan_ok=True)


def rows_of(stored):
    """The file of all cells."""
    return list(csv.DictReader(io.StringIO(published.cells(stored))))


@pytest.mark.deep
def test_every_cell_stands_in_the_file_with_its_verdict(stored_once, tmp_path):
    rows = rows_of(published.write([stored_once], tmp_path))
    (row,) = (row for row in rows if (row["where"], row["ranks"], row["barrier"]) == ("pinned", "2", "turnstile"))
    assert row["verdict"] == "fastest"
    assert row["today_is"] == "std::barrier"
    assert float(row["today_low"]) <= float(row["today"]) <= float(row["today_high"])


@pytest.mark.deep
def test_runs_beside_neighbours_have_tables_of_their_own(stored_once, stored_beside, tmp_path):
    threads = published.write([stored_once], tmp_path / "stored")
    assert published.texts(threads)["cells"] == published.texts(threads)["neighbours"] == "Nothing is stored yet.\n"
    beside = stored_beside(ranks=(8,), workloads="0")
    both = published.write([stored_once, beside], tmp_path / "stored")
    texts = published.texts(both)
    assert texts["cells"].endswith(f":\n\n{threads_section.counts(samples.read([beside]))}")
    assert "| 8 threads beside a busy neighbour |" in texts["neighbours"]
    assert texts["threads"] == published.texts(threads)["threads"]
    assert "beside a busy neighbour" not in texts["summary"]  # three launches


def test_runs_that_share_no_launch_stand_in_one_file_and_are_not_compared(tmp_path):
    runs = []
    for door in ("none", "component"):
        runs.append(results.new_run(tmp_path, "mpi"))
        results.write_environment(runs[-1], {"kind": "mpi", "usable": [0, 1]})
        for launch in range(2):
            results.write_launch(runs[-1], launch, "p", replay_mpi.ranks_launch(4, 1, launch, door))
    stored = published.write(runs, tmp_path / "stored")
    (row,) = (row for row in rows_of(stored) if row["barrier"] == "MPI_Barrier [component]")
    assert (row["verdict"], row["today"]) == ("apart", "")
    assert published.texts(stored)["mpi"] == "Nothing is stored yet.\n"


@pytest.mark.deep
def test_each_machine_has_a_column_and_a_sentence_where_they_differ(stored_once, stored, tmp_path):
    other = stored(ranks=(2, 8), launches=12)
    known = results.read_environment(other)
    results.write_environment(other, {**known, "model": "Another Processor", "hypervisor": "KVM"})
    for launch in other.glob("*.gz"):
        lines = [json.loads(line) for line in gzip.decompress(launch.read_bytes()).splitlines()]
        for line in lines:
            if (line["record"], line.get("name")) == ("batch", "std::barrier"):
                line["elapsed_ns"] /= 5
        launch.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    published.write([stored_once], tmp_path / "stored")
    both = published.add([other], tmp_path / "stored")
    assert list(both.environments) == [stored_once.name, other.name]  # of two machines
    texts = published.texts(both)
    first, second = compared.by_machine(both)
    assert second.startswith("Another Processor, ")
    assert second.endswith(", KVM")
    assert texts["summary"].splitlines()[0] == f"|  | today, tollbar | {first} | {second} |"
    (row,) = (line for line in texts["summary"].splitlines() if line.startswith("| 8 threads |"))
    assert row.count("n = 12") == 2
    (line,) = (line for line in texts["brief"].splitlines() if "Machines differ: `std::barrier`" in line)
    names = f"{first.partition(',')[0]} and Another Processor"
    assert f"takes so many times as long as `tollbar::barrier` on {names}: " in line
    assert re.search(r"[:;] with 8 threads \S+ \(\S+ to \S+\) and \S+ \(\S+ to \S+\)[;.]", line)
    starts = [line.partition(": ")[0] for line in texts["brief"].splitlines()]
    assert starts.count(f"* {first.partition(',')[0]}") == starts.count("* Another Processor") >= 2


@pytest.mark.deep
def test_a_machine_of_too_few_launches_says_so_where_another_has_enough(stored_once, stored, tmp_path):
    other = stored(ranks=(2, 8), launches=11)
    results.write_environment(other, {**results.read_environment(other), "model": "Another Processor"})
    texts = published.texts(published.write([stored_once, other], tmp_path / "stored"))
    (row,) = (line for line in texts["summary"].splitlines() if line.startswith("| 8 threads |"))
    assert row.endswith("n = 12 | too few launches (n = 11) |")


def test_a_watched_call_is_compared_with_its_own_second_name_alone(tmp_path):
    run = results.new_run(tmp_path, "mpi")
    results.write_environment(run, {"kind": "mpi", "usable": [0, 1]})
    for launch in range(2):
        results.write_launch(run, launch, "p", replay_mpi.ranks_launch(2, 1, launch, setting="watched"))
    barriers = [{row["barrier"] for row in each} for each in times.situations(samples.read([run]))]
    assert barriers == [{"MPI_Barrier [watched]"}, {"MPI_Bcast [watched]", "PMPI_Bcast"}]


@pytest.mark.deep
def test_a_run_that_is_added_replaces_those_of_its_kind(stored_once, stored_beside, tmp_path):
    first, second = stored_beside(ranks=(2,)), stored_beside(ranks=(8,))
    results.write_environment(second, {**results.read_environment(second), "kernel": "the next one"})
    published.write([stored_once, first], tmp_path / "stored")
    found = published.add([second], tmp_path / "stored")
    assert list(found.environments) == [stored_once.name, second.name]
    assert found.rows["run"].unique(maintain_order=True).to_list() == [stored_once.name, second.name]
    whole = published.write([stored_once, second], tmp_path / "whole")
    assert published.texts(found) == published.texts(whole)


def test_the_first_page_states_every_ratio_with_its_launches(stored_once, tmp_path):
    """A row has the two times of its table and their ratio, however wide its interval is."""
    found = published.write([stored_once], tmp_path)
    rows = {
        row["ranks"]: row
        for some in times.situations(found)
        for row in some
        if row["barrier"] == "tollbar::barrier" and row["where"] == "free" and row["ranks"] in (2, 4, 8)
    }
    lines = published.texts(found)["summary"].splitlines()[2:]
    assert [int(line.split()[1]) for line in lines] == list(rows) == [2, 4, 8]
    for line, row in zip(lines, rows.values(), strict=True):
        assert f", {time_text(1e3 * row['period_us'])}: {times_text(1 / row['today'])} (" in line
        assert line.endswith("n = 12 |")


def test_a_row_of_too_few_launches_is_not_on_the_first_page(stored, tmp_path):
    texts = published.texts(published.write([stored(ranks=(2,), launches=11)], tmp_path / "stored"))
    assert texts["summary"] == "Nothing is stored yet.\n"
    assert "| 2 threads |" in texts["threads"]


@pytest.mark.deep
def test_sentences_about_cells_count_what_the_table_has(stored_beside, tmp_path):
    found = published.write([stored_beside(ranks=(2, 8))], tmp_path)
    count = cells.count(cells.gather(found), "tollbar::barrier")
    (line,) = (line for line in published.texts(found)["brief"].splitlines() if "best way" in line)
    assert line.startswith(f"* Of {count.situations} cells, ")
    assert f" in {count.certain}, and possibly in {count.possible} (95 % a cell; 3 launches or more)" in line


@pytest.mark.deep
def test_a_run_at_a_load_fills_no_table_and_one_of_unknown_load_does(stored_once, stored_beside, tmp_path):
    loud, unknown = stored_beside(ranks=(8,), workloads="0"), stored_beside(ranks=(8,), workloads="0")
    known = results.read_environment(loud)
    results.write_environment(loud, {**known, "load": [1.46, 5.8, 14.2]})
    results.write_environment(unknown, {name: fact for name, fact in known.items() if name != "load"})
    texts = published.texts(published.write([stored_once, loud], tmp_path / "stored"))
    assert texts["cells"] == (
        f"The machine had other work, so no table is made of `{loud.name}` (load 1.5 when it began).\n"
    )
    assert "cells" not in texts["brief"]
    assert f"`{loud.name}` (load 1.5 when it began: fills no table)" in texts["machine"]
    texts = published.texts(published.write([stored_once, unknown], tmp_path / "stored"))
    assert "| neighbours |" in texts["cells"]
    assert f"`{unknown.name}` (unknown load)" in texts["machine"]


def test_pages_are_filled_between_marks_and_again_alike():
    page = "before\n<!-- results:mpi begin: by hand -->\nold\n<!-- results:mpi end -->\nafter\n"
    filled = published.fill(page, {"mpi": "| new |\n", "threads": "not here\n"})
    assert filled == page.replace("old", "| new |")
    assert published.fill(filled, {"mpi": "| new |\n"}) == filled


@pytest.fixture(scope="module")
def committed():
    return published.read(STORED)


@pytest.mark.deep
def test_the_pages_say_what_is_stored(committed):
    texts = published.texts(committed)
    assert (ROOT / "docs" / "results.csv").read_text(encoding="utf-8") == published.cells(committed)
    for page in ("README.md", "docs/results.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert published.fill(text, texts) == text, page
        assert "Nothing is stored yet" not in text


def test_results_are_of_machines_alone_and_beside_a_neighbour(committed):
    turns = committed.records.filter(pl.col("metric") == "period_ns", pl.col("bench") == "threads")
    assert {"alone", "plain", "1 neighbour"} <= set(turns["neighbours"])
    assert all(facts["model"] and facts["kernel"] for facts in committed.environments.values())


def test_no_path_of_a_machine_is_stored(committed):
    text = (STORED / published.ABOUT).read_text(encoding="utf-8")
    assert "/usr" not in text
    assert "/work" not in text
