# SPDX-License-Identifier: Apache-2.0
"""Users without rights on the hosts of a network, beside another user's group that goes on meeting."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nic_hosts import HOSTS, NOBODY, ROOT, Network, new_key, said

ATTACKS = ROOT / "tests" / "security"
ATTACKER = 1001
PATIENCE_S = 60  # only turns a hang into a failure
ENDLESS = 10**9


def talk_magic() -> int:
    frames = (ROOT / "src/wire/frame.h").read_text()
    talk = (ROOT / "src/membership/talk.hpp").read_text()
    own = int(re.search(r"talk_magic = (0x[0-9a-f]+)U", talk)[1], 16)
    return own | int(re.search(r"toll_magic = (0x[0-9a-f]+)", frames)[1], 16) & 0xFF


class Attack:
    """A process of another user on host 0."""

    def __init__(self, network: Network, verb: str, number: int = 0, user: int = ATTACKER, path: str = ""):
        program = network.folder / "attacker.py"
        if not program.exists():
            shutil.copy(ATTACKS / "attacker.py", program)
        words = [verb, path or network.socket(0), talk_magic(), *network.addresses[:2], number]
        command = [*network.inside(0), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                   "--bounding-set=-all", "/usr/bin/python3", str(program), *map(str, words)]  # fmt: skip
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Attack:
        return self

    def line(self) -> str:
        return self.process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)


@contextmanager
def working(network: Network, plan: str = "pairwise") -> Iterator[list[subprocess.Popen]]:
    key = new_key()
    members = [network.member(rank, key, plan, user=NOBODY, episodes=ENDLESS) for rank in range(HOSTS)]
    try:
        reached = further(network, members[0], 0)
        yield members
        further(network, members[0], reached)
        assert all(member.poll() is None for member in members)
    finally:
        for member in members:
            member.kill()
            member.communicate()


def further(network: Network, member: subprocess.Popen, episode: int) -> int:
    """The episode that the member has reached, some after that one."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if (reached := network.episode(0, member)) > episode + 3:
            return reached
        time.sleep(0.01)
    raise AssertionError(f"no barrier after episode {episode}")


def someone_joins(network: Network) -> None:
    """A group of a fourth user meets."""
    key = new_key()
    members = [network.member(rank, key, user=NOBODY - 1) for rank in range(HOSTS)]
    assert [said(member)["ended"] for member in members] == [50] * HOSTS


def eventually(holds) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
