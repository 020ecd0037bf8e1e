# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --cpus, with a replay in place of the measuring program."""

import pytest
from tollbar.data import results

SMALL = ("--cpus", 1, "--compute", "1,100", "--effort", "launches=2")


@pytest.fixture
def bench(tollbar, crowd_program, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", *arguments)


def test_the_table_says_what_the_scheduler_does_and_what_to_take(bench, tmp_path):
    said = bench("threads", *SMALL)
    assert "a quantum is 4 ms, a switch by yielding 1.5 us, by waking and sleeping 2.5 us" in said.err
    assert "equal times: take turnstile, at worst 1.00 times (n = 2, no interval) the fastest" in said.err
    assert f"every sample is in {tmp_path}/results/crowd-" in said.err


def test_a_row_is_a_turn_of_a_barrier_on_so_many_processors(bench, replay_crowd):
    said = bench("threads", *SMALL, "--format", "json")
    assert said.code == 0, said.err
    assert len(said.json) == 2 * len(replay_crowd.BARRIERS)
    (row,) = (row for row in said.json if (row["barrier"], row["compute"]) == ("turnstile", "100"))
    assert (row["where"], row["ranks"], row["period_us"]) == ("on 1 CPU, pinned", 16, 16 * 101.5)


def test_the_run_is_in_the_report(bench, tollbar, tmp_path):
    assert bench("threads", *SMALL, "--compute", "1,10,100").code == 0
    page = tmp_path / "report.html"
    assert tollbar("report", "-o", page).code == 0
    text = page.read_text()
    assert "When processors are taken away" in text
    assert "a quantum is 4.00 ms" in text


def test_quick_is_one_pass_over_few_times(bench, tmp_path):
    assert bench("threads", "--effort", "quick", "--cpus", 1).code == 0
    run = results.read(results.newest(tmp_path / "results", "crowd"))
    assert len(run.launches) == 3 * 2


def test_a_missing_measuring_program_is_one_line_that_says_how_to_get_it(bench, crowd_program):
    crowd_program.unlink()
    said = bench("threads", *SMALL)
    assert said.code == 2
    assert "the program tollbar-bench-crowd is not there" in said.err


def test_computing_that_takes_too_long_an_episode_is_refused(bench):
    said = bench("threads", "--cpus", "1", "--ranks", "16", "--compute", "1e6")
    assert "more than 200 ms an episode" in said.refusal
