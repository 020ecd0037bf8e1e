# SPDX-License-Identifier: Apache-2.0
"""Stored runs: what was written comes back, and a damaged file is named."""

import gzip
import os

import pytest
from tollbar.data import results
from tollbar.data.schema import MalformedRecord
from tollbar.machine import paths


def test_a_stored_launch_comes_back_line_by_line(tmp_path, replay):
    text = replay.text("tollbar-bench-threads", 2, "pinned", 2, 1)
    path = results.write_launch(tmp_path, 12, "tollbar-bench-threads", text)
    assert gzip.decompress(path.read_bytes()).decode() == text
    results.write_environment(tmp_path, {})
    (launch,) = results.read(tmp_path).launches
    assert (launch.number, launch.program, launch.environment["ranks"]) == (12, "tollbar-bench-threads", 2)
    assert [each.name for each in tmp_path.glob("*.gz")] == ["0012.tollbar-bench-threads.jsonl.gz"]
    assert not list(tmp_path.glob("*.part"))


def test_a_run_holds_all_its_launches_and_its_environment(stored):
    run = results.read(stored(ranks=(2, 4), launches=3))
    assert len(run.launches) == 3 * (2 * 2 * 3 + 1)
    assert run.environment["seed"] == 1


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    assert len({results.new_run(tmp_path, "threads") for _ in range(5)}) == 5


def test_the_newest_run_with_a_launch_is_found(tmp_path, stored):
    older, newer = stored(ranks=(2,), launches=1), stored(ranks=(2,), launches=1)
    empty = results.new_run(tmp_path / "results", "threads")
    results.write_environment(empty, {})
    assert results.newest(tmp_path / "results", "threads") == newer
    results.write_environment(older, {"began": "2026-01-01T00:00:00Z"})
    assert results.newest(tmp_path / "results", "threads") == older


def test_there_may_be_no_run(tmp_path):
    assert results.newest(tmp_path / "nowhere", "threads") is None


def test_results_lie_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path))
    assert results.folder() == tmp_path


def test_results_lie_in_the_build_folder_of_a_checkout_and_else_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("TOLLBAR_RESULTS", raising=False)
    monkeypatch.setattr(paths, "checkout", lambda: tmp_path)
    assert results.folder() == tmp_path / "build" / "results"
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert results.folder() == tmp_path / "cache" / "tollbar" / "results"


def test_a_truncated_file_is_named(stored):
    path = sorted(stored(ranks=(2,), launches=1).glob("*.jsonl.gz"))[0]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(MalformedRecord, match=f"{path.name}: is damaged"):
        results.read(path.parent)


def test_a_file_that_is_not_compressed_is_named(stored):
    path = sorted(stored(ranks=(2,), launches=1).glob("*.jsonl.gz"))[0]
    path.write_text("{}")
    with pytest.raises(MalformedRecord, match=f"{path.name}: is damaged"):
        results.read(path.parent)


def test_a_malformed_line_is_named_with_its_file(stored):
    path = sorted(stored(ranks=(2,), launches=1).glob("*.jsonl.gz"))[0]
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    path.write_bytes(gzip.compress("\n".join([*lines[:5], "nonsense", *lines[5:]]).encode()))
    with pytest.raises(MalformedRecord, match=rf"{path.name}:6: not JSON"):
        results.read(path.parent)


def test_an_environment_that_is_no_object_is_refused(stored):
    run = stored(ranks=(2,), launches=1)
    (run / "environment.json").write_text("[]")
    with pytest.raises(MalformedRecord, match=r"environment\.json: not an object"):
        results.read(run)


def test_a_folder_that_cannot_be_made_is_named_and_what_names_another(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="name another folder with -o or TOLLBAR_RESULTS") as failed:
        results.new_run(tmp_path / "file", "threads")
    assert str(failed.value.filename).startswith(str(tmp_path / "file"))


def test_the_newest_run_is_the_one_that_began_last_whenever_its_files_were_copied(tmp_path, stored):
    runs = [stored(ranks=(2,), launches=1) for _ in range(3)]
    for run, day, copied in zip(runs, (2, 3, 1), (30, 10, 20), strict=True):
        results.write_environment(run, {**results.read_environment(run), "began": f"2025-01-0{day}T00:00:00Z"})
        os.utime(run / "environment.json", (copied, copied))
    assert results.by_age(tmp_path / "results", "threads") == [runs[2], runs[0], runs[1]]
