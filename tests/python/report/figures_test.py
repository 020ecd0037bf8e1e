# SPDX-License-Identifier: Apache-2.0
"""One figure has the same curves as a page's chart and as a file's picture."""

import json
import re
from pathlib import Path

import pytest
from tollbar.report import charts, pictures
from tollbar.report.figures import Axis, Curve, Figure

POINTS = {"central": {2: 3.0, 64: 9.5}, "mcs": {2: 2.0, 64: 4.0}}


def of_points(x: str, y: str) -> Figure:
    lines = [
        Curve(label, list(points), list(points.values()), colour=colour)
        for colour, (label, points) in enumerate(POINTS.items())
    ]
    return Figure("prices", "", lines, Axis(x), Axis(y, "log"))


def drawn(figure):
    """The chart's data, and the axes of the picture."""
    (axes,) = pictures.picture(figure).axes
    return json.loads(re.search(r"json\">(.*?)</script>", charts.chart(figure))[1]), axes


def test_a_chart_and_a_picture_have_the_same_curves_in_the_same_colours():
    chart, axes = drawn(of_points("ranks", "us"))
    curves = {line.get_label(): dict(zip(*line.get_data(), strict=True)) for line in axes.lines}
    assert {line["name"]: dict(line["points"]) for line in chart["series"]} == curves == POINTS
    assert (axes.get_xlabel(), axes.get_ylabel()) == (chart["x"]["label"], chart["y"]["label"])
    colours = [pictures.COLOURS[line["colour"]] for line in chart["series"]]
    assert [line.get_color() for line in axes.lines] == colours
    assert len(set(colours)) == 2


def test_words_are_rows_in_both():
    lines = [Curve("model", [0, 1], [3.0, 5.0]), Curve("model, printed", [1], [6.0], kind="printed")]
    axis = Axis("application", words=["short", "long"])
    chart, axes = drawn(Figure("f", "", lines, axis, Axis("us", "linear"), groups=["application"] * 2))
    assert chart["rows"] == [["application", "short"], ["application", "long"]]
    assert [line["points"] for line in chart["series"]] == [[[3, 0], [5, 1]], [[6, 1]]]
    assert [list(line.get_ydata()) for line in axes.lines] == [[0, 1], [1]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["short", "long"]


def test_pictures_have_the_colours_of_pages_in_the_light():
    page = (Path(charts.__file__).parent / "templates" / "report.css").read_text().partition("prefers-color-scheme")[0]
    assert tuple(re.findall(r"--series-\d: (#\w+);", page)) == pictures.COLOURS


def test_a_picture_is_the_same_wherever_it_is_drawn():
    first, second = (pictures.svg(pictures.picture(of_points("x", "y")), "p") for _ in range(2))
    assert first == second
    assert first.startswith("<svg")


@pytest.mark.parametrize("lines", [[], [Curve("floor", [1, 2, 3], [1, 2, 3], kind="bound")]])
def test_what_has_no_curve_has_no_points(lines):
    assert Figure("f", "", lines, Axis("x")).points == 0
    assert bool(charts.chart(Figure("f", "", lines, Axis("x")))) == bool(lines)


def test_a_curve_that_others_cover_is_wider_by_each_of_them_in_both():
    ys = {"a": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 4.03], "c": [1.0, 2.0, 4.0], "d": [5.0, 6.0, 7.0]}
    figure = Figure("f", "", [Curve(name, [1, 2, 4], y) for name, y in ys.items()], Axis("x"), Axis("y"))
    assert figure.covered == [2, 1, 0, 0]
    chart, axes = drawn(figure)
    assert [line.get("covered", 0) for line in chart["series"]] == figure.covered
    widths = [line.get_linewidth() for line in axes.lines]
    assert widths[0] > widths[1] > widths[2] == widths[3]
    printed = [Curve("a", [1, 2], [1, 2]), Curve("a, printed", [1, 2], [1, 2], kind="printed")]
    assert Figure("f", "", printed, Axis("x"), Axis("y")).covered == [0, 0]


@pytest.mark.parametrize(
    ("places", "ticks"),
    [
        (range(2, 13), [2, 3, 4, 5, 6, 7, 8, 10, 12]),
        ([2, 4, 8, 16, 32, 64, 128, 256, 512, 768], [2, 4, 8, 16, 32, 64, 128, 256, 512, 768]),
        ([0.5, 1, 2, 4, 7, 10, 14, 20, 30, 50], [0.5, 1, 2, 4, 7, 10, 14, 20, 30, 50]),
    ],
)
def test_a_logarithmic_axis_has_ticks_at_its_ends_also_where_they_are_no_powers_of_two(places, ticks):
    _, axes = drawn(Figure("f", "", [Curve("a", list(places), [1.0] * len(places))], Axis("x"), Axis("y", "linear")))
    assert list(axes.get_xticks()) == ticks
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [f"{tick:g}" for tick in ticks]


def of_series() -> Figure:
    lines = [
        Curve(f"{series}{added}", [2, 4, 8], [y, 2 * y, 3 * y], kind=kind, series=series, style=(colour, 0))
        for colour, (series, y) in enumerate({"a": 0.001, "b": 0.002}.items())
        for added, kind in (("", "measured"), (", predicted", "predicted"))
    ]
    return Figure("f", "here", lines, Axis("x", "linear"), Axis("y, s", "linear"))


def test_lines_of_one_series_share_an_entry_of_a_panel_s_legend_and_kinds_are_told_once():
    drawn_panels = pictures.panels([of_series(), of_series()], {"line": "model", "measured": "m", "predicted": "p"})
    legends = [*drawn_panels.legends, *(axes.get_legend() for axes in drawn_panels.axes)]
    entries = [[text.get_text() for text in legend.get_texts()] for legend in legends]
    assert entries == [["m", "p"], ["a", "b"], ["a", "b"]]
    assert [axes.get_title("left") for axes in drawn_panels.axes] == ["here", "here"]
    chart, _ = drawn(of_series())
    assert [line["series"] for line in chart["series"]] == ["a", "a", "b", "b"]


def test_a_few_places_of_a_panel_have_a_tick_each():
    (axes,) = pictures.panels([of_series()], {}).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "4", "8"]


def test_a_file_keeps_all_digits_of_a_number_that_is_read():
    lines = [Curve("a", [1, 2], [0.001, 0.01])]
    assert ">0.001<" in pictures.svg(pictures.picture(Figure("f", "", lines, Axis("x"), Axis("y", "log"))), "p")


def test_a_printed_number_where_another_is_printed_has_a_ring_around_that_one_s():
    printed = [Curve(name, [4], [2.0], kind="printed", series=name) for name in "ab"]
    figure = Figure("f", "", printed, Axis("x", "linear"), Axis("y", "linear"))
    assert figure.covered == [1, 0]
    _, axes = drawn(figure)
    outer, inner = (line.get_markersize() for line in axes.lines)
    assert outer > inner
