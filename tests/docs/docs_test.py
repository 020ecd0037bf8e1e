# SPDX-License-Identifier: Apache-2.0
"""Every command in README.md and docs/ is run, and prints what the page says it prints.

```console   a session: lines after `$ ` are commands, the lines below them what they print; `...` stands for
             any text inside a line or, alone, for any lines. Files named by an earlier ```cpp, ```c,
             ```python or ```text block of the page (first line `// NAME`, `/* NAME */` or `# NAME`) lie in
             the folder.
<!-- needs: NAME... --> in the first line: programs without which the page's sessions are skipped.
```sh        what the tests cannot run inside themselves: `make` targets, which must exist, git clone, cd, and
             entering .venv.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import tollbar
from tollbar.machine import launching

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "lab").rglob("*.md")),
]
#: Pages that every change runs; the others are run where they, the command or the library have changed.
READ_FIRST = ("README.md", "tutorial.md", "my-job-hangs.md")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs: (.*) -->")
FILE_NAME = re.compile(r"^(?://|#|/\*) ([\w.-]+\.\w+)")


@dataclass
class Command:
    line: str
    printed: list[str] = field(default_factory=list)


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    return [(language, body) for language, body in FENCE.findall(page.read_text()) if language in languages]


def commands(session: str) -> list[Command]:
    found: list[Command] = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found and found[-1].line.endswith("\\"):
            found[-1].line += "\n" + line
        elif found:
            found[-1].printed.append(line)
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    expression = ""
    for line in lines:
        if line.strip() == "...":
            expression += r"(?:.*\n)*?"
        else:
            expression += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.compile(expression)


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """What a user has after `make` and `cmake --install build/release`."""
    build = Path(os.environ.get("TOLLBAR_BUILD", ROOT / "build" / "release"))
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
    libraries = next(prefix.rglob("libtollbar.so")).parent
    return {
        **os.environ,
        "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(libraries / "pkgconfig"),
        "CMAKE_PREFIX_PATH": str(prefix),
        "LD_LIBRARY_PATH": str(libraries),
        "XDG_CACHE_HOME": str(prefix / "cache"),
        "TOLLBAR_RESULTS": str(prefix / "results"),
        "COLUMNS": "140",
        # What Open MPI wants to be told where tests run: as root, with fewer CPUs than ranks.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }


def needed(page: Path) -> list[str]:
    """The programs the page cannot do without and that are not here."""
    needs = NEEDS.match(page.read_text())
    return [name for name in needs[1].split() if not shutil.which(name)] if needs else []


def write_files(page: Path, folder: Path) -> None:
    for _, body in blocks(page, "cpp", "c", "python", "text"):
        if name := FILE_NAME.match(body):
            (folder / name[1]).write_text(body)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.name in READ_FIRST else pytest.mark.deep) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_each_command_prints_what_the_page_says(page, environment, tmp_path):
    if absent := needed(page):
        pytest.skip(f"{', '.join(absent)} cannot be had here")
    write_files(page, tmp_path)
    if page.name == "README.md" and launching.usable_cores() > 1:  # its two ranks have a core each
        environment = {name: value for name, value in environment.items() if "oversubscribe" not in name}
    for _, session in blocks(page, "console"):
        for command in commands(session):
            done = subprocess.run(
                ["bash", "-c", command.line],
                cwd=tmp_path,
                env=environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=300,
            )
            # A page that shows a failing command ends its output with the status the shell would tell.
            printed = done.stdout + (f"[exit {done.returncode}]\n" if done.returncode else "")
            assert pattern(command.printed).fullmatch(printed), (
                f"{page.name}: `{command.line}` printed\n{printed}\ninstead of\n" + "\n".join(command.printed)
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_not_run_here_is_a_make_target(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for _, body in blocks(page, "sh"):
        for line in filter(None, map(str.strip, body.splitlines())):
            words = line.partition("#")[0].split()
            if words[0] == "make":
                assert set(words[1:]) <= targets, line
            else:
                assert words[0] == "cd" or words[:2] in (["git", "clone"], [".", ".venv/bin/activate"]), line


#: Words of a command that `make install` alone does not serve, and the remedy that a page with it must name.
LATER = {r"\btollbar (bench|tune|report|reproduce)\b": "EXTRAS=bench", r"^python\b": "PYTHONPATH"}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_an_installation_lacks_for_a_page_is_named_there(page):
    lines = [command.line for _, session in blocks(page, "console") for command in commands(session)]
    for words, remedy in LATER.items():
        if any(re.search(words, line) for line in lines):
            assert remedy in page.read_text(), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "pictures").glob("*-8.svg")), ids=lambda path: path.stem)
def test_pictures_are_what_the_command_draws(picture):
    name = picture.stem.removesuffix("-8")
    spelling = {"two-level": "central@4/dissemination", "card_gather": "card:gather"}.get(name, name)
    plan = tollbar.plan(spelling, 8)
    assert picture.read_text().strip() == tollbar.draw_svg(plan, tollbar.LogP(L=10, o=5, g=3)).strip()


@pytest.mark.parametrize("algorithm", tollbar.catalogue(), ids=lambda algorithm: algorithm.name)
def test_every_algorithm_has_a_page_of_five_parts_with_its_drawing(algorithm):
    name = algorithm.name.replace(":", "_")
    page = (ROOT / "docs" / "algorithms" / f"{name}.md").read_text()
    assert re.findall("^## (.*)", page, re.MULTILINE) == [
        "The word for eight ranks",
        "The drawing",
        "The price",
        "When to use it",
        "The paper",
    ]
    assert f"](../pictures/{name}-8.svg)" in page
    assert f"]({name}.md)" in (ROOT / "docs" / "algorithms" / "index.md").read_text()
