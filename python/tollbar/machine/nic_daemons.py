# SPDX-License-Identifier: Apache-2.0
"""Runs a command while each host has a NIC daemon: python -m tollbar.machine.nic_daemons HOST... -- COMMAND

The daemons' sockets have the hosts' names, in a folder that stands for {nics} in the command. Hosts are
network namespaces (scripts/hosts), so it needs root. It fails where the command has left a NIC unused: what
fell back to messages is no measurement of NICs.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tollbar.machine import nic_daemon, paths

DAEMON = "tollbar-nicd"

#: Before a program that uses its host's NIC, in such a command.
OWN_NIC = ("sh", "-c", 'export TOLLBAR_NICD="$0/$(hostname)"; exec "$@"', "{nics}")


def words(hosts: Sequence[str], command: Sequence[str]) -> list[str]:
    """Starts this as a program."""
    return [sys.executable, "-m", "tollbar.machine.nic_daemons", *hosts, "--", *command]


def main(*given: str) -> int:
    end = given.index("--")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the daemons end too
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for host in given[:end]:
            daemon = _start(host, folder / host)
            stack.callback(_end, daemon)
            if daemon.stdout is None or daemon.stdout.readline() != "ready\n":
                print(f"the NIC daemon of {host} does not start", file=sys.stderr)
                return 1
        command = [word.replace("{nics}", str(folder)) for word in given[end + 1 :]]
        done = subprocess.run(command, check=False).returncode
        return done or _unused(folder, given[:end])


def _start(host: str, socket: Path) -> subprocess.Popen[str]:
    options = ["--interface", "eth0", "--mode", "generic", "--socket", str(socket)]
    command = [str(paths.program(DAEMON)), *options]
    return subprocess.Popen(["ip", "netns", "exec", host, *command], stdout=subprocess.PIPE, text=True)


def _unused(folder: Path, hosts: Sequence[str]) -> int:
    """1 where nobody has arrived at the NIC of one of the hosts, which is named."""
    for host in hosts:
        if not nic_daemon.status(str(folder / host))["counts"]["arrivals"]:
            print(f"nobody has used the NIC of {host}", file=sys.stderr)
            return 1
    return 0


def _end(daemon: subprocess.Popen[str]) -> None:
    daemon.kill()
    daemon.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
