# SPDX-License-Identifier: Apache-2.0
"""tollbar bench, with replays in place of the measuring programs."""

import re

import pytest
from tollbar.data import results


@pytest.fixture
def bench(tollbar, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_BUILD", str(programs.parent))
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", *arguments)


FAST = ("threads", "--launches", "6")


def test_bench_prints_what_each_barrier_takes_the_fastest_first(bench):
    many = ("threads", "--launches", "14")
    said = bench(*many, "--ranks", "8", "--placement", "free", "--format", "json")
    assert said.code == 0
    rows = {row["barrier"]: row for row in said.json}
    assert next(iter(rows)) == "combination"
    assert [row["period_us"] for row in said.json] == sorted(row["period_us"] for row in said.json)
    assert rows["combination"]["verdict"] == "fastest"
    assert rows["pthread_barrier"]["verdict"] == "slower"
    assert rows["pthread_barrier"]["fastest"] == pytest.approx(6.0 / 1.03, rel=0.1)
    assert rows["std::barrier"]["today"] == 1.0
    assert rows["tollbar::barrier"]["today"] == pytest.approx(1.12 / 1.7, rel=0.1)
    assert rows["mcs"]["today_low"] <= rows["mcs"]["today"] <= rows["mcs"]["today_high"]
    assert 0 < rows["mcs"]["median_us"] <= rows["mcs"]["p99_us"]
    assert rows["mcs"]["launches"] == 14
    table = bench(*many, "--ranks", "8", "--placement", "free").out
    assert re.search(r"^free +8 +pthread_barrier .* [\d.]+ \([\d.]+ to [\d.]+\) +slower ", table, re.MULTILINE)


def test_what_cannot_be_told_from_the_fastest_is_a_tie(bench):
    pinned = ("--ranks", "2", "--placement", "pinned", "--format", "json")
    said = bench(*FAST, "combination", "mcs", *pinned)
    assert [row["verdict"] for row in said.json] == ["fastest", "slower"]
    said = bench("threads", *pinned, "--launches", "1")
    assert {row["verdict"] for row in said.json} == {"?"}
    said = bench("threads", *pinned[:-2], "--launches", "1")
    assert "with fewer than six launches there is no interval and no verdict" in said.err


def test_what_an_effort_says_can_be_said_by_itself(bench, tmp_path):
    words = ("threads", "--ranks", "2", "--placement", "free", "--launches", "2", "--seed", "7")
    assert bench(*words, "--budget", "30", "-o", tmp_path / "run").code == 0
    (run,) = (tmp_path / "run").iterdir()
    known = results.read_environment(run)
    assert (known["launches"], known["seed"], known["budget_s"]) == (2, 7, 30)


def test_other_waiting_policies_are_shown_where_they_are_asked_for(bench):
    words = ("threads", "--ranks", "2", "--launches", "1", "--placement", "pinned")
    assert "(park)" not in bench(*words).out
    assert "2 barriers under other waiting policies are not shown" in bench(*words).err
    assert "turnstile (park)" in bench(*words[:3], "--effort", "full", "--launches", "1", *words[5:]).out
    assert "turnstile (park)" in bench(*words, "turnstile (park)").out


def test_a_barrier_of_two_levels_is_asked_for_by_both_names(bench):
    said = bench("hybrid", "turnstile/dissemination", "mcs/mcs", "mcs", "--ranks", "2", "--threads", "2")
    assert said.code == 2
    assert " mcs: a barrier of two levels is spelled INNER/OUTER" in said.err  # both others are known
    assert bench("hybrid", "dissemination/mcs", "--ranks", "2", "--threads", "2").code == 2


def test_a_name_that_nothing_has_is_refused_before_anything_is_launched(bench, tmp_path):
    said = bench("threads", "dissemnation", "--ranks", "2")
    assert said.code == 2
    assert " dissemnation: there is no such barrier; did you mean 'dissemination'?" in said.err
    assert not (tmp_path / "results").exists()


def test_every_launch_is_stored(bench, tmp_path):
    assert bench(*FAST, "--ranks", "2,8").code == 0
    run = results.read(results.newest(tmp_path / "results", "threads"))
    assert len(run.launches) == 6 * (4 * 3 + 1)


def test_the_table_says_where_the_samples_are(bench, tmp_path):
    said = bench("threads", "--ranks", "2", "--launches", "1", "--placement", "pinned")
    assert f"every sample is in {tmp_path}/results/threads-" in said.err
    assert "measured 1 of 1" in said.err


def test_results_go_where_they_are_sent(bench, tmp_path):
    assert bench("threads", "--ranks", "2", "--launches", "1", "--output", tmp_path / "here").code == 0
    assert results.newest(tmp_path / "here", "threads")
    assert not (tmp_path / "results").exists()


def test_a_folder_that_cannot_be_made_is_named_in_one_line(bench):
    said = bench(*FAST, "turnstile", "--ranks", "2", "-o", "/proc/nowhere")
    problem = "/proc/nowhere: No such file or directory; name another folder with -o or TOLLBAR_RESULTS"
    assert (said.code, said.err.splitlines()[-1]) == (2, f"tollbar bench: {problem}")


def test_a_missing_measuring_program_is_one_line_that_says_how_to_get_it(bench, programs):
    (programs / "tollbar-bench-threads").unlink()
    said = bench("threads", "--ranks", "2")
    assert said.code == 2
    assert "the program tollbar-bench-threads is not there" in said.err
    assert said.err.count("\n") == 1


def test_a_barrier_that_is_none_fails_the_check_although_others_were_measured(bench, programs):
    line = '{"record":"violation","name":"mcs"}'
    (programs / "tollbar-bench-threads").write_text(f"#!/bin/sh\necho '{line}'\nexit 1\n")
    said = bench("threads", "--ranks", "2", "--launches", "1", "--placement", "free")
    assert said.code == 1
    assert "NOT A BARRIER" in said.err


def test_when_nothing_could_be_measured_the_check_has_failed(bench, programs):
    for program in programs.iterdir():
        program.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    said = bench("threads", "--ranks", "2", "--launches", "1", "--placement", "free")
    assert said.code == 1
    assert said.err.splitlines()[-1].startswith("tollbar bench: no program could measure: 2 threads, free")
