"""Shorten names for pictures, and place each label where it covers the least."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Sequence

import numpy as np

from sfumato.runtime.arrays import Floats
from sfumato.workflow.report.charts.panels import Frame, Panel
from sfumato.workflow.report.charts.svg import FAINT, SIZE, Label, Point, Style, element, path, text_width

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
    panel: Panel, labels: Sequence[tuple[Point, str]], *, points: Sequence[Point], line: Sequence[Point]
) -> None:
    """Write each label where it covers the fewest points, other labels and the least of the line."""
    marks = np.array([*map(panel.place, points)]).reshape(-1, 2)
    along = _sampled(np.array([*map(panel.place, line)]).reshape(-1, 2))
    written: list[Frame] = []
    for point, text in labels:
        x, y = panel.place(point)
        if not panel.frame.contains((x, y)):
            continue
        boxes = [_box(x + dx, y + dy, text, dx < 0) for dx, dy in _OFFSETS]
        costs = [
            1000 * _is_outside(box, panel.frame)
            + 100 * sum(_overlap(box, other) for other in written)
            + 10 * _covered(box, marks)
            + 2 * _covered(box, along)
            + math.hypot(*offset) / 20
            for box, offset in zip(boxes, _OFFSETS, strict=True)
        ]
        # rounded, so that the last digit of a cosine decides nothing
        best = int(np.argmin(np.round(costs, 6)))
        written.append(boxes[best])
        dx, dy = _OFFSETS[best]
        if math.hypot(dx, dy) > _NEAR + 1:
            ends = [(x + dx * 7 / math.hypot(dx, dy), y + dy * 7 / math.hypot(dx, dy)), (x + dx, y + dy)]
            lead = Style(stroke=FAINT, width=0.7)
            panel.parts.append(element("path", {"d": path(ends), **lead.attributes}))
        panel.write(Label(text, (x + dx, y + dy), "start" if dx >= 0 else "end", has_halo=True))


def _box(x: float, y: float, text: str, ends_here: bool) -> Frame:
    """Return the box of a text that begins, or ends, at this point."""
    width = text_width(text)
    left = x - width if ends_here else x
    return Frame(left, y - 0.75 * SIZE, left + width, y + 0.75 * SIZE)


def _sampled(corners: Floats) -> Floats:
    """Return points along a line, a few pixels apart."""
    steps = np.linspace(0.0, 1.0, 40)[:, None]
    parts = [start + steps * (end - start) for start, end in itertools.pairwise(corners)]
    return np.concatenate([corners, *parts])


def _is_outside(box: Frame, frame: Frame) -> bool:
    return not (frame.contains((box.left, box.top)) and frame.contains((box.right, box.bottom)))


def _overlap(box: Frame, other: Frame) -> bool:
    is_beside = box.left >= other.right or other.left >= box.right
    return not (is_beside or box.top >= other.bottom or other.top >= box.bottom)


def _covered(box: Frame, points: Floats) -> int:
    inside = (points > np.array([box.left, box.top]) - 4) & (points < np.array([box.right, box.bottom]) + 4)
    return int(inside.all(axis=1).sum())
