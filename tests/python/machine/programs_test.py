# SPDX-License-Identifier: Apache-2.0
"""Facts that the file of a program tells, and why nothing is preloaded into it."""

import os
import stat
import subprocess
import sys

import pytest
from needs import left_out
from tollbar.machine import programs


@pytest.fixture
def made(tmp_path):
    """made(b"...", mode) -> the path of a file."""

    def make(content, mode=0o755):
        path = tmp_path / f"program{len(list(tmp_path.iterdir()))}"
        path.write_bytes(content)
        path.chmod(mode)
        return str(path)

    return make


def changed(offset, value):
    """This Python's own beginning with another byte there."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        content = bytearray(file.read(1 << 16))
    content[offset] = value
    return bytes(content)


def test_a_program_of_this_machine_gets_the_libraries():
    assert programs.shut(sys.executable) == programs.shut("true") == programs.shut("no-such-program") == ""
    assert "libc.so.6" in programs.read("true").linked


@pytest.mark.parametrize("byte", [4, 18], ids=["32 bits", "another processor"])
def test_a_program_for_another_processor_gets_none(made, byte):
    assert "another processor" in programs.shut(made(changed(byte, 1)))


def test_a_program_with_another_loader_gets_none_and_its_script_neither(made):
    own = programs.read(sys.executable).loader.encode()
    with open(os.path.realpath(sys.executable), "rb") as file:
        content = file.read(1 << 16)
    program = made(content.replace(own, b"/lib/ld-musl-x86_64.so.1".ljust(len(own), b"\0")[: len(own)]))
    assert "/lib/ld-musl-x86_64.so.1 loads it" in programs.shut(program)
    assert "loads it" in programs.shut(made(f"#!{program}\n".encode()))
    assert "loads it" in programs.shut(made(f"#!/usr/bin/env -S A=1 {program} -x\n".encode()))
    assert programs.shut(made(b"#!/usr/bin/env python3\n")) == programs.shut(made(b"exit 3\n")) == ""
    assert programs.shut(program, is_wanted=True)


def test_what_emulates_or_has_another_root_gets_none_but_where_a_door_is_named(made, tmp_path):
    for name in ("qemu-aarch64-static", "chroot"):
        (tmp_path / name).symlink_to("/bin/true")
        assert programs.shut(str(tmp_path / name))
    assert programs.shut(str(tmp_path / "chroot"), is_wanted=True) == ""


def test_a_file_that_cannot_be_read_tells_nothing(made):
    if os.geteuid() == 0:
        pytest.skip("root may read every file")
    assert "cannot be read" in programs.shut(made(b"\x7fELF", 0o111))


def test_a_file_is_looked_at_again_when_it_has_changed(made, tmp_path):
    path = made(b"exit 0\n")
    assert not programs.read(path).is_elf
    with open("/bin/true", "rb") as file:
        (tmp_path / "new").write_bytes(file.read())
    (tmp_path / "new").chmod(stat.S_IRWXU)
    (tmp_path / "new").replace(path)
    assert programs.read(path).is_elf


def test_what_cannot_be_run_is_said_with_the_reason(made, tmp_path):
    assert programs.refusal("no-such-program") == "there is no program no-such-program"
    assert programs.refusal(str(tmp_path)) == f"{tmp_path} is a folder"
    script = made(b"#!/bin/sh\n", 0o644)
    assert programs.refusal(script) == f"{script} cannot be run: no permission (chmod +x {script})"


def test_a_command_that_does_not_end_tells_nothing(monkeypatch):
    monkeypatch.setattr(programs, "_LIMIT_S", 0.1)
    assert programs.output(["sleep", "100"]) == ""
    monkeypatch.setattr(programs, "_MOST_BYTES", 1000)
    assert not programs.read("true").holds(b".shstrtab"), "at the end of the file"


def test_what_runs_with_the_rights_of_its_file_is_not_reached(made):
    with open("/bin/true", "rb") as file:
        program = made(file.read(), 0o4755)
    assert programs.without_effect(program) == "it runs with the rights of its file"


def test_a_static_program_is_not_reached(tmp_path):
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }")
    for option in ("-static", "-static-pie"):
        command = ["gcc", option, tmp_path / "empty.c", "-o", tmp_path / "static"]
        try:
            subprocess.run(command, check=True)
        except FileNotFoundError:
            left_out("no gcc")
        assert programs.without_effect(tmp_path / "static") == "it is linked statically"
        assert programs.shut(tmp_path / "static") == ""
