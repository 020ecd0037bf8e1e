# SPDX-License-Identifier: Apache-2.0
"""The program that looks has a limit, and what it has said until then is used."""

from __future__ import annotations

import json

import pytest
from tollbar.look import helper, sight

LOOK = {"processes": [{"process": 1, "threads": []}], "groups": []}


@pytest.fixture
def looks(monkeypatch, tmp_path):
    """looks(script): the program that looks is that script of the shell."""
    monkeypatch.setattr("tollbar.machine.paths.program_folders", lambda: [tmp_path])

    def write(script: str, limit_s: float = 60) -> None:
        monkeypatch.setattr(helper, "LIMIT_S", limit_s)
        (tmp_path / helper.PROGRAM).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / helper.PROGRAM).chmod(0o755)

    return write


def test_both_looks_are_read(looks):
    looks(f"echo '{json.dumps(LOOK)}'; echo '{json.dumps(LOOK)}'")
    assert helper.look([1]) == {"looks": [LOOK, LOOK]}


def test_one_that_does_not_answer_is_ended(looks):
    looks("exec sleep 600", limit_s=0.1)
    with pytest.raises(helper.LookError, match="tollbar-look has not answered for"):
        helper.look([1])


def test_a_first_look_is_used_where_the_second_does_not_come(looks):
    looks(f"echo '{json.dumps(LOOK)}'; printf '{{\"processes\": ['; exec sleep 600", limit_s=5)
    assert helper.look([1]) == {"looks": [LOOK]}


def test_places_have_the_names_that_are_found_out(looks):
    places = {"./x+0x1": ("abc", 7), "./x+0x2": ("abc", 7), "many places": ("", 0), "./y+0x3": ("", 0)}
    looks(r"cat > $(dirname $0)/questions; printf 'main\ta.c:3\nstep\t\n'")
    assert helper.names(places) == {"./x+0x1": "main (a.c:3)", "./x+0x2": "step (./x+0x2)"}
    questions = helper.paths.program(helper.PROGRAM).with_name("questions").read_text()
    assert questions == "0x1\tabc\t7\t./x\n0x2\tabc\t7\t./x\n"


@pytest.mark.parametrize("script", ["exit 2", "printf 'nothing\n'", "printf '\t\n\t\n'", "printf 'main'"])
def test_places_without_an_answer_have_no_names(looks, script):
    looks(script)
    assert helper.names({"./x+0x1": ("abc", 7), "./x+0x2": ("abc", 7)}) == {}


def test_names_that_were_found_out_in_time_are_used(looks, monkeypatch):
    monkeypatch.setattr(helper, "NAMES_LIMIT_S", 5.0)
    looks(r"printf 'main\ta.c:3\n'; exec sleep 600")
    assert helper.names({"./x+0x1": ("abc", 7), "./x+0x2": ("abc", 7)}) == {"./x+0x1": "main (a.c:3)"}


def test_of_a_single_look_nothing_has_stayed():
    thread = {
        "thread": 1, "name": "a", "state": "S", "call": 202, "arguments": [], "switches": 1, "asleep_ms": 1.0,
        "held_us": None, "complete": True, "frames": [], "barriers": [],
    }  # fmt: skip
    [seen] = sight.read({"looks": [{"processes": [{"process": 1, "threads": [thread]}], "groups": []}]}).threads
    assert not seen.slept_on
