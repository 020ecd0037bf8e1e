# SPDX-License-Identifier: Apache-2.0
"""Four threads, or as many as the program is told, meet at a threading.Barrier; to the second meeting the
second does not come, which says so."""

import sys
import threading
import time

MEMBERS = int(sys.argv[1]) if len(sys.argv) > 1 else 4
barrier = threading.Barrier(MEMBERS)


def late() -> None:
    time.sleep(1000)


def worker(number: int) -> None:
    barrier.wait()
    if number == 1:
        print("ready", flush=True)
        late()
    barrier.wait()


threads = [threading.Thread(target=worker, args=(number,)) for number in range(MEMBERS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
