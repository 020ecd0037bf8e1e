# SPDX-License-Identifier: Apache-2.0
"""tollbar run --report: who waited how long for whom; whatever becomes of it, the exit code is the job's."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from needs import left_out
from through_run import run_tollbar
from tollbar.cli import accounting
from tollbar.machine import doors, kernel, mpi_hosts, mpis

#: Rank 1 comes to every second call 20 ms after it knows that the others are about to.
UNEVEN = r"""
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
    int rank, ranks, came;
    double part = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < 20; ++step) {
        if (rank != 1) MPI_Send(&rank, 1, MPI_INT, 1, step, MPI_COMM_WORLD);
        for (int other = 1; rank == 1 && other < ranks; ++other)
            MPI_Recv(&came, 1, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1 && step % 2 == 1) usleep(20000);
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return argc > 1 ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def uneven(real):
    launcher, program = real
    family = launcher[0].rpartition(".")[2]
    if doors.preload(family) is None:
        left_out(f"{doors.PRELOADS[family]} is not built")
    program = program.with_name("uneven")
    program.with_suffix(".c").write_text(UNEVEN)
    subprocess.run([f"mpicc.{family}", program.with_suffix(".c"), "-o", program], check=True, capture_output=True)
    return [*launcher, program]


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_report_says_who_waited_how_long_for_whom_and_the_exit_code_stays(uneven, tmp_path, way):
    file = tmp_path / "waits.json"
    if way == "option":
        done = run_tollbar("--report", file, "--", *uneven, "argument")
    else:
        done = run_tollbar("--", *uneven, "argument", TOLLBAR_REPORT=str(file))
    assert done.returncode == 7, done.stderr
    worst = json.loads(file.read_text())[0]
    assert (worst["call"], worst["communicator"], worst["late"]) == (
        "MPI_Allreduce",
        "MPI_COMM_WORLD (3 ranks)",
        "rank 1",
    )
    assert (worst["ranks"], worst["by"]) == (2, "0 2")
    assert worst["waits"] >= 20
    assert worst["waited_s"] >= 20 * 0.015
    assert 0.015 <= worst["longest_s"] <= worst["waited_s"]
    assert worst["address"].rpartition("+0x")[0].endswith("uneven")
    assert worst["at"] in (f"main ({worst['address']})", worst["address"])  # it has no debug information
    assert re.search(
        r"tollbar run: [\d.]+ s of all ranks in waiting for others, [\d.]+ s of it for rank 1\n", done.stderr
    )
    assert not any(word in done.stderr for word in ("[~", "_TOLLBAR_RUN", "sum\t"))


def test_a_report_beside_a_time_out_is_a_table_on_stderr_or_a_page(uneven, tmp_path):
    done = run_tollbar("--timeout", 30, "--report", "-", "--", *uneven)
    assert done.returncode == 0
    # A path that is too long for its column stands below the row.
    assert re.search(r"MPI_Allreduce +MPI_COMM_WORLD \(3 .*rank 1 +2 ", done.stderr), done.stderr
    assert re.search(r"main \(\S+uneven\+0x\w+\)", done.stderr), done.stderr
    page = tmp_path / "waits.html"
    assert run_tollbar("--report", page, "--", *uneven).returncode == 0
    assert "waiting for rank 1" in page.read_text()


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="there is no /dev/full")
def test_a_report_that_cannot_be_written_at_the_end_goes_to_stderr_and_the_exit_code_stays(uneven):
    done = run_tollbar("--report", "/dev/full", "--", *uneven, "argument")
    assert done.returncode == 7
    assert "tollbar run: cannot write /dev/full: No space left on device\n" in done.stderr
    assert re.search(r"MPI_Allreduce +MPI_COMM_WORLD", done.stderr)


@pytest.mark.skipif(kernel.lacking(*kernel.NAMESPACES), reason="no file system can be mounted here")
def test_on_a_full_disk_no_part_of_a_report_is_left(uneven, tmp_path):
    disk = f"mount -t tmpfs -o size=4k none {tmp_path} && head -c 4096 /dev/zero > {tmp_path}/fill"
    report = [sys.executable, "-m", "tollbar", "run", "--report", tmp_path / "waits.json", "--", *uneven]
    words = ["unshare", "-m", "sh", "-c", f'{disk} && "$@"; ls {tmp_path}', "sh", *report]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.endswith("fill\n"), done.stdout + done.stderr
    assert "waits.json" not in done.stdout
    assert f"cannot write {tmp_path}/waits.json: No space left on device" in done.stderr


def test_a_job_that_ends_before_its_ranks_do_has_no_report(uneven, tmp_path):
    done = run_tollbar("--report", tmp_path / "waits.json", "--", *uneven[:-1], "true")
    assert done.returncode == 0
    assert "nothing to report: the ranks have not come to MPI_Finalize" in done.stderr


@pytest.mark.deep
def test_a_report_of_several_hosts_names_the_late_rank_on_its_own_host(uneven, tmp_path):
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("no hosts: not root, or no command ip")
    if "mpich" in uneven[0]:
        pytest.skip("MPICH over UCX waits in MPI_Finalize for ever now and then, without tollbar too")
    file = tmp_path / "waits.json"
    with mpi_hosts.Hosts(2) as hosts:
        placed = hosts.options(mpis.of_launcher(shutil.which(uneven[0])), 2)
        done = run_tollbar(
            "--report", file, "--", uneven[0], *placed, "-n", 4, uneven[-1], UCX_NET_DEVICES="eth0", FI_PROVIDER="tcp"
        )
    assert done.returncode == 0, done.stderr
    rows = {row["late"]: row for row in json.loads(file.read_text())}
    assert rows["rank 1"]["by"] == "0"
    assert rows["rank 1"]["waited_s"] >= 5 * 0.015
    assert {"2", "3"} <= set(rows["a rank of another host"]["by"].split())


def test_a_file_that_can_be_written_stays_as_it_was(tmp_path):
    (tmp_path / "kept").write_text("before")
    os.mkfifo(tmp_path / "pipe")
    assert [accounting.unwritable(str(tmp_path / name)) for name in ("kept", "new", "pipe")] == [""] * 3
    assert (tmp_path / "kept").read_text() == "before"
    assert not (tmp_path / "new").exists()
