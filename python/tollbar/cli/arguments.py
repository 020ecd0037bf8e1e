# SPDX-License-Identifier: Apache-2.0
"""Arguments that several commands share: numbers, names, lists, ranks, plans, LogP parameters, tables."""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import tollbar
from tollbar.cli import suggest
from tollbar.cli.errors import WrongUse

#: A function that argparse calls with an option's text.
Reader = Callable[[str], Any]

#: Every algorithm of the catalogue with its default parameters.
CATALOGUE = tuple(algorithm.name for algorithm in tollbar.catalogue())

#: Plans that run everywhere.
DEFAULT_PLANS = tuple(algorithm.name for algorithm in tollbar.catalogue() if not algorithm.runs_on)

#: Plans of these without roles: between hosts no store and no broadcast releases all at once.
MESSAGE_PLANS = tuple(
    algorithm.name for algorithm in tollbar.catalogue() if not algorithm.runs_on and not algorithm.player
)

#: The least number above 0, as a limit.
ABOVE_0 = math.ulp(0.0)


def number(kind: type, low: float, high: float = math.inf, what: str = "number") -> Reader:
    """One number from `low` to `high`, such as number(int, 1, 64, "number of hosts")."""
    within = f", at least {low:g}" if high == math.inf else f" from {_plain(low)} to {_plain(high)}"
    within = " above 0" if (low, high) == (ABOVE_0, math.inf) else within

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and low <= value <= high):
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a {'whole ' * (kind is int and what == 'number')}{what}{within}"
            )
        return value

    return read


def _plain(limit: float) -> str:
    return "2^64 - 1" if limit == 2**64 - 1 else f"{limit:g}" if abs(limit) < 1e6 else str(limit)


def one_of(known: Sequence[str]) -> Reader:
    """One of these names; another one is answered with that which was probably meant."""

    def read(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"'{text}' is not known; {suggest.instead(text, known)}")
        return text

    return read


def listed(read: Reader) -> Reader:
    """A reader of values with commas between, each read by `read` and kept once."""
    return lambda text: tuple(dict.fromkeys(read(part) for part in text.split(",")))


def pairs(readers: Mapping[str, Reader]) -> Reader:
    """`KEY=VALUE,...` with these keys, each once; a part without = belongs to the value before it."""

    def read(text: str) -> dict[str, Any]:
        texts: dict[str, str] = {}
        key = ""
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals and key:
                texts[key] += "," + part
                continue
            if not equals:
                raise argparse.ArgumentTypeError(f"'{part}' is not KEY=VALUE")
            if name not in readers:
                raise argparse.ArgumentTypeError(f"{name}=: {suggest.instead(name, readers)}")
            if name in texts:
                raise argparse.ArgumentTypeError(f"{name}= is given twice")
            key, texts[name] = name, value
        return {key: _named(readers[key], key, value) for key, value in texts.items()}

    return read


def _named(read: Reader, key: str, text: str) -> Any:
    try:
        return read(text)
    except (argparse.ArgumentTypeError, argparse.ArgumentError) as error:
        raise argparse.ArgumentTypeError(f"{key}={text}: {getattr(error, 'message', error)}") from None


#: A time in microseconds, of at least 0.
microseconds = number(float, 0, what="number of microseconds")

#: A time in seconds, such as a limit.
seconds = number(float, 0.001, 1e6, "number of seconds")

#: The seed of everything that is drawn by chance.
seed = number(int, 0, 2**64 - 1, "whole number")


def computing(text: str) -> tuple[float, float]:
    """`US` or `US~SHARE`: a computing time, and by which share each one is longer or shorter."""
    us, varies, share = text.partition("~")
    return microseconds(us), number(float, 0, 1, "share")(share) if varies else 0.0


def plan(text: str, others: Sequence[str] = ()) -> str:
    """One of the others, or a spelling whose names are in the catalogue.

    Whether the parameters fit is seen when the plan is made.
    """
    known = [*others, *dict.fromkeys(name.partition(":")[0] for name in CATALOGUE)]
    for level in [] if text in others else text.split("/"):
        name = re.split(r"@|(?<!:):(?!:)", level)[0]
        if name not in known[len(others) :]:
            problem = f"plan '{text}': there is no algorithm '{name}'; {suggest.instead(name, known)}"
            raise argparse.ArgumentError(None, problem)
    return text


def plan_of(others: Sequence[str]) -> Reader:
    """Reads a plan, or one of the others."""
    return lambda text: plan(text, others)


#: Why a file and --ranks do not go together.
OWN_RANKS = "a FILE has its own number of ranks, one line each"


def plan_or_file(text: str) -> str | Path:
    """A file is named by a dot or a slash at its beginning, or by its being there."""
    try:
        return plan(text)
    except argparse.ArgumentError:
        if Path(text).exists() or text.startswith(("/", ".")) or "." in text:
            return Path(text)
        raise


def read_plan(path: Path) -> tollbar.Plan:
    """The plan whose words the file holds, as `tollbar show` prints them; its name is the path."""
    try:
        return tollbar.parse_plan(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongUse(f"{path} is not text; write a plan as `tollbar show` prints it") from None
    except ValueError as error:
        raise WrongUse(f"{path}: {error}") from None


#: A number of ranks, 1 or more.
rank_count = number(int, 1, tollbar.max_ranks, "number of ranks")


def add_plans(parser: argparse.ArgumentParser, default: Sequence[str], about: str) -> None:
    parser.add_argument("plans", nargs="*", type=plan, default=default, metavar="PLAN", help=f"default: {about}")


def add_ranks(parser: argparse._ActionsContainer, about: str, name: str = "--ranks", **more: Any) -> None:
    parser.add_argument(name, type=rank_counts, metavar="P[,P...]", help=about, **more)


def add_mpis(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--mpi", type=names, default=(), metavar="NAME,...", help=about)


def rank_counts(text: str) -> list[range]:
    """`A`, `A..B` or a list of both with commas, such as 1..64,100,128."""
    return [_rank_range(part) for part in text.split(",")]


def _rank_range(text: str) -> range:
    first, dots, last = text.partition("..")
    if not dots:
        return range(rank_count(first), rank_count(first) + 1)
    if not first or not last:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range; write A..B, such as 1..64")
    if rank_count(first) > rank_count(last):
        raise argparse.ArgumentTypeError(f"the range '{text}' is empty; write the smaller number first")
    return range(rank_count(first), rank_count(last) + 1)


def sizes(ranges: list[range]) -> Sequence[int]:
    """The sizes of `ranges` in the order given, each once."""
    if len(ranges) == 1:
        return ranges[0]  # perhaps millions of sizes: do not write them out
    return list(dict.fromkeys(chain.from_iterable(ranges)))


#: The transports whose parameters `tollbar logp measure` stores.
MEASURED = ("threads", "mpi", "udp")


def names(text: str) -> tuple[str, ...]:
    """The words between commas."""
    return tuple(part for part in text.split(",") if part)


def logp(text: str) -> tollbar.LogP:
    """`L,o,g` or `L,o_s,o_r,g` in microseconds, or a transport, whose newest stored measurement is taken."""
    try:
        if text.partition(":")[0] in MEASURED:
            from tollbar.campaigns import logp as logp_measure

            return logp_measure.stored(text).logp
        return tollbar.LogP.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def late_rank(text: str) -> tuple[int, float]:
    """`RANK:US`: this rank enters so many microseconds after the others."""
    rank, _, by_us = text.partition(":")
    try:
        late = int(rank), float(by_us)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not RANK:US, such as 3:12.5") from None
    if late[0] < 0:
        raise argparse.ArgumentTypeError(f"'{text}': ranks start at 0")
    return late


def read_csv(path: Path, text: str, columns: Mapping[str, Reader]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line and the values of each row of a CSV with these columns, in any order and beside others.

    Raises WrongUse that names the line and the column.
    """
    lines = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    header = lines.fieldnames or ()
    for name in columns:
        if header.count(name) != 1:
            header_text = f"it has {','.join(header)}" if header else "it is empty"
            raise WrongUse(f"{path}: line 1: column {name} is needed once, {header_text}")
    rows = 0
    for line in _lines(lines, path):
        rows += 1
        where = f"{path}: line {lines.line_num}"
        if None in line:
            quote = 'quote a value that has a comma, as in "mcs:4,2"'
            raise WrongUse(f"{where}: more fields than columns; {quote}")
        yield lines.line_num, {name: _cell(line[name], read, name, where) for name, read in columns.items()}
    if not rows:
        raise WrongUse(f"{path}: line 2: there is no row below the header")


def _cell(text: str | None, read: Reader, name: str, where: str) -> Any:
    try:
        return read((text or "").strip())
    except argparse.ArgumentTypeError as error:
        raise WrongUse(f"{where}, column {name}: {error}") from None


def _lines(lines: csv.DictReader, path: Path) -> Iterator[dict[str | None, Any]]:
    try:
        yield from lines
    except csv.Error as error:
        raise WrongUse(f"{path}: line {lines.line_num}: {error}") from None


def read_text(path: Path) -> str:
    """The text of a file. Raises WrongUse where it is no text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUse(f"{path}: not a text file") from None
