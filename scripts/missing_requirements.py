# SPDX-License-Identifier: Apache-2.0
"""Prints, one a line, the requirements of pyproject.toml that are not met; after `demo` not the tests."""

import sys
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
    extras = project["optional-dependencies"]
    run = project["dependencies"] + extras["bench"]
    for text in declared["build-system"]["requires"] + run + ([] if sys.argv[1:] == ["demo"] else extras["test"]):
        if not is_met(Requirement(text)):
            print(text)


if __name__ == "__main__":
    main()
