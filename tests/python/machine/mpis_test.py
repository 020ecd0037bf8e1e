# SPDX-License-Identifier: Apache-2.0
"""Which MPI a launcher or a program belongs to."""

import subprocess
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import mpis


def launcher(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<END\n{says}\nEND\n")
    path.chmod(0o755)
    return path


SAID = {
    "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org": ("openmpi", "4.1.4"),
    "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org": ("openmpi", "5.0.11"),
    "HYDRA build details:\n    Version:                  4.0.2\n": ("mpich", "4.0.2"),
    "Intel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 2026": ("impi", "2021.19.0"),
}


@pytest.mark.parametrize("says", SAID)
def test_a_launcher_is_known_by_what_it_says(tmp_path, says):
    mpi = mpis.of_launcher(launcher(tmp_path, "start", says))
    assert (mpi.family, mpi.version) == SAID[says]
    assert mpi.launcher == tmp_path / "start"


def test_a_program_that_says_something_else_is_no_launcher(tmp_path):
    assert mpis.of_launcher(launcher(tmp_path, "start", "start (GNU coreutils) 9.1")) is None
    assert mpis.of_launcher(tmp_path / "nowhere") is None


def test_an_mpi_with_several_launchers_is_found_once(tmp_path, monkeypatch):
    for name in ("mpirun", "mpiexec"):
        launcher(tmp_path / "bin", name, "mpirun (Open MPI) 5.0.11")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    found = [mpi for mpi in mpis.installed() if mpi.launcher.parent == tmp_path / "bin"]
    assert [mpi.name for mpi in found] == ["Open MPI 5.0.11"]


def test_programs_of_intel_mpi_and_mpich_have_one_interface():
    written = {family: mpis.Mpi(family, "5.0", Path("/")).interface for family in mpis.WRITTEN}
    assert written == {"openmpi": "openmpi", "mpich": "mpich", "impi": "mpich"}


def test_the_standard_abi_is_run_by_mpich_5_and_intel_mpi_only():
    runs = {
        mpi
        for mpi in (("mpich", "4.0.2"), ("mpich", "5.0.2"), ("impi", "2021.19"), ("openmpi", "5.0.1"))
        if mpis.Mpi(*mpi, Path("/")).runs_standard_abi
    }
    assert runs == {("mpich", "5.0.2"), ("impi", "2021.19")}


@pytest.mark.parametrize("compiler", ["mpicc.openmpi", "mpicc.mpich"])
def test_a_program_is_known_by_the_library_it_is_linked_with(tmp_path, compiler):
    source = tmp_path / "program.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
    try:
        subprocess.run([compiler, source, "-o", tmp_path / "program"], check=True, capture_output=True)
    except FileNotFoundError:
        left_out(f"{compiler} is not installed")
    assert mpis.interface_of(tmp_path / "program") == compiler.removeprefix("mpicc.")


def test_scripts_and_other_programs_have_no_interface(tmp_path):
    assert mpis.interface_of(launcher(tmp_path, "script", "libmpi.so.40")) is None
    assert mpis.interface_of("true") is None
    assert mpis.interface_of("no such program") is None
