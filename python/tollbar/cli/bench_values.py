# SPDX-License-Identifier: Apache-2.0
"""The values of a bench's options: who is beside, what is computed, on how many processors."""

from __future__ import annotations

import argparse
import dataclasses
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
    from tollbar.campaigns.neighbours import NEIGHBOURS

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


def turns(request: Request, compute: Sequence[str] | None, beside: Sequence[str] | None) -> Request:
    """The request with that computing in a turn; alone, where nobody is said to be beside.

    Raises WrongUse for an application, whose phases differ: a turn computes a fixed amount.
    """
    for workload in compute or ():
        us, _, _ = workload.partition("~")
        if us == "paper" or us.endswith("us"):
            raise WrongUse(f"--compute {workload}: threads take US or US~SHARE; ranks, PEs and hosts take applications")
    return dataclasses.replace(
        request, workloads=compute or request.workloads, beside=request.beside if beside else ("alone",)
    )


def crowded(request: Request, compute: Sequence[str] | None) -> Request:
    """The request with these computing times and variations, on no more processors than there are.

    Raises WrongUse for what is no time above 0, and where more processors were asked for.
    """
    from tollbar.campaigns.campaign import amounts
    from tollbar.machine import cpus

    if compute:
        parts = [workload.partition("~") for workload in compute]
        try:
            times = tuple(dict.fromkeys(float(us) for us, _, _ in parts))
            shares = tuple(dict.fromkeys(float(share or 0) for _, _, share in parts))
        except ValueError:
            raise WrongUse("--compute with --cpus takes US or US~SHARE, no application") from None
        if min(times) <= 0 or max(times) > 1e6 or len(times) * len(shares) != len(compute):
            raise WrongUse("--compute with --cpus takes times above 0, each of them with the same shares")
        request = dataclasses.replace(request, compute_us=times, variations=shares)
    usable = cpus.usable().cpus
    fitting = tuple(number for number in request.processors if number <= usable)
    if fitting != tuple(request.processors) and list(request.processors) != amounts("crowd")["processors"]:
        raise WrongUse(f"--cpus {max(request.processors)}: this process may use {usable}")
    return dataclasses.replace(request, processors=fitting)
