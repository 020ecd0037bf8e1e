# SPDX-License-Identifier: Apache-2.0
"""tollbar report: where the page goes and what is said when there is none."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from tollbar.data import results


@pytest.fixture
def report(tollbar, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: tollbar("report", *arguments)


def test_the_page_is_report_html_here(report, stored, tmp_path):
    run = stored(ranks=(2,), launches=2)
    said = report("--format", "json")
    page = tmp_path / "report.html"
    assert said.code == 0
    assert said.json == [{"file": "report.html", "bytes": page.stat().st_size, "launches": 12, "run": run.name}]
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_an_incomplete_run_and_a_machine_that_was_not_quiet_are_told(report, stored, tmp_path):
    run = stored(ranks=(2,), launches=1)
    doubts = {"incomplete": True, "noise": ["other programs are running"]}
    results.write_environment(run, {**results.read_environment(run), **doubts})
    said = report()
    assert f"{run.name} is incomplete\n" in said.err
    assert "the machine was not quiet: other programs are running\n" in said.err
    assert "(incomplete: interrupted)" in (tmp_path / "report.html").read_text()


def test_the_page_goes_where_it_is_sent(report, stored, tmp_path):
    stored(ranks=(2,), launches=1)
    assert report("-o", tmp_path / "other.html").code == 0
    assert (tmp_path / "other.html").is_file()
    assert not (tmp_path / "report.html").exists()


def test_a_link_is_written_through_and_a_folder_is_named(report, stored, tmp_path):
    stored(ranks=(2,), launches=1)
    target, link, folder = tmp_path / "target.html", tmp_path / "link.html", tmp_path / "folder"
    link.symlink_to(target)
    folder.mkdir()
    assert report("-o", link).code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("<!DOCTYPE html>")
    there = sorted(tmp_path.iterdir())
    said = report("-o", folder).refusal
    assert said == f"tollbar report: cannot write {folder}: Is a directory; name another file with -o\n"
    assert sorted(tmp_path.iterdir()) == there


def test_what_is_no_part_of_the_page_lies_beside_it_under_its_name(report, stored, tmp_path):
    run = stored(ranks=(2, 4, 8), launches=6)
    said = report("-o", tmp_path / "here.html")
    page = (tmp_path / "here.html").read_text()
    assert len(page.encode()) <= 1_500_000
    beside = tmp_path / "here-files" / "samples.jsonl.gz"
    assert f"{beside} lies beside it" in said.err
    assert 'href="here-files/samples.jsonl.gz"' in page
    assert beside.stat().st_size == sum(path.stat().st_size for path in run.glob("*.jsonl.gz"))


def test_a_pipe_gets_all_in_the_page_and_a_folder_nothing_beside_it(report, stored, tmp_path):
    stored(ranks=(2, 4, 8), launches=6)
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    there = sorted(tmp_path.iterdir())
    with ThreadPoolExecutor() as pool:
        page = pool.submit(pipe.read_text)
        assert report("-o", pipe).code == 0
    assert len(page.result().encode()) > 1_500_000
    assert 'href="pipe-files' not in page.result()
    assert report("-o", folder).code == 2
    assert sorted(tmp_path.iterdir()) == there


def test_without_results_it_says_how_to_get_some(report):
    said = report()
    assert said.code == 2
    assert "`tollbar bench threads` makes one" in said.err
    assert said.err.count("\n") == 1


def test_a_damaged_result_is_named(report, stored):
    run = stored(ranks=(2,), launches=1)
    (run / "0000.tollbar-bench-threads.jsonl.gz").write_text("")
    (run / "0000.tollbar-bench-threads.jsonl.gz").write_bytes(b"x")
    said = report()
    assert said.code == 2
    assert "0000.tollbar-bench-threads.jsonl.gz: is damaged" in said.err


def test_a_place_that_cannot_be_written_is_one_line(report, stored, tmp_path):
    stored(ranks=(2,), launches=1)
    page = tmp_path / "nowhere" / "report.html"
    assert report("-o", page).refusal == f"tollbar report: {page}: there is no folder {page.parent}\n"
