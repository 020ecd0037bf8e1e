# SPDX-License-Identifier: Apache-2.0
"""Reference pages in reST, for the site and for man: for each header, C function and verb of the command."""

import argparse
import re
import textwrap
from collections.abc import Iterator

from headers import Symbol, about, synchronizes


def heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def indented(text: str, by: int = 3) -> str:
    return textwrap.indent(text, " " * by)


def rst(comment: str) -> str:
    """A comment as reST: paragraphs, and what is indented by four as it stands."""
    written, code = [], False
    for line in comment.splitlines():
        if line.startswith("    ") != code and (code or line.strip()):
            code = line.startswith("    ")
            language = "c++" if re.search(r"[;{}]$|//", line) else "none"
            written += ["", f".. code-block:: {language}", ""] if code else [""]
        written.append(line if code else _prose(line))
    return "\n".join(written).strip() + "\n"


def _prose(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line.removeprefix("--- "))
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([\\*|]|_\b)", r"\\\1", part) for part in parts)


def parts(symbol: Symbol, files: list[Symbol]) -> dict[str, str]:
    """Its comment in parts: the meaning, Errors, Memory order; of the last what its type or header says."""
    flowing = re.sub(r"(?<=[.;:,)]) (?=Memory order:|Errors\b[^.]*:)", "\n\n", symbol.comment)
    flowing = re.sub(r"\n(?=Memory order:|Errors\b[^.]*:)", "\n\n", flowing)
    found = {"": ""}
    for paragraph in re.split(r"\n{2,}", flowing):
        title, _, text = paragraph.partition(":")
        if title in ("Memory order", "Errors"):
            found[title] = text.strip()
        else:
            found[""] += paragraph + "\n\n"
    if synchronizes(symbol) and "Memory order" not in found:
        said = (re.search(r"Memory order:\s*(.*?)(\n\n|\Z)", text, re.DOTALL) for text in about(symbol, files))
        found["Memory order"] = next((match[1] for match in said if match), "not said.")
    return {title: text[:1].upper() + text[1:] for title, text in found.items()}


# One page a header.

_ALIKE = {
    "function": "function",
    "struct": "struct",
    "enumvalue": "enumerator",
    "variable": "member",
    "typedef": "type",
}
_C = _ALIKE | {"enum": "enum", "define": "macro"}
_CPP = _ALIKE | {"class": "class", "enum": "enum-class"}


def header_page(file: Symbol, files: list[Symbol]) -> str:
    body = "".join(_described(member, files) for member in file.members)
    return heading(file.name) + rst(file.comment) + "\n" + body


def _described(symbol: Symbol, files: list[Symbol]) -> str:
    declaration = symbol.declaration or symbol.name
    if declaration.endswith(("=default", "=delete")):
        return ""
    if symbol.parent is not None and symbol.parent.kind != "file":
        declaration = declaration.replace(f"{symbol.parent.name}::", "", 1)
    declaration = re.sub(r"^struct (\w+) \1$", r"\1", declaration)  # C's types whose inside is hidden
    domain, kind = ("c", _C[symbol.kind]) if symbol.in_c else ("cpp", _CPP[symbol.kind])
    said = parts(symbol, files)
    text = rst(said.pop("").strip())
    text += "".join(f"\n**{title}:** {rst(of)}" for title, of in said.items())
    inner = "".join(_described(member, files) for member in symbol.members)
    return f".. {domain}:{kind}:: {declaration}\n\n{indented(text)}\n{indented(inner)}\n"


# One page a function of C, for man.


def functions(files: list[Symbol]) -> list[Symbol]:
    declared = (one for file in files for one in file.members if one.in_c and one.kind == "function")
    return [one for one in declared if not one.name.startswith("tollbar_checked_")]  # the user's own


def in_short(symbol: Symbol) -> str:
    """What it does, for the line of NAME."""
    sentence = re.split(r"[.;:(]", " ".join(symbol.comment.split()).replace("`", ""))[0].strip()
    return textwrap.shorten(sentence[:1].lower() + sentence[1:] if not sentence[:2].isupper() else sentence, 90)


def function_page(symbol: Symbol, files: list[Symbol]) -> str:
    file = next(one for one in files if one.name == symbol.header)
    declaration = "\n".join(textwrap.wrap(f"{symbol.declaration};", 66, subsequent_indent="    "))
    said = parts(symbol, files)
    page = heading(symbol.name)
    page += (
        heading("Synopsis", "-") + f".. code-block:: c\n\n   #include <{symbol.header}>\n\n{indented(declaration)}\n\n"
    )
    page += heading("Description", "-") + rst(said.pop("").strip()) + "\n"
    for title, text in said.items():
        page += heading(title, "-") + rst(text) + "\n"
    page += heading("The header", "-") + rst(file.comment.split("\n\n")[0]) + "\n"
    family = symbol.name.split("_")[1] if symbol.header != "tollbar/shmem.h" else "shmem"
    others = [one.name for one in functions([file]) if one is not symbol and one.name.split("_")[1] == family]
    return (
        page
        + heading("See also", "-")
        + ", ".join(f":manpage:`{name}(3)`" for name in others)
        + ", :manpage:`tollbar(7)`\n"
    )


# One page a verb.


def verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of what stands behind a parser's own words."""
    of = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(of[0].choices) if of else {}


ABOUT = "proves, prices, measures and chooses barriers"


def command_page(parser: argparse.ArgumentParser) -> str:
    ways = verbs(parser) if " " in parser.prog else {}  # each verb has a page of its own
    page = f":orphan:\n\n{heading(parser.prog)}.. program:: {parser.prog}\n\n{heading('Synopsis', '-')}"
    page += (
        "".join(f"| ``{one.format_usage().removeprefix('usage: ').strip()}``\n" for one in [parser, *ways.values()])
        + "\n"
    )
    page += heading("Description", "-") + _described_command(parser) + _options(parser)
    for one in ways.values():
        page += heading(one.prog, "-") + f".. program:: {one.prog}\n\n" + _described_command(one) + _options(one)
    status = (
        "0; 1 when a check failed; 2 when it was used wrongly; others as the description says."
        if parser.prog != "tollbar run"
        else "the command's; others as the description says."
    )
    also = ["tollbar(1)"] if " " in parser.prog else [f"tollbar-{name}(1)" for name in verbs(parser)]
    page += f"{heading('Exit status', '-')}{status[:1].upper()}{status[1:]}\n\n"
    return page + heading("See also", "-") + ", ".join(f":manpage:`{name}`" for name in [*also, "tollbar(7)"]) + "\n\n"


def _described_command(parser: argparse.ArgumentParser) -> str:
    about = (parser.description or "").removeprefix(f"{parser.prog}: ")
    return _lines(about[:1].upper() + about[1:]) + "\n"


def _lines(text: str) -> str:
    """Prose; what is indented stays as it is."""
    written, code = [], False
    for line in text.splitlines():
        if (line.startswith("  ") and bool(line.strip())) != code and (code or line.strip()):
            code = not code
            written += ["", "::", ""] if code else [""]
        written.append(f"   {line}" if code else _prose(line))
    return "\n".join(written).strip() + "\n"


def _options(parser: argparse.ArgumentParser) -> str:
    formatter = parser._get_formatter()
    page = "" if " " in parser.prog.partition(" ")[2] else heading("Options", "-")  # of a verb
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {one.dest: one.help or "" for one in action._choices_actions}
            page += "".join(f"``{name}``\n{indented(_prose(about.get(name, '')))}\n\n" for name in action.choices)
        elif action.help != argparse.SUPPRESS:
            name = formatter._format_action_invocation(action)
            said = _prose(" ".join(formatter._expand_help(action).split())) if action.help else ""
            written = f".. option:: {name}" if action.option_strings else f"``{name}``"
            page += f"{written}\n{chr(10) if action.option_strings else ''}{indented(said)}\n\n"
    return page + "".join(_columns(parser.epilog or ""))


def _columns(epilog: str) -> Iterator[str]:
    """The lists below the options: a title that ends in a colon, then lines of a name and what it is."""
    for title, rows in re.findall(r"^(\S[^\n]*):\n((?:  [^\n]*\n?)+)", epilog, re.MULTILINE):
        yield f"{_prose(title[:1].upper() + title[1:])}:\n\n"
        for name, text in re.findall(r"^  (\S+) +(\S[^\n]*)", rows, re.MULTILINE):
            yield f"   ``{name}``\n{indented(_prose(text), 6)}\n"
        yield "\n"


def headers_page(files: list[Symbol]) -> str:
    rows = "".join(f":doc:`{one.name}`\n{indented(rst(one.comment.split(chr(10) * 2)[0]))}\n" for one in files)
    return heading("C and C++, name by name") + rows + "\n" + hidden_contents([one.name for one in files])


def hidden_contents(names: list[str]) -> str:
    return ".. toctree::\n   :hidden:\n\n" + indented("\n".join(names)) + "\n"


def python_page(package: str, title: str, stub: str) -> str:
    """All that importing it gives; values, which autodoc leaves out there, by their comments in the stub."""
    page = heading(title) + f".. automodule:: {package}\n   :members:\n   :imported-members:\n\n"
    for name, of, said in re.findall(r'^(\w+): (.*)\n"""(.*)"""$', stub, re.MULTILINE):
        page += f".. py:data:: {name}\n   :type: {of}\n\n   {said}\n\n"
    return page


def catalogue() -> str:
    """The end of the page on plans, in Markdown."""
    import tollbar

    page = "\n## Catalogue\n"
    for one in tollbar.catalogue():
        page += f"\n### {one.name}{f'[:{one.parameters}]' if one.parameters else ''}\n\n"
        facts = {"Parameters": one.restrictions, "default": one.defaults, "played by": one.player}
        facts |= {"runs on": one.runs_on, "paper": one.paper}
        said = "; ".join(f"{name}: {text}" for name, text in facts.items() if text)
        page += f"{said[:1].upper()}{said[1:]}.\n" + ("It may be an INNER plan.\n" if one.inner else "")
    return page
