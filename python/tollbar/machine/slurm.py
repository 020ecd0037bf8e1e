# SPDX-License-Identifier: Apache-2.0
"""A job of Slurm: its hosts, its steps, and the command by which Slurm runs another one on each of its hosts."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tollbar.machine import hostnames

_JOB = re.compile(r"(\d+(?:_\d+|\+\d+)?)(?:\.(\d+))?")
_LIMIT_S = 30.0
_LOOK = "tollbar-who"  #: the name of a step that looks
#: States in which a step can be started beside those of a job.
_ALIVE = ("RUNNING",)
#: States of a node on which no step can be started; one that does not respond has an asterisk.
_GONE = ("down", "drained", "fail", "failing", "powered_down", "powering_down", "unknown")


class SlurmError(Exception):
    """Why Slurm does not lead to the job, in one line."""


@dataclass(frozen=True)
class Part:
    """Hosts on which one step can be started."""

    hosts: tuple[str, ...]
    group: str = ""  #: its number in a job of several parts


@dataclass(frozen=True)
class Job:
    number: str  #: Slurm's own, also of a task of an array
    step: str  #: empty: all of it
    parts: tuple[Part, ...]
    down: dict[str, str]  #: hosts that Slurm does not reach, and why

    @property
    def name(self) -> str:
        return self.number + (f".{self.step}" if self.step else "")

    @property
    def reached(self) -> list[Part]:
        """Its parts without those hosts."""
        parts = (Part(tuple(host for host in part.hosts if host not in self.down), part.group) for part in self.parts)
        return [part for part in parts if part.hosts]


def is_here() -> bool:
    return shutil.which("srun") is not None


def has_started(variables: Mapping[str, str]) -> bool:
    """Whether srun has started the process with this environment: it is a rank of an MPI, or below one."""
    step = f"{variables.get('SLURM_JOB_ID')}.{variables.get('SLURM_STEP_ID')}"
    return variables.get("PMIX_NAMESPACE", "").startswith("slurm.pmix.") or variables.get("PMI_JOBID") == step


def job(text: str) -> Job:
    """The job `4711`, or `4711_3` of an array, or its step `.0`; of `4711+1` all parts. Raises SlurmError."""
    match = _JOB.fullmatch(text)
    if not match:
        raise SlurmError(f"{text} is no job of Slurm, such as 4711 or 4711.0")
    if not is_here():
        raise SlurmError("there is no srun in PATH: look from a host that submits jobs, or name the hosts (--hosts)")
    name, step = match[1], match[2] or ""
    rows = [row for row in _rows(["squeue", "--noheader", "--jobs", name, "--format", "%A|%i|%T|%U|%u|%N"])
            if len(row) == 6 and name in (row[0], row[1], re.split(r"[_+]", row[1])[0])]  # fmt: skip
    if not rows:
        raise SlurmError(f"job {name} is over, or there never was one")
    if len(rows) > 1 and not all("+" in row[1] for row in rows):
        raise SlurmError(f"job {name} is several: name one of {', '.join(sorted(row[1] for row in rows))}")
    number, own, state, owner, user, _ = rows[0]
    if owner != str(os.geteuid()) and os.geteuid() != 0:
        raise SlurmError(f"job {name} is of another user, {user}: look as that user or as root")
    if state not in _ALIVE or not all(row[5] for row in rows):
        raise SlurmError(f"job {name} is {state.lower()}: no look can be started there")
    first, _, group = own.partition("+")
    if "+" in name:  # its processes, and all that they wait for, are of the first part's job
        return job(first + (f".{step}" if step else ""))
    number = first if group else number
    _check_step(name, number, step)
    return _on(number, step, [(row[5], row[1].partition("+")[2]) for row in rows])


def _check_step(name: str, number: str, step: str) -> None:
    """That there is that step, or no more than one is meant."""
    rows = _rows(["squeue", "--noheader", "--steps", "--jobs", number, "--format", "%i|%j"])
    steps = (row[0].rpartition(".")[2] for row in rows if row[1:] != [_LOOK])
    numbered = list(dict.fromkeys(one for one in steps if one.isdigit()))
    if step and step not in numbered:
        raise SlurmError(f"job {name} has no step {step}" + (f", but {', '.join(numbered)}" if numbered else ""))
    if not step and len(numbered) > 1:
        raise SlurmError(f"job {name} has several steps: name one of {', '.join(f'{name}.{one}' for one in numbered)}")


def _on(number: str, step: str, parts: Sequence[tuple[str, str]]) -> Job:
    """The job on these hosts, by the number of each part."""
    nodes = ",".join(nodes for nodes, _ in parts)
    states = _rows(["sinfo", "--noheader", "--Node", "--nodes", nodes, "--format", "%N|%T"])
    down = {
        host: f"Slurm says that it is {state.rstrip('*')}" + (", and does not respond" if state.endswith("*") else "")
        for host, state in states
        if state.endswith("*") or state in _GONE
    }
    return Job(number, step, tuple(Part(tuple(hostnames.expanded(own)), group) for own, group in parts), down)


def of_srun(process: int) -> Job | None:
    """The job and step that this srun of this host has started; None: none of its is running."""
    if not is_here():
        return None
    own = (socket.gethostname(), socket.gethostname().partition(".")[0])
    steps: list[tuple[str, str, str]] = []
    for line in _said(["scontrol", "--oneliner", "show", "step"]).splitlines():
        of = re.match(r"StepId=(\d+)\.(\d+) ", line)
        nodes = re.search(r" NodeList=(\S+) ", line)
        by = re.search(r" SrunHost:Pid=(\S+):(\d+)", line)
        if of and nodes and by and int(by[2]) == process and by[1] in own:
            steps.append((of[1], of[2], nodes[1]))
    if not steps:
        return None
    number, step, _ = steps[0]
    several = len(steps) > 1  # parts of one job, each with a number of its own
    return _on(number, step, [(nodes, str(at) if several else "") for at, (_, _, nodes) in enumerate(steps)])


def command(job: Job, group: str, words: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """The command that runs another one once on each of those hosts of a part, beside what the job runs there."""
    count = len(hosts)
    start = [
        "srun", f"--jobid={job.number}", *([f"--het-group={group}"] if group else []), "--overlap",
        f"--job-name={_LOOK}", f"--nodelist={','.join(hosts)}", f"--nodes={count}", f"--ntasks={count}",
        "--ntasks-per-node=1", "--cpus-per-task=1", "--mpi=none", "--label", "--kill-on-bad-exit=0",
        "--wait=0", "--input=all",
    ]  # fmt: skip
    return [*start, *words]


def environment() -> dict[str, str]:
    """That of this process, without what it has of a job of its own."""
    own = ("SLURM_", "SRUN_", "SBATCH_", "PMI_", "PMIX_")
    return {name: value for name, value in os.environ.items() if name == "SLURM_CONF" or not name.startswith(own)}


def _rows(words: Sequence[str]) -> list[list[str]]:
    return [line.strip().split("|") for line in _said(words).splitlines() if line.strip()]


def _said(words: Sequence[str]) -> str:
    """The output of a command of Slurm's; empty for a job that is not known. Raises SlurmError without an answer."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{words[0]} has not answered within {_LIMIT_S:g} s") from None
    except OSError as error:
        raise SlurmError(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode and "Invalid job id" not in done.stderr and "Invalid node name" not in done.stderr:
        said = (done.stderr.strip() or f"it ended with {done.returncode}").splitlines()[-1]
        raise SlurmError(f"{words[0]}: {said}")
    return done.stdout
