# SPDX-License-Identifier: Apache-2.0
"""Three processes whose number no variable tells, of which the second does not come to where the others wait.

unranked_job.py threads late|stopped|looping    of multiprocessing, and their main threads run a library alone
unranked_job.py arguments late|stopped|looping  each is told its number as an argument; they wait in a collective
                                                call, that of the package in the folder PYTHONPATH"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

LATE, HOW = 1, sys.argv[2]


def load_batch() -> None:
    if HOW == "late":
        time.sleep(1000)
    elif HOW == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        pass


def meet() -> None:
    own, _other = socket.socketpair()
    own.recv(1)


def work(number: int) -> None:
    if number == LATE:
        load_batch()
    meet()


def train(number: int) -> None:
    from jax.experimental import multihost_utils

    if number == LATE:
        load_batch()
    multihost_utils.sync_global_devices("step")


if __name__ == "__mp_main__":
    threading.Thread(target=work, args=(int(multiprocessing.current_process().name),)).start()
elif sys.argv[1] == "threads":
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=signal.pause, name=str(number)) for number in range(3)]
    for process in started:
        process.start()
    print("ready", flush=True)
    for process in started:
        process.join()
elif len(sys.argv) > 3:
    train(int(sys.argv[3]))
else:
    ranks = [subprocess.Popen([sys.executable, *sys.argv, str(number)]) for number in range(3)]
    print("ready", flush=True)
    for rank in ranks:
        rank.wait()
