# SPDX-License-Identifier: Apache-2.0
"""tollbar bench shmem, with replays in place of the measuring programs and their launcher."""

import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tollbar.data import places, results, samples
from tollbar.report import sections, shmem_tables

_REPLAY = Path(__file__).parents[1] / "replay_shmem.py"
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


def test_the_papers_table_is_printed_with_this_machine_beside_it(bench, tmp_path):
    said = bench("--ranks", "2,4", "--launches", "2", "--rounds", "1", "--paper")
    assert said.code == 0
    lines = [line.split() for line in said.out.splitlines()]
    assert lines[1] == ["experiment", "published_768", "pes_2", "pes_4"]
    puts = next(line for line in lines if line[:2] == ["64-bit", "Puts"])
    assert [float(cell) for cell in puts[2:]] == pytest.approx([0.485, 0.002, 0.004], rel=0.05)
    assert next(line for line in lines if line[0] == "Progress") == [
        "Progress",
        "engine",
        "integration",
        "0.484",
    ]
    assert "not measured: dissemination+engine: no engine here" in said.err
    assert f"every sample is in {tmp_path}/results/shmem-" in said.err
    assert len(newest(tmp_path).launches) == 2 * 2 * 2


def test_rows_have_the_ratios_of_the_paper_and_of_this_machine(bench):
    said = bench("--ranks", "2", "--launches", "1", "--quick", "--paper", "--format", "json")
    row = next(row for row in said.json if row["experiment"] == "64-bit Puts")
    assert row["published_ratio"] == pytest.approx(0.88, abs=0.005)
    assert row["ratio"] == pytest.approx(0.5, rel=0.05)
    assert row["post_and_wait_us"] == pytest.approx(0.06, rel=0.05)
    assert row["barrier"] == "dissemination (puts)"


def test_every_split_barrier_is_compared_with_the_librarys_own(bench):
    said = bench("--ranks", "4", "--launches", "2", "--format", "json")
    rows = {row["barrier"]: row for row in said.json}
    assert rows["shmem_barrier_all"]["today"] == 1.0
    assert rows["default"]["today"] == pytest.approx(0.5, rel=0.05)
    assert {row["over"] for row in said.json} == {"shmem"}


def test_the_targets_are_judged(bench):
    said = bench("--launches", "6", "--rounds", "1", "--quick", "--targets", "--format", "json")
    found = {(row["case"], row["ranks"], row["candidate"]): row for row in said.json}
    assert len(found) == len(said.json)
    ibarrier = found["exchange with it / with MPI_Ibarrier", 8, "dissemination (puts)"]
    assert (ibarrier["value"], ibarrier["verdict"]) == (pytest.approx(0.5, rel=0.03), "met")
    assert ibarrier["mpi"] == "Open MPI 4.1.4"
    assert found["exchange with it / with shmem_barrier_all", 4, "default"]["verdict"] == "met"
    assert found["post + wait / shmem_barrier_all", 16, "default"]["value"] == pytest.approx(0.5, rel=0.03)
    assert found["post + wait / B(N)", 16, "default"]["value"] == pytest.approx(1.0, rel=0.03)
    away = {row["candidate"]: row["value"] for row in said.json if row["case"].startswith("others' release")}
    assert away["default"] == pytest.approx(0.05)
    share = found["share of the barrier free to compute, 100 µs of skew", 8, "default"]
    assert (share["value"], share["target"], share["verdict"]) == (pytest.approx(0.9), "at least 0.8", "met")
    stores = found["others' release, a posted PE away for 50 ms / 1 ms", 4, "one-shot (stores)"]
    assert stores["verdict"].startswith("not measured: one-shot (stores)")


def test_only_what_was_asked_for_is_measured(bench, tmp_path):
    bench("--ranks", "2", "--launches", "1", "--rounds", "1", "--only", "default,shmem_barrier_all")
    here = places.by_ranks(samples.gather([newest(tmp_path)]))[2]
    assert (
        set(here.labels("period_ns")) == set(here.labels("exchange_ns")) == {"default", "shmem_barrier_all"}
    )


def test_nothing_of_the_user_changes_what_is_measured(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "mine"))
    bench("--ranks", "2", "--launches", "1", "--rounds", "1")
    run = newest(tmp_path)
    assert {each.environment["tuning"] for each in run.launches} == {str(run.folder / "tuning")}


def test_the_model_needs_no_openshmem(tollbar):
    said = tollbar("bench", "shmem", "--model", "--format", "csv")
    assert said.csv[0]["experiment"] == "MPI_Ibarrier()"
    assert {row["pes"] for row in said.csv} == {"768"}


def test_without_openshmem_it_says_so_and_fails_nothing(bench, tmp_path):
    (tmp_path / "build" / "bin" / "tollbar-bench-dsde").unlink()
    said = bench("--quick")
    assert said.code == 0
    assert said.err.startswith(
        "tollbar bench: OpenSHMEM is not measured: the program tollbar-bench-dsde is not"
    )
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["shmem", "--full"], "--full is not an option of `tollbar bench shmem`"),
        (["shmem", "--placement", "free"], "--placement is not an option of `tollbar bench shmem`"),
        (["threads", "--model"], "--model is not an option of `tollbar bench threads`"),
    ],
)
def test_options_of_others_are_refused(tollbar, arguments, complaint):
    said = tollbar("bench", *arguments)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert complaint in said.err


def test_letters_that_are_lost_fail_the_check(bench, tmp_path):
    lost = '{"record":"violation","round":0,"name":"default","sent":5,"received":4,"damaged":0}'
    program = tmp_path / "build" / "bin" / "tollbar-bench-dsde"
    program.write_text(f"#!/bin/sh\necho '{lost}'\nexit 1\n")
    said = bench("--ranks", "2", "--launches", "1")
    assert said.code == 1
    assert "NOT A BARRIER" in said.err


def test_the_report_and_the_pages_have_the_run(bench, tollbar, tmp_path):
    bench("--ranks", "2,4,8", "--launches", "2", "--rounds", "1")
    run = newest(tmp_path)
    found = samples.gather([run])
    section = sections.shmem(found)
    assert [each.name for each in section.figures] == ["shmem-exchange", "shmem-period"]
    away = {label: released.value for label, released, _ in section.more["beside"] if released}
    assert (away["one-shot (puts)"], away["MPI_Ibarrier"]) == (5e4, 5e7)
    text = shmem_tables.markdown(places.by_ranks(found))
    assert "| 64-bit Puts | 0.485 s | 0.00" in text
    page = tmp_path / "report.html"
    assert tollbar("report", "--results", tmp_path / "results", "-o", page).code == 0
    ids = Ids()
    ids.feed(page.read_text())
    assert {"shmem", "shmem-exchange", "shmem-period"} <= set(ids.found)


class Ids(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name == "id"]
