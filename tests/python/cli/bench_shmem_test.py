# SPDX-License-Identifier: Apache-2.0
"""tollbar bench shmem, with replays in place of the measuring programs and their launcher."""

import sys
from html.parser import HTMLParser

import pytest
import replay_shmem
from tollbar.data import places, results, samples
from tollbar.report import sections

_REPLAY = replay_shmem.__file__
_PROGRAM = f'#!/bin/sh\nexec {sys.executable} -S {_REPLAY} {{}} "$@"\n'
_LAUNCHER = """#!/bin/sh
while [ "$1" != -n ]; do shift; done
export PES="$2"; shift 2
exec "$@"
"""


@pytest.fixture
def bench(tollbar, monkeypatch, tmp_path):
    """tollbar bench shmem where an OpenSHMEM is; gives what it said."""
    folder = tmp_path / "build" / "bin"
    folder.mkdir(parents=True)
    scripts = {name: _PROGRAM.format(name) for name in ("tollbar-bench-shmem", "tollbar-bench-dsde")}
    for name, text in {**scripts, "oshrun": _LAUNCHER}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("TOLLBAR_BUILD", str(folder.parent))
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", "shmem", *arguments)


def newest(tmp_path):
    return results.read(results.newest(tmp_path / "results", "shmem"))


def test_every_split_barrier_is_compared_with_the_librarys_own(bench):
    said = bench("--ranks", "4", "--launches", "2", "--format", "json")
    rows = {row["barrier"]: row for row in said.json}
    assert rows["shmem_barrier_all"]["today"] == 1.0
    assert rows["default"]["today"] == pytest.approx(0.5, rel=0.05)
    assert {row["over"] for row in said.json} == {"shmem"}


def test_only_what_was_asked_for_is_measured(bench, tmp_path):
    bench("default", "shmem_barrier_all", "--ranks", "2", "--launches", "1")
    here = places.by_ranks(samples.gather([newest(tmp_path)]))[2]
    assert set(here.labels("period_ns")) == set(here.labels("exchange_ns")) == {"default", "shmem_barrier_all"}


def test_nothing_of_the_user_changes_what_is_measured(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "mine"))
    bench("--ranks", "2", "--launches", "1")
    run = newest(tmp_path)
    assert {each.environment["tuning"] for each in run.launches} == {str(run.folder / "tuning")}


def test_without_openshmem_it_says_so_and_fails_nothing(bench, tmp_path):
    (tmp_path / "build" / "bin" / "tollbar-bench-dsde").unlink()
    said = bench("--effort", "quick")
    assert said.code == 0
    assert said.err.startswith("tollbar bench: OpenSHMEM is not measured: the program tollbar-bench-dsde is not")
    assert said.err.count("\n") == 1


def test_letters_that_are_lost_fail_the_check(bench, tmp_path):
    lost = '{"record":"violation","round":0,"name":"default","sent":5,"received":4,"damaged":0}'
    program = tmp_path / "build" / "bin" / "tollbar-bench-dsde"
    program.write_text(f"#!/bin/sh\necho '{lost}'\nexit 1\n")
    said = bench("--ranks", "2", "--launches", "1")
    assert said.code == 1
    assert "NOT A BARRIER" in said.err


def test_the_report_and_the_pages_have_the_run(bench, tollbar, tmp_path):
    bench("--ranks", "2,4,8", "--launches", "2")
    run = newest(tmp_path)
    found = samples.gather([run])
    section = sections.shmem(found)
    assert [len(row) for _, row in section.rows] == [3] * len(section.rows)
    away = {label: released.value for label, released, _ in section.more["beside"] if released}
    assert (away["one-shot (puts)"], away["MPI_Ibarrier"]) == (5e4, 5e7)
    page = tmp_path / "report.html"
    assert tollbar("report", tmp_path / "results", "-o", page).code == 0
    ids = Ids()
    ids.feed(page.read_text())
    assert "shmem" in ids.found


class Ids(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name == "id"]
