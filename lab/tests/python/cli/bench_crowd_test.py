# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --cpus, with a replay in place of the measuring program and the simulation beside it."""

import pytest

SMALL = ("--cpus", 1, "--compute", "1,100", "--effort", "launches=2")


@pytest.fixture
def bench(tollbar, crowd_program, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", *arguments)


def test_measured_and_simulated_stand_side_by_side(bench, replay_crowd):
    said = bench("threads", *SMALL, "--format", "json")
    assert said.code == 0, said.err
    assert len(said.json) == 2 * len(replay_crowd.BARRIERS)
    row = next(row for row in said.json if row["candidate"] == "turnstile" and row["compute_us"] == 100)
    assert row["period_us"] == 16 * 101.5
    assert row["overhead_pct"] == pytest.approx(1.5)
    assert row["simulated_us"] == pytest.approx(16 * 101.5, rel=0.01)
    assert row["model"] == "centralized naive"
    spun = next(row for row in said.json if row["candidate"] == "turnstile (spin)")
    assert spun["simulated_us"] == pytest.approx(60000, rel=0.01)
