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
from dataclasses import dataclass, field
from pathlib import Path

from looking import LAUNCHERS, UNNOTICED
from mpi_jobs import clean_environment
from random_makers import Maker
from random_programs import Program
from random_truth import MOST_RANKS, PAGE_BYTES, Judge, Record, Stop, lines_of

TIMEOUT_S = float(os.environ.get("TOLLBAR_RANDOM_TIMEOUT", "0.6"))
LIMIT_S = 300
HUNG = 75
MOST_LINES = 24  #: of a failed job's are shown
CRASHED = re.compile(
    r"signal 11|Segmentation|SIGSEGV|SIGABRT|signal: 11|Aborted|core dumped|wrong data|free\(\)|malloc"
)
#: The hang is written down, and looked at from outside; the job goes on until the test ends it.
ON_HANG = 'cat > said; {who} > who.part 2>&1; echo "exit code $?" >> who.part; mv who.part who'


@dataclass
class Job:
    """A random program that runs."""

    program: Program
    mpi: str
    folder: Path
    executable: Path
    lines: list[tuple[float, str]] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "program").write_text(self.program.text)
        with (self.folder / "page").open("w+b") as file:
            file.truncate(PAGE_BYTES)
            self.page = mmap.mmap(file.fileno(), 0)
        who = f"{sys.executable} -m tollbar who $1"
        on_hang = ON_HANG.format(who=who) if self.program.fault else "true"
        before = UNNOTICED if self.program.fault == "exited" or self.is_unnoticed else ()
        words = [
            *LAUNCHERS[self.mpi],
            "-n",
            self.program.ranks,
            *before,
            self.executable,
            "program",
            "page",
            "threads" if self.program.threads else "alone",
        ]
        options = ["--timeout", TIMEOUT_S, "--on-hang", on_hang]
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

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def processes(self) -> list[int]:
        numbers = struct.unpack_from(f"{MOST_RANKS}i", self.page, 0)
        return [number for number in numbers[: self.program.ranks] if number]

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def live_until_hang(self) -> None:
        while not self.is_over() and not (self.folder / "who").exists():
            if time.monotonic() > self.began + LIMIT_S:
                return
            time.sleep(0.02)

    def live_slowly(self, chance: random.Random) -> None:
        """Ranks are stopped now and then for shorter or longer than the time-out."""
        while not self.is_over() and time.monotonic() < self.began + LIMIT_S:
            time.sleep(chance.uniform(0.1, 1) * TIMEOUT_S)
            processes = self.processes()
            if len(processes) < self.program.ranks or len(self.stops) > 5:
                continue
            for rank in chance.sample(range(self.program.ranks), chance.choice((1, 1, 1, 2))):
                self.stops.append(Stop(rank, time.monotonic()))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(processes[rank], signal.SIGSTOP)
            time.sleep(chance.choice((0.5, 1.4, 1.9, 2.6)) * TIMEOUT_S)
            for stop in self.stops:
                if stop.end == math.inf:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(processes[stop.rank], signal.SIGCONT)
                    stop.end = time.monotonic()

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


def children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


@dataclass
class Outcome:
    seed: int
    mpi: str
    fault: str
    mistakes: list[str]
    text: str
    seconds: float
    said: int  #: lines

    def __str__(self) -> str:
        name = "fault" if self.fault else "slow"
        words = f"tests/look/random_test.py -k '{self.mpi} and {name}'"
        again = f"TOLLBAR_RANDOM_SEEDS={self.seed} .venv/bin/pytest -q -n 0 {words} -m ''"
        short = [line[:400] for line in self.text.splitlines()[-MOST_LINES:]]
        head = f"seed {self.seed}, {self.mpi}, {self.fault or 'no fault'}:"
        return "\n".join([head, *(mistake[:600] for mistake in self.mistakes[:4]), again, *short])


def play(seed: int, mpi: str, with_fault: bool, folder: Path, executable: Path) -> Outcome:
    program = Maker(seed, with_fault, 0 if with_fault else int(1500 * TIMEOUT_S), mpi).make()
    shutil.rmtree(folder, ignore_errors=True)
    job = Job(program, mpi, folder, executable)
    try:
        if with_fault:
            job.live_until_hang()
        else:
            job.live_slowly(random.Random(seed))
    finally:
        page = bytes(job.page)
        until = time.monotonic()
        went_on = job.is_over()
        code = job.end()
    if went_on or not with_fault:
        page, until = bytes(job.page), math.inf
    record = Record(program, page, TIMEOUT_S, until, job.stops)
    judge = Judge(record)
    mistakes = judged_lines(job, judge, until)
    text = job.text()
    if CRASHED.search(text):
        mistakes.append("it crashed: " + CRASHED.search(text)[0])
    if with_fault and not (program.fault == "killed" and not job.is_unnoticed):
        mistakes += of_hang(job, judge, code, until)
    elif with_fault:
        mistakes += [f"exit code {code}"] if code in (0, HUNG) else []
    elif code != 0:
        mistakes.append(f"exit code {code}")
    where = "\n".join(places(record)) if mistakes else ""
    said = sum("tollbar" in line for _, line in job.lines)
    who = (folder / "who").read_text() if (folder / "who").exists() else ""
    return Outcome(seed, mpi, program.fault, mistakes, f"{text}\n{who}\n{where}", time.monotonic() - job.began, said)


def judged_lines(job: Job, judge: Judge, until: float) -> list[str]:
    mistakes = []
    for at, line in job.lines:
        if at <= until and line.startswith("tollbar"):
            mistakes += [
                f"{mistake}: {text}" for text in lines_of(line) if (mistake := judge.mistake(min(at, until), text))
            ]  # fmt: skip
    return mistakes


def of_hang(job: Job, judge: Judge, code: int, until: float) -> list[str]:
    """The faults of how a hang was told."""
    program, mistakes = job.program, []
    astray = program.astray
    if not (job.folder / "said").exists():
        return [f"no hang was said; exit code {code}"]
    if code not in (HUNG, 0) or (code == 0 and job.mpi != "mpich"):  # MPICH's mpiexec may take being ended for an end
        mistakes.append(f"exit code {code}")
    if astray.rank not in judge.named and not waits_untold(judge.record):
        mistakes.append(f"rank {astray.rank} was not named")
    if (job.folder / "who").exists():
        by_who = Judge(judge.record)
        *said, exit_code = (job.folder / "who").read_text().splitlines()
        sentences = [line for line in said if re.search(r" wait(s|ed)|\d+ of \d+ are | stopped", line) and ": " in line]
        for sentence in sentences:
            if mistake := by_who.mistake(until, sentence):
                mistakes.append(f"who: {mistake}: {sentence}")
        if exit_code != "exit code 1":
            mistakes.append(f"who: {exit_code}")
        elif astray.rank not in by_who.named and not waits_untold(judge.record):
            mistakes.append(f"who: rank {astray.rank} was not named")
    stands = judge.record.stands()
    least, most = program.stands("most"), program.stands("least")
    alone = len({lane for lane in stands if lane[0] == astray.rank}) == 1
    for lane, at in stands.items():
        if lane[0] != astray.rank and not (least[lane] if alone else 0) <= at <= most[lane]:
            mistakes.append(f"lane {lane} stands at its step {at}, not at {least[lane]} to {most[lane]}")
    return mistakes


def waits_untold(record: Record) -> bool:
    """Whether ranks wait for a persistent collective call: nothing tells which request a wait is for."""
    lanes, stands = record.lanes, record.stands()
    at = [steps[stands[lane]] for lane, steps in lanes.items() if stands[lane] < len(steps)]
    return any(begun.word == "start" for step in at for begun in step.waits_for)


def places(record: Record) -> list[str]:
    """Each lane's step."""
    lanes, stands = record.program.lanes(), record.stands()
    return [
        f"rank {rank}, lane {lane}, step {stands[rank, lane]} of {len(steps)}: "
        + " ".join(f"[{step.line}]" for step in steps[max(0, stands[rank, lane] - 1) : stands[rank, lane] + 1])
        for (rank, lane), steps in lanes.items()
        if stands[rank, lane] < len(steps) and record.began(steps[0]) < math.inf
    ]
