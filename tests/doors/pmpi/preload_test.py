# SPDX-License-Identifier: Apache-2.0
"""Each preload takes every MPI_Barrier of C and Fortran programs of its MPIs, and none of another's."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_jobs import DOORS, FOREIGN, Outcome, open_door, programs, start, through
from needs import left_out
from tollbar.machine import doors, paths

__all__ = ["programs", "start"]

MADE = re.compile(r"^rank (\d+) made (\d+) barriers$", re.MULTILINE)
TAKEN = re.compile(r"^tollbar: rank (\d+): (\d+) barriers$", re.MULTILINE)

NAMES = [name for name in (*DOORS, *FOREIGN) if name != "component"]
FORTRAN = "doors/pmpi/barriers.F90"


def library(interface: str) -> Path:
    path = paths.find_library(doors.PRELOADS[interface])
    if path is None:
        left_out(f"{doors.PRELOADS[interface]} is not built")
    return path


@pytest.fixture
def launch(start):
    """Runs a program to its end. The preload is in the launcher as well and has to do no harm there."""

    def launch(name, ranks, source="doors/pmpi/barriers", *words, preload=None, flags=()) -> Outcome:
        door = open_door(name)
        environment = {"LD_PRELOAD": str(door.library if preload is None else preload)}
        # With a plan that is named nothing is measured or stored.
        environment |= {"TOLLBAR_VERBOSE": "2", "TOLLBAR_PLAN": "turnstile"}
        return start(door, ranks, source, *words, flags=flags, opened=[], **environment).finish()

    return launch


def everything_taken(done: Outcome, ranks: int) -> None:
    assert done.code == 0, done.said
    made, taken = sorted(MADE.findall(done.said)), sorted(TAKEN.findall(done.said))
    assert len(made) == ranks, done.said
    assert taken == made, done.said


@pytest.mark.parametrize("name", through(NAMES))
def test_every_barrier_of_a_c_program_is_taken_and_nobody_leaves_early(launch, name):
    ranks = 5 if name == "openmpi" else 3  # more where the MPI is quick about setting up
    everything_taken(launch(name, ranks), ranks)


@pytest.mark.parametrize("way", ["INCLUDED", "MODULE", "F08"])
@pytest.mark.parametrize("name", through(["openmpi", "mpich"]))
def test_every_barrier_of_a_fortran_program_is_taken(launch, name, way):
    everything_taken(launch(name, 2, FORTRAN, flags=[f"-D{way}"]), 2)


@pytest.mark.parametrize("name", through(NAMES))
def test_no_communicator_is_the_same_error_as_without(launch, name):
    def result(**preload):
        done = launch(name, 1, "doors/pmpi/barriers", "wrong", **preload)
        return done.code, [line for line in done.said.splitlines() if line.startswith("rank ")]

    assert result() == result(preload="")


@pytest.mark.parametrize(
    ("name", "wrong", "source", "flags"),
    [
        ("openmpi", "mpich", "doors/pmpi/barriers", ()),
        ("openmpi", "abi", FORTRAN, ("-DMODULE",)),
        ("openmpi", "mpich", FORTRAN, ("-DF08",)),
        ("mpich", "openmpi", "doors/pmpi/barriers", ()),
        ("mpich", "openmpi", FORTRAN, ("-DF08",)),
        ("mpich", "abi", "doors/pmpi/barriers", ()),
        pytest.param("abi-wheel", "mpich", "doors/pmpi/barriers", (), marks=pytest.mark.deep),
    ],
)
def test_in_the_wrong_mpi_a_library_names_the_right_one_and_steps_aside(launch, name, wrong, source, flags):
    done = launch(name, 2, source, preload=library(wrong), flags=flags)
    assert done.code == 0, done.said
    assert len(MADE.findall(done.said)) == 2, done.said
    (line,) = done.lines_of_tollbar()
    assert f"{doors.PRELOADS[wrong]} does not serve" in line
    assert f"preload {Path(open_door(name).library).name}" in line


@pytest.mark.parametrize("now", ["", "1"])
@pytest.mark.parametrize("interface", ["openmpi", "mpich", "abi"])
def test_a_program_without_mpi_runs_as_ever(interface, now):
    environment = {"LD_PRELOAD": str(library(interface)), "LD_BIND_NOW": now}
    done = subprocess.run(["/bin/echo", "fine"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


@pytest.mark.parametrize("interface", ["openmpi", "mpich", "abi"])
def test_a_preload_shows_hooks_and_the_c_functions_only(interface):
    shown = subprocess.run(
        ["nm", "-D", "--defined-only", library(interface)], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split()[-1] for line in shown.splitlines()]
    ours = (
        r"o?mpix?_|tollbar_mpi_(barrier_|last_error|is_watched$)|__asan_default_options$"  # see src/base/sanitizers.c
    )
    others = [name for name in names if not re.match(ours, name.lower())]
    assert others == []
    assert "MPI_Barrier" in names


#: The calls that the door answers, or does its part of.
SERVED = r"(?i)MPI_(Barrier|Init|Init_thread|Comm_free|Comm_disconnect)$"


@pytest.mark.needs(shutil.which("objdump"), "no objdump")
@pytest.mark.parametrize("interface", ["openmpi", "mpich", "abi"])
def test_a_call_that_is_watched_only_is_one_jump(interface):
    """So that without a time-out, when its slot has the next definition, nothing but that happens."""
    shown = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", library(interface)], capture_output=True, text=True, check=True
    ).stdout
    bodies = re.findall(r"^[0-9a-f]+ <(MPIX?_\w+)>:\n((?:.+\n)+)", shown, re.MULTILINE)
    code = {name: re.findall(r"^\s*[0-9a-f]+:\s*(\w+)", body, re.MULTILINE) for name, body in bodies}
    stubs = {
        name: [word for word in words if not word.startswith("nop")]
        for name, words in code.items()
        if not re.match(SERVED, name)
    }
    assert len(stubs) > 150
    jump = {"x86_64": ["endbr64", "jmp"], "aarch64": ["bti", "adrp", "ldr", "br"]}[platform.machine()]
    assert {name: words for name, words in stubs.items() if words != jump} == {}


@pytest.mark.needs(platform.machine() == "x86_64", "slot.c reads a jump of x86-64")
@pytest.mark.parametrize("timeout_s", ["", "60"])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_without_a_time_out_a_call_comes_to_the_library_once(start, name, timeout_s):
    door = open_door(name)
    done = start(door, 2, "doors/pmpi/slot", flags=["-ldl"], TOLLBAR_TIMEOUT=timeout_s).finish()
    (came,) = {line for line in done.said.splitlines() if line.startswith("from ")}
    ways = re.fullmatch(r"from (\S+) to (\S+)", came)
    assert ways, done.said
    assert ways[1] == door.library.name
    assert (ways[2] == door.library.name) == bool(timeout_s), came
