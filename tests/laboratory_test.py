# SPDX-License-Identifier: Apache-2.0
"""The laboratory stands apart: no file of the house includes one of it, and no model one of another model."""

from pathlib import Path

import pytest
from sources import CODE, ROOT, includes, relative, tracked

#: Folders in which an include line of the house is looked up, its own ones first.
LOOKED_UP = ["src", "include", "bench/engine", "bench/engine/workload", "lab", "lab/include", "lab/bench/shmem",
             "lab/bench/threads"]  # fmt: skip


def laboratory_of(path: Path, root: Path = ROOT) -> list[str]:
    """The include lines of a file of the house that lead to a file of lab/."""
    folders = [path.parent, *(root / folder for folder in LOOKED_UP)]
    firsts = {name: next((f / name for f in folders if (f / name).is_file()), root) for _, name in includes(path)}
    wrong = [name for name, first in firsts.items() if first.resolve().is_relative_to(root / "lab")]
    return [f"{path.relative_to(root)} includes {name}" for name in wrong]


def test_no_file_of_the_house_includes_a_file_of_the_laboratory():
    house = ("include/", "src/", "bench/", "python/", "examples/", "tests/")
    packages = "tests/packaging/"  # of both
    files = [path for path in tracked() if relative(path).startswith(house) and path.suffix in CODE]
    files = [path for path in files if not relative(path).startswith(packages)]
    assert len(files) > 400
    assert [line for path in files for line in laboratory_of(path)] == []


def test_a_model_includes_nothing_of_another_model_but_its_public_header():
    files = [path for path in tracked() if relative(path).startswith("lab/models/") and path.suffix in CODE]
    assert len(files) > 50
    wrong = []
    for path in files:
        for bracket, name in includes(path):
            there = ROOT / "lab" / name
            if bracket == '"' and there.is_file() and there.parent not in (ROOT / "lab" / "models", path.parent):
                wrong.append(f"{relative(path)} includes {name}")
            assert ".." not in name
    assert wrong == []


@pytest.mark.parametrize("name", ["<tollbar/models/nic.hpp>", '"models/checks.hpp"', '"../../lab/models/checks.hpp"'])
def test_an_include_of_the_laboratory_is_noticed(tmp_path, name):
    for file in ("lab/include/tollbar/models/nic.hpp", "lab/models/checks.hpp", "src/plan/plan.hpp"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    source = tmp_path / "src" / "plan" / "wrong.cpp"
    source.write_text(f'#include "plan.hpp"\n#include {name}\n')
    assert laboratory_of(source, tmp_path) == [f"src/plan/wrong.cpp includes {name[1:-1]}"]
