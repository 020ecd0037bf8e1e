# SPDX-License-Identifier: Apache-2.0
"""Measures what cache lines cost between the CPUs of this machine, and makes of it a machine to simulate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tollbar import InvalidArgument, children
from tollbar.columns import column
from tollbar.machine import facts, paths, topology
from tollbar.machine.failure import Failure

import tollbar_lab
from tollbar_lab.models import cores

_LIMIT_S = 120.0  #: for each measurement

#: ns that the program says for a kind and CPUs.
Measure = Callable[[str, Sequence[int]], float]


@dataclass(frozen=True)
class Compared:
    """One thing that was measured, and what the machine made of it gives."""

    what: str = column("one way of a line, add: contended additions, lock: a ticket lock on one line")
    cpus: int = column("threads, each on a core of its own")
    measured_ns: float = column("here")
    simulated_ns: float = column("by the machine that was made of it; a lock's is not fitted")


@dataclass(frozen=True)
class Calibration:
    machine: tollbar_lab.CoresMachine
    rows: list[Compared]


def by_program(kind: str, cpus: Sequence[int]) -> float:
    """Raises FileNotFoundError when the program is not built, Failure when it does not measure."""
    command = [str(paths.program("tollbar-bench-cores")), kind, *map(str, cpus)]
    done = children.run(command, _LIMIT_S)
    if done.exit_code is None:
        raise Failure(f"{_words(command)} has not ended within {_LIMIT_S:g} s")
    if done.exit_code:
        last = done.errors.strip().splitlines()[-1:] or [f"ended with {done.exit_code}"]
        raise Failure(f"{_words(command)}: {last[0]}")
    try:
        return float(done.output)
    except ValueError:
        raise Failure(f"{_words(command)} printed no number") from None


def _words(command: Sequence[str]) -> str:
    return " ".join([os.path.basename(command[0]), *command[1:]])


def measure(ask: Measure = by_program, places: topology.Cpus | None = None) -> Calibration:
    """Raises InvalidArgument where there are not two cores."""
    cpus = places or topology.from_kernel("/", os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise InvalidArgument("two cores are needed, and this process may use one")
    numbers = [cpu for cpu, _ in cpus]
    machine = tollbar_lab.cores_machine("mesh").changed(
        name=facts.processor_model(),
        cores=[place for _, place in cpus][:256],
        numbers={"pause_ns": ask("pause", numbers[:1])},
        clusters_cache=len({cluster for _, (cluster, _) in cpus}) > 1,
    )
    pairs = dict(_pairs(machine.cores))
    rows: list[Compared] = []
    one_way = {key: ask("pair", [numbers[core] for core in pair]) for key, pair in pairs.items()}
    nearest = one_way[min(pairs, key=list(_DISTANCES).index)]
    for key in _DISTANCES:  # a distance that is not here counts for nothing
        pair, measured = pairs.get(key), one_way.get(key, nearest)
        ns = cores.line_ns_for(machine, key, pair, measured) if pair else measured / 2
        machine = machine.changed(numbers={key: ns})
    together = _first_cluster(machine.cores)
    add_ns = ask("add", [numbers[core] for core in range(together)]) if together > 1 else None
    if add_ns is not None:
        machine = machine.changed(numbers={"busy": cores.busy_for(machine, together, add_ns)})
        for key, pair in pairs.items():  # they depend on each other a little
            machine = machine.changed(numbers={key: cores.line_ns_for(machine, key, pair, one_way[key])})
        rows.append(Compared("add", together, add_ns, tollbar_lab.cores_contended_add_ns(machine, together)))
    for key, pair in pairs.items():
        simulated = tollbar_lab.cores_one_way_ns(machine, *pair)
        rows.append(Compared(_DISTANCES[key], 2, one_way[key], simulated))
    for threads in (2, 4, 8, 16, 32, 64, 128):  # not fitted: what the model is worth here
        if threads <= len(numbers):
            measured = ask("lock", numbers[:threads])
            rows.append(Compared("lock", threads, measured, tollbar_lab.cores_polled_add_ns(machine, threads)))
    return Calibration(machine, rows)


#: The numbers that are distances, the nearest first, and what they are called.
_DISTANCES = {
    "cluster_ns": "one way, same cluster",
    "socket_ns": "one way, same socket",
    "second_socket_ns": "one way, second socket",
    "far_ns": "one way, between sockets",
}


def _pairs(places: Sequence[tuple[int, int]]) -> Iterator[tuple[str, tuple[int, int]]]:
    """For each distance two cores that are so far from each other; the last one that is found."""
    for second in range(len(places) - 1, 0, -1):
        for first in (0, second - 1, next((c for c, p in enumerate(places) if p[1] == places[second][1]), 0)):
            if first == second:
                continue
            (cluster, socket), (other, other_socket) = places[first], places[second]
            if cluster == other:
                yield "cluster_ns", (first, second)
            elif socket != other_socket:
                yield "far_ns", (first, second)
            else:
                yield ("socket_ns" if socket == 0 else "second_socket_ns"), (first, second)


def _first_cluster(places: Sequence[tuple[int, int]]) -> int:
    """How many cores from the first on share its cluster, at most 16."""
    together = next((core for core, place in enumerate(places) if place[0] != places[0][0]), len(places))
    return min(together, 16)
