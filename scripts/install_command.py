# SPDX-License-Identifier: Apache-2.0
"""Installs the command of a checkout beside what `cmake --install` has installed: PREFIX/bin/tollbar, and in
PREFIX/lib/tollbar/python the package with what it and those extras need. Nothing of the checkout is used
there, and the tree may be moved.

usage: .venv/bin/python scripts/install_command.py PREFIX [EXTRA...]
"""

from __future__ import annotations

import compileall
import os
import re
import shutil
import sys
import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import lab_metadata
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
COMMAND = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
here=$(dirname "$(readlink -f "$0")")
exec "$here/../lib/tollbar/python/bin/python3" -m tollbar "$@"
"""
NOT_NEEDED = shutil.ignore_patterns("__pycache__")


def needed(extras: list[str]) -> list[metadata.Distribution]:
    """The distributions that the package needs with those extras, and those that they need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = project["optional-dependencies"]
    if unknown := [extra for extra in extras if extra not in known]:
        sys.exit(f"install_command: no extra {unknown[0]}; there are {', '.join(known)}")
    waiting, found = sum((known[extra] for extra in extras), project["dependencies"]), {}
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = metadata.distribution(requirement.name)
        waiting += found[name].requires or []
    return list(found.values())


def copy_distribution(distribution: metadata.Distribution, site: Path) -> None:
    for file in distribution.files or []:
        if {"..", "__pycache__"} & set(file.parts):  # its commands; compiled anew
            continue
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(distribution.locate_file(file), site / file)


def make_python(folder: Path) -> Path:
    """A Python of its own that knows no folder of the checkout's; its folder of packages."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.EnvBuilder(symlinks=True).create(folder)
    kept = ("home", "include-system-site-packages", "version")
    settings = folder / "pyvenv.cfg"
    lines = [line for line in settings.read_text().splitlines() if line.partition(" ")[0] in kept]
    settings.write_text("\n".join(lines) + "\n")
    for script in (folder / "bin").glob("[Aa]ctivate*"):
        script.unlink()
    return folder / sysconfig.get_path("purelib", "posix_prefix", {"base": ""}).lstrip("/")


def main(prefix: Path, extras: list[str]) -> None:
    libraries = next((path.parent for path in prefix.glob("lib*/**/libtollbar.so")), None)
    if libraries is None:
        sys.exit(f"install_command: no libtollbar.so in {prefix}; run cmake --install first")
    site = make_python(prefix / "lib" / "tollbar" / "python")
    for distribution in needed(extras):
        copy_distribution(distribution, site)
    package = shutil.copytree(ROOT / "python" / "tollbar", site / "tollbar", ignore=NOT_NEEDED)
    shutil.copytree(ROOT / "lab" / "python" / "tollbar_lab", site / "tollbar_lab", ignore=NOT_NEEDED)
    lab_metadata.write(site)
    # The folders in which the package looks for libraries and programs.
    for name, place in (("lib", libraries), ("libexec", prefix / "libexec" / "tollbar")):
        (package / name).symlink_to(os.path.relpath(place, package))
    # Modules that root installs are compiled now or never. Tests are not run.
    compileall.compile_dir(site, quiet=2, stripdir=str(site), workers=0, rx=re.compile(r"/tests?/"))

    command = prefix / "bin" / "tollbar"
    command.parent.mkdir(exist_ok=True)
    command.write_text(COMMAND)
    command.chmod(0o755)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.rpartition("\n\n")[2].strip())
    main(Path(sys.argv[1]).absolute(), sys.argv[2:])
