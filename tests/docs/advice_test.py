# SPDX-License-Identifier: Apache-2.0
"""Every command that a page, a message, a remedy or a script names is one that the command takes.

Commands are found in the sources: inline code and blocks of pages, strings and backticks of Python, C++ and scripts.
None is run; the command's own parser reads it. What is advice is a whole command: a remedy, what one is to run.
Elsewhere a verb may be named with some of its options. Sessions of pages are run by docs_test.py.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tollbar.cli import COMMANDS, command

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
    *(ROOT / "lab").rglob("*.md"),
]
PYTHON = [*(ROOT / "python").rglob("*.py"), *(ROOT / "lab" / "python").rglob("*.py")]
COMPILED = [
    path
    for folder in ("src", "include", "bench", "lab")
    for path in (ROOT / folder).rglob("*.[ch]*")
    if ".cpython-" not in path.name  # the native module beside the package
]
SCRIPTS = [path for path in (ROOT / "scripts").iterdir() if path.is_file()]

VERBS = "|".join(COMMANDS)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(\brun |\bRun )?`((?:tollbar|make|scripts/)[^`\n]*)`")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
#: A command in running text, up to what ends it there.
TOLD = re.compile(rf"(?:remedy: |\brun |&& |^)(tollbar (?:{VERBS})(?![\w:-])[^`;,\n)]*)")
#: What stands for something in a command, and what it may stand for.
MEANT = {
    "PLAN": ("mcs",), "PID": ("4711",), "NAME": ("name", "mcs"), "P": ("4",), "S": ("5",), "N": ("4",),
    "FILE": ("file", "file.svg", __file__), "DIR": ("folder",), "COMMAND": ("true",), "PROGRAM": ("true",),
    "US": ("5",), "BARRIER": ("mcs",), "PAPER": ("all",), "WHAT": ("threads",),
}  # fmt: skip
HOLE = "\0"  #: a value that a message fills in
FILLED = ("file", "4", "mcs", "threads")


class Named(NamedTuple):
    path: str
    told: str
    is_advice: bool


def of_page(path: Path) -> Iterator[tuple[str, bool]]:
    text = path.read_text()
    for language, block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines() if language != "console" else ():
            if line.startswith("tollbar ") and not re.match(r"tollbar [^`]*?: ", line):
                yield line, True
    yield from of_text(FENCE.sub("", text))


def strings(path: Path) -> Iterator[str]:
    """The strings of a Python file; what a message fills in is a hole."""
    tree = ast.parse(path.read_text())
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def of_text(text: str) -> Iterator[tuple[str, bool]]:
    for before, told in CODE.findall(text):
        yield told, bool(before)


def of_string(text: str) -> Iterator[tuple[str, bool]]:
    yield from of_text(text)
    if not re.match(r"tollbar [\w -]*: ", text):  # the line about a verb, or a message of it
        yield from ((told, True) for told in TOLD.findall(CODE.sub("", text)))


def sources() -> Iterator[tuple[Path, str, bool]]:
    for path in PAGES:
        yield from ((path, *told) for told in of_page(path))
    for path in PYTHON:
        yield from ((path, *told) for text in strings(path) for told in of_string(text))
    for path in COMPILED:
        text = re.sub(r'"\s*\n\s*"', "", path.read_text())
        yield from ((path, *told) for literal in LITERAL.findall(text) for told in of_string(literal))
        yield from ((path, *told) for told in of_text(re.sub(r"\n *// *", " ", text)))
    for path in SCRIPTS:
        text = path.read_text().replace("\\`", "`").replace("$tollbar", "tollbar")
        yield from ((path, *told) for told in of_text(text))


@cache
def named() -> list[Named]:
    return sorted({Named(str(path.relative_to(ROOT)), told, advice) for path, told, advice in sources()})


def words_of(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation that goes on elsewhere
        return line.split()


def readings(line: str) -> Iterator[list[str]]:
    """The words of a command, with something for what stands for something."""
    line = re.split(r"\s(?:[|<>]|&&|\|\||2>)\s?|\s#", line.rstrip(".:"))[0]
    line = line.replace("[", "").replace("]", "").removeprefix("tollbar ")
    for filled in FILLED if HOLE in line else ("",):
        words = [
            word for word in words_of(line.replace(HOLE, filled)) if word not in ("...", "\N{HORIZONTAL ELLIPSIS}")
        ]
        yield words
        for choice in range(3):
            chosen = [word.split("|")[min(choice, word.count("|"))] for word in words]
            yield [meant[min(choice, len(meant) - 1)] if (meant := MEANT.get(word)) else word for word in chosen]


@cache
def parser_of(verb: str) -> command.Parser:
    return command.build_parser([verb])


def is_taken(words: list[str]) -> bool:
    parser = parser_of(words[0] if words else "")
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            parser.parse_args(command._in_order(parser, words))
    except SystemExit as done:
        return not done.code
    return True


def names_a_verb(words: list[str]) -> bool:
    """Whether they are those of a verb, and what is an option is one of its."""
    parser = parser_of(words[0] if words else "")
    usual = ""
    while words and words[0] in (ways := command._ways_of(parser)):
        parser, words = ways[words[0]], words[1:]
        usual = parser.get_default("usual") or ""
    options = [word.partition("=")[0] for word in words[: words.index("--") if "--" in words else None]]
    known = {
        **parser._option_string_actions,
        **(command._ways_of(parser)[usual]._option_string_actions if usual else {}),
    }
    return all(option in known for option in options if option.startswith("-")) and (
        not words or words[0].startswith("-") or not command._ways_of(parser)
    )


def test_commands_are_found_in_every_kind_of_source():
    kinds = {Path(path).suffix for path, told, _ in named() if told.startswith("tollbar ")}
    assert {".md", ".py", ".cpp", ".hpp", ""} <= kinds
    assert sum(is_advice for _, _, is_advice in named()) > 20


def test_every_command_that_is_named_is_taken():
    refused = []
    for path, told, is_advice in named():
        if not told.startswith("tollbar ") or told.split()[1].startswith(HOLE):
            continue
        tries = list(readings(told))
        if not any(map(is_taken, tries)) and (is_advice or not any(map(names_a_verb, tries))):
            refused.append((path, told))
    assert refused == []


#: Options in the code of pages that other programs take: Docker, Slurm, Open MPI, measuring programs, real_programs.
OF_OTHERS = {
    "--cpu-shares", "--cpuset-cpus", "--shm-size", "--cap-add", "--export", "--map-by", "--bind-to", "--oversubscribe",
    "--allow-run-as-root", "--mca", "--profile", "--times",
}  # fmt: skip
#: Names in it that others have given: Boost, pip, Linux, OpenSHMEM, binutils, scikit-learn, LLVM.
NAMES_OF_OTHERS = {
    "count_down_and_wait", "manylinux_2_28", "bpf_stats_enabled", "gc_thresh3", "shmem_team_sync", "shmem_req_test",
    "shmem_req_wait", "gnu_debuglink", "test_k_means", "kmp_set_defaults",
}  # fmt: skip
INLINE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"\b[a-z]\w*_\w+\b")


def code_of_pages() -> Iterator[tuple[str, str]]:
    """Pieces of code in the sentences of pages; the changes name what is gone, too."""
    for path in PAGES:
        for code in INLINE.findall(FENCE.sub("", path.read_text())) if path.name != "CHANGELOG.md" else ():
            yield str(path.relative_to(ROOT)), code


def options_of(parser: command.Parser) -> set[str]:
    return set(parser._option_string_actions).union(*map(options_of, command._ways_of(parser).values()))


def test_every_option_in_a_sentence_is_taken():
    known = OF_OTHERS.union(*(options_of(parser_of(verb)) for verb in COMMANDS))

    def is_strange(code: str) -> bool:
        first = (words_of(code) or [""])[0]
        if first.startswith("--"):
            return first.partition("=")[0] not in known
        return first in COMMANDS and not any(map(names_a_verb, readings(code)))

    refused = [(path, code) for path, code in code_of_pages() if is_strange(code)]
    assert refused == []


def test_every_name_in_a_sentence_is_one_of_the_sources():
    folders = ("src", "include", "python", "lab", "bench", "cmake", "tests", "scripts", "examples")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix != ".md"]
    binary = {".so", ".pyc", ".gz", ".parquet", ".svg", ".png", ".xz"}
    texts = "\n".join(
        path.read_text(errors="replace") for path in files if path.is_file() and path.suffix not in binary
    )
    texts += "\n".join(path.name for path in files)
    known = set(re.findall(r"\w+", texts)) | NAMES_OF_OTHERS
    made = re.compile(r"model_\w+_test|tollbar_fortran_\w+|lib\w+_door")  # put together of parts
    strange = {
        (path, name)
        for path, code in code_of_pages()
        for name in NAME.findall(code)
        if name not in known and not made.fullmatch(name) and name not in texts
    }
    assert strange == set()


def test_every_target_and_script_that_is_named_is_there():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    missing = []
    for path, told, _ in named():
        words = [word for word in told.split() if "=" not in word]
        if words[0] == "make":
            missing += [
                (path, told) for word in words[1:] if re.fullmatch(r"[a-z][\w-]*", word) and word not in targets
            ]
        elif words[0].startswith("scripts/") and not (ROOT / words[0].partition(":")[0]).exists():
            missing.append((path, told))
    assert missing == []
