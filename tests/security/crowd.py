# SPDX-License-Identifier: Apache-2.0
"""Thousands of clients of one daemon, half of them hostile, in processes of many users. Started as root:

    crowd.py SOCKET MAGIC ADDRESS OTHER CLIENTS SECONDS

Half of the clients ask what any user may and want an answer. Of the others a quarter each connects and says
nothing, sends what is no request, wants a group whose members nobody has, and joins groups and leaves. Prints
how long answers took, as JSON. daemon_test.py runs it for a moment, and for longer when asked to.
"""

import contextlib
import json
import os
import random
import resource
import socket
import statistics
import sys
import time

import attacker

USERS = 50
FIRST_USER = 2000
MOST_A_PROCESS = 250


def own_share(daemon: attacker.Daemon, clients: int, seconds: float, user: int, answers: int) -> None:
    """One process of one user: half of its clients ask, half are hostile; writes how long answers took."""
    os.setgid(user)
    os.setuid(user)
    dice, until, took, unanswered = random.Random(user), time.monotonic() + seconds, [], 0
    wake = attacker.wake_socket(daemon)
    port = wake.getsockname()[1]
    hostile = [
        lambda: None,
        lambda: os.urandom(dice.randrange(1, 1200)),
        lambda: daemon.unreachable(port),
        lambda: daemon.join(port),
    ]
    held: list[socket.socket] = []
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            one = daemon.connect()
            if packet := dice.choice(hostile)():
                one.send(packet)
            held.append(one)
        if len(held) > clients // 2:
            held.pop(dice.randrange(len(held))).close()
        began = time.monotonic()
        try:
            with daemon.connect() as one:
                answered = attacker.ask(one, daemon.request(attacker.ADDRESS))[0] == 0
        except OSError:
            answered = False
        unanswered += not answered
        took.append(time.monotonic() - began)
    percentiles = [round(sorted(took)[len(took) * share // 100], 6) for share in range(100)]
    # Short enough for a pipe to keep it together.
    told = {"took": percentiles, "asked": len(took), "unanswered": unanswered}
    os.write(answers, json.dumps(told).encode() + b"\n")


def crowd(daemon: attacker.Daemon, clients: int, seconds: float) -> dict:
    """Processes that hold up to MOST_A_PROCESS clients each."""
    reading, writing = os.pipe()
    processes = []
    shares = -(-clients // MOST_A_PROCESS)
    for share in range(shares):
        if (process := os.fork()) == 0:
            os.close(reading)
            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
            own_share(daemon, clients // shares, seconds, FIRST_USER + share % USERS, writing)
            os._exit(0)
        processes.append(process)
    os.close(writing)
    told = b""
    while chunk := os.read(reading, 1 << 20):
        told += chunk
    for process in processes:
        os.waitpid(process, 0)
    said = [json.loads(line) for line in told.decode().splitlines()]
    took = sorted(one for share in said for one in share["took"])
    return {
        "asked": sum(share["asked"] for share in said),
        "unanswered": sum(share["unanswered"] for share in said),
        "median_ms": round(1e3 * statistics.median(took), 2),
        "p99_ms": round(1e3 * took[int(0.99 * (len(took) - 1))], 2),
        "worst_ms": round(1e3 * took[-1], 2),
    }


if __name__ == "__main__":
    *place, clients, seconds = sys.argv[1:]
    print(json.dumps(crowd(attacker.Daemon(*place), int(clients), float(seconds))))
