# SPDX-License-Identifier: Apache-2.0
"""The tuning file: many writers lose nothing, and nothing that is on disk is thrown away."""

import multiprocessing
import os
from pathlib import Path

import pytest
from tollbar.data import tuning
from tollbar.data.tuning import Entry

LINE = "threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto verdict=best latency_ns=5100 machine=ab12"

MPI = (
    "mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=turnstile by=join"
    " median_us=6.1"
)


def entry(ranks, plan="mcs", pinned="no", **more):
    return Entry("threads", {"ranks": str(ranks), "cpus": "2", "pinned": pinned, "plan": plan, "wait": "auto"} | more)


def test_an_entry_is_read_and_written_as_the_same_line():
    assert Entry.parse(LINE).line == LINE


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "deep" / "tuning"
    written = tuning.write(path, [entry(8), entry(2)])
    assert written == tuning.Written(2)
    assert path.read_text() == f"tollbar-tuning 1\n{entry(2).line}\n{entry(8).line}\n"
    assert tuning.read(path) == [entry(2), entry(8)]


def test_no_file_holds_no_choice(tmp_path):
    assert tuning.read(tmp_path / "tuning") == []


def test_a_situation_that_is_there_is_replaced_and_the_others_stay(tmp_path):
    path = tmp_path / "tuning"
    tuning.write(path, [entry(2), entry(8), entry(8, pinned="yes")])
    tuning.write(path, [entry(8, "turnstile")])
    assert tuning.read(path) == [entry(2), entry(8, "turnstile"), entry(8, pinned="yes")]


def test_pairs_that_are_not_known_here_survive_a_merge(tmp_path):
    path = tmp_path / "tuning"
    tuning.write(path, [entry(2, colour="green")])
    tuning.write(path, [entry(8)])
    assert tuning.read(path)[0].pairs["colour"] == "green"


def test_lines_of_both_kinds_and_of_unknown_ones_survive_a_write(tmp_path):
    path = tmp_path / "tuning"
    unknown = "card  whatever 7"
    path.write_text(f"tollbar-tuning 1\n{unknown}\n{MPI}\n{LINE}\n")
    tuning.write(path, [entry(2)])
    assert path.read_text() == f"tollbar-tuning 1\n{MPI}\n{entry(2).line}\n{LINE}\n{unknown}\n"


def test_a_communicator_is_known_by_size_nodes_crowding_mpi_and_objective(tmp_path):
    path = tmp_path / "tuning"
    others = [
        MPI.replace(*change)
        for change in (
            ("ranks=8", "ranks=4"),
            ("nodes=1", "nodes=2"),
            ("per_node=8", "per_node=4"),
            ("yes", "no"),
            ("4.1.4", "5.0.11"),
            ("latency", "skew"),
        )
    ]
    tuning.write(path, [Entry.parse(line) for line in (MPI, *others)])
    tuning.write(path, [Entry.parse(MPI.replace("plan=turnstile", "plan=bst"))])
    assert sorted(each.line for each in tuning.read(path)) == sorted(
        [*others, MPI.replace("plan=turnstile", "plan=bst")]
    )


def _write_ten(path, first):
    for ranks in range(first, first + 10):
        tuning.write(path, [entry(ranks)])


def test_eight_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "tuning"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_ten, args=(path, 1 + 10 * number)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    assert tuning.read(path) == [entry(ranks) for ranks in range(1, 81)]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["tuning", "tuning.lock"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "line 1: expected 'tollbar-tuning 1'"),
        (b"tollbar-tuning 2\n", "line 1: expected"),
        (b"tollbar-tuning 1\nthreads ranks=8\n", "line 2: needs ranks, cpus, pinned, plan and wait"),
        (b"tollbar-tuning 1\n\nthreads ranks\n", "line 3: 'ranks' is not KEY=VALUE"),
        (
            b"tollbar-tuning 1\nthreads ranks=0 cpus=2 pinned=no plan=mcs wait=auto\n",
            "line 2: '0' is not a number of at least 1",
        ),
        (
            b"tollbar-tuning 1\nthreads ranks=8 cpus=2 pinned=so plan=mcs wait=auto\n",
            "line 2: 'so' is neither no nor yes",
        ),
        (b"tollbar-tuning 1\nmpi ranks=8\n", "line 2: needs ranks, nodes, per_node"),
        (b"tollbar-tuning 1\n" + MPI.replace("yes", "so").encode(), "line 2: 'so' is neither no nor yes"),
        (b"\xff\xfe", "line 1: expected"),
    ],
)
def test_a_corrupt_file_is_named_and_kept_aside(tmp_path, content, complaint):
    path = tmp_path / "tuning"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=complaint):
        tuning.read(path)
    written = tuning.write(path, [entry(8)])
    assert complaint in written.damage
    assert written.put_aside == str(tmp_path / "tuning.bad")
    assert Path(written.put_aside).read_bytes() == content
    assert tuning.read(path) == [entry(8)]


def test_bytes_that_are_no_text_survive_a_write(tmp_path):
    path = tmp_path / "tuning"
    path.write_bytes(b"tollbar-tuning 1\n" + LINE.encode() + b" by=\xff\n")
    assert tuning.read(path)[0].pairs["by"] == "\\xff"
    tuning.write(path, [entry(2)])
    assert path.read_bytes().endswith(b" by=\xff\n")


def test_a_second_corrupt_file_does_not_replace_the_first_one(tmp_path):
    path = tmp_path / "tuning"
    for content in ("one", "two"):
        path.write_text(content)
        tuning.write(path, [entry(8)])
    assert {each.read_text() for each in tmp_path.glob("tuning.bad*")} == {"one", "two"}


def test_a_link_to_the_file_stays_a_link(tmp_path):
    tuning.write(tmp_path / "real", [entry(2)])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    tuning.write(tmp_path / "link", [entry(8)])
    assert (tmp_path / "link").is_symlink()
    assert tuning.read(tmp_path / "real") == [entry(2), entry(8)]


def _write_as_somebody_else(path, answers):
    if os.geteuid() == 0:
        os.seteuid(65534)  # root may write everywhere
    try:
        tuning.write(path, [entry(8)])
    except OSError as error:
        answers.put(error.strerror)
    else:
        answers.put("written")


def test_a_folder_that_cannot_be_written_is_refused_and_the_file_stays(tmp_path):
    path = tmp_path / "tuning"
    tuning.write(path, [entry(2)])
    (tmp_path / "tuning.lock").unlink()
    tmp_path.chmod(0o555)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    writer = context.Process(target=_write_as_somebody_else, args=(path, answers))
    writer.start()
    answer = answers.get(timeout=60)
    writer.join()
    tmp_path.chmod(0o755)
    assert answer == "Permission denied"
    assert tuning.read(path) == [entry(2)]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(tmp_path, make):
    path = tmp_path / "tuning"
    make(path)
    kind = path.stat().st_mode
    with pytest.raises(OSError, match=str(path)):
        tuning.write(path, [entry(2)])
    assert (path.stat().st_mode, [each.name for each in tmp_path.iterdir()]) == (kind, ["tuning"])
