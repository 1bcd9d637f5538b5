"""Curves: which share of the records lies in small classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato import formatting
from sfumato.arrays import Floats, Integers
from sfumato.caching import remembered
from sfumato.errors import ParameterError
from sfumato.report.labels import readable
from sfumato.report.plane import COLOURS, draw_legend, say_empty, ticks
from sfumato.report.svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sizes = Sequence[int] | Integers
"""The number of records of each class."""
_MOST_STEPS = 400
_DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1)))


def class_sizes_chart(sizes: Sizes) -> str:
    """Draw which share of the records lies in classes of at most each size.

    Parameters
    ----------
    sizes
        The number of records of each class.
    """
    curve = _Curve.of(sizes)
    # who publishes draws it for the report, and again to check what was written
    key = ("class sizes", curve.values.tobytes(), curve.reached.tobytes())
    return remembered(key, lambda: _drawn(curve))


def _drawn(curve: _Curve) -> str:
    def draw(axes: Axes) -> None:
        if not _prepare(axes, [curve]):
            return
        x, y = curve.corners(curve.high)
        axes.fill_between(x, y, step="post", color=COLOURS[0], alpha=0.12, linewidth=0)
        axes.step(x, y, where="post", color=COLOURS[0], linewidth=1.6)

    smallest = int(curve.low) if len(curve.values) else 0
    return draw_svg(
        "classes", f"Cumulative class sizes; the smallest class has {smallest} records", 2.9, draw
    )


def class_size_curves(releases: Mapping[str, Sizes]) -> str:
    """Draw the same for several releases; the curve that rises later protects more people better.

    Parameters
    ----------
    releases
        For each release its name and the number of records of each class.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    figure 6.
    """
    if len(releases) > len(_DASHES):
        raise ParameterError(f"at most {len(_DASHES)} releases can be told apart in one picture")
    curves = {name: _Curve.of(sizes) for name, sizes in releases.items()}

    def draw(axes: Axes) -> None:
        if not _prepare(axes, list(curves.values())):
            return
        far = max(curve.high for curve in curves.values())
        for (name, curve), colour, dashes in zip(curves.items(), COLOURS, _DASHES, strict=False):
            x, y = curve.corners(far)
            axes.step(x, y, where="post", color=colour, linestyle=dashes, linewidth=1.8, label=readable(name))
        draw_legend(axes, columns=2)

    return draw_svg("curves", f"Cumulative class sizes of {len(curves)} releases", 3.6, draw)


@dataclass(frozen=True, eq=False)
class _Curve:
    """The class sizes that occur, and which share of the records lies in classes of at most each."""

    values: Integers
    reached: Floats

    @classmethod
    def of(cls, sizes: Sizes) -> _Curve:
        values, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        reached = np.cumsum(values * counts) / max(int(values @ counts), 1)
        if len(values) > _MOST_STEPS:
            seen = np.searchsorted(values, np.geomspace(values[0], values[-1], _MOST_STEPS).round(6))
            drawn = np.unique(np.append(seen.clip(0, len(values) - 1), len(values) - 1))
            values, reached = values[drawn], reached[drawn]
        return cls(values, reached)

    @property
    def low(self) -> float:
        return float(self.values[0])

    @property
    def high(self) -> float:
        return float(self.values[-1])

    def corners(self, far: float) -> tuple[Floats, Floats]:
        """Return the corners of the steps, from the axis up to beyond the right border."""
        x = np.concatenate([[self.low], self.values, [far * 1e3]])
        return x, np.concatenate([[0.0], self.reached, [1.0]])


def _prepare(axes: Axes, curves: Sequence[_Curve]) -> bool:
    """Set the axes up; return whether there is something to draw."""
    axes.set_xscale("log")
    axes.set_xlabel("class size (records that look alike; log scale)")
    axes.set_ylabel("share of records in\nclasses of at most this size")
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_formatter(ticks(formatting.share))
    axes.xaxis.set_major_formatter(ticks(formatting.number))
    axes.xaxis.set_minor_formatter(lambda *_: "")
    if not all(len(curve.values) for curve in curves):
        say_empty(axes, "no records")
        return False
    low, high = min(curve.low for curve in curves), max(curve.high for curve in curves)
    axes.set_xlim(low / (high / low) ** 0.06 / 1.25, high * (high / low) ** 0.06 * 1.25)
    if high / low < 10:
        axes.set_xticks(sorted({low, high}))
        axes.tick_params(which="minor", length=0)
    axes.grid(axis="both")
    return True
