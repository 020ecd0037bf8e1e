# SPDX-License-Identifier: Apache-2.0
"""Writes the file that -o names."""

from __future__ import annotations

from pathlib import Path

from tollbar import files
from tollbar.cli.errors import WrongUse


def write(path: Path, content: str | bytes) -> None:
    """As files.write; raises WrongUse that names the file."""
    try:
        files.write(path, content)
    except OSError as error:
        raise WrongUse(f"cannot write {path}: {error.strerror}; name another file with -o") from None
