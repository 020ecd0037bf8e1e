# SPDX-License-Identifier: Apache-2.0
"""tollbar bench cores: measures what cache lines cost between the CPUs here, as a machine to simulate."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tollbar.cli import output
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, describe_columns, verb

#: The file to which the machine is written when nothing else is said.
FILE = Path("cores.json")


def add_parser(ways: argparse._SubParsersAction) -> None:
    parser = verb(ways, "cores", __doc__, _columns)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        default=FILE,
        help="the machine, for `tollbar simulate cores --machine FILE` (default: %(default)s)",
    )


def _columns() -> str:
    from tollbar_lab.models.cores_measured import Compared

    return describe_columns(Compared)


def run(args: argparse.Namespace) -> Table:
    from tollbar.machine import facts, noise
    from tollbar.machine.failure import Failure

    from tollbar_lab.models import cores
    from tollbar_lab.models import cores_measured as campaign

    seen, path = noise.look(), args.output
    if path.is_dir():
        path = path / FILE
    try:
        measurement = campaign.measure()
    except (FileNotFoundError, Failure, ValueError) as error:
        raise WrongUse(error) from None
    known = facts.facts()
    measured = {
        "machine": {key: known[key] for key in ("model", "cpus", "kernel")},
        "rows": [vars(row) for row in measurement.rows],
    }
    output.write(path, json.dumps(cores.to_json(measurement.machine, measured), indent=1) + "\n")
    notes = [f"the machine is {path}: tollbar simulate cores --machine {path}", *noise.since(seen)]
    return Table(measurement.rows, campaign.Compared, notes=notes)
