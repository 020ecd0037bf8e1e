# SPDX-License-Identifier: Apache-2.0
"""`make install` installs the command too, needs nothing of the checkout, and says what to export."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from needs import left_out

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> tuple[Path, str]:
    """The prefix that `make install EXTRAS=bench` filled, moved afterwards, and the words it said."""
    if not (ROOT / "build" / "release" / "libtollbar.so").exists():
        left_out("build/release is not there; run `make`")
    first = tmp_path_factory.mktemp("installed") / "a prefix"
    done = make("install", first, "EXTRAS=bench", env=without_sudo(tmp_path_factory))
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.replace(str(first), "PREFIX")
    return first.rename(tmp_path_factory.mktemp("moved") / "prefix"), said


def make(target: str, prefix: Path, *words: str, **how) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", "-o", "build", target, f"PREFIX={prefix}", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **how)


def without_sudo(tmp_path_factory) -> dict[str, str]:
    """An environment in which calling sudo fails."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "sudo").write_text("#!/bin/sh\necho sudo is called >&2; exit 1\n")
    (folder / "sudo").chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}


def run(installed, *words: str, **changed: str) -> str:
    """The output of the installed command, far from the checkout and its environment."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"} | changed
    prefix, _ = installed
    command = [prefix / "bin" / words[0], *words[1:]]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_prefix_is_told_with_what_finds_it(installed):
    _, said = installed
    assert "export PKG_CONFIG_PATH=PREFIX/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}\n" in said
    assert "export LD_LIBRARY_PATH=PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n" in said
    assert "export PATH=PREFIX/bin:$PATH\n" in said


def test_the_installed_command_runs(installed):
    assert "dissemination" in run(installed, "tollbar", "plans", "--format", "csv")


def test_a_link_to_the_command_runs(installed, tmp_path):
    (tmp_path / "tollbar").symlink_to(installed[0] / "bin" / "tollbar")
    linked = subprocess.run([tmp_path / "tollbar", "plans"], cwd="/", capture_output=True, text=True)
    assert (linked.returncode, linked.stderr) == (0, "")


IN_THE_COMMAND = """
import sys
from pathlib import Path
import tollbar.cli, scipy, matplotlib, jinja2
from tollbar.machine import paths
for name, module in sorted(sys.modules.items()):
    print(name, getattr(module, "__file__", None) or "")
print("library", paths.library().resolve())
print("program", paths.program("tollbar-bench-threads").resolve())
print("checkout", paths.checkout() or "")
"""


def test_nothing_of_the_checkout_is_used(installed):
    prefix = installed[0]
    python = "../lib/tollbar/python/bin/python3"
    lines = run(installed, python, "-c", IN_THE_COMMAND).splitlines()
    places = dict(line.split(" ", 1) for line in lines)
    assert Path(places["library"]).is_relative_to(prefix)
    assert Path(places["program"]) == prefix / "libexec" / "tollbar" / "tollbar-bench-threads"
    assert places["checkout"] == ""
    assert {name: place for name, place in places.items() if place.startswith(str(ROOT))} == {}


def test_no_installed_text_names_the_checkout(installed):
    folders = [installed[0] / "bin", installed[0] / "lib" / "tollbar" / "python"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    texts = [path for path in files if path.suffix in {".py", ".pyc", ".cfg", ".pth", ""}]
    assert len(texts) > 100
    named = [path for path in texts if path.stat().st_size < 2**20 and str(ROOT).encode() in path.read_bytes()]
    assert named == []


def paths_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def core(installed, tmp_path) -> Path:
    """`make install` into a prefix that holds files of others."""
    prefix = tmp_path / "a prefix"
    for name in ("bin/other", "lib/other.so"):
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text("another's")
    done = make("install", prefix)
    assert (done.returncode, done.stderr) == (0, "")
    return prefix


def test_what_is_installed_by_default_is_small_and_says_how_to_add_the_rest(core):
    used = subprocess.run(["du", "-sk", core], capture_output=True, text=True, check=True).stdout
    assert int(used.split()[0]) <= 30 * 1024
    measured = subprocess.run([core / "bin" / "tollbar", "bench", "threads"], capture_output=True, text=True)
    assert measured.returncode == 2
    assert f"pip --python '{core}/lib/tollbar/python/bin/python3' install polars" in measured.stderr


def test_the_python_of_the_system_imports_what_is_installed(core):
    (site,) = core.glob("lib/tollbar/python/lib/python3*/site-packages")
    asked = ["/usr/bin/python3", "-c", "import tollbar; print(tollbar.__file__)"]
    done = subprocess.run(asked, cwd="/", env={"PYTHONPATH": str(site)}, capture_output=True, text=True)
    assert done.stdout.startswith(str(site)), done.stderr


@pytest.mark.parametrize("times", [1, 2])
def test_uninstalling_leaves_the_files_and_folders_of_others_alone(core, tmp_path, times):
    for _ in range(times - 1):
        assert make("install", core).returncode == 0
    done = make("uninstall", core)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"removed from {core}: ")
    assert paths_in(core) == {"bin", "bin/other", "lib", "lib/other.so"}


def test_a_folder_into_which_somebody_has_put_a_file_is_kept_and_named(core):
    (core / "include" / "tollbar" / "mine.h").touch()
    moved = core.rename(core.parent / "moved")
    done = subprocess.run([moved / "lib" / "tollbar" / "uninstall"], capture_output=True, text=True)
    assert "not empty, so kept: include/tollbar/ include/" in done.stdout
    assert (moved / "include" / "tollbar" / "mine.h").exists()
    assert not (moved / "include" / "tollbar" / "tollbar.h").exists()


def test_nothing_is_removed_where_nothing_was_installed(tmp_path):
    done = make("uninstall", tmp_path)
    assert done.returncode != 0
    assert "nothing was installed" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk cannot be mounted")
def test_a_disk_that_fills_up_keeps_nothing_of_an_installation(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "small", tmp_path], check=True)
    try:
        (tmp_path / "other").touch()
        done = make("install", tmp_path)
        assert done.returncode != 0
        first = done.stderr.splitlines()[0]
        assert first.startswith("install: cp: ")
        assert first.endswith("No space left on device; nothing stays installed")
        assert paths_in(tmp_path) == {"other"}
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_prefix_that_cannot_be_made_gets_nothing(tmp_path):
    (tmp_path / "file").touch()
    done = make("install", tmp_path / "file" / "prefix")
    assert done.returncode != 0
    assert "install: nothing was installed\n" in done.stderr
    assert paths_in(tmp_path) == {"file"}


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk cannot be mounted")
def test_a_prefix_on_a_disk_that_is_only_read_gets_nothing(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "closed", tmp_path], check=True)
    try:
        done = make("install", tmp_path / "prefix")
        assert done.returncode != 0
        assert f"install: {tmp_path} cannot be written by root; name another prefix" in done.stderr.splitlines()[0]
        assert paths_in(tmp_path) == set()
    finally:
        subprocess.run(["umount", tmp_path], check=True)
