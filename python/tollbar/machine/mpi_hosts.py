# SPDX-License-Identifier: Apache-2.0
"""Hosts made of network namespaces, while something is measured; and whether control groups can be had."""

from __future__ import annotations

import os
import shlex
import string
from pathlib import Path

from tollbar import children
from tollbar.machine import paths
from tollbar.machine.failure import Failure
from tollbar.machine.mpis import Mpi

#: Seconds that making, asking or ending hosts may take.
_LIMIT_S = 120.0


class Hosts:
    """A context in which that many hosts are up; with one, this machine itself is the host.

    Raises FileNotFoundError outside a checkout, RuntimeError where the hosts cannot be made.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        root = paths.checkout()
        self._script = root / "scripts" / "hosts" if root else None
        self._id = f"b{_in_letters(os.getpid())}"

    def __enter__(self) -> Hosts:
        if self.count > 1:
            try:
                self._call("up", str(self.count))
            except KeyboardInterrupt:  # if it fails by itself it takes down what it has made
                self._call("down")
                raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.count > 1:
            self._call("down")

    def options(self, mpi: Mpi, slots: int) -> list[str]:
        """The options by which the launcher starts so many ranks on each."""
        if self.count == 1:
            return []
        family = "openmpi5" if mpi.family == "openmpi" and mpi.major >= 5 else mpi.family
        return shlex.split(self._call("options", family, str(slots)))

    def addresses(self) -> dict[str, str]:
        """Each host's name and its address; none where this machine itself is the host."""
        if self.count == 1:
            return {}
        return dict(line.split() for line in self._call("list").splitlines())

    def _call(self, *words: str) -> str:
        if self._script is None or not self._script.exists():
            raise FileNotFoundError("hosts are made by scripts/hosts, which only a checkout has")
        done = children.run([str(self._script), "--id", self._id, *words], _LIMIT_S)
        if done.exit_code is None:
            raise Failure(f"scripts/hosts {words[0]} has not ended within {_LIMIT_S:g} s")
        if done.exit_code:
            raise Failure(done.errors.strip().splitlines()[-1] if done.errors.strip() else "no hosts")
        return done.output


def _in_letters(number: int) -> str:
    """It in at most five digits and letters, for numbers of processes: no two that live share one."""
    rest, digit = divmod(number, 36)
    return (_in_letters(rest) if rest else "") + (string.digits + string.ascii_lowercase)[digit]


def why_no_groups(top: Path = Path("/sys/fs/cgroup")) -> str | None:
    """Why ranks cannot have a control group each; None when they can."""
    for v1 in (top / "cpu", top / "cpu,cpuacct"):
        if (v1 / "cpu.shares").exists():
            return None if os.access(v1, os.W_OK) else f"{v1} cannot be written to"
    try:
        if "cpu" not in (top / "cgroup.subtree_control").read_text().split():
            return f"the cpu controller is not given to groups below {top}"
    except OSError:
        return "there is no cpu controller"
    return None if os.access(top, os.W_OK) else f"{top} cannot be written to"
