# SPDX-License-Identifier: Apache-2.0
"""Processes by number, by name, and why some may not be looked at."""

from __future__ import annotations

import os
import re

import pytest
from tollbar.look import processes


def process(number, parent, name, *words):
    return processes.Process(number, parent, name, words)


THERE = {
    each.number: each
    for each in (
        process(1, 0, "init"),
        process(50, 1, "mpirun", "/usr/bin/mpirun", "-n", "2", "./solver"),
        process(51, 50, "solver", "./solver"),
        process(52, 50, "solver", "./solver"),
        process(53, 51, "sh", "sh", "-c", "true"),
        process(60, 1, "python3", "/usr/bin/python3", "/somewhere/train.py"),
    )
}


@pytest.mark.parametrize(
    ("word", "meant"), [("51", [51]), ("99", []), ("solver", [51, 52]), ("train.py", [60]), ("nobody", [])]
)
def test_a_word_means_a_number_or_a_name(word, meant):
    assert processes.meant(word, THERE) == meant


def test_ranks_below_a_launcher_are_found_and_their_children_are_not(monkeypatch):
    variables = {51: (0, 2), 52: (1, 2), 53: (0, 2)}
    monkeypatch.setattr(processes, "rank_of", variables.get)
    assert processes.ranks([50], THERE) == {51: (0, 2), 52: (1, 2)}
    assert processes.ranks([60], THERE) == {}


def test_this_process_is_there_under_its_name():
    own = processes.everything()[os.getpid()]
    assert own.parent == os.getppid()
    assert processes.refusal(os.getpid()) is None


@pytest.mark.parametrize(
    ("yama", "owner", "user", "said"),
    [
        (None, 7, 1000, r"process 9 belongs to another user \(uid 7\): look as that user or as root"),
        (1, 1000, 1000, "kernel.yama.ptrace_scope is 1, .*: look as root, .*ptrace_scope=0, or start it"),
        (2, 1000, 1000, "kernel.yama.ptrace_scope is 2, .*: look as root, or sudo sysctl kernel.yama.ptrace_scope=0$"),
        (3, 0, 0, "kernel.yama.ptrace_scope is 3, .*tollbar run --timeout"),
        (None, 1000, 0, ".*CAP_SYS_PTRACE"),
    ],
)
def test_a_refusal_names_the_setting_and_what_would_help(yama, owner, user, said):
    assert re.match(said, processes.explain(9, yama, owner, user))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("python3 -m pytest -x test_a.py", {"pytest", "test_a.py", "python3"}),
        ("/usr/bin/python3.11 -u -X dev ./train.py data.py", {"train.py", "python3.11"}),
        ("python3 -c code train.py", {"python3"}),
        ("sh build.sh", {"sh", "build.sh"}),
        ("tail -1 build.sh", {"tail", "-1"}),
    ],
)
def test_a_process_is_called_by_its_program_script_or_module(words, names):
    process = processes.Process(7, 1, "python3" if "python3 " in words else words.split()[0], tuple(words.split()))
    every = {"pytest", "test_a.py", "python3", "python3.11", "train.py", "data.py", "sh", "build.sh", "tail", "code"}
    assert {name for name in every if process.is_called(name)} == names & every
