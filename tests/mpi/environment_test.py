# SPDX-License-Identifier: Apache-2.0
"""TOLLBAR_ variables mean the same at every door of an MPI: a line for unknown values, none for others."""

import pytest

#: Variable: a value, one that is not accepted, and what is then said.
VALUES = {
    "TOLLBAR_WAIT": ("yield", "never", "auto, spin, yield, park; using the default, auto"),
    "TOLLBAR_TIMEOUT": ("30", "abc", "seconds, 0 or more (0: never); using the default, 0"),
    "TOLLBAR_VERBOSE": ("0", "loud", "0, 1, 2; using the default, 0"),
    "TOLLBAR_NETWORK": ("p2p", "fast", "auto, p2p, nic; using the default, auto"),
}


@pytest.fixture(params=["late_rank", "combined"])
def lines_with(request, run, door):
    """What tollbar says when a program of the door runs with these variables."""
    if request.param == "combined" and door.name == "component":
        pytest.skip("threads inside ranks come with the preloads")
    words = ("3", "") if request.param == "late_rank" else ()

    def lines_with(variables: dict[str, str]) -> list[str]:
        return run(door, 3, request.param, *words, **variables).lines_of_tollbar()

    return lines_with


def test_good_values_and_empty_ones_go_without_a_word(lines_with):
    assert lines_with({"TOLLBAR_PLAN": "mcs", **{name: values[0] for name, values in VALUES.items()}}) == []
    assert lines_with({"TOLLBAR_PLAN": "", **dict.fromkeys(VALUES, "")}) == []


def test_each_unknown_value_is_one_line_of_the_job_and_the_default_counts(lines_with):
    wrong = {name: values[1] for name, values in VALUES.items()}
    lines = lines_with({"TOLLBAR_PLAN": "fastest", **wrong})
    told = {f"tollbar: {name} is '{value}'; accepted: {rest}" for name, (_, value, rest) in VALUES.items()}
    (plan,) = set(lines) - told
    assert sorted(lines) == sorted([*told, plan])
    assert plan.startswith("tollbar: TOLLBAR_PLAN is 'fastest': ")
    assert plan.endswith("; using the default, tollbar's own choice")


@pytest.mark.parametrize(("level", "said"), [("0", False), ("1", True)])
def test_what_is_chosen_is_announced_from_level_1_on(run, door, level, said):
    lines = run(door, 3, "late_rank", "3", "", TOLLBAR_VERBOSE=level, TOLLBAR_PLAN="bst").lines_of_tollbar()
    assert any(line.endswith("(3 ranks): bst") for line in lines) is said


def test_who_is_missing_is_reported_where_the_variable_says(start, door, tmp_path):
    file = tmp_path / "reports"
    variables = {"TOLLBAR_TIMEOUT": "0.1", "TOLLBAR_REPORT": str(file)}
    job = start(door, 5, "missing", "barrier", "loop", **variables)
    job.await_that(lambda: job.told() == 1, "the rank stays away")
    job.await_that(lambda: file.exists() and "the solvers" in file.read_text(), "a report in the file")
    job.tell(1)
    outcome = job.finish()
    assert (outcome.code, outcome.lines_of_tollbar()) == (0, []), outcome.said
