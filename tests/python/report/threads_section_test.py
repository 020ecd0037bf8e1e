# SPDX-License-Identifier: Apache-2.0
"""The report's section on a run beside neighbours: the chart, the row of each cell."""

import importlib.util
import re
from pathlib import Path

import pytest
from tollbar.data import results, samples
from tollbar.report import page as report
from tollbar.report import threads_section


def _page_test():
    found = importlib.util.spec_from_file_location("page_test", Path(__file__).with_name("page_test.py"))
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


page_test = _page_test()


@pytest.fixture
def section(stored_beside):
    return lambda **asked: threads_section.cells(samples.read([stored_beside(**asked)]))


@pytest.fixture
def made(stored_beside):
    return report.pages(results.read(stored_beside()))


def chart(text):
    return page_test.charts(text)["neighbours"]


def test_a_run_without_the_barrier_shows_what_it_has(section):
    shown = section(only="turnstile,combination")
    assert shown.labels == ["turnstile", "combination"]


def test_the_chart_has_the_cells_that_are_above_for_certain_and_that_may_be(made):
    drawn = chart(made.report)
    assert drawn["rows"] == [
        [where, which] for where in ("alone", "beside a busy neighbour") for which in ("certainly", "possibly")
    ]
    lines = {line["name"]: line["points"] for line in drawn["series"]}
    assert list(lines) == [
        "libomp", "libgomp", "pthread_barrier", "std::barrier", "group", "tollbar::barrier"
    ]  # fmt: skip
    for points in lines.values():
        assert [point[1] for point in points] == [0, 1, 2, 3]
        assert [point[0] for point in points] == [0, 1, 0, 1]  # three launches a cell
    assert lines["libomp"][3][-1] == "8 of 8"


def test_a_row_a_cell_has_everybody_s_ratio(made):
    table = re.search(r"<summary>Every cell</summary>.*?</table>", made.report, re.DOTALL)[0]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in table.split("<tr")[1:]]
    assert len(rows) == 1 + 2 * 2 * 2 * 2
    by_name = dict(zip(rows[0], rows[-2], strict=True))
    assert by_name["neighbours"] == "beside a busy neighbour"
    assert by_name["computing"] == "20 µs ± 50 %"
    assert by_name["best"] == "tollbar::barrier (park)"
    assert by_name["tollbar::barrier (park)"] == "1.00 \u00d7 (n = 3, no interval)"
    assert float(by_name["libomp"].partition(" ")[0]) == pytest.approx(3520 / 40, rel=0.1)
    assert all(len(row) == len(rows[0]) for row in rows)


def test_the_page_is_whole_and_the_section_is_folded(made):
    page = page_test.Page(made.report)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {"beside", "today-beside"} <= set(page.ids)
    assert '<section id="beside">\n<details class="part">' in made.report


def test_a_page_of_another_run_has_none_of_it(stored):
    made = report.pages(results.read(stored(ranks=(2,), launches=1)))
    assert "beside" not in page_test.Page(made.report).ids


def test_the_table_of_a_page_has_a_row_for_each_kind_of_neighbours(stored_beside):
    text = threads_section.counts(samples.read([stored_beside(ranks=(8,), workloads="0")]))
    assert len(text.splitlines()) == 2 + 2
    assert re.search(r"^\| beside a busy neighbour \| 0 / 2 / 2 \|", text, re.MULTILINE)
    assert threads_section.counts(samples.read([])) == ""
