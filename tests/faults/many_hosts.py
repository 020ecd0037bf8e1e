# SPDX-License-Identifier: Apache-2.0
"""Hosts whose watchers tell `tollbar run` of their ranks, and some that flood it or lie.

many_hosts.py HOSTS RANKS MISSING: a launcher has started it. At the end it prints the processor time and the most
memory of the run."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from multiprocessing import Barrier
from pathlib import Path

from rows import Comm, Rank, lines, sealed
from tollbar import _native
from tollbar.look.gathered import SealedLine

PROCESSES = 4
_LINE = 1500  #: bytes at most, which come as one through a pipe
#: The run concludes so long after the first host has told, and waits for others meanwhile.
_LATEST_S = 2.0


def host(number: int, hosts: int, ranks: int, missing: set[int]) -> list[SealedLine]:
    """Ranks in MPI_COMM_WORLD and in communicators of a host and across hosts; those that are missing are outside."""
    size, made = hosts * ranks, []
    for rank in range(number * ranks, (number + 1) * ranks):
        world = Comm(6 if rank in missing else 7, size=size)
        others = [Comm(3, name="row", id=2 + number, size=ranks), Comm(5, name="column", id=100_000 + rank % ranks)]
        waited_s = 0.0 if rank in missing else 31.0
        made.append(Rank(rank, [world, *others], waited_s, process=1000 + rank % ranks))
    return lines(f"n{number}", *made, most=_LINE - 100)


def endless(first: int) -> Iterator[SealedLine]:
    """The rows of a host of which each line announces more, 16 MiB in all."""
    for part in range(16 * 2**20 // 1024):
        yield SealedLine("for `tollbar run`", f"rows {_native.ROWS_VERSION} {first} 1 {part} 99999999 {'0 ' * 512}")


def lies(key: tuple[int, int], hosts: int, ranks: int) -> Iterator[bytes]:
    """Lines of hosts behind the others: without end, of another version, without a seal, and no text at all."""
    yield from (sealed(key, line) for line in endless(hosts * ranks))
    for line in lines("old", Rank((hosts + 1) * ranks), version=_native.ROWS_VERSION + 1):
        yield sealed(key, line)
    for line in lines("forged", Rank(0, [Comm(9)], 99.0)):
        yield sealed((1, 2), line)
    yield b"\xff\x00 [~rows " * 100 + b"\n"


def told(number: int, hosts: int, ranks: int, missing: set[int]) -> list[bytes]:
    """The lines of one of the processes."""
    secret = os.environ["_TOLLBAR_RUN"]
    key = int(secret[:16], 16), int(secret[16:32], 16)
    of_hosts = (host(one, hosts, ranks, missing) for one in range(number, hosts, PROCESSES))
    return [sealed(key, line) for one in of_hosts for line in one] + (
        list(lies(key, hosts, ranks)) if number == 0 else []
    )


def the_run() -> Path:
    """The process that reads what we tell, in /proc."""
    process = Path("/proc/self")
    while b"tollbar\0run\0" not in (process / "cmdline").read_bytes():
        process = Path("/proc", (process / "stat").read_text().rpartition(")")[2].split()[1])
    return process


def main() -> None:
    hosts, ranks = int(sys.argv[1]), int(sys.argv[2])
    missing = {int(word) for word in sys.argv[3].split(",")}
    run = the_run()
    together, children = Barrier(PROCESSES), []
    for number in range(PROCESSES):
        if (child := os.fork()) == 0:
            texts = told(number, hosts, ranks, missing)
            together.wait()
            for text in texts:
                os.write(2, text)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    time.sleep(_LATEST_S + 1)
    times = (run / "stat").read_text().rpartition(")")[2].split()[11:13]
    peak = re.search(r"VmHWM:\s+(\d+)", (run / "status").read_text())
    assert peak
    print(sum(map(int, times)) / os.sysconf("SC_CLK_TCK"), int(peak[1]) // 1024)


if __name__ == "__main__":
    main()
