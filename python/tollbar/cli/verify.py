# SPDX-License-Identifier: Apache-2.0
"""tollbar verify: proves that plans are barriers, for every number of ranks in a range."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, verb

_DEFAULT_RANKS = "1..256"


@dataclass(frozen=True)
class Proof:
    plan: str = column("the plan's spelling, or the file with its words")
    ranks: str = column("the sizes that were asked for")
    proved: int = column("how many of them were proved; stops at the first that fails")
    holds: bool = column("whether all of them are barriers")
    failed_ranks: int | None = column("the first size that fails", default=None)
    fault: str | None = column("what is wrong there, such as unheard or deadlock", detail=True, default=None)
    from_rank: int | str | None = column("first missing pair: this rank, or role, is not heard of", default=None)
    to_rank: int | str | None = column("first missing pair: by this one", default=None)
    explanation: str | None = column("the same in a sentence", detail=True, default=None)
    operations: int = column("steps taken and runs of ranks touched by the proofs", default=0)


def add_parser(commands) -> None:
    parser = verb(commands, "verify", __doc__, Proof)
    parser.add_argument(
        "plans",
        nargs="*",
        type=arguments.plan_or_file,
        metavar="PLAN|FILE",
        help="a plan, or a file with the words of one as `tollbar show` prints them, one line a rank "
        "(default: every algorithm of the catalogue)",
    )
    parser.add_argument(
        "--ranks",
        type=_sizes,
        metavar="A..B",
        help=f"sizes to prove: A, A..B or a list with commas (default: {_DEFAULT_RANKS})",
    )
    parser.set_defaults(run=run)


def _sizes(text: str) -> tuple[str, Sequence[int]]:
    return text, arguments.sizes(arguments.rank_counts(text))


def run(args: argparse.Namespace) -> Table:
    wanted = args.plans or arguments.CATALOGUE
    if args.ranks and all(isinstance(plan, Path) for plan in wanted):
        raise WrongUse(f"{arguments.OWN_RANKS}; leave out --ranks or name a PLAN")
    ranks, sizes = args.ranks or _sizes(_DEFAULT_RANKS)
    read = {plan: arguments.read_plan(plan) for plan in wanted if isinstance(plan, Path)}
    with Progress("proving", total=len(read) + (len(wanted) - len(read)) * sum(sizes)) as progress:
        rows = []
        for plan in wanted:
            progress.advance(0, label=f"proving {plan}")
            if isinstance(plan, Path):
                rows.append(_prove(str(plan), str(read[plan].ranks), [read[plan]]))
                progress.advance()
            else:
                plans = (tollbar.plan(plan, size) for size in sizes)
                rows.append(_prove(plan, ranks, plans, progress.advance))
    failures = [_failure(row) for row in rows if not row.holds]
    return Table(rows, failed=bool(failures), notes=failures)


def _failure(row: Proof) -> str:
    return f"{row.plan} with {row.failed_ranks} ranks: {row.explanation}"


def _prove(name: str, ranks: str, plans: Iterable[tollbar.Plan], done: Callable[[int], None] = lambda _: None) -> Proof:
    operations = proved = 0
    for plan in plans:
        verdict = tollbar.verify(plan)
        operations += verdict.operations
        done(plan.ranks)
        if not verdict.holds:
            return Proof(
                plan=name,
                ranks=ranks,
                proved=proved,
                holds=False,
                failed_ranks=plan.ranks,
                fault=verdict.fault,
                from_rank=verdict.from_rank,
                to_rank=verdict.to_rank,
                explanation=verdict.explanation,
                operations=operations,
            )
        proved += 1
    return Proof(name, ranks, proved, holds=True, operations=operations)
