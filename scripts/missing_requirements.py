# SPDX-License-Identifier: Apache-2.0
"""Prints, one a line, the requirements of pyproject.toml that are not met.

After `demo` without those of the tests; after `docs` those of the reference site alone."""

import sys
import tomllib
from importlib import metadata
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement


def is_met(requirement: Requirement) -> bool:
    if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
        return True
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def main() -> None:
    declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    project = declared["project"]
    extras = project["optional-dependencies"]
    wanted = declared["build-system"]["requires"] + project["dependencies"] + extras["bench"]
    if sys.argv[1:] == ["docs"]:
        wanted = extras["docs"]
    elif sys.argv[1:] != ["demo"]:
        wanted += extras["test"]
    for text in wanted:
        if not is_met(Requirement(text)):
            print(text)


if __name__ == "__main__":
    main()
