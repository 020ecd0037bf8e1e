# SPDX-License-Identifier: Apache-2.0
"""docs/reference/headers.md against the public headers: each has a row and an example that is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "headers.md"
#: Folders of public headers; the latter two are of libtollbar-models.
FOLDERS = [ROOT / folder for folder in ("include", "lab/include", "bench/engine/workload")]
HEADERS = sorted(
    path.relative_to(folder).as_posix()
    for folder in FOLDERS
    for path in folder.rglob("*.h*")
    if "detail" not in path.parts
)
#: Examples, as the page links them, and what builds them.
EXAMPLES = {"examples": "examples/CMakeLists.txt", "lab/examples": "lab/tests/CMakeLists.txt"}


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_is_on_the_page_with_an_example_that_is_built(header):
    row = re.search(rf"^\| `{re.escape(header)}` \|(.*)$", PAGE.read_text(), re.MULTILINE)
    assert row, f"{PAGE.name} has no row for {header}"
    examples = re.findall(r"\(\.\./\.\./((?:lab/)?examples)/([\w.]+)\)", row[1])
    built = {folder: (ROOT / file).read_text() for folder, file in EXAMPLES.items()}
    unbuilt = [name for folder, name in examples if not re.search(rf"\b{re.escape(name)}\b", built[folder])]
    assert unbuilt == []
    texts = [(ROOT / folder / name).read_text() for folder, name in examples]
    assert any(f"<{header}>" in text for text in texts), f"no example of {header} includes it"


def test_every_row_is_of_a_header():
    assert set(re.findall(r"^\| `([\w./]+)` \|", PAGE.read_text(), re.MULTILINE)) == set(HEADERS)


def test_few_headers_are_for_programs_at_run_time():
    run_time = [header for header in HEADERS if not header.startswith("tollbar/models/")]
    assert len(run_time) <= 14, run_time
