# SPDX-License-Identifier: Apache-2.0
"""An MPI that a program opens while it runs is served as one that it is linked with."""

from __future__ import annotations


def test_persistent_barriers_of_an_mpi_opened_while_the_program_runs(run, programs, preload_door):
    plugin = programs.get("plugin_persistent", preload_door.compiler)
    run(preload_door, 2, "opener", plugin, TOLLBAR_VERBOSE="2")
