# SPDX-License-Identifier: Apache-2.0
"""Jobs whose calls are watched, and the lines that say for whom they wait."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from code_places import PLACE
from mpi_jobs import Door
from needs import left_out
from tollbar import _native
from tollbar.machine import doors, paths

RANKS = 4
ODD = 2
HOST = re.escape(socket.gethostname())
REPORT = re.compile(
    r"tollbar: (?P<name>.+?) \((?P<ranks>\d+) ranks\), (?P<call>MPI_\w+)(?P<number> \d+)?"
    rf"(?: from rank \d+ \(tag 9\))? at (?P<site>{PLACE}): "
    rf"rank (?P<teller>\d+) on {HOST} has waited (?P<waited>\d+\.\d) s(?P<how>.*?): (?P<who>.*)\n"
)
MISSING = rf"rank {ODD} \(host {HOST}, process (\d+)\) has not come: it is "


def library(door: Door) -> Path:
    if door.name != "component":
        return door.library
    name = doors.PRELOADS[door.mpi.interface]
    return paths.find_library(name) or left_out(f"{name} is not built")


def opened(door: Door, *others: Path, before: tuple[Path, ...] = ()) -> list[str]:
    return ["env", "LD_PRELOAD=" + ":".join(map(str, [*before, library(door), *others]))]


def reports(job) -> list[dict[str, str]]:
    return [found.groupdict() for found in REPORT.finditer(job.said())]


def first_report(job) -> dict[str, str]:
    job.await_that(lambda: reports(job), "the report")
    return reports(job)[0]


def end_well(job) -> None:
    job.tell(1)
    outcome = job.finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said
    lines = [line for line in outcome.said.splitlines() if "tollbar: " in line]
    assert all(" has waited " in line for line in lines), lines  # nothing else was amiss
    assert not any("), barrier " in line for line in lines), lines  # the barrier itself reports where nothing watches


def seats(process: int) -> list[str]:
    """The files of seats that it has, without their folder."""
    files = [os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir() if file.is_symlink()]
    return [file.rpartition("/")[2] for file in files if _native.is_seats_file(file)]
