# SPDX-License-Identifier: Apache-2.0
"""Whatever the package gives can be sent to another process and copied, or is refused in one line."""

from __future__ import annotations

import copy
import enum
import inspect
import multiprocessing
import pickle
import threading

import pytest
import tollbar
from seen import seen

PLAN = tollbar.plan("mcs:4,2", 8)
LOGP = tollbar.LogP(L=10, o=5, g=3)
#: One of each class that is a value.
VALUES = [
    PLAN,
    tollbar.plan("combination", 4),
    LOGP,
    tollbar.LogP(L=10, o=5, g=3, o_r=7),
    tollbar.catalogue()[2],
    tollbar.Receive.on_arrival,
    tollbar.InvalidArgument("plan 'x'"),
    tollbar.BarrierTimeout(0.5, 3, ("MainThread", "thread 7")),
    tollbar.verify(PLAN),
    tollbar.verify(tollbar.parse_plan("early", "0: !1\n1: ?0\n")),
    tollbar.price(PLAN, LOGP),
    tollbar.messages(PLAN, LOGP)[3],
]
#: Classes whose objects are of one process.
REFUSED = {"Barrier", "Group", "Participant"}


def test_every_public_class_is_a_value_or_is_refused():
    public = {name for name in tollbar.__all__ if inspect.isclass(getattr(tollbar, name))}
    assert public == {type(value).__name__ for value in VALUES} | REFUSED


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_the_same_after_it_was_sent_or_copied(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert seen(pickle.loads(pickle.dumps(value, protocol))) == seen(value)
    assert seen(copy.copy(value)) == seen(copy.deepcopy(value)) == seen(value)


@pytest.mark.parametrize("value", [tollbar.Group(2), tollbar.Group(2).join(0), tollbar.Barrier(2)])
def test_what_cannot_be_sent_is_refused_in_one_line(value):
    with pytest.raises(TypeError) as refused:
        pickle.dumps(value)
    assert len(str(refused.value).splitlines()) == 1


def times_out(parties: int) -> None:
    tollbar.Barrier(parties).wait(0.01)


def test_a_time_out_in_a_worker_arrives():
    with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(tollbar.BarrierTimeout) as failed:
        pool.apply_async(times_out, (3,)).get(60)
    assert (failed.value.parties, failed.value.present) == (3, ("MainThread",))
    assert isinstance(failed.value, threading.BrokenBarrierError)


def test_a_copy_is_the_same_barrier_and_a_deep_copy_is_none():
    barrier = tollbar.Barrier(1)
    assert copy.copy(barrier).wait() == 0
    assert copy.copy(barrier).parties == 1
    with pytest.raises(TypeError, match="is of one process"):
        copy.deepcopy(barrier)


@pytest.mark.parametrize("make", [tollbar.Barrier, tollbar.process_barrier])
@pytest.mark.parametrize("parties", [2.5, "2", None])
def test_a_number_of_parties_that_is_none_is_one_line(make, parties):
    with pytest.raises(TypeError, match=f"^parties is a whole number, not {parties!r}$"):
        make(parties)


def test_a_time_out_that_is_no_number_is_one_line():
    with pytest.raises(TypeError, match=r"^timeout is a number of seconds or None, not 'x'$"):
        tollbar.Barrier(2, timeout="x")
    with pytest.raises(TypeError, match=r"^timeout is a number of seconds or None, not 'x'$"):
        tollbar.Barrier(2).wait("x")


WRONG = {
    "tollbar.Group('3')": "Group() takes (ranks: int, plan: str = '', wait: str = 'auto'), not (str)",
    "tollbar.plan('mcs', '8')": "plan() takes (spelling: str, ranks: int) or "
    "(spelling: str, groups: Sequence[Sequence[int]]), not (str, str)",
    "tollbar.LogP('a', 2, g=3)": "LogP() takes (L: float, o: float, g: float, o_r: float | None = None), "
    "not (str, int, g: int)",
    "tollbar.price(PLAN, 3)": "price() takes (plan: Plan, logp: LogP, receive: Receive = Receive.at_await, "
    "late: Mapping[int, float] = {}), not (Plan, int)",
    "tollbar.verify('mcs')": "verify() takes (plan: Plan), not (str)",
    "PLAN.program(1.5)": "program() takes (member: int | str), not (float)",
    "tollbar.Group(2).join(0).arrive(1)": "arrive() takes (), not (int)",
    "tollbar.catalogue(1)": "catalogue() takes (), not (int)",
}


@pytest.mark.parametrize("call", WRONG)
def test_arguments_that_fit_no_signature_are_refused_in_one_line(call):
    with pytest.raises(TypeError) as refused:
        eval(call)
    assert str(refused.value) == WRONG[call]


def test_every_public_function_and_class_refuses_in_one_line_what_it_does_not_take():
    for name in tollbar.__all__:
        public = getattr(tollbar, name)
        if not callable(public) or (inspect.isclass(public) and issubclass(public, (Exception, enum.Enum))):
            continue
        with pytest.raises(TypeError) as refused:
            public(object(), nonsense=object())
        assert len(str(refused.value).splitlines()) == 1, (name, refused.value)
