# SPDX-License-Identifier: Apache-2.0
"""The claims of Seyedroudbari and Kadiyala, and of Hoefler et al., by their numbers and by LogP prices."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import tollbar
from tollbar.papers import combined, logp, on_caches, one_machine
from tollbar.papers import openmp_mpi as threads_and_nodes
from tollbar.papers.exhibit import printed
from tollbar.papers.one_machine import SENSE
from tollbar.papers.verdict import UNDECIDABLE, Row, decided

#: In prices that are compared with each other only, a message costs 3 of these and a rank is busy for one.
_UNIT = tollbar.LogP(L=1, o=1, g=1)


def _units(plan: str, ranks: int) -> float:
    return tollbar.price(tollbar.plan(plan, ranks), _UNIT).last_us


def _messages(plan: str, ranks: int) -> int:
    return tollbar.price(tollbar.plan(plan, ranks), _UNIT).messages


def _printed(figure: str, plan: str, x: int) -> float:
    return printed(threads_and_nodes.NAME, figure, plan, x).value


def openmp_mpi() -> Iterator[Row]:
    two, eight = _printed("Figure 7", SENSE, 2), _printed("Figure 7", SENSE, 8)
    yield (
        "3.1.1",
        "the sense-reversing barrier's time is linearly proportional to the threads",
        decided(abs(eight / two / 4 - 1) < 0.25),
        f"from {two} us at 2 to {eight} us at 8 threads is {eight / two:.1f} times the time for 4 times the threads",
    )
    yield (
        "3.1.2",
        "the MCS tree between threads is linear up to 8 threads and logarithmic beyond",
        UNDECIDABLE,
        "three numbers are printed, and the one beyond 8 threads is called a spurious spike",
    )
    mcs = _printed("Figure 10", "mcs", 10)
    yield (
        "3.1.1, 4",
        "the sense-reversing barrier has the lowest time of all barriers",
        decided(eight < mcs),
        f"at 8 threads it takes {eight} us; the MCS tree between nodes takes at most {mcs} us up to 12 nodes",
    )
    mcs_8 = _printed("Figure 8", "mcs", 8)
    shared = on_caches.spread(on_caches.ONE_LINE, on_caches.OWN_LINES, range(2, 17, 2))
    besides = [
        times
        for flags in ((on_caches.PHASE, on_caches.ONE_LINE), (on_caches.PHASE_OWN_LINES, on_caches.OWN_LINES))
        for times in on_caches.spread(*flags, (8,))
    ]
    yield (
        "3.1.2",
        "false sharing of the children's flags makes the MCS tree slow",
        decided(shared[1] > 2),
        f"it takes {mcs_8 / eight:.1f} times what the counter takes at 8 threads; on simulated caches of "
        f"three machines, 2 to 16 threads, four flags in one line take {shared[0]:.2f} to {shared[1]:.2f} "
        "times what a line each takes. The phase and the counter in a critical section that Algorithm 2 has "
        f"besides its tree take {min(besides):.1f} to {max(besides):.1f} times the tree alone at 8 threads, "
        "wherever the flags lie",
    )
    same = one_machine.ratio("Figure 9", 8, contended=True)
    slower = one_machine.simulated_us("mcs", 8) / one_machine.simulated_us("central", 8)
    both = on_caches.spread(on_caches.PHASE, on_caches.CRITICAL, (8,))
    yield (
        "3.1.3",
        "contention and false sharing make the MCS tree so much slower than the sense-reversing barrier",
        UNDECIDABLE,
        f"in print {one_machine.printed_ratio(8):.1f} times at 8 threads; both plans send the same messages, "
        f"so contention among them makes no difference ({same:.2f} times), and on simulated caches, a line "
        f"for each flag, it is {slower:.2f} times; with the critical sections of Algorithms 1 and 2, and "
        f"flags that share a line, {both[0]:.2f} to {both[1]:.2f} times. What is printed beyond the "
        f"counter's time grows with the power {one_machine.excess_power():.1f} of the threads",
    )
    sizes = range(8, 17, 4)
    delays = {fixed: on_caches.spread(fixed, SENSE, sizes) for fixed in on_caches.FIXED}
    doubling = [on_caches.spread(fixed, on_caches.DOUBLING, sizes) for fixed in on_caches.FIXED[:2]]
    yield (
        "3.1.3",
        "a fixed delay before the sense variable makes the centralized barrier faster, more than one that grows",
        UNDECIDABLE,
        "it is proposed and not measured; on simulated caches of three machines, 8 to 16 threads, it takes "
        + ", ".join(
            f"{low:.2f} to {high:.2f} times as long with {fixed.partition(':')[2].removesuffix('ns')} ns"
            for fixed, (low, high) in delays.items()
        )
        + f", and with the first two {min(low for low, _ in doubling):.2f} to "
        f"{max(high for _, high in doubling):.2f} times as long as with one that doubles; but for the "
        "longest delay that is less than the model's error",
    )
    crossing = next(n for n in range(2, 65) if all(_units("mcs", m) < _units("central", m) for m in range(n, 65)))
    yield (
        "3.1.3",
        "with many more threads the MCS tree is better than the centralized barrier",
        decided(crossing > 1),
        f"by price with L = o = g from {crossing} ranks on",
    )
    ratio = mcs / _printed("Figure 10", "mcs", 2)
    yield (
        "3.2.1",
        "the MCS tree between nodes follows log4 N",
        decided(abs(ratio / (log(10) / log(2)) - 1) < 0.25),
        f"from 2 to 10 nodes it grows {ratio:.1f} times, the logarithm {log(10) / log(2):.2f} times and "
        "the price "
        f"{_units('mcs', 10) / _units('mcs', 2):.2f} times",
    )
    late = _units("mcs", 12) / _units("mcs", 9)
    yield (
        "3.2.1",
        "beyond 9 nodes the time of the MCS tree hardly changes",
        decided(late < 1.1),
        f"by price 12 nodes cost {late:.2f} times as much as 9",
    )
    counted = all(_messages("dissemination", n) == n * (n - 1).bit_length() for n in range(2, 13))
    yield (
        "3.2.2",
        "dissemination sends N ceil(log2 N) messages",
        decided(counted),
        "counted in the plans of 2 to 12 ranks",
    )
    fewer = [n for n in range(2, 13) if _messages("mcs", n) < _messages("dissemination", n)]
    yield (
        "3.2.3, 4",
        "the MCS tree has fewer messages than dissemination",
        decided(fewer == [*range(3, 13)]),
        f"2 (N - 1) from {fewer[0]} to {fewer[-1]} nodes; at 2 both have {_messages('mcs', 2)}",
    )
    grown = _printed("Figure 11", "dissemination", 12) / _printed("Figure 11", "dissemination", 2)
    rounds = _units("dissemination", 12) / _units("dissemination", 2)
    yield (
        "3.2.2",
        "the latency of dissemination is proportional to its rounds",
        decided(abs(grown / rounds - 1) < 0.25),
        f"from 2 to 12 nodes it grows {grown:.1f} times, the rounds {rounds:.1f} times: a round must cost "
        f"{grown / rounds:.1f} times as much with 12 nodes",
    )
    share, off = one_machine.share_pct(), one_machine.off_pct("Figure 12", contended=True)
    one = {plan: _units(plan, 12) / 3 * _printed("Figure 11", "dissemination", 2) for plan in ("mcs", "dissemination")}
    yield (
        "3.2.3",
        "with many nodes the MCS tree has the lower latency",
        UNDECIDABLE,
        f"it has in print, below 4 against {_printed('Figure 11', 'dissemination', 12)} us at 12 nodes; with "
        "one set of "
        f"parameters for both, L = o = g through dissemination at 2 nodes, it costs {one['mcs']:.2f} against "
        f"{one['dissemination']:.2f} us. It needs contention: from {100 * one_machine.needed():.0f} % of a "
        "message's time on in which no other message passes, the tree with its fewer messages is ahead at 12 "
        f"nodes, and with {share:.0f} % all four printed numbers follow within {off:.0f} %. No measurement "
        "of the paper shows such a share",
    )
    rounds_of = {n: (n - 1).bit_length() for n in range(2, 9)}
    bands = rounds_of[3] == rounds_of[4] and len({rounds_of[n] for n in (5, 6, 7)}) == 1
    yield (
        "3.3.1",
        "3 and 4, and 5, 6 and 7 nodes have similar times, by the rounds of dissemination",
        decided(bands),
        f"{rounds_of[3]} rounds for 3 and 4 nodes, {rounds_of[5]} for 5, 6 and 7, and for 8 too",
    )
    yield (
        "3.3.1",
        "the peak is at 7 nodes with 12 threads",
        UNDECIDABLE,
        f"no number is printed; by the model 7 nodes cost {combined.model_us(7, 12):.2f} us, and so do "
        f"{', '.join(str(n) for n in combined.highest(contended=False) if n != 7)}, by the rounds of "
        f"dissemination; 8 nodes, which were measured too, have the same {rounds_of[8]} and more messages, "
        f"{_messages('dissemination', 8)} against {_messages('dissemination', 7)}, so where messages are in "
        f"each other's way the peak is there, {combined.model_us(8, 12, contended=True):.2f} against "
        f"{combined.model_us(7, 12, contended=True):.2f} us",
    )
    steps = [n for n in range(3, 9) if rounds_of[n] != rounds_of[n - 1]]
    yield (
        "3.3.1",
        "the combined barrier's time is linear in the nodes",
        decided(len(steps) == 6),
        f"the bands of 3 and 4, and of 5, 6 and 7 nodes contradict it: dissemination has another round at "
        f"{' and '.join(map(str, steps))} nodes and at no other of 3 to 8",
    )
    yield ("2.2", "the mean of ten repetitions mitigates the variance", UNDECIDABLE, "no variance is printed")


def logp_claims() -> Iterator[Row]:
    sizes = range(1, 65)
    exact = {
        plan: [n for n in sizes if abs(logp_form(plan, n) - _set_a(plan, n)) < 1e-6]
        for plan in ("central", "dissemination", "tournament")
    }
    yield (
        "4.1",
        "the predicted time of a central counter",
        decided(exact["central"] == [*sizes]),
        "the formula before it is simplified equals the price for 1 to 64 nodes (L = 10, o = 5, g = 3)",
    )
    yield (
        "4.4",
        "the predicted time of dissemination",
        decided(exact["dissemination"] == [*sizes]),
        "the formula equals the price for 1 to 64 nodes",
    )
    powers = [n for n in sizes if n & (n - 1) == 0]
    yield (
        "4.3",
        "the predicted time of a tournament is an upper bound",
        decided(
            exact["tournament"] == powers
            and all(logp_form("tournament", n) >= _set_a("tournament", n) - 1e-6 for n in sizes)
        ),
        f"it equals the price at {', '.join(map(str, powers))} nodes and is above it elsewhere",
    )
    table = {(name, n): printed(logp.NAME, "Table 1", name, n).value for name in logp.PLANS for n in (128, 256)}
    best = {min((table[name, n], name) for name in logp.PLANS)[1] for n in (128, 256)}
    yield (
        "4.5, 5",
        "dissemination delivers the best results",
        decided(best == {"dissemination"}),
        f"in print at 128 and 256 nodes, and by price of the five; {_cheaper()} is cheaper by the same model",
    )
    logs = [name for name in logp.PLANS if name != logp.CENTRAL]
    off = max(abs(logp.price_us(logp.PLANS[name], n) / table[name, n] - 1) for name in logs for n in (128, 256))
    yield (
        "5",
        "LogP predicts the asymptotic behaviour of the logarithmic barriers very accurately",
        decided(off < 0.07),
        f"one set of parameters gives their eight numbers of Table 1 within {100 * off:.1f} %",
    )
    central = max(logp.price_us("central", n) / table[logp.CENTRAL, n] for n in (128, 256))
    yield (
        "5",
        "LogP predicts the asymptotic behaviour of the central counter very accurately",
        decided(central < 1.07),
        f"the same parameters give up to {central:.0f} times what Table 1 has",
    )
    yield (
        "5, footnote 4",
        "the asymptotic standard error is below 5 % for every fit",
        UNDECIDABLE,
        "neither the measured points nor the fitted parameters are printed",
    )
    yield (
        "4.1",
        "the time of a central counter is extremely low for few processes",
        UNDECIDABLE,
        f"no such time is printed; by price it ties with the trees at 2 nodes, and at 4 dissemination costs "
        f"{_set_a('dissemination', 4):g} against {_set_a('central', 4):g} us",
    )
    yield (
        "5",
        "benchmarking the barriers for each communicator pays on networks without full bisection bandwidth",
        UNDECIDABLE,
        "no such network is measured by the paper",
    )


_SET_A = tollbar.LogP(L=10, o=5, g=3)


def _set_a(plan: str, ranks: int) -> float:
    return tollbar.price(tollbar.plan(plan, ranks), _SET_A).last_us


def logp_form(plan: str, ranks: int) -> float:
    """The paper's formula before it is simplified."""
    form = tollbar.closed_form(tollbar.plan(plan, ranks), _SET_A)
    return form.full_us if form else 0.0


def _cheaper() -> str:
    ways = {w: _set_a(f"dissemination:{w}", 64) for w in (2, 3, 4)}
    best = min(ways, key=lambda w: ways[w])
    return f"{best}-way dissemination ({ways[best]:g} against {_set_a('dissemination', 64):g} us at 64 nodes)"
