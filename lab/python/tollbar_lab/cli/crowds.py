# SPDX-License-Identifier: Apache-2.0
"""Applications for the scheduler simulator, as the command line and profiles on disk describe them."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse

import tollbar_lab

BARRIERS = ("centralized", "tree", "combination")
WAITINGS = ("spin", "smart", "naive")
_ANY = arguments.number(int, 0, what="number")
_THREADS = arguments.number(int, 1, 1 << 20, "number of threads")
_PROFILE = {"thread": _ANY, "compute_us": arguments.microseconds}
#: The events of a recorded thread, and how the value of each is read; a barrier has none.
_EVENTS: dict[str, arguments.Reader] = {
    "compute": arguments.microseconds, "send": _ANY, "receive": _ANY, "barrier": lambda text: 0,
}  # fmt: skip
_EVENT: dict[str, arguments.Reader] = {"thread": _ANY, "event": arguments.one_of(tuple(_EVENTS)), "value": str}


@dataclass(frozen=True)
class Described:
    """An application and how it was described."""

    application: tollbar_lab.SchedulerApplication
    barrier: str
    waiting: str
    placement: str
    threads: int
    compute_us: float | None
    varies: bool  #: whether its computing times are drawn by chance


def _waiting(text: str) -> str:
    """A way to wait; `smart:N` yields so often before it sleeps."""
    name, colon, times = text.partition(":")
    arguments.one_of(WAITINGS)(name)
    if colon and (name != "smart" or _ANY(times) < 0):
        raise argparse.ArgumentTypeError(f"'{text}': smart alone yields N times before it sleeps, as smart:2")
    return text


def _placement(text: str) -> tuple[str, tuple[int, ...]]:
    """`cyclic`, `block`, or the processor of each thread: the placement `given`."""
    if text in ("cyclic", "block"):
        return text, ()
    try:
        return "given", tuple(_ANY(part) for part in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is neither cyclic nor block nor a processor for each thread, such as 0,0,1,1"
        ) from None


def _compute(text: str) -> tuple[tuple[float, float], ...] | Path:
    """Computing times, or a file of recorded ones."""
    return Path(text) if Path(text).is_file() else arguments.listed(arguments.computing)(text)


#: Values of --application, each with how it is read; all but the last two are options too.
_KEYS: dict[str, arguments.Reader] = {
    "ranks": _THREADS, "compute": arguments.computing, "barrier": arguments.plan_of(BARRIERS),
    "waiting": _waiting, "placement": _placement, "episodes": arguments.number(int, 1, what="number"),
    "arrival": arguments.microseconds, "cpus": _ANY,
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "barrier",
        nargs="*",
        type=_KEYS["barrier"],
        metavar="PLAN",
        help="or centralized, tree, combination of the paper (default)",
    )
    parser.add_argument("--ranks", type=_THREADS, metavar="T", help="threads (default: 16)")
    parser.add_argument("--compute", type=_compute, metavar="US,...", help="between barriers (default: 1000)")
    parser.add_argument("--episodes", type=_KEYS["episodes"], metavar="N", help="default: 60")
    parser.add_argument(
        "--waiting",
        type=arguments.listed(_waiting),
        metavar="WAY,...",
        help="spin, smart (or smart:N), naive (default: all)",
    )
    parser.add_argument(
        "--placement", type=_placement, metavar="HOW", help="cyclic (default), block, or each thread's CPU: 0,0,1"
    )
    parser.add_argument(
        "--application",
        type=arguments.pairs(_KEYS),
        action="append",
        default=[],
        metavar="K=VALUE,...",
        help=f"one of several, with its own {', '.join(_KEYS)}",
    )


def described(args: argparse.Namespace) -> list[list[Described]]:
    """For each run without regard to processors, its applications. Raises WrongUse for an option that no
    application takes."""
    recorded = isinstance(args.compute, Path)
    profile = read_profile(args.compute) if recorded else Profile()
    for key in _KEYS:
        option = getattr(args, key, None) is not None and key not in ("cpus", "arrival")
        each_has = [key in pairs for pairs in args.application]
        if option and each_has and all(each_has) and not recorded:
            raise WrongUse(f"--{key}: every --application has its own")
        said_twice = any(each_has) or (option and key != "compute")
        if recorded and key in ("ranks", "episodes", "compute") and said_twice:
            raise WrongUse(f"{args.compute} says how many threads compute how long; leave out {key}")
    computing = [(0.0, 0.0)] if recorded else args.compute or [(1000.0, 0.0)]
    kinds = itertools.product(args.barrier or BARRIERS, args.waiting or WAITINGS, computing)
    usual = {
        "ranks": args.ranks or 16,
        "episodes": args.episodes or 60,
        "placement": args.placement or ("cyclic", ()),
        "arrival": 0.0,
        "cpus": 0,
        "order": args.kernel["order"],
    }
    return [
        [
            _application(usual | {"barrier": barrier, "waiting": waiting, "compute": compute} | pairs, profile)
            for pairs in args.application or [{}]
        ]
        for barrier, waiting, compute in kinds
    ]


def _application(given: Mapping[str, Any], profile: Profile) -> Described:
    waiting, _, yields = given["waiting"].partition(":")
    where, processor_of = given["placement"]
    compute_us, variation = given["compute"]
    application = tollbar_lab.SchedulerApplication(
        threads=given["ranks"],
        compute_us=compute_us,
        variation=variation,
        barriers=given["episodes"],
        arrival_us=given["arrival"],
        barrier=given["barrier"],
        waiting=waiting,
        placement=where,
        order=given["order"],
        processor_of=list(processor_of),
        processors=given["cpus"],
        yields=int(yields or 0),
        profile_us=profile.times_us,
        events=profile.events,
    )
    recorded = len(profile.times_us) or len(profile.events)
    threads, computing = (recorded, None) if recorded else (given["ranks"], compute_us)
    return Described(application, given["barrier"], given["waiting"], where, threads, computing, variation > 0)


@dataclass(frozen=True)
class Profile:
    """A recorded program: the computing times of each thread, or everything that each thread does."""

    times_us: list[list[float]] = field(default_factory=list)
    events: list[list[tuple[str, float]]] = field(default_factory=list)


def read_profile(path: Path) -> Profile:
    """The threads of a recorded program. Raises WrongUse that names the line and the column."""
    text = arguments.read_text(path)
    if "event" not in text.partition("\n")[0]:
        rows = arguments.read_csv(path, text, _PROFILE)
        return Profile(_by_thread(path, ((row["thread"], row["compute_us"]) for _, row in rows)))
    events = arguments.read_csv(path, text, _EVENT)
    return Profile(events=_by_thread(path, (_event(path, line, row) for line, row in events)))


def _event(path: Path, line: int, row: Mapping[str, Any]) -> tuple[int, tuple[str, float]]:
    try:
        return row["thread"], (row["event"], _EVENTS[row["event"]](row["value"]))
    except argparse.ArgumentTypeError as error:
        raise WrongUse(f"{path}: line {line}, column value: {error}") from None


_What = TypeVar("_What")


def _by_thread(path: Path, rows: Iterable[tuple[int, _What]]) -> list[list[_What]]:
    """The rows of each thread, in the order of the file."""
    threads: dict[int, list[_What]] = {}
    for thread, what in rows:
        threads.setdefault(thread, []).append(what)
    missing = next(thread for thread in itertools.count() if thread not in threads)
    if missing < len(threads):
        raise WrongUse(f"{path} has no computing times of thread {missing}, but of thread {max(threads)}")
    return [threads[thread] for thread in sorted(threads)]
