# SPDX-License-Identifier: Apache-2.0
"""L, o and g from round trips whose times follow from known parameters."""

import json

import pytest
from tollbar.campaigns import logp as logp_measure
from tollbar.data import results

ENVIRONMENT = {"record": "environment", "ranks": 2, "placement": "pinned", "usable": 2}
MANY = 16
DELAY_NS = 2000.0


def trips(name, number, L, o, g, off=1.0):
    """What a program prints of a link with these parameters; `off` is the round's own speed."""
    path, occupied = 2 * o + L, max(o, g)
    times = {
        (1, False): 2 * path,
        (MANY, False): 2 * path + (MANY - 1) * occupied,
        (MANY, True): 2 * path + (MANY - 1) * (o + DELAY_NS),
    }
    for (messages, delayed), us in times.items():
        delays = [(MANY - 1) * DELAY_NS * off] * 3 if delayed else []
        values = [us * off, us * off, 50 * us]  # an interrupted batch
        yield {"record": "round_trips", "round": number, "name": name, "messages": messages,
               "trip_ns": values, "delays_ns": delays}  # fmt: skip


def lines(*links, rounds=3, off=1.0):
    records = [ENVIRONMENT]
    for number in range(rounds):
        records.append({"record": "floor", "round": number, "one_way_ns": 28.0, "yield_switch_ns": 1000.0,
                        "exchange_ns": 50.0})  # fmt: skip
        for name, *parameters in links:
            records += trips(name, number, *parameters, off=off)
    return "".join(json.dumps(record) + "\n" for record in [*records, {"record": "done"}])


@pytest.fixture
def measured(tmp_path):
    """Stores a measurement: measured("threads", ("words", L, o, g), ...) in ns; gives its folder."""

    def store(transport, *links, speeds=(1.0, 1.01, 0.99, 1.02, 0.98, 1.0)):
        run = results.new_run(tmp_path, f"logp-{transport}")
        results.write_environment(run, {"kind": f"logp-{transport}"})
        for group, off in enumerate(speeds):
            results.write_launch(run, group, "program", lines(*links, off=off))
        return run

    return store


def with_receiver(name, number, L, o_s, o_r, g):
    """The trips of a link whose overheads differ, and those in which the receiver is delayed."""
    path, occupied = o_s + L + o_r, max(o_s, o_r, g)
    delays = [(MANY - 1) * DELAY_NS] * 3
    for messages, further, delayed in (
        (1, 0, "nobody"),
        (MANY, occupied, "nobody"),
        (MANY, o_s + DELAY_NS, "sender"),
        (MANY, o_r + DELAY_NS, "receiver"),
    ):
        trip_ns = [2 * path + (messages - 1) * further] * 3
        yield {
            "record": "round_trips", "round": number, "name": name, "messages": messages,
            "delayed": delayed, "trip_ns": trip_ns,
            "delays_ns": delays if delayed in ("sender", "receiver") else [],
        }  # fmt: skip


@pytest.mark.parametrize(("L", "o_s", "o_r", "g"), [(10_000, 5_000, 2_000, 3_000), (0, 1_000, 4_000, 9_000)])
def test_two_overheads_come_out_apart(tmp_path, L, o_s, o_r, g):
    run = results.new_run(tmp_path, "logp-threads")
    results.write_environment(run, {"kind": "logp-threads"})
    records = [ENVIRONMENT, *with_receiver("words", 0, L, o_s, o_r, g), {"record": "done"}]
    results.write_launch(run, 0, "program", "".join(json.dumps(record) + "\n" for record in records))
    (link,) = logp_measure.links(results.read(run))
    found = (link.L.value, link.o.value, link.o_r.value, link.g.value)
    assert found == pytest.approx((L / 1e3, o_s / 1e3, o_r / 1e3, max(o_s, o_r, g) / 1e3))
    assert (link.logp.o_s, link.logp.o_r) == pytest.approx((o_s / 1e3, o_r / 1e3))
    assert link.logp.path_us == pytest.approx(link.path.value)


@pytest.mark.parametrize(("L", "o", "g"), [(10_000, 5_000, 3_000), (20_000, 1_000, 8_000), (40, 0, 6)])
def test_the_parameters_from_which_the_trips_were_made_come_out(measured, L, o, g):
    (link,) = logp_measure.links(results.read(measured("threads", ("words", L, o, g))))
    assert link.L.value == pytest.approx(L / 1e3)
    assert link.o.value == pytest.approx(o / 1e3)
    assert link.g.value == pytest.approx(max(o, g) / 1e3)
    assert link.path.value == pytest.approx((2 * o + L) / 1e3)
    assert link.floor.value == pytest.approx(0.028)


def test_intervals_hold_the_truth_and_follow_the_launches(measured):
    run = measured("threads", ("words", 10_000, 5_000, 3_000))
    (link,) = logp_measure.links(results.read(run))
    for found, truth in ((link.L, 10), (link.o, 5), (link.g, 5), (link.path, 20)):
        assert found.low < truth < found.high
        assert found.count == 6
    assert (link.path.low, link.path.high) == pytest.approx((0.98 * 20, 1.02 * 20))


def test_few_launches_give_no_interval(measured):
    run = measured("threads", ("words", 10_000, 5_000, 3_000), speeds=(1.0, 1.1))
    (link,) = logp_measure.links(results.read(run))
    assert (link.L.low, link.L.high, link.o.low) == (None, None, None)


def test_what_hides_behind_the_delay_takes_no_less_than_no_time_and_the_path_stays(measured):
    (link,) = logp_measure.links(results.read(measured("threads", ("words", 60, -3, 6))))
    assert (link.o.value, link.o.low) == (0, 0)
    assert link.logp.L + 2 * link.logp.o == pytest.approx(link.path.value)


def test_an_overhead_above_half_the_path_leaves_the_path_as_measured(measured):
    (link,) = logp_measure.links(results.read(measured("threads", ("words", -100, 400, 300))))
    assert link.L.value == 0
    assert 2 * link.logp.o + link.logp.L == pytest.approx(0.7)


def test_the_messages_of_an_mpi_are_taken_unless_its_words_are_asked_for(measured, tmp_path):
    measured("mpi", ("words", 40, 0, 6), ("messages", 300, 50, 80))
    assert logp_measure.stored("mpi", tmp_path).logp.g == pytest.approx(0.08)
    assert logp_measure.stored("mpi:words", tmp_path).logp.g == pytest.approx(0.006)


def test_of_several_programs_one_must_be_named(measured, tmp_path):
    run = measured("mpi", ("words", 40, 0, 6), ("messages", 300, 50, 80))
    results.write_launch(run, 0, "mpich-4.0.2", lines(("words", 40, 0, 6), ("messages", 700, 90, 100)))
    assert logp_measure.stored("mpi:mpich", tmp_path).logp.g == pytest.approx(0.1)
    assert logp_measure.stored("mpi:mpich:words", tmp_path).logp.g == pytest.approx(0.006)
    with pytest.raises(ValueError, match="'mpi' is several of what is stored"):
        logp_measure.stored("mpi", tmp_path)


@pytest.mark.parametrize(
    ("spelling", "why"),
    [
        ("threads", "nothing is stored of 'threads'; `tollbar logp measure threads` measures it"),
        ("mpi:cards", "'mpi:cards' is none of what is stored: mpi:program:messages, mpi:program:words"),
    ],
)
def test_what_is_not_stored_is_refused_with_the_way_to_it(measured, tmp_path, spelling, why):
    measured("mpi", ("words", 40, 0, 6), ("messages", 300, 50, 80))
    with pytest.raises(ValueError, match=why):
        logp_measure.stored(spelling, tmp_path)
