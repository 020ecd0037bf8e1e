# SPDX-License-Identifier: Apache-2.0
"""The command where its laboratory is not installed."""

import pytest
from tollbar.cli import build_parser, laboratory


@pytest.fixture(autouse=True)
def without(monkeypatch):
    """Hides the package tollbar_lab."""
    monkeypatch.setattr(laboratory, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    "words", ["simulate nic --ranks 4", "simulate --help", "reproduce all", "logp fit times.csv", "bench cores"]
)
def test_a_part_that_is_not_installed_says_how_to_get_it(tollbar, words):
    verb = " ".join(laboratory.named(words.split()).split("."))
    said = tollbar(*words.split()).refusal
    assert said.startswith(f"tollbar {verb}: it is part of tollbar-lab, which is not installed; remedy: ")


def test_help_names_what_is_here():
    shown = build_parser().format_help()
    assert "    price " in shown
    assert not any(f"    {verb} " in shown for verb in laboratory.VERBS)


@pytest.mark.parametrize(("verb", "way"), [("bench", "cores"), ("logp", "fit")])
def test_help_of_a_verb_names_the_ways_that_are_here(tollbar, verb, way):
    assert f"    {way} " not in tollbar(verb, "--help").out


def test_prices_on_a_machine_say_what_they_lack(tollbar):
    assert tollbar("price", "mcs", "--ranks", "8").code == 0
    said = tollbar("price", "mcs", "--ranks", "8", "--logp", "icelake").refusal
    assert "'icelake' is neither L,o,g nor one of threads, mpi, udp; as a machine it is part of tollbar-lab" in said


def test_crowds_are_measured_without_it(tollbar, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    said = tollbar(
        "bench", "threads", "--cpus", 1, "--ranks", 8, "--compute", "1", "--launches", "2", "--format", "json"
    )
    assert said.code == 0, said.err
    assert all(row["period_us"] > 0 for row in said.json)
