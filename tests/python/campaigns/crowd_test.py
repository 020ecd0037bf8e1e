# SPDX-License-Identifier: Apache-2.0
"""What a campaign of crowds starts, and what it leaves out."""

import os
from pathlib import Path

import pytest
from tollbar.campaigns import crowd as crowd_campaign
from tollbar.campaigns import passes
from tollbar.campaigns.campaign import Request
from tollbar.campaigns.crowd import Crowds, Where, wanted
from tollbar.data import results


def request(**more):
    usual = {
        "ranks": (2, 16), "processors": (1, 2), "compute_us": (1.0, 10000.0), "variations": (0.0, 0.5),
        "launches": 2, "budget_s": 60.0, "longest_ms": 100.0,
    }  # fmt: skip
    return Request(**usual | more)


def test_only_what_is_crowded_and_not_too_long_is_measured():
    found = Crowds(request(), Path()).situations
    assert Where(2, 2, 1.0, 0.0) not in wanted(request())
    assert Where(16, 1, 10000.0, 0.0) not in found  # 160 ms an episode
    assert Where(16, 2, 10000.0, 0.5) in found
    assert len(wanted(request())) == 12


def test_a_launch_has_a_mask_of_processors_and_a_workload(monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_WAIT", "spin")
    work = Crowds(request(only=("mcs+park",)), tmp_path / "there")
    start = work.start(crowd_campaign.PROGRAM, Where(16, 1, 30.0, 0.5), 1, 7)
    first = min(os.sched_getaffinity(0))
    assert start.command[:4] == ["taskset", "-c", str(first), str(tmp_path / "there")]
    text = " ".join(start.command)
    assert "--ranks 16 --placement pinned --rounds 1 --seed 7 --workload 30~0.5" in text
    assert text.endswith("--only mcs+park")
    assert "TOLLBAR_WAIT" not in start.environment


@pytest.mark.parametrize(("variation", "spelled"), [(0.0, "30"), (0.25, "30~0.25")])
def test_workloads_are_spelled_as_the_program_reads_them(variation, spelled):
    assert Where(16, 1, 30.0, variation).workload == spelled


def test_every_situation_is_launched_in_every_pass_and_what_is_left_out_is_said(tmp_path, crowd_program):
    with crowd_campaign.prepared(request(processors=(1,))) as (work, notes):
        outcome = passes.measure(work, notes, tmp_path / "runs", lambda *_: None)
    assert not outcome.failures
    assert outcome.notes == ["2 of 8 situations are left out: computing alone would take more than 100 ms an episode"]
    run = results.read(outcome.folder)
    assert len(run.launches) == 2 * 6
    assert {launch.environment["usable"] for launch in run.launches} == {1}
    assert run.environment["kind"] == "crowd"
