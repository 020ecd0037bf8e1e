# SPDX-License-Identifier: Apache-2.0
"""tollbar logp fit: fits LogP parameters to a table of measured barriers; names those it cannot identify."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, verb, write

if TYPE_CHECKING:
    from tollbar_lab.models.logp_fit import Estimate, Fit, Measured

_MODELS = ("t,f", "L,o,g")
_WITHIN_PCT = 7.0  #: the largest residual that counts as a fit
_COLUMNS: dict[str, arguments.Reader] = {
    "plan": str,
    "ranks": arguments.number(int, 2, tollbar.max_ranks, "number of ranks"),
    "us": arguments.number(float, arguments.ABOVE_0, what="number of microseconds"),
}


@dataclass(frozen=True)
class Finding:
    kind: str = column("parameter, derived (made of parameters) or barrier (a row of the file)")
    name: str | None = column("the parameter's name", default=None)
    identified: bool | None = column("whether the data identify the parameter", default=None)
    plan: str | None = column("the plan's spelling", default=None)
    ranks: int | None = column("number of ranks", default=None)
    us: float = column("the parameter's value, or the barrier's measured time", default=nan)
    low_us: float | None = column(
        "the parameter's 95 % interval; of one that the data do not identify, all values", default=None
    )
    high_us: float | None = column("that give the same prices, empty where there is no bound", default=None)
    price_us: float | None = column("what the plan costs by the fitted parameters", default=None)
    off_pct: float | None = column("the residual: price against measurement, in percent", default=None)
    fitted: bool | None = column("whether the row took part in the fit (--without)", default=None)
    fits: bool | None = column("whether the residual is within 7 %", default=None)


def add_parser(ways) -> None:
    parser = verb(ways, "fit", __doc__, Finding)
    parser.add_argument("file", type=Path, metavar="FILE", help="CSV with the columns plan,ranks,us")
    parser.add_argument(
        "--model",
        choices=_MODELS,
        default="t,f",
        metavar="PARAMETERS",
        help="t,f: a message on the longest path, and each further one of a rank that has several "
        "(default); L,o,g: all three",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PLAN",
        help="a plan whose rows are priced but not fitted; may be repeated",
    )


def run(args: argparse.Namespace) -> Table:
    from tollbar_lab.models import logp_fit

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
    barriers = [_barrier(row, fit, row in fitted) for row in rows]
    findings = [*_parameters(fit), *barriers]
    return Table(findings, text=_written(findings, fit, len(fitted), _remarks(rows, fit, barriers)))


def _read(path: Path) -> Iterator[Measured]:
    from tollbar_lab.models.logp_fit import Measured

    for line, row in arguments.read_csv(path, arguments.read_text(path), _COLUMNS):
        try:
            tollbar.plan(row["plan"], row["ranks"])
        except ValueError as error:
            raise WrongUse(f"{path}: line {line}, column plan: {error}") from None
        yield Measured(**row)


def _parameters(fit: Fit) -> list[Finding]:
    return [
        Finding(
            kind="parameter" if estimate.quantity in fit.model.parameters else "derived",
            name=estimate.quantity.name,
            identified=estimate.identified,
            us=estimate.us,
            low_us=estimate.low_us,
            high_us=estimate.high_us,
        )
        for estimate in fit.estimates
    ]


def _barrier(row: Measured, fit: Fit, fitted: bool) -> Finding:
    price_us = tollbar.price(tollbar.plan(row.plan, row.ranks), fit.logp).last_us
    off_pct = 100 * (price_us / row.us - 1)
    return Finding(
        kind="barrier",
        plan=row.plan,
        ranks=row.ranks,
        us=row.us,
        price_us=price_us,
        off_pct=off_pct,
        fitted=fitted,
        fits=abs(off_pct) <= _WITHIN_PCT,
    )


def _remarks(rows: Sequence[Measured], fit: Fit, barriers: Sequence[Finding]) -> Iterator[str]:
    from tollbar_lab.models.logp_fit import occupancy_alone

    for estimate in fit.estimates:
        if not estimate.identified and estimate.quantity in fit.model.parameters:
            yield f"The data do not identify {estimate.quantity.name}: {_all_the_same(estimate)}."
    path_us, occupancy_us = fit.logp.path_us, max(fit.logp.o_s, fit.logp.o_r, fit.logp.g)
    for plan in dict.fromkeys(row.plan for row in barriers if not row.fits):
        worst = max(abs(row.off_pct) for row in barriers if row.plan == plan and row.off_pct is not None)
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
    return f"every value from {estimate.low_us:.4g}{bound} us{' on' if not bound else ''} gives the same prices"


def _written(findings: Sequence[Finding], fit: Fit, fitted: int, remarks: Iterator[str]) -> str:
    out = io.StringIO()
    write(Table([row for row in findings if row.name]), "table", out)
    out.writelines(f"{estimate.quantity.name} is {estimate.quantity.meaning}.\n" for estimate in fit.estimates)
    out.write("\n")
    write(Table([row for row in findings if row.plan]), "table", out)
    numbers = f"{fit.rank} number" + ("s" if fit.rank > 1 else "")
    out.write(
        f"\n{fitted} rows identify {numbers} of {len(fit.model.parameters)}; "
        f"root mean square of their residuals {100 * fit.rms:.2g} %.\n"
    )
    for remark in remarks:
        out.write(remark + "\n")
    return out.getvalue()
