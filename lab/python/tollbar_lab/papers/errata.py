# SPDX-License-Identifier: Apache-2.0
"""Statements of the papers, and what follows from their own words and numbers: every row is computed.

lab/docs/errata.md has the derivations, and the slips of the pen in which there is nothing to compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import tollbar
from tollbar.backports import zip_equal

import tollbar_lab
from tollbar_lab.models import quanta, shmem_published
from tollbar_lab.papers import beyond, logp, multiprogramming, nic, nic_work, one_machine, openmp_mpi, split_shmem
from tollbar_lab.papers.exhibit import printed

#: Overhead above gap, as the paper assumes, and gap above overhead.
_SET_A, _SET_B = tollbar.LogP(L=10, o=5, g=3), tollbar.LogP(L=20, o=1, g=8)
_SIZES = range(2, 65)


@dataclass(frozen=True)
class Erratum:
    """A printed statement, and what follows."""

    paper: str
    where: str
    about: str
    printed: str
    computed: str


def all_errata() -> list[Erratum]:
    """The errata in the order of the papers."""
    makers = {
        openmp_mpi.NAME: _openmp_mpi,
        logp.NAME: _logp,
        multiprogramming.NAME: _multiprogramming,
        split_shmem.NAME: _split_shmem,
        nic_work.NAME: _nic,
    }
    return [Erratum(paper, *row) for paper, make in makers.items() for row in make()]


_Row = tuple[str, str, str, str]


def _openmp_mpi() -> Iterator[_Row]:
    both, orders = _both_see_zero()
    about = "orders of two threads in which both see a count of 0"
    yield "Algorithms 1, 5, 6", about, f"0 of {orders}", f"{both} of {orders}"
    steps = [n for n in range(2, 12) if _exact("dissemination", n + 1) > _exact("dissemination", n)]
    yield "3.2.2", "dissemination has a step after so many nodes", "4, 7, 11", ", ".join(map(str, steps))
    for threads in (2, 8):
        printed_ratio = one_machine.printed_ratio(threads)
        same = one_machine.ratio("Figure 9", threads, contended=False)
        about = f"MCS tree over the counter, {threads} threads, one machine"
        yield "Figure 9", about, f"{printed_ratio:.2f}", f"{same:.2f}"
    for threads in (2, 8):
        about = f"MCS tree over the counter, {threads} threads, additions in each other's way"
        printed_ratio, same = one_machine.printed_ratio(threads), one_machine.word_ratio(threads)
        yield "Figure 9", about, f"{printed_ratio:.2f}", f"{same:.2f}"
    # The text has no number of the tree at 12 nodes, but that it is less than 4 us.
    below = 4 / printed(openmp_mpi.NAME, "Figure 12", "dissemination", 12).value
    same = one_machine.ratio("Figure 12", 12, contended=False)
    about = "MCS tree over dissemination, 12 nodes, one machine without contention"
    yield "Figure 12", about, f"below {below:.2f}", f"{same:.2f}"
    spikes = ", ".join(map(str, beyond.maxima())) or "none"
    yield "3.1.1", "maxima of the counter between 2 and 16 threads, simulated caches", "9, 12", spikes
    about = "threads at which a line through the tree's times at 2 and 8 costs nothing"
    yield "3.1.2", about, "at most 1", f"{beyond.free_at():.2f}"
    in_print, logarithm = beyond.growth()
    about = "MCS tree, 11 threads over 8, if it grows as a logarithm"
    yield "3.1.2", about, f"{in_print:.2f}", f"{logarithm:.2f}"
    eight = printed(openmp_mpi.NAME, "Figure 7", one_machine.SENSE, 8).value
    ten = printed(openmp_mpi.NAME, "Figure 10", "mcs", 10).value
    yield "4", "counter of 8 threads over the MCS tree of 10 processes", "below 1", f"{eight / ten:.2f}"


def _both_see_zero() -> tuple[int, int]:
    """Two threads decrement a count and test it later: in how many orders both see 0, of how many."""
    orders = [(first, tuple({0, 1, 2, 3} - set(first))) for first in combinations(range(4), 2)]
    both = sum(max(one[0], other[0]) < min(one[1], other[1]) for one, other in orders)
    return both, len(orders)


def _exact(plan: str, ranks: int, costs: tollbar.LogP = _SET_A) -> float:
    return tollbar.price(tollbar.plan(plan, ranks), costs).last_us


def _logp() -> Iterator[_Row]:
    sizes = (128, 256)
    small, large = (printed(logp.NAME, "Table 1", logp.CENTRAL, n).value for n in sizes)
    first, second = (logp.price_us("central", n) for n in sizes)
    yield "Table 1", "central counter, 256 nodes over 128", f"{large / small:.3f}", f"{second / first:.3f}"
    for n, us, price_us in zip_equal(sizes, (small, large), (first, second)):
        yield ("Table 1", f"central counter at {n} nodes, us, by the other rows", f"{us:.2f}", f"{price_us:.0f}")
    mild = [logp.mildest_us("central", n) for n in sizes]
    times = [f"{us / printed_us:.1f}" for us, printed_us in zip_equal(mild, (small, large))]
    yield "Table 1", "central counter over what is printed, if L = o = g", "1", " and ".join(times)
    for name, plan in logp.PLANS.items():
        if name != logp.CENTRAL:
            few, many = (printed(logp.NAME, "Table 1", name, n).value for n in sizes)
            more = logp.price_us(plan, 256) - logp.price_us(plan, 128)
            yield "Table 1", f"{name}, from 128 to 256 nodes, us", f"{many - few:+.0f}", f"{more:+.0f}"
    about = "tournament over combining tree, 128 and 256 nodes"
    yield (
        "Table 1",
        about,
        _tournament_over_combining(lambda name, n: printed(logp.NAME, "Table 1", name, n).value),
        _tournament_over_combining(lambda name, n: logp.price_us(logp.PLANS[name], n)),
    )
    about = "n = 4 is the best for an o of so many t = 2o + L, 64 and 256 nodes"
    yield "4.2", f"{about}, by the price", "any", _range(logp.best_at_four(_exact))
    yield "4.2", f"{about}, by its formula", "any", _range(logp.best_at_four(_full))
    about = "simplified form of the central counter over the price, o < g, 1024 nodes"
    yield "4.1", about, "1", f"{_simplified('central', 1024) / _exact('central', 1024, _SET_B):.3f}"
    lower = max(1 - _exact("combining:4", n) / _full("combining:4", n) for n in _SIZES)
    yield "4.2", "price of a combining tree below its formula, up to", "slightly", f"{100 * lower:.1f} %"
    three = 1 - _exact("dissemination:3", 64) / _exact("dissemination", 64)
    yield "4.4", "what is cheaper than dissemination, 64 nodes", "nothing", f"3-way, by {100 * three:.0f} %"
    loop = 1 - tollbar_lab.loop_period_us(tollbar.plan("central", 8), _SET_A) / _exact("central", 8)
    yield "4.1", "a barrier in a loop takes less, 8 nodes, central", "a constant", f"{100 * loop:.0f} %"


def _tournament_over_combining(cost: Callable[[str, int], float]) -> str:
    return " and ".join(f"{cost('tournament', n) / cost('combining tree', n):.2f}" for n in (128, 256))


def _range(ends: tuple[float, float]) -> str:
    return " to ".join(f"{end:.2f}" for end in ends)


def _full(plan: str, ranks: int, costs: tollbar.LogP = _SET_A) -> float:
    """The paper's formula before it is simplified."""
    form = tollbar_lab.closed_form(tollbar.plan(plan, ranks), costs)
    return form.full_us if form else 0.0


def _simplified(plan: str, ranks: int) -> float:
    """The simplified form with a gap above the overhead, against what it supposes."""
    form = tollbar_lab.closed_form(tollbar.plan(plan, ranks), _SET_B)
    return form.simplified_us if form else 0.0


def _multiprogramming() -> Iterator[_Row]:
    compute_ms, quantum_ms = 12, multiprogramming.QUANTUM_MS
    pattern = quanta.pattern(Fraction(20, compute_ms))
    share = (2 * pattern - 1) / pattern
    simulated = multiprogramming.per_barrier_ms("centralized", "spin", compute_ms, 15)
    yield (
        "body",
        "centralized, T = 12 ms, N T (2R-1)/R a barrier, ms",
        f"{compute_ms * share:.1f}",
        f"{simulated:.1f}",
    )
    yield "body", "the same with Q for T, ms", f"{quantum_ms * share:.1f}", f"{simulated:.1f}"
    two = sum(multiprogramming.quanta_of_pair(a, b) > 1.5 for a, b in combinations(range(16), 2))
    yield "footnote 4", "pairs on one processor for which a tree takes 2 quanta", "all 120", f"{two} of 120"
    # Thread i on processor i mod P: the last thread shares the first one's. Then two pairs, each unlucky.
    for threads, groups in ((64, [(0, 63)]), (256, [(0, 255)]), (64, [(0, 1), (5, 21)])):
        on = f"{' and '.join(map(str, groups))} on one processor{' each' * (len(groups) > 1)}"
        about = f"quanta of a tree of {threads} threads, {on}, T < Q"
        by_text, taken = multiprogramming.quanta_by_text(threads), multiprogramming.quanta_of_groups(threads, *groups)
        yield "body", about, f"{by_text}", f"{taken:.0f}"
    smallest = multiprogramming.SMALLEST
    most = multiprogramming.overhead_pct("tree", smallest)
    about = f"percentage of the time that is overhead, at {smallest} switches"
    yield "Figure 4", about, "at most 100", f"{most:.0f}"
    for switches in (smallest, smallest / 2):
        about = f"largest overheads of both, if the shortest computing is {switches} switches"
        yield "Figures 4, 5", about, "158 and 30 %", multiprogramming.largest(switches)
    bare = multiprogramming.overhead_pct("tree", 20, barrier_switches=0)
    yield "Figure 4", "tree at 20 switches, a barrier that costs nothing, %", "below 10", f"{bare:.1f}"
    block = multiprogramming.overhead_pct("tree", 20, placement="block")
    yield "Figure 4", "tree at 20 switches, neighbours on a processor, %", "below 10", f"{block:.0f}"
    blocking = multiprogramming.overhead_pct("combination", 4, "naive")
    about = "combination at 4 switches, with the yield of section 3.4, %"
    yield "Figure 5", about, "below 10", f"{blocking:.1f}"


def _split_shmem() -> Iterator[_Row]:
    ranks = 8
    lines = tollbar.plan("dissemination", ranks).text.splitlines()
    # The last round's signal is the next to last word of every rank; its await goes with it.
    cut = "\n".join(line.rsplit(" ", 2)[0] for line in lines)
    verdict = tollbar.verify(tollbar.parse_plan("cut short", cut))
    yield ("pseudo-code", "without its last exchange, is it a barrier of 8", "yes", "yes" if verdict.holds else "no")
    seconds = shmem_published.published()
    puts, counters = (1e6 * seconds[name] / shmem_published.ITERATIONS for name in ("64-bit Puts", "32-bit AMOs"))
    yield (
        "Barriers in SGI SHMEM",
        "what ends an iteration, if it is dissemination by 32-bit AMOs, us",
        f"at least {counters - puts:.0f}",
        f"below {puts:.0f}",
    )


def _nic() -> Iterator[_Row]:
    stated = printed(nic_work.NAME, "Figure 4b", "lanai4.3", 16).value
    host, card = (printed(nic_work.NAME, "Figure 4a", f"{b} lanai4.3", 16).value for b in nic_work.WHERE)
    yield "4.2", f"lanai4.3, 16 nodes: {host:.2f} / {card:.2f}", f"{stated}", f"{host / card:.3f}"
    for name, nodes in nic_work.NODES.items():
        for barrier in nic_work.WHERE:
            low, high = (
                printed(nic_work.NAME, f, f"{barrier} {name}", nodes).value for f in ("Figure 7b", "Figure 7d")
            )
            about = f"{barrier} {name}: least computing at 0.90 over 0.50"
            yield "4.3", about, f"{high / low:.3f}", f"{0.9 / (1 - 0.9) / (0.5 / (1 - 0.5)):.3f}"
    for name, nodes in nic_work.NODES.items():
        for barrier in nic_work.WHERE:
            latency = printed(nic_work.NAME, "Figure 4a", f"{barrier} {name}", nodes).value
            about = f"{barrier} {name}: the barrier in Figure 7b, us"
            yield "4.3", about, f"{latency:.2f}", f"{nic.implied_us(name, barrier):.2f}"
    for name, nodes in nic_work.NODES.items():
        spot = printed(nic_work.NAME, "Figure 6", f"flat spot {name}", 8).value
        overlap = nic.latency_us(name, "HB", nodes) - nic.implied_us(name, "HB")
        yield "4.3", f"{name}: overlap of host-based barriers in a loop, us", f"{spot:g}", f"{overlap:.1f}"
    for name in nic_work.NODES:
        most, needed = nic.longest_xmit_us(name), nic.needed_xmit_us(name)
        yield "4.3", f"{name}: sending a message for the flat spot, us", f"at most {most:.1f}", f"{needed:.1f}"
    claimed = printed(nic_work.NAME, "Figure 10b", "largest factor", "any").value
    best = max(nic_work.additive(card, "360us") for card in nic_work.NODES)
    yield "4.5", "largest factor of an application", f"{claimed}", f"{best:.2f}"
    all_nodes = f"{', '.join(map(str, nic_work.NODES_OVER[:-1]))} and {nic_work.NODES_OVER[-1]}"
    factors = ", ".join(f"{factor:.2f}" for factor in nic_work.over_nodes("lanai7.2"))
    yield "4.5", f"lanai7.2: factor of {nic_work.SHORTEST} on {all_nodes} nodes", f"up to {claimed}", factors
    for name in nic_work.NODES:
        low, high = tollbar_lab.nic_part_ranges(name)["a"]
        yield "2.3", f"{name}: Send + RDMA + HRecv, us", "one value", f"{low:.1f} to {high:.1f}"
