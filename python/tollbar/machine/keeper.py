# SPDX-License-Identifier: Apache-2.0
"""The keeper of a run: ranks of a step of Slurm say to it that they have tollbar's library, and learn whether all have.
A step each of whose ranks has a run of its own has the keeper of rank 0's.

src/doors/pmpi/keeper.c has the other side, and the lines of a conversation."""

from __future__ import annotations

import contextlib
import re
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tollbar.machine import child, commands, mpis, runs, slurm

PATIENCE_S = 5.0  #: for the next rank of a world: ranks leave MPI_Init at about the same time
MOST_S = 45.0  #: for all of them; a rank waits somewhat longer for the answer
_TICK_S = 0.1
_LONGEST_TICK_S = 1.0  #: a longer one: this process was stopped
_SPOKEN_S = 5.0  #: for a conversation until a rank has said that it is there
_REMEMBERED_S = 600.0  #: for ranks that ask again
_MOST_BYTES = 1024  #: of a line
_MOST_CONNECTIONS = 600  #: most limits on open files are above 1,000
_MOST_RANKS = 1 << 24

_HEX = r"([0-9a-f]{16})"
_ASK = re.compile(rf"ask 1 {_HEX}")
_JOIN = re.compile(rf"(join 1 {_HEX} {_HEX}) {_HEX}")
_HERE = re.compile(rf"(here 1 {_HEX} {_HEX} (\S+) (\d{{1,9}}) (\d{{1,9}}) (\S+)) {_HEX}", re.ASCII)

#: The library of a rank that cannot serve.
NONE = "-"


@dataclass(frozen=True)
class Arrival:
    """A rank says that it is there."""

    step: str
    rank: int
    ranks: int
    nonce: str  #: of this process alone
    library: str


@dataclass
class _World:
    """The ranks of one MPI_COMM_WORLD that have said that they are there."""

    ranks: int
    library: str
    clock: float  #: when the first one came
    newest: float
    nonces: dict[int, str] = field(default_factory=dict)
    answer: bool | None = None


@dataclass
class Roll:
    """All worlds of a run, and the answer of each: yes once all its ranks have come with the same library, else no.
    An answer never changes."""

    _worlds: dict[tuple[str, int], _World] = field(default_factory=dict)

    def hear(self, arrival: Arrival, clock: float) -> bool | None:
        """Gives the answer for a rank that has come, perhaps again; None: it is not known yet."""
        world = self._worlds.setdefault(
            (arrival.step, arrival.ranks), _World(arrival.ranks, arrival.library, clock=clock, newest=clock)
        )
        is_new = arrival.rank not in world.nonces
        if not is_new and world.nonces[arrival.rank] != arrival.nonce:
            # A second process says that it is this rank: another program of the same step, or a liar.
            world.answer = world.answer or False
            return False
        if is_new and world.answer is not None:
            return False
        if is_new:
            world.nonces[arrival.rank] = arrival.nonce
            world.newest = clock
            if arrival.library == NONE or arrival.library != world.library or arrival.rank >= arrival.ranks:
                world.answer = False
            elif len(world.nonces) == world.ranks:
                world.answer = True
        return world.answer

    def expire(self, clock: float) -> None:
        """The answer is no where a rank has not come for too long."""
        for world in self._worlds.values():
            is_late = clock - world.newest > PATIENCE_S or clock - world.clock > MOST_S
            if world.answer is None and is_late:
                world.answer = False
        self._worlds = {key: one for key, one in self._worlds.items() if clock - one.newest < _REMEMBERED_S}

    def answer(self, arrival: Arrival) -> bool | None:
        """The answer of the world of a rank that has come."""
        world = self._worlds.get((arrival.step, arrival.ranks))
        return world.answer if world else False


@dataclass
class _Conversation:
    socket: socket.socket
    clock: float  #: when it began
    challenge: str = field(default_factory=lambda: secrets.token_hex(8))
    held: bytes = b""
    nonce: str = ""
    arrival: Arrival | None = None  #: said, and waiting for the answer


class Keeper:
    """Listens from the start; answers in a thread of its own while it is entered, which is after any fork.

    keeper = Keeper()
    with Child(command, {keeper.VARIABLE: keeper.value}) as job, keeper: ...
    """

    VARIABLE: ClassVar[str] = "_TOLLBAR_KEEPER"

    def __init__(self, address: str = "") -> None:
        """At that address for the ranks; empty: that of their srun. Raises OSError."""
        self._address = address
        self._key = (secrets.randbits(64), secrets.randbits(64))
        self._listening = _listening()
        self._roll = Roll()
        self.joined = runs.Joined() if address else None  #: runs of other ranks
        self._open: dict[socket.socket, _Conversation] = {}  #: in the order in which they began
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._later: tuple[float, Callable[[], None]] | None = None
        self._is_over = threading.Event()
        self._clock = 0.0  #: without the time for which this process was stopped
        self._thread = threading.Thread(target=self._answer_all, daemon=True)

    @property
    def value(self) -> str:
        """The run's secret, the port, and the address where that is not srun's; the environment of the ranks has it."""
        high, low = self._key
        at = f":{self._address}" if self._address else ""
        return f"{high:016x}{low:016x}:{self._listening.getsockname()[1]}{at}"

    def call_later(self, seconds: float, what: Callable[[], None]) -> None:
        """Has its thread call that once, so long after it has begun; not at all where it ends before."""
        self._later = seconds, what

    def __enter__(self) -> Keeper:
        if self.joined:
            self.joined.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        for one in list(self._open.values()):
            self._end(one)
        self._selector.close()
        self._listening.close()
        if self.joined:
            self.joined.__exit__()

    def _answer_all(self) -> None:
        before = time.monotonic()
        while not self._is_over.is_set():
            ready = [key.fileobj for key, _ in self._selector.select(_TICK_S)]
            now = time.monotonic()
            self._clock += min(now - before, _LONGEST_TICK_S)
            before = now
            for one in ready:
                if one is self._listening:
                    self._accept()
                elif conversation := self._open.get(one):  # type: ignore[call-overload]
                    self._go_on(conversation)
            self._roll.expire(self._clock)
            self._tell()
            if self._later and self._clock > self._later[0]:
                self._later[1]()
                self._later = None

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    connection, _ = self._listening.accept()
                except BlockingIOError:
                    raise
                except OSError:  # no descriptor is left
                    time.sleep(_TICK_S)
                    return
                connection.setblocking(False)
                unsaid = [one for one in self._open.values() if one.arrival is None]
                if len(unsaid) >= _MOST_CONNECTIONS // 2:  # whoever has not spoken for longest has least to say
                    self._end(unsaid[0])
                self._open[connection] = _Conversation(connection, self._clock)
                self._selector.register(connection, selectors.EVENT_READ)

    def _go_on(self, one: _Conversation) -> None:
        try:
            part = one.socket.recv(_MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        one.held += part
        # Nobody says more than a line at a time, and nothing behind the last one.
        if not part or one.arrival or len(one.held) > _MOST_BYTES:
            self._end(one)
        elif one.held.endswith(b"\n"):
            line = one.held[:-1].decode("ascii", errors="replace")
            one.held = b""
            if not (self._greet(one, line) if not one.nonce else self._hear(one, line)):
                self._end(one)

    def _greet(self, one: _Conversation, line: str) -> bool:
        """Whether that is a rank's first line, which is answered."""
        if match := _ASK.fullmatch(line):
            one.nonce = match[1]
            seal = self._seal(f"keeper 1 {one.challenge} {one.nonce}")
            return self._say(one, f"keeper 1 {one.challenge} {seal}")
        return False

    def _hear(self, one: _Conversation, line: str) -> bool:
        """Whether a rank of this run says that it is there, or another run joins this one."""
        if join := _JOIN.fullmatch(line):
            return self._take_in(one, join)
        said = _HERE.fullmatch(line)
        if not said or not secrets.compare_digest(said[8], self._seal(said[1])):
            return False
        if (said[2], said[3]) != (one.challenge, one.nonce) or not 0 < int(said[6]) <= _MOST_RANKS:
            return False
        one.arrival = Arrival(said[4], int(said[5]), int(said[6]), one.nonce, said[7])
        answer = self._roll.hear(one.arrival, self._clock)
        waiting = sum(other.arrival is not None for other in self._open.values())
        if answer is not None:
            self._close_with(one, "yes" if answer else "no")
        elif waiting > _MOST_CONNECTIONS // 2:
            self._close_with(one, "wait")
        return True

    def _take_in(self, one: _Conversation, said: re.Match[str]) -> bool:
        is_of_this_run = secrets.compare_digest(said[4], self._seal(said[1]))
        if not self.joined or not is_of_this_run or (said[2], said[3]) != (one.challenge, one.nonce):
            return False
        del self._open[one.socket]
        self._selector.unregister(one.socket)
        words = f"{one.challenge} {one.nonce}"
        if not self.joined.add(one.socket, f"end {self._seal(f'end {words}')}"):
            one.socket.close()
            return True
        self._say(one, f"yes {self._seal(f'yes {words}')}")
        return True

    def _tell(self) -> None:
        """Answers those who wait; ends conversations in which nothing has been said for long."""
        for one in list(self._open.values()):
            if one.arrival and (answer := self._roll.answer(one.arrival)) is not None:
                self._close_with(one, "yes" if answer else "no")
            elif not one.arrival and self._clock - one.clock > _SPOKEN_S:
                self._end(one)

    def _close_with(self, one: _Conversation, word: str) -> None:
        self._say(one, f"{word} {self._seal(f'{word} {one.challenge} {one.nonce}')}")
        self._end(one)

    def _say(self, one: _Conversation, line: str) -> bool:
        with contextlib.suppress(OSError):
            return one.socket.send(f"{line}\n".encode()) == len(line) + 1
        return False

    def _end(self, one: _Conversation) -> None:
        if self._open.pop(one.socket, None):
            self._selector.unregister(one.socket)
            one.socket.close()

    def _seal(self, text: str) -> str:
        return runs.sealed(self._key, text)


def _listening() -> socket.socket:
    made = None
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            made = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096)
    made = made or socket.create_server(("", 0), backlog=4096)
    made.setblocking(False)
    return made


def is_wanted(parts: commands.Command, mpi: mpis.Mpi | None, variables: Mapping[str, str]) -> bool:
    """Whether the command may have srun start ranks, now or from within a script: not where another launcher keeps
    names, where a run around this one has a keeper, or where srun has started this run itself, once for each rank."""
    if mpi is not None or Keeper.VARIABLE in variables:
        return False
    if parts.launcher is not None:
        return commands.is_srun(parts.words[parts.launcher])
    is_rank = slurm.has_started(variables) or any(map(mpis.interface_of, parts.names))
    return slurm.is_here() and not is_rank


def run(command: Sequence[str], given: dict[str, str], keeper: Keeper) -> int:
    """Runs the command as a child while the keeper answers; gives its exit code, negative for a signal. Raises OSError
    where it cannot be run."""
    with child.Child(command, given) as job, keeper:
        while job.wait(_LONGEST_TICK_S):
            pass
        return job.code or 0
