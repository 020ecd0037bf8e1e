# SPDX-License-Identifier: Apache-2.0
"""The libraries by which programs as they are use tollbar: which serves which MPI or way of threads, and
where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tollbar import children
from tollbar.machine import paths
from tollbar.machine.mpis import Mpi

COMPONENT = "mca_coll_tollbar.so"

#: The preloads by the binary interface they serve.
PRELOADS = {"openmpi": "libtollbar_mpi_openmpi.so", "mpich": "libtollbar_mpi_mpich.so", "abi": "libtollbar_mpi_abi.so"}

#: The preloads for threads, by what they meet at.
THREADS = {"pthread": "libtollbar_pthread.so", "openmp": "libtollbar_openmp.so"}

_ASKING_S = 20.0  #: for ompi_info

#: The environment variable by which an Open MPI finds components.
COMPONENT_PATH = "OMPI_MCA_mca_base_component_path"


def preload(interface: str) -> Path | None:
    """The library to preload into programs of that binary interface, to serve its barriers, to watch its calls or
    both; None when it is not built."""
    return paths.find_library(PRELOADS[interface])


def of_threads(ways: Iterable[str]) -> list[Path]:
    """The libraries to preload for threads that meet in those ways, of those that are built."""
    wanted = dict.fromkeys("pthread" if way == "pthread" else "openmp" for way in ways)
    return [path for door in wanted if (path := paths.find_library(THREADS[door]))]


def component(mpi: Mpi) -> Path | None:
    """The component, where it is built and this Open MPI loads it; None otherwise."""
    path = paths.find_library(COMPONENT)
    if path is None or mpi.family != "openmpi":
        return None
    own = dict(os.environ, **{COMPONENT_PATH: component_path(mpi, path)})
    listed = _ompi_info(mpi, "--param", "coll", "tollbar", "--level", "9", environment=own)
    return path if "mca:coll:tollbar:" in listed else None


def component_path(mpi: Mpi, component: Path) -> str:
    """Open MPI's mca_base_component_path with the component's folder in front of its own and the user's."""
    own = os.environ.get(COMPONENT_PATH, "")
    if not own:
        system = _ompi_info(mpi, "--path", "pkglibdir").strip().removeprefix("path:pkglibdir:")
        own = f"{system}:{Path('~/.openmpi/components').expanduser()}"
    return f"{component.parent}:{own}"


def of(mpi: Mpi) -> Path | None:
    """The door that serves that MPI's programs best: the component, else the preload; None when neither is there."""
    return component(mpi) or preload(mpi.interface)


def _ompi_info(mpi: Mpi, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """The words of the ompi_info beside the launcher, or beside the file it links to."""
    places = (mpi.launcher.parent, mpi.launcher.resolve().parent)
    tool = next((place / "ompi_info" for place in places if (place / "ompi_info").is_file()), None)
    if tool is None:
        return ""
    return children.run([str(tool), "--parsable", *arguments], _ASKING_S, environment).output
