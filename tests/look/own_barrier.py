# SPDX-License-Identifier: Apache-2.0
"""Three members of which the second never comes to a barrier of tollbar's: Barrier, Group or process_barrier, as the
argument says."""

import multiprocessing
import sys
import threading
import time

import tollbar

MEMBERS = 3


def late() -> None:
    time.sleep(1000)


def worker(number: int, meet) -> None:
    if number == 1:
        late()
    meet(number)


def run(start, meet) -> None:
    members = [start(target=worker, args=(number, meet)) for number in range(MEMBERS)]
    for member in members:
        member.start()
    print("ready", flush=True)
    for member in members:
        member.join()


if __name__ == "__main__":
    if sys.argv[1] == "Barrier":
        barrier = tollbar.Barrier(MEMBERS)
        run(threading.Thread, lambda _: barrier.wait())
    elif sys.argv[1] == "main":  # the main thread waits as well
        barrier = tollbar.Barrier(MEMBERS)
        for number in range(1, MEMBERS):
            threading.Thread(target=worker, args=(number, lambda _: barrier.wait())).start()
        print("ready", flush=True)
        worker(0, lambda _: barrier.wait())
    elif sys.argv[1] == "Group":
        group = tollbar.Group(MEMBERS)
        run(threading.Thread, lambda rank: group.join(rank).arrive_and_wait())
    else:
        shared = tollbar.process_barrier(MEMBERS)
        context = multiprocessing.get_context("fork")
        run(context.Process, lambda _: shared.wait())
