# SPDX-License-Identifier: Apache-2.0
"""TOLLBAR_ variables: what is accepted, one line for what is not, and the page that describes them."""

import io
import os
from pathlib import Path

import pytest
from tollbar import environment

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "environment.md"


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in [name for name in os.environ if name.startswith("TOLLBAR_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOLLBAR_PLAN", "mcs:4,2"),
        ("TOLLBAR_PLAN", "central@4/dissemination"),
        ("TOLLBAR_PLAN", "turnstile"),
        ("TOLLBAR_PLAN", "turnstile/dissemination:2"),
        ("TOLLBAR_PLAN", "turnstile/card"),
        ("TOLLBAR_PLAN", "turnstile/card:gather"),
        ("TOLLBAR_PLAN", "turnstile/card:mcs:4,2"),
        ("TOLLBAR_NETWORK", "nic"),
        ("TOLLBAR_PLAN", "combination"),
        ("TOLLBAR_PLAN", "combination:2"),
        ("TOLLBAR_WAIT", "park"),
        ("TOLLBAR_TIMEOUT", "0.5"),
        ("TOLLBAR_TIMEOUT", "0"),
        ("TOLLBAR_VERBOSE", "2"),
        ("TOLLBAR_REPORT", "-"),
        ("TOLLBAR_NICD", "/some/socket"),
        ("TOLLBAR_WAIT", ""),
    ],
)
def test_accepted_values_are_taken_in_silence(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert environment.complaints() == []
    assert environment.value(name) == (value or None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOLLBAR_PLAN", "mcs:1"),
        ("TOLLBAR_PLAN", "turnstile:2"),
        ("TOLLBAR_PLAN", "turnstile/card:nowhere"),
        ("TOLLBAR_PLAN", "turnstile/cards"),
        ("TOLLBAR_NETWORK", "fast"),
        ("TOLLBAR_PLAN", "combination:0"),
        ("TOLLBAR_PLAN", "combination:"),
        ("TOLLBAR_WAIT", "PARK"),
        ("TOLLBAR_TIMEOUT", "-1"),
        ("TOLLBAR_TIMEOUT", "soon"),
        ("TOLLBAR_TIMEOUT", "1 s"),
        ("TOLLBAR_TIMEOUT", "nan"),
        ("TOLLBAR_VERBOSE", "yes"),
        ("TOLLBAR_VERBOSE", "3"),
    ],
)
def test_other_values_are_named_and_the_default_is_taken(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    ((variable, line),) = environment.complaints()
    assert variable == name
    assert line.startswith(f"{name} is '{value}'")
    assert "; using the default, " in line
    assert environment.value(name) is None


def test_a_variable_that_does_not_exist_is_named_with_those_that_do(monkeypatch):
    monkeypatch.setenv("TOLLBAR_WIAT", "spin")
    ((_, line),) = environment.complaints()
    assert line.startswith("TOLLBAR_WIAT is not a variable of tollbar; there are TOLLBAR_PLAN, ")


def test_each_complaint_is_one_line(monkeypatch):
    out = io.StringIO()
    monkeypatch.setenv("TOLLBAR_WAIT", "a\nb")
    monkeypatch.setenv("TOLLBAR_TIMEOUT", "x")
    environment.warn_about_unknown_values(out)
    assert out.getvalue().count("\n") == 2


def test_the_cache_follows_the_xdg_rule(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert environment.cache_folder() == Path.home() / ".cache" / "tollbar"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert environment.cache_folder() == Path.home() / ".cache" / "tollbar"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert environment.tuning_file() == Path("/elsewhere/tollbar/tuning")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    with pytest.raises(ValueError, match="set HOME"):
        environment.tuning_file()


def test_the_tuning_file_may_be_named(monkeypatch):
    monkeypatch.setenv("TOLLBAR_TUNING", "/some/file")
    assert environment.tuning_file() == Path("/some/file")


def test_the_page_is_what_the_table_gives():
    assert PAGE.read_text() == environment.page(), "python -m tollbar.environment writes the page anew"
