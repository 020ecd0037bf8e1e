# SPDX-License-Identifier: Apache-2.0
"""A job without an MPI: ranks that meet over sockets of their own, or processes that meet at a barrier of
multiprocessing. To the second meeting one of them does not come.

    stacks_job.py sockets|processes RANKS LATE late|stopped|looping|gone|all|polling

polling: at sockets the others wait by asking again and again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.synchronize import Barrier

WAY, RANKS, LATE, HOW = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
JOB = "TOLLBAR_TEST_JOB"
FLAGS = socket.MSG_DONTWAIT if HOW == "polling" else 0


def load_batch() -> None:
    if HOW in ("late", "polling"):
        time.sleep(1000)
    elif HOW == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif HOW == "gone":
        os._exit(0)
    elif HOW == "all":
        own, _other = socket.socketpair()
        own.recv(1)
    loops = HOW == "looping"
    while loops:  # by nothing of the C library, in which a look would find it now and then
        pass


class Sockets:
    """Each rank sends to all others, and waits for one message of each; no end of a rank ends a wait."""

    def __init__(self, rank: int) -> None:
        self.rank, self.meetings = rank, 0
        self.heard = dict.fromkeys((self.name_of(other) for other in range(RANKS) if other != rank), 0)
        self.own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.own.bind(self.name_of(rank))

    def name_of(self, rank: int) -> str:
        return f"\0{os.environ[JOB]}.{rank}"

    def send(self, name: str) -> None:
        while True:
            try:
                self.own.sendto(b"a", name)
                return
            except ConnectionRefusedError:  # it has not begun, or has ended
                if self.meetings > 1:
                    return
                time.sleep(0.01)

    def wait(self) -> None:
        self.meetings += 1
        for name in self.heard:
            self.send(name)
        while min(self.heard.values()) < self.meetings:
            with contextlib.suppress(BlockingIOError):
                self.heard[self.own.recvfrom(1, FLAGS)[1].decode()] += 1


def work(rank: int, meeting: Sockets | Barrier) -> None:
    meeting.wait()
    if rank == LATE:
        load_batch()
    meeting.wait()


def main() -> None:
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), Sockets(int(os.environ["RANK"])))
        return
    print("ready", flush=True)
    if WAY == "processes":
        context = multiprocessing.get_context("fork")
        barrier = context.Barrier(RANKS)
        started = [context.Process(target=work, args=(rank, barrier)) for rank in range(RANKS)]
        for process in started:
            process.start()
        for process in started:
            process.join()
        return
    variables = {**os.environ, JOB: str(os.getpid()), "WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS)}
    ranks = [
        subprocess.Popen([sys.executable, *sys.argv], env={**variables, "RANK": str(rank)}) for rank in range(RANKS)
    ]
    for rank in ranks:
        rank.wait()


with contextlib.suppress(KeyboardInterrupt):
    main()
