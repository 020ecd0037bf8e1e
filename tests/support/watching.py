# SPDX-License-Identifier: Apache-2.0
"""Jobs whose calls are watched, and the lines that say for whom they wait."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from mpi_jobs import Door
from needs import left_out
from tollbar.machine import doors, paths

RANKS = 4
ODD = 2
HOST = re.escape(socket.gethostname())
REPORT = re.compile(
    r"tollbar: (?P<name>.+?) \((?P<ranks>\d+) ranks\), (?P<call>MPI_\w+)(?P<number> \d+)?"
    r"(?: from rank \d+ \(tag 9\))? at (?P<site>\S+): "
    rf"rank (?P<teller>\d+) on {HOST} has waited (?P<waited>\d+\.\d) s(?P<how>[^:]*): (?P<who>.*)\n"
)
MISSING = rf"rank {ODD} \(host {HOST}, process (\d+)\) has not come: it is "


def library(door: Door) -> Path:
    interface_of = {preload: interface for interface, preload in doors.PRELOADS.items()}
    name = doors.WATCHES[interface_of.get(door.library.name, door.mpi.interface)]
    return paths.find_library(name) or left_out(f"{name} is not built")


def opened(door: Door, *others: Path, before: tuple[Path, ...] = ()) -> list[str]:
    own = [] if door.name == "component" else [door.library]
    return ["env", "LD_PRELOAD=" + ":".join(map(str, [*before, library(door), *own, *others]))]


def reports(job) -> list[dict[str, str]]:
    return [found.groupdict() for found in REPORT.finditer(job.said())]


def first_report(job) -> dict[str, str]:
    job.await_that(lambda: reports(job), "the report")
    return reports(job)[0]
