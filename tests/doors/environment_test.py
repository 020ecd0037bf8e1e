# SPDX-License-Identifier: Apache-2.0
"""TOLLBAR_ variables mean the same at the doors that need no launcher: C groups, UDP, network cards."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tollbar.machine import paths

HERE = Path(__file__).resolve().parent
COMPILER = shutil.which("cc")
LIBRARY = paths.find_library("libtollbar.so")

pytestmark = [
    pytest.mark.every_door,
    pytest.mark.needs(COMPILER, "no C compiler"),
    pytest.mark.needs(LIBRARY, "libtollbar.so is not built"),
]

#: Variable: a value, one that is not accepted, and what is then said.
WAIT = ("yield", "never", "auto, spin, yield, park; using the default, auto")
TIMEOUT = ("60", "abc", "seconds, 0 or more (0: never); using the default, 0")
VERBOSE = ("0", "loud", "0, 1, 2; using the default, 0")
DOORS = {
    "threads": {"TOLLBAR_WAIT": WAIT, "TOLLBAR_TIMEOUT": TIMEOUT, "TOLLBAR_VERBOSE": VERBOSE},
    "udp": {"TOLLBAR_WAIT": WAIT, "TOLLBAR_TIMEOUT": TIMEOUT},
    "nic": {"TOLLBAR_WAIT": WAIT, "TOLLBAR_TIMEOUT": TIMEOUT, "TOLLBAR_VERBOSE": VERBOSE},
}


class Door:
    def __init__(self, name: str, folder: Path):
        self.name = name
        self.values = DOORS[name]
        self.program = folder / name
        root = HERE.parent.parent
        words = [COMPILER, "-std=gnu11", "-Wall", "-Wextra", "-pthread", f"-I{root / 'include'}"]
        words += [HERE / "environment" / f"{name}.c", "-o", self.program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
        subprocess.run(words, check=True)

    def lines(self, folder: Path, text: str = "", file: Path | None = None, **variables: str) -> list[str]:
        """What it says on stderr; its late rank comes once the text stands there, or in the file."""
        said = folder / "stderr"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLBAR_")}
        kept |= {"TOLLBAR_TUNING": "/nowhere", "TOLLBAR_NICD": str(folder / "nobody")}
        with said.open("w") as stderr:
            words = [self.program, file or said, text]
            subprocess.run(words, env=kept | variables, stderr=stderr, check=True, timeout=60)
        return said.read_text().splitlines()


@pytest.fixture(scope="module", params=DOORS)
def door(request, tmp_path_factory) -> Door:
    return Door(request.param, tmp_path_factory.mktemp("doors"))


def test_good_values_and_empty_ones_go_without_a_word(door, tmp_path):
    assert door.lines(tmp_path, **{name: values[0] for name, values in door.values.items()}) == []
    assert door.lines(tmp_path, **dict.fromkeys((*door.values, "TOLLBAR_PLAN", "TOLLBAR_REPORT"), "")) == []


def test_each_unknown_value_is_one_line_that_names_the_accepted_ones(door, tmp_path):
    lines = door.lines(tmp_path, "TOLLBAR_TIMEOUT", **{name: values[1] for name, values in door.values.items()})
    told = [f"tollbar: {name} is '{value}'; accepted: {rest}" for name, (_, value, rest) in door.values.items()]
    assert sorted(lines) == sorted(told)


def test_who_is_missing_is_reported_where_the_variable_says(door, tmp_path):
    (line, *_) = door.lines(tmp_path, " has waited ", TOLLBAR_TIMEOUT="0.1")
    waited = re.search(r"episode 1: (?:rank|PE) 0 has waited (\d+\.\d) s: ", line)
    assert waited, line
    assert float(waited[1]) >= 0.1
    assert "rank 1" in line
    file = tmp_path / "reports"
    variables = {"TOLLBAR_TIMEOUT": "0.1", "TOLLBAR_REPORT": str(file)}
    assert door.lines(tmp_path, " has waited ", file, **variables) == []


def test_what_is_run_is_said_from_level_1_on(tmp_path_factory, tmp_path):
    group = Door("threads", tmp_path_factory.mktemp("doors"))
    assert group.lines(tmp_path, TOLLBAR_VERBOSE="1", TOLLBAR_PLAN="mcs") == ["tollbar: the group (2 ranks): mcs"]
    nic = Door("nic", tmp_path_factory.mktemp("doors"))
    for line in nic.lines(tmp_path, TOLLBAR_VERBOSE="1"):
        assert line.startswith(f"tollbar: group 1 runs over UDP on this host: no daemon at {tmp_path / 'nobody'}")


def test_a_plan_that_cannot_be_run_is_one_line_and_tollbar_chooses(tmp_path_factory, tmp_path):
    group = Door("threads", tmp_path_factory.mktemp("doors"))
    (line,) = group.lines(tmp_path, TOLLBAR_PLAN="fastest")
    assert line.startswith("tollbar: TOLLBAR_PLAN is 'fastest': ")
    assert "dissemination" in line
    assert line.endswith("; using the default, tollbar's own choice")
