# SPDX-License-Identifier: Apache-2.0
"""The claims of Raymond, and of Buntinas, Panda and Sadayappan, by their numbers and their timing model."""

from __future__ import annotations

from collections.abc import Iterator

from tollbar.models import shmem_published
from tollbar.papers import nic, nic_work
from tollbar.papers.exhibit import printed
from tollbar.papers.verdict import UNDECIDABLE, Row, decided


def split_shmem() -> Iterator[Row]:
    s = shmem_published.published()
    puts, wide, narrow = s["64-bit Puts"], s["64-bit AMOs"], s["32-bit AMOs"]
    rest = {name: seconds for name, seconds in s.items() if "64-bit AMO" in name and name != "64-bit AMOs"}
    yield (
        "64-bit Integers",
        "64-bit counters are faster than 32-bit ones",
        decided(wide < narrow),
        f"{narrow} to {wide} s, in print; it comes from that network card and is not seen on shared memory",
    )
    yield (
        "Non-blocking AMO",
        "AMOs that are not waited for are slower",
        decided(min(rest.values()) > wide),
        f"{wide} s against {', '.join(f'{seconds} s' for seconds in rest.values())}, in print",
    )
    yield (
        "Barriers without AMOs",
        "puts are faster than AMOs and than MPI_Ibarrier",
        decided(puts < min(wide, s["MPI_Ibarrier()"])),
        f"{puts} against {wide} and {s['MPI_Ibarrier()']} s, in print",
    )
    engine = s["Progress engine integration"]
    yield (
        "More Frequent Progress Checks",
        "polling in the progress engine changes nothing",
        decided(abs(engine / puts - 1) < 0.01),
        f"{puts} to {engine} s, where every PE polls by itself; a PE that posts and goes away is another case",
    )
    yield (
        "Barriers without AMOs",
        "puts need a data structure with several phases",
        decided(True),
        "a PE may be one episode ahead, so a word of a put that is not ordered may hold either of two; "
        "two phases are "
        "enough, which the model checker of the split barrier's slots shows for every order of puts of "
        "small jobs",
    )
    yield (
        "Multiple Outstanding AMOs",
        "several outstanding AMOs are safe in this benchmark",
        UNDECIDABLE,
        "the implementation is not printed",
    )


def nic_claims() -> Iterator[Row]:
    factors = {card: [nic.factor(card, n) for n in (2, 4, 8, 16)] for card in nic.NODES}
    rising = all(sorted(of_nodes) == of_nodes for of_nodes in factors.values())
    by_card = "; ".join(
        f"{card} {', '.join(f'{factor:.2f}' for factor in of_nodes)}" for card, of_nodes in factors.items()
    )
    yield (
        "4.2",
        "the factor of improvement increases with the number of nodes",
        decided(rising),
        f"by the model at 2, 4, 8 and 16 nodes: {by_card}",
    )
    all_sizes = min(nic.factor(card, n) for card, most in nic.NODES.items() for n in range(2, most + 1))
    yield (
        "4.2",
        "the NIC-based barrier is better for all numbers of nodes",
        decided(all_sizes > 1),
        f"the least factor of the model from 2 nodes on is {all_sizes:.2f}",
    )
    high, low = (
        printed(nic.NAME, figure, "HB lanai4.3", 16).value / printed(nic.NAME, figure, "NB lanai4.3", 16).value
        for figure in ("Figure 7d", "Figure 7b")
    )
    yield (
        "4.3, 5",
        "for an efficiency of 0.90 it needs 44 % less computing",
        decided(abs(1 - 1 / high - 0.44) < 0.005),
        f"{100 * (1 - 1 / high):.1f} % at 0.90 and {100 * (1 - 1 / low):.1f} % at 0.50, whichever way they are read",
    )
    added = {
        card: nic.latency_us(card, "NB", n) - nic.latency_us(card, "NB", n, mpi=False) for card, n in nic.NODES.items()
    }
    few = nic.latency_us("lanai4.3", "NB", 2) - nic.latency_us("lanai4.3", "NB", 2, mpi=False)
    share = max(added[card] / nic.latency_us(card, "NB", n) for card, n in nic.NODES.items())
    yield (
        "4.1",
        "the MPI level adds little, 3.22 us for 16 nodes and 1.16 us for 8",
        decided(share < 0.05),
        f"at most {100 * share:.1f} % of the latency",
    )
    yield (
        "4.1",
        "the overhead of the MPI level grows as log2 N",
        UNDECIDABLE,
        f"one number is printed of each card; the model takes it as one cost of the host, {few:.2f} us at "
        "2 nodes "
        f"as at 16, where growth would have made it {added['lanai4.3'] / 4:.2f} us at 2",
    )
    gm = {card: nic.gm_factor(card) for card in nic.NODES}
    yield (
        "1",
        "at the GM level the factor was up to 1.83",
        UNDECIDABLE,
        f"it is from another paper, whose cards and nodes are not printed; the model has "
        f"{gm['lanai4.3']:.2f} for 16 "
        f"nodes of lanai4.3 and {gm['lanai7.2']:.2f} for 8 of lanai7.2",
    )
    apps = {name: nic_work.additive("lanai4.3", name) for name in ("360us", "2100us", "9450us")}
    yield (
        "4.5",
        "applications that communicate more gain more",
        decided(apps["360us"] > apps["2100us"] > apps["9450us"]),
        "without variation the model has factors of "
        + ", ".join(f"{factor:.2f} ({name})" for name, factor in apps.items()),
    )
    grown = {n: nic.factor("lanai4.3", n) for n in (16, 1024)}
    yield (
        "6",
        "larger systems gain more",
        decided(grown[1024] > grown[16]),
        f"by the model {grown[1024]:.2f} at 1024 nodes against {grown[16]:.2f} at 16",
    )
    yield (
        "5",
        "other collective operations could benefit from the card",
        UNDECIDABLE,
        "no other is measured or modelled",
    )
