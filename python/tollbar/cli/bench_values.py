# SPDX-License-Identifier: Apache-2.0
"""The values of a bench's options: who is beside, what is computed, on how many processors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse

if TYPE_CHECKING:
    from tollbar.campaigns.campaign import Request


def counts(least: int, most: int, what: str) -> arguments.Reader:
    """Numbers of what is counted."""
    return arguments.listed(arguments.number(int, least, most, f"number of {what}"))


def neighbours(text: str) -> tuple[str, ...]:
    """The value of --beside."""
    from tollbar.data.neighbours import NEIGHBOURS

    names = arguments.listed(arguments.one_of((*NEIGHBOURS, "all")))(text)
    return tuple(NEIGHBOURS) if "all" in names else names


def workloads(text: str) -> tuple[str, ...]:
    """The value of --compute. `paper` stands for all workloads of the NIC paper."""
    if text == "paper":
        return ("paper",)
    for part in text.split(","):
        try:
            tollbar.parse_workload(part)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{part}' is not US or US~SHARE: {error}") from None
    return tuple(dict.fromkeys(text.split(",")))


def loops(beside: Sequence[str]) -> int:
    """How many loops share the session of ranks. Raises WrongUse for neighbours that only threads can have."""
    known = {"neighbour": 1, "neighbours": 2}
    if len(beside) > 1 or beside[0] not in known:
        raise WrongUse(f"--beside {','.join(beside)}: ranks take {' or '.join(known)}")
    return known[beside[0]]


def of_threads(request: Request) -> Request:
    """The request of a bench of threads. Raises WrongUse for an application, whose phases differ: a turn computes a
    fixed amount; for a number of episodes where turns are timed; and for more CPUs than there are."""
    from tollbar.campaigns import threads
    from tollbar.machine import cpus

    for workload in request.workloads:
        us, _, _ = workload.partition("~")
        if us == "paper" or us.endswith("us"):
            raise WrongUse(f"--compute {workload}: threads take US or US~SHARE; ranks, PEs and hosts take applications")
    if request.episodes and not any(there.is_plain for there in threads.wanted(request)):
        raise WrongUse("--episodes: turns are timed, not counted; leave out --beside, --cpus and --compute")
    usable = cpus.usable().affinity
    if request.cpus and max(request.cpus) > usable:
        raise WrongUse(f"--cpus {max(request.cpus)}: this process may use {usable}")
    return threads.spelled_out(request)
