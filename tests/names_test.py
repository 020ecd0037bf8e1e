# SPDX-License-Identifier: Apache-2.0
"""Names in python/: each says what it names."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python"
#: Words that name nothing: a variable, parameter, attribute, function or class has the name of what it holds or does.
NO_NAMES = {"asked", "each", "found", "here", "told"}


def named_in(source: str) -> set[str]:
    """The names that a Python file gives to something."""
    nodes = list(ast.walk(ast.parse(source)))
    named = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    named |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    named |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return named | {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_names_in_python_say_what_they_hold():
    files = [*PYTHON.rglob("*.py"), *(ROOT / "lab" / "python").rglob("*.py")]
    assert len(files) > 100
    named = {str(path): {name.lower() for name in named_in(path.read_text())} & NO_NAMES for path in files}
    assert {name: words for name, words in named.items() if words} == {}


def test_every_way_to_give_a_name_is_seen():
    source = "class A:\n    b: int\n    def c(self, d): self.e = [f for f in (g := d)]"
    assert named_in(source) == {"A", "b", "c", "self", "d", "e", "f", "g"}
