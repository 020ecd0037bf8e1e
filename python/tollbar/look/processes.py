# SPDX-License-Identifier: Apache-2.0
"""The processes that a number or a name means, and the ranks of an MPI job among them."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tollbar import _native
from tollbar.look import launchers as variables_of

_PYTHON = re.compile(r"(python|pypy)[\d.]*$")
_TAKES_WORD = ("-W", "-X", "--check-hash-based-pycs")  #: options of Python
#: They start ranks on other hosts, some of them, as Slurm's, through a daemon that is nobody's child here.
_LAUNCHERS = (
    "srun", "salloc", "sbatch", "mpirun", "mpiexec", "orterun", "oshrun", "prun", "prterun", "hydra_pmi_proxy",
)  # fmt: skip
_MPI_LIBRARIES = ("libmpi.", "libmpi_", "libmpich", "libmpi-")


@dataclass(frozen=True)
class Process:
    number: int
    parent: int
    name: str
    words: tuple[str, ...]

    def is_called(self, name: str) -> bool:
        """By the name of its program, of the script or module that an interpreter runs, or of what Python's
        module is given first: `python -m pytest test_a.py` is called pytest and test_a.py as well."""
        return name == self.name or name in (os.path.basename(word) for word in (*self.words[:1], *self._scripts()))

    @property
    def program(self) -> tuple[str, ...]:
        """The file that it runs, and the script or module where that is an interpreter."""
        return (*self.words[:1], *self._scripts()[:1]) if self.words and _is_python(self.words[0]) else self.words[:1]

    def _scripts(self) -> list[str]:
        words = list(self.words[1:])
        if not self.words or not _is_python(self.words[0]):
            return words[:1]
        while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
            words = words[2 if words[0] in _TAKES_WORD else 1 :]
        if words[:1] == ["-m"]:
            return [*words[1:2], *[word for word in words[2:] if not word.startswith("-")][:1]]
        return words[:1] if words[:1] != ["-c"] else []


def _is_python(word: str) -> bool:
    return bool(_PYTHON.match(os.path.basename(word)))


def everything() -> dict[int, Process]:
    """All processes that can be seen."""
    return {process.number: process for path in Path("/proc").glob("[0-9]*") if (process := _process(path))}


def _process(folder: Path) -> Process | None:
    try:
        stat = (folder / "stat").read_text(errors="replace")
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    name = stat[stat.index("(") + 1 : stat.rindex(")")]
    state, parent = stat[stat.rindex(")") + 2 :].split()[:2]
    return None if state in "ZX" else Process(int(folder.name), int(parent), name, tuple(filter(None, words)))


def meant(word: str, there: dict[int, Process]) -> list[int]:
    """The processes that a word names, by number or name; not this command, nor those that started it."""
    if is_number(word):
        return [int(word)] if int(word) in there else []
    own = set(upwards(os.getpid(), there))
    return [process.number for process in there.values() if process.is_called(word) and process.number not in own]


def is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def launchers(numbers: Iterable[int], there: dict[int, Process]) -> list[Process]:
    """The processes among these that start ranks of an MPI."""
    return [there[number] for number in numbers if there[number].name.partition(".")[0] in _LAUNCHERS]


def below(number: int, there: dict[int, Process]) -> list[int]:
    """All that a process has started, directly or through others, and that is there."""
    return [other for other in there if other != number and number in upwards(other, there)]


def upwards(number: int, there: dict[int, Process]) -> Iterator[int]:
    """A process and its ancestors, the nearest first."""
    while number in there:
        yield number
        number = there[number].parent


def ranks(numbers: list[int], there: dict[int, Process]) -> dict[int, tuple[int, int | None]]:
    """The ranks among those processes and what they have started: rank and number of ranks of each. A rank
    stands for its job on this host, all that its launcher has started here."""
    tops = {_launcher(number, there) for number in numbers}
    started = (number for number in there if tops.intersection(upwards(number, there)))
    ranked = {number: rank for number in started if (rank := rank_of(number))}
    return {number: rank for number, rank in ranked.items() if there[number].parent not in ranked}


def _launcher(number: int, there: dict[int, Process]) -> int:
    """The process that has started a rank; any other process itself."""
    above = _native.launcher_of(number) if rank_of(number) else number
    return above if above in there else number


def of_user(there: dict[int, Process]) -> list[int]:
    """This user's processes that are ranks of a job."""
    own = [number for number in there if _owner(number) == os.geteuid()]
    return list(ranks(own, there)) if own else []


def _owner(number: int) -> int | None:
    try:
        return os.stat(f"/proc/{number}").st_uid
    except OSError:
        return None


def rank_of(number: int) -> tuple[int, int | None] | None:
    """Rank and number of ranks, where the process has such variables and an MPI in its memory."""
    own = variables(number)
    if variables_of.rank(own, of_mpi=True) is None:
        return None
    try:
        maps = Path(f"/proc/{number}/maps").read_text(errors="replace")
    except OSError:
        return None
    return variables_of.rank(own, of_mpi=True) if any(f"/{library}" in maps for library in _MPI_LIBRARIES) else None


def all_here(number: int) -> bool:
    """Whether a rank says that all ranks of its job are on its host."""
    return variables_of.is_all_here(variables(number))


def seats(ranks: Iterable[int]) -> set[str]:
    """The files in which ranks under `tollbar run --timeout` keep account of their calls, one a job. A file
    of another namespace of process numbers is left out: its numbers mean others here."""
    files: dict[str, str] = {}
    for rank in ranks:
        with contextlib.suppress(OSError):  # it has ended, or a file has been closed
            if os.path.samefile(f"/proc/{rank}/ns/pid", "/proc/self/ns/pid"):
                files |= {os.readlink(link): str(link) for link in Path(f"/proc/{rank}/fd").glob("*")}
    return {link for file, link in files.items() if _native.is_seats_file(file)}


def variables(number: int) -> dict[str, str]:
    """The environment with which that process was started; empty where it may not be read."""
    try:
        entries = Path(f"/proc/{number}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(entry.partition("=")[::2] for entry in entries)


def refusal(number: int, is_ours: bool = False) -> str | None:
    """Why that process may not be looked at, in one line with what would help; None where it may. `is_ours`: this
    command has started it."""
    try:
        Path(f"/proc/{number}/syscall").read_text()
    except PermissionError:
        return explain(number, scope(), _owner(number), os.geteuid(), is_ours)
    except OSError:
        return None
    if any(may_read(number) for may_read in (_may_read_file, _may_call)):
        return None
    return (
        f"the memory of process {number} may not be read: a filter of system calls or a security module forbids "
        "process_vm_readv and /proc/PID/mem; look from outside of the container"
    )


def _may_read_file(number: int) -> bool:
    """Whether its memory can be read by its file; also where it has none any more."""
    try:
        with Path(f"/proc/{number}/mem").open("rb", buffering=0) as memory:
            memory.seek(_readable(number))
            return bool(memory.read(8))
    except (PermissionError, NotImplementedError):
        return False
    except OSError:
        return True


def _may_call(number: int) -> bool:
    """Whether process_vm_readv is permitted; also where the process has ended."""
    word = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(word), 8)
    try:
        remote = (ctypes.c_size_t * 2)(_readable(number), 8)
    except OSError:
        return True
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.process_vm_readv(number, local, 1, remote, 1, 0) == 8 or ctypes.get_errno() == errno.ESRCH


def _readable(number: int) -> int:
    """The first address that can be read; 0: none."""
    for line in Path(f"/proc/{number}/maps").read_text(errors="replace").splitlines():
        area, rights = line.split()[:2]
        if rights.startswith("r"):
            return int(area.partition("-")[0], 16)
    return 0


def scope() -> int | None:
    """kernel.yama.ptrace_scope; None where the kernel has no Yama."""
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return None


def explain(number: int, yama: int | None, owner: int | None, user: int, is_ours: bool = False) -> str:
    start = "" if is_ours else ", or start it by tollbar run --on-hang"
    if owner is not None and owner != user and user != 0:
        return f"process {number} belongs to another user (uid {owner}): look as that user or as root"
    if yama == 3:
        return (
            "kernel.yama.ptrace_scope is 3, which forbids looking until the next boot: "
            "tollbar run --timeout needs no such right"
        )
    if yama:
        return (
            f"kernel.yama.ptrace_scope is {yama}, which keeps process {number} from being looked at: "
            "look as root, or sudo sysctl kernel.yama.ptrace_scope=0"
            + (f"{start}, which may look" if yama == 1 and start else "")
        )
    return (
        f"process {number} may not be looked at: CAP_SYS_PTRACE is missing (in a container: "
        f"--cap-add SYS_PTRACE), or the process is set-uid or its file cannot be read; look as root{start}"
    )
