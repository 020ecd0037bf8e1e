# SPDX-License-Identifier: Apache-2.0
"""The answers of `tollbar doctor` about OpenSHMEM: the one found, the library for it, the faults it works around."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

from tollbar.cli.findings import ABSENT, OK, Finding
from tollbar.machine import mpis, paths

LIBRARY = "libtollbar_shmem.so"
_PACKAGES = "openmpi-bin libopenmpi-dev"

#: From this Open MPI on shmem_finalize does not crash (open-mpi/ompi#11604).
_MENDED = (4, 1, 6)


def findings() -> Iterator[Finding]:
    launcher = shutil.which("oshrun")
    compiler = shutil.which("oshcc")
    if launcher is None or compiler is None:
        lacking = "oshrun" if launcher is None else "oshcc"
        why = f"no {lacking} found: {LIBRARY} is not built, OpenSHMEM programs have no split barrier"
        yield Finding("OpenSHMEM", ABSENT, why, f"sudo apt-get install -y {_PACKAGES} && {paths.mend()}")
        return
    mpi = mpis.of_launcher(launcher)
    name = f"{launcher} of {mpi.name}" if mpi else launcher
    library = paths.find_library(LIBRARY)
    if library is None:
        why = f"{name}, but {LIBRARY} is not built: its programs have no split barrier"
        yield Finding("OpenSHMEM", ABSENT, why, paths.mend())
        return
    yield Finding("OpenSHMEM", OK, f"{name}, served by {library}", None)
    if mpi and mpi.family == "openmpi":
        yield _finalize(mpi.version)


def _finalize(version: str) -> Finding:
    """Whether programs of this Open MPI crash at their end."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if numbers >= _MENDED:
        return Finding("shmem_finalize", OK, f"works in Open MPI {version}", None)
    why = (
        f"crashes in Open MPI {version}; {LIBRARY} works around it, "
        "other programs need OMPI_MCA_opal_common_ucx_opal_mem_hooks=0"
    )
    return Finding("shmem_finalize", OK, why, None)
