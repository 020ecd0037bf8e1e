# SPDX-License-Identifier: Apache-2.0
"""docs/site/headers.py: what it hands to Doxygen, and which comments leave something out."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))
from headers import Symbol, filtered, gaps


def lacking(kind: str, declaration: str, comment: str, of_file: str = "", name: str = "tollbar_x") -> list[str]:
    file = Symbol("file", "tollbar/x.h", "tollbar/x.h", comment=of_file)
    one = Symbol(kind, name, file.name, declaration=declaration, comment=comment, parent=file)
    file.members.append(one)
    return gaps(one, [file])


@pytest.mark.parametrize(
    ("declaration", "comment", "expected"),
    [
        ("int tollbar_x(int a)", "Does it. Errors: none.", []),
        ("int tollbar_x(int a)", "Does it.", ["errors"]),
        ("int tollbar_x(int a)", "", ["meaning", "errors"]),
        ("const char * tollbar_x(int a)", "The text.", []),
        ("double tollbar_x(void)", "The time.", ["units"]),
        ("double tollbar_x(void)", "The time in microseconds.", []),
    ],
)
def test_a_function_says_what_it_does_what_fails_and_in_which_unit(declaration, comment, expected):
    assert lacking("function", declaration, comment) == expected


def test_a_function_that_waits_has_its_memory_order_from_itself_or_its_header():
    declaration, name = "int tollbar_x_wait(tollbar_x *one)", "tollbar_x_wait"
    assert lacking("function", declaration, "Waits. Errors: none.", name=name) == ["memory order"]
    assert lacking("function", declaration, "Waits. Errors: none. Memory order: acquires.", name=name) == []
    assert lacking("function", declaration, "Waits. Errors: none.", "Memory order: acquires.", name) == []


def test_a_member_may_be_named_by_its_type():
    late = Symbol("struct", "late", "tollbar/x.hpp", comment="A rank that comes later, by so many microseconds.")
    for name, expected in (("rank", []), ("cpu", ["meaning"])):
        member = Symbol("variable", f"late::{name}", late.header, declaration=f"int late::{name}", parent=late)
        assert gaps(member, []) == expected


def test_comments_reach_doxygen_as_they_are_and_no_line_moves():
    text = "/* SPDX-License-Identifier: X */\n/* The file. */\n#ifndef X\n\n"
    text += "/* A value\n * of \\0 and @4. */\nint a; /* its end */\n\n"
    handed = filtered(text)
    assert handed.count("\n") == text.count("\n")
    assert "/**< @verbatim |its end @endverbatim */" in handed
    assert "|of \\0 and @4. @endverbatim" in handed
    lines = (
        "// SPDX-License-Identifier: X\n// The file.\n#pragma once\n/// One.\nint a;  ///< two,\n        ///< three\n"
    )
    assert filtered(lines).count("\n") == lines.count("\n")
    assert "/** @file\n @verbatim |The file. @endverbatim */" in filtered(lines)
    assert "|two,\n|three @endverbatim" in filtered(lines)
