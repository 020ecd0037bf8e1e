# SPDX-License-Identifier: Apache-2.0
"""Barriers that a program makes while a communicator is freed, or while the program ends."""

from __future__ import annotations


def test_attributes_make_barriers_when_they_are_deleted(run, every_door):
    run(every_door, 3, "freeing")
