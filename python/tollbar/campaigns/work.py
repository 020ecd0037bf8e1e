# SPDX-License-Identifier: Apache-2.0
"""Campaigns of `tollbar bench --compute`: ranks that compute between barriers, over what work_over has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings, work_over
from tollbar.campaigns import shmem as shmem_campaign
from tollbar.campaigns import udp as udp_campaign
from tollbar.campaigns.campaign import LIMIT_S, Campaign, NotHere, Request, Start
from tollbar.campaigns.work_over import Over

#: The workloads of Buntinas et al., sections 4.3 (fine loops), 4.4 (varying arrival) and 4.5 (applications).
FINE = ("0", "1.5", "4.5", "8.25", "17.25", "33.75", "64.5", "129.75")
VARYING = tuple(f"{us}{share}" for us in (64, 256, 1024, 4096) for share in ("", "~0.05", "~0.1", "~0.2", "~0.5"))
APPLICATIONS = ("360us", "2100us", "9450us")
WORKLOADS = (*FINE, *VARYING, *APPLICATIONS)
#: Figures 8 and 9 have so many hosts, and Figure 10; Figures 6 and 7 need loops that do not vary between all.
VARYING_HOSTS, APPLICATION_HOSTS = 16, 8
#: This application is shown against the number of hosts.
_EVERYWHERE = APPLICATIONS[0]
#: Enough of them for every figure.
QUICK = (
    "0", "1.5", "17.25", "64.5", "129.75",
    *(f"{us}{share}" for us in (64, 256, 1024, 4096) for share in ("", "~0.1", "~0.2")), *APPLICATIONS,
)  # fmt: skip

#: Seconds that a launch may take in which much is computed.
_LONG_LIMIT_S = 7200


class Where(NamedTuple):
    over: str
    placement: str
    ranks: int


@contextlib.contextmanager
def prepared(bench: str, request: Request) -> Iterator[tuple[Working, list[str]]]:
    """The work over what that bench measures, for as long as it takes, and what of it is not available."""
    if bench == "mpi":
        known, notes = mpi_settings.programs(mpi_campaign.chosen(request.mpis, full=request.full))
        jobs = [work_over.of_mpi(mpi, program) for mpi, program in mpi_settings.some(known, notes).items()]
        yield Working(request, jobs), notes
    elif bench == "shmem":
        if why := shmem_campaign.why_not():
            raise NotHere(f"OpenSHMEM is not measured: {why}")
        yield Working(request, [work_over.of_pes()]), []
    else:
        mpi, why = udp_campaign.open_mpi()
        with udp_campaign.on_hosts(max(request.ranks)) as (hosts, notes):
            # A job on many hosts takes long to start.
            own = work_over.OF_MPI if request.runs or request.episodes else work_over.OF_MPI[:1]
            yield Working(request, work_over.of_hosts(hosts, request.nics, mpi, own)), notes + ([why] if why else [])


class Working(Campaign):
    """Runs of workloads with each barrier."""

    kind = "work"

    def __init__(self, request: Request, over: Sequence[Over]) -> None:
        super().__init__(request)
        self._over = over

    @property
    def situations(self) -> list[Where]:
        return list(
            dict.fromkeys(
                Where(over.name, placement, ranks)
                for over in self._over
                for ranks in self.request.ranks
                for placement in self.request.placements or (over.placement(ranks),)
            )
        )

    def facts(self) -> dict[str, Any]:
        over = list(dict.fromkeys(one.name for one in self._over))
        hosts = max(self.request.ranks) if "hosts" in over else 1
        return {"over": over, "hosts": hosts, "workloads": list(self.request.workloads)}

    def say(self, situation: Where) -> str:
        return f"{situation.ranks} ranks over {situation.over}, {situation.placement}"

    def programs(self, situation: Where) -> list[str]:
        return [over.program for over in self._over if over.name == situation.over]

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        over = next(one for one in self._over if (one.name, one.program) == (situation.over, program))
        runs = self.request.episodes or -(-self.request.runs // self.request.launches)
        limit_s = _LONG_LIMIT_S if self.request.full or runs else LIMIT_S
        command = [*over.command(situation.ranks)]
        command += ["--placement", situation.placement, "--rounds", str(rounds), "--seed", str(seed)]
        names = (over.takes_names and self.request.only) or over.usual
        command += ["--only", ",".join(names)]
        command += ["--workload", ",".join(self._workloads(situation.ranks))]
        if runs:
            command += ["--runs", str(runs)]
        elif self.request.batch_us:
            command += ["--batch-us", str(self.request.batch_us)]
        return Start(command, self.environment(), limit_s)

    def _workloads(self, hosts: int) -> list[str]:
        return [workload for workload in self.request.workloads if self._is_shown(workload, hosts)]

    def _is_shown(self, workload: str, hosts: int) -> bool:
        """Whether a figure of the paper has it between so many hosts, or they are the nearest to those."""
        if not self.request.as_printed or workload == _EVERYWHERE:
            return True
        if workload in APPLICATIONS:
            printed = APPLICATION_HOSTS
        elif "~" in workload:
            printed = VARYING_HOSTS
        else:
            return True
        return hosts == min(self.request.ranks, key=lambda number: abs(number - printed))
