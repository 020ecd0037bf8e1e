# SPDX-License-Identifier: Apache-2.0
"""tollbar show: prints a plan as text, as a drawing (SVG) or as LogGOPSim's GOAL."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import tollbar
from tollbar.cli import arguments, output
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns, verb


@dataclass(frozen=True)
class Word:
    rank: int | str = column("the rank, or the role by its letter")
    program: str = column("its word: !p signals p, ?p awaits p")


@dataclass(frozen=True)
class Document:
    plan: str = column("the plan's spelling")
    ranks: int = column("number of ranks")
    kind: str = column("text, svg or goal")
    file: str | None = column("where it was written with -o")
    document: str | None = column("the text itself, without -o")


def add_parser(commands) -> None:
    parser = verb(
        commands,
        "show",
        __doc__,
        f"--as text, {describe_columns(Word)}\n\n--as svg|goal and -o, {describe_columns(Document)}",
    )
    parser.add_argument(
        "plan",
        type=arguments.plan_or_file,
        metavar="PLAN|FILE",
        help="a plan, such as mcs:4,2 or central@4/dissemination, or a file with the words of one",
    )
    parser.add_argument("--ranks", type=arguments.rank_count, metavar="P", help="number of ranks of a PLAN")
    parser.add_argument("--as", dest="kind", choices=("text", "svg", "goal"), default="text", help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE; the row says where it is")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    plan = _plan(args.plan, args.ranks)
    if args.kind == "text" and not args.output:
        members: Iterator[int | str] = chain(range(plan.ranks), plan.roles)
        words = (Word(member, " ".join(plan.program(member))) for member in members)
        if args.format == "table":  # perhaps millions of lines, of which the first are looked at
            return Table([], Word, text=(f"{word.rank}: {word.program}".rstrip() + "\n" for word in words))
        return Table(list(words), Word)
    text = _document(plan, args.kind)
    if args.output:
        output.write(args.output, text)
        return Table([Document(str(args.plan), plan.ranks, args.kind, str(args.output), None)], text="")
    return Table([Document(str(args.plan), plan.ranks, args.kind, None, text)], text=text)


def _plan(named: str | Path, ranks: int | None) -> tollbar.Plan:
    if isinstance(named, Path):
        if ranks is not None:
            raise WrongUse(f"{arguments.OWN_RANKS}; leave out --ranks")
        return arguments.read_plan(named)
    if ranks is None:
        raise WrongUse("the following arguments are required: --ranks")
    return tollbar.plan(named, ranks)


def _document(plan: tollbar.Plan, kind: str) -> str:
    if kind == "svg":
        return tollbar.draw_svg(plan, tollbar.LogP(L=10, o=5, g=3))
    return tollbar.to_goal(plan) if kind == "goal" else plan.text
