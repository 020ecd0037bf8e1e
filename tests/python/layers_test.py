# SPDX-License-Identifier: Apache-2.0
"""The layers of the Python package: which packages there are, and which may know which."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

#: The packages of python/tollbar; each knows only itself and those before it.
PACKAGES = ("machine", "data", "models", "campaigns", "report", "papers", "cli")
PYTHON = Path(__file__).resolve().parents[2] / "python" / "tollbar"


def packages_of(path: Path) -> set[str]:
    """The packages that a Python file imports from, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "tollbar":
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tollbar."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("tollbar.")}
    return found & set(PACKAGES)


def test_every_python_file_lies_in_a_package_with_a_known_place():
    folders = {path.parent.name for path in PYTHON.rglob("*.py")} - {"tollbar"}
    assert folders == set(PACKAGES)
    top = {path.name for path in PYTHON.glob("*.py")}
    assert top == {"__init__.py", "__main__.py", "environment.py"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_python_package_knows_nothing_of_those_above_it(package):
    above = set(PACKAGES[PACKAGES.index(package) + 1 :])
    assert {
        str(path.relative_to(PYTHON)): higher
        for path in (PYTHON / package).rglob("*.py")
        if (higher := packages_of(path) & above)
    } == {}
