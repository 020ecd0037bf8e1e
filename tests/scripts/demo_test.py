# SPDX-License-Identifier: Apache-2.0
"""scripts/demo asks `tollbar bench` for what that knows, also where continuous integration wants less of it."""

import re
import shlex
from pathlib import Path

import pytest
from tollbar.cli import build_parser

ROOT = Path(__file__).resolve().parents[2]
BENCHES = re.findall(r"^measure \w+ (.+)$", (ROOT / "scripts/demo").read_text(), re.MULTILINE)


@pytest.mark.parametrize("bench", BENCHES)
def test_the_amounts_that_continuous_integration_gives_are_options_of_each_bench(bench):
    (amounts,) = re.findall(r'^AMOUNTS="(.+)" make demo', (ROOT / ".ci/run").read_text(), re.MULTILINE)
    words = ["bench", *shlex.split(bench), "--effort", "quick", *shlex.split(amounts)]
    assert build_parser().parse_args(words).launches == 3


def test_the_demo_has_benches():
    assert len(BENCHES) >= 3
