# SPDX-License-Identifier: Apache-2.0
"""What ranks tell a run is believed by its seal alone, and lines of several hosts become one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from tollbar import _native
from tollbar.look import gathered
from tollbar.look.gathered import Line


def sealed(secret: gathered.Secret, text: str, facts: str = "") -> bytes:
    message = f"{text} [~{facts}".encode()
    return b"tollbar: " + message + b" %016x]" % _native.siphash(secret.key, message)


def test_a_seal_is_siphash_as_its_paper_has_it():
    key = 0x0F0E0D0C0B0A0908, 0x0706050403020100
    assert _native.siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5


def test_a_line_of_a_rank_is_told_whatever_a_launcher_puts_before_it():
    secret = gathered.Secret(accounts=False)
    line = sealed(secret, "rank 1 waits", "at 1 2 3")
    assert secret.unseal(line) == secret.unseal(b"[1,0]<stderr>:" + line) == Line("rank 1 waits", "at 1 2 3")


def test_nobody_without_the_secret_makes_or_alters_a_line():
    secret, other = gathered.Secret(accounts=False), gathered.Secret(accounts=False)
    line = sealed(secret, "rank 1 waits", "at 1 2 3")
    for forged in (
        sealed(other, "rank 1 waits"),
        line.replace(b"rank 1", b"rank 7"),
        line.replace(b"at 1 2", b"at 1 3"),
        line[:-2] + b"]",
        b"tollbar: rank 1 waits",
        b"tollbar: rank 1 waits [~ 0000000000000000]",
        b"tollbar: \xff [~\xff 0123456789abcdef]",
    ):
        assert secret.unseal(forged) is None


CALL = "{} ({} ranks), MPI_Allreduce {} at ./x+0x1: rank {} on {} has waited 30.1 s: {}"
FAR = "{} of its ranks are not watched on this host"


def said(*told: Line, timeout_s: float = 30) -> list[str]:
    hosts = gathered.Hosts(timeout_s)
    for one in told:
        hosts.add(one, 0.0)
    assert hosts.sentences(0.0) == []
    sentences = hosts.sentences(2.0)
    assert hosts.sentences(2.1) == [], "once a time-out"
    return sentences


def standing(ranks: Iterable[int], doing: str, counts: str, call: str = "MPI_Allreduce,,MPI_SUM,8.bytes") -> Line:
    calls = " ".join(f"{count}:{call}" for count in counts.split())
    return Line(doing, f"ranks {','.join(map(str, ranks))} {calls}")


def test_lines_of_several_hosts_are_one_sentence_that_names_world_ranks():
    first = CALL.format(
        "MPI_COMM_WORLD", 1024, 4711, 0, "n1",
        "rank 17 (host n1, process 8123) has not come: it is asleep in the kernel's pipe_read, after MPI_Bcast 4710 "
        f"of MPI_COMM_WORLD at ./x+0x2; {FAR.format(512)}",
    )  # fmt: skip
    other = CALL.format(
        "MPI_COMM_WORLD", 1024, 4711, 512, "n2",
        "ranks 518 and 940 have not come: they are outside the MPI, running, after MPI_Bcast 4710 of MPI_COMM_WORLD "
        f"at ./x+0x2; {FAR.format(512)}",
    )  # fmt: skip
    come = sorted({*range(1024)} - {17, 518, 940})
    assert said(
        standing(come, "in MPI_Allreduce 4711 of MPI_COMM_WORLD at ./x+0x1", "1:4711"),
        standing([17], "host n1, process 8123, asleep in the kernel's pipe_read, after MPI_Bcast 4710 of "
                 "MPI_COMM_WORLD at ./x+0x2", "1:4710"),
        Line(first, "at 1 4711 0"),
        standing([518, 940], "outside the MPI, running, after MPI_Bcast 4710 of MPI_COMM_WORLD at "
                 "./x+0x2", "1:4710"),
        Line(other, "at 1 4711 512"),
    ) == [
        "1021 of 1024 wait in MPI_Allreduce number 4711 of MPI_COMM_WORLD; "
        "missing: 17 (host n1, process 8123, asleep in the kernel's pipe_read), 518 and 940 (outside the MPI, running)"
    ]  # fmt: skip


def test_at_another_communicator_ranks_that_wait_elsewhere_are_named():
    world = CALL.format("MPI_COMM_WORLD", 4, 4, 2, "n2", FAR.format(2))
    again = CALL.format("again", 4, 2, 0, "n1", f"rank 1 (host n1, process 6) has not come: it is x; {FAR.format(2)}")
    assert said(
        standing([2, 3], "in MPI_Barrier 4 of MPI_COMM_WORLD at ./x+0x1", "1:4 a1:1"),
        Line(world, "at 1 4 2"),
        standing([0], "host n1, process 5, in MPI_Allreduce 2 of again at ./x+0x1", "1:3 a1:2"),
        standing([1], "host n1, process 6, x, after MPI_Barrier 1 of again at ./x+0x1", "1:3 a1:1"),
        Line(again, "at a1 2 0"),
    ) == [
        "2 of 4 wait in MPI_Allreduce number 4 of MPI_COMM_WORLD; missing: 0 (host n1, process 5, in MPI_Allreduce 2 "
        "of again at ./x+0x1), 1 (host n1, process 6, x)",
        "1 of 4 wait in MPI_Allreduce number 2 of again; "
        "missing: 1 (host n1, process 6, x), 2 and 3 (in MPI_Barrier 4 of MPI_COMM_WORLD at ./x+0x1)",
    ]


def test_where_a_rank_is_stopped_one_in_another_call_is_not_named():
    line = Line(CALL.format("solvers", 4, 7, 0, "n1", FAR.format(2)), "at a1 7 0")
    come = standing([0], "host n1, process 4, in MPI_Allreduce 7 of solvers at ./x+0x1", "a1:7")
    sends = standing([1], "host n1, process 5, in MPI_Send to rank 2 (tag 0) at ./x+0x3, after", "a1:6")
    stopped = standing([2], "host n2, process 6, stopped, in MPI_Send to rank 3 (tag 0) at ./x+0x3", "a1:6")
    outside = standing([3], "host n2, process 7, outside the MPI, running, after MPI_Bcast 6 of solvers", "a1:6")
    assert said(line, come, sends, stopped, outside) == [
        "1 of 4 wait in MPI_Allreduce number 7 of solvers; "
        "missing: 2 (host n2, process 6, stopped, in MPI_Send to rank 3 (tag 0) at ./x+0x3), "
        "3 (host n2, process 7, outside the MPI, running)"
    ]


def test_a_host_whose_ranks_stand_still_has_them_named_and_one_that_says_nothing_has_them_counted():
    line = Line(CALL.format("solvers", 6, 7, 0, "n1", FAR.format(4)), "at a1 7 0")
    come = standing([0, 1], "in MPI_Allreduce 7 of solvers at ./x+0x1", "a1:7")
    late = standing([2], "host n2, process 5, outside the MPI, running, after MPI_Bcast 6 of solvers at "
                    "./x+0x2", "1:9 a1:6")  # fmt: skip
    gone = standing([3], "host n2, process 6, outside the MPI, running, after MPI_Allreduce 7 of solvers at "
                    "./x+0x1", "1:9 a1:7")  # fmt: skip
    stranger = standing([4], "host n2, process 7, outside the MPI, running, before any collective call", "1:9")
    assert said(line, come, late, gone, stranger) == [
        "3 of 6 wait in MPI_Allreduce number 7 of solvers; "
        "missing: 2 (host n2, process 5, outside the MPI, running), 2 on hosts that say nothing"
    ]


def test_ranks_of_the_job_that_say_nothing_may_be_in_mpi_init_still():
    line = Line(CALL.format("MPI_COMM_WORLD", 4, 1, 0, "n1", FAR.format(2)), "at 1 1 0")
    come = standing([0, 1], "in MPI_Allreduce 1 of MPI_COMM_WORLD at ./x+0x1", "1:1")
    assert said(line, come) == [
        "2 of 4 wait in MPI_Allreduce number 1 of MPI_COMM_WORLD; "
        "missing: 2 on hosts that say nothing, or in MPI_Init still"
    ]


def test_of_a_rank_counts_only_where_it_was_while_the_others_waited():
    hosts = gathered.Hosts(30)
    hosts.add(standing([2, 3], "outside the MPI, running", "a1:6"), 100.0)
    hosts.add(standing([0, 1], "in MPI_Allreduce 7 of w at ./x+0x1", "a1:7"), 131.0)
    hosts.add(Line(CALL.format("w", 4, 7, 0, "n1", FAR.format(2)), "at a1 7 0"), 131.0)
    assert hosts.sentences(133.0) == [
        "2 of 4 wait in MPI_Allreduce number 7 of w; missing: 2 on hosts that say nothing"
    ]


def test_a_host_that_is_further_has_come_with_all_its_ranks():
    behind = (
        "rank 1 (host n1, process 5) has not come: it is stopped, after MPI_Bcast 6 of w at ./x+0x2; " + FAR.format(2)
    )
    one = Line(CALL.format("w", 4, 7, 0, "n1", behind), "at 1 7 0")
    further = Line(CALL.format("w", 4, 8, 2, "n2", FAR.format(2)), "at 1 8 2")
    (sentence,) = said(
        standing([0], "host n1, process 4, in MPI_Allreduce 7 of w at ./x+0x1", "1:7"),
        standing([1], "host n1, process 5, stopped, after MPI_Bcast 6 of w at ./x+0x2", "1:6"),
        one,
        standing([2], "host n2, process 4, in MPI_Allreduce 8 of w at ./x+0x1", "1:8"),
        standing([3], "host n2, process 5, outside the MPI, running, after MPI_Allreduce 7 of w", "1:7"),
        further,
    )
    assert sentence == ("3 of 4 wait in MPI_Allreduce number 7 of w; missing: 1 (host n1, process 5, stopped)")


def test_ranks_that_called_something_else_are_named_beside_the_missing():
    odd = "rank 1 (host n1, process 5) called MPI_Bcast (root 0) at ./x+0x3 where 1 rank called MPI_Allreduce"
    one = Line(CALL.format("w", 4, 7, 0, "n1", f"{odd}; {FAR.format(2)}"), "at 1 7 0")
    two = Line(CALL.format("w", 4, 7, 2, "n2", FAR.format(2)), "at 1 7 2")
    come = standing(range(4), "in MPI_Allreduce 7 of w at ./x+0x1", "1:7")
    assert said(come, one, two) == [f"4 of 4 wait in MPI_Allreduce number 7 of w; {odd}"]


def test_who_called_something_else_is_judged_by_the_ranks_of_all_hosts():
    """On the first host one rank called either, and each may be the odd one."""
    odd = "rank 1 (host n1, process 6) called MPI_Barrier at ./x+0x3 where 1 rank called MPI_Allreduce"
    one = Line(CALL.format("w", 4, 7, 0, "n1", f"{odd}; {FAR.format(2)}"), "at 1 7 0")
    two = Line(CALL.format("w", 4, 7, 2, "n2", FAR.format(2)), "at 1 7 2")
    assert said(
        standing([0], "host n1, process 5, in MPI_Allreduce 7 of w at ./x+0x1", "1:7"),
        standing([1], "host n1, process 6, in MPI_Barrier 7 of w at ./x+0x3", "1:7", "MPI_Barrier,,,"),
        one,
        standing([2, 3], "in MPI_Barrier 7 of w at ./x+0x3", "1:7", "MPI_Barrier,,,"),
        two,
    ) == [
        "4 of 4 wait in MPI_Barrier number 7 of w; rank 0 (host n1, process 5, in MPI_Allreduce 7 of w at ./x+0x1) "
        "called MPI_Allreduce where 3 ranks called MPI_Barrier"
    ]


def test_ranks_of_two_hosts_with_another_root_or_operation_are_named():
    def of(root: int, op: str, call: str = "MPI_Reduce") -> str:
        return f"{call},root.{root},{op},8.bytes"

    one = Line(CALL.format("w", 4, 7, 0, "n1", FAR.format(2)), "at 1 7 0")
    (sentence,) = said(
        standing([0, 1], "in MPI_Reduce 7 of w", "1:7", of(0, "MPI_SUM")),
        standing([2], "host n2, process 5, in MPI_Reduce 7 of w", "1:7", of(2, "MPI_SUM")),
        standing([3], "host n2, process 6, in MPI_Bcast 7 of w", "1:7", of(0, "", "MPI_Bcast")),
        one,
    )
    assert sentence == (
        "4 of 4 wait in MPI_Reduce number 7 of w; rank 2 (host n2, process 5, in MPI_Reduce 7 of w) called MPI_Reduce "
        "(root 2) where 2 ranks called MPI_Reduce (root 0); rank 3 (host n2, process 6, in MPI_Bcast 7 of w) called "
        "MPI_Bcast (root 0) where 2 ranks called MPI_Reduce (root 0)"
    )


def test_bytes_that_are_not_known_fit_to_any():
    one = Line(CALL.format("w", 4, 7, 0, "n1", FAR.format(2)), "at 1 7 0")
    (sentence,) = said(
        standing([0, 1], "in MPI_Bcast 7 of w", "1:7", "MPI_Bcast,root.0,,8.bytes"),
        standing([2], "host n2, process 5, in MPI_Bcast 7 of w", "1:7", "MPI_Bcast,root.0,,"),
        standing([3], "host n2, process 6, outside the MPI, running", "1:6", "MPI_Barrier,,,"),
        one,
    )
    missing = "missing: 3 (host n2, process 6, outside the MPI, running)"
    assert sentence == f"3 of 4 wait in MPI_Bcast number 7 of w; {missing}"


def test_a_job_of_one_host_has_its_own_line_alone():
    assert said(Line(CALL.format("w", 2, 7, 0, "n1", "rank 1 (host n1, process 5) has not come: it is x"),
                     "at 1 7 0")) == []  # fmt: skip


def test_who_writes_without_end_uses_up_no_memory():
    hosts = gathered.Hosts(30)
    for number in range(0, 200_000, 40):
        hosts.add(standing(range(number, number + 40), "dead", "1:6"), 0.0)
        hosts.add(Line(CALL.format("w", 900_000, 7, number, "n1", FAR.format(2)), f"at 1 7 {number}"), 0.0)
    assert len(hosts._ranks) <= 100_000
    assert len(hosts._calls["1"]) <= 1000
    assert len(hosts.sentences(2.0)) == 1


def test_a_line_of_a_thread_is_of_no_call():
    assert said(Line("thread 4 has waited 1.0 s", "")) == []
