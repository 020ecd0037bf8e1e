# SPDX-License-Identifier: Apache-2.0
"""scripts/real_programs says what it can do, refuses the rest, and its verdict is the exit status."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "real_programs"


def script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def module():
    loader = importlib.machinery.SourceFileLoader("real_programs", str(SCRIPT))
    spec = importlib.util.spec_from_loader("real_programs", loader)
    made = importlib.util.module_from_spec(spec)
    sys.modules["real_programs"] = made  # where dataclasses look for it
    path = list(sys.path)
    loader.exec_module(made)
    yield made
    sys.path[:] = path
    del sys.modules["real_programs"]


def test_help_names_every_program(module):
    done = script("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for program in module.programs():
        assert program.name in done.stdout


@pytest.mark.parametrize("words", [["nonesuch"], ["--limit", "0"], ["--limit", "soon"], ["--fast"]])
def test_wrong_use_is_told_before_anything_is_run(words):
    done = script(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert words[-1] in done.stderr or "above 0" in done.stderr


@pytest.fixture
def two_runs(module, monkeypatch, tmp_path):
    """two_runs(without, through, word...) -> exit status where the only program comes to that, or raises it, or takes
    so many milliseconds."""

    class Door:
        name, library = "openmpi", Path("door.so")

        class mpi:
            name = "an MPI"

    def run(without, through, *words: str) -> int:
        def one(run):
            outcome = through if run.opens else without
            if isinstance(outcome, Exception):
                raise outcome
            if isinstance(outcome, float):
                return module.Result("done", ("done",), outcome)
            return module.Result(outcome, (outcome,))

        import mpi_jobs

        monkeypatch.setattr(module, "HERE", tmp_path)
        monkeypatch.setattr(module, "programs", lambda: [module.Program("one", "one", one, ("openmpi",))])
        monkeypatch.setattr(mpi_jobs, "open_door", lambda name: Door)
        return module.main(words)

    return run


def test_the_same_results_are_the_exit_status_0(two_runs, capsys):
    assert two_runs("42", "42") == 0
    assert "| one | an MPI | preload | 42 | 42 | 0 | yes |" in capsys.readouterr().out


def test_another_result_is_the_exit_status_1_and_is_told(two_runs, capsys):
    assert two_runs("42", "43") == 1
    said = capsys.readouterr()
    assert "| 42 | 43 | 0 | NO |" in said.out
    assert "through only: 43" in said.err


def test_a_program_that_fails_through_the_door_alone_is_a_difference(two_runs):
    assert two_runs("42", RuntimeError("exit status 3")) == 1


def test_a_program_that_hangs_through_the_door_alone_is_a_difference(two_runs):
    assert two_runs("42", subprocess.TimeoutExpired("one", 1)) == 1


def test_times_are_shown_where_they_are_asked_for(two_runs, capsys):
    assert two_runs(8.0, 2.0) == 0
    assert "| done | done |" in capsys.readouterr().out
    assert two_runs(8.0, 2.0, "--times", "2") == 0
    alone, beside = "{0} ms ({0} to {0})", ", beside a busy loop {0} ms ({0} to {0})"
    texts = [(alone + beside).format(ms) for ms in (8, 2)]
    assert f"| {texts[0]} | {texts[1]} |" in capsys.readouterr().out


def test_what_cannot_be_had_is_skipped_aloud(two_runs, module, capsys):
    assert two_runs(module.Skipped("no such package"), "42") == 0
    assert "skipped: no such package" in capsys.readouterr().out
