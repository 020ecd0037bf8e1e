# SPDX-License-Identifier: Apache-2.0
"""Where programs and libraries are looked for."""

import pytest
from tollbar.machine import paths


@pytest.fixture
def bare(monkeypatch):
    monkeypatch.delenv("TOLLBAR_BUILD", raising=False)


def make_program(folder):
    folder.mkdir(parents=True)
    program = folder / "measure"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_the_named_build_comes_first(bare, monkeypatch, tmp_path):
    made = make_program(tmp_path / "bin")
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    assert paths.program("measure") == made


def test_the_installed_program_comes_before_that_of_a_checkout(bare, monkeypatch, tmp_path):
    installed = make_program(tmp_path / "package" / "libexec")
    make_program(tmp_path / "build" / "bin")
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(paths, "build_folder", lambda: tmp_path / "build")
    assert paths.program("measure") == installed


def test_a_checkout_is_known_by_its_headers(bare, monkeypatch, tmp_path):
    package = tmp_path / "python" / "tollbar"
    monkeypatch.setattr(paths, "_PACKAGE", package)
    assert paths.checkout() is None
    (tmp_path / "include" / "tollbar").mkdir(parents=True)
    (tmp_path / "include" / "tollbar" / "plan.hpp").touch()
    assert paths.checkout() == tmp_path
    assert paths.build_folder() == tmp_path / "build" / "release"


def test_a_file_that_cannot_be_run_is_no_program(bare, monkeypatch, tmp_path):
    make_program(tmp_path / "bin").chmod(0o644)
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="the program measure is not there; "):
        paths.program("measure")


@pytest.mark.parametrize("folder", [".", "openmpi", "src/doors/pmpi"])
def test_a_library_is_found_where_the_build_puts_it(bare, monkeypatch, tmp_path, folder):
    (tmp_path / "build" / folder).mkdir(parents=True)
    made = tmp_path / "build" / folder / "some.so"
    made.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOLLBAR_BUILD", "build")
    assert paths.find_library("some.so") == made
    assert paths.find_library("other.so") is None
