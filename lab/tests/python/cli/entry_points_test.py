# SPDX-License-Identifier: Apache-2.0
"""What the laboratory adds to the command is found there, under the line that the command's help has."""

from importlib.metadata import entry_points

import pytest
from tollbar.cli import laboratory

WAYS = [(verb, way) for verb, ways in laboratory.WAYS.items() for way in ways]


def test_every_verb_and_way_of_the_laboratory_is_an_entry_point():
    names = {entry.name for entry in entry_points(group=laboratory.GROUP)}
    assert {*laboratory.VERBS, *(f"{verb}.{way}" for verb, way in WAYS)} <= names


def test_every_entry_point_is_a_module_of_the_laboratory():
    for entry in entry_points(group=laboratory.GROUP):
        assert laboratory.part(entry.name).__name__.startswith("tollbar_lab."), entry.name


@pytest.mark.parametrize(("verb", "way"), WAYS)
def test_the_help_of_a_verb_has_the_line_of_a_way(verb, way):
    doc = laboratory.part(f"{verb}.{way}").__doc__
    assert doc.partition("\n")[0] == f"tollbar {verb} {way}: {laboratory.WAYS[verb][way]}"
