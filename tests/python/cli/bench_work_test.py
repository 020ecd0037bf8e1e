# SPDX-License-Identifier: Apache-2.0
"""tollbar bench --compute: runs a little, and refuses what cannot be."""

import csv
import io
import json
import subprocess

import pytest
from needs import left_out
from tollbar.campaigns import udp as udp_campaign
from tollbar.cli import main
from tollbar.data import results
from tollbar.machine import nic_daemons, paths
from tollbar.machine.mpi_hosts import Hosts


def test_a_workload_is_measured_and_stored(tmp_path, capsys):
    words = ["bench", "threads", "tollbar::barrier", "--compute", "20,20~0.5", "--launches", "1"]
    words += ["--ranks", "2", "--placement", "pinned"]
    assert main([*words, "--output", str(tmp_path), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["compute"] for row in rows if row["barrier"] == "tollbar::barrier"] == ["20", "20~0.5"]
    assert all(float(row["period_us"]) > 20 for row in rows)
    assert {row["where"] for row in rows} == {"pinned"}  # alone
    assert len(list(tmp_path.glob("threads-*/*.jsonl.gz"))) == 2 * 4  # as it comes, and under each policy


def test_threads_compute_a_fixed_amount_and_no_application(tollbar):
    said = tollbar("bench", "threads", "--compute", "20,360us").refusal
    assert (
        said == "tollbar bench: --compute 360us: threads take US or US~SHARE; ranks, PEs and hosts take applications\n"
    )


@pytest.fixture
def open_mpi_door(hosts_can_have_nics):
    """Skips where no MPI_Barrier can have cards below it."""
    mpi, why = udp_campaign.open_mpi()
    if not mpi or not udp_campaign.mpi_doors(Hosts(2), mpi[0]):
        left_out(f"no MPI_Barrier on cards: {why or 'no door is built for ' + mpi[0].name}")


def test_programs_on_hosts_compute_between_mpi_barriers_by_messages_and_on_cards(tmp_path, capsys, open_mpi_door):
    words = ["bench", "nic", "--compute", "64~0.2,360us", "--ranks", "3", "--episodes", "5", "--launches", "1"]
    assert main([*words, "--output", str(tmp_path), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    (folder,) = tmp_path.glob("work-*")
    stored = results.read(folder)
    if stored.environment["notes"]:
        pytest.skip(stored.environment["notes"][0])
    assert stored.environment["failures"] == []
    assert {row["over"] for row in rows} == {"hosts"}
    for workload in ("64~0.2", "360us"):
        found = {row["barrier"].partition(" [")[2]: row for row in rows if row["compute"] == workload}
        doors = {name.partition(" ")[2].rstrip("]") for name in found} - {""}
        assert {"by messages", "on cards"} <= doors
        assert {"pairwise", "card:pairwise", "MPI_Barrier"} <= {row["barrier"] for row in rows}
        assert all(float(row["period_us"]) > float(row["least_us"]) for row in found.values())
    runs = {record["runs"] for _, _, launch in stored.launches for record in launch.records["work"]}
    assert runs == {5}


def test_as_many_runs_as_are_asked_for_are_all_made():
    program = paths.program("tollbar-bench-threads")
    words = ["--ranks", "2", "--only", "tollbar::barrier", "--rounds", "1", "--batch-us", "1"]
    words += ["--workload", "20", "--runs", "2000"]
    said = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    (work,) = [json.loads(line) for line in said.stdout.splitlines() if '"record":"work"' in line]
    assert (work["runs"], work["cut"]) == (2000, False)


def test_a_measurement_that_leaves_a_nic_unused_fails_and_names_the_host(hosts_can_have_nics, capfd):
    with Hosts(2) as hosts:
        names = list(hosts.addresses())
        assert nic_daemons.main(*names, "--", "true") == 1
        assert f"nobody has used the NIC of {names[0]}" in capfd.readouterr().err
        assert nic_daemons.main(*names, "--", "sh", "-c", "exit 3") == 3
