# SPDX-License-Identifier: Apache-2.0
"""Python packages of the extra `bench`: the command runs without them, but for numbers made of samples."""

from __future__ import annotations

import shlex
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

#: As in pyproject.toml, which a test compares.
BENCH = ("polars", "numpy", "scipy", "matplotlib", "jinja2")

#: Beside the Python of a system that keeps its packages to itself, one that sees them and takes others.
_FOLDER = "~/.local/share/tollbar/python"


def missing() -> list[str]:
    """The packages of the extra that cannot be imported."""
    return [name for name in BENCH if find_spec(name) is None]


def remedy(lacking: Sequence[str]) -> str:
    """The command that installs them for this Python; the one of `make install` has no pip of its own."""
    packages = " ".join(lacking)
    if _is_kept_by_the_system():
        makes = f"python3 -m venv --system-site-packages {_FOLDER} && {_FOLDER}/bin/pip install {packages}"
        return f"{makes}; then run {_FOLDER}/bin/python -m tollbar in place of tollbar"
    pip = "pip" if find_spec("pip") else f"pip --python {shlex.quote(sys.executable)}"
    return f"{pip} install {packages}"


def _is_kept_by_the_system() -> bool:
    """Whether pip leaves this Python to the packages of the system, as Debian's does (PEP 668)."""
    is_own = sys.prefix != sys.base_prefix
    return not is_own and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()
