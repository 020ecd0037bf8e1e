# SPDX-License-Identifier: Apache-2.0
"""tollbar tune mpi: how the measuring program is started, and what is stored of what it chose."""

import pytest
from tollbar.data import tuning
from tollbar.machine import mpis, paths

_LAUNCHER = """#!/bin/sh
while [ "$1" != env ]; do
    [ "$1" = -n ] && RANKS=$2
    shift
done
export RANKS
exec "$@"
"""

#: Chooses what the library might, and writes it as the library does.
_PROGRAM = """#!/bin/sh
echo "$RANKS $* ${TOLLBAR_PLAN:-none} ${LD_PRELOAD:-none} ${UCX_TLS:-none}" >> @started
[ "$RANKS" = 13 ] && { echo >&2 -------; echo >&2 "it broke"; exit 3; }
[ -e "$TOLLBAR_TUNING" ] && exit 4
{
    echo "tollbar-tuning 1"
    for objective in latency skew wait; do
        echo "mpi ranks=$RANKS nodes=1 per_node=$RANKS crowded=yes mpi=openmpi-4.1.4 objective=$objective" \
             "plan=turnstile by=join median_us=6.125"
    done
} > "$TOLLBAR_TUNING"
"""


@pytest.fixture
def started(tmp_path):
    """What the program was started with, a line a launch."""
    return lambda: (tmp_path / "started").read_text().splitlines()


@pytest.fixture
def tune(tollbar, monkeypatch, tmp_path):
    programs = tmp_path / "build" / "bin"
    programs.mkdir(parents=True)
    for path, text in {
        tmp_path / "mpirun": _LAUNCHER,
        programs / "tollbar-bench-mpi-openmpi": _PROGRAM.replace("@started", str(tmp_path / "started")),
    }.items():
        path.write_text(text)
        path.chmod(0o755)
    there = [mpis.Mpi("openmpi", "4.1.4", tmp_path / "mpirun")]
    monkeypatch.setattr(mpis, "installed", lambda: there)
    monkeypatch.setenv("TOLLBAR_BUILD", str(programs.parent))
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    return lambda *arguments: tollbar("tune", "mpi", *arguments)


def test_a_choice_for_each_size_and_objective_is_stored_beside_what_is_there(tune, tmp_path):
    threads = "threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto"
    (tmp_path / "tuning").write_text(f"tollbar-tuning 1\n{threads}\n")
    said = tune("--ranks", "2,4", "--format", "json")
    assert said.code == 0
    assert [(row["ranks"], row["objective"]) for row in said.json] == [
        (ranks, objective) for ranks in (2, 4) for objective in ("latency", "skew", "wait")
    ]
    assert {(row["mpi"], row["plan"], row["median_us"]) for row in said.json} == {("openmpi-4.1.4", "turnstile", 6.125)}
    stored = tuning.read(tmp_path / "tuning")
    assert [entry.kind for entry in stored].count("mpi") == 6
    assert [entry.line for entry in stored if entry.kind == "threads"] == [threads]
    assert {entry.pairs["by"] for entry in stored if entry.kind == "mpi"} == {"tune"}


def test_it_is_measured_anew_and_nothing_of_the_user_steers_it(tune, started, monkeypatch):
    monkeypatch.setenv("TOLLBAR_PLAN", "bst")
    monkeypatch.setenv("OMPI_MCA_coll", "self")
    monkeypatch.setenv("UCX_TLS", "tcp")
    assert tune("--ranks", "2", "--budget-ms", "300").code == 0
    assert tune("--ranks", "2").code == 0
    assert started() == ["2 --choose 300 none none none", "2 --choose 1000 none none none"]


def test_without_sizes_those_up_to_sixteen_are_tried(tune, started):
    assert tune().code == 0
    assert [int(line.split()[0]) for line in started()] == [2, 3, 4, 6, 8, 12, 16]


def test_a_size_that_fails_is_one_line_and_the_others_are_stored(tune):
    said = tune("--ranks", "2,13", "--format", "json")
    assert said.code == 0
    assert "Open MPI 4.1.4, 13 ranks: it broke" in said.err
    assert {row["ranks"] for row in said.json} == {2}


def test_nothing_chosen_is_a_failure_in_one_line(tune, tmp_path):
    said = tune("--ranks", "13")
    assert said.code == 1
    assert "13 ranks: it broke" in said.err
    assert not (tmp_path / "tuning").exists()


def test_an_mpi_is_named_by_family_major_or_version(tune):
    for name in ("openmpi", "openmpi4", "openmpi-4.1.4"):
        assert tune("--mpi", name, "--ranks", "2").code == 0


def test_without_the_measuring_program_it_says_how_to_get_it(tune, monkeypatch):
    monkeypatch.setattr(paths, "program_folders", list)
    said = tune("--ranks", "2")
    assert said.code == 2
    assert "the program tollbar-bench-mpi-openmpi is not there" in said.err
