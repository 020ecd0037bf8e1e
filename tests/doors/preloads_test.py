# SPDX-License-Identifier: Apache-2.0
"""A library that is loaded into any program needs nothing that may not be there, and undoes nothing at its end."""

import re
import shutil
import subprocess

import pytest
from tollbar.machine import doors, paths

pytestmark = pytest.mark.needs(shutil.which("readelf"), "no readelf")

#: Nothing of an MPI may be bound where the library is loaded: a program may open its MPI long after that.
OF_AN_MPI = re.compile(r"\s(P?MPI_\w+|ompi_\w+|p?mpi_\w+)(@\S+)?( \+ \w+)?$")


@pytest.mark.parametrize("name", doors.PRELOADS.values())
def test_a_preload_binds_no_name_of_an_mpi_when_it_is_loaded(name):
    path = paths.find_library(name) or pytest.skip(f"{name} is not built")
    words = ["readelf", "-rW", path]
    table = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "JUMP_SLO" in table
    early = [line for line in table.splitlines() if OF_AN_MPI.search(line) and "JUMP_SLO" not in line]
    assert early == []
    flags = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"BIND_NOW|FLAGS.*\bNOW\b", flags)


#: Folders of src/ that are linked into libraries which programs load; the others make programs of their own.
PROGRAMS = ("look", "models", "nicd")
AT_EXIT = re.compile(r"\bU (__cxa_atexit|atexit|on_exit)$", re.MULTILINE)


def test_exit_destroys_nothing_that_threads_may_be_using():
    """exit() runs destructors of static objects while other threads go on: in a barrier, in a watched call."""
    build = paths.build_folder()
    objects = sorted((build / "src").rglob("*.o")) if build else []
    if not objects:
        pytest.skip("no object files: this is an installation")
    found = []
    for one in objects:
        if one.relative_to(build / "src").parts[0] in PROGRAMS:
            continue
        symbols = subprocess.run(["nm", "-u", one], capture_output=True, text=True, check=True).stdout
        found += [str(one.relative_to(build))] * bool(AT_EXIT.search(symbols))
    assert found == []
