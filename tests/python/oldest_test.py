# SPDX-License-Identifier: Apache-2.0
"""The oldest Python that tollbar runs on, 3.9: no product file has what only newer ones know.

Names of modules that 3.11 and later added are mypy's job; what a wheel does on 3.9 is tests/packaging's."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tollbar.backports import zip_equal

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("python/tollbar", "lab/python/tollbar_lab")
FILES = [
    *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))),
    ROOT / "python/command/tollbar",
]
OPTIONS = {
    "zip": {"strict"},
    "dataclass": {"kw_only", "slots", "match_args"},
    "field": {"kw_only"},
    "entry_points": {"group", "name"},
}
NAMES = {"pairwise", "aiter", "anext", "EllipsisType", "NoneType", "UnionType", "ParamSpec", "TypeAlias", "TypeGuard"}
COMPILES = "import sys\nfor name in sys.argv[1:]: compile(open(name, 'rb').read(), name, 'exec')"


def newer(tree: ast.AST) -> Iterator[str]:
    """Names and arguments that came with 3.10, which a compiler does not see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from (f"{called}({one.arg}=)" for one in node.keywords if one.arg in OPTIONS.get(called, ()))
            if called in ("isinstance", "issubclass") and isinstance(node.args[1], ast.BinOp):
                yield f"{called}(..., one | other)"
        elif isinstance(node, ast.ImportFrom):
            yield from (one.name for one in node.names if one.name in NAMES)
        elif isinstance(node, ast.Attribute) and node.attr in {*NAMES, "bit_count"}:
            yield node.attr


def unions(node: ast.AST) -> Iterator[str]:
    """Unions in annotations, which are run where they are no texts."""
    for one in ast.walk(node):
        for annotation in (getattr(one, "annotation", None), getattr(one, "returns", None)):
            for part in ast.walk(annotation) if annotation else ():
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
                    yield ast.unparse(part)


def found(text: str) -> list[str]:
    tree = ast.parse(text)
    are_texts = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in tree.body)
    return [*newer(tree), *(() if are_texts else unions(tree))]


@pytest.mark.parametrize(
    "text",
    [
        "zip(a, b, strict=True)",
        "metadata.entry_points(group=a)",
        "from itertools import pairwise",
        "@dataclasses.dataclass(frozen=True, slots=True)\nclass C: pass",
        "isinstance(a, int | float)",
        "def f(a: int | None): pass",
        "def f() -> int | None: pass",
        "a: list[int | None] = []",
    ],
)
def test_what_only_newer_ones_have_is_found(text):
    assert len(found(text)) == 1


def test_no_file_has_what_only_newer_ones_have():
    assert len(FILES) > 150
    found_in = {path.relative_to(ROOT): found(path.read_text()) for path in FILES}
    assert {path: what for path, what in found_in.items() if what} == {}


def oldest() -> str | None:
    named = [shutil.which("python3.9"), *sorted(map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python")))]
    works = (one for one in named if one and subprocess.run([one, "-c", ""], capture_output=True).returncode == 0)
    return next(works, None)


def test_it_compiles_every_file():
    python = oldest()
    if not python:
        pytest.skip("Python 3.9 is neither installed nor among pyenv's")
    done = subprocess.run([python, "-c", COMPILES, *FILES], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_parts_of_different_lengths_are_refused_as_by_newer_ones():
    assert list(zip_equal([1, 2], iter("ab"))) == [(1, "a"), (2, "b")]
    for parts in ([1], "ab"), ([1, 2], "a"):
        with pytest.raises(ValueError, match="lengths"):
            list(zip_equal(*parts))
