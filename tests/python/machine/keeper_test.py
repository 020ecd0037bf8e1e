# SPDX-License-Identifier: Apache-2.0
"""The keeper of a run: no rank of a world gets another answer than the others, whoever else speaks to it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading

import pytest
from tollbar import _native
from tollbar.machine import commands, keeper, mpis, slurm
from tollbar.machine.keeper import Arrival, Roll

LIMIT_S = 60


class Rank:
    """A rank's side of a conversation."""

    def __init__(self, kept: keeper.Keeper, nonce: int = 1) -> None:
        secret, port = kept.value.split(":")
        self.key = int(secret[:16], 16), int(secret[16:], 16)
        self.nonce = f"{nonce:016x}"
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=LIMIT_S)
        self.lines = self.socket.makefile("rb")

    def seal(self, text: str) -> str:
        return f"{_native.siphash(self.key, text.encode()):016x}"

    def hear(self) -> str:
        """The next line; empty where the keeper has ended the conversation."""
        try:
            return self.lines.readline().decode().strip()
        except ConnectionError:
            return ""

    def send(self, text: str) -> None:
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(text.encode())

    def ask(self) -> str:
        """Gives the challenge."""
        self.send(f"ask 1 {self.nonce}\n")
        word, version, challenge, seal = self.hear().split()
        assert (word, version, seal) == ("keeper", "1", self.seal(f"keeper 1 {challenge} {self.nonce}"))
        return challenge

    def here(self, rank: int, ranks: int, step: str = "1.0", library: str = "x") -> Rank:
        challenge = self.ask()
        text = f"here 1 {challenge} {self.nonce} {step} {rank} {ranks} {library}"
        self.send(f"{text} {self.seal(text)}\n")
        self.challenge = challenge
        return self

    def answer(self) -> str:
        word, _, seal = self.hear().partition(" ")
        assert seal == self.seal(f"{word} {self.challenge} {self.nonce}")
        return word


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(keeper, "PATIENCE_S", LIMIT_S)
    with keeper.Keeper() as made:
        yield made


def here(rank: int, ranks: int = 2, step: str = "1.0", nonce: str = "", library: str = "x") -> Arrival:
    return Arrival(step, rank, ranks, nonce or f"of {rank}", library)


def test_the_answer_is_yes_once_all_ranks_have_come():
    roll = Roll()
    assert [roll.hear(here(rank, 3), 0) for rank in (2, 0, 1)] == [None, None, True]
    assert roll.answer(here(2, 3)) is True


def test_a_rank_that_asks_again_gets_the_same_answer():
    roll = Roll()
    assert roll.hear(here(0), 0) is None
    assert roll.hear(here(0), 1) is None
    assert roll.hear(here(1), 2) is True
    assert roll.hear(here(0), 300) is True


def test_a_world_that_waits_for_too_long_gets_no_and_so_does_the_rank_that_comes_later():
    roll = Roll()
    roll.hear(here(0), 0)
    roll.expire(keeper.PATIENCE_S)
    assert roll.answer(here(0)) is None
    roll.expire(keeper.PATIENCE_S + 1)
    assert [roll.answer(here(0)), roll.hear(here(1), 10), roll.hear(here(0), 11)] == [False] * 3


def test_ranks_that_keep_coming_are_awaited_for_longer_and_not_for_ever():
    roll = Roll()
    for rank in range(100):
        roll.hear(here(rank, 1000), rank)
        roll.expire(rank)
    assert roll.answer(here(0, 1000)) is False
    assert keeper.MOST_S > keeper.PATIENCE_S


def test_two_processes_that_say_that_they_are_one_rank_have_the_world_refused():
    roll = Roll()
    assert roll.hear(here(0), 0) is None
    assert roll.hear(here(0, nonce="of a liar"), 0) is False
    assert [roll.hear(here(0), 0), roll.hear(here(1), 0)] == [False, False]


def test_another_program_of_the_same_step_gets_no_and_the_first_one_keeps_its_yes():
    roll = Roll()
    assert [roll.hear(here(rank), 0) for rank in (0, 1)] == [None, True]
    assert [roll.hear(here(rank, nonce="of the next"), 1) for rank in (0, 1)] == [False, False]
    assert roll.hear(here(0), 2) is True


def test_steps_and_sizes_are_not_mixed():
    roll = Roll()
    assert roll.hear(here(0, step="1.0"), 0) is None
    assert roll.hear(here(1, step="1.1"), 0) is None
    assert roll.hear(here(1, ranks=3), 0) is None
    assert roll.hear(here(1, step="1.0"), 0) is True
    assert roll.hear(here(0, step="1.1"), 0) is True


@pytest.mark.parametrize("other", [here(1, library="y"), here(1, library=keeper.NONE), here(2), here(7)])
def test_another_library_none_and_a_number_that_no_rank_has_are_no_at_once(other):
    roll = Roll()
    roll.hear(here(0), 0)
    assert roll.hear(other, 0) is False
    assert roll.answer(here(0)) is False


def test_ranks_learn_by_their_connections(kept):
    ranks = [Rank(kept, nonce).here(nonce, 3) for nonce in range(3)]
    assert [rank.answer() for rank in ranks] == ["yes"] * 3
    assert Rank(kept, 2).here(2, 3).answer() == "yes"
    assert Rank(kept, 9).here(2, 3).answer() == "no"


def test_a_seal_of_another_secret_or_of_another_conversation_is_refused(kept):
    liar = Rank(kept)
    liar.key = (1, 2)
    challenge = Rank(kept).ask()
    liar.send(f"ask 1 {liar.nonce}\n")
    heard = liar.hear().split()[2]
    text = f"here 1 {heard} {liar.nonce} 1.0 0 1 x"
    liar.send(f"{text} {liar.seal(text)}\n")
    assert liar.hear() == ""
    again = Rank(kept)
    again.ask()
    text = f"here 1 {challenge} {again.nonce} 1.0 0 1 x"  # sealed for another conversation
    again.send(f"{text} {again.seal(text)}\n")
    assert again.hear() == ""
    assert Rank(kept).here(0, 1).answer() == "yes"  # neither has been heard


@pytest.mark.parametrize("line", [
    "ask 2 0000000000000001\n", "ask 1 1\n", "GET / HTTP/1.1\r\n\r\n", "here 1\n", "\n", "\0" * 5000, "x" * 5000,
    "ask 1 0000000000000001\nask 1 0000000000000001\n", "\xff\xfe\n",
])  # fmt: skip
def test_what_is_no_line_of_this_version_ends_the_conversation(kept, line):
    stranger = Rank(kept)
    stranger.send(line)
    assert stranger.hear() == ""
    assert Rank(kept).here(0, 1).answer() == "yes"


@pytest.mark.parametrize("what", ["1.0 0 0 x", "1.0 -1 2 x", "1.0 0 99999999 x", "1.0 0 2", "1.0 a 2 x"])
def test_a_rank_that_says_no_world_is_refused(kept, what):
    rank = Rank(kept)
    text = f"here 1 {rank.ask()} {rank.nonce} {what}"
    rank.send(f"{text} {rank.seal(text)}\n")
    assert rank.hear() == ""


def test_ranks_are_heard_beside_a_flood(kept):
    strangers = [Rank(kept) for _ in range(450)]
    for stranger in strangers:
        stranger.send("ask")
    ranks = [Rank(kept, nonce).here(nonce, 4) for nonce in range(4)]
    assert [rank.answer() for rank in ranks] == ["yes"] * 4
    for stranger in strangers:
        stranger.socket.close()


def test_ranks_for_which_there_is_no_room_are_told_to_come_again(kept, monkeypatch):
    monkeypatch.setattr(keeper, "_MOST_CONNECTIONS", 8)
    ranks = [Rank(kept, nonce).here(nonce, 10) for nonce in range(9)]
    told = [rank.answer() for rank in ranks[4:]]
    assert set(told) == {"wait"}
    last = Rank(kept, 9).here(9, 10)
    assert [rank.answer() for rank in (last, *ranks[:4])] == ["yes"] * 5
    assert Rank(kept, 8).here(8, 10).answer() == "yes"


def test_who_says_nothing_is_not_listened_to_for_long(kept, monkeypatch):
    monkeypatch.setattr(keeper, "_SPOKEN_S", 0.2)
    assert Rank(kept).hear() == ""


def test_what_is_for_later_is_called_once():
    called = threading.Semaphore(0)
    kept = keeper.Keeper()
    kept.call_later(0.1, called.release)
    with kept:
        assert called.acquire(timeout=LIMIT_S)
        assert not called.acquire(timeout=0.5)


@pytest.mark.parametrize(("words", "variables", "expected"), [
    (["srun", "-n4", "./program"], {}, True),
    (["srun", "-n4", "./program"], {keeper.Keeper.VARIABLE: "of a run around this one"}, False),
    (["sh", "-c", "srun ./program"], {}, True),
    (["./linked"], {}, False),
    (["./script"], {"PMIX_NAMESPACE": "slurm.pmix.1.0"}, False),
    (["./script"], {"PMI_JOBID": "1.0", "SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0"}, False),
    (["./script"], {"SLURM_JOB_ID": "1", "SLURM_PROCID": "0"}, True),
    (["srun", "./program"], {"PMIX_NAMESPACE": "slurm.pmix.1.interactive"}, True),
    (["mpirun", "./program"], {}, False),
])  # fmt: skip
def test_a_keeper_is_for_what_srun_starts(monkeypatch, words, variables, expected):
    monkeypatch.setattr(slurm, "is_here", lambda: True)
    monkeypatch.setattr(mpis, "interface_of", lambda word: "openmpi" if word == "./linked" else None)
    mpi = mpis.Mpi("openmpi", "4.1.4", None) if words[0] == "mpirun" else None
    assert keeper.is_wanted(commands.parse(words), mpi, variables) is expected
    monkeypatch.setattr(slurm, "is_here", lambda: False)
    assert keeper.is_wanted(commands.parse(words), mpi, variables) is (expected and words[0] == "srun")


def test_the_command_runs_as_it_would_without_a_keeper():
    code = "import os, sys; print(len(os.environ['_TOLLBAR_KEEPER'].split(':')[0])); sys.exit(7)"
    script = (
        "import sys; from tollbar.machine import child, keeper; kept = keeper.Keeper();"
        "child.end_as(keeper.run(sys.argv[1:], {kept.VARIABLE: kept.value}, kept))"
    )
    words = [sys.executable, "-c", script, sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=dict(os.environ))
    assert (done.returncode, done.stdout, done.stderr) == (7, "32\n", "")
