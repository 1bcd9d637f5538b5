"""Labels: names that can be read, written inside the picture and beside what it shows."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import pytest

from sfumato.workflow.report.charts.chart_labels import readable, write_labels
from sfumato.workflow.report.charts.drawing import Drawing
from sfumato.workflow.report.charts.panels import Axis
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import SIZE, Point

from .svg_reader import corners

LINE = [(0.0, 0.0), (0.0, 1.0)]


def written(
    labels: list[tuple[Point, str]], points: list[Point], line: list[Point] = LINE
) -> list[tuple[str, Point]]:
    """Write the labels and return each text with its distance from its point."""
    drawing = Drawing("Labels")
    panel = drawing.add_panel(Axis(Scale(-1, 11)), Axis(Scale(-1, 11)), 300)
    write_labels(panel, labels, points=points, line=line)
    places = [panel.place(point) for point, _ in labels]
    elements = [ElementTree.fromstring(part) for part in panel.parts]
    return [
        (element.text or "", (float(element.attrib["x"]) - x, float(element.attrib["y"]) - 0.36 * SIZE - y))
        for element, (x, y) in zip((e for e in elements if e.tag == "text"), places, strict=True)
    ]


def test_a_label_stands_close_to_the_right_where_nothing_else_is() -> None:
    ((text, offset),) = written([((5.0, 5.0), "here")], [(5.0, 5.0)])
    assert text == "here"
    assert offset == pytest.approx((13.0, 0.0), abs=0.02)


def test_a_label_at_the_right_border_is_written_to_the_left() -> None:
    ((_, (dx, _)),) = written([((11.0, 5.0), "the name of a candidate")], [(11.0, 5.0)])
    assert dx < 0


def test_labels_of_the_same_place_do_not_cover_each_other() -> None:
    labels = [((5.0, 5.0), f"label {number}") for number in range(6)]
    offsets = [offset for _, offset in written(labels, [(5.0, 5.0)])]
    for (x, y), (other_x, other_y) in itertools.combinations(offsets, 2):
        assert (x < 0) != (other_x < 0) or abs(y - other_y) > 10


def test_a_label_keeps_off_points_and_line() -> None:
    crowd = [(5.0 + x / 5, 5.0 + y / 10) for x in range(-20, 21) for y in range(-5, 6)]
    ((_, offset),) = written([((5.0, 5.0), "in the crowd")], crowd)
    assert math.hypot(*offset) > 14
    ((_, (dx, _)),) = written([((5.0, 5.0), "by the line")], [(5.0, 5.0)], [(6.5, 0.0), (6.5, 11.0)])
    assert dx < 0


def test_a_label_far_from_its_point_has_a_line_that_leads_back() -> None:
    panel = Drawing("Labels").add_panel(Axis(Scale(-1, 11)), Axis(Scale(-1, 11)), 300)
    crowd = [(5.0 + x / 5, 5.0 + y / 10) for x in range(-20, 21) for y in range(-5, 6)]
    write_labels(panel, [((5.0, 5.0), "in the crowd")], points=crowd, line=LINE)
    lead, _ = map(ElementTree.fromstring, panel.parts)
    x, y = panel.place((5.0, 5.0))
    assert math.dist(corners(lead)[0], (x, y)) == pytest.approx(7, abs=0.02)


def test_a_point_outside_the_panel_has_no_label() -> None:
    assert written([], []) == []
    panel = Drawing("Labels").add_panel(Axis(Scale(-1, 11)), Axis(Scale(-1, 11)), 300)
    write_labels(panel, [((12.0, 5.0), "outside")], points=[], line=LINE)
    assert panel.parts == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("age", "age"),
        ("line\nbreak", "line break"),
        ("a\x00b\x1b[31m\u202e\ud800\uffff", "a\ufffdb\ufffd[31m\ufffd\ufffd\ufffd"),
        ("x" * 32, "x" * 32),
        ("x" * 33, "x" * 31 + "\u2026"),
        ("", ""),
    ],
)
def test_a_name_is_one_line_of_bearable_length_without_control_characters(name: str, shown: str) -> None:
    assert readable(name) == shown
