# SPDX-License-Identifier: Apache-2.0
"""The reference site and the man pages: the names in them, their links, and how they read on a phone."""

import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import tollbar
import tollbar_lab
from tollbar.cli.command import COMMANDS

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]
SITE, MAN = ROOT / "build" / "site", ROOT / "build" / "man"
FOLDERS = [ROOT / folder for folder in ("include", "lab/include", "bench/engine/workload")]
HEADERS = [path for folder in FOLDERS for path in sorted(folder.rglob("*.h*")) if "detail" not in path.parts]


@pytest.fixture(scope="module")
def made() -> None:
    """Warnings are errors there: a link between pages that leads nowhere is one."""
    docs = ROOT / "scripts" / "docs"
    if subprocess.run([docs, "check"], capture_output=True, check=False).returncode != 0:
        pytest.skip("Doxygen or Sphinx cannot be found; scripts/docs tools installs them")
    done = subprocess.run([docs], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def code_of(header: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(), flags=re.DOTALL)


def functions_of_c() -> set[str]:
    """As a reader of the headers finds them, without Doxygen."""
    text = "".join(code_of(header) for header in HEADERS if header.suffix == ".h")
    declared = re.findall(r"^(?!#)(?:static inline )?[\w* ]+?\b(tollbar_\w+)\((?!\*)", text, re.MULTILINE)
    return {name for name in declared if not name.startswith("tollbar_checked_")}  # the user's own


def types_of_cpp() -> set[str]:
    text = "".join(code_of(header) for header in HEADERS if header.suffix == ".hpp")
    return set(
        re.findall(r"^(?:class|struct|enum class)(?: alignas\(.*?\))? (\w+) ", text, re.MULTILINE)
    )  # defined there


def inventory() -> dict[str, str]:
    """The names that the site describes, each with its kind."""
    packed = (SITE / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(packed).decode().splitlines()
    return {line.split(" ")[0]: line.split(" ")[1] for line in lines}


def test_no_public_name_lacks_its_meaning_units_errors_or_memory_order(made):
    done = subprocess.run([ROOT / "scripts" / "docs", "gaps"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_site_describes_every_name_that_users_may_write(made):
    names = inventory()
    assert len(functions_of_c()) > 80
    assert functions_of_c() - names.keys() == set()
    described = {name.rpartition("::")[2] for name, kind in names.items() if kind.startswith("cpp:")}
    assert len(types_of_cpp()) > 30
    assert types_of_cpp() - described == set()
    for package in (tollbar, tollbar_lab):
        assert {f"{package.__name__}.{name}" for name in package.__all__} - names.keys() == set()
    assert {f"reference/command/{verb}" for verb in COMMANDS} - names.keys() == set()


class Page(HTMLParser):
    """The links of a page, and the names at which links may end."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.names: set[str] = set()
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {given[key] or "" for key in ("id", "name") if key in given}
        self.links |= {given[key] or "" for key in ("href", "src") if key in given}


def dead_links(folder: Path) -> Iterator[str]:
    pages = {file: Page(file) for file in folder.rglob("*.html")}
    for file, page in pages.items():
        for link in map(urlsplit, page.links):
            if link.scheme or link.netloc:
                continue
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            if not target.exists():
                yield f"{file.name}: {link.path}"
            elif link.fragment and target in pages and unquote(link.fragment) not in pages[target].names:
                yield f"{file.name}: {link.path}#{link.fragment}"


def test_no_link_of_the_site_is_dead(made):
    assert len(list(SITE.rglob("*.html"))) > 80
    assert sorted(dead_links(SITE)) == []


def test_a_dead_link_is_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html"></a><a href="#x"></a><a href="a.html#y"></a><p id="y">')
    assert sorted(dead_links(tmp_path)) == ["a.html: #x", "a.html: b.html"]


PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


def test_a_word_of_a_heading_is_not_broken_on_a_phone(made, browser):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.get((SITE / "index.html").as_uri())
    word = "const word = document.createRange(); word.selectNodeContents(document.querySelector('h1').firstChild);"
    lines = browser.execute_script(f"{word} return [word.toString(), word.getClientRects().length]")
    assert lines == ["Documentation", 1]


def test_no_page_is_wider_than_a_phone(made, browser):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    wide = {}
    for file in SITE.rglob("*.html"):
        browser.get(file.as_uri())
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > 390:
            wide[file.name] = width
    assert wide == {}


def test_the_site_is_dark_where_its_reader_wants_that_and_can_be_searched(made, browser):
    from selenium.webdriver.support.ui import WebDriverWait

    shade = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    shades = {}
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get((SITE / "index.html").as_uri())
        shades[scheme] = browser.execute_script(shade)
    assert min(shades["light"]) > 200
    assert max(shades["dark"]) < 60
    browser.get(f"{(SITE / 'search.html').as_uri()}?q=tollbar_barrier_wait_for")
    found = "return [...document.querySelectorAll('#search-results li a')].map((one) => one.textContent)"
    assert any("tollbar_barrier_wait_for" in text for text in WebDriverWait(browser, 20).until(
        lambda one: one.execute_script(found)
    ))  # fmt: skip


def test_there_is_a_man_page_for_each_verb_each_function_and_plans(made):
    expected = {"tollbar.1", "tollbar.7"} | {f"tollbar-{verb}.1" for verb in COMMANDS}
    assert {path.name for path in MAN.iterdir()} == expected | {f"{name}.3" for name in functions_of_c()}


def test_man_reads_every_page_without_a_word(made):
    if not shutil.which("man") or not shutil.which("lexgrog"):
        pytest.skip("man cannot be found")
    for page in sorted(MAN.iterdir()):
        command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page]
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}  # lintian's
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (0, ""), page.name
        named = subprocess.run(["lexgrog", page], capture_output=True, text=True, check=True).stdout
        assert re.search(rf'"{page.stem} - \w.*"', named), named
