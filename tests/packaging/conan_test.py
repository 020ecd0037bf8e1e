# SPDX-License-Identifier: Apache-2.0
"""Conan's recipe: `conan create` builds the unpacked tarball and programs that use it, without a remote."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "build" / "packages" / "conan"


@pytest.fixture
def conan() -> str:
    """The machine's Conan, or PyPI's in an environment of its own that stays for the next time."""
    found = shutil.which("conan") or OWN / "bin" / "conan"
    if not Path(found).exists():
        subprocess.run([sys.executable, "-m", "venv", OWN], check=True)
        pip = [OWN / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "conan>=2.4,<3"]
        if subprocess.run(pip, capture_output=True).returncode != 0:
            shutil.rmtree(OWN)
            pytest.skip("Conan is not installed, and pip cannot install it")
    return str(found)


@pytest.fixture
def unpacked(run, tmp_path) -> Path:
    """The source tarball of the last commit, unpacked."""
    (made,) = run(ROOT / "scripts" / "packages", "dist").split()
    run("tar", "-C", tmp_path, "-xzf", ROOT / made)
    return tmp_path / Path(made).name.removesuffix(".tar.gz")


def test_conan_creates_the_package_of_the_tarball_and_what_uses_it_runs(run, conan, unpacked, tmp_path):
    home = {"CONAN_HOME": str(tmp_path / "conan")}
    run(conan, "profile", "detect", **home)
    recipe = unpacked / "packaging" / "conan"
    both = ("sh", "-c", '"$@" 2>&1', "sh")  # programs of a package are heard on the standard error
    said = run(*both, conan, "create", recipe, "--no-remote", "-s", "compiler.cppstd=20", **home)
    assert said.count("proven 1, phases 100") == 2, said  # the shared library and the static one
    assert "closed, open" in said
    assert "NICs are faster" in said
