"""Shorten names for pictures, and place each label where it covers the least."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.runtime.arrays import Floats
from sfumato.workflow.report.charts.matplotlib_svg import FAINT, SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
"""A place in the units of the two axes."""
_Box = tuple[float, float, float, float]
_LONGEST_NAME = 32
_NEAR = 13.0
_OFFSETS = [
    (side * distance * math.cos(angle), distance * math.sin(angle))
    for distance in (_NEAR, 26.0, 42.0, 62.0)
    for angle in (0.0, 0.5, -0.5, 1.0, -1.0, 1.35, -1.35)
    for side in (1.0, -1.0)
]


def readable(name: str) -> str:
    """Shorten a name for a picture to one line without control characters."""
    kept = "".join(" " if sign.isspace() else "�" if _is_control(sign) else sign for sign in name)
    return kept if len(kept) <= _LONGEST_NAME else kept[: _LONGEST_NAME - 1] + "…"


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Cn"}


def write_labels(
    axes: Axes, labels: Sequence[tuple[Point, str]], *, points: Sequence[Point], line: Sequence[Point]
) -> None:
    """Write each label where it covers the fewest points, other labels and the least of the line."""
    plate: Any = axes.figure
    plate.draw_without_rendering()
    frame: _Box = axes.get_window_extent().extents
    to_pixels = axes.transData.transform
    marks, along = to_pixels(points), _sampled(to_pixels(line))
    taken: list[_Box] = []
    for point, text in labels:
        x, y = to_pixels(point)
        boxes = [_box(x + dx, y + dy, text, dx < 0) for dx, dy in _OFFSETS]
        costs = [
            1000 * _outside(box, frame)
            + 100 * sum(_overlap(box, other) for other in taken)
            + 10 * _covered(box, marks)
            + 2 * _covered(box, along)
            + math.hypot(*offset) / 20
            for box, offset in zip(boxes, _OFFSETS, strict=True)
        ]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        _write_label(axes, text, point, _OFFSETS[best])


def _write_label(axes: Axes, text: str, point: Point, offset: tuple[float, float]) -> None:
    lead = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkB": 7}
    axes.annotate(
        text,
        point,
        xytext=offset,
        textcoords="offset points",
        ha="left" if offset[0] >= 0 else "right",
        va="center",
        bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        arrowprops=lead if math.hypot(*offset) > _NEAR else None,
        zorder=6,
    )


def _box(x: float, y: float, text: str, ends_here: bool) -> _Box:
    """Return the box of a text that begins, or ends, at this point."""
    width = 0.58 * SIZE * len(text)
    left = x - width if ends_here else x
    return left, y - 0.75 * SIZE, left + width, y + 0.75 * SIZE


def _sampled(corners: Floats) -> Floats:
    """Return points along a line, a few pixels apart."""
    steps = np.linspace(0.0, 1.0, 40)[:, None]
    parts = [start + steps * (end - start) for start, end in itertools.pairwise(corners)]
    return np.concatenate([corners, *parts])


def _outside(box: _Box, frame: _Box) -> bool:
    return bool(box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3])


def _overlap(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _covered(box: _Box, points: Floats) -> int:
    inside = (points > np.array(box[:2]) - 4) & (points < np.array(box[2:]) + 4)
    return int(inside.all(axis=1).sum())
