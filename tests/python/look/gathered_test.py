# SPDX-License-Identifier: Apache-2.0
"""A run believes what its ranks tell by the seal alone, and concludes who is missing from the rows of all hosts."""

from __future__ import annotations

import dataclasses

import pytest
from rows import Comm, Rank, lines, sealed
from tollbar import _native
from tollbar.look import gathered
from tollbar.look.gathered import SealedLine

TIMEOUT_S = 30.0


def test_a_seal_is_siphash_as_its_paper_has_it():
    key = 0x0F0E0D0C0B0A0908, 0x0706050403020100
    assert _native.siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5


def test_a_line_of_a_rank_is_told_whatever_a_launcher_puts_before_it():
    secret, told = gathered.Secret(accounts=False), SealedLine("rank 1 waits", "at 1 2 3")
    line = sealed(secret.key, told).rstrip()
    assert secret.unseal(line) == secret.unseal(b"[1,0]<stderr>:" + line) == told


def test_nobody_without_the_secret_makes_or_alters_a_line():
    secret, other = gathered.Secret(accounts=False), gathered.Secret(accounts=False)
    told = SealedLine("rank 1 waits", "at 1 2 3")
    line = sealed(secret.key, told).rstrip()
    for forged in (
        sealed(other.key, told),
        line.replace(b"rank 1", b"rank 7"),
        line.replace(b"at 1 2", b"at 1 3"),
        line[:-2] + b"]",
        b"tollbar: rank 1 waits",
        b"tollbar: rank 1 waits [~ 0000000000000000]",
        b"tollbar: \xff [~\xff 0123456789abcdef]",
    ):
        assert secret.unseal(forged) is None


@pytest.mark.parametrize("tag", [b"", b"[1,0]<stderr>:"])
def test_people_are_shown_no_part_of_a_line_for_us_however_a_launcher_tears_it(tag):
    """Launchers read some kilobytes at a time, and put other lines between those and the rest."""
    rows = b"tollbar: for `tollbar run`, which says who is missing [~rows 1 0 4302661 1 2 0 16 1 0 1400321d - - 3"
    rest = b" d - - 4 300000006 2a7387d6bfec2d36]\n"
    report = b"tollbar: rank 1 waits [~missing 1 2a7387d6bfec2d36]\n"
    for whole, is_sealed in ((rows + rest, True), (rows + report, True), (rows + b"\n", False), (rest, False)):
        assert gathered.for_people(tag * (whole != rest) + whole, is_sealed) == b"", whole
    assert gathered.for_people(tag + b"step 7 " + rows + rest, True).endswith(b"step 7 ")
    for line in (b"step 7\n", b"tollbar: for people\n", b"0 1 2 ff\n", b"\n"):
        assert gathered.for_people(tag + line, False) == tag + line


def told(hosts: gathered.Hosts, clock: float, host: str, *ranks: Rank, **how: int) -> None:
    for line in lines(host, *ranks, **how):
        assert hosts.add(line, clock) is None


def said(hosts: gathered.Hosts, clock: float) -> list[str]:
    return [one.text for one in hosts.missing(clock)]


def waits(*numbers: int, seconds: float = 30.1, number: int = 7, **comm) -> list[Rank]:
    """Ranks in that call of a communicator."""
    return [Rank(each, [Comm(number, **comm)], seconds, process=100 + each) for each in numbers]


def late(number: int, doing: str = "running", calls: int = 6, **comm) -> Rank:
    return Rank(number, [Comm(calls, "MPI_Bcast", **comm)], doing=doing, process=100 + number)


HEAD = "MPI_COMM_WORLD (4 ranks), MPI_Allreduce 7 at main (a.c:3): rank 0 on n1 has waited 30.1 s: "


def test_the_missing_of_several_hosts_are_named_in_one_sentence_a_while_after_the_first_has_told():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1))
    told(hosts, 1.0, "n2", *waits(2), late(3, "asleep in the kernel's pipe_read"))
    assert said(hosts, 1.9) == []
    assert said(hosts, 2.0) == [
        f"{HEAD}rank 3 (host n2, process 103) has not come: it is outside the MPI, asleep in the kernel's pipe_read, "
        "after MPI_Bcast 6 of MPI_COMM_WORLD at main (a.c:3)"
    ]
    assert said(hosts, 2.1) == [], "once a time-out"


def test_of_a_job_on_one_host_it_is_said_at_once():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1, 2), late(3))
    assert len(said(hosts, 0.0)) == 1


def test_where_the_job_is_over_what_was_told_is_said_at_once():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1))
    assert said(hosts, 0.1) == []
    [one] = hosts.missing(0.1, is_over=True)
    assert one.text == f"{HEAD}ranks 2 and 3 have told nothing meanwhile, or are in MPI_Init still"


def test_a_conclusion_has_the_facts_that_make_it_comparable():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1, 2), late(3))
    [one] = hosts.missing(0.0)
    assert (one.wait, one.about, one.named) == ("at 1 7", "MPI_COMM_WORLD (4 ranks), MPI_Allreduce 7", [3])
    assert one.waited_s == pytest.approx(30.1)


def test_a_cycle_over_two_hosts_is_found():
    hosts = gathered.Hosts(TIMEOUT_S)
    to_3, to_0 = ("MPI_Recv", 3, 5), ("MPI_Recv", 0, 5)
    told(hosts, 0.0, "n1", Rank(0, waited_s=31, message=to_3), late(1))
    told(hosts, 0.0, "n2", late(2), Rank(3, waited_s=31, message=to_0, process=9))
    [text] = said(hosts, 2.0)
    assert "a cycle: rank 0 (host n1, process 100) is in MPI_Recv from rank 3 (tag 5) at main (a.c:3); " in text
    assert text.endswith("rank 3 (host n2, process 9) is in MPI_Recv from rank 0 (tag 5) at main (a.c:3)")


def test_who_called_something_else_is_judged_by_the_ranks_of_all_hosts():
    """On the first host one rank called either, and each may be the odd one."""
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0), *waits(1, call="MPI_Barrier"))
    told(hosts, 0.0, "n2", *waits(2, 3, call="MPI_Barrier"))
    [text] = said(hosts, 2.0)
    assert text.endswith(
        "rank 0 (host n1, process 100) called MPI_Allreduce at main (a.c:3) where 3 ranks called MPI_Barrier"
    )


@pytest.mark.parametrize(("what", "named"), [({"root": 2}, "(root 2)"), ({"gives": 16}, "(16 bytes)")])
def test_ranks_of_another_host_with_another_root_or_size_are_named(what, named):
    hosts = gathered.Hosts(TIMEOUT_S)
    usual = {"call": "MPI_Bcast", "root": 0, "gives": 8}
    told(hosts, 0.0, "n1", *waits(0, 1, **usual))
    told(hosts, 0.0, "n2", *waits(2, **usual), *waits(3, **usual | what))
    [text] = said(hosts, 2.0)
    assert f"rank 3 (host n2, process 103) called MPI_Bcast {named} at " in text


def test_bytes_that_are_not_known_fit_to_any():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1))
    told(hosts, 0.0, "n2", *waits(2, gives=None), late(3))
    [text] = said(hosts, 2.0)
    assert " called " not in text
    assert "rank 3 (host n2, process 103) has not come" in text


def test_of_a_rank_counts_only_where_it_was_while_the_others_waited():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 100.0, "n2", late(2), late(3))
    told(hosts, 131.0, "n1", *waits(0, 1))
    [text] = said(hosts, 133.0)
    assert text.endswith("ranks 2 and 3 have told nothing meanwhile, or are in MPI_Init still")


def test_a_wait_that_its_host_has_not_told_of_again_is_not_said_again():
    hosts = gathered.Hosts(TIMEOUT_S)
    told(hosts, 0.0, "n1", *waits(0, 1))
    told(hosts, 0.0, "n2", late(2), late(3))
    assert len(said(hosts, 2.0)) == 1
    told(hosts, 25.0, "n2", late(2), late(3))
    assert said(hosts, 27.0) == []
    told(hosts, 30.0, "n1", *waits(0, 1, seconds=60))
    assert len(said(hosts, 32.0)) == 1


def test_rows_of_another_version_are_refused_and_so_are_others_that_cannot_be_read_once_each():
    hosts = gathered.Hosts(TIMEOUT_S)
    [other, *_] = lines("n1", *waits(0, 1), version=_native.ROWS_VERSION + 1)
    for wrong in (
        other,
        SealedLine("", "at 1 7 0"),
        SealedLine("", ""),
        SealedLine("", "rows x 0 1 0 1 h"),
        SealedLine("", "rows 1 0 1 z 1 h"),
    ):
        fresh = gathered.Hosts(TIMEOUT_S)
        assert fresh.add(wrong, 0.0) == "ranks tell what another version of tollbar has to read"
        assert fresh.add(wrong, 0.0) is None, "said once"
    damaged = dataclasses.replace(lines("n1", *waits(0), most=9999)[0])
    damaged = dataclasses.replace(damaged, facts=damaged.facts + " 0")
    assert hosts.add(damaged, 0.0) == "what ranks of a host tell cannot be read"
    for part in ("5 1", "-1 1", "0 0", "0 -3"):
        assert hosts.add(SealedLine("", f"rows {_native.ROWS_VERSION} 9 2 {part} h"), 0.0) is None
    told(hosts, 0.0, "n1", *waits(0, 1, 2), late(3))
    assert len(said(hosts, 0.0)) == 1, "and the rest goes on"


def test_lines_of_two_turns_are_not_mixed():
    hosts = gathered.Hosts(TIMEOUT_S)
    first, second = (lines("n1", *waits(0, 1, 2, seconds=s), late(3), turn=turn) for turn, s in ((1, 30), (2, 31)))
    for line in [*first[:2], *second]:
        assert hosts.add(line, 0.0) is None
    assert "has waited 31.0 s" in said(hosts, 0.0)[0]


def test_who_writes_without_end_uses_up_no_memory():
    hosts = gathered.Hosts(TIMEOUT_S)
    endless = f"rows {_native.ROWS_VERSION} 0 1 {{}} 99999 {'0 ' * 40_000}"
    refused = [hosts.add(SealedLine("", endless.format(part)), 0.0) for part in range(120)]
    assert [why for why in refused if why] == ["what ranks of a host tell cannot be read"]
    assert sum(len(text) for parts in hosts._parts.values() for text in parts.texts.values()) <= 9e6


def test_a_thousand_hosts_are_one_sentence():
    hosts = gathered.Hosts(TIMEOUT_S)
    for host in range(1000):
        ranks = waits(*range(4 * host, 4 * host + 4), size=4000)
        told(hosts, 0.0, f"n{host}", *(ranks if host != 700 else [*ranks[:3], late(2803, size=4000)]))
    [text] = said(hosts, 2.0)
    assert text.startswith("MPI_COMM_WORLD (4000 ranks), MPI_Allreduce 7 at main (a.c:3): rank 0 on n0 has waited ")
    assert ": rank 2803 (host n700, process 2903) has not come: it is outside the MPI, running" in text


@dataclasses.dataclass
class Found:
    """A conclusion as the native module gives it."""

    wait: str
    waited_s: float = 30.0
    named: list[int] = dataclasses.field(default_factory=lambda: [3])
    doing: str = "running"

    @property
    def about(self) -> str:
        return f"w (4 ranks), MPI_Bcast {self.wait}"

    @property
    def text(self) -> str:
        return f"{self.about} at x.c:1: rank 0 on n1 has waited {self.waited_s:.1f} s: rank 3 is {self.doing}"


def test_what_is_said_again_is_one_short_line():
    spoken = gathered.Spoken()
    first, second = Found("1"), Found("2", named=[])
    assert spoken.lines([first, second]) == [first.text, second.text]
    assert spoken.lines([]) == []
    assert spoken.lines([Found("1", 60.0), Found("2", 60.1, named=[])]) == [
        "as said, now for 60.1 s: w (4 ranks), MPI_Bcast 1: rank 3; w (4 ranks), MPI_Bcast 2"
    ]


def test_what_has_changed_is_said_whole():
    spoken = gathered.Spoken()
    spoken.lines([Found("1"), Found("2")])
    changed = Found("1", 60.0, doing="stopped")
    assert spoken.lines([changed, Found("2", 60.0)]) == [
        changed.text,
        "as said, now for 60.0 s: w (4 ranks), MPI_Bcast 2: rank 3",
    ]


def test_there_are_three_lines_at_most_and_each_wait_comes_to_be_said():
    spoken = gathered.Spoken()
    heard, short = set(), []
    for turn in range(1, 22):
        lines = spoken.lines([Found(str(wait), 30.0 * turn, [wait, wait + 1]) for wait in range(20)])
        assert 1 <= len(lines) <= 3
        heard |= {line.partition(" at x.c:1")[0] for line in lines if " at x.c:1: " in line}
        short.append(lines)
    assert len(heard) == 20
    assert short[0][2].startswith("besides, ranks wait in w (4 ranks), MPI_Bcast 2: ranks 2 and 3; ")
    assert short[0][2].endswith("; and 10 more")
    assert len(short[-1]) == 1
