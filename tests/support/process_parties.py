# SPDX-License-Identifier: Apache-2.0
"""Functions that processes of tests/python/barriers_test.py run, where spawned ones can import them."""

PHASES = 200


def meet(barrier, paid, number: int, parties: int, unpaid) -> None:
    """Pays before each phase, and counts the phases after which a toll was not there to see."""
    for phase in range(1, PHASES + 1):
        paid[phase % 2 * parties + number] = phase
        barrier.wait()
        if any(paid[phase % 2 * parties + other] != phase for other in range(parties)):
            unpaid[number] += 1
