# SPDX-License-Identifier: Apache-2.0
"""docs/reference/headers.md against include/: each header has a row and an example that is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "headers.md"
HEADERS = sorted(
    path.relative_to(ROOT / "include").as_posix()
    for path in (ROOT / "include").rglob("*.h*")
    if "detail" not in path.parts
)


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_is_on_the_page_with_an_example_that_is_built(header):
    row = re.search(rf"^\| `{re.escape(header)}` \|(.*)$", PAGE.read_text(), re.MULTILINE)
    assert row, f"{PAGE.name} has no row for {header}"
    examples = re.findall(r"\(\.\./\.\./examples/([\w.]+)\)", row[1])
    built = (ROOT / "examples" / "CMakeLists.txt").read_text()
    assert [example for example in examples if not re.search(rf"\b{re.escape(example)}\b", built)] == []
    texts = [(ROOT / "examples" / example).read_text() for example in examples]
    assert any(f"<{header}>" in text for text in texts), f"no example of {header} includes it"


def test_every_row_is_of_a_header():
    assert set(re.findall(r"^\| `([\w./]+)` \|", PAGE.read_text(), re.MULTILINE)) == set(HEADERS)


def test_few_headers_are_for_programs_at_run_time():
    run_time = [header for header in HEADERS if not header.startswith("tollbar/models/")]
    assert len(run_time) <= 14, run_time
