# SPDX-License-Identifier: Apache-2.0
"""What only Open MPI's component has: its parameters, its requests, what it declines, and what it says."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from mpi_jobs import Door, clean_environment, open_door, programs, start
from needs import left_out

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PARAMETERS = ("priority", "plan", "selection", "budget_ms", "timeout", "objective", "network", "verbose")

__all__ = ["programs", "start"]


@pytest.fixture(scope="module")
def component() -> Door:
    return open_door("component")


@pytest.fixture
def run(start, component):
    """Runs a program beside this file to its good end; what tollbar says."""

    def succeed(name: str, ranks: int, *arguments: str, mca=None, door: Door = component, **changed) -> list[str]:
        options = [word for key, value in (mca or {}).items() for word in ("--mca", key, value)]
        outcome = start(door, ranks, f"doors/ompi_coll/{name}", *arguments, options=options, **changed).finish()
        assert outcome.code == 0, outcome.said
        assert "passed: " in outcome.said, outcome.said
        return outcome.lines_of_tollbar()

    return succeed


@pytest.mark.parametrize("plan", ["", "mcs", "turnstile/pairwise"])
def test_each_kind_of_barrier_goes_through_the_component(run, plan):
    unmeasured = {"coll_tollbar_budget_ms": "0"}  # the model's choice; a contest beside other tests may have any winner
    lines = run("kinds", 5, mca=unmeasured, TOLLBAR_VERBOSE="2", TOLLBAR_PLAN=plan)
    by_open_mpi = plan == "mcs"  # persistent barriers, which need words of one counter
    requests = 14 if by_open_mpi else 21
    world = [
        line
        for line in lines
        if re.search(rf"WORLD, rank . of 5: 7 barriers, {requests} requests, 0 requests by messages", line)
    ]
    other = [line for line in lines if re.search(r"DUP.*, rank . of 5: 0 barriers, 7 requests, 0 requests by", line)]
    assert (len(world), len(other)) == (5, 0 if by_open_mpi else 5), lines


def test_each_kind_of_barrier_holds_by_messages_alone(run):
    run("kinds", 3, "apart", TOLLBAR_PLAN="dissemination")


def test_requests_go_by_messages_where_only_a_barrier_may_try_plans(run):
    """Ranks of several nodes choose among plans by trying them, which takes calls that block: the first request, in
    which they meet, finds that out."""
    lines = run("kinds", 3, "apart", TOLLBAR_VERBOSE="2")
    said = r"WORLD, rank . of 3: 7 barriers, 8 requests, 6 requests by messages"
    assert sum(bool(re.search(said, line)) for line in lines) == 3, "\n".join(lines)


def test_what_the_component_does_not_win_stays_with_open_mpi(run):
    """Below tuned and above libnbc: MPI_Ibarrier only."""
    lines = run("kinds", 2, mca={"coll_tollbar_priority": 20}, TOLLBAR_VERBOSE="2")
    assert [line for line in lines if "WORLD, rank 0 of 2: 0 barriers, " in line]


def test_switched_off_it_says_and_does_nothing(run):
    assert run("local", 2, mca={"coll": "^tollbar"}, TOLLBAR_VERBOSE="2") == []


@pytest.mark.parametrize("ranks", [2, 5])
def test_an_ibarrier_waits_for_nobody(run, ranks):
    run("local", ranks)


@pytest.mark.parametrize("how", [(), ("apart",)])
def test_a_communicator_is_freed_while_its_ibarriers_pend(run, how):
    run("freed", 5, *how, TOLLBAR_PLAN="dissemination")


def test_an_ibarrier_ends_for_its_waiter_while_another_thread_is_in_a_barrier(run):
    run("two_threads", 3)


def test_communicators_of_one_rank_and_between_groups_are_left_alone(run):
    lines = run("declined", 5, TOLLBAR_VERBOSE="2")
    assert lines == []


def test_ompi_info_lists_every_parameter_with_its_help(component, tmp_path):
    tool = component.mpi.launcher.with_name("ompi_info")
    done = subprocess.run(
        [tool, "--param", "coll", "tollbar", "--level", "9", "--parsable"],
        env=clean_environment(tmp_path) | component.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    for name in PARAMETERS:
        helped = re.search(rf"mca:coll:tollbar:param:coll_tollbar_{name}:help:(.+)", done.stdout)
        assert helped, name
        assert len(helped[1]) > 30


def test_a_parameter_written_while_the_program_runs_counts_for_later_communicators(run):
    pairs = ("coll_tollbar_plan", "bst", "coll_tollbar_plan", "mcs", "coll_tollbar_budget_ms", "3")
    lines = run("settings", 3, *pairs, TOLLBAR_VERBOSE="2", TOLLBAR_PLAN="turnstile")
    ended = [line.rsplit(" ", 1)[1] for line in lines if "rank 0 of 3: " in line]
    assert ended == ["bst", "mcs", "mcs", "turnstile"]


def test_every_parameter_can_be_written_while_the_program_runs(run):
    values = ("50", "mcs", "-1", "5", "30", "skew", "p2p", "1")
    names = (f"coll_tollbar_{name}" for name in PARAMETERS)
    run("settings", 2, *(word for pair in zip(names, values, strict=True) for word in pair))


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("plan", "no_such_plan", "dissemination"),
        ("selection", "77", "0, -1"),
        ("selection", "first", "0, -1"),
        ("selection", "-2", "0, -1"),
        ("budget_ms", "-1", "0 or more"),
        ("timeout", "-5", "seconds, 0 or more (0: never)"),
        ("timeout", "abc", "seconds, 0 or more (0: never)"),
        ("objective", "speed", "latency, skew, wait"),
        ("network", "fast", "auto, p2p, nic"),
        ("priority", "101", "0 to 100"),
        ("verbose", "loud", "0, 1, 2"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_accepted_ones(run, name, value, accepted):
    lines = run("settings", 2, mca={f"coll_tollbar_{name}": value})
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"tollbar: coll_tollbar_{name} is '{value}'")
    assert accepted in lines[0]
    assert "; using the default, " in lines[0]


def test_what_a_contest_found_out_is_said_and_stored(run, tmp_path):
    stored = tmp_path / "tuning"
    contests = []
    for selection in ("0", "-1"):  # with -1 what the first one has stored does not count
        mca = {"coll_tollbar_selection": selection}
        lines = run("settings", 4, mca=mca, TOLLBAR_VERBOSE="2")
        found = [line for line in lines if line.startswith("tollbar: contest of ")]
        contests.append([re.search(r"\(4 ranks\): (\S+): median [\d.]+ us, ", line).group(1) for line in found])
        assert sum(line.endswith(": chosen") for line in found) == 1
        (line,) = [line for line in stored.read_text().splitlines() if line.startswith("mpi ")]
        kept = re.search(r"contest=(\S+)", line).group(1).split(";")
        assert [each.partition("|")[0] for each in kept] == contests[-1]
    assert len(contests[0]) == 5
    assert set(contests[0]) < set(contests[1])


def test_verbosity_is_the_parameters_and_else_the_variables(run):
    def announced(**settings) -> bool:
        return any(line.endswith("(2 ranks): mcs") for line in run("settings", 2, **settings))

    assert announced(mca={"coll_tollbar_verbose": 1}, TOLLBAR_PLAN="mcs", TOLLBAR_VERBOSE="0")
    assert not announced(mca={"coll_tollbar_verbose": 0}, TOLLBAR_PLAN="mcs", TOLLBAR_VERBOSE="1")
    assert announced(TOLLBAR_PLAN="mcs", TOLLBAR_VERBOSE="1")


def test_another_series_of_open_mpi_is_told_apart_and_the_component_steps_aside(run, component, tmp_path):
    """The component built with headers of a series that this Open MPI is not."""
    static = component.library.parent.parent / "libtollbar.a"
    if not static.exists():
        left_out("libtollbar.a is not beside the component")
    shown = subprocess.run([component.compiler, "--showme:incdirs"], capture_output=True, text=True, check=True)
    folders = shown.stdout.split()
    shim = tmp_path / "headers"
    shim.mkdir()
    other = ["#include_next <ompi_config.h>", "#include <mpi.h>", "#undef OMPI_MINOR_VERSION"]
    (shim / "ompi_config.h").write_text("\n".join([*other, "#define OMPI_MINOR_VERSION 0", ""]))
    made = tmp_path / "component" / "mca_coll_tollbar.so"
    made.parent.mkdir()
    source = ROOT / "src" / "doors" / "ompi_coll"
    include = [f"-I{folder}" for folder in (shim, ROOT / "src", ROOT / "include", *folders)]
    include += [f"-I{folder}/openmpi" for folder in folders]
    versions = [f"-DTOLLBAR_VERSION_{part}=0" for part in ("MAJOR", "MINOR", "PATCH")]
    objects = []
    for suffix, compiler, language in ((".c", "cc", "gnu11"), (".cpp", "c++", "c++20")):
        for file in sorted(source.glob(f"*{suffix}")):
            objects.append(tmp_path / f"{file.stem}.o")
            flags = [f"-std={language}", "-fPIC", "-w", "-fvisibility=hidden"]
            subprocess.run([compiler, *flags, *include, *versions, "-c", file, "-o", objects[-1]], check=True)
    subprocess.run(["c++", "-shared", "-o", made, *objects, static], check=True)

    lines = run("local", 2, door=replace(component, library=made), TOLLBAR_VERBOSE="2")
    assert len(lines) == 1, lines
    assert "was built for Open MPI 4.0 and this is 4.1" in lines[0]


def test_who_is_missing_in_an_ibarrier_is_named(start, component):
    """Both times: while the ranks meet, and by the participant after."""
    job = start(component, 3, "doors/ompi_coll/late", TOLLBAR_TIMEOUT="0.2", TOLLBAR_PLAN="turnstile")
    awaited = [r"its first barrier: .*rank 1 .*has not arrived", r"barrier 3 at .*: rank 1 .*has not arri"]
    for told, line in enumerate(awaited, 1):
        job.await_that(lambda line=line: re.search(line, job.said()), line)
        job.tell(told)
    outcome = job.finish()
    assert outcome.code == 0, outcome.said
    assert "passed: " in outcome.said, outcome.said
