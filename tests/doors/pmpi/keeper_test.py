# SPDX-License-Identifier: Apache-2.0
"""A rank asks the keeper of its `tollbar run`: it believes no other one, and has the answer that all others have, or
says that it has lost its keeper."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import keeper

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 60  # a rank that has not learned anything by then hangs; nothing else depends on it
LONG_MS = 50_000


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Ranks may be slow to start beside load."""
    monkeypatch.setattr(keeper, "PATIENCE_S", LIMIT_S)


@pytest.fixture(scope="module")
def rank_program(tmp_path_factory) -> Path:
    if shutil.which("gcc") is None:
        left_out("gcc is not installed")
    made = tmp_path_factory.mktemp("keeper") / "rank"
    sources = [Path(__file__).with_name("keeper_rank.c"), ROOT / "src" / "doors" / "pmpi" / "keeper.c"]
    command = ["gcc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'src'}", *sources, "-o", made]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def ask(rank_program):
    """ask(value, rank) -> the process, whose output is what it has learned."""
    running = []

    def start(value: str, rank: int, ranks: int = 2, library: str = "x", limit_ms: int = LONG_MS) -> subprocess.Popen:
        words = [rank_program, value, str(rank), str(ranks), library, str(limit_ms)]
        running.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def learned(*processes: subprocess.Popen) -> list[str]:
    return [process.communicate(timeout=LIMIT_S)[0].strip() for process in processes]


@contextlib.contextmanager
def between(value: str, answers_kept_back: int) -> Iterator[tuple[str, list[bytes]]]:
    """Stands between ranks and a port: of so many connections, it closes the rank's end in place of the last line.
    Gives the value for the ranks, and the lines that they have said."""
    secret, port = value.split(":")
    kept_back = [answers_kept_back]
    said: list[bytes] = []

    def pass_on(rank: socket.socket) -> None:
        with rank, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(port))) as to:
            for is_last in (False, True):
                line = rank.makefile("rb").readline()
                said.append(line)
                to.sendall(line)
                answer = to.makefile("rb").readline()
                if is_last and kept_back[0]:
                    kept_back[0] -= 1
                    return
                rank.sendall(answer)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                rank, _ = listening.accept()
                threading.Thread(target=pass_on, args=(rank,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"{secret}:{listening.getsockname()[1]}", said
        listening.shutdown(socket.SHUT_RDWR)


def test_all_ranks_learn_that_all_are_here(ask):
    with keeper.Keeper() as kept:
        assert learned(*[ask(kept.value, rank, ranks=5) for rank in range(5)]) == ["yes"] * 5


def test_no_rank_serves_where_one_does_not_come(ask, monkeypatch):
    monkeypatch.setattr(keeper, "PATIENCE_S", 0.5)
    with keeper.Keeper() as kept:
        assert learned(ask(kept.value, 0, ranks=3), ask(kept.value, 2, ranks=3)) == ["no", "no"]


@pytest.mark.parametrize("library", ["other", keeper.NONE])
def test_no_rank_serves_where_one_has_another_library_or_none(ask, library):
    with keeper.Keeper() as kept:
        assert learned(ask(kept.value, 0), ask(kept.value, 1, library=library)) == ["no", "no"]


def test_a_rank_whose_answer_is_lost_asks_again_and_gets_the_same(ask):
    with keeper.Keeper() as kept, between(kept.value, answers_kept_back=3) as (value, said):
        assert learned(ask(value, 0), ask(kept.value, 1)) == ["yes", "yes"]
        assert len([line for line in said if line.startswith(b"here ")]) == 4


def test_a_rank_that_has_said_that_it_is_here_and_loses_its_keeper_says_so(ask):
    with keeper.Keeper() as kept, between(kept.value, answers_kept_back=1000) as (value, _):
        assert learned(ask(value, 0, limit_ms=1500), ask(kept.value, 1)) == ["lost", "yes"]


def test_where_nobody_listens_the_answer_is_no_at_once(ask):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert learned(ask(f"{'0' * 32}:{port}", 0)) == ["no"]


def test_a_rank_says_nothing_to_who_has_not_the_secret(ask):
    with keeper.Keeper() as kept, between(kept.value, answers_kept_back=0) as (value, said):
        another = "1" * 32 + value[32:]
        assert learned(ask(another, 0)) == ["no"]
        assert [line[:4] for line in said if line] == [b"ask "]


@pytest.mark.parametrize("value", ["", "x", "0" * 32, f"{'0' * 32}:", f"{'g' * 32}:1", f"{'0' * 32}:99999", ":1"])
def test_a_value_that_no_run_has_made_is_no_keeper(ask, value):
    assert learned(ask(value, 0)) == ["no"]


def test_forty_ranks_ask_at_once(ask):
    with keeper.Keeper() as kept:
        assert learned(*[ask(kept.value, rank, ranks=40) for rank in range(40)]) == ["yes"] * 40
