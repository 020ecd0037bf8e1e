# SPDX-License-Identifier: Apache-2.0
"""The command as a whole: help, version, exit codes, and how little it loads."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tollbar as library
from tollbar.cli import COMMANDS, build_parser
from tollbar.machine import kernel


def python(*arguments, **options):
    """A real run, with warnings as errors."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([sys.executable, "-W", "error", *arguments], text=True, timeout=300, **streams)


def test_version_is_that_of_the_library(tollbar):
    assert tollbar("--version").out == f"tollbar {library.__version__}\n"


def test_help_has_one_line_for_every_command(tollbar):
    said = tollbar("--help")
    assert said.code == 0
    for module in COMMANDS:
        name, _, line = module.__doc__.partition(": ")
        assert name.removeprefix("tollbar ") in said.out
        assert line.split("\n")[0].split()[0] in said.out


@pytest.mark.parametrize("module", COMMANDS, ids=lambda module: module.__name__)
def test_every_command_explains_its_columns(tollbar, module):
    name = module.__name__.rpartition(".")[2]
    said = tollbar(name, "--help")
    assert said.code == 0
    assert "columns:" in said.out
    assert "--format {table,csv,json}" in said.out


def test_every_command_has_a_format_and_something_to_run():
    commands = build_parser()._subparsers._group_actions[0].choices
    assert len(commands) == len(COMMANDS)
    for command in commands.values():
        assert command.get_default("format") == "table"
        assert callable(command.get_default("run"))


@pytest.mark.parametrize("arguments", [(), ("nosuch",), ("plans", "--nosuch"), ("plans", "--format", "xml")])
def test_wrong_use_is_one_line_and_exit_code_2(tollbar, arguments):
    said = tollbar(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("tollbar")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("shwo",), "argument COMMAND: invalid choice: 'shwo'; did you mean 'show'?"),
        (("logp", "mesure"), "argument WAY: invalid choice: 'mesure'; did you mean 'measure'?"),
        (
            ("show", "disemination", "--ranks", "4"),
            "no algorithm 'disemination'; did you mean 'dissemination'?",
        ),
        (
            ("price", "bst", "mcs@4/centrel"),
            "plan 'mcs@4/centrel': there is no algorithm 'centrel'; did you mean",
        ),
        (("simulate", "cluster", "pairwize"), "did you mean 'pairwise'?"),
        (("simulate", "scheduler", "turnstyle"), "did you mean 'turnstile'?"),
        (
            ("plans", "--format", "xml"),
            "argument --format: invalid choice: 'xml'; there are table, csv, json",
        ),
    ],
)
def test_a_misspelled_name_is_answered_with_the_one_that_was_meant(tollbar, arguments, meant):
    said = tollbar(*arguments)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert meant in said.err


def test_a_format_may_be_asked_for_by_its_name(tollbar):
    for form in ("csv", "json"):
        assert tollbar("plans", f"--{form}").out == tollbar("plans", "--format", form).out
    asked = ("logp", "fit", "nosuch.csv")
    assert tollbar(*asked, "--json").code == tollbar(*asked).code == 2
    assert tollbar("simulate", "--csv", "nic", "--nodes", "2").out.startswith("plan,")


_INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
with open(sys.argv[1]) as file:
    code = compile(file.read(), "tollbar", "exec")
del sys.argv[0]
signal.setitimer(signal.ITIMER_REAL, {})
exec(code)
"""


@pytest.mark.parametrize("after_ms", [1, 2, 5, 10, 20, 30, 40, 50, 100])
def test_interrupted_at_any_moment_it_says_so_in_one_line(after_ms):
    command = Path(__file__).resolve().parents[3] / "python" / "command" / "tollbar"
    done = python("-c", _INTERRUPTED.format(after_ms / 1e3), command, "verify", "--ranks", "1..4000")
    assert done.returncode == 130
    assert done.stderr in ("tollbar: interrupted\n", "tollbar verify: interrupted\n")


@pytest.mark.skipif(not kernel.may_make_namespaces(), reason="network namespaces cannot be made here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_takes_down_what_it_has_made(number, tmp_path):
    """As timeout(1), a batch system or a terminal that is closed tells it."""
    words = [sys.executable, "-m", "tollbar", "bench", "udp", "--ranks", "2", "--output", tmp_path]
    command = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def hosts() -> list[str]:
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        return [line for line in listed.splitlines() if line.startswith(f"tbb{command.pid % 16**5:x}h")]

    while len(hosts()) < 2:
        assert command.poll() is None, command.communicate()
        time.sleep(0.05)
    command.send_signal(number)
    said = command.communicate(timeout=100)[1]
    assert command.returncode == 128 + number
    assert said.splitlines()[-1] == f"tollbar bench: ended by {number.name}"
    assert hosts() == []


def test_a_misspelled_variable_is_one_line_and_stops_nothing(tollbar, monkeypatch):
    monkeypatch.setenv("TOLLBAR_WAIT", "sleep")
    said = tollbar("plans")
    assert said.code == 0
    assert said.err == (
        "tollbar: TOLLBAR_WAIT is 'sleep'; accepted: auto, spin, yield, park; using the default, auto\n"
    )


def test_the_module_runs_as_a_program():
    done = python("-m", "tollbar", "show", "dissemination", "--ranks", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0: !1 ?1\n1: !0 ?0\n", "")


def test_a_failed_check_is_exit_code_1_of_the_process(tmp_path):
    (tmp_path / "words").write_text("0:\n1:\n")
    done = python("-m", "tollbar", "verify", "--words", tmp_path / "words")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_wrong_use_is_exit_code_2_of_the_process():
    done = python("-m", "tollbar", "price", "mcs", "--ranks", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = python("-m", "tollbar", "plans", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_output_that_is_full_is_one_line():
    with open("/dev/full", "w") as full:
        done = python("-m", "tollbar", "plans", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "tollbar plans: the output: No space left on device\n"


def test_nothing_heavy_is_loaded_before_it_is_needed():
    heavy = ("rich", "numpy", "scipy", "matplotlib", "multiprocessing", "asyncio")
    done = python("-c", f"import sys, tollbar.cli; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout == "[]\n"
