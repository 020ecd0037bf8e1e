# SPDX-License-Identifier: Apache-2.0
"""Each preload takes every barrier of C and Fortran programs of its MPIs, and none of another's."""

from __future__ import annotations

import re
import subprocess

import pytest

COUNTS = r"(\d+) barriers, (\d+) ibarriers, (\d+) persistent$"
MADE = re.compile(r"^rank (\d+) made " + COUNTS, re.MULTILINE)
TAKEN = re.compile(r"^tollbar: rank (\d+): " + COUNTS, re.MULTILINE)

#: The MPI gives no request there that the preload could end, and keeps its Ibarriers.
KEEPS_IBARRIERS = ("impi-abi",)

#: As conftest.py has them.
NAMES = ("openmpi-4", "mpich-4", "openmpi-5", "mpich-5", "mpich-5-abi", "impi", "impi-abi")

#: What a program calls for a handle, where it is not MPI_Barrier_init.
EXTENSIONS = {"openmpi-4": "MPIX_Barrier_init"}

#: More ranks where the MPI is quick about setting up.
RANKS = [("openmpi-4", 2), ("openmpi-4", 5), *((name, 3) for name in NAMES[1:])]


def inits(name: str) -> tuple[str, ...]:
    """The flags for the name of MPI_Barrier_init in that MPI."""
    if name in EXTENSIONS:
        return ("-DEXTENSION", f"-DBARRIER_INIT={EXTENSIONS[name]}")
    return ("-DBARRIER_INIT=MPI_Barrier_init",)


def said(done: subprocess.CompletedProcess) -> str:
    return done.stdout + done.stderr


def everything_taken(name: str, done: subprocess.CompletedProcess, ranks: int) -> None:
    text = said(done)
    assert done.returncode == 0, text
    made, taken = sorted(MADE.findall(text)), sorted(TAKEN.findall(text))
    if name in KEEPS_IBARRIERS:
        made, taken = ([(*row[:2], row[3]) for row in rows] for rows in (made, taken))
    assert len(made) == ranks, text
    assert taken == made, text


@pytest.mark.parametrize(("name", "ranks"), RANKS)
def test_every_barrier_of_a_c_program_is_taken_and_nobody_leaves_early(present, library, build, name, ranks):
    host = present(name)
    program = build(host.compiler, "barriers.c")
    done = host.launch(program, ranks=ranks, preload=library(host.interface))
    everything_taken(name, done, ranks)


@pytest.mark.parametrize(("name", "ranks"), RANKS)
def test_every_persistent_barrier_is_taken_and_goes_with_all_others(present, library, build, name, ranks):
    host = present(name)
    program = build(host.compiler, "persistent.c", *inits(name))
    done = host.launch(program, ranks=ranks, preload=library(host.interface))
    everything_taken(name, done, ranks)


@pytest.mark.parametrize("way", ["INCLUDED", "MODULE", "F08"])
@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4", "impi"])
def test_every_barrier_of_a_fortran_program_is_taken(present, library, build, name, way):
    host = present(name)
    program = build(host.fortran, "barriers.F90", f"-D{way}", *inits(name))
    done = host.launch(program, ranks=2, preload=library(host.interface))
    everything_taken(name, done, 2)


@pytest.mark.parametrize("name", NAMES)
def test_no_communicator_is_the_same_error_as_without(present, library, build, name):
    host = present(name)
    program = build(host.compiler, "barriers.c")
    plain, preloaded = (
        host.launch(program, "wrong", ranks=1, preload=preload) for preload in (None, library(host.interface))
    )
    assert preloaded.returncode == plain.returncode
    assert preloaded.stdout == plain.stdout


@pytest.mark.parametrize(
    ("name", "wrong", "source", "flags"),
    [
        ("openmpi-4", "mpich", "barriers.c", ()),
        ("openmpi-4", "mpich", "persistent.c", ()),
        ("openmpi-4", "abi", "barriers.F90", ("-DMODULE",)),
        ("openmpi-4", "mpich", "barriers.F90", ("-DF08",)),
        ("mpich-4", "openmpi", "barriers.c", ()),
        ("mpich-4", "openmpi", "persistent.c", ()),
        ("mpich-4", "openmpi", "barriers.F90", ("-DF08",)),
        ("mpich-4", "abi", "barriers.c", ()),
        ("mpich-5-abi", "mpich", "barriers.c", ()),
    ],
)
def test_in_the_wrong_mpi_a_library_names_the_right_one_and_steps_aside(
    present, library, build, name, wrong, source, flags
):
    host = present(name)
    persistent = source == "persistent.c"
    program = build(
        host.fortran if flags else host.compiler, source, *flags, *(inits(name) if persistent else ())
    )
    done = host.launch(program, *(["tame"] if persistent else []), ranks=2, preload=library(wrong))
    text = said(done)
    assert done.returncode == 0, text
    assert len(MADE.findall(text)) == 2, text
    lines = [line for line in text.splitlines() if line.startswith("tollbar:")]
    assert len(lines) == 1, text
    assert f"libtollbar_mpi_{wrong}.so does not serve" in lines[0]
    assert f"preload libtollbar_mpi_{host.interface}.so" in lines[0]


@pytest.mark.parametrize("now", ["", "1"])
@pytest.mark.parametrize("interface", ["openmpi", "mpich", "abi"])
def test_a_program_without_mpi_runs_as_ever(library, interface, now):
    environment = {"LD_PRELOAD": str(library(interface)), "LD_BIND_NOW": now}
    done = subprocess.run(["/bin/echo", "fine"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


@pytest.mark.parametrize("interface", ["openmpi", "mpich", "abi"])
def test_a_preload_shows_hooks_and_the_c_functions_only(library, interface):
    shown = subprocess.run(
        ["nm", "-D", "--defined-only", library(interface)], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split()[-1] for line in shown.splitlines()]
    others = [
        name for name in names if not re.match(r"o?mpix?_|tollbar_mpi_(barrier_|last_error)", name.lower())
    ]
    assert others == []
    assert "MPI_Barrier" in names
