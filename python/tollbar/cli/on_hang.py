# SPDX-License-Identifier: Apache-2.0
"""A command that is watched: what its hosts report becomes one sentence, its account is kept, and when it hangs, its
job is ended or somebody is called."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar import _native, environment
from tollbar.cli import reported, who
from tollbar.cli.errors import CommandError, WrongUse
from tollbar.look import answers, gathered, hangs, helper, processes, sight
from tollbar.machine import keeper, programs, runs
from tollbar.machine.child import Child

#: EX_TEMPFAIL of sysexits.h: a batch system may try again.
HUNG = 75
KILL = "kill"

_TICK_S = 0.05
_LONGEST_TICK_S = 1.0  #: longer ones: this process was stopped, and perhaps the job with it
_GRACE_S = 10.0
_LONGEST_CALL_S = 600.0
_REPORTS = "tollbar-reports"  #: src/base/say.cpp knows it
_HIGHEST_DESCRIPTOR = 1000  #: below which nobody misses one


@dataclass(frozen=True)
class Kind:
    """The kind of a job."""

    by_launcher: bool  #: of an MPI: on other hosts may be ranks, which write through the launcher
    of_ranks: bool  #: whose calls of the MPI are watched


def supervise(
    command: Sequence[str],
    given: Mapping[str, str],
    timeout_s: float,
    wanted: str | None,
    kind: Kind,
    secret: gathered.Secret,
    kept: keeper.Keeper | None = None,
) -> tuple[int, list[str]]:
    """Runs the command as a child, with `given` in its environment, where the secret is; gives its exit code, negative
    for a signal, or HUNG, and the lines of its account. Only reports that bear the seal are believed. A keeper answers
    meanwhile."""
    with _Job(command, dict(given), kind, secret) as job, answers.Answering(), kept or contextlib.nullcontext():
        if kept and kept.joined:
            job.hear(kept.joined)
        try:
            code = _Watch(job, timeout_s, wanted).until_the_end()
        except Exception:  # a fault of ours is no reason to leave the job
            _say("the job is watched no more:")
            reported.write(traceback.format_exc().encode())
            while job.wait(_LONGEST_TICK_S):
                job.lines.new()
            code = job.code or 0
        return code, job.lines.account


def pass_on(command: Sequence[str], given: Mapping[str, str], secret: gathered.Secret, joined: runs.Joining) -> int:
    """Runs the command of one rank as a child, as supervise() does, for the run of rank 0 that this one has joined:
    that hears what is reported here, and says when the child is to end."""
    kind = Kind(by_launcher=True, of_ranks=True)
    with _Job(command, dict(given), kind, secret, joined.pass_on) as job, answers.Answering():
        while job.wait(_TICK_S):
            if joined.is_to_end():
                job.end()
                job.lines.close()
                return HUNG
        job.lines.close()
        return job.code or 0


class _Job:
    """The command, what it reports, and all that it has started on this host."""

    def __init__(
        self, command: Sequence[str], given: dict[str, str], kind: Kind, secret: gathered.Secret,
        pass_on: Callable[[bytes], None] | None = None,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.others: runs.Joined | None = None  #: the runs of its other ranks
        file = environment.value("TOLLBAR_REPORT") or "-"
        file = "-" if file.endswith(f"/{_REPORTS}") else file  # of a run around this one
        shown = reported.Shown(None if file == "-" else Path(file))
        if kind.of_ranks or kind.by_launcher:
            ours, theirs = os.pipe()
            self._child = _child(command, given, stderr=theirs)
            os.close(theirs)
            self.lines: reported.CopiedLines | reported.AppendedLines = reported.CopiedLines(
                ours, secret, shown, pass_on
            )
        else:
            reports = _made_for_reports()
            given |= {"TOLLBAR_REPORT": f"/proc/self/fd/{reports}/{_REPORTS}"}
            self.lines = reported.AppendedLines(Path(f"/proc/self/fd/{reports}"), secret, shown)
            self._child = _child(command, given, kept=[reports])
        self.process = self._child.process

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.__exit__()
        if self.kind.of_ranks:
            _native.remove_left_overs()

    @property
    def code(self) -> int | None:
        return self._child.code

    def wait(self, seconds: float) -> bool:
        """Waits for a signal so long, passes on what was sent to us alone; whether the command goes on."""
        return self._child.wait(seconds)

    def say(self, missing: Sequence[_native.Missing]) -> None:
        """Says who is missing where its lines go."""
        self.lines.shown.say(missing)

    def hear(self, others: runs.Joined) -> None:
        """Has what the runs of its other ranks pass on among its lines, and ends those with itself."""
        self.others = others
        if isinstance(self.lines, reported.CopiedLines):
            self.lines.others = others.new

    def await_others(self) -> bool:
        """Waits a little for the runs of other ranks, whose ranks go on; whether there are any."""
        if self.others is None or not self.others.count:
            return False
        time.sleep(_TICK_S)
        return True

    def members(self) -> list[int]:
        return processes.below(os.getpid(), processes.everything())

    def end(self) -> None:
        """By SIGTERM to the command, which may take its ranks down everywhere, then to what is left here; by
        SIGKILL at last. The runs of other ranks do the same."""
        if self.others:
            self.others.end()
        if self.code is None:
            os.kill(self.process, signal.SIGTERM)
        self._wait_while(lambda: self.code is None)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self.members():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
            self._wait_while(lambda: bool(self.members()))
        self.wait(0)  # for the last of them, which nobody else would do

    def _wait_while(self, there: Callable[[], bool]) -> None:
        end = time.monotonic() + _GRACE_S
        while there() and time.monotonic() < end:
            self.wait(_TICK_S)

    def call(self, words: str, sentences: Sequence[str]) -> None:
        """Runs a command of the shell, with the sentences as its input and the job's process as $1. It ends with the
        job that was told to end, and after a while."""
        mask = self._child.mask
        called = subprocess.Popen(
            ["/bin/sh", "-c", words, "tollbar", str(self.process)], stdin=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
        )  # fmt: skip
        self._child.waited_for.add(called.pid)
        threading.Thread(target=_give, args=(called, sentences), daemon=True).start()
        end = time.monotonic() + _LONGEST_CALL_S
        while called.poll() is None:
            self.wait(_TICK_S)
            is_over = self.code is not None and self._child.passed_on
            if is_over or time.monotonic() > end:
                _say(f"`{words}` was ended{'' if is_over else f' after {_LONGEST_CALL_S:.0f} s'}")
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(called.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    called.wait(_GRACE_S if self.code is None else 1.0)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(called.pid, signal.SIGKILL)
                called.wait()
        self._child.waited_for.discard(called.pid)


def _child(
    command: Sequence[str], given: Mapping[str, str], stderr: int | None = None, kept: Sequence[int] = ()
) -> Child:
    try:
        return Child(command, given, stderr, kept)
    except OSError as error:
        raise WrongUse(programs.refusal(command[0], error.strerror or "")) from None


def _made_for_reports() -> int:
    """A file without a name to which the job appends, whoever it runs as by then; what it writes cannot hold it up,
    nor end it when we are gone. Its number is one that programs do not come to."""
    made = os.memfd_create(_REPORTS)
    fcntl.fcntl(made, fcntl.F_SETFL, os.O_APPEND | os.O_RDWR)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = _HIGHEST_DESCRIPTOR if most < 0 else min(most, _HIGHEST_DESCRIPTOR)
    high = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, max(3, most - 8))
    os.close(made)
    return high


def _give(called: subprocess.Popen[bytes], sentences: Sequence[str]) -> None:
    if called.stdin:
        with contextlib.suppress(OSError), called.stdin as to:
            to.write("".join(f"{sentence}\n" for sentence in sentences).encode())


class _Watch:
    """Judges twice: a wait is suspected and looked at first; found again after that, it is a hang."""

    def __init__(self, job: _Job, timeout_s: float, wanted: str | None) -> None:
        self._job, self._timeout_s, self._wanted = job, timeout_s, wanted
        self._reports = hangs.Reports(timeout_s)
        self._hosts = gathered.Hosts(timeout_s)
        self._looks: hangs.Looks | None = hangs.Looks(job.kind.by_launcher) if wanted else None
        self._clock = 0.0  #: without what this process was stopped for
        self._ticked = time.monotonic()
        self._suspected: dict[str, tuple[float, list[str]]] = {}  #: since when, and what a look adds
        self._known: set[str] = set()
        self._besides = "calls of the MPI" if job.kind.of_ranks else "barriers through tollbar"
        self._refused = False  #: and said so
        if wanted and (remedy := helper.available()):
            _say(f"only {self._besides} are watched, as {helper.PROGRAM} is not built: {remedy}")
            self._looks = None
        elif wanted and (refused := processes.refusal(job.process, is_ours=True)):
            _say(f"only {self._besides} are watched: {refused}")
            self._looks = None

    def until_the_end(self) -> int:
        next_look = self._timeout_s
        pause_s = min(_TICK_S, self._timeout_s / 10) if self._wanted else min(0.2, self._timeout_s / 10 or 0.2)
        # Others may wait for a rank that has ended well; one that has not ends the step.
        while self._job.wait(pause_s) or (self._job.code == 0 and self._job.await_others()):
            self._tick()
            waits = self._reported()
            if not self._wanted:
                continue
            if self._looks and not waits and self._clock >= next_look:
                next_look = self._clock + self._timeout_s
                waits = set(self._look(self._looks))
            if self._judge(waits - self._known):
                return HUNG
        self._job.lines.close()
        if self._job.code:  # of one that has ended well nobody is missing
            self._reported(is_over=True)
        return HUNG if self._known and self._job.code else self._job.code or 0

    def _tick(self) -> None:
        now = time.monotonic()
        self._clock += min(now - self._ticked, _LONGEST_TICK_S)
        self._ticked = now

    def _reported(self, is_over: bool = False) -> set[str]:
        """The waits that are reported again."""
        again = set()
        for line in self._job.lines.new():
            refused = None
            try:
                if line.is_report:
                    again.add(self._reports.add(_native.Missing(line.text, line.facts), self._clock))
                else:
                    refused = self._hosts.add(line, self._clock)
            except ValueError:
                refused = self._hosts.refuse()
            if refused:
                _say(refused)
        missing = self._hosts.missing(self._clock, is_over)
        self._job.say(missing)
        again |= {self._reports.add(one, self._clock) for one in missing}
        return {key for key in again if key} - self._reports.over

    def _judge(self, waits: set[str]) -> bool:
        """Whether the job is over: what is found is suspected, and acted on when it is found again soon."""
        oldest = self._clock - 1.5 * self._timeout_s - _LONGEST_TICK_S
        kept = self._suspected.keys() - self._reports.over
        self._suspected = {key: self._suspected[key] for key in kept if self._suspected[key][0] > oldest}
        if waits & self._suspected.keys():
            # Waits for each other are one hang, though some of them began later; one that its host no longer tells of
            # beside the others is over.
            newest = self._clock - 0.5 * self._timeout_s
            known = list(dict.fromkeys([*self._suspected, *self._reports.since(newest)]))
            self._known.update(known)
            seen = [one for _, said in self._suspected.values() for one in said]
            return self._act(list(dict.fromkeys([*self._reports.sentences(known), *seen])))
        looked_at = {
            wait: said
            for wait in waits
            for key, (_, said) in self._suspected.items()
            if self._reports.are_of_one(key, wait)
        }
        # One look for all the others: a look for each would outlast the suspicion of the first.
        if others := sorted(waits - looked_at.keys()):
            said = _seen(self._job.members(), self._reports.of(others))
            self._reported()  # what was reported meanwhile may be over
            self._tick()
            looked_at |= dict.fromkeys(others, said)
        self._suspected |= {wait: (self._clock, said) for wait, said in looked_at.items()}
        return False

    def _look(self, looks: hangs.Looks) -> list[str]:
        everything = processes.everything()
        members = self._job.members()
        rank_of = processes.ranks(members, everything)
        numbers = list(rank_of) or members
        # A process that is not seen may be the one that moves.
        if refused := next(filter(None, (processes.refusal(number, is_ours=True) for number in numbers)), None):
            if not self._refused:
                _say(f"only {self._besides} are watched while it runs: {refused}")
            self._refused = True
            looks.forget()
            return []
        try:
            return looks.add(helper.look(numbers), rank_of, everything)
        except helper.LookError as error:
            _say(f"only {self._besides} are watched: {error}")
            self._looks = None
            return []

    def _act(self, said: Sequence[str]) -> bool:
        """Says what is known, and does what is wanted; whether the job is over."""
        for sentence in said:
            _say(f"hangs: {sentence}")
        if self._wanted and self._wanted != KILL:
            self._job.call(self._wanted, said)
            return False
        self._job.end()
        self._job.lines.close()
        _say(f"the job was ended; exit code {HUNG}")
        return True


def _seen(members: Sequence[int], reports: Sequence[_native.Missing]) -> list[str]:
    """The sentences that a look at them adds: the conclusions of `tollbar who`, and the threads that are
    missing in a report that only names those that have arrived; for these, another look."""
    try:
        table = who.look([str(process) for process in members], by_frames=True)
        of_threads = [report for report in reports if report.arrived]
        threads = sight.read(helper.look(members)).threads if of_threads else []
    except (CommandError, helper.LookError) as error:
        return [f"(no look at it: {error})"]
    absent = (hangs.absent(report, threads) for report in of_threads)
    return [*filter(None, absent), *(table.notes if table.failed else ())]


def _say(text: str) -> None:
    reported.write(f"tollbar run: {text}\n".encode())  # at once: the job's lines are copied by a thread
