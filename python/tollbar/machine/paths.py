# SPDX-License-Identifier: Apache-2.0
"""The places of things: the measuring programs and libraries of a build, or of the installed package."""

from __future__ import annotations

import os
from pathlib import Path

from tollbar import environment

_PACKAGE = Path(__file__).resolve().parents[1]

#: The folders of libraries in a build, and in the installed package.
_LIBRARIES_OF_BUILD = (
    "", "lib", "openmpi", "src/doors/pmpi", "src/doors/shmem", "src/doors/openmp", "src/doors/pthread",
)  # fmt: skip
_LIBRARIES_OF_PACKAGE = ("lib", "lib/tollbar/openmpi")


def checkout() -> Path | None:
    """The root of the checkout this package is run from; None when it is installed elsewhere."""
    root = _PACKAGE.parent.parent
    return root if (root / "include" / "tollbar" / "plan.hpp").is_file() else None


def build_folder() -> Path | None:
    """The build to take programs from: TOLLBAR_BUILD, else build/release of the checkout, else None."""
    if named := environment.value("TOLLBAR_BUILD"):
        return Path(named).expanduser()
    root = checkout()
    return root / "build" / "release" if root else None


def program_folders() -> list[Path]:
    """The folders in which programs are looked for, first match first. TOLLBAR_BUILD goes before the package."""
    build = build_folder()
    built = [build / "bin", build] if build else []
    installed = [_PACKAGE / "libexec"]
    return built + installed if environment.value("TOLLBAR_BUILD") else installed + built


def program(name: str) -> Path:
    """The measuring program of that name. Raises FileNotFoundError, whose text says how to get it."""
    for folder in program_folders():
        path = folder / name
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"the program {name} is not there; {_remedy()}")


def find_library(name: str) -> Path | None:
    """The library of that file name; None when it is not built. Looked for as programs are."""
    build = build_folder()
    built = [build.absolute() / folder for folder in _LIBRARIES_OF_BUILD] if build else []
    installed = [_PACKAGE / folder for folder in _LIBRARIES_OF_PACKAGE]
    folders = built + installed if environment.value("TOLLBAR_BUILD") else installed + built
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def library() -> Path:
    """libtollbar.so. Raises FileNotFoundError, whose text says how to get it."""
    if path := find_library("libtollbar.so"):
        return path
    raise FileNotFoundError(f"libtollbar.so is not there; {_remedy()}")


def mend() -> str:
    """The one command that builds what is missing."""
    return "make" if checkout() else "pip install --force-reinstall . (in the checkout)"


def _remedy() -> str:
    return "run `make` in the checkout" if checkout() else "reinstall tollbar, or set TOLLBAR_BUILD"
