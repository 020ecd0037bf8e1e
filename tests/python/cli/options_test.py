# SPDX-License-Identifier: Apache-2.0
"""An option that a verb accepts changes what it does, whatever other option is given, or is refused.

What a verb does is what it prints and writes, and what it would start: programs are not run.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path

import matplotlib
import pytest
from tollbar import children
from tollbar.cli import build_parser
from tollbar.data import tuning
from tollbar.data.tuning import Entry
from tollbar.machine import facts, paths

HELP_LINES = 24

#: A value for each option, another one than what stands for it otherwise; the same for all verbs.
VALUES = {
    "PLAN": "mcs", "BARRIER": "mcs", "ADDRESS": "10.0.0.1", "--application": "ranks=4", "--as": "goal",
    "--beside": "neighbour", "--hosts": "2", "--level": "funneled",
    "--card": "lanai4.3", "--compute": "30,70", "--cpus": "3", "--crossover": None, "--door": "mpich",
    "--dry-run": None, "--effort": "quick", "--episodes": "7", "--groups": "7",
    "--interface": "eth7", "--kernel": "fair", "--late": "1:50", "--logp": "7,1,2", "--machine": "mesh",
    "--mode": "native", "--model": "L,o,g", "--mpi": "mpich", "--neighbours": "1", "--no-measured": None,
    "--output": "out.svg", "--per-user": "7", "--placement": "block", "--platform": "torus",
    "--on-hang": "kill",
    "--report": "waits.json",
    "--policy": "global", "--quick": None, "--ranks": "5,9", "--receive": "on-arrival", "--seed": "2",
    "--spread": "9", "--switch-key": "key", "--threads": "3", "--timeout": "5", "--waiting": "smart",
    "--without": "central", "--force": None, "--budget-ms": "700", "RUN": "run",
    "--launches": "7", "--budget": "7", "PID": "4711", "--watch": "0.01", "--job": "4711",
}  # fmt: skip
#: A verb's own values, and what every call of it has.
OWN = {
    "show": ({"--ranks": "5"}, "bst --ranks 4"),
    "price": ({"PLAN": "pairwise", "--ranks": "6..9", "--logp": "2,6,11"}, "bst butterfly --ranks 5..13 --logp 1,5,9"),
    "run": ({}, "--timeout 3 -- mpirun -n 2 sleep 0"),
    "completion": ({}, "bash"),
    "reproduce": ({}, "split-shmem"),
    "logp measure": ({"--mpi": "mpich"}, "mpi"),
    "logp fit": ({}, "rows.csv"),
    "simulate cluster": ({"--ranks": "3"}, "mcs dissemination --ranks 4"),
    "simulate cores": ({"--placement": "spread"}, "auto pairwise --ranks 9"),
    "simulate scheduler": (
        {"--ranks": "9", "--compute": "30~0.3,70~0.2"},
        "tree --waiting naive --compute 100~0.5 --episodes 3 --cpus 2",
    ),
    "simulate nic": ({}, "--card lanai7.2"),
    "bench threads": ({"BARRIER": "std::barrier", "--cpus": "1", "--placement": "pinned"}, ""),
    "bench mpi": ({"BARRIER": "MPI_Barrier"}, ""),
    "bench hybrid": ({"BARRIER": "turnstile/mcs"}, ""),
    "bench shmem": ({"BARRIER": "default"}, ""),
    "check hybrid": ({"PLAN": "turnstile/mcs"}, ""),
    "check nic": ({"PLAN": "card:gather"}, ""),
}
#: Pairs that are accepted although one of them changes nothing then, each with the reason.
ACCEPTED = {}
#: Verbs whose options count by what is stored.
OF_RUNS = ("tune threads", "report")


def leaves(parser: argparse.ArgumentParser, words: str = ""):
    ways = next((a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
    if ways is None:
        yield words, parser
    for name, way in (ways or {}).items():
        yield from leaves(way, f"{words} {name}".strip())


LEAVES = dict(leaves(build_parser()))


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.dest not in ("help", "format")]


def name_of(action: argparse.Action) -> str:
    return action.option_strings[-1] if action.option_strings else (action.metavar or action.dest).split("|")[0]


@pytest.mark.parametrize("verb", LEAVES)
def test_the_help_of_a_verb_begins_with_what_it_does(verb):
    assert LEAVES[verb].description


@pytest.mark.parametrize("verb", LEAVES)
def test_the_help_of_a_verb_fits_a_screen_beside_its_columns(tollbar, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    said = tollbar(*verb.split(), "--help").out.partition("columns:")[0]
    assert len(said.rstrip().splitlines()) <= HELP_LINES


@pytest.mark.parametrize("columns", [60, 80])
def test_the_meaning_of_a_column_goes_on_below_its_beginning(tollbar, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = tollbar("bench", "threads", "--help").out.partition("columns:\n")[2].splitlines()
    assert max(map(len, rows)) <= columns
    starts = {len(row) - len(row.lstrip()) for row in rows}
    assert len(starts) == 2  # the names of columns, and what they mean


@pytest.mark.parametrize("verb", LEAVES)
def test_the_meaning_of_a_column_has_one_space_between_words(verb):
    for row in (LEAVES[verb].epilog or "").splitlines():
        meaning = row.strip().partition("  ")[2].strip()
        assert "  " not in meaning, row


class _Hosts:
    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> _Hosts:
        return self

    def __exit__(self, *_: object) -> None: ...


def of_the_laboratory(starts: Callable[..., None], ends: Callable[..., None]) -> Iterable[tuple[object, str, object]]:
    """Replacements for what the laboratory's verbs would start; they are tried where it is installed."""
    if importlib.util.find_spec("tollbar_lab") is None:
        return ()
    from tollbar.data import samples

    names = ("", ".models.cluster", ".models.cores_measured", ".papers.lacking", ".papers.stored")
    lab, cluster, cores, lacking, stored = (importlib.import_module(f"tollbar_lab{name}") for name in names)
    return (
        (cores, "measure", lambda: argparse.Namespace(rows=[], machine=lab.cores_machine("icelake"))),
        (cluster, "simulate", lambda plans, ranks, costs, file, _: ends(
            "cluster", tuple(plans), ranks, (costs.L, costs.o, costs.g), file)),
        (stored.Stored, "samples", lambda self, kind: starts("stored", kind, self.nothing) or samples.read([])),
        (stored.Stored, "missing", lambda self, kind, known: None if self.nothing else lacking.Lack(kind)),
    )  # fmt: skip


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The commands that verbs would start, not started, on a machine with two MPIs and all programs."""
    from tollbar.campaigns import checks, logp, mpi_settings, mpi_tuning, passes, shmem, threads, udp
    from tollbar.cli import doctor_mpi, doctor_shmem, far, on_hang, run, who
    from tollbar.cli.errors import CheckFailed
    from tollbar.cli.table import Table
    from tollbar.look import gathered
    from tollbar.machine import doors, mpi_hosts, mpis, nic_daemon, noise

    seen: list[object] = []

    def starts(what: str, *shown: object) -> None:
        seen.append((what, *shown))

    def ends(what: str, *shown: object) -> None:
        starts(what, *shown)
        raise CheckFailed("started")

    def launched(launch: checks.Launch) -> checks.Outcome:
        starts("check", tuple(launch.command), tuple(launch.environment.items()))
        return checks.Outcome(launch, [], "")

    four = [mpis.Mpi("openmpi", "4.1.4", Path("/usr/bin/mpirun")), mpis.Mpi("mpich", "4.0.2", Path("/usr/bin/mpiexec"))]
    for owner, name, replaced in (
        (paths, "program", lambda name: Path("/programs", name)),
        (mpis, "installed", lambda: four),
        (mpis, "of_launcher", lambda word: four[0] if Path(word).name == "mpirun" else None),
        (mpis, "interface_of", lambda word: None),
        (doors, "component", lambda mpi: Path("/lib/mca_coll_tollbar.so")),
        (doors, "component_path", lambda mpi, path: str(path.parent)),
        (doors, "preload", lambda interface: Path("/lib", interface)),
        (mpi_settings, "door_settings", lambda mpi: ([], [])),
        (shmem, "why_not", lambda: None),
        (shmem, "launcher", lambda pes: ["oshrun", str(pes)]),
        (udp, "program_words", lambda hosts, ranks, cards: ["udp", str(ranks)]),
        (checks, "Hosts", _Hosts),
        (threads, "listed", lambda *_: {"mcs", "std::barrier"}),
        (udp, "listed", lambda *_: {"mcs"}),
        (mpi_hosts.Hosts, "_call", lambda self, *words: "10.0.0.1 10.0.0.2"),
        (checks, "_cpus", lambda: 64),
        (checks, "launched", launched),
        (noise, "look", lambda: None),
        (noise, "since", lambda seen: []),
        (noise, "before", lambda seen: []),
        (passes, "measure", lambda work, notes, within, _: ends(
            "bench", work.kind, work.request, tuple(map(work.say, work.situations)), within)),
        (logp, "measure", lambda transport, request, *_: ends("logp", transport, request, _[0])),
        (nic_daemon, "start", lambda *words: ends("nic", *map(str, words))),
        (nic_daemon, "status", lambda path: {"interface": "lo", "mode": "generic", "counts": {}, "groups": [],
                                             "held": 0, "departed": 0, "most": 4}),
        (mpi_tuning, "choose", lambda mpi, program, ranks, ms: starts("choose", mpi, program, ranks, ms) or []),
        (children, "run", lambda words, **_: starts("measure", *words) or children.Ended(0, "", "")),
        (nic_daemon, "stop", lambda path: starts("stop", path)),
        (nic_daemon, "echo_us", lambda address: 5.0),
        (doctor_mpi, "findings", lambda: ()),
        (doctor_shmem, "findings", lambda: ()),
        (os, "execvpe", lambda _, words, variables: ends("exec", *words, variables.get("LD_PRELOAD"))),
        (run, "explain", lambda words: None),
        (gathered.secrets, "randbits", lambda bits: 7),
        (on_hang, "supervise", lambda words, given, *how: ends("supervise", *words, *given.items(), *how)),
        (who, "look", lambda words: starts("look", *words) or Table([], who.Seen, failed=True)),
        (far, "of_launcher", lambda words: None),
        (far, "of_job", lambda job, words: starts("job", job, *words) or Table([], who.Seen, failed=True)),
        (far, "of_hosts", lambda hosts, words: starts("hosts", hosts, *words) or Table([], who.Seen, failed=True)),
        *of_the_laboratory(starts, ends),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, replaced)
    monkeypatch.setattr("time.time_ns", lambda: 0)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setitem(matplotlib.rcParams, "svg.hashsalt", "the same pictures have the same names inside")
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return seen


@pytest.fixture
def tuned(stored, tmp_path):
    """Three runs, of which the second is the newest and the third lies elsewhere: gives that one, and a tuning
    file whose choices rest on more launches than any of them."""
    for launches in (6, 5):
        stored(ranks=(2,), launches=launches)
    places = [(ranks, pinned) for ranks in ("2", "4") for pinned in ("yes", "no")]
    usual = {"cpus": "2", "plan": "mcs", "wait": "auto", "measured": "free:alone", "launches": "99"}
    usual["machine"] = facts.short_id(facts.facts())
    path = tmp_path / "tuning"
    tuning.write(path, [Entry("threads", {"ranks": ranks, "pinned": pinned} | usual) for ranks, pinned in places])
    return stored(ranks=(4,), within=tmp_path / "elsewhere"), path


@pytest.fixture
def does(request, tollbar, started, tmp_path, monkeypatch):
    """does(words) -> the exit code, and all that can be seen of it."""
    numbers = iter(range(10**6))
    runs = request.getfixturevalue("tuned") if request.node.callspec.id in OF_RUNS else ()

    def run(words: list[str]) -> tuple[int, object]:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        (folder / "rows.csv").write_text(
            "plan,ranks,us\nbst,4,10\nbst,9,17\ncentral,4,30\ncentral,9,50\ndissemination,8,12\n"
        )
        if runs:
            (folder / "run").symlink_to(runs[0])
            shutil.copyfile(runs[1], folder / "tuning")
            monkeypatch.setenv("TOLLBAR_TUNING", str(folder / "tuning"))
        started.clear()
        monkeypatch.chdir(folder)
        said = tollbar(*words)
        written = sorted((path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file())
        told = (said.out + said.err).replace(str(folder), "")
        return said.code, (said.code, told, written, list(started))

    return run


class Tried:
    """The options of a verb, and what it does with some of them."""

    def __init__(self, verb: str, does) -> None:
        own, self._always = OWN.get(verb, ({}, ""))
        free = [a for a in options(LEAVES[verb]) if a.option_strings or a.nargs in ("*", "?")]
        self._verb, self._does = verb, does
        self.words = {}
        for action in free:
            name = name_of(action)
            value = own.get(name, VALUES[name])  # a new option needs one
            self.words[name] = [name, value] if action.option_strings and value else [value or name]

    def result(self, *names: str) -> tuple[int, object]:
        before, behind = ("", self._always) if self._always.startswith("-- ") else (self._always, "")
        given = [word for name in names for word in self.words[name]]
        return self._does([*self._verb.split(), *before.split(), *given, *behind.split()])


@pytest.fixture
def tried(does, verb) -> Tried:
    return Tried(verb, does)


@pytest.mark.parametrize("verb", LEAVES)
def test_an_option_changes_what_a_verb_does(tried, verb):
    nothing = tried.result()[1]
    assert tried.result()[1] == nothing, f"{verb} does another thing each time"
    for name, words in tried.words.items():
        code, alone = tried.result(name)
        assert code != 2, f"{verb} {words}: {alone[1]}"
        assert alone != nothing, f"{verb} {words} changes nothing"


@pytest.mark.deep
@pytest.mark.parametrize("verb", LEAVES)
def test_an_option_beside_another_changes_what_a_verb_does_or_is_refused(tried, verb):
    alone = {name: tried.result(name)[1] for name in tried.words}
    idle = []
    for one, other in combinations(tried.words, 2):
        code, both = tried.result(one, other)
        if code != 2 and (verb, one, other) not in ACCEPTED:
            idle += [f"{tried.words[one]} beside {tried.words[other]}"] * (both == alone[other])
            idle += [f"{tried.words[other]} beside {tried.words[one]}"] * (both == alone[one])
    assert not idle, f"{verb}: these change nothing"
