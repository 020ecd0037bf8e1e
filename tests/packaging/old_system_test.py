# SPDX-License-Identifier: Apache-2.0
"""The wheel on the oldest Debian that can be had, 11: glibc 2.31, Python 3.9, GCC 10, Open MPI 4.1.0 and MPICH 3.4.1.

Its packages are unpacked and not set up, and programs run in it by chroot."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.deep, pytest.mark.skipif(os.geteuid() != 0, reason="only root can change into another root")]

PACKAGES = "bash,coreutils,dash,gcc,grep,libc6-dev,libmpich-dev,libopenmpi-dev,mpich,openmpi-bin,python3-pip,sed"
ENTER = """
mount --rbind /dev "$0/dev"
mount -t tmpfs tmpfs "$0/dev/shm"
mount -t proc proc "$0/proc"
exec /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/srv LANG=C.UTF-8 \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /usr/sbin/chroot "$0" /bin/bash -euc "$1"
"""
THREADS = """
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void load(void) { sleep(600); }
static void* work(void* late) {
    if (late) load();
    pthread_barrier_wait(&barrier);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, i == 1 ? &barrier : 0);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
}
"""
RANKS = """
#include <mpi.h>
#include <unistd.h>
static void load(int rank) {
    if (rank == 1) sleep(600);
}
int main(int count, char** words) {
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
    load(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
TEAM = """
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++sum;
#pragma omp barrier
    }
    return printf("%d\\n", sum) < 0;
}
"""
MEET = """if True:
    import platform, sys, threading, tollbar
    barrier, came = tollbar.Barrier(3), []
    def rank(number):
        for episode in range(100):
            came.append(episode)
            barrier.wait()
            assert came.count(episode) == 3
            barrier.wait()
    threads = [threading.Thread(target=rank, args=[number]) for number in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(*platform.libc_ver(), sys.version_info[:2], len(came))
"""


class Old:
    """That Debian, and what a command of bash prints in it."""

    def __init__(self, root: Path):
        self.root = root

    def ends(self, command: str) -> subprocess.CompletedProcess[str]:
        unshare = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER)
        return subprocess.run([*unshare, self.root, command], capture_output=True, text=True, timeout=300, check=False)

    def __call__(self, command: str) -> str:
        done = self.ends(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def old(run, archive, wheel_for, tmp_path_factory) -> Old:
    wheel = wheel_for("3.9", "x86_64")
    root = tmp_path_factory.mktemp("old") / "root"
    unpack = ("mmdebstrap", "--quiet", "--variant=extract", f"--include={PACKAGES}")
    run(*unpack, "bullseye", root, archive)
    for folder in ("proc", "srv", "wheels"):
        (root / folder).mkdir(exist_ok=True)
    (root / "etc" / "hosts").write_text(f"127.0.0.1 localhost {platform.node()}\n")  # MPICH asks for its address
    (root / "etc" / "nsswitch.conf").write_text("hosts: files\n")
    there = ("--no-deps", "--only-binary=:all:", "--python-version", "3.9", "--dest", root / "wheels")
    run(sys.executable, "-m", "pip", "download", "-q", *there, "shtab", "tomli")
    (root / "wheels" / wheel.name).write_bytes(wheel.read_bytes())
    system = Old(root)
    system("python3 -m pip install --quiet --no-index --find-links /wheels tollbar")
    for name, source in {"threads": THREADS, "ranks": RANKS, "team": TEAM}.items():
        (root / "srv" / f"{name}.c").write_text(source)
    system("cd /srv; gcc -g -pthread threads.c -o threads; gcc -fopenmp team.c -o team")
    system("cd /srv; for mpi in openmpi mpich; do mpicc.$mpi -g ranks.c -o ranks-$mpi; done")
    return system


def test_its_pip_installed_the_wheel_and_threads_of_its_python_meet(old):
    assert old(f"python3 -c '{MEET}'") == "glibc 2.31 (3, 9) 300\n"
    assert "yes" in old("tollbar verify mcs turnstile --ranks 1..16")
    assert "usage: tollbar simulate" in old("tollbar simulate --help")


def test_who_names_the_missing_thread_of_a_program_that_nobody_prepared(old):
    said = old.ends("/srv/threads & sleep 1; tollbar who $! && status=0 || status=$?; kill $!; exit $status")
    assert said.returncode == 1, said.stderr
    assert "2 of 3 have arrived; not there: thread " in said.stdout + said.stderr
    assert "sleep() under load (threads.c:5)" in said.stdout


def test_a_run_with_a_time_out_names_the_missing_thread(old):
    said = old.ends("tollbar run --timeout 1 --on-hang kill -- /srv/threads")
    assert said.returncode == 75, said.stderr
    assert "pthread_barrier_t (tollbar)" in said.stderr, "the preload served it"
    assert "2 of 3 have arrived; not there: thread " in said.stderr


@pytest.mark.parametrize("launcher", ["mpiexec.openmpi --oversubscribe", "mpiexec.mpich"])
def test_a_run_with_a_time_out_names_the_late_rank_of_its_mpis(old, launcher):
    mpi = launcher.split()[0].rpartition(".")[2]
    said = old.ends(f"TOLLBAR_VERBOSE=1 tollbar run --timeout 1 --on-hang kill -- {launcher} -n 3 /srv/ranks-{mpi}")
    assert said.returncode == 75, said.stderr
    assert "tollbar: MPI_COMM_WORLD (3 ranks): " in said.stderr, "the preload served it"
    assert "hangs: rank 1 is in sleep() under load (ranks.c:5); 2 of 3 are in MPI_Barrier" in said.stderr


def test_its_openmp_is_served(old):
    said = old.ends("TOLLBAR_VERBOSE=1 tollbar run -- /srv/team")
    assert said.stdout == "300\n"
    assert "inside parallel regions are tollbar's" in said.stderr
