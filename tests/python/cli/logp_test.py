# SPDX-License-Identifier: Apache-2.0
"""tollbar logp: how it is asked, and that its ways are listed."""

import pytest


def test_a_way_must_be_named(tollbar):
    said = tollbar("logp")
    assert (said.code, said.out) == (2, "")
    assert said.err == "tollbar logp: the following arguments are required: WAY (see tollbar logp --help)\n"


def test_a_way_that_is_not_there_is_refused_with_those_that_are(tollbar):
    said = tollbar("logp", "guess")
    assert (said.code, said.out) == (2, "")
    assert "there are measure, fit" in said.err


@pytest.mark.parametrize("words", [("--format", "csv", "fit"), ("fit", "--format", "csv")])
def test_the_format_may_stand_before_the_way_or_after_it(tollbar, tmp_path, words):
    (tmp_path / "rows.csv").write_text("plan,ranks,us\nmcs,4,10\n")
    assert tollbar("logp", *words, tmp_path / "rows.csv").out.startswith("kind,name,")
