# SPDX-License-Identifier: Apache-2.0
"""Barriers between the ranks of a cluster that SimGrid simulates: its platform, its settings, and a run.

The program tollbar-simulate-cluster has the transport of every MPI inside; this module gives it a network.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import tollbar
from tollbar.machine import paths

PROGRAM = "tollbar-simulate-cluster"

_EXAMPLES = Path(__file__).resolve().parent / "platforms"

_PRECISION_S = 1e-12
_DIGITS_US = 6  # what that leaves of a microsecond

#: The settings that make SimGrid's network that of LogP: a link only delays, and nothing but messages takes time.
_SETTINGS = {
    "network/model": "CM02",
    "network/latency-factor": 1,
    "network/bandwidth-factor": 1,
    "network/TCP-gamma": 0,
    "network/weight-S": 0,
    "network/crosstraffic": 0,
    "smpi/async-small-thresh": 65536,
    "smpi/send-is-detached-thresh": 65536,
    "smpi/simulate-computation": "no",
    "smpi/wtime": 0,
    "smpi/test": 0,
    "smpi/iprobe": 0,
    "surf/precision": _PRECISION_S,
    "contexts/stack-size": 256,
}

# A route has two links. Their bandwidth is such that the size of messages does not matter.
_LOGP_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="cluster" prefix="host" suffix="" radical="0-{last}" speed="1Gf"
             bw="1000000000GBps" lat="{half!r}us"/>
  </zone>
</platform>
"""


class Refused(ValueError):
    """The platform or the number of ranks is not for SimGrid; the text is SimGrid's own."""


@dataclass(frozen=True)
class Episode:
    """One episode of a plan, which all ranks entered together."""

    plan: str
    last_us: float
    first_us: float
    mean_us: float
    cpu_s: float  #: what simulating it took of this machine
    memory_mb: float  #: the most the program had so far


@dataclass(frozen=True)
class Simulated:
    """The episodes of all plans between so many ranks of a platform."""

    latency_us: float  #: mean latency of the routes between the hosts
    episodes: list[Episode]


#: Called with the plan that is simulated and how much of it is done, from 0 to 1.
Watch = Callable[[str, float], None]


def example_platforms() -> list[str]:
    """The names of the platforms that come with tollbar."""
    return sorted(path.stem for path in _EXAMPLES.glob("*.xml"))


def platform_file(name: str) -> Path:
    """An example's file, or the file of that name."""
    return _EXAMPLES / f"{name}.xml" if name in example_platforms() else Path(name)


def logp_platform(ranks: int, latency_us: float) -> str:
    """A platform on which every host is as far from every other."""
    return _LOGP_PLATFORM.format(last=ranks - 1, half=latency_us / 2)


def settings(logp: tollbar.LogP, platform: str) -> dict[str, Any]:
    """SimGrid's settings for messages of its overheads; those of the platform's own <config> are left out."""
    overheads_us = {"os": logp.o_s, "ois": logp.o_s, "or": logp.o_r}
    overhead = {f"smpi/{name}": f"0:{us / 1e6!r}:0" for name, us in overheads_us.items()}
    own = set(_configured(platform))
    return {name: value for name, value in {**_SETTINGS, **overhead}.items() if name not in own}


def _configured(platform: str) -> Iterator[str]:
    try:
        root = ElementTree.fromstring(platform)
    except ElementTree.ParseError:  # SimGrid says it better
        return
    for prop in root.iterfind("config/prop"):
        yield prop.get("id", "")


def simulate(
    plans: Sequence[str], ranks: int, logp: tollbar.LogP, platform: Path | None = None, watch: Watch | None = None
) -> Simulated:
    """One episode of each plan. Without a platform the network is LogP's; with one, it says how long messages
    are under way, and `logp` only their overhead and gap.

    Raises Refused for what SimGrid rejects, FileNotFoundError where the program or the platform is not there.
    """
    program = paths.program(PROGRAM)
    text = platform.read_text(encoding="utf-8") if platform else logp_platform(ranks, logp.L)
    gap_us = max(0.0, logp.g - logp.o)
    words = [f"{name}:{value}" for name, value in settings(logp, text).items()]
    arguments = [ranks, repr(gap_us), *plans, *words]
    if platform:  # what the file names lies beside it
        return _run([program.absolute(), platform.name, *arguments], platform.absolute().parent, watch)
    with tempfile.TemporaryDirectory(prefix="tollbar-") as folder:
        file = Path(folder) / "logp.xml"
        file.write_text(text, encoding="utf-8")
        return _run([program.absolute(), file.name, *arguments], file.parent, watch)


def _run(command: Sequence[object], folder: Path, watch: Watch | None) -> Simulated:
    latency_us, episodes = 0.0, []
    with (
        tempfile.TemporaryFile("w+", errors="replace") as complaints,
        subprocess.Popen(
            [*map(str, command)], cwd=folder, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8"
        ) as job,
    ):
        try:
            assert job.stdout is not None
            for line in job.stdout:
                record = json.loads(line)
                kind = record.pop("kind")
                if kind == "platform":
                    latency_us = record["latency_us"]
                elif kind == "plan":
                    episodes.append(_episode(record))
                elif watch:
                    watch(record["plan"], record["done"])
        except BaseException:
            job.kill()
            job.wait()  # Popen itself waits only a quarter of a second after an interrupt
            raise
        if job.wait() == -signal.SIGINT:
            raise KeyboardInterrupt
        if job.returncode != 0:
            complaints.seek(0)
            raise Refused(_complaint(complaints.read(), job.returncode))
    return Simulated(latency_us, episodes)


def _episode(record: dict[str, Any]) -> Episode:
    times = {name: round(record[name], _DIGITS_US) for name in ("last_us", "first_us", "mean_us")}
    return Episode(record["plan"], **times, cpu_s=record["cpu_s"], memory_mb=record["memory_mb"])


def _complaint(stderr: str, status: int) -> str:
    """SimGrid's message, without time stamps, places in its source and what it prints besides."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    critical = [line for line in lines if "/CRITICAL]" in line]
    if critical:
        return critical[-1].partition("/CRITICAL]")[2].strip()
    if status < 0:
        return f"it broke down ({signal.Signals(-status).name}); is there a route between any two hosts?"
    return lines[0] if lines else f"it ended with status {status} and said nothing"
