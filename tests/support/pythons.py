# SPDX-License-Identifier: Apache-2.0
"""Versions of Python that are here, the system's or pyenv's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def python(version: str) -> Path:
    """A Python of that version; the test is skipped where there is none."""
    found = [shutil.which(f"python{version}"), *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for path in filter(None, found):
        if subprocess.run([path, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return Path(path)
    pytest.skip(f"Python {version} is neither installed nor among pyenv's")
