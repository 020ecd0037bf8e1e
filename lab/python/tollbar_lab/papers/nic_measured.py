# SPDX-License-Identifier: Apache-2.0
"""Measurements of the NIC paper's comparison: MPI_Barrier by the hosts' messages and on their NICs.

Beside it stand the same exchange without an MPI, at what the paper calls the GM level, and the MPI's own
barrier. The paper's timing model is fitted at each level to the barriers back to back between 2, 4, 8 and 16
hosts, as far as they were measured. It has a processor and a NIC for each host. Hosts made of network
namespaces have neither: where more hosts than processors share these, each of its times counts hosts /
processors times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import tollbar
from tollbar.data import places
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval, Ratio

import tollbar_lab
from tollbar_lab.models import nic_fit, workloads
from tollbar_lab.models.nic_fit import Fit
from tollbar_lab.models.workloads import Needed, Run, Workloads

PLAN = "pairwise"
#: The barriers that the paper measures, as it calls them, and what it has of another paper: the same without an MPI.
HOST, CARD = "HB", "NB"
GM_HOST, GM_CARD = "HB, GM level", "NB, GM level"
OWN = "HB, the MPI's own"
#: HB and NB of each level.
LEVELS = ((HOST, CARD), (GM_HOST, GM_CARD))
#: Series -> name and kind of the candidate.
WAYS = {
    HOST: ("MPI_Barrier [component by messages]", "door"),
    CARD: ("MPI_Barrier [component on cards]", "door"),
    OWN: ("MPI_Barrier", "mpi"),
    GM_HOST: (PLAN, "udp"),
    GM_CARD: (f"card:{PLAN}", "card"),
}
_FITTED = (2, 4, 8, 16)
_DRAWN = 200  # loops of times that vary


def find(way: str, candidates: Iterable[Candidate]) -> Candidate | None:
    """The candidate meant by one of WAYS: as it comes, else asleep; the component, else the preload."""
    name, kind = WAYS[way]
    names = (name, name.replace("component", "preload"))
    named = [other for other in candidates if other.name in names and other.kind == kind and other.wait != "spin"]
    return min(named, key=lambda candidate: (candidate.name != name, candidate.wait != "auto"), default=None)


@dataclass(frozen=True)
class Hosts:
    """Barriers back to back."""

    by_hosts: Mapping[int, Measurements]

    def periods(self, way: str) -> dict[int, Interval]:
        """The loop period by the number of hosts, where that way was measured."""
        periods = {
            hosts: measured.median(find(way, measured.candidates), "period_ns")
            for hosts, measured in self.by_hosts.items()
        }
        return {hosts: period for hosts, period in periods.items() if period}

    def factor(self, level: tuple[str, str] = LEVELS[0]) -> dict[int, Ratio]:
        """The time of the host-based barrier of that level over the NIC-based one's, by the number of hosts."""
        factors = {}
        for hosts, measured in self.by_hosts.items():
            host, card = (find(way, measured.candidates) for way in level)
            if host and card and (factor := measured.ratio(host, card)):
                factors[hosts] = factor
        return factors

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        """The timing model's parameters by level, where both were measured between two numbers of hosts."""
        return {level: fit for level in LEVELS if (fit := self._fit(*level))}

    def _fit(self, by_host: str, on_card: str) -> Fit | None:
        host, card = self.periods(by_host), self.periods(on_card)
        points = [
            nic_fit.Point(hosts, *(periods[hosts].value / 1e3 / self._turns(hosts) for periods in (host, card)))
            for hosts in _FITTED
            if hosts in host and hosts in card
        ]
        return nic_fit.fit(points) if len(points) > 1 else None

    def modelled_us(self, way: str, hosts: int, workload: str = "0") -> float | None:
        """One run of all phases of that workload, or HB or NB alone, by the model fitted to its level."""
        level = next((level for level in self.fits if way in level), None)
        if level is None:
            return None
        compute_us, variation = tollbar.parse_workload(workload)
        runs = max(1, _DRAWN // len(compute_us)) if variation else 1
        outcome = tollbar_lab.simulate_nic(
            tollbar.plan(PLAN, hosts),
            ("host", "nic")[level.index(way)],
            self.fits[level].nic(self._turns(hosts)),
            compute_us=compute_us,
            variation=variation,
            runs=runs,
        )
        return outcome.last_us / runs

    def _turns(self, hosts: int) -> float:
        processors = max((measured.place.processors for measured in self.by_hosts.values()), default=hosts)
        return max(1.0, hosts / processors)


def of_hosts(samples: Samples) -> Hosts:
    """The barriers of a run of `tollbar bench nic`."""
    return Hosts(places.by_ranks(samples))


def of_work(work: Mapping[Situation, Workloads]) -> dict[int, Workloads]:
    """The workloads over hosts, by their number; pinned before free where there is both."""
    by_hosts = {place.ranks: by_name for place, by_name in sorted(work.items(), reverse=True) if place.over == "hosts"}
    return dict(sorted(by_hosts.items()))


def run_of(by_name: Workloads, workload: str, way: str) -> Run | None:
    """A workload with one of WAYS."""
    candidates = by_name.get(workload, {})
    candidate = find(way, candidates)
    return candidates[candidate] if candidate else None


def needed(by_name: Workloads, way: str, efficiency: float) -> Needed | None:
    """The computing between barriers that gives that efficiency."""
    candidate = find(way, {candidate for candidates in by_name.values() for candidate in candidates})
    return workloads.needed(workloads.loops_us(by_name, candidate), efficiency) if candidate else None


def gain(by_name: Workloads, workload: str, level: tuple[str, str] = LEVELS[0]) -> Ratio | None:
    """The time of the workload with HB of that level over that with NB."""
    host, card = (run_of(by_name, workload, way) for way in level)
    return host.measurements.ratio(host.candidate, card.candidate, "run_ns") if host and card else None
