# SPDX-License-Identifier: Apache-2.0
"""Applications for the scheduler simulator, as the command line and profiles on disk describe them."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse

BARRIERS = ("centralized", "tree", "combination")
WAITINGS = ("spin", "smart", "naive")
ORDERS = ("numbered", "shuffled")
_PROFILE = ["thread", "compute_us"]
_EVENTS = ["thread", "event", "value"]


@dataclass(frozen=True)
class Profile:
    """What each thread of a recorded program does: its computing times, or all its events."""

    times: list[list[float]]
    events: list[list[tuple[str, float]]]

    @property
    def threads(self) -> int:
        return len(self.times or self.events)


@dataclass(frozen=True)
class Described:
    """An application and how it was described."""

    application: tollbar.SchedulerApplication
    barrier: str
    waiting: str
    placement: str
    threads: int
    compute_us: float | None


def _barrier(text: str) -> str:
    return arguments.plan(text, BARRIERS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the application")
    group.add_argument(
        "barrier", nargs="*", type=_barrier, default=list(BARRIERS), metavar="BARRIER",
        help="any PLAN, where the processors are the groups of INNER/OUTER, or a name of the paper: "
        "centralized (turnstile), tree (mcs), combination (turnstile/mcs) (default: these three)",
    )  # fmt: skip
    group.add_argument(
        "--waiting", type=_waitings, default=WAITINGS, metavar="WAY[,WAY...]",
        help="spin; smart: yield when another local thread can go on; naive: yield always (default: all)",
    )  # fmt: skip
    group.add_argument(
        "--yields", type=int, default=0, metavar="N",
        help="of smart under a fair kernel: so often a thread yields before it sleeps (default: 0)",
    )  # fmt: skip
    group.add_argument("--threads", type=int, default=16, metavar="T", help="default: 16")
    group.add_argument(
        "--compute-us", type=_times, default=(1000.0,), metavar="US[,US...]",
        help="computing time between two barriers (default: 1000)",
    )  # fmt: skip
    group.add_argument(
        "--variation", type=float, default=0.0, metavar="SHARE",
        help="computing times vary uniformly by this share up and down, such as 0.2 (default: 0)",
    )  # fmt: skip
    group.add_argument("--barriers", type=int, default=60, metavar="N", help="episodes (default: 60)")
    group.add_argument(
        "--placement", type=placement, default=("cyclic", []), metavar="cyclic|block|P,P,...",
        help="thread i on processor i mod P, neighbours together, or each thread's processor "
        "(default: cyclic)",
    )  # fmt: skip
    group.add_argument(
        "--order", choices=ORDERS, default="numbered",
        help="order in which threads of a processor take turns: by number (default), or shuffled by --seed, "
        "as in a kernel",
    )  # fmt: skip
    group.add_argument(
        "--profile", type=Path, metavar="FILE",
        help="computing times that were recorded: a CSV file with the columns thread,compute_us, each "
        "thread's in order, or what a measuring program prints with --profile; with the columns "
        "thread,event,value also what threads tell each other: compute US, send THREAD, receive THREAD "
        "(waits as a barrier does), and barrier, which is each thread's last event; takes the place of "
        "--threads, --compute-us, --variation and --barriers",
    )  # fmt: skip
    group.add_argument(
        "--application", type=_pairs, action="append", default=[], metavar="KEY=VALUE[,...]",
        help=f"one of several applications, which differs from the options above in {', '.join(_KEYS)} "
        "(times in microseconds, processors: its partition); may be repeated",
    )  # fmt: skip


def described(args: argparse.Namespace) -> list[list[Described]]:
    """For each run without regard to processors, its applications."""
    profile = read_profile(args.profile) if args.profile else Profile([], [])
    computing = args.compute_us[:1] if profile.threads else args.compute_us
    kinds = itertools.product(args.barrier, args.waiting, computing)
    return [
        [
            _application(args, profile, barrier, waiting, compute_us, pairs)
            for pairs in args.application or [{}]
        ]
        for barrier, waiting, compute_us in kinds
    ]


def _application(
    args: argparse.Namespace,
    profile: Profile,
    barrier: str,
    waiting: str,
    compute_us: float,
    pairs: Mapping[str, str],
) -> Described:
    given = {key: _value(key, text) for key, text in pairs.items()}
    where, processor_of = given.get("placement", args.placement)
    barrier, waiting = given.get("barrier", barrier), given.get("waiting", waiting)
    compute_us = given.get("compute", compute_us)
    threads = given.get("threads", args.threads)
    application = tollbar.SchedulerApplication(
        threads=threads,
        compute_us=compute_us,
        variation=given.get("variation", args.variation),
        barriers=given.get("barriers", args.barriers),
        arrival_us=given.get("arrival", 0.0),
        barrier=barrier,
        waiting=waiting,
        placement=where,
        order=args.order,
        processor_of=processor_of,
        processors=given.get("processors", 0),
        yields=args.yields if waiting == "smart" else 0,
        profile_us=profile.times,
        events=profile.events,
    )
    if profile.threads:
        return Described(application, barrier, waiting, where, profile.threads, None)
    return Described(application, barrier, waiting, where, threads, compute_us)


def read_profile(path: Path) -> Profile:
    """What threads did, in microseconds. A fault is told with its line and column."""
    text = path.read_text(encoding="utf-8")
    if text.startswith("{"):
        return Profile(_each(path, _records(path, text)), [])
    rows = list(csv.reader(text.splitlines()))
    if rows and rows[0] == _EVENTS:
        return Profile([], _each(path, _events(path, rows)))
    return Profile(_each(path, _times_of(path, rows)), [])


def _each(path: Path, found: Mapping[int, list[Any]]) -> list[list[Any]]:
    """What each thread has, in the order of threads."""
    if not found:
        raise WrongUse(f"{path} has no computing times")
    missing = next(thread for thread in itertools.count() if thread not in found)
    if missing < len(found):
        raise WrongUse(f"{path} has no computing times of thread {missing}, but of thread {max(found)}")
    return [found[thread] for thread in sorted(found)]


def _records(path: Path, text: str) -> dict[int, list[float]]:
    """What a measuring program prints with --profile: the last round of its one candidate."""
    times: dict[int, list[float]] = {}
    names = set()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            record = json.loads(line)
            if record["record"] == "profile":
                names.add(f"{record['name']}+{record['wait']}")
                times[int(record["rank"])] = [float(ns) / 1000 for ns in record["computing_ns"]]
        except (ValueError, KeyError, TypeError):
            raise WrongUse(f"{path}, line {number}: not what a measuring program prints") from None
    if len(names) > 1:
        raise WrongUse(
            f"{path} has profiles of {', '.join(sorted(names))}; record one, with --only NAME+WAIT"
        )
    return times


def _times_of(path: Path, rows: list[list[str]]) -> dict[int, list[float]]:
    if not rows or rows[0] != _PROFILE:
        raise WrongUse(f"{path}, line 1: the columns are {','.join(_PROFILE)} or {','.join(_EVENTS)}")
    times: dict[int, list[float]] = {}
    for line, thread, (compute_us,) in _rows(path, rows):
        times.setdefault(thread, []).append(_finite(compute_us, f"{path}, line {line}, column compute_us"))
    return times


def _events(path: Path, rows: list[list[str]]) -> dict[int, list[tuple[str, float]]]:
    events: dict[int, list[tuple[str, float]]] = {}
    for line, thread, (event, text) in _rows(path, rows):
        where = f"{path}, line {line}, column"
        if event == "compute":
            value = _finite(text, f"{where} value")
        elif event in ("send", "receive"):
            value = _thread(text, f"{where} value")
        elif event == "barrier":
            if text:
                raise WrongUse(f"{where} value: a barrier has none, not '{text}'")
            value = 0
        else:
            raise WrongUse(f"{where} event: '{event}' is not one of compute, send, receive, barrier")
        events.setdefault(thread, []).append((event, value))
    return events


def _rows(path: Path, rows: list[list[str]]) -> Iterator[tuple[int, int, list[str]]]:
    """The number of each line, its thread, and what follows."""
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise WrongUse(f"{path}, line {line}: {len(row)} values where {len(rows[0])} are expected")
        yield line, _thread(row[0], f"{path}, line {line}, column thread"), row[1:]


def _thread(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise WrongUse(f"{where}: '{text}' is not a number from 0")
    return int(text)


def _finite(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise WrongUse(f"{where}: '{text}' is not a time of at least 0")
    return value


def _value(key: str, text: str) -> Any:
    try:
        return _KEYS[key](text)
    except argparse.ArgumentTypeError as error:
        raise WrongUse(f"--application {key}={text}: {error}") from None
    except ValueError:
        raise WrongUse(f"--application {key}={text}: '{text}' is not a number") from None


def placement(text: str) -> tuple[str, list[int]]:
    """`cyclic`, `block`, or the processor of each thread: the placement `given`."""
    if text in ("cyclic", "block"):
        return text, []
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither cyclic nor block nor a processor for each thread, such as 0,0,1,1"
        )
    return "given", [int(part) for part in parts]


#: What --application may say, each with how it is read.
_KEYS = {
    "threads": int, "compute": float, "variation": float, "barriers": int, "arrival": float, "barrier": str,
    "waiting": str, "placement": placement, "processors": int,
}  # fmt: skip


def _pairs(text: str) -> dict[str, str]:
    """`key=value,key=value`; a part without = belongs to the value before it, as in barrier=mcs:4,2."""
    pairs: dict[str, str] = {}
    key = ""
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            if name not in _KEYS:
                raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(_KEYS)}")
            key = name
            pairs[key] = value
        elif key:
            pairs[key] += "," + part
        else:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not KEY=VALUE[,KEY=VALUE...], such as threads=4,compute=500"
            )
    return pairs


def processors(text: str) -> list[range]:
    """`P`, `A..B` or a list of both with commas."""
    try:
        return arguments.rank_counts(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number of processors, a range or a list, such as 8, 1..16 or 4,8,12"
        ) from None


def window(text: str) -> tuple[float, float]:
    """`FROM..UNTIL` in microseconds."""
    first, dots, last = text.partition("..")
    try:
        found = float(first), float(last)
    except ValueError:
        found = math.nan, math.nan
    if not dots or not 0 <= found[0] < found[1] < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not FROM..UNTIL in microseconds, such as 0..60000")
    return found


def _waitings(text: str) -> tuple[str, ...]:
    for part in text.split(","):
        if part not in WAITINGS:
            raise argparse.ArgumentTypeError(f"'{part}' is not one of {', '.join(WAITINGS)}")
    return tuple(dict.fromkeys(text.split(",")))


def _times(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of times in microseconds") from None
