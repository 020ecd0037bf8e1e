# SPDX-License-Identifier: Apache-2.0
"""Conan's recipe: `conan create` builds the package and programs that use it, without a remote."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]


def test_conan_creates_the_package_and_what_uses_it_runs(run, tmp_path):
    conan = shutil.which("conan")
    if not conan:
        pytest.skip("Conan cannot be found; pip install conan")
    home = {"CONAN_HOME": str(tmp_path)}
    run(conan, "profile", "detect", **home)
    recipe = ROOT / "packaging" / "conan"
    both = ("sh", "-c", '"$@" 2>&1', "sh")  # programs of a package are heard on the standard error
    said = run(*both, conan, "create", recipe, "--no-remote", "-s", "compiler.cppstd=20", **home)
    assert said.count("proven 1, phases 100") == 2, said  # the shared library and the static one
    assert "closed, open" in said
    assert "NICs are faster" in said
