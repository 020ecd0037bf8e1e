# SPDX-License-Identifier: Apache-2.0
"""Parts of the command that the laboratory adds: models, papers. Nothing else of this package knows its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Modules by what they are for.
_PARTS = {
    "reproduce": "tollbar_lab.cli.reproduce",
    "simulate": "tollbar_lab.cli.simulate",
    "logp fit": "tollbar_lab.cli.logp_fit",
    "bench cores": "tollbar_lab.cli.bench_cores",
    "cores": "tollbar_lab.models.cores",
    "crowd": "tollbar_lab.models.crowd",
}


def part(name: str) -> Any:
    """The module of that part."""
    return import_module(_PARTS[name])
