# SPDX-License-Identifier: Apache-2.0
"""Sends native values to other processes, and copies them: by what makes them again."""

from __future__ import annotations

import copyreg
from typing import Any

from tollbar import _native

_PARTS = ("send_us", "sdma_us", "xmit_us", "network_us", "recv_us", "rdma_us", "hrecv_us", "mpi_us")


def _parsed(name: str, words: str) -> _native.Plan:
    return _native.parse_plan(name, words)


def _plan(plan: _native.Plan) -> Any:
    return _parsed, (plan.name, plan.text)


def _logp(logp: _native.LogP) -> Any:
    o_r = None if logp.o_r == logp.o else logp.o_r
    return _native.LogP, (logp.L, logp.o, logp.g, o_r)


def _family(name: str) -> _native.Algorithm:
    return next(family for family in _native.catalogue() if family.name == name)


def _algorithm(family: _native.Algorithm) -> Any:
    return _family, (family.name,)


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
    copyreg.pickle(_native.Plan, _plan)
    copyreg.pickle(_native.LogP, _logp)
    copyreg.pickle(_native.Algorithm, _algorithm)
    copyreg.pickle(_native.NicParts, _nic_parts)
    copyreg.pickle(_native.CoresMachine, _cores_machine)
