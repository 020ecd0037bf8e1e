# SPDX-License-Identifier: Apache-2.0
"""The report of barriers between processes: curves, a table, and the LogP model of their times."""

import re
from pathlib import Path

import pytest
import replay_mpi as replay
from tollbar.data import places, results, samples
from tollbar.report import page as report
from tollbar.report import sections, today

ROOT = Path(__file__).resolve().parents[3]
RANKS = (2, 4, 8, 16)
SETTINGS = (("none", "stock"), ("none", "linear"), ("component", "stock"), ("preload", "stock"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    within = tmp_path_factory.mktemp("results")
    facts = {"model": "Replay & Co", "usable": [0, 1], "seed": 1}
    mpi, hybrid = results.new_run(within, "mpi"), results.new_run(within, "hybrid")
    results.write_environment(mpi, facts | {"kind": "mpi"})
    results.write_environment(hybrid, facts | {"kind": "hybrid"})
    group = 0
    for launch in range(2):
        for ranks in RANKS:
            for hosts in (1, ranks):
                for number, (door, setting) in enumerate(SETTINGS):
                    text = replay.ranks_launch(ranks, hosts, launch, door, setting)
                    results.write_launch(mpi, group, f"tollbar-bench-mpi-{number}", text)
                group += 1
        for ranks in (2, 4):
            for threads in (2, 4, 8):
                text = replay.threads_launch(ranks, threads, launch)
                results.write_launch(hybrid, group, "tollbar-bench-hybrid", text)
                group += 1
    return results.read(mpi), results.read(hybrid)


@pytest.fixture(scope="module")
def there(runs):
    return places.processes(samples.gather(runs[:1]))


def test_each_place_has_the_own_barrier_of_the_mpi_beside_ours(there):
    rows = [sections.of_mpi(place, measured) for place, measured in there.items()]
    assert [(row.place.hosts, row.place.ranks) for row in rows] == sorted(
        (hosts, ranks) for ranks in RANKS for hosts in (1, ranks)
    )
    assert all(row.pick.kind == "plan" and row.pick.wait == "auto" for row in rows)
    for row in rows:
        assert row.ratio.value == pytest.approx(2)
        assert row.component.value == row.preload.value == pytest.approx(row.own.value / 2)


def test_what_stands_behind_mpi_barrier_is_part_of_its_name(there):
    each = next(here for place, here in there.items() if (place.hosts, place.ranks) == (1, 8))
    called = {candidate.name for candidate in each.candidates if "MPI_" in candidate.name}
    assert called == {"MPI_Barrier", "MPI_Barrier [linear]", "MPI_Barrier [component]", "MPI_Barrier [preload]"}


def test_the_page_holds_the_sections_of_what_was_measured(runs):
    both, alone = report.page(*runs), report.page(runs[1])
    for page in (both, alone):
        assert 'id="hybrid"' in page
        assert 'id="use"' not in page  # no threads were measured alone
    assert 'id="mpi"' in both
    assert 'id="mpi"' not in alone
    assert f"{runs[1].folder.name}-environment.json" in both
    ids = re.findall(r'\sid="([^"]*)"', both)
    assert len(set(ids)) == len(ids)
    assert "Replay &amp; Co" in both


def test_runs_over_different_numbers_of_hosts_stand_in_figures_of_their_layouts(tmp_path):
    runs = []
    for hosts in (1, 2, 4, 8):
        run = results.new_run(tmp_path, "mpi")
        results.write_environment(run, {"kind": "mpi", "hosts": hosts, "usable": [0, 1]})
        for group, ranks in enumerate((2, 4, 8) if hosts == 1 else (hosts,)):
            results.write_launch(run, group, "p", replay.ranks_launch(ranks, hosts, 0))
        runs.append(run)
    assert results.all_chosen(tmp_path, "mpi") == runs
    assert results.all_chosen(runs[1], "mpi") == [runs[1]]
    text = report.page(*map(results.read, runs))
    drawn = re.findall(r'<figure id="ranks-open-mpi-4-1-4-([a-z-]+)-1">', text)
    assert drawn == ["one-host", "a-rank-a-host"]


def test_one_number_of_ranks_makes_no_curve_but_a_table(tmp_path):
    results.write_environment(tmp_path, {"kind": "mpi"})
    results.write_launch(tmp_path, 0, "p", replay.ranks_launch(4, 1, 0))
    run = results.read(tmp_path)
    section = sections.processes(samples.gather([run]))
    assert section.figures == []
    assert len(section.rows) == 1
    assert 'id="mpi"' in report.page(run)


def test_the_first_chart_has_the_own_barrier_of_an_mpi_that_was_measured_by_turns_with_ours(tmp_path):
    """As `tollbar bench mpi` measures it for `make demo`: both in one process, in which tollbar is preloaded."""
    results.write_environment(tmp_path, {"kind": "mpi", "usable": [0, 1]})
    for launch in range(6):
        for ranks in (2, 4):
            text = replay.ranks_launch(ranks, 1, launch, "preload", "by turns")
            results.write_launch(tmp_path, 2 * launch + ranks // 4, "p", text)
    of_mpi = samples.gather([results.read(tmp_path)])
    made = today.first(of_mpi, of_mpi)
    drawn = {line.label: line.y for line in made.mpi.figure.lines}
    ours = drawn["MPI_Barrier [preload]"]
    assert drawn.keys() == {"MPI_Barrier", "MPI_Barrier [preload]"}
    assert len(ours) == 2
    assert drawn["MPI_Barrier"] == pytest.approx([2 * ns for ns in ours], rel=0.1)
