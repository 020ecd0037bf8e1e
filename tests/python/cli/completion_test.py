# SPDX-License-Identifier: Apache-2.0
"""tollbar completion: what a shell offers."""

import subprocess

import pytest


@pytest.fixture
def offered(tollbar, tmp_path):
    """What bash offers for the last of the words."""
    script = tmp_path / "completion"
    script.write_text(tollbar("completion", "bash").out)

    def ask(*words):
        asked = f"""
            source {script}
            COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
            _shtab_tollbar {words[0]} '{words[-1]}' '{words[-2]}'
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    return ask


def test_verbs_are_offered(offered):
    assert offered("tollbar", "s") == {"show", "simulate"}


def test_verbs_of_verbs_are_offered(offered):
    assert offered("tollbar", "simulate", "") >= {"scheduler", "nic", "cluster"}


def test_options_and_their_values_are_offered(offered):
    assert offered("tollbar", "show", "mcs", "--ra") == {"--ranks"}
    assert offered("tollbar", "show", "mcs", "--as", "") == {"text", "svg", "goal"}


def test_plans_are_offered(offered):
    assert offered("tollbar", "price", "com") == {"combining", "combination"}


def test_zsh_gets_a_function_of_its_own(tollbar):
    said = tollbar("completion", "zsh")
    assert said.out.startswith("#compdef tollbar\n")
    assert "_tollbar_plans() { compadd -- central " in said.out
