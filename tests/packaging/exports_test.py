# SPDX-License-Identifier: Apache-2.0
"""The shared libraries export what the installed headers declare, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from needs import left_out

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "tollbar"
#: Functions that inline functions of public headers call; src/exports.map lists the same.
CALLED_INLINE = re.compile(
    r"tollbar::detail::(NativeSync::\w+|refuse_(arrivals|expected)|leaves_for|manner_of_unranked)\b"
)


def symbols(run, name: str) -> set[str]:
    """The exported symbols of a library, demangled, without the tag of the ABI that GCC adds to a name."""
    library = ROOT / "build" / "release" / name
    if not library.exists():
        left_out(f"build/release/{name} is not there; run `make`")
    lines = run("nm", "--dynamic", "--demangle", "--defined-only", library).splitlines()
    return {line.split(maxsplit=2)[2].replace("[abi:cxx11]", "") for line in lines}


def declared(*folders: Path) -> str:
    return "\n".join(path.read_text() for folder in folders for path in sorted(folder.glob("*.h*")))


def test_every_function_for_c_is_exported_and_no_other(run):
    text = "\n".join((HEADERS / name).read_text() for name in ("tollbar.h", "udp.h", "nic.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    functions = set(re.findall(r"\b(tollbar_\w+)\((?!\*)", text))
    exported = {name for name in symbols(run, "libtollbar.so") if not name.startswith("tollbar::")}
    assert exported == functions


def test_the_preload_for_pthread_barriers_exports_what_it_takes_over_and_nothing_else(run):
    exported = symbols(run, "src/doors/pthread/libtollbar_pthread.so")
    calls = {f"pthread_barrier_{call}" for call in ("init", "wait", "destroy")}
    assert exported == calls | {"__asan_default_options"}, "the latter answers a sanitizer: src/base/sanitizers.c"


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("libtollbar.so", [HEADERS]),
        (
            "lab/libtollbar-models.so",
            [ROOT / f / "tollbar" / "models" for f in ("lab/include", "bench/engine/workload")],
        ),
    ],
)
def test_what_is_exported_for_cpp_is_declared_in_a_public_header(run, name, folders):
    words = set(re.findall(r"\w+", declared(*folders)))
    cpp = [symbol for symbol in symbols(run, name) if not symbol.startswith("tollbar_")]
    assert len(cpp) > 10
    for symbol in cpp:
        path = re.sub(r"^typeinfo (name )?for ", "", symbol).split("(")[0].split("<")[0]
        assert path.startswith("tollbar::"), symbol
        if not CALLED_INLINE.match(path):
            parts = path.split("::")[1:]
            assert {part.lstrip("~").removesuffix("=") for part in parts} - {"operator"} <= words, symbol
