# SPDX-License-Identifier: Apache-2.0
"""tollbar tune: what it picks, and what it leaves on disk."""

import pytest
from tollbar import environment
from tollbar.data import results, tuning


@pytest.fixture
def tune(tollbar, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    return lambda *arguments: tollbar("tune", *arguments)


def test_the_fastest_safe_barrier_of_each_situation_is_stored(tune, stored, tmp_path):
    stored(ranks=(2, 8))
    said = tune("threads", "--format", "json")
    assert said.code == 0
    picked = {(row["placement"], row["ranks"]): (row["plan"], row["verdict"]) for row in said.json}
    assert picked["pinned", 2] == ("turnstile", "best")
    assert picked["pinned", 8] == ("combination", "best")
    entries = {
        (each.pairs["pinned"], each.pairs["ranks"]): each.pairs for each in tuning.read(tmp_path / "tuning")
    }
    assert len(entries) == 4
    entry = entries["yes", "8"]
    assert (entry["plan"], entry["wait"], entry["cpus"], entry["runner_up"]) == (
        "combination",
        "auto",
        "2",
        "turnstile",
    )
    assert 1 < float(entry["low"]) < float(entry["ratio"]) < float(entry["high"])
    assert float(entry["latency_ns"]) == pytest.approx(1.03 * 3 * 1450, rel=0.1)


def test_the_newest_run_is_taken_unless_another_one_is_named(tune, stored, tmp_path):
    older = stored(ranks=(2,))
    stored(ranks=(8,))
    assert {row["ranks"] for row in tune("--format", "json").json} == {8}
    assert {row["ranks"] for row in tune("--results", older, "--format", "json").json} == {2}
    assert [each.pairs["ranks"] for each in tuning.read(tmp_path / "tuning")] == ["2", "8", "2", "8"]


def test_without_results_it_measures_briefly(tune, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_BUILD", str(programs.parent))
    said = tune("--format", "json")
    assert said.code == 0
    assert "nothing is stored yet; measuring" in said.err
    assert {row["ranks"] for row in said.json} == {2, 4, 8}
    assert results.newest(tmp_path / "results", "threads")


def test_a_corrupt_file_is_one_line_and_stays_beside_the_new_one(tune, stored, tmp_path):
    stored(ranks=(2,))
    (tmp_path / "tuning").write_text("nonsense")
    said = tune("--format", "json")
    assert said.code == 0
    assert "was corrupt (line 1 is not 'tollbar-tuning 1'); kept as tuning.bad" in said.err
    assert said.err.count("\n") == 1
    assert (tmp_path / "tuning.bad").read_text() == "nonsense"


def test_a_place_that_cannot_be_written_is_one_line(tune, stored, monkeypatch, tmp_path):
    stored(ranks=(2,))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "file" / "tuning"))
    said = tune()
    assert said.code == 1
    assert "set TOLLBAR_TUNING to a file that can be written" in said.err
    assert said.err.count("\n") == 1


def test_a_folder_without_a_run_is_wrong_use(tune, tmp_path):
    said = tune("--results", tmp_path)
    assert said.code == 2
    assert f"{tmp_path} holds no run" in said.err


def test_the_file_is_where_the_library_looks(tune, tmp_path):
    assert environment.tuning_file() == tmp_path / "tuning"
