# SPDX-License-Identifier: Apache-2.0
"""Writes the metadata of tollbar_lab into a folder of Python packages: its name, its version, and its entry points,
those of pyproject.toml, by which the command finds it where no wheel is installed.

usage: python3 scripts/lab_metadata.py FOLDER"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUP = "tollbar.verbs"


def write(site: Path) -> None:
    added = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    version = re.search(r"project\(tollbar VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    folder = site / f"tollbar_lab-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tollbar-lab\nVersion: {version}\n")
    lines = [f"[{GROUP}]", *(f"{name} = {module}" for name, module in added.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
