# SPDX-License-Identifier: Apache-2.0
"""The environment module: it finds the installation in which it lies, of `make install` or of pip."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.deep,
    pytest.mark.needs(shutil.which("modulecmd"), "environment-modules is not installed; run scripts/packages tools"),
]

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH")


def tree(folder: Path, *files: str) -> Path:
    """An installation with the module and, empty, those files."""
    module = folder / "share" / "modulefiles" / "tollbar" / "1.2.3"
    for path in (module, *(folder / name for name in files)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    shutil.copy(ROOT / "packaging" / "module" / "tollbar", module)
    return folder


def loaded(prefix: Path, script: str = "", **variables: str) -> list[str]:
    """The output of a shell with the module loaded: those variables, unless a script says otherwise."""
    load = f'eval "$(modulecmd sh load tollbar)"; {script or "; ".join(f"echo ${name}" for name in NAMES)}'
    kept = {name: value for name, value in os.environ.items() if name not in (*NAMES, "LOADEDMODULES", "_LMFILES_")}
    there = {"PATH": "/usr/bin:/bin", "MODULEPATH": str(prefix / "share" / "modulefiles")}
    done = subprocess.run(["sh", "-c", load], env=kept | there | variables, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "libraries", ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/python3.9/site-packages/tollbar/lib", "tollbar/lib"]
)
def test_it_puts_its_own_installation_first(tmp_path, libraries):
    prefix = tree(tmp_path / "a folder", "bin/tollbar", f"{libraries}/libtollbar.so")
    assert loaded(prefix, LD_LIBRARY_PATH="/mine") == [
        f"{prefix}/bin:/usr/bin:/bin",
        f"{prefix}/{libraries}:/mine",
        f"{prefix}/{libraries}/pkgconfig",
    ]


def test_unloaded_it_leaves_nothing(tmp_path):
    prefix = tree(tmp_path, "bin/tollbar", "lib/libtollbar.so")
    said = loaded(prefix, 'eval "$(modulecmd sh unload tollbar)"; echo "$PATH $LD_LIBRARY_PATH"')
    assert said == ["/usr/bin:/bin "]


def test_what_is_installed_brings_it_along(prefix):
    (library,) = prefix.glob("lib/**/libtollbar.so")
    assert loaded(prefix)[1:] == [str(library.parent), str(library.parent / "pkgconfig")]
