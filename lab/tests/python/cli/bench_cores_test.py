# SPDX-License-Identifier: Apache-2.0
"""tollbar bench cores."""

import json

import pytest
import tollbar_lab
from tollbar_lab.models import cores
from tollbar_lab.models import cores_measured as campaign


@pytest.fixture
def icelake(monkeypatch):
    """Measurements of four cores that are simulated."""
    machine = tollbar_lab.cores_machine("icelake")
    ask = {
        "pause": lambda _: 1.0,
        "pair": lambda cpus: tollbar_lab.cores_one_way_ns(machine, *cpus),
        "add": lambda cpus: tollbar_lab.cores_contended_add_ns(machine, len(cpus)),
        "lock": lambda cpus: tollbar_lab.cores_polled_add_ns(machine, len(cpus)),
    }
    measure = campaign.measure
    places = [(cpu, (0, 0)) for cpu in range(4)]
    monkeypatch.setattr(campaign, "measure", lambda: measure(lambda kind, cpus: ask[kind](cpus), places))


def test_it_writes_a_machine_that_can_be_simulated(tollbar, tmp_path, icelake):
    said = tollbar("bench", "cores", "--output", tmp_path, "--format", "csv")
    assert said.code == 0, said.err
    assert said.out.splitlines()[0] == "what,cpus,measured_ns,simulated_ns"
    kept = json.loads((tmp_path / "cores.json").read_text())
    assert set(kept["measured"]) == {"machine", "rows"}
    assert cores.machine(str(tmp_path / "cores.json")).cores == [(0, 0)] * 4


def test_a_file_holds_no_name_of_a_host(tollbar, tmp_path, icelake):
    import platform

    tollbar("bench", "cores", "--output", tmp_path)
    assert platform.node() not in (tmp_path / "cores.json").read_text()


def test_without_the_program_one_line_says_so(tollbar, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    monkeypatch.setattr(
        "tollbar_lab.models.cores_measured.paths.program", lambda name: (_ for _ in ()).throw(FileNotFoundError("x"))
    )
    said = tollbar("bench", "cores", "--output", tmp_path)
    assert (said.code, said.err.count("\n")) == (2, 1)


def test_the_machine_has_the_name_of_its_processor(tollbar, tmp_path, icelake):
    from tollbar.machine import facts

    tollbar("bench", "cores", "--output", tmp_path)
    machine = json.loads((tmp_path / "cores.json").read_text())["measured"]["machine"]
    known = facts.facts()
    assert machine == {key: known[key] for key in ("model", "cpus", "kernel")}


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo no counter >&2; exit 3", "tollbar-bench-cores pause 0: no counter"),
        ("exit 3", "tollbar-bench-cores pause 0: ended with 3"),
        ("echo fast", "tollbar-bench-cores pause 0 printed no number"),
        ("exec sleep 600", "tollbar-bench-cores pause 0 has not ended within 0.5 s"),
    ],
)
def test_a_program_that_does_not_measure_is_one_line(tollbar, tmp_path, monkeypatch, script, problem):
    program = tmp_path / "bin" / "tollbar-bench-cores"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    monkeypatch.setattr(campaign, "_LIMIT_S", 0.5 if "sleep" in script else 60)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    said = tollbar("bench", "cores", "--output", tmp_path)
    assert said.refusal == f"tollbar bench: {problem}\n"
