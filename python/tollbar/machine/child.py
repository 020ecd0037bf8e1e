# SPDX-License-Identifier: Apache-2.0
"""A command that runs as our child as it would in our place: signals and stops reach it, and we end as it does."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import NoReturn

from tollbar import children

#: Signals for us alone: faults of our own, and those of which a command gets its own.
_OWN = {
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
    signal.SIGTRAP, signal.SIGSYS, signal.SIGPIPE, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT,
}  # fmt: skip
_TO_PASS_ON = signal.valid_signals() - _OWN
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  #: Python ignores them; a program started by a shell does not
_OF_TERMINALS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_AT_ONCE_S = 0.1
_PR_SET_PDEATHSIG = 1

#: Held by a thread while it runs a program of its own: the end of any child may be that of this program.
others = threading.Lock()


def execute(command: Sequence[str], given: Mapping[str, str]) -> NoReturn:
    """Becomes the command, with `given` in its environment. Raises OSError, and ignores what it did before."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in _OF_PYTHON}
    variables = {**own_environment(), **given}
    try:
        try:
            os.execvpe(command[0], list(command), variables)
        except OSError as error:
            if error.errno != 8:  # ENOEXEC: a script without a first line for the kernel, which shells run themselves
                raise
        os.execvpe("/bin/sh", ["/bin/sh", *_found(command)], variables)
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _found(command: Sequence[str]) -> list[str]:
    return [shutil.which(command[0]) or command[0], *command[1:]]


def own_environment() -> dict[str, str]:
    """Our environment without what Python has set at its start, where the locale is C."""
    variables = dict(os.environ)
    with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as file:
        if b"\0LC_CTYPE=" not in b"\0" + file.read() and variables.get("LC_CTYPE") == "C.UTF-8":
            del variables["LC_CTYPE"]
    return variables


class Child:
    """The command, and all that it has started on this host: what loses its parent becomes our child. Our end by
    SIGKILL is its own. Raises OSError where the command cannot be run.

    with Child(["sleep", "1"], {}) as child:
        while child.wait(0.1): ...
        print(child.code)
    """

    def __init__(
        self, command: Sequence[str], given: Mapping[str, str], stderr: int | None = None, kept: Sequence[int] = ()
    ) -> None:
        """`stderr` becomes its own; it keeps the descriptors `kept` too."""
        self.code: int | None = None
        self.passed_on: set[int] = set()  #: the signals that were passed on
        self.waited_for: set[int] = set()  #: children that the caller waits for
        self._libc = ctypes.CDLL(None)
        self._was_subreaper = children.is_subreaper()
        children.be_subreaper(True)
        self._chld = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored ones leave no end to wait for
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*_TO_PASS_ON, signal.SIGCHLD, signal.SIGCONT})
        ours, theirs = os.pipe()
        parent = os.getpid()
        self.process = os.fork()  # no thread of ours runs yet
        if self.process == 0:
            self._become(command, given, theirs, parent, stderr, kept)
        os.close(theirs)
        with os.fdopen(ours, "rb") as failed:
            problem = failed.read()
        if problem:
            os.waitpid(self.process, 0)
            self.__exit__()
            raise OSError(int(problem), os.strerror(int(problem)))

    def _become(
        self, command: Sequence[str], given: Mapping[str, str], theirs: int, parent: int, stderr: int | None,
        kept: Sequence[int],
    ) -> NoReturn:  # fmt: skip
        try:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(128 + signal.SIGKILL)
            if stderr is not None:
                os.dup2(stderr, 2)
            for descriptor in kept:
                os.set_inheritable(descriptor, True)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                if callable(signal.getsignal(number)):
                    signal.signal(number, signal.SIG_DFL)
            if self._chld == signal.SIG_IGN:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            execute(command, given)
        except OSError as error:
            os.write(theirs, str(error.errno).encode())
        finally:
            os._exit(127)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._chld is not None:  # no handler of Python's
            signal.signal(signal.SIGCHLD, self._chld)
        children.be_subreaper(self._was_subreaper)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    @property
    def mask(self) -> set[int]:
        """The signals that were blocked before."""
        return self._mask

    def wait(self, seconds: float) -> bool:
        """Waits for a signal so long, passes on what was sent to us alone; whether the command goes on."""
        got = signal.sigtimedwait([*_TO_PASS_ON, signal.SIGCHLD, signal.SIGCONT], seconds)
        self._reap()
        if got is None or self.code is not None:
            return self.code is None
        number, is_ours = got.si_signo, got.si_code <= 0  # a terminal's has reached the whole foreground
        if number in _TO_PASS_ON and is_ours:
            self.passed_on.add(number)
            os.kill(self.process, number)
        self._stop_with_it()
        return True

    def _stop_with_it(self) -> None:
        """Stops where the command has stopped for its terminal's sake, so that the shell of that terminal learns it."""
        with contextlib.suppress(ChildProcessError):
            stopped = os.waitid(os.P_PID, self.process, os.WSTOPPED | os.WNOHANG)
            if not stopped or stopped.si_status not in _OF_TERMINALS:
                return
            os.kill(os.getpid(), stopped.si_status)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})  # stops here, unless nobody could let it go on
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
            # A shell lets the whole group go on, and with it the command, now or at once.
            end = time.monotonic() + _AT_ONCE_S
            while not os.waitid(os.P_PID, self.process, os.WCONTINUED | os.WNOHANG):
                if time.monotonic() > end:
                    os.kill(self.process, signal.SIGCONT)
                    return
                time.sleep(_AT_ONCE_S / 50)

    def _reap(self) -> None:
        """Takes the ends of the command and of those that have come to us, and leaves those of programs that we
        ourselves wait for."""
        with contextlib.suppress(ChildProcessError):
            while self.code is None and (ended := os.waitpid(self.process, os.WNOHANG))[0]:
                self.code = os.waitstatus_to_exitcode(ended[1])
        if others.acquire(blocking=False):  # a program of another thread's may be among them
            try:
                self._reap_strangers()
            finally:
                others.release()

    def _reap_strangers(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if ended.si_pid == self.process or ended.si_pid in self.waited_for:
                    return
                os.waitpid(ended.si_pid, os.WNOHANG)


def end_as(code: int) -> NoReturn:
    """Ends as a command with that exit code of os.waitstatus_to_exitcode did: by its signal, without a second core."""
    if code < 0:
        sys.stderr.flush()
        sys.stdout.flush()
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    raise SystemExit(code if code >= 0 else 128 - code)
