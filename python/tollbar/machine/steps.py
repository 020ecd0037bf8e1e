# SPDX-License-Identifier: Apache-2.0
"""A step of Slurm each of whose ranks has a `tollbar run` of its own: that of rank 0 puts what the others have to know
into a file of its user's, in a folder that all hosts see."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tollbar import _native, environment
from tollbar.machine import slurm

PATIENCE_S = 10.0  #: for the file: the runs of a step start at about the same time
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 0.5
NEEDED_S = 60.0  #: for which the file is needed: each run looks for it at its start alone
_LEFT_OVER_S = 86400.0
_MOST_BYTES = 4096
_BEGIN = ".tollbar-step-"


@dataclass(frozen=True)
class Place:
    """This process's place in a step of several ranks."""

    step: str  #: the same on all ranks of one start of a step, and on no others of this cluster
    rank: int
    ranks: int
    is_first_of_host: bool
    launcher: str  #: the address of srun's host

    @property
    def address(self) -> str:
        """The address by which this host and that of srun speak: Slurm lets all hosts of a job reach it. Raises
        OSError."""
        [(family, kind, protocol, _, to), *_] = socket.getaddrinfo(self.launcher, 9, type=socket.SOCK_DGRAM)
        with socket.socket(family, kind, protocol) as unsent:
            unsent.connect(to)
            return str(unsent.getsockname()[0])


def place(variables: Mapping[str, str]) -> Place | None:
    """The place of the process with this environment; None: it is not one of several ranks that srun has started."""
    if not slurm.has_started(variables):
        return None
    try:
        rank, ranks = int(variables["SLURM_PROCID"]), int(variables["SLURM_STEP_NUM_TASKS"])
    except (KeyError, ValueError):
        return None
    own = variables.get("PMIX_NAMESPACE", "").removeprefix("slurm.pmix.") or variables.get("PMI_JOBID", "")
    start = variables.get("SLURM_RESTART_COUNT") or "0"
    words = [variables.get("SLURM_CLUSTER_NAME") or "cluster", own, start]
    launcher = variables.get("SLURM_LAUNCH_NODE_IPADDR", "")
    if ranks < 2 or not launcher or any("/" in word for word in words):
        return None
    return Place(".".join(words), rank, ranks, variables.get("SLURM_LOCALID") == "0", launcher)


@contextlib.contextmanager
def publish(to: Place, text: str) -> Iterator[None]:
    """Tells it to the other runs of the step, until the end of the block. Raises OSError where no folder takes a
    file."""
    problem: OSError = FileNotFoundError("there is no folder for a file")
    count = 0
    with contextlib.ExitStack() as written:
        for file in _files(to):
            try:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _remove_left_overs(file.parent)
                _write(file, text)
            except OSError as error:
                problem = error
            else:
                written.callback(_remove, file)
                count += 1
        if not count:
            raise problem
        yield


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


def _remove_left_overs(folder: Path) -> None:
    """Removes this user's files of steps that were killed, long after anybody could look for them."""
    for file in folder.glob(f"{_BEGIN}*"):
        with contextlib.suppress(OSError):
            status = file.lstat()
            if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _LEFT_OVER_S:
                file.unlink()


def _write(file: Path, text: str) -> None:
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as to:
            to.write(text)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def learned(place: Place, patience_s: float | None = None) -> str | None:
    """The text of rank 0's run; None where none has come in that time."""
    end = time.monotonic() + (PATIENCE_S if patience_s is None else patience_s)
    pause_s = _FIRST_PAUSE_S
    while True:
        for file in _files(place):
            if (text := _read(file)) is not None:
                return text
        if time.monotonic() > end:
            return None
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        if place.is_first_of_host:
            _look_anew(place)


def _read(file: Path) -> str | None:
    """The text of a file that nobody else can have written or read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, errors="replace") as content:
        status = os.fstat(descriptor)
        is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        return content.read(_MOST_BYTES) if is_own and not stat.S_IMODE(status.st_mode) & 0o077 else None


def _look_anew(place: Place) -> None:
    """A host remembers for up to half a minute that NFS had no such file, unless it changes the folder itself."""
    for file in _files(place):
        with contextlib.suppress(OSError):
            os.utime(file.parent)


def _files(place: Place) -> list[Path]:
    """In the user's cache, and in the folder in which the job was started: hosts share one of them at least."""
    folders = []
    with contextlib.suppress(_native.InvalidArgument):
        folders.append(environment.cache_folder())
    with contextlib.suppress(OSError):
        folders.append(Path.cwd())
    return [folder / f"{_BEGIN}{place.step}" for folder in folders]
