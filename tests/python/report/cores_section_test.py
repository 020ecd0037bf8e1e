# SPDX-License-Identifier: Apache-2.0
"""What the report says of many cores is simulated, says so, and stands apart from what was measured."""

import json
import re

import pytest
import tollbar
from tollbar.data import results
from tollbar.models import cores
from tollbar.report import cores_section
from tollbar.report import page as report


@pytest.fixture
def text(stored):
    return report.page(results.read(stored(ranks=(2,), launches=2)))


def _charts(text):
    found = re.findall(r'data-chart="([^"]+)"[^>]*><script type="application/json">(.*?)</script>', text)
    return {name: json.loads(data) for name, data in found}


def test_its_numbers_are_those_of_the_simulator():
    (epyc,) = cores_section.of(["epyc"])
    simulated = tollbar.simulate_cores("auto", 16, machine=tollbar.cores_machine("epyc"), episodes=20)
    assert epyc.times["auto"][epyc.sizes.index(16)] == 1000 * simulated.barrier_us


def test_every_picture_and_table_of_the_section_says_simulated(text):
    section = re.search(r'<section id="cores">.*?</section>', text, re.DOTALL)[0]
    assert "Nothing in this section was measured" in section
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", section)
    assert len(captions) == 2
    assert all(caption.startswith("Simulated, not measured") for caption in captions)
    assert section.count('<th class="stays">simulated cores</th>') == 2
    assert "epyc (simulated, built in)" in section


def test_no_picture_has_simulated_cores_beside_what_was_measured(text):
    for name, chart in _charts(text).items():
        of_cores = name.startswith("cores-")
        assert ("simulated" in chart["x"]["label"]) == of_cores
        assert ("simulated" in chart["y"]["label"]) == of_cores


def test_a_machine_from_a_file_is_named_with_its_file_and_its_numbers(tmp_path):
    slow = tollbar.cores_machine("mesh").changed(name="mine", numbers={"cluster_ns": 77.0})
    file = tmp_path / "cores.json"
    file.write_text(json.dumps(cores.to_json(slow, {})))
    (mine,) = cores_section.of([str(file)])
    assert (mine.name, mine.file, mine.numbers["cluster_ns"]) == ("mine", "cores.json", 77.0)


def test_what_is_no_machine_is_refused_with_what_there_is():
    with pytest.raises(cores_section.NoMachine, match="there is no machine and no file 'cray'; there are epyc"):
        cores_section.of(["cray"])
