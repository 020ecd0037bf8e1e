# SPDX-License-Identifier: Apache-2.0
"""Predictions of barriers from one measured point."""

import pytest
import replay_mpi as replay
import tollbar
from tollbar.data import places, results, samples
from tollbar_lab.models import prediction
from tollbar_lab.papers import stored

RANKS = (2, 4, 8, 16)
LOGP = tollbar.LogP(L=10e3, o=5e3, g=3e3)


@pytest.fixture
def one_host(tmp_path):
    """An MPI's measurements on one host, by ranks."""
    run = results.new_run(tmp_path, "mpi")
    results.write_environment(run, {"kind": "mpi", "usable": [0, 1], "seed": 1})
    for launch in range(2):
        for group, ranks in enumerate(RANKS):
            text = replay.ranks_launch(ranks, 1, launch, "none", "stock")
            results.write_launch(run, len(RANKS) * launch + group, "tollbar-bench-mpi", text)
    there = places.processes(samples.gather([results.read(run)]))
    return places.layouts(there)["Open MPI 4.1.4", "one host"]


def test_a_prediction_from_one_point_meets_what_follows_the_model(one_host):
    model = stored.model_of(one_host)
    for name in replay.PLANS:
        for ranks in RANKS:
            measured = one_host[ranks].time_ns(one_host[ranks].find(name, "messages"))
            assert model.predict(name, ranks) == pytest.approx(measured, rel=0.05), (name, ranks)


def test_two_rounds_of_dissemination_take_two_messages_on_the_longest_path():
    model = prediction.Model(LOGP)
    assert model.predict("dissemination", 4) == 40e3


def test_a_plan_that_is_none_has_no_prediction():
    assert prediction.Model(LOGP).predict("MPI_Barrier", 4) is None


def test_ranks_that_share_processors_take_turns_with_their_messages():
    crowded = prediction.Model(LOGP, processors=2)
    assert crowded.predict("central", 2) == prediction.Model(LOGP).predict("central", 2)
    assert crowded.predict("dissemination", 64) == 384 * 2 * 5e3 / 2
