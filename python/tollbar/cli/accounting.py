# SPDX-License-Identifier: Apache-2.0
"""The report of `tollbar run --report`: who waited how long for whom, in the form that the file's name asks for."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar import files
from tollbar.cli import table
from tollbar.cli.table import Table, column
from tollbar.data import accounts
from tollbar.look import helper

#: The endings of files of reports that are more than lines.
FORMS = (".html", ".json", ".csv")


@dataclass(frozen=True)
class Waited:
    """All waits for one rank, at one call in one place."""

    call: str = column("the collective call")
    communicator: str = column("on which, and its ranks")
    at: str = column("where it was called: function (file:line), else FILE+ADDRESS")
    late: str = column("who came last")
    ranks: int = column("how many waited for it there")
    waits: int = column("how often, all of them together")
    waited_s: float = column("for how long, all together")
    longest_s: float | None = column("the longest of these waits")
    by: str = column("the ranks that waited", detail=True)
    address: str = column("where it was called: FILE+ADDRESS, as addr2line -e FILE ADDRESS takes it", detail=True)


def unwritable(file: str) -> str:
    """The reason why no report can be written to that file; empty where one can."""
    path = Path(file)
    try:
        if file == "-" or (path.exists() and not path.is_file() and not path.is_dir() and os.access(path, os.W_OK)):
            return ""  # a pipe may wait for its reader
        is_new = not path.exists()
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        return f"cannot write {file}: {error.strerror}; name another file with --report"
    return ""


def write(lines: Sequence[str], file: str, form: str, command: str) -> None:
    """Writes what the ranks have told at their end. Whatever fails here, the job has had its end: it is said, and a
    table goes to stderr instead."""
    try:
        account = accounts.read(lines)
        names = _names(account) if account else {}
        if account is None:
            print("tollbar run: nothing to report: the ranks have not come to MPI_Finalize", file=sys.stderr)
            return
        try:
            _put(_text(account, names, _form(file, form), command), file)
        except Exception as error:
            _say_failure(error, file)
            print(_text(account, names, "table", command), end="", file=sys.stderr)
        worst = next(iter(account.late().items()), None)
        said = f"{account.waited_s:.3g} s of all ranks in waiting for others"
        said += f", {worst[1]:.3g} s of it for {accounts.name_of(worst[0])}" if worst else ""
        print(f"tollbar run: {said}", file=sys.stderr)
    except Exception as error:
        with contextlib.suppress(OSError):  # nobody reads it
            _say_failure(error, "the report")


def _form(file: str, form: str) -> str:
    return Path(file).suffix.removeprefix(".") if file.endswith(FORMS) else form


def _names(account: accounts.Account) -> dict[str, str]:
    """Names of the places whose files are here as well. An inode is that of another file on another host."""
    are_here = set(account.ranks.values()) == {os.uname().nodename}
    return helper.names({place: (build, inode if are_here else 0) for place, (build, inode) in account.files.items()})


def _text(account: accounts.Account, names: Mapping[str, str], form: str, command: str) -> str:
    if form == "html":
        from tollbar.report import waits

        return waits.of(account.with_names(names), command)
    rows = [
        Waited(
            *total.place[:2], names.get(total.place[2], total.place[2]), accounts.name_of(total.late),
            len(total.by), total.waits, total.waited_s, total.longest_s,
            " ".join(map(str, total.by)), total.place[2],
        )
        for total in account.sums
    ]  # fmt: skip
    text = io.StringIO()
    table.write(Table(rows, Waited, digits=3), form, text)
    return text.getvalue()


def _put(text: str, file: str) -> None:
    if file == "-":
        print(text, end="", file=sys.stderr)
        return
    if file.endswith(FORMS):
        files.write(file, text)
        return
    with Path(file).open("a", encoding="utf-8") as out:
        out.write(text)


def _say_failure(error: Exception, file: str) -> None:
    if not isinstance(error, OSError):  # a fault of ours
        traceback.print_exception(error)
    print(f"tollbar run: cannot write {file}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
