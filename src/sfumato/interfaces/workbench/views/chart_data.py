"""Describe the pictures of the explore page for its scripts, which only place what is computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.results.candidate import Candidate
from sfumato.workflow.report.charts.frontier_chart import draw_plane
from sfumato.workflow.report.charts.panels import Panel
from sfumato.workflow.report.charts.plane import MeasureAxis, Plane
from sfumato.workflow.report.charts.svg import COLOURS, Marker, Style

MAGNIFIED = 1.25
"""The page shows a picture so many times as large as it is drawn, so that its letters can be read."""
_MOST_STEPS = 300
"""Of more candidates, only the efficient ones are steps at which a limit can be put."""
_WIDTHS, _HEIGHTS = (260, 2000), (160, 1400)


def chart_data(sheet: CandidateMatrix, knee: Candidate | None, axes: Sequence[MeasureAxis]) -> dict[str, Any]:
    """Return what both pictures need: the candidates, their families and the words of their tooltips."""
    place = {name: i for i, name in enumerate(sheet.families)}
    return {
        "measures": [{"label": axis.measure, "title": axis.title} for axis in axes],
        "families": [
            {
                "name": each.name,
                "colour": "ink" if each.name == "trivial" else f"family-{i % len(COLOURS)}",
                "outline": Marker(each.shape, 6, Style()).outline,
            }
            for i, each in enumerate(sheet.families.values())
        ],
        "ids": [candidate.id for candidate in sheet.candidates],
        "recipes": list(sheet.recipes),
        "family": [place[name] for name in sheet.family_names],
        "figures": [
            [f"{axis.title} {_printed(axis, candidate)}" for axis in axes] for candidate in sheet.candidates
        ],
        "broken": ["; ".join(sheet.broken.get(candidate.id, ())) for candidate in sheet.candidates],
        "front": [int(row) for row in sheet.front([axis.measure for axis in axes])],
        "knee": -1 if knee is None else sheet.candidates.index(knee),
    }


def plane_data(
    plane: Plane, sheet: CandidateMatrix, size: tuple[int, int], window: str = "", part: str = ""
) -> dict[str, Any]:
    """Return the plane as a picture, the places of the candidates on it, and where limits can be put.

    Parameters
    ----------
    plane, sheet
        The candidates between two axes, and in rows.
    size
        The width of the picture and the height of its panel on the page, in pixels.
    window
        The values at the ends of both axes, as an earlier answer had them; empty for the whole plane.
    part
        The part of that window to show: the fractions of both axes where it starts and ends.
    """
    seen = _part(plane, _numbers(window), _numbers(part))
    width, height = (
        round(min(max(length / MAGNIFIED, low), high))
        for length, (low, high) in zip(size, (_WIDTHS, _HEIGHTS), strict=True)
    )
    drawing, panel = draw_plane(seen, width=width, height=height, has_legend=False)
    frame = panel.frame
    is_whole = (seen.x.scale, seen.y.scale) == (plane.x.scale, plane.y.scale)
    ends = (*seen.x.scale.ends, *seen.y.scale.ends)
    return {
        "svg": drawing.svg(),
        "description": plane.description,
        "frame": [frame.left, frame.top, frame.right, frame.bottom],
        "window": "" if is_whole else ",".join(map(repr, ends)),
        "places": [_place(seen, panel, candidate) for candidate in sheet.candidates],
        "limits": [_limit(seen, panel, axis) for axis in (seen.x, seen.y)],
    }


def parallel_data(sheet: CandidateMatrix, axes: Sequence[MeasureAxis]) -> dict[str, Any]:
    """Return upright axes with their better end on top, and the place of each candidate on each."""
    return {
        "axes": [
            {
                "ticks": [[_up(axis, value), text] for value, text in axis.axis(6, 0).ticks],
                "forbidden": [[_up(axis, end), _up(axis, border)] for end, border in axis.forbidden],
                "stops": sorted(
                    {(_up(axis, value), value) for value in _values(axis, sheet) if math.isfinite(value)}
                ),
            }
            for axis in axes
        ],
        "places": [
            [
                None if (value := candidate.value(axis.measure)) is None else _up(axis, value)
                for candidate in sheet.candidates
            ]
            for axis in axes
        ],
    }


def _up(axis: MeasureAxis, value: float) -> float:
    fraction = axis.scale.fraction(axis.place(value))
    return round(fraction if axis.better == "higher" else 1 - fraction, 5)


def _values(axis: MeasureAxis, sheet: CandidateMatrix) -> list[float]:
    values = (candidate.value(axis.measure) for candidate in sheet.candidates)
    return [value for value in values if value is not None]


def _printed(axis: MeasureAxis, candidate: Candidate) -> str:
    value = candidate.value(axis.measure)
    return "not applicable" if value is None else axis.printed(value)


def _place(plane: Plane, panel: Panel, candidate: Candidate) -> list[float] | None:
    if any(candidate.value(axis.measure) is None for axis in (plane.x, plane.y)):
        return None
    place = panel.place(plane.point(candidate))
    return [round(part, 2) for part in place] if panel.frame.contains(place) else None


def _limit(plane: Plane, panel: Panel, axis: MeasureAxis) -> dict[str, Any]:
    """Return where the limit of an axis is, and the values of candidates at which it can be put."""
    side = 0 if axis is plane.x else 1
    is_most = axis.better == "lower"
    end = axis.limit.at_most if is_most else axis.limit.at_least
    steps = plane.comparable if len(plane.comparable) <= _MOST_STEPS else plane.frontier.efficient()
    values = {value for c in steps if math.isfinite(value := c.value(axis.measure) or 0.0)}
    inside = [value for value in values | {end} if axis.scale.contains(value)]
    ends = panel.x.scale.ends, panel.y.scale.ends

    def place(value: float) -> float:
        corner = (value, ends[1][0]) if side == 0 else (ends[0][0], value)
        return round(panel.place(corner)[side], 2)

    return {
        "label": axis.measure,
        "title": axis.title,
        "sign": "<=" if is_most else ">=",
        "at": repr(end) if math.isfinite(end) else "",
        "stops": [[place(value), repr(value), axis.printed(value)] for value in sorted(inside)],
        "none": place(axis.scale.high if is_most else axis.scale.low),
    }


def _part(plane: Plane, window: Sequence[float], part: Sequence[float]) -> Plane:
    """Return the plane between other ends, never more than the whole."""
    scales = []
    for number, axis in enumerate((plane.x, plane.y)):
        low, high = window[2 * number : 2 * number + 2] if len(window) == 4 else axis.scale.ends
        scale = axis.scale.between(low, high)
        if len(part) == 4:
            scale = scale.part(*part[2 * number : 2 * number + 2])
        low, high = (min(max(end, axis.scale.low), axis.scale.high) for end in scale.ends)
        scales.append(axis.scale.between(low, high) if low < high else axis.scale)
    return plane.on(*scales)


def _numbers(written: str) -> list[float]:
    """Read numbers from an address; what is not four numbers in order counts as nothing."""
    try:
        numbers = [float(number) for number in written.split(",")] if written else []
    except ValueError:
        return []
    is_range = len(numbers) == 4 and numbers[0] < numbers[1] and numbers[2] < numbers[3]
    return numbers if is_range and all(map(math.isfinite, numbers)) else []
