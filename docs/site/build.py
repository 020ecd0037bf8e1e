# SPDX-License-Identifier: Apache-2.0
"""Lays out docs/ beside pages made of the headers, the parsers and the Python module, and runs Sphinx.

usage: docs/site/build.py site    build/site, the pages as HTML
       docs/site/build.py man     build/man, as man pages: the command (1), the functions of C (3), plans (7)
       docs/site/build.py gaps    what public names lack: meaning, units, errors or memory order
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import headers
import pages
import tollbar
import tollbar_lab

ROOT = Path(__file__).resolve().parents[2]
DOCS, BUILD = ROOT / "docs", ROOT / "build" / "docs"
#: Python packages by their pages: folder, title, native part.
PACKAGES = {
    "python": (Path("python/tollbar"), "Python, name by name", tollbar._native),
    "laboratory": (Path("lab/python/tollbar_lab"), "The laboratory in Python, name by name", tollbar_lab._native),
}
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)]*)?\)")


def read_headers() -> list[headers.Symbol]:
    shutil.rmtree(BUILD / "doxygen", ignore_errors=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "docs/site/Doxyfile"], cwd=ROOT, check=True)
    return headers.read(BUILD / "doxygen")


def target_of(page: Path, link: str) -> Path:
    return Path(os.path.normpath(page.parent / link))


def place_of(file: Path) -> str:
    """A file's place among Sphinx's pages: as in docs/, and below `repository` what is not of docs/."""
    return str(file.relative_to(DOCS) if file.is_relative_to(DOCS) else Path("repository") / file.relative_to(ROOT))


def relinked(page: Path) -> str:
    def link(found: re.Match[str]) -> str:
        return f"{found[1]}/{place_of(target_of(page, found[2]))}{found[3] or ''})"

    return LINK.sub(link, page.read_text())


def contents(page: Path, made: dict[str, list[str]]) -> str:
    """The table of contents of an index page, a part a section: what it links to, and what is made for it."""
    written, seen = "", {page}
    for title, section in re.findall(r"^#+ (.*)\n((?:(?!#).*\n?)*)", page.read_text(), re.MULTILINE):
        targets = [target_of(page, found[2]) for found in LINK.finditer(section)]
        new = [one for one in dict.fromkeys(targets) if one.suffix == ".md" and one not in seen]
        seen.update(new)
        lines = [f"/{place_of(one)}" for one in new] + [f"/{name}" for name in made.get(title, [])]
        if lines:
            written += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(lines) + "\n```\n"
    return written


class Source:
    """The folder that Sphinx reads; a file that did not change is left alone, and not read again."""

    def __init__(self, name: str) -> None:
        self.folder, self.written = BUILD / name, {"conf.py"}
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        self.written.add(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)

    def link(self, original: Path) -> None:
        file = self.folder / place_of(original)
        self.written.add(place_of(original))
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_symlink():
            file.symlink_to(original)

    def sphinx(self, builder: str, to: Path, **settings: object) -> None:
        for file in self.folder.rglob("*"):
            if not file.is_dir() and str(file.relative_to(self.folder)) not in self.written:
                file.unlink()
        version = re.search(r"project\(tollbar VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
        (BUILD / "settings.json").write_text(json.dumps({"version": version[1] if version else "", **settings}))
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder, "-c", DOCS / "site"]
        subprocess.run([*command, "-d", BUILD / f"{builder}.read", self.folder, to], check=True)


def write_command(source: Source) -> dict[str, str]:
    """A page for the command and one for each verb; gives the verbs, each with its line of help."""
    from tollbar.cli.command import COMMANDS, build_parser

    parser = build_parser()
    contents = "" if source.folder.name == "man" else pages.hidden_contents(list(COMMANDS))  # man would inline them
    source.write("reference/command/index.rst", pages.command_page(parser) + contents)
    for name, verb in pages.verbs(parser).items():
        source.write(f"reference/command/{name}.rst", pages.command_page(verb))
    return COMMANDS


def site() -> None:
    source = Source("site")
    files = read_headers()
    for file in files:
        source.write(f"reference/api/{file.name}.rst", pages.header_page(file, files))
    source.write("reference/api/index.rst", pages.headers_page(files))
    for name, (folder, title, native) in PACKAGES.items():
        stub_package(ROOT / folder, native.__all__)
        page = pages.python_page(folder.name, title, (ROOT / folder / "_native.pyi").read_text())
        source.write(f"reference/{name}.rst", page)
    write_command(source)
    made = {
        "Reference": ["reference/command/index", "reference/api/index", "reference/python"],
        "Papers": ["reference/laboratory"],
    }
    written = list(DOCS.rglob("*.md"))
    for page in written:
        written += [one for found in LINK.finditer(page.read_text())
                    if (one := target_of(page, found[2])) not in written and one.suffix == ".md"]  # fmt: skip
        for found in LINK.finditer(page.read_text()):
            if (one := target_of(page, found[2])).suffix != ".md":
                source.link(one)
        more = contents(page, made) if page.name == "index.md" else ""
        lost = "" if page.is_relative_to(DOCS) else "---\norphan: true\n---\n"  # in no table of contents
        text = lost + relinked(page) + more
        source.write(
            place_of(page), text + (pages.catalogue() if page.name == "plans.md" and "reference" in page.parts else "")
        )
    source.sphinx("html", ROOT / "build" / "site")


def stub_package(package: Path, public: list[str]) -> None:
    """The Python package as autodoc reads it: its native part is the stub, which has types and docstrings."""
    copy = BUILD / "python" / package.name
    copy.mkdir(parents=True, exist_ok=True)
    for name in ("__init__.py", "barriers.py", "pickling.py"):
        if (package / name).exists():
            shutil.copy(package / name, copy / name)
    stub = re.sub(r"^(\w+: \S+)$", r"\1 = ...", (package / "_native.pyi").read_text(), flags=re.MULTILINE)
    names = f"__all__ = {public}\n"  # the stub leaves them out
    (copy / "_native.py").write_text(f"from __future__ import annotations\n{stub}\n{names}")


def man() -> None:
    source, files = Source("man"), read_headers()
    source.write("index.rst", ":orphan:\n\nman\n===\n")
    source.write(
        "plans.md", "---\norphan: true\n---\n" + (DOCS / "reference" / "plans.md").read_text() + pages.catalogue()
    )
    entries = [["plans", "tollbar", "plans of barriers", 7], ["reference/command/index", "tollbar", pages.ABOUT, 1]]
    for name, text in write_command(source).items():
        entries.append([f"reference/command/{name}", f"tollbar-{name}", text.rstrip("."), 1])
    for one in pages.functions(files):
        source.write(f"{one.name}.rst", ":orphan:\n\n" + pages.function_page(one, files))
        entries.append([one.name, one.name, pages.in_short(one), 3])
    shutil.rmtree(ROOT / "build" / "man", ignore_errors=True)
    source.sphinx("man", ROOT / "build" / "man", man_pages=entries)


def gaps() -> int:
    files = read_headers()
    found = [(one, headers.gaps(one, files)) for file in files for one in file.everything()]
    for one, lacking in found:
        if lacking:
            print(f"{one.header}: {one.declaration or one.name}: {', '.join(lacking)}")
    return 1 if any(lacking for _, lacking in found) else 0


if __name__ == "__main__":
    work = {"site": site, "man": man, "gaps": gaps}.get(sys.argv[1] if len(sys.argv) == 2 else "")
    sys.exit(work() if work else __doc__)
