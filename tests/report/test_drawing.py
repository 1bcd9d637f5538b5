"""Drawings: what is drawn lies where the declared axes say, inside its panel, and is explained below."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.workflow.report.charts.drawing import WIDTH, Drawing
from sfumato.workflow.report.charts.panels import Axis, Frame, Panel
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, INK, Label, Marker, Style, text_width

from .svg_reader import SVG, ReadPanel, corners, panels, parsed, place_of, points_of, texts

DOT = Marker("o", 3, Style(fill=INK))
LINE = Style(stroke=INK)
LOG, LINEAR = Scale(0.5, 5000, log=True), Scale(-1, 4)


def drawn(*, x: Scale = LOG, y: Scale = LINEAR, height: int = 100) -> tuple[Drawing, Panel]:
    drawing = Drawing("An example")
    axes = (Axis.of(x, "size", str, 5), Axis.of(y, "share\nof records", str, 5))
    return drawing, drawing.add_panel(*axes, height)


def only_panel(drawing: Drawing) -> ReadPanel:
    (panel,) = panels(drawing.svg())
    return panel


@given(st.lists(st.tuples(st.floats(0.5, 5000), st.floats(-1, 4)), min_size=1, max_size=20))
def test_points_lie_where_the_declared_axes_say(points: list[tuple[float, float]]) -> None:
    drawing, panel = drawn()
    panel.draw_points(points, DOT, [f"{x!r},{y!r}" for x, y in points])
    read = only_panel(drawing)
    marks = [mark for mark in read.marks(fill=INK) if len(mark)]
    assert len(marks) == len(points)
    for mark in marks:
        x, y = map(float, mark[0].text.split(","))
        assert place_of(mark) == pytest.approx(read.place(x, y), abs=0.006)


def test_points_outside_the_panel_are_left_out() -> None:
    drawing, panel = drawn()
    panel.draw_points([(0.4, 0), (10, 5), (10, -1.1), (6000, 0), (10, 0)], DOT)
    assert len(only_panel(drawing).marks(fill=INK)) == 1


def test_a_line_carries_its_points_and_is_clipped_at_the_border() -> None:
    points = [(1.0, 0.0), (100.0, 8.0), (100.0, 2.0), (9000.0, 2.0)]
    drawing, panel = drawn()
    panel.draw_line(points, LINE, {"claim": "a.1"})
    read = only_panel(drawing)
    (mark,) = read.marks(data_claim="a.1")
    assert points_of(mark) == points
    found = corners(mark)
    assert found[0] == pytest.approx(read.place(1, 0), abs=0.006)
    top, right = read.ends("y")[1], read.ends("x")[1]
    assert found[1] == pytest.approx(((found[0][0] + read.place(100, 4)[0]) / 2, top), abs=0.02)
    assert found[2:] == [
        pytest.approx(read.place(100, 4), abs=0.006),
        pytest.approx(read.place(100, 2), abs=0.006),
        pytest.approx((right, read.place(100, 2)[1]), abs=0.006),
    ]


def test_a_line_outside_the_panel_is_not_drawn() -> None:
    _, panel = drawn()
    panel.draw_line([(1, 5), (10, 6)], LINE)
    assert not panel.parts


@given(
    *(st.tuples(st.floats(-50, 50), st.floats(-50, 50)) for _ in range(2)),
)
def test_a_clipped_line_is_the_part_inside(start: tuple[float, float], end: tuple[float, float]) -> None:
    frame = Frame(-10, -20, 10, 5)
    piece = frame.clipped(start, end)
    steps = [step / 500 for step in range(501)]
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = [(start[0] + step * dx, start[1] + step * dy) for step in steps]
    inside = [point for point in along if frame.contains(point)]
    if piece is None:
        assert not inside
        return
    for side, low, high in ((0, -10, 10), (1, -20, 5)):
        assert all(low - 1e-9 <= point[side] <= high + 1e-9 for point in piece)
        ends = sorted(point[side] for point in piece)
        assert all(ends[0] - 1e-9 <= point[side] <= ends[1] + 1e-9 for point in inside)


def test_steps_rise_from_the_ground_and_keep_each_height_until_the_next() -> None:
    points = [(2.0, 0.5), (30.0, 1.0), (400.0, 4.0)]
    drawing, panel = drawn()
    panel.fill_steps(points, Style(fill=INK))
    panel.draw_steps(points, LINE, {"claim": "sizes"})
    read = only_panel(drawing)
    (mark,) = read.marks(data_claim="sizes")
    assert points_of(mark) == points
    ground, right = read.ends("y")[0], read.ends("x")[1]
    expected = [(read.place(2, 0)[0], ground)]
    for x, y in points:
        expected += [(read.place(x, 0)[0], expected[-1][1]), read.place(x, y)]
    expected.append((right, expected[-1][1]))
    found = corners(mark)
    assert found == [pytest.approx(corner, abs=0.006) for corner in expected]
    (area,) = (path for path in read.marks(fill=INK) if path.tag == f"{SVG}path")
    assert corners(area) == [*found, (right, ground)]


def test_a_bar_lies_between_its_corners_and_inside_the_panel() -> None:
    drawing, panel = drawn(x=Scale(0, 10))
    panel.draw_bar((0, 1), (4, 2), Style(fill=INK), {"value": "4"})
    panel.draw_bar((8, 3), (20, 30), Style(fill=COLOURS[0]))
    panel.draw_bar((11, 1), (12, 2), Style(fill=COLOURS[1]))
    read = only_panel(drawing)
    (bar,) = read.marks(data_value="4")
    left, top, width, height = (float(bar.attrib[name]) for name in ("x", "y", "width", "height"))
    assert (left, top) == pytest.approx(read.place(0, 2), abs=0.006)
    assert (left + width, top + height) == pytest.approx(read.place(4, 1), abs=0.02)
    (cut,) = read.marks(fill=COLOURS[0])
    assert float(cut.attrib["x"]) + float(cut.attrib["width"]) == read.ends("x")[1]
    assert float(cut.attrib["y"]) == read.ends("y")[1]
    assert not read.marks(fill=COLOURS[1])


def test_ticks_stand_at_their_values_with_their_labels() -> None:
    drawing, _ = drawn()
    svg = drawing.svg()
    (read,) = panels(svg)
    places = {text.text: float(text.attrib["x"]) for text in parsed(svg).iter(f"{SVG}text")}
    for value in (1.0, 10.0, 100.0, 1000.0):
        assert places[str(value)] == pytest.approx(read.place(value, 0)[0], abs=0.006)


def test_labels_below_never_overlap_and_tilted_ones_are_all_written() -> None:
    names = [f"a rather long name {number}" for number in range(8)]
    ticks = [(float(place), name) for place, name in enumerate(names)]
    for is_tilted in (False, True):
        drawing = Drawing("Names")
        axis = Axis(Scale(-0.5, 7.5), "names", ticks, is_tilted=is_tilted)
        drawing.add_panel(axis, Axis(Scale(0, 1)), 50)
        labels = [text for text in parsed(drawing.svg()).iter(f"{SVG}text") if text.text in names]
        if is_tilted:
            assert [label.text for label in labels] == names
            assert all(label.attrib["transform"].startswith("rotate(-30 ") for label in labels)
        else:
            for label, later in itertools.pairwise(labels):
                half = text_width(label.text) / 2 + text_width(later.text) / 2
                assert float(later.attrib["x"]) - float(label.attrib["x"]) >= half


def test_panels_stand_below_each_other_and_everything_is_inside_the_picture() -> None:
    drawing, first = drawn()
    second = drawing.add_panel(Axis.of(LINEAR, "x", str, 5), Axis.of(LINEAR, "y", str, 5), 60)
    assert second.frame.top > first.frame.bottom + first.x.height
    for number in range(9):
        drawing.explain(f"sign number {number}", line=LINE, marker=DOT)
    svg = drawing.svg()
    _, _, width, height = map(float, parsed(svg).attrib["viewBox"].split())
    assert width == WIDTH
    for text in parsed(svg).iter(f"{SVG}text"):
        extent = text_width(text.text)
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        assert 0 < y < height
        if "transform" not in text.attrib:
            left = x - {"end": extent, "middle": extent / 2}.get(text.get("text-anchor"), 0)
            assert left >= 0
            assert left + extent <= width
    assert drawing.svg() == svg, "it can be written again"


@pytest.mark.parametrize("length", [3, 12, 30, 90])
def test_the_legend_explains_each_name_once_side_by_side(length: int) -> None:
    drawing, _ = drawn()
    names = [f"{number} {'n' * length}" for number in range(7)]
    for name in (*names, *names):
        drawing.explain(name, marker=DOT)
    labels = [text for text in parsed(drawing.svg()).iter(f"{SVG}text") if text.text in names]
    assert [label.text for label in labels] == names
    boxes = [(float(label.attrib["x"]), float(label.attrib["y"]), text_width(label.text)) for label in labels]
    for (x, y, width), (other_x, other_y, other_width) in itertools.combinations(boxes, 2):
        assert abs(y - other_y) > 10 or x + width < other_x or other_x + other_width < x


def test_a_picture_is_one_element_without_styles_links_or_ids() -> None:
    drawing, panel = drawn()
    panel.draw_points([(1, 1)], DOT)
    panel.write(Label("<b>", (20, 20), has_halo=True))
    drawing.explain("dots & $x$", marker=DOT)
    svg = drawing.svg()
    assert set(parsed(svg).attrib) == {
        "viewBox",
        "role",
        "aria-label",
        "font-family",
        "font-size",
        "fill",
        "stroke-linejoin",
    }
    assert {"<b>", "dots & $x$"} <= set(texts(svg))
    for unwanted in ("<?xml", "<!DOCTYPE", "<style", "style=", "href", "<metadata", " id=", "url("):
        assert unwanted not in svg
    assert svg.count("http") == 1, "only the namespace"
    assert not re.search(r"[\d.]\.\d{3}", re.sub(r'data-[a-z-]+="[^"]*"', "", svg))


def test_the_description_is_read_out_as_it_is() -> None:
    odd = '"><script>alert(1)</script> & more'
    svg = Drawing(odd).svg()
    assert parsed(svg).get("aria-label") == odd
    assert "<script" not in svg
