# SPDX-License-Identifier: Apache-2.0
"""Handlers of errors stay what they are without tollbar."""

from __future__ import annotations


def test_an_error_of_no_communicator_goes_where_the_program_has_it_go(run, every_door):
    run(every_door, 2, "errors")
