# SPDX-License-Identifier: Apache-2.0
"""Jobs of which hosts other than this one know: of Slurm, on hosts that are named, and behind a launcher."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tollbar import _native
from tollbar.cli import concluded
from tollbar.cli.errors import Ended, NotPermitted, WrongUse
from tollbar.cli.table import Table
from tollbar.look import hosts, processes
from tollbar.look.facts import Facts
from tollbar.machine import hostnames, slurm

_ON_HOST = (sys.executable, "-m", "tollbar.look.on_host")
#: Connections of ssh at a time; more hosts are reached by clush, in a tree.
_MOST_BY_SSH = 64


def of_job(name: str, programs: Sequence[str]) -> Table:
    """The table of a job of Slurm, or of a step of it; of the programs of those names alone, where there are any."""
    _check(programs)
    try:
        return _of_slurm(slurm.job(name), programs)
    except (slurm.SlurmError, ValueError) as error:
        raise WrongUse(str(error)) from None


def of_hosts(nodeset: str, programs: Sequence[str]) -> Table:
    """The table of the programs of those names on those hosts; of this user's ranks of an MPI where there is none."""
    _check(programs)
    try:
        there = hostnames.expanded(nodeset)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return _table(_by_names(there), {"job": "", "step": "", "names": list(programs)}, {})


def _check(programs: Sequence[str]) -> None:
    if any(map(processes.is_number, programs)):
        raise WrongUse("give the name of a program: the number of a process is another one's on each host")


def of_launcher(words: Sequence[str]) -> Table | None:
    """The table of the job of a launcher among these that has ranks on other hosts; None where all that can be found
    out is here."""
    there = processes.everything()
    wanted = [number for word in words for number in processes.meant(word, there)]
    if not processes.launchers(wanted, there):
        return None
    try:
        job = _behind(wanted, there)
    except slurm.SlurmError:  # as where srun is of no cluster that answers
        return None
    return _of_slurm(job) if job else None


def _behind(wanted: Sequence[int], there: dict[int, processes.Process]) -> slurm.Job | None:
    """The job of Slurm whose ranks an srun among these has started: its step; all of the job where that srun is below
    another launcher, which has started ranks here, too."""
    for number in wanted:
        started = [number, *processes.below(number, there)]
        for srun in processes.launchers(started, there):
            # A part of srun's is a process of its own.
            if srun.name == "srun" and (job := slurm.of_srun(srun.number) or slurm.of_srun(srun.parent)):
                return job if srun.number == number else slurm.job(job.number)
    return None


def _of_slurm(job: slurm.Job, programs: Sequence[str] = ()) -> Table:
    environment = slurm.environment()
    if not job.reached:
        raise NotPermitted(f"no host of job {job.number} can be reached: {next(iter(job.down.values()))}")
    ways = [hosts.Way(part.hosts, functools.partial(slurm.command, job, part.group, _ON_HOST), environment)
            for part in job.reached]  # fmt: skip
    table = _table(ways, {"job": job.number, "step": job.step, "names": list(programs)}, job.down)
    if not table.rows and not table.unknown:
        raise Ended(f"job {job.name} has no processes that can be seen")
    return table


def _table(ways: Sequence[hosts.Way], question: dict[str, Any], unreachable: dict[str, str]) -> Table:
    try:
        answers = hosts.ask(ways, question)
    except OSError as error:
        raise NotPermitted(f"{ways[0].command(())[0]} cannot be run: {error.strerror}") from None
    silent = {**answers.silent, **unreachable}
    if not answers.facts:
        lines = concluded.not_answered(silent)
        raise NotPermitted(lines[0] + (f"; and {len(lines) - 1} more reasons" if lines[1:] else ""))
    numbers = Counter(rank for own in answers.facts for rank, _ in own.rank_of.values())
    twice = next((rank for rank, count in numbers.items() if count > 1), None)
    if twice is not None:
        raise WrongUse(f"there are several jobs: {numbers[twice]} processes are rank {twice}; name one of them")
    if question["names"] and not silent and not any(own.seen.threads for own in answers.facts):
        raise Ended(f"no process is called {' or '.join(question['names'])} on these hosts")
    everything = not question["names"] and not question["job"]
    all_hosts = bool(question["job"]) and not question["names"]  # hosts that somebody names may be some of a job's
    calls = () if silent else _calls(answers.facts)
    return concluded.table_of(answers.facts, calls, everything, silent, all_hosts)


def _calls(facts: Sequence[Facts]) -> list[_native.Missing]:
    """The conclusions from what ranks of all these hosts tell of their calls; none where some have moved meanwhile, or
    keep no account: what they do is not known then."""
    texts = [rows for own in facts for rows in own.rows]
    if not all(texts) or any(own.rank_of and not own.rows for own in facts):
        return []
    try:
        rows = [_native.Rows(one) for one in texts]
    except ValueError:
        return []
    return [line for line in _native.conclude([(one, 0.0, True) for one in rows], tells_time=False) if line.named]


def _by_names(there: Sequence[str]) -> list[hosts.Way]:
    """The ways to hosts that no batch system has given: ClusterShell's command, which has a tree and what the site has
    configured, else a connection to each."""
    path = os.environ.get("PYTHONPATH")
    words = [*([f"PYTHONPATH={path}"] if path else []), *_ON_HOST]
    command = shlex.join(["env", *words] if path else words)
    if importlib.util.find_spec("ClusterShell"):
        clush = [sys.executable, "-m", "ClusterShell.CLI.Clush"]
    elif shutil.which("clush"):
        clush = ["clush"]
    elif shutil.which("ssh") is None:
        raise WrongUse("there is neither clush (ClusterShell) nor ssh in PATH: remedy: pip install ClusterShell")
    elif len(there) > _MOST_BY_SSH:
        raise WrongUse(f"{len(there)} hosts are too many for ssh alone: pip install ClusterShell, which has a tree")
    else:
        return [hosts.Way([host], lambda own: ["ssh", "-o", "BatchMode=yes", "--", *own, command]) for host in there]
    return [hosts.Way(there, lambda some: [*clush, "-w", ",".join(some), "-f", str(len(some)), command])]
