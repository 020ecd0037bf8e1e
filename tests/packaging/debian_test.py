# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: lintian has nothing to say, and in a Debian of its own they are all a user needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(os.geteuid() != 0, reason="not root"),
    pytest.mark.needs(
        all(map(shutil.which, ("dh", "lintian", "mmdebstrap", "doxygen"))),
        "debhelper, doxygen, lintian or mmdebstrap is not installed",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
OPEN_MPI = "--allow-run-as-root --oversubscribe -n 2"
BARRIER = """
#include <mpi.h>
int main(int count, char** words) {
    MPI_Init(&count, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def packages(run) -> list[Path]:
    return [ROOT / path for path in run(ROOT / "scripts" / "packages", "debian").split()[1:]]


@pytest.fixture(scope="module")
def debian(run, packages, archive, tmp_path_factory):
    """debian(script): what a shell script prints there; /packages holds ours, which are not installed yet."""
    root = tmp_path_factory.mktemp("debian") / "root"
    run("mmdebstrap", "--quiet", "--variant=apt", "bookworm", root, archive)
    for source in ("/etc/resolv.conf", *map(str, Path("/etc/apt/apt.conf.d").glob("*"))):
        if not (root / source[1:]).exists():  # how this machine reaches an archive
            shutil.copy(source, root / source[1:])
    (root / "packages").mkdir()
    for package in packages:
        shutil.copy(package, root / "packages")

    def shell(script: str) -> str:
        return run("chroot", root, "sh", "-euc", script, XDG_CACHE_HOME="/packages/cache")

    subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
    try:
        shell("apt-get update -qq 2>&1")
        yield shell
    finally:
        subprocess.run(["umount", root / "proc"], check=True)


def install(debian, *names: str) -> None:
    debian(f"apt-get install -y -qq --no-install-recommends {' '.join(names)} 2>&1")


def ours(*names: str) -> list[str]:
    return [f"/packages/{name}_*.deb" for name in names]


def test_a_tarball_is_the_same_whenever_it_is_made(run):
    (made,) = run(ROOT / "scripts" / "packages", "dist").split()
    first = (ROOT / made).read_bytes()
    run(ROOT / "scripts" / "packages", "dist")
    assert (ROOT / made).read_bytes() == first


def test_lintian_has_nothing_to_say(run, packages):
    assert run("lintian", "--allow-root", "--fail-on", "error,warning", *packages) == ""


def test_packages_alone_serve_a_user_and_leave_nothing_behind(debian):
    files = "find / -xdev -not -path '/proc/*' -not -path '/packages/*' -path '*tollbar*'"
    assert debian(files) == ""

    install(debian, *ours("libtollbar0", "tollbar"))
    assert debian("find / -xdev -path '*/tollbar_lab*' -not -path '/proc/*'") == ""
    install(debian, *ours("libtollbar-models0", "tollbar-lab"))
    assert "lanai4.3" in debian("tollbar simulate nic mcs --ranks 8")
    size = debian("dpkg-query -W -f '${Installed-Size}\\n' 'libtollbar*' tollbar tollbar-lab")
    assert sum(map(int, size.split())) < 30_000  # KiB
    assert "yes" in debian("tollbar verify mcs turnstile --ranks 1..16")
    assert "tollbar" in debian("tollbar doctor; python3 -c 'import tollbar; print(tollbar.__name__)'")

    install(debian, "g++", "pkg-config", *ours("libtollbar-dev"))
    (example,) = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    debian(f"cat >meet.cpp <<'END'\n{example}\nEND")
    met = debian("g++ -std=c++20 -O2 meet.cpp -o meet $(pkg-config --cflags --libs tollbar) && ./meet")
    assert set(re.sub(r"\d{2,}", "N", met).splitlines()) == {"rank 2 (process N, thread N) has not arrived"}

    install(debian, "openmpi-bin", "libopenmpi-dev", *ours("tollbar-preload", "tollbar-openmpi", "tollbar-nic"))
    debian(f"cat >meet.c <<'END'\n{BARRIER}\nEND\nmpicc meet.c -o meet")
    said = debian(f"TOLLBAR_VERBOSE=1 mpirun {OPEN_MPI} ./meet 2>&1")
    assert "tollbar: MPI_COMM_WORLD (2 ranks): " in said
    assert debian("find /etc/systemd -name '*tollbar*'") == ""  # the daemon's unit is there, and off

    debian("apt-get purge -y -qq 'tollbar*' 'libtollbar*' 2>&1")
    assert debian(files) == ""
