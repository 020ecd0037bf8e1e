# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --cpus, with replays in place of the measuring programs."""

import pytest
from tollbar.data import results

SMALL = ("--cpus", 1, "--ranks", 8, "--placement", "pinned", "--compute", "1,100", "--launches", "2")


@pytest.fixture
def bench(tollbar, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", *arguments)


def test_a_line_says_how_far_what_waits_by_itself_is_from_the_best(bench, tmp_path):
    said = bench("threads", *SMALL)
    assert "on 1 CPU: tollbar::barrier over 1.25 times the best: certainly in 0, possibly in 2 of 2 cells" in said.err
    assert f"every sample is in {tmp_path}/results/threads-" in said.err


def test_a_row_is_a_turn_of_a_barrier_on_so_many_processors(bench):
    said = bench("threads", *SMALL, "--format", "json")
    assert said.code == 0, said.err
    (row,) = (row for row in said.json if (row["barrier"], row["compute"]) == ("std::barrier", "100"))
    assert (row["where"], row["ranks"], row["cpus"]) == ("on 1 CPU, pinned", 8, 1)
    assert row["period_us"] == pytest.approx(105, rel=0.1)


def test_neighbours_fewer_processors_and_computing_go_together(bench):
    said = bench("threads", *SMALL, "--beside", "neighbour", "--format", "json")
    assert said.code == 0, said.err
    assert {row["where"] for row in said.json} == {"on 1 CPU, beside a busy neighbour, pinned"}


def test_the_run_is_in_the_report(bench, tollbar, tmp_path):
    assert bench("threads", *SMALL, "--compute", "1,10,100").code == 0
    assert bench("threads", "--ranks", 2, "--beside", "neighbour", "--launches", "1").code == 0
    page = tmp_path / "report.html"
    assert tollbar("report", "-o", page).code == 0
    text = page.read_text()
    assert "Where others want the CPUs" in text
    assert '<th class="stays">on 1 CPU</th>' in text
    assert '<th class="stays">beside a busy neighbour</th>' in text


def test_quick_is_about_what_users_have(bench, tmp_path):
    assert bench("threads", "--effort", "quick", "--cpus", 1).code == 0
    run = results.read(results.newest(tmp_path / "results", "threads"))
    names = {record["name"] for each in run.launches for record in each.records["turns"]}
    assert names == {"tollbar::barrier", "std::barrier"}


def test_the_scheduler_is_measured_for_whoever_simulates_it(bench, tmp_path):
    assert bench("threads", *SMALL).code == 0
    run = results.read(results.newest(tmp_path / "results", "threads"))
    assert all(each.records["scheduling"] for each in run.launches if each.program == "tollbar-bench-threads")


def test_a_missing_measuring_program_is_one_line_that_says_how_to_get_it(bench, programs):
    (programs / "tollbar-bench-threads").unlink()
    said = bench("threads", *SMALL)
    assert said.code == 2
    assert "the program tollbar-bench-threads is not there" in said.err
