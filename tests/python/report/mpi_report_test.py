# SPDX-License-Identifier: Apache-2.0
"""The report of barriers between processes: the figures of two papers, with prediction beside measurement."""

import importlib.machinery
import importlib.util
import json
import re
from pathlib import Path

import pytest
from tollbar.data import places, results, samples
from tollbar.models import prediction
from tollbar.report import curves, mpi_figures, mpi_tables, sections
from tollbar.report import page as report

ROOT = Path(__file__).resolve().parents[3]
RANKS = (2, 4, 8, 16)
SETTINGS = (("none", "stock"), ("none", "linear"), ("component", "stock"), ("preload", "stock"))


def _load(name):
    found = importlib.util.spec_from_file_location(name, Path(__file__).parents[1].joinpath(f"{name}.py"))
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


replay = _load("replay_mpi")


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
def figures(runs):
    return {each.name: each for run in runs for each in mpi_figures.of(samples.gather([run]))}


@pytest.fixture(scope="module")
def there(runs):
    return places.processes(samples.gather(runs[:1]))


def test_every_figure_of_both_papers_is_there(figures):
    layouts = ("one-host", "a-rank-a-host")
    wanted = {f"logp{number}-{layout}" for number in (4, 8, 10, 12, 13) for layout in layouts}
    wanted |= {"fig10", "fig11", "fig12"}
    wanted |= {
        f"fig{part}-turnstile-{outer}-open-mpi-4-1-4"
        for part in ("13a", "13b", "14")
        for outer in ("dissemination", "mcs")
    }
    assert wanted <= figures.keys()
    for figure in figures.values():
        charts = [json.loads(text) for text in re.findall(r'"application/json">(.*?)</script>', figure.svg)]
        points = [point for chart in charts for line in chart["series"] for point in line["points"]]
        assert len(points) + figure.svg.count("<path") > 4


def test_each_caption_says_machine_and_what_the_numbers_stand_on(figures):
    for figure in figures.values():
        assert "Replay & Co, 2 usable processors" in figure.caption
        assert "2 launches a point" in figure.caption


def test_figures_of_the_logp_paper_hold_prediction_and_measurement(figures):
    for number, name in ((4, "central"), (8, "combining:4"), (10, "tournament"), (12, "dissemination")):
        figure = figures[f"logp{number}-one-host"]
        assert f'"name":"{name} (messages)","kind":"line"' in figure.svg
        assert f'"name":"{name}, predicted","kind":"model"' in figure.svg
        assert "fitted to one point: dissemination between 2" in figure.caption
    assert '"name":"the MPI\'s own"' in figures["logp13-one-host"].svg


def test_a_prediction_from_one_point_meets_what_follows_the_model(there):
    found = places.layouts(there)["Open MPI 4.1.4", "one host"]
    model = curves.model_of(found)
    for name in replay.PLANS:
        for ranks in RANKS:
            measured = found[ranks].time_ns(found[ranks].find(name, "messages"))
            assert model.predict(name, ranks) == pytest.approx(measured, rel=0.05), (name, ranks)


def test_measured_parameters_are_told_as_such():
    model = prediction.measured(10e3, 5e3, 3e3, None)
    assert model.predict("dissemination", 4) == 40e3
    assert model.origin == "L = 10, o = 5, g = 3 µs, as measured"


def test_a_plan_that_is_none_has_no_prediction():
    assert prediction.measured(1, 1, 1, None).predict("MPI_Barrier", 4) is None


def test_ranks_that_share_processors_take_turns_with_their_messages():
    crowded = prediction.measured(10e3, 5e3, 3e3, 2)
    assert crowded.predict("central", 2) == prediction.measured(10e3, 5e3, 3e3, None).predict("central", 2)
    assert crowded.predict("dissemination", 64) == 384 * 2 * 5e3 / 2


def test_each_place_has_the_own_barrier_of_the_mpi_beside_ours(there):
    rows = mpi_tables.rows(there)
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
    assert called == {
        "MPI_Barrier",
        "MPI_Barrier [linear]",
        "MPI_Barrier [component]",
        "MPI_Barrier [preload]",
    }


def test_the_page_holds_the_sections_of_what_was_measured(runs):
    both, alone = report.page(*runs), report.page(runs[1])
    for page in (both, alone):
        assert 'id="hybrid"' in page
        assert 'id="use"' not in page  # no threads were measured alone
    assert 'id="mpi"' in both
    assert 'id="mpi"' not in alone
    assert f"{runs[1].folder.name}-batches.csv" in both
    ids = re.findall(r'\sid="([^"]*)"', both)
    assert len(set(ids)) == len(ids)
    assert "Replay &amp; Co" in both


def test_runs_over_different_numbers_of_hosts_stand_in_one_figure(tmp_path):
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
    figure = re.search(r'<figure id="fig10">.*?</figure>', text, re.DOTALL)[0]
    names = [line["name"] for line in json.loads(re.search(r"json\">(.*?)</script>", figure)[1])["series"]]
    assert any(name.endswith(", a rank a host") for name in names)
    assert any(name.endswith(", one host") for name in names)


def test_the_tables_are_markdown_with_their_machine(runs):
    lines = sections.markdown(runs).splitlines()
    assert lines[0] == f"Between ranks: Replay & Co, 2 usable processors, {runs[0].folder.name}."
    assert lines[2].startswith("| MPI | where | ranks | threads | MPI's own | component | preload |")
    mpi, hybrid = (line for line in lines if line.startswith("| MPI |"))
    assert "component" in mpi
    assert "component" not in hybrid  # an empty column says nothing
    assert any(
        line.startswith("| loop period / that of the MPI's own | 8 | Open MPI 4.1.4 |") for line in lines
    )
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 3
    assert sum(line.startswith("| Open MPI") for line in lines) == 2 * len(RANKS) + 6


def test_one_number_of_ranks_makes_no_curve_but_a_table(tmp_path):
    results.write_environment(tmp_path, {"kind": "mpi"})
    results.write_launch(tmp_path, 0, "p", replay.ranks_launch(4, 1, 0))
    run = results.read(tmp_path)
    section = sections.processes(samples.gather([run]))
    assert section.figures == []
    assert len(section.rows) == 1
    assert 'id="mpi"' in report.page(run)
