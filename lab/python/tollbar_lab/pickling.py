# SPDX-License-Identifier: Apache-2.0
"""Sends the models' values to other processes, and copies them: by what makes them again."""

from __future__ import annotations

import copyreg
from typing import Any

from tollbar_lab import _native

_PARTS = ("send_us", "sdma_us", "xmit_us", "network_us", "recv_us", "rdma_us", "hrecv_us", "mpi_us")


def _parts(values: dict[str, float]) -> _native.NicParts:
    return _native.NicParts(**values)


def _nic_parts(parts: _native.NicParts) -> Any:
    return _parts, ({name: getattr(parts, name) for name in _PARTS},)


def _machine(name: str, cores: list[tuple[int, int]], numbers: dict[str, float], cached: bool) -> _native.CoresMachine:
    made = _native.cores_machine("mesh")
    return made.changed(name=name, cores=cores, numbers=numbers, clusters_cache=cached)


def _cores_machine(machine: _native.CoresMachine) -> Any:
    return _machine, (machine.name, machine.cores, machine.numbers, machine.clusters_cache)


def register() -> None:
    """Lets pickle and copy know how."""
    copyreg.pickle(_native.NicParts, _nic_parts)
    copyreg.pickle(_native.CoresMachine, _cores_machine)
