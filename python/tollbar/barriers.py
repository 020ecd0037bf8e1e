# SPDX-License-Identifier: Apache-2.0
"""Barriers of threads and of processes with the interface of threading.Barrier."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any, NoReturn, SupportsFloat

from tollbar import _native


class BarrierTimeout(threading.BrokenBarrierError):
    """Time ran out before all parties had arrived, which breaks the barrier."""

    def __init__(self, seconds: float, parties: int, present: tuple[str, ...]) -> None:
        text = f"{parties - len(present)} of {parties} parties had not arrived after {seconds:g} s"
        super().__init__(f"{text}; waiting: {', '.join(present)}")
        self._seconds, self.parties = seconds, parties
        #: The parties that had arrived, in order: names of threads, or process IDs.
        self.present = present

    def __reduce__(self) -> Any:
        return type(self), (self._seconds, self.parties, self.present)


def _number(parties: object) -> int:
    try:
        return operator.index(parties)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"parties is a whole number, not {parties!r}") from None


def _seconds(timeout: float | None) -> float | None:
    if timeout is not None and not isinstance(timeout, SupportsFloat):
        raise TypeError(f"timeout is a number of seconds or None, not {timeout!r}")
    return timeout


class Barrier(_native.BarrierBase):
    """As threading.Barrier, on tollbar's word: a thread that need not wait keeps the interpreter's lock."""

    def __init__(self, parties: int, action: Callable[[], object] | None = None, timeout: float | None = None) -> None:
        super().__init__(_number(parties), action is not None)
        self._action, self._timeout = action, _seconds(timeout)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for all parties and gives 0 to parties - 1, in the order of arrival.

        Raises BrokenBarrierError when the barrier breaks meanwhile; in the party whose time ran out that is
        BarrierTimeout.
        """
        return self.arrive_and_wait(self._timeout if timeout is None else _seconds(timeout))

    def _time_out(self, seconds: float, present: list[int]) -> NoReturn:
        raise BarrierTimeout(seconds, self.parties, tuple(map(self._name, present)))

    @staticmethod
    def _name(thread: int) -> str:
        names = {thread.native_id: thread.name for thread in threading.enumerate()}
        return names.get(thread, f"thread {thread}")

    def __repr__(self) -> str:
        state = "broken" if self.broken else f"waiters={self.n_waiting}/{self.parties}"
        return f"<tollbar.{type(self).__name__} at {id(self):#x}: {state}>"

    def __copy__(self) -> Barrier:
        """The same barrier, as a copy of one of the standard classes meets at the same place."""
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is of one process; tollbar.process_barrier can be sent to others")


class ProcessBarrier(Barrier):
    """The same in memory that processes share: made by process_barrier()."""

    def __init__(
        self, parties: int, action: Callable[[], object] | None, timeout: float | None, memory: Any = None
    ) -> None:
        from multiprocessing import heap  # slow to load, and threads do not need it

        parties, makes = _number(parties), memory is None
        self._memory = heap.BufferWrapper(self.shared_bytes(parties)) if makes else memory
        view = self._memory.create_memoryview()
        _native.BarrierBase.__init__(self, parties, action is not None, view, makes)
        self._action, self._timeout = action, _seconds(timeout)

    @staticmethod
    def _name(process: int) -> str:
        return f"process {process}"

    def __reduce__(self) -> Any:
        from multiprocessing.context import assert_spawning

        assert_spawning(self)
        return ProcessBarrier, (self.parties, self._action, self._timeout, self._memory)


def process_barrier(
    parties: int, action: Callable[[], object] | None = None, timeout: float | None = None
) -> ProcessBarrier:
    """As multiprocessing.Barrier: processes that are started by fork or spawn get it as an argument."""
    return ProcessBarrier(parties, action, timeout)
