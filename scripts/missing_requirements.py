# SPDX-License-Identifier: Apache-2.0
"""Prints, one a line, the requirements of pyproject.toml that this Python does not meet."""

import tomllib
from importlib import metadata
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement


def is_met(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def main() -> None:
    declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    project = declared["project"]
    build, run, test = declared["build-system"], project["dependencies"], project["optional-dependencies"]
    for text in build["requires"] + run + test["test"]:
        if not is_met(Requirement(text)):
            print(text)


if __name__ == "__main__":
    main()
