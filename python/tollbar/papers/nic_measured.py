# SPDX-License-Identifier: Apache-2.0
"""What was measured of the NIC paper's comparison: MPI_Barrier by the hosts' messages and on their cards.

Beside it stand the same exchange without an MPI, at what the paper calls the GM level, and the MPI's own
barriers. The paper's timing model is fitted at each level to the barriers back to back between 2, 4, 8 and 16
hosts, as far as they are there. It has a processor and a card for each host. Hosts made of network namespaces
have neither: where more hosts than processors share these, each of its times counts hosts / processors times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import tollbar
from tollbar.data import places, workloads
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval, Ratio
from tollbar.data.workloads import Needed, Run, Workloads
from tollbar.models import nic_fit
from tollbar.models.nic_fit import Fit

PLAN = "pairwise"
#: What the paper measures, as it calls that, and what it has of another paper: the same without an MPI.
HOST, CARD = "HB", "NB"
GM_HOST, GM_CARD = "HB, GM level", "NB, GM level"
LEVELS = ((HOST, CARD), (GM_HOST, GM_CARD))
OWN = "HB, the MPI's own"
#: What stands beside them without an MPI.
_GM_BESIDE = {"gather at a card": ("card:gather", "card"), "count in the switch": ("card:switch", "card")}
#: Series -> name here, kind.
_WAYS = {
    HOST: ("MPI_Barrier [component by messages]", "door"),
    CARD: ("MPI_Barrier [component on cards]", "door"),
    GM_HOST: (PLAN, "udp"),
    GM_CARD: (f"card:{PLAN}", "card"),
    **_GM_BESIDE,
    OWN: ("MPI_Barrier", "mpi"),
    "HB, the MPI's recursive doubling": ("MPI_Barrier [recursive doubling]", "mpi"),
}
#: Those that are not called by MPI_Barrier.
BELOW_MPI = (GM_HOST, GM_CARD, *_GM_BESIDE)
_FITTED = (2, 4, 8, 16)
_DRAWN = 200  # loops of times that vary


def find(way: str, candidates: Iterable[Candidate]) -> Candidate | None:
    """The candidate meant by one of WAYS: as it comes, else asleep; the component, else the preload."""
    name, kind = _WAYS[way]
    names = (name, name.replace("component", "preload"))
    named = [each for each in candidates if each.name in names and each.kind == kind and each.wait != "spin"]
    return min(named, key=lambda each: (each.name != name, each.wait != "auto"), default=None)


@dataclass(frozen=True)
class Hosts:
    """Barriers back to back, by the number of hosts."""

    there: Mapping[int, Measurements]

    def by_hosts(self, way: str) -> dict[int, tuple[Measurements, Candidate]]:
        """Where it was measured, and as what."""
        found = {hosts: (here, find(way, here.candidates)) for hosts, here in self.there.items()}
        return {hosts: (here, candidate) for hosts, (here, candidate) in found.items() if candidate}

    def summary(self, way: str, metric: str = "period_ns") -> dict[int, Interval]:
        """CPU time is that of all hosts together for a barrier."""
        found = {hosts: here.median(candidate, metric) for hosts, (here, candidate) in self.by_hosts(way).items()}
        return {hosts: each for hosts, each in found.items() if each}

    def factor(self, way: str = CARD, over: str | None = None) -> dict[int, Ratio]:
        """How many times as long a barrier of `over` takes: by default the host-based one of that level."""
        over = over or (GM_HOST if way in BELOW_MPI else HOST)
        ours, theirs = self.by_hosts(way), self.by_hosts(over)
        found = {
            hosts: here.ratio(theirs[hosts][1], candidate)
            for hosts, (here, candidate) in ours.items()
            if hosts in theirs
        }
        return {hosts: each for hosts, each in found.items() if each}

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        """The timing model's parameters by level, where both were measured with two numbers of steps."""
        return {level: fit for level in LEVELS if (fit := self._fit(*level))}

    def _fit(self, by_host: str, on_card: str) -> Fit | None:
        host, card = self.summary(by_host), self.summary(on_card)
        points = [
            nic_fit.Point(hosts, *(each[hosts].value / 1e3 / self._turns(hosts) for each in (host, card)))
            for hosts in _FITTED
            if hosts in host and hosts in card
        ]
        return nic_fit.fit(points) if len(points) > 1 else None

    def modelled_us(self, way: str, hosts: int) -> float | None:
        """HB or NB of either level by the model that is fitted to it."""
        return self.modelled_run_us(way, hosts, "0")

    def modelled_run_us(self, way: str, hosts: int, workload: str) -> float | None:
        """One run of all phases of that workload by the fitted model, in the mean."""
        level = next((each for each in self.fits if way in each), None)
        if level is None:
            return None
        compute_us, variation = tollbar.parse_workload(workload)
        runs = max(1, _DRAWN // len(compute_us)) if variation else 1
        outcome = tollbar.simulate_nic(
            tollbar.plan(PLAN, hosts),
            ("host", "nic")[level.index(way)],
            self.fits[level].slower_card(self._turns(hosts)),
            compute_us=compute_us,
            variation=variation,
            runs=runs,
        )
        return outcome.last_us / runs

    def off(self, level: tuple[str, str] = LEVELS[0]) -> list[float]:
        """By which share the model is off from each latency that was measured, the least first."""
        pairs = [
            (modelled_us, 1e-3 * taken.value)
            for way in level
            for hosts, taken in self.summary(way).items()
            if (modelled_us := self.modelled_us(way, hosts)) is not None
        ]
        return sorted(abs(modelled_us / us - 1) for modelled_us, us in pairs)

    def _turns(self, hosts: int) -> float:
        processors = max((measured.place.processors for measured in self.there.values()), default=hosts)
        return max(1.0, hosts / processors)


def of_hosts(samples: Samples) -> Hosts:
    """What a run of `tollbar bench nic` has."""
    return Hosts(places.by_ranks(samples))


def of_work(work: Mapping[Situation, Workloads]) -> dict[int, Workloads]:
    """The workloads over hosts, by their number; pinned before free where there is both."""
    found = {place.ranks: each for place, each in sorted(work.items(), reverse=True) if place.over == "hosts"}
    return dict(sorted(found.items()))


def run_of(found: Workloads, workload: str, way: str) -> Run | None:
    """A workload with one of WAYS."""
    candidates = found.get(workload, {})
    candidate = find(way, candidates)
    return candidates[candidate] if candidate else None


def needed(found: Workloads, way: str, efficiency: float) -> Needed | None:
    """What has to be computed between barriers for that efficiency."""
    candidate = find(way, {one for by in found.values() for one in by})
    return workloads.needed(workloads.loops_us(found, candidate), efficiency) if candidate else None


def gain(found: Workloads, workload: str, level: tuple[str, str] = LEVELS[0]) -> Ratio | None:
    """How many times as long the workload takes with HB as with NB of that level."""
    host, card = (run_of(found, workload, way) for way in level)
    return host.here.ratio(host.candidate, card.candidate, "run_ns") if host and card else None
