# SPDX-License-Identifier: Apache-2.0
"""What stored runs put into the exhibits: medians beside predictions, in the figures they belong to."""

import json
import re
import subprocess
import sys
from pathlib import Path

import fake_program
import pytest
import replay_mpi
import replay_shmem
from tollbar.data import results
from tollbar.machine import facts as machine
from tollbar.report import pictures
from tollbar_lab.papers import MAKERS, logp, multiprogramming, openmp_mpi, panels, split_shmem
from tollbar_lab.papers.exhibit import Exhibit, Point
from tollbar_lab.papers.stored import Stored, model_of

pytestmark = pytest.mark.deep  # pages and pictures, which few changes touch


@pytest.fixture
def processes():
    return replay_mpi


def new_run(within: Path, kind: str, *launches: str) -> None:
    folder = results.new_run(within, kind)
    results.write_environment(folder, machine.facts() | {"kind": kind})
    for group, text in enumerate(launches):
        results.write_launch(folder, group, f"tollbar-bench-{kind}", text)


def by_number(exhibits: list[Exhibit]) -> dict[str, Exhibit]:
    return {each.number: each for each in exhibits}


def measured(exhibit: Exhibit, series: str) -> dict[float, Point]:
    return {point.x: point for point in exhibit.points if point.series == series and point.measured is not None}


def test_threads_stand_in_figures_7_to_9(tmp_path, stored):
    stored(ranks=(2, 4), launches=2, rounds=1, within=tmp_path)
    found = by_number(openmp_mpi.exhibits(Stored(tmp_path)))
    for number in ("Figure 7", "Figure 9"):  # beside what is printed of it, and the turnstile beside it
        own = measured(found[number], "sense_reversing")
        assert set(own) == {2, 4}
        assert own[2].published == pytest.approx(own[2].model) == 0.25
        turnstile = measured(found[number], "turnstile")
        assert own[2].measured / turnstile[2].measured == pytest.approx(2.5, rel=0.3)
        assert {point.published for point in turnstile.values()} == {None}
    assert set(measured(found["Figure 8"], "mcs")) == {2, 4}
    assert found["Figure 9"].missing is None
    for point in measured(found["Figure 8"], "mcs").values():
        assert point.counted == pytest.approx(
            0.75 * point.measured, rel=0.1
        )  # the mean time inside, as the replay has it
    assert found["Figure 10"].missing.command == "tollbar bench mpi dissemination+messages mcs+messages"
    assert "Here the model is off by" in found["Figure 9"].conclusion


def test_each_rank_has_a_row_of_its_mean_where_a_number_of_episodes_was_measured(tmp_path, replay):
    texts = []
    for seed, means in enumerate(([1000.0, 3000.0], [2000.0, 5000.0])):
        lines = replay.text("tollbar-bench-threads", 2, "free", 1, seed, "sense_reversing").splitlines()
        records = [json.loads(line) for line in lines]
        records = [each | ({"inside_each_ns": means} if each["record"] == "episodes" else {}) for each in records]
        texts.append("\n".join(map(json.dumps, records)) + "\n")
    new_run(tmp_path, "threads", *texts)
    seven = by_number(openmp_mpi.exhibits(Stored(tmp_path)))["Figure 7"]
    rows = {point.series: (point.x, point.measured) for point in seven.points if "rank" in point.series}
    assert rows == {"sense_reversing, rank 0": (2, 1.5), "sense_reversing, rank 1": (2, 4.0)}
    assert not any("rank" in line.label for panel in panels.of(seven) for line in panel.lines)


def test_what_a_figure_lacks_is_measured_however_many_runs_of_the_kind_there_are(tmp_path, replay):
    def launch(only: str) -> str:
        return replay.text("tollbar-bench-threads", 2, "free", 1, 0, only)

    new_run(tmp_path, "threads", launch("dissemination,turnstile,sense_reversing"))
    found = by_number(openmp_mpi.exhibits(Stored(tmp_path)))
    assert found["Figure 7"].missing is None
    assert {found[f"Figure {n}"].missing.command for n in (8, 9)} == {"tollbar bench threads mcs"}
    # A newer run adds what it has, and what it has not is still there.
    new_run(tmp_path, "threads", launch("mcs"))
    here = Stored(tmp_path)
    found = by_number(openmp_mpi.exhibits(here))
    assert {found[f"Figure {n}"].missing for n in (7, 8, 9)} == {None}
    assert {point.series for point in found["Figure 9"].points if point.measured} == {
        "sense_reversing", "turnstile", "mcs"
    }  # fmt: skip
    assert len(here.used) == 2


def test_runs_of_another_machine_add_nothing(tmp_path, processes):
    new_run(tmp_path, "mpi", processes.ranks_launch(2, 1, 1))
    folder = results.newest(tmp_path, "mpi")
    results.write_environment(folder, {**results.read_environment(folder), "model": "another"})
    new_run(tmp_path, "mpi", without(processes.ranks_launch(4, 1, 1), "mcs"))
    assert set(Stored(tmp_path).mpi[1]) == {4}


def test_logp_names_every_barrier_that_nothing_has_measured(tmp_path, processes):
    new_run(tmp_path, "mpi", without(processes.ranks_launch(2, 1, 1), "tournament"))
    found = by_number(logp.exhibits(Stored(tmp_path)))
    assert found["Figure 10"].missing.names == ("tournament+messages",)
    assert found["Figure 12"].missing is None
    assert found["Figure 13"].missing.names == ("tournament+messages", "MPI_Barrier [coll/basic]")
    assert "'MPI_Barrier [coll/basic]'" in found["Figure 13"].missing.command


def test_processes_stand_beside_the_model_that_was_fitted_to_two_of_their_points(tmp_path, processes):
    new_run(tmp_path, "mpi", *(processes.ranks_launch(ranks, 1, 1) for ranks in (2, 4, 8)))
    here = Stored(tmp_path)
    found = measured(by_number(openmp_mpi.exhibits(here))["Figure 11"], "dissemination")
    for ranks, point in found.items():
        assert point.measured == pytest.approx(processes.latency_ns("dissemination", ranks) / 1e3, rel=0.2)
    assert set(found) == {2, 4, 8}
    predictions = [point.predicted is not None for _, point in sorted(found.items())]
    assert predictions == [False, False, True]  # two processors: 2 is the first point, 4 the first that shares
    table = by_number(logp.exhibits(here))["Table 1"]
    assert not any(point.measured for point in table.points)  # nobody has 128 ranks here
    assert table.missing.command == "tollbar bench mpi --ranks 128,256"


def as_mpi(launch: str, mpi: str) -> str:
    """The same launch with another MPI."""
    return launch.replace('"mpi": "Open MPI 4.1.4"', f'"mpi": "{mpi}"')


def without(launch: str, *names: str, wait: str = "") -> str:
    """A launch without what it measured of these barriers, or of all that waited so."""
    lines = [json.loads(line) for line in launch.splitlines()]
    kept = [line for line in lines if line.get("name", "") not in names and (line.get("wait") or "-") != wait]
    return "".join(json.dumps(line) + "\n" for line in kept)


def test_another_mpi_s_barrier_never_bears_the_name_of_open_mpi(tmp_path, processes):
    launches = [processes.ranks_launch(ranks, 1, 1) for ranks in (2, 4, 8)]
    new_run(tmp_path, "mpi", *(as_mpi(launch, "Intel MPI 2021.19.0") for launch in launches))
    found = by_number(logp.exhibits(Stored(tmp_path)))
    assert measured(found["Figure 13"], logp.OPEN_MPI) == {}
    own = measured(found["Figure 13"], "MPI_Barrier of Intel MPI 2021.19.0")
    assert {ranks: point.predicted for ranks, point in own.items()} == dict.fromkeys((2, 4, 8))
    assert found["Figure 13"].title.endswith("(measured: Intel MPI 2021.19.0, one host)")


def test_open_mpi_stands_before_an_mpi_that_was_measured_with_more_ranks(tmp_path, processes):
    other = [as_mpi(processes.ranks_launch(ranks, 1, 1), "Intel MPI 2021.19.0") for ranks in (2, 4, 8)]
    new_run(tmp_path, "mpi", *other, *(processes.ranks_launch(ranks, 1, 1) for ranks in (2, 4)))
    assert Stored(tmp_path).mpi[0] == "Open MPI 4.1.4, one host"


def test_a_title_names_an_mpi_where_something_was_measured_with_it(tmp_path, processes):
    plans = ("dissemination", "central", "tournament", "mcs", *(f"combining:{n}" for n in (2, 4)))
    launches = [without(processes.ranks_launch(ranks, 1, 1), *plans) for ranks in (2, 4, 8)]
    new_run(tmp_path, "mpi", *launches)  # MPI_Barrier alone
    here = Stored(tmp_path)
    for exhibit in (*logp.exhibits(here), *openmp_mpi.exhibits(here)):
        assert ("measured: Open MPI" in exhibit.title) == (exhibit.counts[2] > 0), exhibit.number
    assert "measured: Open MPI 4.1.4" in by_number(logp.exhibits(here))["Figure 13"].title


def test_a_plan_in_shared_memory_is_not_shown_as_one_of_messages(tmp_path, processes):
    launches = [without(processes.ranks_launch(ranks, 1, 1), wait="messages") for ranks in (2, 4, 8)]
    new_run(tmp_path, "mpi", *launches)
    here = Stored(tmp_path)
    for number in ("Figure 10", "Figure 11", "Figure 12"):
        assert by_number(openmp_mpi.exhibits(here))[number].counts[2] == 0
    assert measured(by_number(logp.exhibits(here))["Figure 13"], "dissemination") == {}
    # Between hosts there is nothing but messages.
    new_run(tmp_path, "mpi", *(processes.ranks_launch(ranks, ranks, 1) for ranks in (2, 4, 8)))
    assert set(measured(by_number(openmp_mpi.exhibits(Stored(tmp_path)))["Figure 10"], "mcs")) == {2, 4, 8}


def test_another_barrier_among_threads_is_named(tmp_path, processes):
    def central(launch: str) -> str:
        return launch.replace("turnstile/dissemination", "central/dissemination")

    new_run(tmp_path, "hybrid", central(processes.threads_launch(2, 4, 1)))
    found = by_number(openmp_mpi.exhibits(Stored(tmp_path)))
    for number in ("Figure 13a", "Figure 13b", "Figure 14"):
        (point,) = [point for point in found[number].points if point.measured]
        assert point.series.endswith("whose threads meet at central")


def test_threads_of_ranks_stand_beside_the_model_with_a_prediction(tmp_path, processes):
    launches = [processes.threads_launch(ranks, threads, 1) for ranks in (2, 4) for threads in (2, 4)]
    new_run(tmp_path, "hybrid", *launches)
    found = by_number(openmp_mpi.exhibits(Stored(tmp_path)))
    measured_points = [point for point in found["Figure 14"].points if point.measured]
    assert len(measured_points) == 4
    assert {point.x for point in measured_points} == {2, 4}
    # The replay's time is ranks x threads; the price of the plan and its messages come near that.
    assert all(point.predicted == pytest.approx(point.measured, rel=0.35) for point in measured_points)
    assert "here: Open MPI 4.1.4" in found["Figure 14"].drawing
    trees = [point for point in found["Section 1.3.1"].points if point.measured]
    by_place = {(point.series, point.x): point.measured for point in measured_points}
    assert len(trees) == 4
    for point in trees:  # the replay's take a tenth longer
        assert point.measured == pytest.approx(1.1 * by_place[point.series, point.x], rel=0.05)
    kinds = {line.kind for panel in panels.of(found["Figure 13a"]) for line in panel.lines}
    assert kinds == {"line", "measured", "predicted"}


def test_crowds_stand_in_the_figure_of_their_shape(tmp_path, replay_crowd):
    visits = [each for us in (1000, 8000) for each in replay_crowd.visits(16, 2, us, 0.0)]
    new_run(tmp_path, "threads", "\n".join(replay_crowd.launch(16, 2, visits)) + "\n")
    found = by_number(multiprogramming.exhibits(Stored(tmp_path)))
    spun = measured(found["Figure 1"], "turnstile (spin), 16 threads on 2 processors, equal times")
    assert set(spun) == {1, 8}
    assert all(point.predicted for point in spun.values())
    names = {point.series.partition(",")[0] for point in found["Figure 5"].points if point.measured}
    assert names == {"combination (park)"}


def store_shmem(within: Path) -> None:
    def text(program: str) -> str:
        flags = ["--rounds", "2", "--seed", "1", "--placement", "free", "--iterations", "100"]
        words = [sys.executable, "-S", replay_shmem.__file__, program, *flags]
        return subprocess.check_output(words, env={"PES": "4", "TOLLBAR_TUNING": "", "PATH": ""}, text=True)

    folder = results.new_run(within, "shmem")
    results.write_environment(folder, machine.facts() | {"kind": "shmem"})
    for program in ("tollbar-bench-shmem", "tollbar-bench-dsde"):
        results.write_launch(folder, 0, program, text(program))


def test_the_exchange_is_predicted_from_the_row_of_the_puts_and_each_barrier_alone(tmp_path):
    store_shmem(tmp_path)
    found = by_number(split_shmem.exhibits(Stored(tmp_path)))
    here = {point.x: point for point in found["Table 1"].points if point.measured is not None}
    assert {point.series for point in here.values()} == {"4 PEs"}
    alone_us = fake_program.floor_ns(4, replay_shmem.PAIR_NS, replay_shmem.SWITCH_NS) / 1e3
    puts, amos = here["64-bit Puts"], here["32-bit AMOs"]
    assert puts.predicted is None  # it is where the rest comes from
    assert 1e3 * amos.predicted == pytest.approx(max(0, 1e3 * puts.measured - alone_us) + 5 * alone_us, rel=0.02)
    assert here["messages, Issend and Ibarrier (NBX)"].predicted is None  # nothing measures that barrier alone
    (over,) = [p for p in found["Table 1 over PEs"].points if p.series == "32-bit AMOs" and p.measured]
    assert over.predicted == amos.predicted


def test_every_picture_reads_well_with_measurements_of_every_kind(
    tmp_path, replay_crowd, processes, stored, replay_nic
):
    visits = [
        each for on in (1, 2, 4) for us in (1000, 8000) for each in replay_crowd.visits(16, on, us, 0.0)
    ]  # so many processors that one panel cannot hold them
    new_run(tmp_path, "threads", "\n".join(replay_crowd.launch(16, 4, visits)) + "\n")
    new_run(tmp_path, "mpi", *(processes.ranks_launch(ranks, 1, 1) for ranks in (2, 4, 8)))
    launches = [processes.threads_launch(ranks, threads, 1) for ranks in (2, 4) for threads in (2, 4)]
    others = [as_mpi(launch, mpi) for mpi in ("MPICH 4.0.2", "Intel MPI 2021.19.0") for launch in launches]
    new_run(tmp_path, "hybrid", *launches, *others)
    stored(ranks=(2, 4), launches=1, rounds=1, within=tmp_path)
    store_shmem(tmp_path)
    replay_nic.store_both(tmp_path)
    here, measured_in = Stored(tmp_path), set()
    for paper, make in MAKERS.items():
        for exhibit in make(here):
            figures = panels.of(exhibit)
            if figures:
                assert_reads_well(exhibit, figures)
            if any(line.kind == "measured" for figure in figures for line in figure.lines):
                measured_in.add(paper)
    assert measured_in == set(MAKERS)


def assert_reads_well(exhibit, figures):
    name = f"{exhibit.paper} {exhibit.number}"
    drawn = pictures.panels(figures, panels.KINDS)
    drawn.draw_without_rendering()
    assert len(drawn.axes) == len(figures), name
    shown = [point for point in exhibit.points if point.series not in exhibit.aside]
    drawn_series = {line.series for figure in figures for line in figure.lines}
    assert drawn_series == {point.series for point in shown}, name
    assert len({(line.series, line.style) for figure in figures for line in figure.lines}) == len(drawn_series), name
    for figure, axes in zip(figures, drawn.axes, strict=True):
        assert re.search(r", (us|ms|s|%)$| over |^host-based over|^share of ", figure.y.label), figure.y.label
        assert figure.x.label, name
        here = {line.kind in ("measured", "predicted") for line in figure.lines}
        assert len(here) == 1, f"{name}: two machines in one panel"
        assert figure.caption or len(figures) == 1, name
        assert_inside(name, drawn, axes.get_tightbbox())  # with ticks, labels and title
        assert_legend_fits(name, figure, drawn, axes)
        assert_curves_differ(name, axes)
        box = axes.get_window_extent()
        assert min(box.width, box.height) / drawn.dpi > 1.2, name
        assert box.width / drawn.dpi > 4, name
    (kinds,) = drawn.legends
    assert {text.get_text() for text in kinds.get_texts()} == {
        panels.KINDS[line.kind] for figure in figures for line in figure.lines
    }
    assert_inside(name, drawn, kinds.get_window_extent())


def assert_legend_fits(name, figure, drawn, axes):
    legend = axes.get_legend()
    entries = [text.get_text() for text in legend.get_texts()]
    assert entries == list(dict.fromkeys(line.series for line in figure.lines)), name
    assert 1 <= len(entries) <= 8, name
    assert_inside(name, drawn, legend.get_window_extent())
    others = [each for each in (*drawn.axes, *(other.get_legend() for other in drawn.axes)) if each is not legend]
    box = legend.get_window_extent()
    for other in (*others, *drawn.legends, axes.xaxis.label):
        assert not box.overlaps(other.get_window_extent()), f"{name}: {entries}"


def assert_inside(name, drawn, box):
    assert drawn.bbox.x0 <= box.x0 <= box.x1 <= drawn.bbox.x1, name
    assert drawn.bbox.y0 <= box.y0 <= box.y1 <= drawn.bbox.y1, name


def assert_curves_differ(name, axes):
    looks = []
    for curve in axes.lines:
        assert len(curve.get_xdata()), name
        assert curve.get_marker() not in ("", "None") or len(curve.get_xdata()) > 1, f"{name}: nothing is seen"
        dashes = curve._unscaled_dash_pattern if curve.get_linestyle() != "None" else None
        looks.append((curve.get_color(), str(dashes), curve.get_marker()))
    assert len(set(looks)) == len(looks), name


def test_the_newest_run_over_each_transport_counts(tmp_path):
    def text(elapsed_ns: int, **more: str) -> str:
        lines = [
            {"record": "environment", "ranks": 2, "usable": 2, "placement": "free", **more},
            {
                "record": "work", "round": 0, "name": "mcs", "kind": "plan", "wait": "auto", "workload": "64",
                "phases": 1, "runs": 1, "elapsed_ns": elapsed_ns, "computing_ns": 64000, "longest_ns": 64000,
            },
            {"record": "done"},
        ]  # fmt: skip
        return "".join(json.dumps(line) + "\n" for line in lines)

    new_run(tmp_path, "work", text(70000))
    new_run(tmp_path, "work", text(80000))
    new_run(tmp_path, "work", text(90000, mpi="Open MPI"))
    found = Stored(tmp_path).work
    taken = {place.over: next(iter(each["64"].values())).run.value for place, each in found.items()}
    assert taken == {"threads": 80000, "Open MPI": 90000}


def test_open_mpi_s_own_barrier_is_measured_by_coll_basic_where_there_is_one(tmp_path, processes):
    def basic(ranks: int) -> str:
        launch = processes.ranks_launch(ranks, 1, 1, setting="coll/basic")
        lines = [json.loads(line) for line in launch.splitlines()]
        for line in lines:
            if line["record"] == "batch":
                line["elapsed_ns"] = line["episodes"] * 7000
        return "".join(json.dumps(line) + "\n" for line in lines)

    new_run(tmp_path, "mpi", *(processes.ranks_launch(n, 1, 1) for n in (2, 4, 8)), *map(basic, (2, 4, 8)))
    here = Stored(tmp_path)
    own = measured(by_number(logp.exhibits(here))["Figure 13"], logp.OPEN_MPI)
    assert {point.counted for point in own.values()} == {7.0}
    # Linear up to the crossover, a binomial tree beyond: what is predicted follows.
    model = model_of(here.mpi[1])
    assert own[4].predicted == pytest.approx(model.predict("central", 4) / 1e3)
    assert own[8].predicted == pytest.approx(model.predict("bst", 8) / 1e3)
    loop = measured(by_number(logp.exhibits(here))["Figure 12"], "dissemination, mean of a loop")
    assert set(loop) == {2, 4, 8}
