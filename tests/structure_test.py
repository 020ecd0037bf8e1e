# SPDX-License-Identifier: Apache-2.0
"""The shape of the tree: which folder may include which, licence lines, lengths, no machine's own paths."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Which folders' headers a folder may include, besides its own:
# plan <- algorithms, analysis <- tuner <- doors, and plan <- transports <- doors. Ranks of a node meet at
# the words of the thread transport, so the transport over an MPI may see that one (docs/design/mpi.md).
MAY_INCLUDE = {
    "plan": set(),
    "algorithms": {"plan"},
    "analysis": {"plan"},
    "workload": {"plan"},
    "simulation": {"plan", "algorithms", "analysis", "workload"},
    "transports/threads": {"plan"},
    "transports/mpi": {"plan", "transports/threads"},
    "transports/wire": {"plan"},
    "transports/udp": {"plan", "transports/threads", "transports/wire"},
    "transports/shmem": {"plan"},
    "transports/nic": {"plan", "transports/threads", "transports/wire"},
    "tuner": {"plan", "algorithms", "analysis"},
    "doors/cxx": {"plan", "algorithms", "analysis", "tuner", "transports/threads"},
    "doors/c": {
        "plan", "algorithms", "analysis", "tuner", "transports/threads", "transports/udp", "doors/cxx",
    },
    "doors/nic": {
        "plan", "algorithms", "transports/threads", "transports/wire", "transports/udp",
        "transports/nic", "doors/c",
    },
    # Nodes that have network cards meet on them, which is nic.h's to do (docs/design/mpi.md).
    "doors/mpi": {
        "plan", "algorithms", "analysis", "tuner", "transports/threads", "transports/mpi", "doors/c",
        "doors/nic",
    },
    "simulation/cluster": {"plan", "algorithms", "transports/mpi", "transports/threads"},
    "doors/shmem": {"plan", "algorithms", "analysis", "transports/threads", "transports/shmem", "doors/c"},
    "doors/ompi_coll": {"transports/mpi", "doors/mpi"},
    "doors/pmpi": {"transports/mpi", "doors/mpi"},
    "doors/hybrid": {
        "plan", "algorithms", "analysis", "tuner", "transports/threads", "transports/mpi",
        "doors/cxx", "doors/c", "doors/mpi",
    },
}  # fmt: skip

# Whose headers are compiled once for each MPI, and where those of one MPI alone may be named.
MAY_INCLUDE_FOREIGN = {
    r"mpi\.h|mpi_abi\.h": {"transports/mpi", "doors/pmpi", "doors/hybrid", "simulation/cluster"},
    r"shmem\.h": {"transports/shmem", "doors/shmem"},
    r"(ompi|opal|orte)/.*|ompi_config\.h": {"doors/ompi_coll"},
}

# Whose promise a public header states. Everything unlisted is the thread transport's.
HEADER_OF = {
    "plan.hpp": "plan",
    "algorithms.hpp": "algorithms",
    "verify.hpp": "analysis",
    "price.hpp": "analysis",
    "draw.hpp": "analysis",
    "unheard.hpp": "analysis",
    "nic_model.hpp": "simulation",
    "scheduler.hpp": "simulation",
    "workload.hpp": "workload",
    "tuning.hpp": "tuner",
    "barrier.hpp": "doors/cxx",
    "udp.hpp": "transports/udp",
    "udp.h": "doors/c",
    "tollbar.h": "doors/c",
    "nic.h": "doors/nic",
    "mpi.hpp": "doors/hybrid",
    "mpi.h": "doors/hybrid",
    "shmem.h": "doors/shmem",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CODE = {".cpp", ".hpp", ".c", ".h", ".py"}
COMMENTED = CODE | {".cmake", ".toml", ".in"}
COMMENTED_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy"}


def tracked() -> list[Path]:
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def folder_of(source: Path) -> str | None:
    """The folder of src/ a source file belongs to, as MAY_INCLUDE spells it."""
    parts = source.relative_to(ROOT / "src").parts[:-1]
    return next((name for name in ("/".join(parts[:n]) for n in (2, 1)) if name in MAY_INCLUDE), None)


def owner_of(header: str) -> str:
    """The folder that the public header of that name belongs to."""
    return HEADER_OF.get(header, "transports/threads")


def includes(path: Path) -> list[tuple[str, str]]:
    return INCLUDE.findall(path.read_text())


def wrong_includes(source: Path, folder: str) -> list[str]:
    allowed = MAY_INCLUDE[folder] | {folder}
    wrong = []
    for bracket, name in includes(source):
        if name.startswith("tollbar/"):
            owner = owner_of(name.removeprefix("tollbar/"))
        elif bracket == '"':
            beside = (source.parent / name).resolve()
            target = beside if beside.is_file() else ROOT / "src" / name
            owner = folder_of(target) if target.is_file() else f"(no file {name})"
        else:
            continue
        if owner not in allowed:
            wrong.append(f"{relative(source)} includes {name}, which is {owner}'s")
    return wrong


def sources_of_src() -> list[Path]:
    return [path for path in tracked() if relative(path).startswith("src/") and path.suffix in CODE]


def test_every_source_file_lies_in_a_folder_with_known_dependencies():
    assert [relative(path) for path in sources_of_src() if folder_of(path) is None] == []


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes_point_only_in_the_direction_of_dependencies(folder):
    wrong = []
    for path in sources_of_src():
        if folder_of(path) == folder:
            wrong += wrong_includes(path, folder)
    assert wrong == []


@pytest.mark.parametrize("headers", MAY_INCLUDE_FOREIGN)
def test_an_mpi_is_known_only_to_what_is_compiled_for_it(headers):
    knowing = [
        path for path in sources_of_src() if any(re.fullmatch(headers, name) for _, name in includes(path))
    ]
    assert [relative(p) for p in knowing if folder_of(p) not in MAY_INCLUDE_FOREIGN[headers]] == []


def test_an_include_against_the_direction_is_noticed(tmp_path, monkeypatch):
    source = tmp_path / "src" / "plan" / "wrong.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("#include <tollbar/price.hpp>\n#include <vector>\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    said = "src/plan/wrong.cpp includes tollbar/price.hpp, which is analysis's"
    assert wrong_includes(source, "plan") == [said]


def test_plan_includes_only_the_standard_library_and_its_own_headers():
    own = {path.name for path in sources_of_src() if folder_of(path) == "plan"} | {"tollbar/plan.hpp"}
    sources = [path for path in sources_of_src() if folder_of(path) == "plan"]
    named = {name for path in [*sources, ROOT / "include/tollbar/plan.hpp"] for _, name in includes(path)}
    assert {name for name in named - own if not re.fullmatch(r"[a-z_]+", name)} == set()


def test_public_headers_include_only_in_the_direction_of_dependencies():
    wrong = []
    for path in sorted((ROOT / "include" / "tollbar").iterdir()):
        wrong += wrong_includes(path, owner_of(path.name))
    assert wrong == []


def test_every_source_file_opens_with_its_licence():
    def opening(path: Path) -> str:
        return "\n".join(path.read_text().split("\n")[:2])  # the second line where the first is #!

    files = [p for p in tracked() if p.suffix in COMMENTED or p.name in COMMENTED_NAMES or is_script(p)]
    assert [relative(p) for p in files if "SPDX-License-Identifier: Apache-2.0" not in opening(p)] == []


def is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def test_no_source_file_is_longer_than_400_lines():
    lengths = {relative(p): p.read_text().count("\n") for p in tracked() if p.suffix in CODE}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_tracked_file_names_a_path_of_one_machine():
    own_path = re.compile(rb"(?<![\w.~$}/-])/(home|root|work)/(?!somebody\b)\w")
    assert [relative(p) for p in tracked() if own_path.search(p.read_bytes())] == []
