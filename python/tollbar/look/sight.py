# SPDX-License-Identifier: Apache-2.0
"""Looks of `tollbar-look`: threads with their frames and barriers, now and 100 ms before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tollbar.look import calls

#: Libraries whose frames lie between a program's own function and the kernel.
_SYSTEM = re.compile(
    r"(lib(c|m|pthread|dl|rt|stdc\+\+|gomp|i?omp5?|gcc_s|mpi\w*|mpich\w*|open-\w+|pmix|pmi\d?|uc[pst]|event\w*|hwloc)"
    r"[.-]|ld-|linux-vdso|\[vdso|lib(omp|iomp|tollbar)|mca_|threading\.py$|tollbar/barriers\.py$|_native\.)"
)
#: Frames outside of which a thread runs nothing of its program's.
_OUTERMOST = ("_start", "start_thread", "__clone3", "clone3", "clone", "__clone")
#: Templates of the C++ library, of Boost and of tollbar lie in the program's file, but are not its own; the
#: start of a std::thread names what it runs.
_STD = re.compile(r"(\w+ )?(std|boost|tollbar|__gnu_cxx|__cxxabiv1)::(?!thread::_State_impl<)|tollbar_")
_STARTED = re.compile(r"std::thread::_State_impl<.*?tuple<(.*)> ?> ?>::_M_run")
#: Functions in which threads begin.
_STARTS = re.compile(r"(_start|start_thread|(__)?clone3?|__libc_start\w*|execute_native_thread_routine|std::thread::_)")
_RUNTIMES = re.compile(r"lib(mpi|mpich|open-|pmix|uc[pst]|event)|mca_")


#: The function of Python in which threads wait for each other.
PYTHON_BARRIER = "Barrier.wait"
#: The origin of a std::thread whose own frames the compiler has removed.
STD_THREAD = "std::thread"


@dataclass(frozen=True)
class Frame:
    symbol: str
    module: str
    source: str
    at: int
    mark: int
    of_library: bool = False  #: of Python's, or called by Python

    @property
    def ours(self) -> bool:
        """Whether it is the program's, and not of a library that every program has."""
        known = self.of_library or self.symbol in _OUTERMOST or _SYSTEM.match(self.module) or _STD.match(self.symbol)
        return not known

    def __str__(self) -> str:
        if not self.symbol:
            return f"[{self.module or 'unknown'}]"
        if re.match("PMPI_[A-Z]", self.symbol):
            return self.symbol[1:]
        return {"__pthread_clockjoin_ex": "pthread_join"}.get(self.symbol) or shortened(self.symbol)


@dataclass(frozen=True)
class Barrier:
    kind: str
    at: int
    key: str
    arrived: int
    expected: int
    round: int


@dataclass(frozen=True)
class Communicator:
    """One of an MPI; `rank` is this process's own in it, negative where it is not known."""

    name: str
    number: int
    rank: int


@dataclass(frozen=True)
class Moment:
    """A thread in one look."""

    state: str
    call: int
    arguments: tuple[int, ...]
    switches: int
    asleep_ms: float | None
    held_us: float | None
    frames: tuple[Frame, ...]
    barriers: tuple[Barrier, ...]
    complete: bool  #: the frames reach the thread's start
    communicators: tuple[Communicator, ...]  #: of the call it is in; of several the first is the likeliest


@dataclass(frozen=True)
class Thread:
    process: int
    thread: int
    name: str
    before: Moment | None
    now: Moment
    host: str = ""  #: where several were looked at

    @property
    def key(self) -> tuple[str, int]:
        """The same in no other thread of any host."""
        return self.host, self.thread

    @property
    def owner(self) -> tuple[str, int]:
        """The process that it is of, which has its number on its host alone."""
        return self.host, self.process

    @property
    def called(self) -> str:
        return f"thread {self.thread}" + on(self.host)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.now.frames

    @property
    def barrier(self) -> Barrier | None:
        return self.now.barriers[0] if self.now.barriers else None

    @property
    def slept_on(self) -> bool:
        """Whether it was asleep in one call from the first look to the last."""
        old, new = self.before, self.now
        return (
            old is not None
            and old.call == new.call >= 0
            and old.arguments == new.arguments
            and old.switches == new.switches
        )

    @property
    def state(self) -> str:
        if self.now.state in "Tt":
            return "stopped"
        return "runs" if self.now.call == -2 else "asleep"

    @property
    def stayed_stopped(self) -> bool:
        """Whether a signal or a debugger has stopped it from the first look to the last."""
        return self.before is not None and {self.before.state, self.now.state} <= {"T", "t"}

    def stayed_in(self, symbol: re.Pattern[str]) -> bool:
        """Whether the call of such a function, seen in both looks, is one call: its caller's registers and
        stack are the same."""
        if self.slept_on:
            return True
        pairs = [(at_of(moment, symbol), moment) for moment in (self.before, self.now) if moment]
        callers = [moment.frames[at + 1] for at, moment in pairs if at is not None and at + 1 < len(moment.frames)]
        return len(callers) == 2 and (callers[0].at, callers[0].mark) == (callers[1].at, callers[1].mark)

    def has(self, symbol: str) -> bool:
        return any(re.match(symbol, frame.symbol) for frame in self.frames)

    @property
    def origins(self) -> frozenset[str]:
        """Its outermost function of the program's own, and the functions of parallel regions it is in."""
        own = [frame.symbol for frame in self.frames if frame.ours and frame.symbol]
        if not own and self.of_std_thread:
            return frozenset([STD_THREAD])
        return frozenset([*own[-1:], *(name for name in own if is_outlined(name))])

    @property
    def of_std_thread(self) -> bool:
        return any(frame.module.startswith("libstdc++") for frame in self.frames[-3:])

    @property
    def joins(self) -> bool:
        return self.has(r"(__)?pthread_(clock|timed)?join|std::(__1::)?thread::join|Thread\.join")

    @property
    def waits_for_child(self) -> bool:
        """Whether it waits for the end of a process that it has started."""
        return self.now.call in calls.CHILDREN

    @property
    def of_runtime(self) -> bool:
        """Whether an MPI started it for itself."""
        bodies = [frame for frame in self.frames if frame.symbol not in _OUTERMOST and frame.module[:5] != "libc."]
        return bool(bodies) and bool(_RUNTIMES.match(bodies[-1].module))

    @property
    def doing(self) -> str:
        """In words: `sleep() under worker (a.c:7)`, `compute() (a.c:9)`."""
        at = next((at for at, frame in enumerate(self.frames) if frame.ours), None)
        if at is None:  # the outermost call of a library, if not of the thread's own start
            called = [frame for frame in self.frames if frame.symbol and not _STARTS.match(frame.symbol)]
            return _called(str((called or self.frames)[-1 if called else 0])) if self.frames else ""
        frame = self.frames[at]
        where = f" ({frame.source})" if frame.source else ""
        if at == 0:
            return _called(str(frame)) + where
        return f"{_called(str(self.frames[at - 1]))} under {frame}{where}"


def on(host: str) -> str:
    """The end of what is called by a number: numbers are those of a host."""
    return f" on {host}" if host else ""


def _called(name: str) -> str:
    return name if name.endswith("]") else f"{name}()"


def shortened(symbol: str) -> str:
    """A demangled name without its return type, its arguments and those of its templates."""
    if started := _STARTED.match(symbol):
        symbol = started[1]
    symbol = symbol.replace("(anonymous namespace)::", "")
    depth = 0
    kept = ""
    for at, letter in enumerate(symbol):
        depth += letter == "<"
        kept += letter if depth == 0 else ""
        depth -= letter == ">" and depth > 0 and symbol[at - 1] != "-"
    kept = re.sub(r"(?<!operator)(?<!lambda)\([^()]*\)(?!#)( const)?$", "", kept.removesuffix(" const"))
    return kept.rpartition(" ")[2] if "(" not in kept.rpartition(" ")[0] else kept


def is_outlined(symbol: str) -> bool:
    """Whether a compiler made that function of a parallel region."""
    return "._omp_fn." in symbol or ".omp_outlined." in symbol


def at_of(moment: Moment, symbol: re.Pattern[str]) -> int | None:
    """The index of the outermost frame of such a name."""
    positions = [at for at, frame in enumerate(moment.frames) if symbol.match(frame.symbol)]
    return positions[-1] if positions else None


@dataclass(frozen=True)
class SeenMember:
    rank: int
    state: str
    process: int
    thread: int
    behind: int


@dataclass(frozen=True)
class SeenGroup:
    """A group of tollbar."""

    name: str  #: empty: it has none
    plan: str
    ranks: int
    episode: int
    sentence: str  #: about its missing; empty: none, or nobody has arrived
    missing: tuple[SeenMember, ...]
    arrived: tuple[SeenMember, ...]

    @property
    def called(self) -> str:
        return f"group '{self.name}'" if self.name else "a group without a name"


@dataclass(frozen=True)
class Sight:
    threads: tuple[Thread, ...]
    groups: tuple[SeenGroup, ...]  #: that have not moved between the looks


def read(document: Mapping[str, Any]) -> Sight:
    """The threads and barriers that two looks saw. Nothing is known to have stayed as it was in a single look."""
    last = document["looks"][-1]
    first = document["looks"][0] if len(document["looks"]) > 1 else {"processes": (), "groups": ()}
    before = {(process, thread["thread"]): _moment(thread) for process, thread in _threads(first)}
    threads = [
        Thread(process, thread["thread"], thread["name"], before.get((process, thread["thread"])), _moment(thread))
        for process, thread in _threads(last)
    ]
    old = [_group(group) for group in first["groups"]]
    return Sight(tuple(threads), tuple(group for group in map(_group, last["groups"]) if group in old))


def _threads(look: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for process in look["processes"]:
        for thread in process["threads"]:
            yield process["process"], thread


def _moment(seen: Mapping[str, Any]) -> Moment:
    return Moment(
        seen["state"], seen["call"], tuple(seen["arguments"]), seen["switches"], seen["asleep_ms"],
        seen["held_us"], tuple(map(_frame, seen["frames"])),
        tuple(Barrier(**barrier) for barrier in seen["barriers"]), seen["complete"],
        tuple(Communicator(**communicator) for communicator in seen.get("communicators", ())),
    )  # fmt: skip


def _frame(seen: Mapping[str, Any]) -> Frame:
    symbol = seen["symbol"].partition("@")[0]
    return Frame(symbol, os.path.basename(seen["module"]), seen["source"], seen["at"], seen["mark"])


def _group(seen: Mapping[str, Any]) -> SeenGroup:
    missing, arrived = (tuple(SeenMember(**member) for member in seen[which]) for which in ("missing", "arrived"))
    return SeenGroup(seen["name"], seen["plan"], seen["ranks"], seen["episode"], seen["sentence"], missing, arrived)
