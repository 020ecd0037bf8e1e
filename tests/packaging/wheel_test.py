# SPDX-License-Identifier: Apache-2.0
"""The wheel holds the command, the native module, the measuring programs, the library and the headers."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def names(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def unpacked(run, wheel, tmp_path_factory):
    """The wheel installed where nothing of the checkout is seen first."""
    target = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel)
    return target


def test_the_wheel_holds_the_library_in_both_forms_and_what_finds_it(names):
    wanted = {"cmake/tollbar/tollbarConfig.cmake"}
    for library in ("tollbar", "tollbar-models"):
        wanted |= {f"lib{library}.so", f"lib{library}.a", f"pkgconfig/{library}.pc"}
    assert {f"tollbar/lib/{name}" for name in wanted} <= names


def test_the_wheel_holds_every_public_header(names):
    folder = ROOT / "include"
    headers = {f"tollbar/include/{path.relative_to(folder)}" for path in folder.rglob("*.h*")}
    assert headers <= names


def test_the_wheel_holds_every_file_of_the_package_and_one_native_module(names):
    sources = ROOT / "python" / "tollbar"
    kept = [path for path in sources.rglob("*") if path.suffix in {".py", ".pyi", ".typed", ".j2", ".xml"}]
    assert {f"tollbar/{path.relative_to(sources)}" for path in kept} <= names
    assert len([name for name in names if re.fullmatch(r"tollbar/_native\..*so", name)]) == 1
    assert "tollbar/_native.pyi" in names


def test_the_wheel_holds_the_measuring_and_simulating_programs(names):
    programs = [*ROOT.glob("build/release/bin/tollbar-bench-*"), *ROOT.glob("build/release/bin/tollbar-simulate-*")]
    built = {path.name for path in programs if not path.name.endswith("-test")}
    assert "tollbar-bench-threads" in built
    assert {f"tollbar/libexec/{name}" for name in built} <= names


def test_the_wheel_holds_nothing_else(names):
    places = (r"tollbar/.*", r"tollbar-[\d.]+\.dist-info/.*", r"tollbar-[\d.]+\.data/scripts/tollbar")
    assert [name for name in names if not any(re.fullmatch(place, name) for place in places)] == []


def test_the_installed_command_runs_and_finds_its_programs(run, unpacked):
    plans = run(unpacked / "bin" / "tollbar", "plans", "--format", "csv", PYTHONPATH=str(unpacked))
    assert "dissemination" in plans
    asked = "import tollbar.machine.paths as p; print(p.program('tollbar-bench-threads'))"
    program = run(sys.executable, "-c", asked, PYTHONPATH=str(unpacked)).strip()
    assert program == str(unpacked / "tollbar" / "libexec" / "tollbar-bench-threads")
    assert run(program, "--list")
