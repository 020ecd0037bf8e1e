# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --workload: runs a little, and refuses what cannot be."""

from __future__ import annotations

import csv
import io

from tollbar.cli import main


def test_a_workload_is_measured_and_stored(tmp_path, capsys):
    words = ["bench", "threads", "--workload", "20,20~0.5", "--only", "tollbar::barrier", "--launches", "1"]
    assert main([*words, "--rounds", "1", "--output", str(tmp_path), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["workload"] for row in rows] == ["20", "20~0.5"]
    for row in rows:
        assert float(row["run_us"]) > float(row["longest_us"]) >= float(row["computing_us"]) - 1e-9
    assert float(rows[0]["longest_us"]) == 20 < float(rows[1]["longest_us"])
    assert len(list(tmp_path.glob("work-*/*.jsonl.gz"))) == 1


def test_what_is_no_workload_is_told_what_is_one(capsys):
    assert main(["bench", "threads", "--workload", "20,fast"]) == 2
    assert "the workload 'fast' is not a computing time" in capsys.readouterr().err


def test_hybrid_has_no_workloads(capsys):
    assert main(["bench", "hybrid", "--workload", "20"]) == 2
    assert "--workload is not an option of `tollbar bench hybrid`" in capsys.readouterr().err
