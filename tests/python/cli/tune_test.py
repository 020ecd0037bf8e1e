# SPDX-License-Identifier: Apache-2.0
"""tollbar tune: what it picks, and what it leaves on disk."""

import gzip
import json
import re

import pytest
from tollbar import environment
from tollbar.data import results, tuning


@pytest.fixture
def tune(tollbar, programs, monkeypatch, tmp_path):
    """Cells beside neighbours that are needed and not stored are measured by replays."""
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    return lambda *arguments: tollbar("tune", "threads", *arguments)


def test_the_fastest_safe_barrier_of_each_situation_is_stored(tune, stored, tmp_path):
    stored(ranks=(2, 4))
    said = tune("--format", "json")
    assert said.code == 0
    picked = {(row["placement"], row["ranks"]): (row["plan"], row["verdict"]) for row in said.json}
    assert picked["pinned", 2] == ("turnstile", "best")
    assert picked["pinned", 4] == ("combination", "best")
    entries = {(each.pairs["pinned"], each.pairs["ranks"]): each.pairs for each in tuning.read(tmp_path / "tuning")}
    assert len(entries) == 4
    entry = entries["yes", "4"]
    assert (entry["plan"], entry["wait"], entry["cpus"], entry["runner_up"]) == (
        "combination",
        "auto",
        "2",
        "turnstile",
    )
    assert 1 < float(entry["low"]) < float(entry["ratio"]) < float(entry["high"])
    assert float(entry["latency_ns"]) == pytest.approx(1.03 * 1450, rel=0.1)


COMBINED = "turnstile,combination"


def kept(tmp_path):
    """The pairs that are stored, by (pinned, ranks)."""
    entries = (each.pairs for each in tuning.read(tmp_path / "tuning"))
    return {(pairs["pinned"], int(pairs["ranks"])): pairs for pairs in entries}


def test_threads_that_are_not_pinned_never_get_a_combination(tune, stored, tmp_path):
    stored(ranks=(4, 8))  # where it is the fastest of all, pinned or not
    assert tune().code == 0
    assert {kept(tmp_path)["no", ranks]["plan"] for ranks in (4, 8)} == {"turnstile"}


def test_what_wins_alone_and_loses_beside_a_neighbour_is_not_stored(tune, stored, stored_beside, tmp_path):
    stored(ranks=(8,))
    stored_beside(ranks=(8,), launches=8, only=COMBINED)
    said = tune()
    (factor,) = re.findall(
        r"8 threads pinned: combination takes (\S+) \(\S+ to \S+\) times as long beside a neigh", said.err
    )
    assert float(factor) == pytest.approx(30 * 19 / 20, rel=0.1)
    pairs = kept(tmp_path)["yes", 8]
    assert (pairs["plan"], pairs["verdict"], pairs["runner_up"]) == ("turnstile", "safe", "combination")
    assert float(pairs["ratio"]) == pytest.approx(1.03 / 1.12, rel=0.05)
    assert pairs["measured"] == "pinned:alone"


def test_what_may_lose_beside_a_neighbour_is_not_stored_however_its_median_is(
    tune, stored, stored_beside, replay, monkeypatch, tmp_path
):
    stored(ranks=(4,))
    run = stored_beside(ranks=(4,), only=COMBINED, launches=8)
    of_a_launch = 4  # free and pinned, alone and beside
    for launch in sorted(run.glob("*.gz"))[of_a_launch - 1 :: of_a_launch][:2]:
        lines = [json.loads(line) for line in gzip.decompress(launch.read_bytes()).splitlines()]
        for line in lines:
            if line.get("name") == "combination":
                line["elapsed_ns"] *= 3
        launch.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    said = tune()
    (value, low, high) = map(
        float, re.findall(r"4 threads pinned: combination takes (\S+) \((\S+) to (\S+)\) times as long", said.err)[0]
    )
    assert low <= value < 1.05 < 1.25 < high
    assert kept(tmp_path)["yes", 4]["plan"] == "turnstile"


def test_what_is_stored_says_where_it_was_measured(tune, stored, stored_beside, tmp_path):
    stored(ranks=(4,))
    stored_beside(ranks=(4,), launches=8, only=COMBINED)
    assert tune().code == 0
    pairs = kept(tmp_path)["yes", 4]
    assert (pairs["plan"], pairs["measured"]) == ("combination", "pinned:alone,pinned:neighbour")
    assert float(pairs["worst"]) == pytest.approx(39 / 40, rel=0.05)
    assert float(pairs["worst_low"]) <= float(pairs["worst"]) <= float(pairs["worst_high"]) <= 1.25
    assert kept(tmp_path)["no", 4]["measured"] == "free:alone"


def test_what_is_not_known_beside_a_neighbour_is_measured_once(tune, stored, tmp_path):
    stored(ranks=(4, 8))
    said = tune()
    assert "tollbar tune: measuring combination and turnstile neighbour\n" in said.err
    assert (kept(tmp_path)["yes", 4]["plan"], kept(tmp_path)["yes", 8]["plan"]) == ("combination", "turnstile")
    run = results.read(results.newest(tmp_path / "results", "tune"))
    assert {launch.environment["placement"] for launch in run.launches} == {"pinned"}
    assert {launch.environment["company"] for launch in run.launches} == {"1 neighbour"}
    pairs = kept(tmp_path)["yes", 4]
    assert float(pairs["worst_low"]) <= float(pairs["worst"]) <= float(pairs["worst_high"])
    assert "measuring" not in tune().err


def test_what_was_measured_in_company_before_the_run_says_nothing_of_it(tune, stored, stored_beside):
    stored(ranks=(4,))
    stored_beside(ranks=(4,), launches=8, only=COMBINED, began="2024-12-31T00:00:00Z")
    assert "measuring combination and turnstile" in tune().err


def test_a_choice_that_nobody_can_check_is_not_stored(tune, stored, programs, tmp_path):
    stored(ranks=(4,))
    (programs / "tollbar-bench-threads").write_text("#!/bin/sh\nexit 1\n")
    said = tune()
    assert said.code == 0
    assert "4 threads pinned: combination was not measured in 6 launches beside a neighbour, pinned\n" in said.err
    assert kept(tmp_path)["yes", 4]["plan"] == "turnstile"


def test_threads_that_may_pin_themselves_later_are_measured_pinned_too(
    tune, stored, stored_beside, programs, replay, monkeypatch, tmp_path
):
    mcs = ("mcs", "plan", "auto", 0.5, 1.8)  # the fastest with processors to spare
    barriers = [row for row in replay.BARRIERS["tollbar-bench-threads"] if row[0] != "mcs"]
    monkeypatch.setitem(replay.BARRIERS, "tollbar-bench-threads", [*barriers, mcs])
    monkeypatch.setitem(replay.TURNS, "mcs+auto", ("plan", 0.5, 20.0))
    (programs / "tollbar-bench-threads").write_text("#!/bin/sh\nexit 1\n")
    stored(ranks=(2,))
    stored_beside(ranks=(2,), launches=8, only="turnstile,mcs", placements=("free",))
    said = tune()
    assert "2 threads free: mcs was not measured in 6 launches beside a neighbour, pinned\n" in said.err
    assert kept(tmp_path)["no", 2]["plan"] == "turnstile"
    stored_beside(ranks=(2,), launches=8, only="turnstile,mcs", placements=("pinned",))
    assert tune().code == 0
    pairs = kept(tmp_path)["no", 2]
    assert pairs["plan"] == "mcs"
    assert pairs["measured"] == "free:alone,free:neighbour,pinned:alone,pinned:neighbour"


def test_what_was_stored_without_company_does_not_stay(tune, stored, tmp_path):
    stored(ranks=(8,))
    tune(stored(ranks=(8,), launches=12))
    old = (tmp_path / "tuning").read_text().replace("plan=turnstile", "plan=combination")
    (tmp_path / "tuning").write_text(re.sub(r" (measured|worst)=\S+", "", old))
    said = tune(stored(ranks=(8,), launches=6), "--format", "json")
    assert {row["kept"] for row in said.json} == {None}
    assert {pairs["plan"] for pairs in kept(tmp_path).values()} == {"turnstile"}


def test_the_newest_run_is_taken_unless_another_one_is_named(tune, stored, tmp_path):
    older = stored(ranks=(2,))
    stored(ranks=(8,))
    assert {row["ranks"] for row in tune("--format", "json").json} == {8}
    assert {row["ranks"] for row in tune(older, "--format", "json").json} == {2}
    assert [each.pairs["ranks"] for each in tuning.read(tmp_path / "tuning")] == ["2", "2", "8", "8"]


def test_without_results_it_measures_briefly(tune, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_BUILD", str(programs.parent))
    said = tune("--format", "json")
    assert said.code == 0
    assert "nothing is stored yet; measuring" in said.err
    assert {row["ranks"] for row in said.json} == {2, 4, 8}
    assert {row["launches"] for row in said.json if row["placement"] == "pinned"} == {11}
    assert "best" in {row["verdict"] for row in said.json}  # eleven launches are enough for a choice
    assert results.newest(tmp_path / "results", "threads")


def test_a_corrupt_file_is_one_line_and_stays_beside_the_new_one(tune, stored, tmp_path):
    stored(ranks=(2,))
    (tmp_path / "tuning").write_text("nonsense")
    said = tune("--format", "json")
    assert said.code == 0
    assert "was corrupt (line 1: expected 'tollbar-tuning 1'); kept as tuning.bad" in said.err
    assert said.err.count("\n") == 1
    assert (tmp_path / "tuning.bad").read_text() == "nonsense"


def test_a_place_that_cannot_be_written_is_one_line(tune, stored, monkeypatch, tmp_path):
    stored(ranks=(2,))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "file" / "tuning"))
    said = tune()
    assert said.code == 1
    assert "set TOLLBAR_TUNING to a file that can be written" in said.err
    assert said.err.count("\n") == 1


def test_it_says_which_run_it_used(tune, stored, tmp_path):
    run = stored(ranks=(2,))
    said = tune()
    assert f"from {run}, measured 2025-01-01 00:00:00: 20 launches in 2 situations\n" in said.err
    assert f"2 of 2 choices stored in {tmp_path / 'tuning'}\n" in said.err


def test_a_short_run_does_not_hide_a_full_one(tune, stored):
    full = stored(ranks=(2, 8))
    stored(ranks=(2,), launches=6)
    said = tune()
    assert f"from {full}, " in said.err
    assert tune("--force", "--format", "json").json[0]["launches"] == 6


def limit(run, only):
    """Makes the run look as if it had been asked for those barriers alone."""
    known = json.loads((run / "environment.json").read_text())
    results.write_environment(run, known | {"only": only})


def test_a_run_of_two_barriers_is_told_and_ignored(tune, stored):
    full, few = stored(ranks=(2,)), stored(ranks=(2, 8))
    limit(few, ["turnstile", "std::barrier"])
    said = tune()
    assert f"from {full}, " in said.err
    assert f"{few.name} is ignored: it measured only turnstile, std::barrier\n" in said.err
    said = tune(few)
    assert said.code == 2
    assert "it measured only turnstile, std::barrier; `tollbar bench threads` measures enough" in said.err
    assert tune(few, "--force").code == 0


def test_an_incomplete_run_is_told_and_ignored(tune, stored):
    run = stored(ranks=(2,))
    known = results.read_environment(run)
    results.write_environment(run, {**known, "incomplete": True})
    said = tune(run)
    assert (said.code, "is ignored: it is incomplete" in said.err) == (2, True)
    assert tune(run, "--force").code == 0


def test_what_disturbed_the_measuring_is_told(tune, stored):
    run = stored(ranks=(2,))
    results.write_environment(run, {**results.read_environment(run), "noise": ["other programs are running"]})
    assert "the machine was not quiet: other programs are running\n" in tune(run).err


def test_a_situation_with_too_few_launches_is_told_and_ignored(tune, stored, tmp_path):
    said = tune(stored(ranks=(2,), launches=2))
    assert said.code == 2
    assert "2 threads pinned, 2 threads free: ignored, 2 of 6 launches" in said.err
    assert not (tmp_path / "tuning").exists()


def test_every_situation_is_stored_or_keeps_the_default_and_says_why(
    tune, stored, programs, replay, monkeypatch, tmp_path
):
    alike = [(name, kind, wait, 1.0, 1.0) for name, kind, wait, *_ in replay.BARRIERS["tollbar-bench-threads"]]
    monkeypatch.setitem(replay.BARRIERS, "tollbar-bench-threads", alike)
    run = stored(ranks=(4,))
    monkeypatch.undo()
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    known = results.read_environment(run)
    short = stored(ranks=(8,), launches=2)
    for launch in sorted(short.glob("*.gz")):
        launch.rename(run / f"9{launch.name}")
    results.write_environment(run, known)
    said = tune(run, "--format", "json")
    assert {(row["ranks"], row["placement"], row["plan"], row["verdict"]) for row in said.json} == {
        (ranks, placement, "turnstile", "default") for ranks in (4, 8) for placement in ("pinned", "free")
    }
    assert not (tmp_path / "tuning").exists()
    told = tune(run).err
    assert "4 threads pinned, 4 threads free: the default stays: nothing is faster than it for certain\n" in told
    assert "8 threads pinned, 8 threads free: the default stays: 2 of 6 launches\n" in told


def test_a_run_of_another_machine_is_ignored_unless_it_is_named(tune, stored):
    own, other = stored(ranks=(2,)), stored(ranks=(2, 8))
    known = json.loads((other / "environment.json").read_text())
    results.write_environment(other, known | {"model": "another processor"})
    said = tune()
    assert f"from {own}, " in said.err
    assert f"{other.name} is ignored: it was measured on another machine\n" in said.err
    assert tune(other).code == 0


def test_a_stored_choice_that_rests_on_more_launches_stays(tune, stored, tmp_path):
    tune(stored(ranks=(2,)))
    full = (tmp_path / "tuning").read_text()
    short = stored(ranks=(2,), launches=6)
    said = tune(short, "--format", "json")
    assert [row["kept"] for row in said.json] == [10, 10]
    assert (tmp_path / "tuning").read_text() == full
    said = tune(short)
    told = "what is stored stays: it rests on 10 launches; --force replaces it\n"
    assert f"2 threads pinned, 2 threads free: {told}" in said.err
    assert tune(short, "--force").code == 0
    assert {each.pairs["launches"] for each in tuning.read(tmp_path / "tuning")} == {"6"}


@pytest.mark.deep
def test_runs_that_have_too_little_are_no_reason_to_give_up(tune, stored, programs):
    stored(ranks=(2,), launches=1)
    said = tune("--format", "json")
    assert said.code == 0
    assert "no stored run has enough; measuring for half a minute" in said.err


def test_a_folder_without_a_run_is_wrong_use(tune, tmp_path):
    said = tune(tmp_path)
    assert said.code == 2
    assert f"{tmp_path} holds no run" in said.err


def test_the_file_is_where_the_library_looks(tune, tmp_path):
    assert environment.tuning_file() == tmp_path / "tuning"
