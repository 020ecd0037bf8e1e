# SPDX-License-Identifier: Apache-2.0
"""Programs in C that were compiled before go on with this libtollbar.so, or its soname is another."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(shutil.which("abidiff") is None, reason="abidiff is not installed (abigail-tools)"),
]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def described(run) -> str:
    if not (ROOT / "build" / "release" / "libtollbar.so").exists():
        pytest.skip("build/release is not there; run `make`")
    return run(ROOT / "scripts" / "packages", "interface")


def differences(old: Path, new: Path) -> str:
    """What breaks programs; functions may be added."""
    words = ("abidiff", "--no-added-syms", old, new)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4, 12), done.stderr
    return done.stdout if done.returncode else ""


def test_the_interface_for_c_is_the_one_stored_for_its_soname(described, tmp_path):
    (soname,) = re.findall(r"<abi-corpus [^>]*soname='([^']+)'", described)
    (tmp_path / "now.abi").write_text(described)
    broken = differences(ROOT / "packaging" / f"{soname}.abi", tmp_path / "now.abi")
    assert not broken, f"{broken}move TOLLBAR_SONAME and store `scripts/packages interface` under the new name"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (r"<enumerator name='TOLLBAR_WAIT_PARK' value='3'/>", "<enumerator name='TOLLBAR_WAIT_PARK' value='4'/>"),
        (r"size-in-bits='1152'", "size-in-bits='1216'"),
        ("of_tollbar_group_open", "of_tollbar_group_reopen"),
    ],
)
def test_a_change_that_breaks_programs_is_noticed(described, tmp_path, text, instead):
    changed, times = re.subn(text, instead, described)
    assert times > 0
    (tmp_path / "then.abi").write_text(described)
    (tmp_path / "now.abi").write_text(changed)
    assert differences(tmp_path / "then.abi", tmp_path / "then.abi") == ""
    assert differences(tmp_path / "then.abi", tmp_path / "now.abi")
