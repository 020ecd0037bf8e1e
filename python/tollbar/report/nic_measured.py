# SPDX-License-Identifier: Apache-2.0
"""What was measured of the NIC paper's comparison: its plan on hosts and on their cards, an MPI beside.

The paper's timing model is fitted to the barriers back to back between 2, 4, 8 and 16 hosts, as far as they
are there. It has a processor and a card for each host. Hosts made of network namespaces have neither: where
more hosts than processors share these, each of its times counts hosts / processors times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import tollbar
from tollbar.data import places, workloads
from tollbar.data.places import Candidate, Here
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval, Ratio
from tollbar.data.workloads import Needed, Place, Run, Workloads
from tollbar.models import nic_fit
from tollbar.models.nic_fit import Fit

PLAN = "pairwise"
#: What the paper calls it -> name here, kind.
HOST, CARD = "HB", "NB"
_WAYS = {HOST: (PLAN, "udp"), CARD: (f"card:{PLAN}", "card")}
MPI_ON_CARD = "MPI on the card"
#: What stands beside them, by the words of a legend.
BESIDE = {
    "gather at a card": ("card:gather", "card"),
    "count in the switch": ("card:switch", "card"),
    MPI_ON_CARD: ("MPI_Barrier [component on cards]", "door"),
    "MPI over TCP": ("MPI_Barrier", "mpi"),
    "MPI's recursive doubling": ("MPI_Barrier [recursive doubling]", "mpi"),
}
#: Under which name candidates.toml has them.
NAMES = {way: name for way, (name, _) in (_WAYS | BESIDE).items()}
LABELS = {HOST: "host-based (HB)", CARD: "on the card (NB)"}
_FITTED = (2, 4, 8, 16)
_DRAWN = 200  # loops of times that vary


def find(way: str, candidates: Iterable[Candidate]) -> Candidate | None:
    """The candidate that is meant by HB, NB or one of BESIDE: as it comes, else asleep."""
    name, kind = _WAYS.get(way) or BESIDE[way]
    named = [each for each in candidates if (each.name, each.kind) == (name, kind) and each.wait != "spin"]
    return min(named, key=lambda each: each.wait != "auto", default=None)


@dataclass(frozen=True)
class Hosts:
    """Barriers back to back, by the number of hosts."""

    there: Mapping[int, Here]

    def found(self, way: str) -> dict[int, tuple[Here, Candidate]]:
        """Where it was measured, and as what."""
        found = {hosts: (here, find(way, here.candidates)) for hosts, here in self.there.items()}
        return {hosts: (here, candidate) for hosts, (here, candidate) in found.items() if candidate}

    def summary(self, way: str, metric: str = "period_ns") -> dict[int, Interval]:
        """CPU time is that of all hosts together for a barrier."""
        found = {
            hosts: here.median(candidate, metric) for hosts, (here, candidate) in self.found(way).items()
        }
        return {hosts: each for hosts, each in found.items() if each}

    def factor(self, way: str = CARD, over: str = HOST) -> dict[int, Ratio]:
        """How many times as long a barrier of `over` takes."""
        ours, theirs = self.found(way), self.found(over)
        found = {
            hosts: here.ratio(theirs[hosts][1], candidate)
            for hosts, (here, candidate) in ours.items()
            if hosts in theirs
        }
        return {hosts: each for hosts, each in found.items() if each}

    @cached_property
    def fit(self) -> Fit | None:
        """The timing model's parameters, where hosts and cards were measured with two numbers of steps."""
        host, card = self.summary(HOST), self.summary(CARD)
        points = [
            nic_fit.Point(hosts, *(each[hosts].value / 1e3 / self._turns(hosts) for each in (host, card)))
            for hosts in _FITTED
            if hosts in host and hosts in card
        ]
        return nic_fit.fit(points) if len(points) > 1 else None

    def modelled_us(self, way: str, hosts: int) -> float | None:
        """HB or NB by the fitted model."""
        return self.modelled_run_us(way, hosts, "0")

    def modelled_run_us(self, way: str, hosts: int, workload: str) -> float | None:
        """One run of all phases of that workload by the fitted model, in the mean."""
        if self.fit is None:
            return None
        compute_us, variation = tollbar.parse_workload(workload)
        runs = max(1, _DRAWN // len(compute_us)) if variation else 1
        outcome = tollbar.simulate_nic(
            tollbar.plan(PLAN, hosts),
            {HOST: "host", CARD: "nic"}[way],
            self.fit.slower_card(self._turns(hosts)),
            compute_us=compute_us,
            variation=variation,
            runs=runs,
        )
        return outcome.last_us / runs

    def off(self) -> list[float]:
        """By which share the model is off from each latency that was measured, the least first."""
        pairs = [
            (modelled_us, 1e-3 * taken.value)
            for way in (HOST, CARD)
            for hosts, taken in self.summary(way).items()
            if (modelled_us := self.modelled_us(way, hosts)) is not None
        ]
        return sorted(abs(modelled_us / us - 1) for modelled_us, us in pairs)

    def _turns(self, hosts: int) -> float:
        processors = max((here.place.usable for here in self.there.values()), default=hosts)
        return max(1.0, hosts / processors)


def of_hosts(found: Samples) -> Hosts:
    """What a run of `tollbar bench nic` has."""
    return Hosts(places.by_ranks(found))


def of_work(work: Mapping[Place, Workloads]) -> dict[int, Workloads]:
    """The workloads over hosts, by their number; pinned before free where there is both."""
    found = {place.ranks: each for place, each in sorted(work.items(), reverse=True) if place.over == "hosts"}
    return dict(sorted(found.items()))


def run_of(found: Workloads, workload: str, way: str) -> Run | None:
    """A workload with HB, NB or one of BESIDE."""
    candidates = found.get(workload, {})
    candidate = find(way, candidates)
    return candidates[candidate] if candidate else None


def needed(found: Workloads, way: str, efficiency: float) -> Needed | None:
    """What has to be computed between barriers for that efficiency."""
    candidate = find(way, {one for by in found.values() for one in by})
    return workloads.needed(workloads.loops_us(found, candidate), efficiency) if candidate else None


def gain(found: Workloads, workload: str) -> Ratio | None:
    """How many times as long the workload takes with HB as with NB."""
    host, card = (run_of(found, workload, way) for way in (HOST, CARD))
    return host.here.ratio(host.candidate, card.candidate, "run_ns") if host and card else None
