# SPDX-License-Identifier: Apache-2.0
"""The TOLLBAR_ variables, as the library reads them. As a module that is run it prints their page."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple, TextIO

with contextlib.suppress(ImportError):  # tollbar.paths, which imports this, says how to mend that
    from tollbar import _native

_OPENING = """\
# Environment variables

These variables have the same meaning for all doors.
An empty variable counts as unset.
An unknown value is reported in one line on stderr, with the accepted ones; then the default is used.
Options in the program override the variable, and so do the parameters of Open MPI's component
(`--mca coll_tollbar_plan`, `coll_tollbar_timeout`, `coll_tollbar_network`, `coll_tollbar_verbose`).

| variable | values | default | read by |
| --- | --- | --- | --- |
"""

_CLOSING = """
The cache folder is `$XDG_CACHE_HOME`, if that is an absolute path, else `~/.cache`.

The table is the library's own; `python -m tollbar.environment` prints this page.
"""


class Variable(NamedTuple):
    """A row of the library's table."""

    name: str
    accepted: str
    default: str
    meaning: str
    readers: str


class Setting(NamedTuple):
    """A variable that is set."""

    name: str
    value: str
    complaint: str  #: one line; empty when the value is accepted


def settings() -> list[Setting]:
    """The process's variables whose names begin with TOLLBAR_ and that are not empty, by name."""
    return [Setting(*row) for row in _native.settings()]


def complaints() -> list[tuple[str, str]]:
    """(variable, what is wrong) for each TOLLBAR_ variable that is unknown or has an unknown value."""
    return [(one.name, one.complaint) for one in settings() if one.complaint]


def warn_about_unknown_values(out: TextIO) -> None:
    """One line each on `out`; nobody's program is stopped for a misspelled variable."""
    for _, complaint in complaints():
        print(f"tollbar: {' '.join(complaint.split())}", file=out)


def value(name: str) -> str | None:
    """The variable's value; None when it is unset, empty or not accepted, so that the default is taken."""
    setting = next((setting for setting in settings() if setting.name == name), None)
    return setting.value if setting and not setting.complaint else None


def cache_folder() -> Path:
    """The user's folder for what tollbar may measure again. Raises InvalidArgument where there is no home."""
    return _existing(_native.cache_folder())


def tuning_file() -> Path:
    """The tuning file that the library reads. Raises InvalidArgument where there is no home."""
    return _existing(_native.tuning_file())


def _existing(path: str) -> Path:
    if not path:
        raise _native.InvalidArgument("there is no folder for what is stored: set HOME")
    return Path(path)


def page() -> str:
    """docs/reference/environment.md."""
    table = [Variable(*row) for row in _native.variables()]
    rows = [f"| `{one.name}` | {one.accepted} | {one.default} | {one.readers} |" for one in table]
    meanings = [f"\n`{one.name}`: {one.meaning}\n" for one in table]
    return _OPENING + "\n".join(rows) + "\n" + "".join(meanings) + _CLOSING


if __name__ == "__main__":
    print(page(), end="")
