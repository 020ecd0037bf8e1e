# SPDX-License-Identifier: Apache-2.0
"""TOLLBAR_ variables: what is accepted, and one line for what is not."""

import io

import pytest
from tollbar import environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOLLBAR_PLAN", "mcs:4,2"),
        ("TOLLBAR_PLAN", "central@4/dissemination"),
        ("TOLLBAR_PLAN", "turnstile"),
        ("TOLLBAR_PLAN", "turnstile/dissemination:2"),
        ("TOLLBAR_PLAN", "turnstile/card"),
        ("TOLLBAR_PLAN", "turnstile/card:gather"),
        ("TOLLBAR_PLAN", "central@4/card:mcs:4,2"),
        ("TOLLBAR_NETWORK", "nic"),
        ("TOLLBAR_PLAN", "combination"),
        ("TOLLBAR_PLAN", "combination:2"),
        ("TOLLBAR_WAIT", "park"),
        ("TOLLBAR_TIMEOUT", "0.5"),
        ("TOLLBAR_REPORT", "-"),
        ("TOLLBAR_WAIT", ""),
    ],
)
def test_accepted_values_are_taken_in_silence(name, value):
    assert environment.complaints({name: value}) == []
    assert environment.value(name, {name: value}) == (value or None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOLLBAR_PLAN", "mcs:1"),
        ("TOLLBAR_PLAN", "turnstile:2"),
        ("TOLLBAR_PLAN", "turnstile/turnstile"),
        ("TOLLBAR_PLAN", "turnstile/card:nowhere"),
        ("TOLLBAR_PLAN", "turnstile/cards"),
        ("TOLLBAR_NETWORK", "fast"),
        ("TOLLBAR_PLAN", "combination:0"),
        ("TOLLBAR_PLAN", "combination:"),
        ("TOLLBAR_WAIT", "PARK"),
        ("TOLLBAR_TIMEOUT", "-1"),
        ("TOLLBAR_TIMEOUT", "soon"),
        ("TOLLBAR_TIMEOUT", "nan"),
    ],
)
def test_other_values_are_named_and_the_default_is_taken(name, value):
    ((variable, line),) = environment.complaints({name: value})
    assert variable == name
    assert f"{name}='{value}'" in line
    assert "taking the default" in line
    assert environment.value(name, {name: value}) is None


def test_a_variable_that_does_not_exist_is_named_with_those_that_do():
    ((_, line),) = environment.complaints({"TOLLBAR_WIAT": "spin", "HOME": "/"})
    assert line.startswith("TOLLBAR_WIAT is not a variable of tollbar; there are TOLLBAR_PLAN, ")


def test_each_complaint_is_one_line():
    out = io.StringIO()
    environment.warn_about_unknown_values(out, {"TOLLBAR_WAIT": "a\nb", "TOLLBAR_TIMEOUT": "x"})
    assert out.getvalue().count("\n") == 2
