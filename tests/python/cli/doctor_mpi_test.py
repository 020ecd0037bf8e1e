# SPDX-License-Identifier: Apache-2.0
"""What `tollbar doctor` says of MPI, told which MPIs and doors there are."""

from pathlib import Path

import pytest
from tollbar.cli import doctor_mpi
from tollbar.machine import doors, mpis, nic_daemon

FOUR = mpis.Mpi("openmpi", "4.1.4", Path("/usr/bin/mpirun"))
MPICH = mpis.Mpi("mpich", "5.0.2", Path("/opt/bin/mpiexec"))
INTEL = mpis.Mpi("impi", "2021.19.0", Path("/opt/bin/mpiexec.hydra"))


@pytest.fixture
def rows(monkeypatch):
    """rows(FOUR, ..., serving={FOUR: path}) -> {what: Finding}."""

    def look(*here, serving=()):
        monkeypatch.setattr(mpis, "installed", lambda: list(here))
        monkeypatch.setattr(doors, "of", lambda mpi: dict(serving).get(mpi))
        return {row.what: row for row in doctor_mpi.findings()}

    return look


def test_each_mpi_is_named_with_its_version_and_its_door(rows):
    row = rows(FOUR, serving={FOUR: Path("/lib/mca_coll_tollbar.so")})["Open MPI 4.1.4"]
    assert (row.state, row.remedy) == ("ok", None)
    assert row.why == "/usr/bin/mpirun, served by /lib/mca_coll_tollbar.so"


def test_an_mpi_that_runs_programs_of_the_standard_abi_has_two_doors(rows, monkeypatch):
    monkeypatch.setattr(doors, "preload", lambda interface: Path(f"/lib/{doors.PRELOADS[interface]}"))
    serving = {mpi: Path("/lib/libtollbar_mpi_mpich.so") for mpi in (MPICH, INTEL)}
    for row in (rows(MPICH, INTEL, serving=serving)[mpi.name] for mpi in (MPICH, INTEL)):
        assert row.why.endswith("served by /lib/libtollbar_mpi_mpich.so and libtollbar_mpi_abi.so")


def test_whether_barriers_between_hosts_may_use_the_card_is_told(rows, monkeypatch, tmp_path):
    serving = {FOUR: Path("/lib/mca_coll_tollbar.so")}
    monkeypatch.setenv("TOLLBAR_NICD", str(tmp_path / "nobody"))
    row = rows(FOUR, serving=serving)["MPI between hosts"]
    assert (row.state, row.remedy) == ("absent", "sudo tollbar nic up")
    assert "using messages, not the network card" in row.why
    monkeypatch.setattr(nic_daemon, "status", lambda _: {"interface": "eth7"})
    row = rows(FOUR, serving=serving)["MPI between hosts"]
    assert (row.state, row.remedy) == ("ok", None)
    assert "eth7" in row.why


def test_a_door_that_is_not_built_is_built_by_one_command(rows, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    row = rows(MPICH)["MPICH 5.0.2"]
    assert row.state == "absent"
    assert row.remedy in ("make", "pip install --force-reinstall . (in the checkout)")


def test_where_even_the_compiler_is_missing_the_command_names_its_package(rows, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("tollbar.machine.paths.checkout", lambda: Path("/tollbar"))
    assert rows(FOUR)["Open MPI 4.1.4"].remedy == "sudo apt-get install -y libopenmpi-dev && make"


def test_an_mpi_that_is_missing_says_how_to_get_it(rows, monkeypatch):
    monkeypatch.setattr("tollbar.machine.paths.checkout", lambda: Path("/tollbar"))
    found = rows()
    assert found["Open MPI"].remedy == "sudo apt-get install -y openmpi-bin libopenmpi-dev"
    assert found["MPICH"].remedy == "sudo apt-get install -y mpich libmpich-dev"
    assert {found[name].remedy for name in ("Open MPI 5", "MPICH 5", "Intel MPI")} == {"make wheels"}


def test_what_is_there_is_not_missing(rows):
    assert not {"MPICH", "MPICH 5", "Intel MPI"} & set(rows(MPICH, INTEL))


def test_an_installed_command_does_not_speak_of_wheels(rows, monkeypatch):
    monkeypatch.setattr("tollbar.machine.paths.checkout", lambda: None)
    assert "Open MPI 5" not in rows()
