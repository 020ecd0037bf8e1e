# SPDX-License-Identifier: Apache-2.0
"""What the report shows of the NIC paper's comparison: runs of `tollbar bench nic`, also with --workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tollbar.data import workloads
from tollbar.data.samples import Samples
from tollbar.data.workloads import Workloads
from tollbar.report import mpi_figures, nic_figures, nic_figures_work, nic_measured
from tollbar.report.curves import Figure
from tollbar.report.nic_measured import CARD, GM_CARD, GM_HOST, HOST, LEVELS, OWN, Hosts


@dataclass(frozen=True)
class Section:
    machine: str
    model: str | None  #: what was fitted, in words
    rows: list[dict[str, Any]]
    grains: list[dict[str, Any]]
    figures: list[Figure]


def of(barriers: Samples | None, work: Samples | None) -> Section | None:
    """The newest run of barriers, and those of workloads; None where no card was measured."""
    hosts = nic_measured.of_hosts(barriers) if barriers else Hosts({})
    by_hosts = nic_measured.of_work(workloads.gather(work) if work else {})
    if not any(hosts.summary(way) for way in (CARD, GM_CARD)):
        hosts = Hosts({})
    grains = _grains(by_hosts)
    figures = [
        *nic_figures.of_barriers(hosts),
        *nic_figures.of_grains(hosts, by_hosts),
        *nic_figures_work.of_arrival(hosts, by_hosts),
        *nic_figures_work.of_applications(hosts, by_hosts),
    ]
    if not hosts.there and not any(each["card"] for each in grains):
        return None
    facts = next(iter((barriers or work).environments.values()))
    return Section(mpi_figures.machine_text(facts), _model(hosts), _rows(hosts), grains, figures)


def _model(hosts: Hosts) -> str | None:
    told = []
    for level, of in zip(LEVELS, ("MPI_Barrier", "the GM level"), strict=True):
        if fit := hosts.fits.get(level):
            us = {name: f"{term.us:.3g}" for name, term in fit.terms.items()}
            off = [f"{share:.0%}" for share in hosts.off(level)]
            told.append(
                f"of {of} a step costs {us['H']} µs by the host; on the card {us['a']} µs once and "
                f"{us['b']} µs a step. Of {len(off)} latencies it is off by {off[len(off) // 2]} in the "
                f"middle and {off[-1]} at most"
            )
    return "; ".join(told) or None


def _rows(hosts: Hosts) -> list[dict[str, Any]]:
    """So many hosts: their barrier and the card's, shares and factors, an MPI's and the GM level's."""
    times = {way: hosts.summary(way) for way in (HOST, CARD, GM_HOST, GM_CARD)}
    cpu, of_card = (hosts.summary(way, "cpu_ns") for way in (HOST, CARD))
    factors, of_mpi, of_gm = hosts.factor(), hosts.factor(CARD, OWN), hosts.factor(GM_CARD)
    return [
        {
            "hosts": number,
            "host": times[HOST].get(number),
            "card": times[CARD].get(number),
            "factor": factors.get(number),
            "gm_host": times[GM_HOST].get(number),
            "gm_card": times[GM_CARD].get(number),
            "gm_factor": of_gm.get(number),
            "of_cpu": of_card[number].value / cpu[number].value
            if number in of_card and number in cpu and cpu[number].value
            else None,
            "of_mpi": of_mpi.get(number),
        }
        for number in hosts.there
    ]


def _grains(work: Mapping[int, Workloads]) -> list[dict[str, Any]]:
    """What has to be computed between so many hosts' barriers for an efficiency."""
    found = [
        {"hosts": number, "efficiency": share}
        | {name: nic_measured.needed(each, way, share) for name, way in (("host", HOST), ("card", CARD))}
        for number, each in work.items()
        for share in nic_figures.EFFICIENCIES.values()
    ]
    return [each for each in found if each["host"] or each["card"]]
