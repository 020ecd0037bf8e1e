# SPDX-License-Identifier: Apache-2.0
"""Runs random programs of MPI under `tollbar run --timeout`, and judges what it and `tollbar who` say of them."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from looking import LAUNCHERS, UNNOTICED
from mpi_jobs import clean_environment
from random_makers import Maker
from random_programs import AS_CHANCE_HAS_IT, Program, Size
from random_record import MOST_RANKS, PAGE_BYTES, Record, Stop
from random_truth import Judge, lines_of
from tollbar.cli import who
from tollbar.cli.errors import CommandError

#: The time-out of programs with a fault, and of programs without one.
TIMEOUT_S, SLOW_TIMEOUT_S = 0.3, 0.1
#: Without a fault so many follow each other in one job.
PIECES = 10
LIMIT_S = 60  # what is not told by then is not told; nothing else depends on it
TICK_S = 0.02
HUNG = 75
MOST_LINES = 24  #: of a failed job's are shown
CRASHED = re.compile(
    r"signal 11|Segmentation|SIGSEGV|SIGABRT|signal: 11|Aborted|core dumped|wrong data|free\(\)|malloc"
)

#: UCX, below MPICH, aborts a process that copies from one that has gone, without tollbar as well.
ABORTED_BY_UCX = "libuct_cma"


@dataclass
class Job:
    """A random program that runs."""

    program: Program
    mpi: str
    folder: Path
    executable: Path
    lines: list[tuple[float, str]] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    by_who: list[tuple[float, float, str]] = field(default_factory=list)  #: since when, when, and what was said
    late_s: float = 0  #: so much later than asked for it went on here: other threads may be as late

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        (self.folder / "program").write_text(self.program.text)
        with (self.folder / "page").open("w+b") as file:
            file.truncate(PAGE_BYTES)
            self.page = mmap.mmap(file.fileno(), 0)
        self.timeout_s = TIMEOUT_S if self.program.fault else SLOW_TIMEOUT_S
        before = UNNOTICED if self.program.fault == "exited" or self.is_unnoticed else ()
        threads = "threads" if self.program.threads else "alone"
        words = [*LAUNCHERS[self.mpi], "-n", self.program.ranks, *before, self.executable, "program", "page", threads]
        words += ["spins"] if self.program.seed % 4 == 1 else []
        options = ["--timeout", self.timeout_s, "--on-hang", ":"]  # the job goes on until the test ends it
        command = [sys.executable, "-m", "tollbar", "run", *options, "--", *words]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=self.folder, env=clean_environment(self.folder), text=True,
            errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    @property
    def is_unnoticed(self) -> bool:
        """Whether its launcher does not notice that a rank is killed."""
        return self.program.fault == "killed" and self.program.seed % 4 != 0

    @property
    def is_to_hang(self) -> bool:
        return bool(self.program.fault) and (self.program.fault != "killed" or self.is_unnoticed)

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def text(self) -> str:
        return "\n".join([*(line for _, line in self.lines), *(f"who: {text}" for *_, text in self.by_who)])

    def processes(self) -> list[int]:
        numbers = struct.unpack_from(f"{MOST_RANKS}i", self.page, 0)
        return [number for number in numbers[: self.program.ranks] if number]

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def record(self, until: float = math.inf) -> Record:
        stops = [*self.stops, *self.aborted()]
        return Record(self.program, bytes(self.page), self.timeout_s, until, stops, 0.5 + 4 * self.late_s)

    def aborted(self) -> list[Stop]:
        """The ranks that may be among those which UCX has aborted, as if they had never begun."""
        if ABORTED_BY_UCX not in self.text():
            return []
        return [Stop(rank, self.began) for rank, process in enumerate(self.processes()) if not is_there(process)]

    def until_the_end(self) -> Iterator[None]:
        """Now and then, as long as it runs and is within its limit."""
        while not self.is_over() and time.monotonic() < self.began + LIMIT_S:
            before = time.monotonic()
            time.sleep(TICK_S)
            self.late_s = max(self.late_s, time.monotonic() - before - TICK_S)
            yield

    def live_until_all_is_told(self) -> None:
        """Until the rank that went astray is named in a hang, and by `tollbar who` once nothing moves any more."""
        heard = 0
        for _ in self.until_the_end():
            if not self.by_who and (heard == len(self.lines) or "hangs: " not in self.text()):
                continue
            heard = len(self.lines)
            record = self.record()
            if misplaced(record) or not is_told(record, said(self, Judge(record))):
                continue
            self.ask()
            judge = Judge(record)
            judged_looks(self, judge)
            if is_told(record, judge):
                return

    def ask(self) -> None:
        since = time.monotonic()
        try:
            launcher = children(self.process.pid)[:1]
            table = who.look([str(process) for process in launcher])
        except (CommandError, IndexError) as error:
            self.by_who.append((since, time.monotonic(), f"no look: {error!r}"))
            return
        self.by_who += [(since, time.monotonic(), note) for note in table.notes]

    def live_slowly(self, chance: random.Random) -> None:
        """Ranks are stopped now and then for shorter or longer than the time-out."""
        then = self.began
        for _ in self.until_the_end():
            processes = self.processes()
            if len(processes) < self.program.ranks or time.monotonic() < then:
                continue
            for rank in chance.sample(range(self.program.ranks), chance.choice((1, 1, 1, 2))):
                self.stops.append(Stop(rank, time.monotonic()))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(processes[rank], signal.SIGSTOP)
            time.sleep(chance.choice((0.5, 1.4, 1.9, 2.6)) * self.timeout_s)
            for stop in self.stops:
                if stop.end == math.inf:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(processes[stop.rank], signal.SIGCONT)
                    stop.end = time.monotonic()
            then = time.monotonic() + chance.uniform(0.5, 10) * self.timeout_s

    def kill_ranks(self) -> None:
        for process in self.processes():
            with contextlib.suppress(OSError):
                if b"random_program" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)

    def end(self) -> int:
        """Its exit code; what is left of it is killed."""
        if not self.is_over() and self.program.fault:
            self.kill_ranks()
            for child in children(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGTERM)
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:  # Open MPI's mpirun may wait for ever when all its ranks have gone at once
            self.kill_ranks()
            for child in children(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            try:
                code = self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                code = self.process.wait()
        self.reader.join(20)
        return code


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


@dataclass
class Outcome:
    program: Program
    mpi: str
    size: Size
    mistakes: list[str]  #: each begins with its kind: untrue, untold, or ended
    text: str
    seconds: float
    said: int  #: lines

    @property
    def summary(self) -> str:
        kinds = ", ".join(sorted({mistake.partition(":")[0] for mistake in self.mistakes})) or "right"
        fault = self.program.fault or "no fault"
        return f"seed {self.program.seed}: {fault}, {self.said} lines, {self.seconds:.1f} s: {kinds}"

    def __str__(self) -> str:
        fault = self.program.fault
        words = f"tests/look/random_test.py -k '{self.mpi} and {'astray' if fault else 'slow'}'"
        again = f"TOLLBAR_RANDOM_SEEDS={self.program.seed} .venv/bin/pytest -q -n 0 -m '' {words}"
        short = [line[:400] for line in self.text.splitlines()[-MOST_LINES:]]
        head = f"seed {self.program.seed}, {self.mpi}, {fault or 'no fault'}, {self.size}:"
        return "\n".join([head, *(mistake[:600] for mistake in self.mistakes[:4]), again, *short])


def play(
    seed: int, mpi: str, with_fault: bool, folder: Path, executable: Path, size: Size = AS_CHANCE_HAS_IT
) -> Outcome:
    if not with_fault and size is AS_CHANCE_HAS_IT:
        size = Size(pieces=tuple(range(1, PIECES + 1)))
    job = Job(Maker(seed, mpi, 0 if with_fault else int(2000 * SLOW_TIMEOUT_S), size).make(), mpi, folder, executable)
    try:
        if with_fault:
            job.live_until_all_is_told()
        else:
            job.live_slowly(random.Random(seed))
    finally:
        ends_itself = not job.is_to_hang or job.is_over()
        record, until = job.record(time.monotonic()), time.monotonic()
        code = job.end()
    if ends_itself:
        record, until = job.record(), math.inf
    judge = Judge(record)
    untrue = [*judged_lines(job, judge, until), *judged_looks(job, Judge(record))]
    mistakes = [f"untrue: {mistake}" for mistake in untrue]
    text = "\n".join(line for at, line in job.lines if at <= until)  # Open MPI's mpirun may crash when it is ended
    if ABORTED_BY_UCX in text:
        pass  # whether anybody waits still is chance
    elif crash := CRASHED.search(text):
        mistakes.append(f"ended: it crashed: {crash[0]}")
    elif job.is_to_hang:
        mistakes += of_hang(job, record, judge, code)
    elif (code in (0, HUNG)) if with_fault else code != 0:
        mistakes.append(f"ended: exit code {code}")
    where = "\n".join(places(record)) if mistakes else ""
    lines = sum("tollbar" in line for _, line in job.lines)
    return Outcome(job.program, mpi, size, mistakes, f"{job.text()}\n{where}", time.monotonic() - job.began, lines)


def smaller(outcome: Outcome, folder: Path, executable: Path) -> Outcome:
    """The smallest one that fails still, of those that are tried."""
    program, pieces = outcome.program, outcome.size.pieces
    ranks = [number for number in (2, 3) if number < program.ranks]
    sizes = [Size(ranks=most, events=events, pieces=pieces[:1]) for events in (1, 4, 16) for most in (*ranks, 0)]
    sizes += [Size(pieces=(piece,)) for piece in pieces if len(pieces) > 1]
    for size in sizes:
        one = play(program.seed, outcome.mpi, bool(program.fault), folder, executable, size)
        if one.mistakes:
            return one
    return outcome


def said(job: Job, judge: Judge) -> Judge:
    judged_lines(job, judge, math.inf)
    return judge


def judged_lines(job: Job, judge: Judge, until: float) -> list[str]:
    return [
        f"{mistake}: {text}"
        for at, line in job.lines
        if at <= until and line.startswith("tollbar") and "hangs: (no look at it: " not in line
        for text in lines_of(line)
        if (mistake := judge.mistake(at, text))
    ]


def judged_looks(job: Job, judge: Judge) -> list[str]:
    return [
        f"who: {mistake}: {text}"
        for since, at, text in job.by_who
        if not text.startswith(("cannot tell: ", "no look: ")) and (mistake := judge.mistake(at, text, since))
    ]


def of_hang(job: Job, record: Record, judge: Judge, code: int) -> list[str]:
    """The faults of how a hang was told."""
    if "hangs: " not in job.text():
        return [] if nobody_waits(record) else [f"untold: no hang was said; exit code {code}"]
    mistakes = []
    if code not in (HUNG, 0) or (code == 0 and job.mpi != "mpich"):  # MPICH's mpiexec may take being ended for an end
        mistakes.append(f"ended: exit code {code}")
    by_who = Judge(record)
    judged_looks(job, by_who)
    for whose, told in (("run", judge), ("who", by_who)):
        if not is_told(record, told):
            mistakes.append(f"untold: {whose}: rank {job.program.astray.rank} was not named")
    return [*mistakes, *(f"ended: {text}" for text in misplaced(record))]


def is_told(record: Record, judge: Judge) -> bool:
    return record.program.astray.rank in judge.named


def nobody_waits(record: Record) -> bool:
    """Whether all other ranks are past MPI_Finalize: that of Open MPI ends without a rank whose process has exited."""
    stands = record.stands()
    return all(
        stands[lane] == len(steps) for lane, steps in record.lanes.items() if lane[0] != record.program.astray.rank
    )


def misplaced(record: Record) -> list[str]:
    """The lanes that are not where they stay."""
    stands, program = record.stands(), record.program
    least, most = program.final
    alone = len({lane for lane in stands if lane[0] == program.astray.rank}) == 1
    return [
        f"lane {lane} stands at its step {at}, not at {least[lane]} to {most[lane]}"
        for lane, at in stands.items()
        if lane[0] != program.astray.rank and not (least[lane] if alone else 0) <= at <= most[lane]
    ]


def places(record: Record) -> list[str]:
    """Each lane's step."""
    lanes, stands = record.program.lanes(), record.stands()
    return [
        f"rank {rank}, lane {lane}, step {stands[rank, lane]} of {len(steps)}: "
        + " ".join(f"[{step.line}]" for step in steps[max(0, stands[rank, lane] - 1) : stands[rank, lane] + 1])
        for (rank, lane), steps in lanes.items()
        if stands[rank, lane] < len(steps) and record.began(steps[0]) < math.inf
    ]
