# SPDX-License-Identifier: Apache-2.0
"""One figure has the same curves as a page's chart and as a file's picture."""

import json
import re

from tollbar.report import figures

POINTS = {"central": {2: 3.0, 64: 9.5}, "mcs": {2: 2.0, 64: 4.0}}


def test_a_chart_and_a_picture_have_the_same_curves():
    figure = figures.of_points("prices", POINTS, "ranks", "us")
    chart = json.loads(re.search(r"json\">(.*?)</script>", figure.chart)[1])
    (axes,) = figure.picture().axes
    drawn = {line.get_label(): dict(zip(*line.get_data(), strict=True)) for line in axes.lines}
    assert {line["name"]: dict(line["points"]) for line in chart["series"]} == drawn == POINTS
    assert (axes.get_xlabel(), axes.get_ylabel()) == (chart["x"]["label"], chart["y"]["label"])


def test_a_figure_without_curves_has_no_chart():
    assert figures.of_points("prices", {}, "ranks", "us").chart == ""
