"""Labels: names that can be read, written inside the picture and beside what it shows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from sfumato.workflow.report.charts.chart_labels import Point, readable, write_labels
from sfumato.workflow.report.charts.matplotlib_svg import draw_svg

LINE = [(0.0, 0.0), (0.0, 1.0)]


def written(
    labels: list[tuple[Point, str]], points: list[Point], line: list[Point] = LINE
) -> list[tuple[str, Point, Any]]:
    """Write the labels and return the text, the offset and the leading line of each."""
    found: list[tuple[str, Point, Any]] = []

    def draw(axes: Any) -> None:
        axes.set(xlim=(-1, 11), ylim=(-1, 11))
        write_labels(axes, labels, points=points, line=line)
        found.extend((text.get_text(), text.xyann, text.arrow_patch) for text in axes.texts)

    draw_svg("labels", "Labels", 5.0, draw)
    return found


def test_a_label_stands_close_to_the_right_where_nothing_else_is() -> None:
    (label,) = written([((5.0, 5.0), "here")], [(5.0, 5.0)])
    assert label == ("here", (13.0, 0.0), None)


def test_a_label_at_the_right_border_is_written_to_the_left() -> None:
    ((_, (dx, _), _),) = written([((11.0, 5.0), "the name of a candidate")], [(11.0, 5.0)])
    assert dx < 0


def test_labels_of_the_same_place_do_not_cover_each_other() -> None:
    labels = [((5.0, 5.0), f"label {number}") for number in range(6)]
    offsets = [offset for _, offset, _ in written(labels, [(5.0, 5.0)])]
    for (x, y), (other_x, other_y) in itertools.combinations(offsets, 2):
        assert (x < 0) != (other_x < 0) or abs(y - other_y) > 10


def test_a_label_keeps_off_points_and_line_and_leads_back_from_afar() -> None:
    crowd = [(5.0 + x / 5, 5.0 + y / 10) for x in range(-20, 21) for y in range(-5, 6)]
    ((_, offset, lead),) = written([((5.0, 5.0), "in the crowd")], crowd)
    assert math.hypot(*offset) > 14
    assert lead is not None
    ((_, (dx, _), _),) = written([((5.0, 5.0), "by the line")], [(5.0, 5.0)], [(6.5, 0.0), (6.5, 11.0)])
    assert dx < 0


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
