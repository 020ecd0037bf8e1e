# SPDX-License-Identifier: Apache-2.0
"""Programs before they are started: what their files tell, and why no library of ours is preloaded into one."""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LIMIT_S = 20.0
_MOST_BYTES = 256 << 20  #: of a file, in which names are looked for
_MOST_INTERPRETERS = 4  #: as in the kernel
_OTHER_ROOTS = frozenset({"chroot", "bwrap", "proot", "apptainer", "singularity", "docker", "podman", "enroot"})

_HEADER = struct.Struct("<4xBB10xHH4xQQ")  #: class, byte order, type, machine, entry, program headers
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SEGMENTS_AT, _PT_INTERP, _CLASS_64 = 54, 3, 2


@dataclass(frozen=True)
class Program:
    """The file that the kernel loads for a word: of a script, its interpreter's."""

    word: str
    path: str
    is_readable: bool = True
    is_elf: bool = False
    kind: tuple[int, ...] = ()  #: class, byte order and machine
    loader: str = ""  #: that it names; none where it is linked statically

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @functools.cached_property
    def linked(self) -> str:
        """The text of ldd: the libraries, and where they lie."""
        return output(["ldd", self.path]) if self.loader and self.kind == _own().kind and _loads_alike(self) else ""

    def holds(self, mark: bytes) -> bool:
        """Whether those bytes are in the file."""
        try:
            with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(mark, 0, _MOST_BYTES) >= 0
        except (OSError, ValueError):
            return False


def output(command: Sequence[str]) -> str:
    """The text that a command prints; nothing where it cannot be run, or has not ended in time."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def read(word: str | Path) -> Program | None:
    """The program of that word's own file, no interpreter; None where there is none to run."""
    path = shutil.which(word)
    try:
        file = os.stat(path) if path else None
    except OSError:
        file = None
    return _read(str(word), str(path), file.st_mtime_ns, file.st_ino) if file else None


@functools.lru_cache(maxsize=64)
def _read(word: str, path: str, _changed: int, _number: int) -> Program:
    """Once for each state of the file."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
            if head[:4] != b"\x7fELF" or len(head) < 64:
                return Program(word, path)
            size, order, _, machine, _, at = _HEADER.unpack_from(head)
            if size != _CLASS_64 or order != 1:
                return Program(word, path, is_elf=True, kind=(size, order, machine))
            size_of_each, count = struct.unpack_from("<HH", head, _SEGMENTS_AT)
            loader = b""
            for number in range(count if size_of_each == _SEGMENT.size else 0):
                file.seek(at + number * size_of_each)
                kind, _, offset, _, _, length, *_ = _SEGMENT.unpack(file.read(size_of_each))
                if kind == _PT_INTERP:
                    file.seek(offset)
                    loader = file.read(min(length, 4096)).rstrip(b"\0")
    except PermissionError:
        return Program(word, path, is_readable=False)
    except (OSError, struct.error):
        return Program(word, path)
    return Program(word, path, is_elf=True, kind=(size, order, machine), loader=os.fsdecode(loader))


def loaded(word: str | Path) -> Program | None:
    """The program that the kernel loads for that word: behind the first lines of scripts, and behind env there."""
    program = read(word)
    for _ in range(_MOST_INTERPRETERS):
        if program is None or program.is_elf or not program.is_readable:
            return program
        with contextlib.suppress(OSError):
            with open(program.path, "rb") as file:
                first = file.readline(256).decode(errors="replace")
            words = first.removeprefix("#!").split() if first.startswith("#!") else ["/bin/sh"]
            if os.path.basename(words[0]) == "env":
                words = [one for one in words[1:] if not re.match(r"-|\w+=", one)] or words
            program = read(words[0])
    return program


@functools.lru_cache(maxsize=1)
def _own() -> Program:
    return read("/proc/self/exe") or Program("", "")


def _loads_alike(program: Program) -> bool:
    """Whether the loader of our own process loads it, or none does."""
    own = _own().loader
    if not program.loader or not own:
        return not program.loader or "ld-linux" in os.path.basename(program.loader)
    return os.path.realpath(program.loader) == os.path.realpath(own)


@dataclass(frozen=True)
class Reason:
    """A reason for which nothing is preloaded. One that only `may` hold gives way to a door that the user names."""

    holds: Callable[[Program], bool]
    text: str
    may: bool = False


#: The first that holds is said. Doors themselves stay shut under checkers (src/base/checkers.cpp).
REASONS = (
    Reason(lambda one: not one.is_readable, "its file cannot be read, so that nothing is known of it", may=True),
    Reason(lambda one: one.is_elf and one.kind != _own().kind, "it is for another processor than this command"),
    Reason(lambda one: one.is_elf and not _loads_alike(one), "{loader} loads it, and not this machine's glibc"),
    Reason(lambda one: one.name.startswith("qemu-"), "it runs programs for other processors"),
    Reason(lambda one: one.name in _OTHER_ROOTS, "what it runs has another root folder", may=True),
    Reason(
        lambda one: "libasan.so" in one.linked and one.holds(b"\0__asan_default_options\0"),
        "its address sanitizer wants to come first",
    ),
)


def shut(word: str, is_wanted: bool = False) -> str:
    """The reason why no library is preloaded into that program; empty where one is. `is_wanted`: the user has named a
    door."""
    program = loaded(word)
    if program is None:
        return ""
    reasons = (reason for reason in REASONS if not (is_wanted and reason.may) and reason.holds(program))
    return next((f"{word} gets no library: {one.text.format(loader=program.loader)}" for one in reasons), "")


def without_effect(word: str | Path) -> str:
    """The reason why a preloaded library reaches only what that program starts; empty where it reaches the program."""
    program = loaded(word)
    if program is None or not program.is_elf:
        return ""
    if not program.loader:
        return "it is linked statically"
    try:
        mode = os.stat(program.path).st_mode
        if mode & 0o6000 or "security.capability" in os.listxattr(program.path):
            return "it runs with the rights of its file"
    except OSError:
        pass
    return ""


def refusal(word: str, problem: str = "") -> str:
    """The reason why that word cannot be run, and what mends it; `problem`: the kernel's words."""
    path = Path(word)
    if shutil.which(word) is None and ("/" not in word or not path.exists()):
        return f"there is no program {word}"
    path = Path(shutil.which(word) or word)
    if path.is_dir():
        return f"{word} is a folder"
    if not os.access(path, os.X_OK):
        return f"{word} cannot be run: no permission (chmod +x {word})"
    return f"{word} cannot be run: {problem or 'the kernel does not know its form'}"


def has_musl() -> bool:
    """Whether programs of musl run here: its loader fails where it finds a library of glibc in LD_PRELOAD."""
    return any(Path("/lib").glob("ld-musl-*.so.1"))
