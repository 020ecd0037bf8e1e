# SPDX-License-Identifier: Apache-2.0
"""Comments and docstrings: each sentence starts with the thing it is about."""

import ast
import io
import re
import tokenize
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADLESS = re.compile(r"(?:Who|Whose|What|Where|Which|Of|Those)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def comments_of_c(text: str) -> list[str]:
    """The prose of a C or C++ text: `//` lines that follow each other are one comment."""
    blocks = re.findall(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", text, re.DOTALL | re.MULTILINE)
    blocks = [re.sub(r"SPDX-License-Identifier: \S+", "", block) for block in blocks]
    bare = (re.sub(r"^\s*(?://+<?|/?\*+/?<?)|\*/", " ", block, flags=re.MULTILINE) for block in blocks)
    return [re.sub(r"\s+", " ", comment) for comment in bare]


def comments_of_python(text: str) -> list[str]:
    """The docstrings of a Python text, and its comments: lines of `#` that follow each other are one."""
    documented = (node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED))
    prose = [docstring for node in documented if (docstring := ast.get_docstring(node))]
    lines = text.splitlines()
    whole = groupby(lines, key=lambda line: line.lstrip().startswith("#"))
    prose += [" ".join(line.lstrip(" #:") for line in block) for is_comment, block in whole if is_comment]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    prose += [token.string.lstrip(" #:") for token in tokens if token.type == tokenize.COMMENT and token.start[1]]
    return [re.sub(r"\s+", " ", comment) for comment in prose]


def headless_sentences(comments: list[str]) -> list[str]:
    sentences = (part.strip() for comment in comments for part in re.split(r"(?<=[.:!?]) (?=[A-Z])", comment))
    return [sentence for sentence in sentences if HEADLESS.match(sentence)]


def sources(folders: tuple[str, ...], pattern: str) -> list[Path]:
    return [path for folder in folders for path in (ROOT / folder).rglob(pattern)]


def test_comments_start_with_the_thing_they_are_about():
    files = sources(("src", "include", "bench", "lab", "python/native"), "*.[ch]*")
    files = [path for path in files if path.suffix in (".c", ".h", ".cpp", ".hpp")]
    assert len(files) > 400
    assert [(path.name, said) for path in files for said in headless_sentences(comments_of_c(path.read_text()))] == []


def test_docstrings_and_comments_of_python_start_with_the_thing_they_are_about():
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.is_file() and "python" in opening(path)]
    files = scripts + sources(("python", "lab/python", "bench", "tests/support"), "*.py")
    assert len(files) > 150
    assert [
        (path.name, said) for path in files for said in headless_sentences(comments_of_python(path.read_text()))
    ] == []


def opening(path: Path) -> str:
    return path.read_text().partition("\n")[0]


def test_a_sentence_without_its_thing_is_noticed():
    text = (
        "// SPDX-License-Identifier: X\n// Who.\n\n// The barrier's words.\nint a;  // one. Of those two\n"
        "/* What a rank\n * does. It waits. */\n"
    )
    assert headless_sentences(comments_of_c(text)) == ["Who.", "Of those two", "What a rank does."]


def test_a_sentence_without_its_thing_is_noticed_in_python():
    text = '"""A. Who\nwaits."""\n#: Its words.\n#: Which\n#: rank.\na = 1  # Where.\n'
    text += 'def b():\n    """Whether it is."""\n'
    assert headless_sentences(comments_of_python(text)) == ["Who waits.", "Which rank.", "Where."]
