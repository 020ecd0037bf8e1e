# SPDX-License-Identifier: Apache-2.0
"""The command as a whole: help, version, exit codes, and how little it loads."""

import argparse
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tollbar as library
from tollbar.cli import COMMANDS, build_parser
from tollbar.cli.command import module_of
from tollbar.machine import kernel, mpi_hosts
from tollbar.machine.session import SessionEnded


def python(*arguments, **options):
    """A real run, with warnings as errors."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([sys.executable, "-W", "error", *arguments], text=True, timeout=300, **streams)


def test_version_is_that_of_the_library(tollbar):
    assert tollbar("--version").out == f"tollbar {library.__version__}\n"


def test_help_has_one_line_for_every_command(tollbar):
    said = tollbar("--help")
    assert said.code == 0
    told = " ".join(said.out.split())
    for name, line in COMMANDS.items():
        doc = module_of(name).__doc__
        assert f"{name} {line}" in told
        assert doc.partition("\n")[0] == f"tollbar {name}: {line}"


def test_help_is_a_word_too(tollbar):
    assert tollbar("help").out == tollbar("--help").out
    assert tollbar("help", "logp", "fit").out == tollbar("logp", "fit", "--help").out
    assert tollbar("-V").out == tollbar("--version").out


def leaves(parser, words=()):
    """Every verb that has no verbs of its own: its words and its parser."""
    ways = next((a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
    if ways is None:
        yield words, parser
    for name, way in (ways or {}).items():
        yield from leaves(way, (*words, name))


LEAVES = dict(leaves(build_parser()))


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_verb_explains_its_columns_and_can_be_run(tollbar, words):
    said = tollbar(*words, "--help")
    assert said.code == 0
    assert "columns:" in said.out
    assert "--format FORM" in said.out
    assert LEAVES[words].get_default("format") == "table"
    assert callable(LEAVES[words].get_default("run") or LEAVES[words[:1]].get_default("run"))


def test_threads_are_meant_where_what_to_measure_is_not_said(tollbar, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path))
    for words in (("bench", "--ranks", "0"), ("tune", "--without", "nosuch"), ("tune", "--budget-ms", "5")):
        threads = tollbar(words[0], "threads", *words[1:])
        assert tollbar(*words) == threads
        assert threads.code == 2
    assert "usage: tollbar bench [WHAT] ..." in tollbar("bench", "--help").out
    assert "invalid choice: 'thread'" in tollbar("bench", "thread").refusal


def test_a_format_may_be_asked_for_by_its_name(tollbar):
    for form in ("csv", "json"):
        assert tollbar("plans", f"--{form}").out == tollbar("plans", "--format", form).out
    words = ("logp", "fit", "nosuch.csv")
    assert tollbar(*words, "--json").code == tollbar(*words).code == 2
    assert tollbar("simulate", "--csv", "nic", "--ranks", "2").out.startswith("plan,")


def test_only_one_format_can_be_had(tollbar):
    assert "argument --json: not allowed with argument --csv" in tollbar("plans", "--csv", "--json").refusal
    assert "not allowed with" in tollbar("plans", "--format", "table", "--json").refusal


def test_positionals_may_stand_apart(tollbar):
    together = tollbar("price", "mcs", "bst", "--ranks", 4)
    assert tollbar("price", "mcs", "--ranks", 4, "bst").out == together.out
    assert tollbar("price", "--ranks=4", "mcs", "bst").out == together.out


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


def hosts_of(process: int) -> str:
    """The first letters of the names of hosts that it makes."""
    return f"b{mpi_hosts._in_letters(process)}"


@pytest.mark.skipif(kernel.lacking(*kernel.NAMESPACES), reason="network namespaces cannot be made here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_takes_down_what_it_has_made(number, tmp_path):
    """As timeout(1), a batch system or a terminal that is closed tells it."""
    words = [sys.executable, "-m", "tollbar", "bench", "udp", "--ranks", "2", "--output", tmp_path]
    command = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def hosts() -> list[str]:
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        return [line for line in listed.splitlines() if line.startswith(f"tb{hosts_of(command.pid)}h")]

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
    done = python("-m", "tollbar", "verify", tmp_path / "words")
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


@pytest.mark.parametrize("words", ["--help", "bench threads --help", "--version"])
def test_help_that_finds_no_room_is_one_line(words):
    with open("/dev/full", "w") as full:
        done = python("-m", "tollbar", *words.split(), stdout=full)
    assert (done.returncode, done.stderr) == (2, "tollbar: the output: No space left on device\n")


def test_help_whose_reader_has_seen_enough_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = python("-m", "tollbar", "bench", "threads", "--help", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_output_that_is_closed_is_one_line():
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "tollbar", "plans"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "tollbar plans: the output is closed\n")


@pytest.mark.parametrize("error", [SessionEnded(), BrokenPipeError(errno.EPIPE, "Broken pipe")])
def test_a_measurement_whose_session_has_ended_fails_in_one_line(tollbar, monkeypatch, tmp_path, error):
    """Such as a leader that the kernel has ended for want of memory: the rows are not there."""

    def ended(*_: object, **__: object):
        raise error

    monkeypatch.setattr("tollbar.campaigns.passes.measure", ended)
    said = tollbar("bench", "threads", "--ranks", "2", "--output", tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[-1] == f"tollbar bench: {getattr(error, 'strerror', None) or error}"


_LOADED = """
import sys, tollbar.cli
sys.stdout = open("/dev/null", "w")
assert tollbar.cli.main(sys.argv[1:]) == 0
print(*(name for name in sys.modules if name.startswith(("tollbar", "importlib")) or "." not in name), file=sys.stderr)
"""
HEAVY = {"numpy", "scipy", "matplotlib", "polars", "jinja2", "multiprocessing", "asyncio", "subprocess"}


def loaded(*words) -> set[str]:
    return set(python("-c", _LOADED, *words).stderr.split())


def test_help_loads_no_verb():
    found = loaded("--help")
    assert found & HEAVY == set()
    assert [name for name in COMMANDS if f"tollbar.cli.{name}" in found] == []


@pytest.mark.parametrize("words", ["--help", "bench --help", "logp --help", "logp measure --help", "run --help"])
def test_what_is_of_the_house_looks_through_no_entry_points(words):
    assert "importlib.metadata" not in loaded(*words.split())


def test_a_price_loads_what_prices_plans_and_no_other_verb():
    found = loaded("price", "mcs", "--ranks", "64")
    assert found & HEAVY == set()
    assert [name for name in COMMANDS if f"tollbar.cli.{name}" in found] == ["price"]
    assert "importlib.metadata" not in found
    others = ("tollbar_lab", *(f"tollbar.{layer}" for layer in ("machine", "data", "campaigns", "report")))
    assert [name for name in found if name.startswith(others)] == []


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_help_of_a_verb_loads_nothing_heavy(verb):
    assert loaded(verb, "--help") & (HEAVY - {"subprocess"}) == set()


def test_an_error_of_a_library_is_not_taken_for_wrong_use(tollbar, monkeypatch):
    """Its traceback is what tells the bug; what the library refuses of a user's is one line."""

    def broken(*_: object):
        raise ValueError("operands could not be broadcast together")

    assert tollbar("price", "mcs", "--ranks", "4", "--logp", "-1,2,3").code == 2
    monkeypatch.setattr("tollbar.cli.plans.run", broken)
    with pytest.raises(ValueError, match="broadcast"):
        tollbar("plans")
