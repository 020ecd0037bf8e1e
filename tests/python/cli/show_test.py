# SPDX-License-Identifier: Apache-2.0
"""tollbar show."""

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from tollbar.cli import show
from tollbar.machine import kernel

MCS_OF_8 = """\
0: ?1 ?2 ?3 ?4 !1 !2
1: ?5 ?6 ?7 !0 ?0 !3 !4
2: !0 ?0 !5 !6
3: !0 ?1 !7
4: !0 ?1
5: !1 ?2
6: !1 ?2
7: !1 ?3
"""


def test_words_are_printed_one_rank_a_line(tollbar):
    said = tollbar("show", "mcs", "--ranks", 8)
    assert (said.code, said.out, said.err) == (0, MCS_OF_8, "")


def test_of_millions_of_words_the_first_is_there_before_the_others(monkeypatch):
    class Plan:
        ranks, roles, asked = 2**24, (), 0

        def program(self, member: int) -> list[str]:
            self.asked += 1
            return ["!0", "?0"]

    plan = Plan()
    monkeypatch.setattr(show, "_plan", lambda *_: plan)
    given = argparse.Namespace(plan="mcs", ranks=2**24, kind="text", output=None, format="table")
    assert next(show.run(given).text) == "0: !0 ?0\n"
    assert plan.asked == 1


def test_roles_stand_behind_the_ranks_by_their_letters(tollbar):
    said = tollbar("show", "turnstile", "--ranks", 3)
    assert (said.code, said.out) == (0, "0: !a ?a\n1: !a ?a\n2: !a ?a\na: ?0 ?1 ?2 !0 !1 !2\n")
    rows = tollbar("show", "combination:2", "--ranks", 4, "--format", "json").json
    assert [row["rank"] for row in rows] == [0, 1, 2, 3, "a", "b"]
    assert rows[-1]["program"] == "?1 ?3 !a ?a !1 !3"
    assert tollbar("show", "turnstile", "--ranks", 3, "--as", "goal").out.startswith("num_ranks 4\n")


def test_the_drawing_is_well_formed_xml(tollbar):
    said = tollbar("show", "dissemination", "--ranks", 5, "--as", "svg")
    assert said.code == 0
    assert ElementTree.fromstring(said.out).tag == "{http://www.w3.org/2000/svg}svg"


def test_goal_has_one_block_a_rank(tollbar):
    text = tollbar("show", "central", "--ranks", 3, "--as", "goal").out
    assert text.startswith("num_ranks 3\n")
    assert text.count("send 1b to ") == 4
    assert text.count("recv 1b from ") == 4


def test_a_document_goes_to_a_file_and_nowhere_else(tollbar, tmp_path):
    file = tmp_path / "mcs.txt"
    said = tollbar("show", "mcs", "--ranks", 8, "-o", file)
    assert (said.code, said.out, file.read_text()) == (0, "", MCS_OF_8)


def test_json_names_the_file_it_was_written_to(tollbar, tmp_path):
    file = tmp_path / "mcs.svg"
    rows = tollbar("show", "mcs", "--ranks", 2, "--as", "svg", "-o", file, "--format", "json").json
    assert rows == [{"plan": "mcs", "ranks": 2, "kind": "svg", "file": str(file), "document": None}]


def test_words_in_a_file_are_not_printed_as_rows_too(tollbar, tmp_path):
    file = tmp_path / "mcs.txt"
    rows = tollbar("show", "mcs", "--ranks", 2, "-o", file, "--format", "json").json
    assert [(row["file"], row["document"]) for row in rows] == [(str(file), None)]


def test_a_file_that_cannot_be_written_is_one_line(tollbar, tmp_path):
    file = tmp_path / "nowhere" / "mcs.svg"
    said = tollbar("show", "mcs", "--ranks", 8, "-o", file)
    assert said.code == 2
    assert said.err == (f"tollbar show: cannot write {file}: No such file or directory; name another file with -o\n")


@pytest.mark.skipif(kernel.lacking(*kernel.NAMESPACES), reason="no file system can be mounted here")
@pytest.mark.parametrize(
    "verb", ["show mcs --ranks 4000 -o plan", "simulate scheduler tree --waiting naive --cpus 2 -o run.svg"]
)
def test_on_a_full_disk_the_file_is_named_and_nothing_is_left(verb, tmp_path):
    command = 'mount -t tmpfs -o size=4k none "$1" && cd "$1" && shift && "$@"; code=$?; ls; exit $code'
    words = ["unshare", "-m", "sh", "-c", command, "sh", tmp_path, sys.executable, "-m", "tollbar", *verb.split()]
    done = subprocess.run(words, capture_output=True, text=True)
    name, file = verb.split()[0], verb.split()[-1]
    problem = f"tollbar {name}: cannot write {file}: No space left on device; name another file with -o\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", problem)


def test_a_file_of_words_is_shown_as_the_plan_it_was(tollbar, tmp_path):
    file = tmp_path / "good"
    file.write_text(MCS_OF_8)
    assert tollbar("show", file).out == MCS_OF_8
    assert tollbar("show", file, "--as", "goal").out == tollbar("show", "mcs", "--ranks", 8, "--as", "goal").out
    said = tollbar("show", file, "--ranks", 8).refusal
    assert said == "tollbar show: a FILE has its own number of ranks, one line each; leave out --ranks\n"
    assert tollbar("show", "mcs").refusal == "tollbar show: the following arguments are required: --ranks\n"
