# SPDX-License-Identifier: Apache-2.0
"""Python packages of the extra `bench`: the command runs without them, but for numbers made of samples."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec

#: As in pyproject.toml, which a test compares.
BENCH = ("polars", "numpy", "scipy", "matplotlib", "jinja2")


def missing() -> list[str]:
    """The packages of the extra that cannot be imported."""
    return [name for name in BENCH if find_spec(name) is None]


def remedy(lacking: Sequence[str]) -> str:
    """The command that installs them for this Python; the one of `make install` has no pip of its own."""
    pip = "pip" if find_spec("pip") else f"pip --python {shlex.quote(sys.executable)}"
    return f"{pip} install {' '.join(lacking)}"
