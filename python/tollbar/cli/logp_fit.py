# SPDX-License-Identifier: Apache-2.0
"""tollbar logp fit: fits LogP parameters to a table of measured barriers; names those it cannot identify."""

from __future__ import annotations

import argparse
import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tollbar
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns, write

if TYPE_CHECKING:
    from tollbar.models.logp_fit import Estimate, Fit, Measured

_COLUMNS = ("plan", "ranks", "us")
_MODELS = ("t", "t,f", "L,o,g", "L,o_s,o_r,g")


@dataclass(frozen=True)
class Finding:
    kind: str = column("parameter, derived (made of parameters) or barrier (a row of the file)")
    name: str | None = column("the parameter's name")
    identified: bool | None = column("whether the data identify the parameter")
    plan: str | None = column("the plan's spelling")
    ranks: int | None = column("number of ranks")
    us: float = column("the parameter's value, or the barrier's measured time")
    low_us: float | None = column(
        "the parameter's 95 % interval; of one that the data do not identify, all values"
    )
    high_us: float | None = column("that give the same prices, empty where there is no bound")
    price_us: float | None = column("what the plan costs by the fitted parameters")
    off_pct: float | None = column("the residual: price against measurement, in percent")
    fitted: bool | None = column("whether the row took part in the fit (--without)")
    fits: bool | None = column("whether the residual is within --within")


@dataclass(frozen=True)
class _ParameterLine:
    parameter: str = column("")
    us: float = column("")
    low_us: float | None = column("")
    high_us: float | None = column("")
    identified: bool = column("")
    meaning: str = column("")


@dataclass(frozen=True)
class _BarrierLine:
    plan: str = column("")
    ranks: int = column("")
    us: float = column("")
    price_us: float = column("")
    off_pct: float = column("")
    fitted: bool = column("")
    fits: bool = column("")


def add_parser(ways) -> None:
    parser = ways.add_parser(
        "fit", help=__doc__.partition(": ")[2], description=__doc__, epilog=describe_columns(Finding)
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="CSV with the columns plan,ranks,us")
    parser.add_argument(
        "--model",
        choices=_MODELS,
        default="t,f",
        help="t: one number, L = o = g = t/3; t,f: what a message costs on the longest path, and what each "
        "further one costs a rank that has several (default); L,o,g: all three; L,o_s,o_r,g: with the "
        "overheads of senders and receivers apart",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PLAN",
        help="a plan whose rows are priced but not fitted; may be repeated",
    )
    parser.add_argument(
        "--within",
        type=_percentage,
        default=7.0,
        metavar="PERCENT",
        help="the largest residual that counts as a fit (default: 7)",
    )


def run(args: argparse.Namespace) -> Table:
    from tollbar.models import logp_fit

    rows = list(_read(args.file))
    plans = {row.plan for row in rows}
    for plan in args.without:
        if plan not in plans:
            raise WrongUse(f"--without {plan}: {args.file} has {', '.join(sorted(plans))}")
    fitted = [row for row in rows if row.plan not in args.without]
    if not fitted:
        raise WrongUse(f"--without leaves no row of {args.file} to fit")
    model = logp_fit.MODELS[args.model]
    fit = logp_fit.fit(fitted, model)
    barriers = [_barrier(row, fit, row in fitted, args.within) for row in rows]
    findings = [*_parameters(fit), *barriers]
    return Table(findings, text=_written(findings, fit, len(fitted), _remarks(rows, fit, barriers, args)))


def _read(path: Path) -> Iterator[Measured]:
    from tollbar.models.logp_fit import Measured

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUse(f"{path}: not a text file; a CSV with the columns plan,ranks,us is needed") from None
    lines = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    columns = lines.fieldnames or ()
    for name in _COLUMNS:
        if columns.count(name) != 1:
            found = f"it has {','.join(columns)}" if columns else "it is empty"
            raise WrongUse(f"{path}: line 1: column {name} is needed once, {found}")
    empty = True
    for line in _lines(lines, path):
        where = f"{path}: line {lines.line_num}"
        if None in line:
            raise WrongUse(
                f'{where}: more fields than columns; quote a plan that has a comma, as in "mcs:4,2"'
            )
        plan, ranks, us = ((line[name] or "").strip() for name in _COLUMNS)
        yield Measured(plan, _ranks(ranks, plan, where), _time(us, where))
        empty = False
    if empty:
        raise WrongUse(f"{path}: line 2: there is no row below the header")


def _lines(lines: csv.DictReader, path: Path) -> Iterator[dict[str | None, Any]]:
    try:
        yield from lines
    except csv.Error as error:
        raise WrongUse(f"{path}: line {lines.line_num}: {error}") from None


def _ranks(text: str, plan: str, where: str) -> int:
    if not text.isascii() or not text.isdigit() or not 2 <= int(text) <= tollbar.max_ranks:
        raise WrongUse(f"{where}, column ranks: '{text}' is not a number of ranks, 2 to {tollbar.max_ranks}")
    try:
        tollbar.plan(plan, int(text))
    except ValueError as error:
        raise WrongUse(f"{where}, column plan: {error}") from None
    return int(text)


def _time(text: str, where: str) -> float:
    try:
        us = float(text)
    except ValueError:
        us = math.nan
    if not math.isfinite(us) or us <= 0:
        raise WrongUse(f"{where}, column us: '{text}' is not a number of microseconds above 0")
    return us


def _percentage(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = math.nan
    if not math.isfinite(percent) or percent <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage above 0")
    return percent


def _finding(**known: Any) -> Finding:
    blank = dict.fromkeys(Finding.__dataclass_fields__)
    return Finding(**(blank | known))


def _parameters(fit: Fit) -> list[Finding]:
    return [
        _finding(
            kind="parameter" if estimate.quantity in fit.model.parameters else "derived",
            name=estimate.quantity.name,
            identified=estimate.identified,
            us=estimate.us,
            low_us=estimate.low_us,
            high_us=estimate.high_us,
        )
        for estimate in fit.estimates
    ]


def _barrier(row: Measured, fit: Fit, fitted: bool, within: float) -> Finding:
    price_us = tollbar.price(tollbar.plan(row.plan, row.ranks), fit.logp).last_us
    off_pct = 100 * (price_us / row.us - 1)
    return _finding(
        kind="barrier",
        plan=row.plan,
        ranks=row.ranks,
        us=row.us,
        price_us=price_us,
        off_pct=off_pct,
        fitted=fitted,
        fits=abs(off_pct) <= within,
    )


def _remarks(
    rows: Sequence[Measured], fit: Fit, barriers: Sequence[Finding], args: argparse.Namespace
) -> Iterator[str]:
    from tollbar.models.logp_fit import occupancy_alone

    for estimate in fit.estimates:
        if not estimate.identified and estimate.quantity in fit.model.parameters:
            yield f"The data do not identify {estimate.quantity.name}: {_all_the_same(estimate)}."
    path_us, occupancy_us = fit.logp.path_us, max(fit.logp.o_s, fit.logp.o_r, fit.logp.g)
    for plan in dict.fromkeys(row.plan for row in barriers if not row.fits):
        worst = max(abs(row.off_pct) for row in barriers if row.plan == plan)
        yield f"{plan} is up to {worst:.0f} % off."
        alone_us, left = occupancy_alone([row for row in rows if row.plan == plan], path_us)
        if 100 * left < worst / 2:
            yield (
                f"  With {path_us:.4g} us for a message on the longest path, fitting it alone needs "
                f"{alone_us:.3g} us, not {occupancy_us:.3g} us, for each further message of a rank; "
                f"up to {100 * left:.0f} % remains."
            )


def _all_the_same(estimate: Estimate) -> str:
    bound = "" if estimate.high_us is None else f" to {estimate.high_us:.4g}"
    return (
        f"every value from {estimate.low_us:.4g}{bound} us{' on' if not bound else ''} gives the same prices"
    )


def _written(findings: Sequence[Finding], fit: Fit, fitted: int, remarks: Iterator[str]) -> str:
    parameters = [
        _ParameterLine(
            estimate.quantity.name,
            estimate.us,
            estimate.low_us,
            estimate.high_us,
            estimate.identified,
            estimate.quantity.meaning,
        )
        for estimate in fit.estimates
    ]
    names = _BarrierLine.__dataclass_fields__
    barriers = [_BarrierLine(*(getattr(row, name) for name in names)) for row in findings if row.plan]
    out = io.StringIO()
    write(Table(parameters), "table", out)
    out.write("\n")
    write(Table(barriers), "table", out)
    told = f"{fit.rank} number" + ("s" if fit.rank > 1 else "")
    out.write(
        f"\n{fitted} rows identify {told} of {len(fit.model.parameters)}; "
        f"root mean square of their residuals {100 * fit.rms:.2g} %.\n"
    )
    for remark in remarks:
        out.write(remark + "\n")
    return out.getvalue()
