# SPDX-License-Identifier: Apache-2.0
"""scripts/hosts: hosts out of network namespaces carry an MPI, and leave nothing behind."""

import os
import re
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import doors, kernel, mpis

HOSTS = Path(__file__).resolve().parents[2] / "scripts" / "hosts"

WHERE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(host, &length);
    for (int episode = 0; episode < 20; ++episode) MPI_Barrier(MPI_COMM_WORLD);
    printf("%s\n", host);
    fflush(stdout);
    return MPI_Finalize();
}
"""


def may_make_hosts() -> bool:
    return bool(shutil.which("ip")) and not kernel.lacking(*kernel.NAMESPACES)


needs_rights = pytest.mark.skipif(not may_make_hosts(), reason="no command ip or no right to make namespaces")


def hosts(*words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """scripts/hosts with an id of this test run."""
    command = [HOSTS, "--id", own_id(), *map(str, words)]
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=60)


def own_id() -> str:
    return f"t{os.getpid() % 0xFFFFF:x}"


def everything(prefix: str) -> list[str]:
    """What the machine has of the hosts whose names begin so."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout.split()
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
    folders = [path.name for path in Path("/etc/netns").glob("*")]
    return [word for word in links + spaces + folders if word.startswith(prefix)]


@pytest.fixture
def three():
    """Three hosts' names; whatever happens to them, they are gone in the end."""
    try:
        hosts("up", 3)
        yield [line.split()[0] for line in hosts("list").stdout.splitlines()]
    finally:
        hosts("down")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """program(family) -> a program of Debian's MPI of that family in which each rank says its host."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "where.c").write_text(WHERE)

    def compiled(family: str) -> Path:
        if not (shutil.which(f"mpicc.{family}") and shutil.which(f"mpirun.{family}")):
            left_out(f"Debian's {family} is not installed")
        made = folder / family
        command = [f"mpicc.{family}", folder / "where.c", "-o", made]
        subprocess.run(command, check=True, capture_output=True)
        return made

    return compiled


def said_hosts(family: str, program: Path, ranks: int, *words: str, slots: int = 1) -> list[str]:
    options = hosts("options", family, slots).stdout.split()
    command = [f"mpirun.{family}", *options, *words, "-n", str(ranks), program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        limit = threading.Timer(60, job.kill)
        limit.start()
        text = "".join(job.stdout.readline() for _ in range(ranks))  # after a barrier of all
        limit.cancel()
        said = sorted(re.findall(r"tb\w*?h\d", text))  # MPICH's launcher may pass two names on, then their line ends
        try:
            _, errors = job.communicate(timeout=5 if family == "mpich" else 60)
        except subprocess.TimeoutExpired:
            # MPICH 4.0.2 may hang in MPI_Finalize when UCX is confined to TCP, whatever the program did.
            assert family == "mpich", "the job does not end"
            job.terminate()
            return said
    assert job.returncode == 0, errors
    return said


@needs_rights
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_rank_on_each_host_says_its_own_host(three, program, family):
    assert said_hosts(family, program(family), 3) == three


@needs_rights
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_several_ranks_of_a_host_share_it(three, program, family):
    assert said_hosts(family, program(family), 6, slots=2) == sorted(three * 2)


@needs_rights
def test_barriers_between_hosts_go_through_the_component(three, program):
    mpi = mpis.of_launcher("mpirun.openmpi")
    component = doors.component(mpi) if mpi else None
    if component is None:
        left_out("the component for Open MPI is not built")
    path = f"OMPI_MCA_mca_base_component_path={doors.component_path(mpi, component)}"
    assert said_hosts("openmpi", program("openmpi"), 3, "-x", path) == three


@needs_rights
def test_a_command_runs_on_the_host_it_is_given(three):
    assert hosts("run", three[1], "hostname").stdout == three[1] + "\n"
    assert hosts("run", three[1], "printf", "%s|", "two words", "$HOME").stdout == "two words|$HOME|"


@needs_rights
def test_a_command_for_a_host_that_is_not_there_is_refused(three):
    done = hosts("run", "elsewhere", "hostname", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "no host 'elsewhere'" in done.stderr


@needs_rights
def test_down_leaves_nothing(three):
    assert everything(f"tb{own_id()}")
    hosts("down")
    assert everything(f"tb{own_id()}") == []


@needs_rights
def test_down_ends_what_runs_on_the_hosts(three):
    agent = HOSTS.with_name("host_agent")
    with subprocess.Popen([agent, three[0], "exec sleep 1000"]) as sleeper:
        while not subprocess.run(["ip", "netns", "pids", three[0]], capture_output=True).stdout:
            assert sleeper.poll() is None
        hosts("down")
        assert sleeper.wait(timeout=60) != 0


@needs_rights
def test_down_removes_what_a_crash_has_left(three):
    subprocess.run(["ip", "netns", "delete", three[1]], check=True)
    hosts("down")
    assert everything(f"tb{own_id()}") == []


@needs_rights
def test_hosts_that_are_up_are_not_made_again(three):
    done = hosts("up", 2, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert [line.split()[0] for line in hosts("list").stdout.splitlines()] == three


@needs_rights
def test_hosts_of_others_that_come_and_go_are_not_spoken_of(three):
    passing = f"tb{own_id()}x"  # of no set: the number is missing
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            for verb in ("add", "delete"):
                subprocess.run(["ip", "netns", verb, passing], check=True)

    with ThreadPoolExecutor() as other:
        guest = other.submit(come_and_go)
        try:
            said = [hosts("list").stderr for _ in range(40)]
        finally:
            over.set()
        guest.result()
    assert said == [""] * 40


@needs_rights
def test_two_sets_of_hosts_do_not_meet(three):
    other = f"u{own_id()[1:]}"
    subprocess.run([HOSTS, "--id", other, "up", "1"], check=True)
    try:
        listed = subprocess.run([HOSTS, "--id", other, "list"], check=True, capture_output=True, text=True).stdout
        subnets = {line.split()[1].rpartition(".")[0] for line in listed.splitlines()}
        own = {line.split()[1].rpartition(".")[0] for line in hosts("list").stdout.splitlines()}
        assert (len(subnets), len(own), len(subnets | own)) == (1, 1, 2)
    finally:
        subprocess.run([HOSTS, "--id", other, "down"], check=True)
    assert [line.split()[0] for line in hosts("list").stdout.splitlines()] == three


@pytest.mark.parametrize("words", [[], ["sideways"], ["up"], ["up", "0"], ["up", "many"], ["up", "65"]])
def test_wrong_use_is_told(words):
    if words[:1] == ["up"] and not may_make_hosts():
        pytest.skip("no right to make namespaces")
    assert hosts(*words, check=False).returncode == 2


@pytest.mark.skipif(not shutil.which("ip"), reason="no command ip")
def test_without_the_rights_of_root_one_line_says_so():
    stripped = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*stripped, "bash", HOSTS, "up", "2"], capture_output=True, text=True, cwd="/")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "only root may make hosts" in done.stderr
