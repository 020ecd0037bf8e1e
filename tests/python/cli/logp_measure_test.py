# SPDX-License-Identifier: Apache-2.0
"""tollbar logp measure, and prices by what it stored."""

import json
import sys

import pytest
from tollbar.machine import noise

COLUMNS = "program,link,parameter,us,low_us,high_us"
#: Trips that follow from L = 30, o = 10, g = 20 ns, whatever the flags.
PROGRAM = """#!{python}
import json, sys
print(json.dumps({{"record": "environment", "ranks": 2, "placement": "pinned", "usable": 2}}))
for number in range(int(sys.argv[sys.argv.index("--rounds") + 1])):
    for messages, trip, delays in ((1, 100, []), (16, 400, []), (16, 1750, [1500])):
        print(json.dumps({{"record": "round_trips", "round": number, "name": "words", "messages": messages,
                          "trip_ns": [trip], "delays_ns": delays}}))
print(json.dumps({{"record": "done"}}))
"""


@pytest.fixture
def program(tmp_path, monkeypatch, tollbar):
    """A measuring program whose link is known, and an empty folder of results."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / "tollbar-bench-logp"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return path


def test_the_rows_are_the_parameters_with_their_intervals(tollbar, program):
    said = tollbar("logp", "measure", "threads", "--format", "json")
    assert said.code == 0
    assert list(said.json[0]) == COLUMNS.split(",")
    found = {row["parameter"]: row["us"] for row in said.json}
    assert found == pytest.approx({"L": 0.03, "o": 0.01, "max(o,g)": 0.02, "2o+L": 0.05})
    assert all(row["low_us"] == row["high_us"] == pytest.approx(row["us"]) for row in said.json)


def test_the_written_form_ends_with_what_price_takes(tollbar, program):
    out = tollbar("logp", "measure", "threads", "--effort", "quick").out
    assert out.splitlines()[0].split() == ["program", "link", "parameter", "us"]
    flag, value = out.splitlines()[-1].split()
    assert flag == "--logp"
    priced = tollbar("price", "central", "--ranks", 4, flag, value, "--format", "json").json
    assert priced[0]["last_us"] == pytest.approx(2 * 0.05 + 4 * 0.02)


def test_an_overhead_that_overlaps_the_path_is_told(tollbar, program):
    said = "the overheads overlap the transfer; prices take all of the path as overhead"
    assert said not in tollbar("logp", "measure", "threads", "--effort", "quick").out
    program.write_text(program.read_text().replace("1750", "2200"))
    lines = tollbar("logp", "measure", "threads", "--effort", "quick").out.splitlines()
    assert lines[-2:] == [said, "--logp 0,0.025,0.02"]


def test_the_environment_is_stored_and_price_finds_the_newest_measurement(tollbar, program, tmp_path):
    assert tollbar("logp", "measure", "threads", "--effort", "quick").code == 0
    (run,) = (tmp_path / "results").iterdir()
    stored = json.loads((run / "environment.json").read_text())
    assert stored["kind"] == "logp-threads"
    assert stored["kernel"]
    priced = tollbar("price", "dissemination", "--ranks", 8, "--logp", "threads", "--format", "json").json
    assert priced[0]["last_us"] == pytest.approx(3 * 0.05)


def test_a_program_that_fails_is_named_and_the_exit_code_is_1(tollbar, program):
    program.write_text("#!/bin/sh\necho no link >&2\nexit 1\n")
    said = tollbar("logp", "measure", "threads", "--effort", "quick")
    assert said.code == 1
    assert "no link" in said.err


def test_a_program_that_is_not_there_is_named_with_the_way_to_it(tollbar, program):
    program.unlink()
    said = tollbar("logp", "measure", "threads")
    assert (said.code, said.out) == (2, "")
    assert "the program tollbar-bench-logp is not there; run `make`" in said.err


def test_a_noisy_machine_is_told(tollbar, program, monkeypatch):
    quiet = tollbar("logp", "measure", "threads", "--effort", "quick")
    lines = ["other programs had half of it", "a hypervisor had the rest"]
    monkeypatch.setattr(noise, "after", lambda *_: lines)
    said = tollbar("logp", "measure", "threads", "--effort", "quick")
    assert said.code == quiet.code == 0
    assert [line for line in lines if f"the machine was not quiet: {line}" in said.err] == lines


def test_prices_by_a_transport_that_was_not_measured_say_how_to_measure_it(tollbar, program):
    said = tollbar("price", "mcs", "--ranks", 4, "--logp", "mpi")
    assert (said.code, said.out) == (2, "")
    assert "nothing is stored of 'mpi'; `tollbar logp measure mpi` measures it" in said.err


def test_a_program_that_delays_the_receiver_too_tells_both_overheads(tollbar, program):
    text = program.read_text()
    text = text.replace(
        "for messages, trip, delays in ((1, 100, []),", "for messages, trip, delays in (RECEIVER, (1, 100, []),"
    )
    text = text.replace(
        '"delays_ns": delays}))', '"delays_ns": delays, "delayed": "receiver" if trip == 1675 else "sender"}))'
    )
    program.write_text(text.replace("RECEIVER", "(16, 1675, [1500])"))
    said = tollbar("logp", "measure", "threads", "--format", "json")
    found = {row["parameter"]: row["us"] for row in said.json}
    assert found == pytest.approx({"L": 0.035, "o_s": 0.01, "o_r": 0.005, "max(o,g)": 0.02, "o_s+L+o_r": 0.05})
    last = tollbar("logp", "measure", "threads", "--effort", "quick").out.splitlines()[-1]
    assert last == "--logp 0.035,0.01,0.005,0.02"
    assert tollbar("price", "central", "--ranks", 2, *last.split(), "--format", "json").json[0]["last_us"] == 0.1
