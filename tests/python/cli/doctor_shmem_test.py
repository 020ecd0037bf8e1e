# SPDX-License-Identifier: Apache-2.0
"""What `tollbar doctor` says of OpenSHMEM, told what is installed."""

from pathlib import Path

import pytest
from tollbar.cli import doctor_shmem
from tollbar.machine import mpis, paths


@pytest.fixture
def rows(monkeypatch):
    """rows("4.1.4", tools=..., built=...) -> {what: Finding}."""

    def look(version="4.1.4", tools=("oshcc", "oshrun"), built=True):
        library = Path("/lib/libtollbar_shmem.so") if built else None
        monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name in tools else None)
        monkeypatch.setattr(mpis, "of_launcher", lambda word: mpis.Mpi("openmpi", version, Path(word)))
        monkeypatch.setattr(paths, "find_library", lambda name: library)
        return {row.what: row for row in doctor_shmem.findings()}

    return look


def test_without_an_openshmem_the_library_is_left_out(rows):
    for tools, lacking in (((), "oshrun"), (("oshrun",), "oshcc")):
        (row,) = rows(tools=tools).values()
        assert row.state == "absent"
        assert row.why.startswith(f"no {lacking} found: libtollbar_shmem.so is not built")
        assert row.remedy.startswith("sudo apt-get install -y openmpi-bin libopenmpi-dev && ")


def test_a_library_that_is_not_built_is_built_by_one_command(rows):
    row = rows(built=False)["OpenSHMEM"]
    assert (row.state, row.remedy) == ("absent", paths.mend())


def test_the_crash_that_is_stepped_around_is_told_for_the_versions_that_have_it(rows):
    found = rows("4.1.4")
    assert found["OpenSHMEM"].why == "/usr/bin/oshrun of Open MPI 4.1.4, served by /lib/libtollbar_shmem.so"
    assert "OMPI_MCA_opal_common_ucx_opal_mem_hooks=0" in found["shmem_finalize"].why
    for mended in ("4.1.6", "4.2.0", "5.0.8"):
        assert "works in Open MPI" in rows(mended)["shmem_finalize"].why
