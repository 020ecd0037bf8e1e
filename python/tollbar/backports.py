# SPDX-License-Identifier: Apache-2.0
"""Functions of newer Pythons that CPython 3.9, the oldest that tollbar runs on, lacks."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ENDED = object()


def zip_equal(*parts: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """zip(strict=True) of Python 3.10: raises ValueError where one part ends before another."""
    for group in itertools.zip_longest(*parts, fillvalue=_ENDED):
        if any(one is _ENDED for one in group):
            raise ValueError("zip_equal(): parts of different lengths")
        yield group


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def entry_points(group: str, name: str) -> Iterable[Any]:
    """entry_points(group=, name=) of Python 3.10. Its module is imported only here, which takes long."""
    from importlib import metadata

    if sys.version_info >= (3, 10):
        return metadata.entry_points().select(group=group, name=name)
    return [entry for entry in metadata.entry_points().get(group, ()) if entry.name == name]


def add_note(error: BaseException, note: str) -> None:
    """BaseException.add_note() of Python 3.11; an older traceback shows no notes, but they are kept."""
    error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
