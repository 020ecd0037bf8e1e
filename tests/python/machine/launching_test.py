# SPDX-License-Identifier: Apache-2.0
"""What an Open MPI will refuse is known before it is started, and nothing is said where it will not."""

import pytest
from tollbar.machine import launching

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def test_as_root_the_option_and_the_variables_are_named():
    said = launching.refused_as_root(["-n", "2", "./program"], {}, 0)
    assert "--allow-run-as-root" in said
    assert all(name in said for name in ROOT)


def test_who_is_allowed_to_be_root_or_is_not_root_is_left_alone():
    assert launching.refused_as_root(["--allow-run-as-root", "-n", "2"], {}, 0) is None
    assert launching.refused_as_root([], ROOT, 0) is None
    assert launching.refused_as_root([], {}, 1000) is None


def test_one_variable_of_two_does_not_allow_root():
    assert launching.refused_as_root([], {"OMPI_ALLOW_RUN_AS_ROOT": "1"}, 0) is not None


@pytest.mark.parametrize("option", ["-n", "-np", "--np"])
def test_more_ranks_than_cores_are_told_with_the_option(option):
    said = launching.too_few_slots([option, "4", "./program"], {}, 2)
    assert "there are 2 for 4 ranks" in said
    assert "--oversubscribe" in said


@pytest.mark.parametrize(
    "options",
    [
        ["-n", "2"],
        ["./program", "4"],
        ["--oversubscribe", "-n", "4"],
        ["--map-by", "slot:OVERSUBSCRIBE", "-n", "4"],
        ["--use-hwthread-cpus", "-n", "4"],
        ["--host", "one:4", "-n", "4"],
        ["true", "-n", "4"],
        ["--hostfile", "hosts", "-n", "4"],
        ["-n", "4", "./one", ":", "-n", "4", "./other"],
    ],
)
def test_where_ranks_fit_or_slots_are_told_nothing_is_said(options):
    assert launching.too_few_slots(options, {}, 2) is None


@pytest.mark.parametrize("name", ["OMPI_MCA_rmaps_base_oversubscribe", "SLURM_JOB_ID", "PBS_JOBID"])
def test_a_scheduler_or_a_setting_knows_better(name):
    assert launching.too_few_slots(["-n", "4"], {name: "1"}, 2) is None


def test_cores_are_counted_or_unknown():
    assert launching.usable_cores() >= 0
    assert launching.too_few_slots(["-n", "4"], {}, 0) is None
