# SPDX-License-Identifier: Apache-2.0
"""Whatever looks have seen, something is concluded without an error, and rows that contradict accuse nobody."""

from __future__ import annotations

import random

import pytest
from sights import GOMP, MAIN, THREAD, barrier, thread
from tollbar.cli import who
from tollbar.look import conclusions, hangs, helper, processes, sight

KINDS = (
    "pthread_barrier_t", "pthread_barrier_t (tollbar)", "std::barrier (libstdc++)", "std::barrier (libc++)",
    "boost::barrier", "OpenMP barrier (libgomp)", "OpenMP barrier (tollbar)", "tollbar::barrier", "tollbar.Barrier",
    "tollbar.process_barrier",
)  # fmt: skip
SYMBOLS = (
    "", "worker", "late", "main", "libc.so.6:pthread_barrier_wait", "libc.so.6:sleep", "libc.so.6:syscall",
    "libgomp.so.1:", "libgomp.so.1:GOMP_parallel", "f._omp_fn.0", "libomp.so.5:__kmpc_barrier",
    "libomp.so.5:__kmpc_fork_call", "libomp.so.5:__kmp_invoke_microtask", "Barrier.wait", "Thread.join",
    "libmpi.so.40:PMPI_Allreduce", "libmpi.so.40:PMPI_Init", "libc.so.6:__pthread_clockjoin_ex",
    "std::thread::_State_impl<std::thread::_Invoker<std::tuple<(lambda)> > >::_M_run", "void go<std::barrier<> >(",
    "operator<", "a->b", "(", ">>", "tollbar::detail::wait<>", "libstdc++.so.6:execute_native_thread_routine",
)  # fmt: skip
SEEDS = range(400)


def a_thread(chance: random.Random, number: int) -> dict:
    end = chance.choice([THREAD, MAIN, (), (*GOMP, *THREAD)])
    named = [*chance.choices(SYMBOLS, k=chance.randrange(4)), *end]
    at = None
    if chance.random() < 0.6:
        key = chance.choice(["1:4096", "08:01:99:64", "k"])
        at = barrier(chance.choice(KINDS), chance.randrange(-1, 6), chance.randrange(0, 6), key, chance.randrange(3))
    made = thread(number, *named, at=at, runs=chance.random() < 0.2, switches=chance.randrange(2))
    made |= {"state": chance.choice("RSDTtZ"), "complete": chance.random() < 0.8}
    made |= {"call": chance.choice([made["call"], -3, -1, 35, 61, 230, 0]), "name": chance.choice(["a.out", "", "x y"])}
    made["asleep_ms"] = chance.choice([None, 0.0, 500.0])
    return made


def a_member(chance: random.Random) -> dict:
    state = chance.choice(["never joined", "left", "running", "dead"])
    return {"rank": chance.randrange(4), "state": state, "process": chance.choice([-1, 0, 1, 2]),
            "thread": chance.randrange(12), "behind": chance.randrange(3)}  # fmt: skip


def a_look(chance: random.Random) -> dict:
    groups = [
        {"name": chance.choice(["", "solver"]), "plan": "mcs", "ranks": 4, "episode": chance.randrange(3),
         "sentence": chance.choice(["", "rank 2 has not arrived"]),
         "missing": [a_member(chance) for _ in range(chance.randrange(3))],
         "arrived": [a_member(chance) for _ in range(chance.randrange(3))]}
        for _ in range(chance.randrange(2))
    ]  # fmt: skip
    return {
        "processes": [
            {"process": process, "threads": [a_thread(chance, 10 * process + n) for n in range(chance.randrange(5))]}
            for process in (1, 2)[: chance.randrange(1, 3)]
        ],
        "groups": groups,
    }


def a_document(seed: int) -> dict:
    chance = random.Random(seed)
    first = a_look(chance)
    return {"looks": chance.choice([[first, first], [first, a_look(chance)], [first]])}


@pytest.fixture
def table_of(monkeypatch):
    there = {number: processes.Process(number, 0, "a.out", ("./a.out",)) for number in (1, 2)}
    ranks = {1: (0, 2), 2: (1, 2)}
    monkeypatch.setattr(processes, "everything", lambda: there)
    monkeypatch.setattr(processes, "refusal", lambda number: None)

    def conclude(document: dict, *, job: bool):
        monkeypatch.setattr(helper, "look", lambda *_: document)
        monkeypatch.setattr(processes, "ranks", lambda numbers, there: ranks if job else {})
        return who.look(["1"])

    return conclude


@pytest.mark.parametrize("job", [False, True])
def test_any_rows_lead_to_a_table(table_of, job):
    for seed in SEEDS:
        document = a_document(seed)
        if not any(process["threads"] for process in document["looks"][-1]["processes"]):
            continue
        table = table_of(document, job=job)
        assert (table.failed and table.unknown) is False, seed
        assert table.notes, seed
        assert table.failed or not any(row.part in ("missing", "guess") for row in table.rows), seed


def test_a_thread_that_waits_is_missing_nowhere():
    for seed in SEEDS:
        seen = sight.read(a_document(seed))
        for one in conclusions.conclude(seen.threads):
            accused = {thread.thread for thread in one.missing}
            assert not accused & {thread.thread for thread in one.waiting}, seed


def test_barriers_whose_rows_contradict_accuse_nobody():
    """More have arrived than are expected, or the rows of one barrier differ."""
    for seed in SEEDS:
        seen = sight.read(a_document(seed))
        for one in conclusions.conclude(seen.threads):
            rows = [thread.barrier for thread in one.waiting if thread.barrier and thread.barrier.at == 4096]
            if rows and one.what.endswith(f"at {4096:#x}") and one.missing:
                assert len({(row.kind, row.arrived, row.expected, row.round) for row in rows}) == 1, seed
                assert 0 < one.arrived < one.expected, seed


def test_any_two_looks_are_judged_without_an_error():
    for seed in SEEDS:
        chance = random.Random(seed)
        looks = hangs.Looks(by_launcher=chance.random() < 0.3)
        for _ in range(3):
            looks.add({"looks": [a_look(chance)]}, {1: (0, 2)} if chance.random() < 0.5 else {}, {})
