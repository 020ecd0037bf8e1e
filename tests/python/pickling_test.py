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

PLAN = tollbar.plan("mcs:4,2", 8)
#: One of each class that is a value.
VALUES = [
    PLAN,
    tollbar.plan("combination", 4),
    tollbar.LogP(L=10, o=5, g=3),
    tollbar.LogP(L=10, o=5, g=3, o_r=7),
    tollbar.catalogue()[2],
    tollbar.nic_parts("lanai4.3"),
    tollbar.cores_machine("epyc").changed(name="mine", numbers={"busy": 0.25}),
    tollbar.Receive.on_arrival,
    tollbar.InvalidArgument("plan 'x'"),
    tollbar.BarrierTimeout(0.5, 3, ("MainThread", "thread 7")),
]
#: Classes whose objects are of one process, or are what a computation gave.
REFUSED = {
    "Barrier", "Group", "Participant", "Verdict", "Price", "Message", "ClosedForm", "CoresOutcome", "NicOutcome",
    "NicSpan", "SchedulerApplication", "SchedulerCompletion", "SchedulerOutcome", "SchedulerSpan",
}  # fmt: skip


def seen(value: object) -> dict[str, object]:
    """All that can be asked of it without arguments."""
    if isinstance(value, enum.Enum):
        return {"itself": value}
    names = [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name))]
    shown = {name: getattr(value, name) for name in names if name != "__traceback__"}
    return shown | (
        {"args": value.args, "text": str(value)}
        if isinstance(value, BaseException)
        else {"repr": repr(value).partition(" object at ")[0]}
    )


def test_every_public_class_is_a_value_or_is_refused():
    public = {name for name in tollbar.__all__ if inspect.isclass(getattr(tollbar, name))}
    assert public == {type(value).__name__ for value in VALUES} | REFUSED


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_the_same_after_it_was_sent_or_copied(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert seen(pickle.loads(pickle.dumps(value, protocol))) == seen(value)
    assert seen(copy.copy(value)) == seen(copy.deepcopy(value)) == seen(value)


@pytest.mark.parametrize("value", [tollbar.Group(2), tollbar.verify(PLAN), tollbar.Barrier(2)])
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
