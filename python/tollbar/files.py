# SPDX-License-Identifier: Apache-2.0
"""Writes a file that somebody has named: a page, a picture, a report."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a regular file, or one that is not there yet, whole or not at all; a link's target is written, never
    the link replaced. A pipe, a device and what this process prints to are written in place.

    Raises OSError that names `path`.
    """
    whole = content.encode() if isinstance(content, str) else content
    try:
        if (output := _own_output(path)) is not None:
            with open(output, "wb", closefd=False) as file:
                file.write(whole)
        elif not (_may_be_replaced(path) and _replace(Path(os.path.realpath(path)), whole)):
            with open(path, "wb") as file:
                file.write(whole)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def _own_output(path: str | os.PathLike[str]) -> int | None:
    """The number under which this process prints to that very file: what it prints later goes behind."""
    for number in (1, 2):
        with contextlib.suppress(OSError):  # there may be no such file, or no such output
            if os.path.samestat(os.stat(path), os.fstat(number)):
                return number
    return None


def _may_be_replaced(path: str | os.PathLike[str]) -> bool:
    """Whether the file is absent, or nobody holds on to the file itself by another name or as its owner."""
    try:
        known = os.stat(path)
    except FileNotFoundError:
        return True
    return stat.S_ISREG(known.st_mode) and known.st_nlink == 1 and known.st_uid == os.geteuid()


def _replace(target: Path, whole: bytes) -> bool:
    """Puts a new file in its place in one step; False where the folder takes no new file."""
    part = target.with_name(f".tollbar-{os.getpid()}.part")
    try:
        file = part.open("xb")
    except PermissionError:
        return False
    try:
        with file:
            file.write(whole)
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return True
