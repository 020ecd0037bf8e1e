# SPDX-License-Identifier: Apache-2.0
"""Panels of an exhibit: one side each, eight series at most, parted by what their names have in common."""

from tollbar.report.figures import COLOURS
from tollbar_lab.papers import panels
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point


def exhibit(*points: Point, apart: str = "") -> Exhibit:
    return Exhibit("p", "Figure 1", "t", Axes("nodes", "barrier, us"), points, "s", apart=apart)


def modelled(*names: str) -> list[Point]:
    return [Point(name, n, model=float(n)) for name in names for n in (2, 4)]


def shown(made: Exhibit) -> dict[str, list[str]]:
    """The series of each panel by its title."""
    return {each.caption: list(dict.fromkeys(line.series for line in each.lines)) for each in panels.of(made)}


def test_what_is_measured_has_a_panel_with_axes_of_its_own():
    points = [
        Point("mcs", 2, published=2.0, model=1.0, measured=3000.0, predicted=50.0),
        Point("mcs", 4, model=2.0, measured=9000.0),
        Point("central", 2, measured=4000.0),
    ]
    paper, here = panels.of(exhibit(*points))
    assert (paper.caption, here.caption) == ("the paper's machine", "here")
    assert {line.label: line.kind for line in paper.lines} == {"mcs": "line", "mcs, printed": "printed"}
    assert {line.label: line.kind for line in here.lines} == {
        "mcs, measured": "measured", "mcs, predicted": "predicted", "central, measured": "measured",
    }  # fmt: skip
    assert (paper.y.scale, here.y.scale) == ("linear", "log")
    assert len({line.style for figure in (paper, here) for line in figure.lines if line.series == "mcs"}) == 1


def test_the_paper_s_machine_alone_needs_no_title_and_this_one_does():
    assert shown(exhibit(*modelled("mcs"))) == {"": ["mcs"]}
    assert shown(exhibit(Point("mcs", 2, measured=1.0))) == {"here": ["mcs"]}


def test_more_than_eight_series_stand_in_panels_by_the_part_of_their_names():
    names = [f"{barrier}{part}" for part in ("", " on A", " on B") for barrier in "uvwxy"]
    plain, a, b = names[:5], names[5:10], names[10:]
    assert shown(exhibit(*modelled(*names), apart="(?<=on )[AB]")) == {"": plain, "A": a, "B": b}
    assert shown(exhibit(*modelled(*names[:8]), apart="(?<=on )[AB]")) == {"": names[:8]}


def test_small_parts_share_a_panel_in_as_few_and_as_even_panels_as_there_can_be():
    names = [f"{barrier} {processors} processors" for processors in (2, 4, 8, 16) for barrier in "xyz"]
    assert shown(exhibit(*modelled(*names), apart=r"\d+ processors")) == {
        "2 processors, 4 processors": names[:6],
        "8 processors, 16 processors": names[6:],
    }


def test_series_without_parts_are_halved_and_their_panels_numbered():
    names = [f"n = {n}" for n in range(9)]
    assert shown(exhibit(*modelled(*names))) == {"(1 of 2)": names[:5], "(2 of 2)": names[5:]}


def test_all_series_of_a_picture_differ_where_there_are_colours_enough_and_all_of_a_panel_always():
    for many in (COLOURS, 30):
        figures = panels.of(exhibit(*modelled(*(f"n = {n}" for n in range(many)))))
        styles = [{line.series: line.style for line in figure.lines} for figure in figures]
        assert all(len(set(each.values())) == len(each) for each in styles)
        if many == COLOURS:
            assert len({style for each in styles for style in each.values()}) == COLOURS


def test_a_panel_has_the_words_that_its_points_have():
    points = [
        Point("time", "puts", model=1.0),
        Point("2 PEs", "stores", measured=2.0),
        Point("2 PEs", "puts", measured=1.0),
    ]
    paper, here = panels.of(exhibit(*points))
    assert (paper.x.words, here.x.words) == (["puts"], ["stores", "puts"])
    assert list(here.lines[0].y) == [2.0, 1.0]
