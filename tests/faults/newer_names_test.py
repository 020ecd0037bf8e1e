# SPDX-License-Identifier: Apache-2.0
"""What the preload exports can be called, whichever functions the MPI has."""

from __future__ import annotations


def test_functions_of_a_newer_mpi_that_a_program_finds_do_what_they_are_for(run, preload_door):
    run(preload_door, 2, "newer_names")
