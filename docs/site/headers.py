# SPDX-License-Identifier: Apache-2.0
"""The public headers: filtered for Doxygen, read from what it found, and what their comments leave out.

As a program this is Doxygen's filter. Comments become verbatim text, so that nothing in them is a command of
Doxygen's, and no line moves.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Folders of public headers, as the Doxyfile has them.
FOLDERS = [ROOT / folder for folder in ("include", "lab/include", "bench/engine/workload")]

#: In this order: /* */ with the code before it, lines of ///, lines of ///<, the // lines that open a file.
_COMMENT = re.compile(
    r"^(?P<code>[^\n]*?)/\*(?P<c>.*?)\*/(?P<blank>[ \t]*\n(?=\n|#ifndef))?"
    r"|(?P<before>(?:^[ \t]*///(?!<)[^\n]*\n)+)"
    r"|(?P<after>///<[^\n]*\n(?:[ \t]*///<[^\n]*\n)*)"
    r"|(?P<top>\A(?:^//[^\n]*\n)+)",
    re.DOTALL | re.MULTILINE,
)


def filtered(text: str) -> str:
    """A header as Doxygen takes it. A comment with a blank line below is about the file."""

    def marked(found: re.Match[str]) -> str:
        if found["c"] is not None and "SPDX" in found["c"]:
            return found[0].replace(found["c"], "")
        if found["c"] is not None:
            lines = [re.sub(r"^ *\*", "", line) for line in found["c"].splitlines()]
            about = "<" if found["code"].strip() else " @file\n" if found["blank"] else ""
            return (
                (found["code"] or "")
                + _verbatim(lines, about)
                + ("\n" if found["blank"] and "@file" not in about else "")
            )
        lines = [re.sub(r"^\s*//+<?", "", line) for line in found[0].splitlines()]
        if found["top"]:
            return _verbatim(lines[1:], " @file\n") + "\n"
        return _verbatim(lines, "<" if found["after"] else "") + "\n"

    return _COMMENT.sub(marked, text)


def _verbatim(lines: list[str], about: str) -> str:
    return (
        f"/**{about} @verbatim "
        + "\n".join("|" + line.removeprefix(" ").rstrip() for line in lines)
        + " @endverbatim */"
    )


@dataclass
class Symbol:
    """A name that users may write: its declaration and its comment."""

    kind: str  # file, function, struct, class, enum, enumvalue, variable, typedef or define
    name: str
    header: str
    line: int = 0
    declaration: str = ""
    comment: str = ""
    parent: Symbol | None = None
    members: list[Symbol] = field(default_factory=list)

    @property
    def in_c(self) -> bool:
        return self.header.endswith(".h")

    def everything(self) -> Iterator[Symbol]:
        yield self
        for member in self.members:
            yield from member.everything()


_TYPES = ("struct", "class", "union")


def read(xml: Path) -> list[Symbol]:
    """The headers, each with everything that is declared in it, in its order."""
    trees = [ET.parse(path).getroot().find("compounddef") for path in sorted(xml.glob("*.xml"))]
    compounds = [tree for tree in trees if tree is not None and tree.get("prot", "public") == "public"]
    symbols: dict[tuple[str, str, str], Symbol] = {}
    for tree in compounds:
        kind, name = tree.get("kind", ""), tree.findtext("compoundname", "")
        if kind == "file":
            header = tree.find("location").get("file")  # type: ignore[union-attr]
            symbols["file", header, header] = Symbol("file", header, header, comment=_comment(tree))
        elif kind in _TYPES:
            template = _template(tree)
            found = _symbol(kind, name, tree, f"{template}{name}")
            symbols[found.header, name, ""] = found
        for section in tree.findall("sectiondef"):
            if kind in (*_TYPES, "file", "namespace") and "private" not in section.get("kind", ""):
                for member in _members(section, name if kind != "file" else ""):
                    symbols.setdefault((member.header, member.name, member.declaration), member)
    files = [found for found in symbols.values() if found.kind == "file"]
    for found in sorted(symbols.values(), key=lambda symbol: symbol.line):
        if found.kind != "file":
            _place(found, symbols)
    for file in files:
        path = next(folder / file.name for folder in FOLDERS if (folder / file.name).is_file())
        _share(file, path.read_text().splitlines())
    return files


def _place(found: Symbol, symbols: dict[tuple[str, str, str], Symbol]) -> None:
    """Puts a symbol into its type or its file; a typedef of a struct or an enum of that name is that."""
    twin = symbols.get((found.header, found.name, ""))
    if found.kind == "typedef" and twin is not None:
        twin.comment = twin.comment or found.comment
        return
    scope = symbols.get((found.header, found.name.rpartition("::")[0], ""))
    found.parent = scope or symbols["file", found.header, found.header]
    if all(found is not member for member in found.parent.members):
        found.parent.members.append(found)
    for member in found.members:
        member.parent = found


def _share(scope: Symbol, lines: list[str]) -> None:
    """A comment is about all functions below it until a blank line."""
    before: Symbol | None = None
    for member in scope.members:
        if (
            not member.comment
            and before is not None
            and before.kind == member.kind == "function"
            and not any(not line.strip() for line in lines[before.line - 1 : member.line - 1])
        ):
            member.comment = before.comment
        before = member
        _share(member, lines)


def _members(section: ET.Element, scope: str) -> Iterator[Symbol]:
    for tree in section.findall("memberdef"):
        kind, name = tree.get("kind", ""), tree.findtext("name", "")
        if kind == "friend" or tree.get("prot") == "private" or name.startswith("@"):
            continue
        full = f"{scope}::{name}" if scope else name
        if kind == "function":
            declaration = f"{_template(tree)}{_text(tree.find('type'))} {full}{tree.findtext('argsstring', '')}"
        elif kind == "define":
            arguments = [param.findtext("defname", "") for param in tree.findall("param")]
            declaration = full + (f"({', '.join(arguments)})" if arguments else "")
        elif kind == "typedef" and not scope:
            declaration = f"{_text(tree.find('type'))} {full}{tree.findtext('argsstring', '')}"
        elif kind == "typedef":
            declaration = f"{full} = {_text(tree.find('type'))}"
        elif kind == "enum":
            declaration = ""
        else:
            declaration = f"{_text(tree.find('type'))} {full}{tree.findtext('argsstring', '')}"
        found = _symbol(kind, full, tree, re.sub(r"\[\[.*?\]\] ?", "", declaration).strip())
        for value in tree.findall("enumvalue"):
            inner = _symbol("enumvalue", value.findtext("name", ""), value, value.findtext("name", ""))
            inner.header, inner.line, inner.parent = found.header, found.line, found
            found.members.append(inner)
        yield found


def _symbol(kind: str, name: str, tree: ET.Element, declaration: str) -> Symbol:
    location = tree.find("location")
    header, line = ("", 0) if location is None else (location.get("file", ""), int(location.get("line", 0)))
    return Symbol(kind, name, header, line, declaration, _comment(tree))


def _text(tree: ET.Element | None) -> str:
    return "" if tree is None else "".join(tree.itertext())


def _template(tree: ET.Element) -> str:
    parameters = tree.findall("templateparamlist/param")
    written = [
        f"{_text(one.find('type'))} {one.findtext('declname', '')}".strip()
        + (f" = {_text(one.find('defval'))}" if one.find("defval") is not None else "")
        for one in parameters
    ]
    return f"template<{', '.join(written)}> " if parameters else ""


def _comment(tree: ET.Element) -> str:
    """The lines of the comments, without the bar that the filter puts in front of each."""
    texts = [verbatim.text or "" for verbatim in tree.findall("detaileddescription//verbatim")]
    return "\n\n".join(
        "\n".join(line.lstrip()[1:].rstrip() for line in text.splitlines()).strip("\n") for text in texts
    )


#: Functions that order memory: they, their type or their header have a sentence on it.
_SYNCHRONIZES = re.compile(
    r"(^|_|::)(arrive|test|wait|wait_for|wait_until|try_wait|post|arrive_and_\w+|post_\w+|pay|leave)$"
)
_UNIT = re.compile(r"(^|_)(us|ns|nanoseconds|seconds)$")
_UNIT_IN_WORDS = re.compile(
    r"\b(micro|nano|milli)?seconds?\b|\b(share|factor|part of|so many|in the mean|an episode)\b|0 to 1"
)
_ITS_OWN = re.compile(r"= ?(default|delete)$|operator(==| bool|=)|::~")


def synchronizes(symbol: Symbol) -> bool:
    return symbol.kind == "function" and bool(_SYNCHRONIZES.search(symbol.name))


def about(symbol: Symbol, files: list[Symbol]) -> list[str]:
    """Its comment, then what else is said of it: of its type, its header, all headers for C."""
    texts = [symbol.comment]
    scope = symbol.parent
    if symbol.kind == "function" and symbol.in_c and (of := re.search(r"\((?:const )?(\w+) \*", symbol.declaration)):
        texts += [one.comment for file in files for one in file.members if one.name == of[1]]
    while scope is not None:
        texts.append(scope.comment)
        scope = scope.parent
    return texts + [file.comment for file in files if symbol.in_c and file.name == "tollbar/tollbar.h"]


def _named_by_its_type(symbol: Symbol) -> bool:
    if symbol.kind not in ("variable", "enumvalue") or symbol.parent is None:
        return False
    name = symbol.name.rpartition("::")[2]
    stem = re.sub(r"_(us|ns)$", "", name).replace("_", "[_ ]")
    return bool(re.search(rf"\b({name}|{stem}s?)\b", symbol.parent.comment, re.IGNORECASE))


def gaps(symbol: Symbol, files: list[Symbol]) -> list[str]:
    """Each of meaning, units, errors and memory order that a reader looks for in vain."""
    if _ITS_OWN.search(symbol.declaration):
        return []
    missing = [] if symbol.comment or _named_by_its_type(symbol) else ["meaning"]
    if symbol.kind == "function":
        fails = (
            symbol.declaration.startswith("int ") and symbol.header != "tollbar/toll.h"
            if symbol.in_c
            else "noexcept" not in symbol.declaration
        )
        if fails and not re.search(r"\bErrors\b|\b[Tt]hrows?\b|\bCannot fail\b", symbol.comment):
            missing.append("errors")
        if synchronizes(symbol) and not any("Memory order:" in text for text in about(symbol, files)):
            missing.append("memory order")
    number = re.search(r"\bdouble\b|\bfloat\b|(?<!chrono::)\bnanoseconds\b", symbol.declaration)
    named = re.findall(r"(?:double|nanoseconds)[^\w]* ([\w:]+)", symbol.declaration)
    if number and not all(map(_UNIT.search, named)):
        said = [symbol.comment, symbol.parent.comment if symbol.parent and symbol.kind == "variable" else ""]
        if not any(map(_UNIT_IN_WORDS.search, said)):
            missing.append("units")
    return missing


if __name__ == "__main__":
    sys.stdout.write(filtered(Path(sys.argv[1]).read_text()))
