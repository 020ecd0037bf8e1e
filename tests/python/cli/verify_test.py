# SPDX-License-Identifier: Apache-2.0
"""tollbar verify."""

import pytest
import tollbar as library

COLUMNS = "plan,ranks,proved,holds,failed_ranks,fault,from_rank,to_rank,explanation,operations"


@pytest.fixture
def words(tmp_path):
    def write(text):
        file = tmp_path / "words.txt"
        file.write_text(text)
        return file

    return write


def test_a_range_is_proved_size_by_size(tollbar):
    (row,) = tollbar("verify", "dissemination", "--ranks", "1..33", "--format", "json").json
    assert (row["plan"], row["ranks"], row["proved"]) == ("dissemination", "1..33", 33)
    assert row["holds"] is True
    assert row["failed_ranks"] is None


def test_without_a_plan_the_whole_catalogue_is_proved(tollbar):
    said = tollbar("verify", "--ranks", "1..16,64", "--format", "csv")
    assert said.code == 0
    assert [row["plan"] for row in said.csv] == [algorithm.name for algorithm in library.catalogue()]
    assert {(row["holds"], row["proved"]) for row in said.csv} == {("true", "17")}


def test_the_columns_are_stable(tollbar):
    assert tollbar("verify", "mcs", "--ranks", 2, "--format", "csv").out.splitlines()[0] == COLUMNS
    assert list(tollbar("verify", "mcs", "--ranks", 2, "--format", "json").json[0]) == COLUMNS.split(",")


def test_a_size_that_is_asked_for_twice_is_proved_once(tollbar):
    (row,) = tollbar("verify", "mcs", "--ranks", "4,3..5,4", "--format", "json").json
    assert row["proved"] == 3


def test_a_plan_in_words_is_proved(tollbar, words):
    file = words(library.plan("tournament", 6).text)
    said = tollbar("verify", file, "--format", "json")
    assert said.code == 0
    assert [(row["plan"], row["ranks"], row["holds"]) for row in said.json] == [(str(file), "6", True)]


def test_the_first_missing_pair_is_named_and_the_exit_code_is_1(tollbar, words):
    file = words("0: !1 ?1\n1: !0 ?0\n2:\n")
    said = tollbar("verify", file, "--format", "json")
    assert said.code == 1
    (row,) = said.json
    assert (row["holds"], row["fault"], row["from_rank"], row["to_rank"]) == (False, "unheard", 2, 0)
    assert (row["failed_ranks"], row["proved"]) == (3, 0)
    assert row["explanation"] == "rank 0 can leave although rank 2 has not entered"


def test_a_failure_is_repeated_on_stderr_below_the_table(tollbar, words):
    file = words("0: ?1 !1\n1: ?0 !0\n")
    said = tollbar("verify", file)
    assert said.code == 1
    assert said.out.splitlines()[0].split() == [*COLUMNS.split(",")[:5], "from_rank", "to_rank", "operations"]
    assert said.err.startswith(f"{file} with 2 ranks: ")
    assert said.err.count("\n") == 1


def test_words_and_plans_may_be_mixed(tollbar, words):
    file = words("0: !1 ?1\n1: !0 ?0\n")
    rows = tollbar("verify", "mcs", "--ranks", "2..3", file, "--format", "json").json
    assert [(row["plan"], row["proved"]) for row in rows] == [("mcs", 2), (str(file), 1)]


def test_a_word_that_is_no_step_is_named_with_its_file_and_line(tollbar, words):
    file = words("0: !1\n1: 0?\n")
    said = tollbar("verify", file)
    assert said.code == 2
    assert said.err == (
        f"tollbar verify: {file}: line 2: '0?' is not a step; steps are written !RANK, ?RANK, !ROLE and ?ROLE\n"
    )


def test_a_file_that_is_not_text_is_one_line(tollbar, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xde")
    said = tollbar("verify", tmp_path / "binary")
    assert said.code == 2
    assert said.err.startswith(f"tollbar verify: {tmp_path / 'binary'} is not text; ")


def test_ranks_have_no_meaning_for_words_alone(tollbar, words):
    said = tollbar("verify", words("0:\n"), "--ranks", "3")
    assert said.code == 2
    assert "leave out --ranks" in said.err
