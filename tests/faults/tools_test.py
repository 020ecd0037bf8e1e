# SPDX-License-Identifier: Apache-2.0
"""Tools that take the MPI's calls by their profiling names: ahead of us, behind us, and in the program."""

import re

TOLD = re.compile(r"^tool: rank \d+: (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
RANKS = 2


def preloaded(*libraries) -> list[str]:
    return ["env", "LD_PRELOAD=" + ":".join(map(str, libraries))]


def seen(outcome) -> list[int]:
    """How often: init, finalize, barrier, ibarrier, wait, start; the same on every rank."""
    rows = {tuple(map(int, row)) for row in TOLD.findall(outcome.said)}
    assert len(rows) == 1, outcome.said
    return list(rows.pop())


def test_a_tool_behind_the_preload_sees_what_the_preload_does_not_do_itself(run, programs, preload_door):
    tool = programs.get("plugin_counting", preload_door.compiler)
    alone = seen(run(preload_door, RANKS, "traced", opened=preloaded(tool)))
    opened = preloaded(preload_door.library, tool)
    outcome = run(preload_door, RANKS, "traced", opened=opened, TOLLBAR_PLAN="turnstile", TOLLBAR_VERBOSE="2")
    behind = seen(outcome)
    barriers = int(re.search(r"rank 0: (\d+) barriers", outcome.said)[1])
    assert barriers > 0, outcome.said
    assert alone[:2] == behind[:2] == [1, 1]
    assert alone[2] == behind[2] + barriers
    assert alone[3:] == behind[3:]


def test_a_tool_ahead_of_the_preload_sees_every_call(run, programs, preload_door):
    tool = programs.get("plugin_counting", preload_door.compiler)
    alone = seen(run(preload_door, RANKS, "traced", opened=preloaded(tool)))
    assert seen(run(preload_door, RANKS, "traced", opened=preloaded(tool, preload_door.library))) == alone


def test_a_tool_that_has_mpi_start_does_not_stop_persistent_barriers(run, programs, preload_door):
    tool = programs.get("plugin_start", preload_door.compiler)
    run(preload_door, RANKS, "handles", opened=preloaded(tool, preload_door.library), TOLLBAR_PLAN="turnstile")


def test_a_program_that_has_mpi_start_itself_does_not_stop_persistent_barriers(run, preload_door):
    run(preload_door, RANKS, "own_start", TOLLBAR_PLAN="turnstile")
