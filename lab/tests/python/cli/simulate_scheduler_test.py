# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate scheduler."""

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import tollbar_lab

ROOT = Path(__file__).parents[4]
GOLDEN = ROOT / "tests" / "golden" / "seed002_fig45.csv"
BESIDE = ROOT / "tests" / "golden" / "beside_a_neighbour.csv"
PAGE = ROOT / "docs" / "how-to" / "crowded.md"
COLUMNS = (
    "application,barrier,waiting,policy,placement,threads,processors,compute_us,barriers,arrival_us,completed_us,"
    "per_barrier_us,overhead_pct,switches_per_barrier,utilisation,spinning,switching,idle,quanta,"
    "kernel,neighbours,waking,others,needed,own_us,fewest_processors,most_processors,moves"
)


def simulate(tollbar, *arguments):
    return tollbar("simulate", "scheduler", *arguments, "--csv").csv


def refusal(tollbar, *arguments):
    return tollbar("simulate", "scheduler", *arguments).refusal


def test_a_row_equals_the_golden_one(tollbar):
    with GOLDEN.open() as file:
        (wanted,) = [row for row in csv.DictReader(file) if [*row.values()][:4] == ["tree", "block", "naive", "6"]]
    words = ("--waiting", "naive", "--compute", 600, "--placement", "block", "--kernel", "paper,own=62.5")
    (row,) = simulate(tollbar, "tree", *words)
    assert float(row["per_barrier_us"]) - 62.5 == pytest.approx(float(wanted["t8_us"]), abs=0.006)
    assert float(row["overhead_pct"]) == pytest.approx(float(wanted["overhead_pct_b0.625c"]), abs=0.006)
    switches = float(wanted["switches_per_barrier_per_proc"])
    assert float(row["switches_per_barrier"]) == pytest.approx(switches, abs=0.006)


def test_the_columns_are_stable_wherever_the_format_is_given(tollbar):
    assert ",".join(simulate(tollbar, "tree", "--waiting", "smart")[0]) == COLUMNS
    before = tollbar("simulate", "--format", "json", "scheduler", "tree", "--waiting", "smart")
    assert list(before.json[0]) == COLUMNS.split(",")


def test_a_row_for_each_combination(tollbar):
    rows = simulate(tollbar, "tree", "bst", "--waiting", "smart", "--cpus", "4,8..9", "--compute", "1,2")
    assert len(rows) == 2 * 3 * 2
    assert [row["processors"] for row in rows[:4]] == ["4", "8", "9", "4"]


def test_several_applications_have_a_row_each(tollbar):
    rows = simulate(
        tollbar, "tree", "--waiting", "spin", "--policy", "dedicated", "--cpus", 4,
        "--kernel", "paper,switch=0", "--application", "ranks=4,compute=500",
        "--application", "ranks=4,barrier=mcs:4,2,arrival=3000",
    )  # fmt: skip
    assert [row["application"] for row in rows] == ["0", "1"]
    assert [row["barrier"] for row in rows] == ["tree", "mcs:4,2"]
    assert [float(row["completed_us"]) for row in rows] == [30000, 90000]
    assert float(rows[1]["per_barrier_us"]) == 87000 / 60


def test_a_partition_of_given_size_and_a_given_placement(tollbar):
    rows = simulate(
        tollbar, "centralized", "--waiting", "smart", "--kernel", "paper,switch=0", "--application",
        "ranks=4,cpus=2,placement=0,0,0,1", "--application", "ranks=6,cpus=6",
    )  # fmt: skip
    assert [float(row["per_barrier_us"]) for row in rows] == [3000, 1000]


def test_shuffled_threads_take_turns_as_the_seed_has_it(tollbar):
    one = ("dissemination", "--waiting", "naive", "--cpus", 1, "--compute", 1, "--kernel", "paper,order=shuffled")
    switches = [float(simulate(tollbar, *one, "--seed", seed)[0]["switches_per_barrier"]) for seed in (1, 2, 1)]
    assert switches[0] == switches[2] != switches[1]
    (numbered,) = simulate(tollbar, *one[:-2])
    assert float(numbered["switches_per_barrier"]) < 17 < min(switches)


def beside(*arguments):
    """A command of docs/how-to/crowded.md."""
    return (
        "turnstile", "--cpus", 2, "--compute", "20~0.5", "--episodes", 2000,
        "--kernel", "fair,switch=1.4,call=12,order=shuffled", *arguments,
    )  # fmt: skip


def test_the_command_of_the_page_gives_the_golden_times_which_were_measured(tollbar):
    with BESIDE.open() as file:
        golden = list(csv.DictReader(file))
    of_eight = [row for row in golden if row["threads"] == "8"]
    assert len(of_eight) == 8
    for row in of_eight:
        (got,) = simulate(
            tollbar,
            *beside("--ranks", 8, "--neighbours", row["neighbours"]),
            *("--waiting", row["waiting"] + f":{row['yields']}" * (row["yields"] != "0")),
        )
        assert float(got["per_barrier_us"]) == pytest.approx(float(row["simulated_us"]), abs=0.006)
        assert (float(got["others"]) > 0) == (row["neighbours"] == "1")
        shares = ("utilisation", "spinning", "switching", "idle", "waking", "others")
        assert sum(float(got[share]) for share in shares) == pytest.approx(1)


def test_the_table_of_the_page_is_the_golden_file():
    with BESIDE.open() as file:
        golden = {
            (row["waiting"], row["yields"], row["threads"], row["neighbours"]): row for row in csv.DictReader(file)
        }
    ways = {"spins": ("spin", "0"), "yields": ("naive", "0"), "sleeps": ("smart", "0"),
            "yields twice, then sleeps": ("smart", "2")}  # fmt: skip
    seen = 0
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 6 or cells[0] not in ways or cells[1] not in "248":
            continue
        for neighbours, column in (("0", 2), ("1", 4)):
            row = golden[(*ways[cells[0]], cells[1], neighbours)]
            told = [float(cell) for cell in cells[column : column + 2]]
            assert told == [pytest.approx(float(row[name]), rel=0.05) for name in ("simulated_us", "measured_us")]
            seen += 1
    assert seen == len(golden)


def test_the_slice_is_that_of_linux_for_so_many_processors(tollbar):
    # A yield costs a slice, once in two barriers: whoever is late passes one and ends the next.
    for processors, slice_us in ((2, 1400), (4, 2100), (8, 2800), (9, 2800)):
        for row in simulate(
            tollbar, "turnstile", "--waiting", "naive", "--kernel", "fair,tick=1", "--neighbours", 1,
            "--cpus", processors, "--ranks", processors, "--compute", 0, "--episodes", 400,
        ):  # fmt: skip
            assert float(row["per_barrier_us"]) == pytest.approx(slice_us / 2, rel=0.02)


def test_before_linux_6_17_a_yield_cost_less(tollbar):
    one = beside("--ranks", 4, "--neighbours", 1, "--waiting", "naive", "--episodes", 200)
    (now,), (before,) = (
        simulate(tollbar, *one),
        simulate(tollbar, *one, "--kernel", "older-fair,switch=1.4,call=12,order=shuffled"),
    )
    assert (now["kernel"], before["kernel"]) == ("fair", "older-fair")
    assert float(before["per_barrier_us"]) < float(now["per_barrier_us"]) / 5


def test_a_picture_tells_neighbours_and_wake_ups(tollbar, tmp_path):
    path = tmp_path / "p.svg"
    said = tollbar(
        "simulate", "scheduler", *beside("--ranks", 4, "--neighbours", 1, "--waiting", "smart"),
        "--episodes", 8, "-o", path,
    )  # fmt: skip
    assert said.code == 0, said.err
    text = path.read_text()
    titles = [title.text for title in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == "turnstile, smart, 4 threads, 1 neighbour on 2 processors"
    assert any("neighbour 0 runs" in title for title in titles)
    assert any("neighbour 0 is switched to" in title for title in titles)
    assert any("wakes others" in title for title in titles)
    assert "dashed: a tick" in text
    colours = {
        words: {
            shape[1].attrib["style"].split(";")[0]
            for shape in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}g")
            if len(shape) > 1 and words in (shape[0].text or "") and "style" in shape[1].attrib
        }
        for words in ("neighbour 0 runs", "computes", "wakes others", "idle")
    }
    assert all(len(found) == 1 for found in colours.values())
    assert len(set(map(str, colours.values()))) == len(colours)


def picture(tollbar, path, *arguments):
    said = tollbar("simulate", "scheduler", "tree", "--waiting", "smart", "-o", path, *arguments)
    assert said.code == 0, said.err
    return ET.fromstring(path.read_text())


def test_the_picture_has_a_shape_for_every_stretch_and_says_what_it_is(tollbar, tmp_path):
    svg = picture(tollbar, tmp_path / "p.svg", "--episodes", 2)
    titles = [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == "tree, smart, 16 threads on 8 processors"
    history = tollbar_lab.simulate_scheduler(
        [tollbar_lab.SchedulerApplication(barrier="tree", waiting="smart", barriers=2)], until_us=1e9
    ).history
    assert len(titles) == 1 + len(history)
    assert "processor 0: thread 0 computes, 1.00 ms from 0 ms" in titles
    for words in ("computes", "spins", "is switched to"):
        assert sum(words in title for title in titles) == sum(
            span.activity == {"computes": "computing", "spins": "spinning"}.get(words, "switching") for span in history
        )


def test_the_picture_needs_nothing_else_and_zooms(tollbar, tmp_path):
    svg = picture(tollbar, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    addresses = set(re.findall(r'https?://[^"\s)]+', text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "viewBox" in svg.attrib
    assert svg.find("{http://www.w3.org/2000/svg}script") is not None


def test_an_interrupted_simulation_says_how_far_it_came(tollbar, monkeypatch):
    def interrupted(*_, watch, **__):
        watch(2.5e6, 30, 120)
        raise KeyboardInterrupt

    monkeypatch.setattr(tollbar_lab, "simulate_scheduler", interrupted)
    said = tollbar("simulate", "scheduler", "tree", "--waiting", "spin")
    assert said.code == 130
    assert "interrupted in run 1 of 1: 2.5 s were simulated, 25.0% of the barriers passed" in said.err


def test_an_exception_of_the_watch_ends_the_simulation():
    def enough(simulated_us, passed, total):
        raise KeyError(passed)

    with pytest.raises(KeyError):
        tollbar_lab.simulate_scheduler([tollbar_lab.SchedulerApplication(barriers=10**6)], processors=15, watch=enough)


def test_the_fewest_processors_that_take_as_long_are_told(tollbar):
    rows = simulate(tollbar, "tree", "--waiting", "naive", "--cpus", "1..16", "--compute", 45000)
    needed = {int(row["processors"]): int(row["needed"]) for row in rows}
    times = {int(row["processors"]): float(row["per_barrier_us"]) for row in rows}
    assert needed[15] == 8
    assert needed[7] == 6
    said = tollbar("simulate", "scheduler", "tree", "--waiting", "naive", "--cpus", 15)
    assert said.err == "16 threads take as long on 8 processors as on 15\n"
    assert all(times[fewer] == pytest.approx(times[p], rel=0.01) for p, fewer in needed.items())
    (beside,) = simulate(tollbar, "tree", "--waiting", "naive", "--kernel", "fair", "--neighbours", 1)
    assert beside["needed"] == ""


def test_what_a_barrier_costs_by_itself_is_added_to_its_time(tollbar):
    words = ("tree", "--waiting", "smart")
    (bare,) = simulate(tollbar, *words)
    (priced,) = simulate(tollbar, *words, "--kernel", "paper,own=10")
    assert float(priced["per_barrier_us"]) - float(bare["per_barrier_us"]) == pytest.approx(10)
    assert float(priced["own_us"]) == 10


def test_accesses_that_take_turns_are_part_of_the_simulated_time(tollbar):
    # 16 arrivals at one counter and 15 readings, when all come at once and have a processor each.
    words = ("--waiting", "spin", "--cpus", 16, "--episodes", 1, "--kernel", "paper,access=5")
    (row,) = simulate(tollbar, "centralized", *words)
    assert float(row["completed_us"]) == 1000 + (16 + 15) * 5
    assert float(row["own_us"]) == 0
    assert float(row["spinning"]) > 0
    assert "access=: there are switch" in refusal(tollbar, "--kernel", "fair,access=1")


#: 40 barriers with 1 ms between them: 40 ms on 4 processors, 80 ms on 2.
COME_AND_GO = (
    "centralized", "--waiting", "smart", "--policy", "dynamic", "--cpus", 4, "--kernel", "paper,switch=0",
    "--episodes", 40, "--application", "ranks=4", "--application", "ranks=4,arrival=10000",
)  # fmt: skip


def test_partitions_change_when_an_application_arrives_and_when_one_completes(tollbar):
    rows = simulate(tollbar, *COME_AND_GO)
    # 10 barriers alone, 30 on two processors; the second passes 30 on two and 10 alone.
    assert [float(row["completed_us"]) for row in rows] == [70000, 80000]
    sizes = [(row["fewest_processors"], row["most_processors"], row["moves"]) for row in rows]
    assert sizes == [("2", "4", "2")] * 2
    slower = simulate(tollbar, *COME_AND_GO, "--kernel", "paper,switch=0,move=500")
    assert [float(row["completed_us"]) for row in slower] == [70500, 80500]
    fixed = simulate(tollbar, *COME_AND_GO, "--policy", "partition")
    assert [(row["fewest_processors"], row["most_processors"], row["moves"]) for row in fixed] == [("2", "2", "0")] * 2
    assert "only --policy dynamic moves threads" in refusal(tollbar, "--kernel", "paper,move=1")


def test_the_picture_of_changing_partitions_tells_who_has_which_processor_and_why(tollbar, tmp_path):
    path = tmp_path / "p.svg"
    words = ("-o", path)
    assert tollbar("simulate", "scheduler", *COME_AND_GO, *words).code == 0
    text = path.read_text()
    assert all(f">application {what}" in text for what in ("1 arrives", "0 done", "1 done"))
    assert ">application 0 arrives" not in text
    titles = [title.text for title in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}title")]
    owners = {
        processor: [
            owner for owner in (0, 1) if any(f"processor {processor}: application {owner}" in t for t in titles)
        ]
        for processor in range(4)
    }
    assert owners == {0: [0, 1], 1: [0, 1], 2: [0, 1], 3: [0, 1]}


def test_the_picture_marks_when_applications_are_done(tollbar, tmp_path):
    words = ("--episodes", 3)
    picture(tollbar, tmp_path / "p.svg", *words)
    assert len(re.findall(">done ?<", (tmp_path / "p.svg").read_text())) == 1
    picture(tollbar, tmp_path / "q.svg")  # which ends before the application does
    assert ">done" not in (tmp_path / "q.svg").read_text()
