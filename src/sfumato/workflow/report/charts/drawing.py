"""Stack panels and a legend into one SVG element."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from sfumato.workflow.report.charts.panels import Axis, Frame, Panel
from sfumato.workflow.report.charts.svg import (
    FONTS,
    INK,
    PAPER,
    SIZE,
    Label,
    Marker,
    Style,
    element,
    path,
    text_width,
)

WIDTH = 520
"""The width of a picture of a page in pixels; the page scales it."""
MARGIN = 8
_SIGN = 24.0
"""The width of a sign in the legend."""
_GAP = 14.0
_ROW = 14
_MOST_COLUMNS = 4


@dataclass
class Drawing:
    """A picture that grows downwards: panels first, then the legend.

    Parameters
    ----------
    description
        The picture in a sentence, for those who do not see it.
    width
        Its width in pixels; a page may scale it.

    Examples
    --------
    >>> from sfumato.workflow.report.charts.scales import Scale
    >>> drawing = Drawing("A line")
    >>> panel = drawing.add_panel(Axis(Scale(0, 1)), Axis(Scale(0, 1)), 100)
    >>> panel.draw_line([(0, 0), (1, 1)], Style(stroke=INK), data={"claim": "a"})
    >>> drawing.svg().count("data-claim")
    1
    """

    description: str
    width: int = WIDTH
    bottom: int = MARGIN
    _panels: list[Panel] = field(default_factory=list)
    _signs: dict[str, tuple[Style | None, Marker | None]] = field(default_factory=dict)

    def add_panel(self, x: Axis, y: Axis, height: int, *, right: float = MARGIN) -> Panel:
        """Add a panel of this height at the bottom.

        Parameters
        ----------
        x, y
            Its axes.
        height
            The length of the upright axis.
        right
            The room to the right; the upright axis takes what it needs to the left.
        """
        # whole pixels, so that the range which the panel declares is exact
        left = math.ceil(MARGIN + y.width)
        return self.place_panel(
            Frame(left, self.bottom, self.width - math.ceil(right), self.bottom + height), x, y
        )

    def place_panel(self, frame: Frame, x: Axis, y: Axis) -> Panel:
        """Add a panel at this place."""
        panel = Panel(frame, x, y)
        self.bottom = max(self.bottom, math.ceil(frame.bottom + x.height + MARGIN))
        self._panels.append(panel)
        return panel

    def explain(self, name: str, *, line: Style | None = None, marker: Marker | None = None) -> None:
        """Explain a line or a marker in the legend; a name is explained once."""
        self._signs.setdefault(name, (line, marker))

    def svg(self) -> str:
        """Return the picture as one SVG element."""
        columns = self._columns()
        n_rows = math.ceil(len(self._signs) / len(columns)) if columns else 0
        height = self.bottom + n_rows * _ROW + (MARGIN if columns else 0)
        attributes: dict[str, str | float] = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {self.width:g} {height}",
            "role": "img",
            "aria-label": self.description,
            "font-family": FONTS,
            "font-size": SIZE,
            "fill": INK,
            "stroke-linejoin": "round",
        }
        ground = element("rect", {"width": self.width, "height": height, "fill": PAPER})
        panels = (panel.markup() for panel in self._panels)
        return element("svg", attributes, ground, *panels, *self._legend(columns))

    def _columns(self) -> list[float]:
        """Return the widths of as many legend columns as fit next to each other."""
        names = [*self._signs]
        for n_columns in range(min(_MOST_COLUMNS, len(names)), 0, -1):
            columns = [names[first::n_columns] for first in range(n_columns)]
            widths = [_SIGN + max(map(text_width, column)) + _GAP for column in columns]
            if sum(widths) <= self.width:
                return widths
        return [self.width] if names else []

    def _legend(self, columns: list[float]) -> Iterator[str]:
        """Write the legend row by row."""
        left = (self.width + _GAP - sum(columns)) / 2
        for number, (name, (line, marker)) in enumerate(self._signs.items()):
            row, column = divmod(number, len(columns))
            x, y = left + sum(columns[:column]), self.bottom + (row + 0.5) * _ROW
            if line is not None:
                yield element("path", {"d": path([(x, y), (x + _SIGN - 6, y)]), **line.attributes})
            if marker is not None:
                yield element("g", marker.style.attributes, marker.draw((x + _SIGN / 2 - 3, y)))
            yield Label(name, (x + _SIGN, y)).draw()
