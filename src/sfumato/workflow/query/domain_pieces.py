"""Cut the domain of an attribute into pieces at the values that a query mentions.

Numbers are cut into points and the gaps between them. Categories are cut into the values that the release
names, and one more piece for all that it does not name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.table import text
from sfumato.runtime.arrays import Booleans, Floats
from sfumato.workflow.query.published_labels import Wording
from sfumato.workflow.query.query_language import Span

UNNAMED = ""
"""What a piece is called that has no name of its own."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The values of one attribute in pieces, and what each label may represent.

    Parameters
    ----------
    names
        How each piece is written; ``None`` is the missing value.
    inside
        A number inside each piece, where they are numbers.
    possible
        For each label and each piece whether the label may stand for a value there.
    masses
        How much of each label lies there, when all values are equally likely.
    means, squares
        The mean of the label's numbers there, and of their squares.
    least, most
        The smallest and the largest number that the label may stand for there.
    """

    names: tuple[Label, ...]
    inside: Floats
    possible: Booleans = field(repr=False)
    masses: Floats = field(repr=False)
    means: Floats = field(repr=False)
    squares: Floats = field(repr=False)
    least: Floats = field(repr=False)
    most: Floats = field(repr=False)

    @property
    def shares(self) -> Floats:
        """The share of each label in each piece if all values are equally likely."""
        return np.asarray(self.masses / self.masses.sum(axis=1, keepdims=True))


def cut(wording: Wording, at: Iterable[float], *, apart: bool, also: Iterable[str] = ()) -> Pieces:
    """Cut the values of an attribute into pieces.

    Parameters
    ----------
    wording
        Its labels.
    at
        Numbers to cut at.
    apart
        Whether every number is a piece of its own.
    also
        Categories that the release does not name and labels may stand for.
    """
    return _numbers(wording, at, apart) if wording.is_numeric else _categories(wording, also)


def _categories(wording: Wording, also: Iterable[str]) -> Pieces:
    values = tuple(dict.fromkeys([*wording.values, *also]))
    missing, unnamed = len(values), len(values) + 1
    possible = np.zeros((len(wording.labels), len(values) + 2), dtype=np.bool_)
    masses = np.zeros(possible.shape)
    for row, (label, meant) in enumerate(zip(wording.labels, wording.meanings, strict=True)):
        possible[row, : len(values)] = [meant.may_be(value) for value in values]
        possible[row, missing], possible[row, unnamed] = meant.missing, meant.is_open
        masses[row] = possible[row]
        masses[row, len(wording.values) : missing] = 0.0
        masses[row, missing] = meant.missing and (label != ROOT or wording.has_missing)
        masses[row, unnamed] = not masses[row, :unnamed].any()
    nothing = np.full(possible.shape, np.nan)
    names = (*values, None, UNNAMED)
    return Pieces(names, nothing[0], possible, masses, nothing, nothing, nothing, nothing)


def _numbers(wording: Wording, at: Iterable[float], apart: bool) -> Pieces:
    lows, highs = _ends_of_pieces(_edges(wording, at, apart), wording.whole)
    spans = [(row, span) for row, meant in enumerate(wording.meanings) for span in meant.spans]
    rows = np.array([row for row, _ in spans], dtype=np.int64)
    parts = _overlaps([span for _, span in spans], lows, highs, wording.range, wording.whole)
    shape = len(wording.labels), len(lows) + 1
    masses, sums, squares = (_added(rows, part, shape) for part in (parts.masses, parts.sums, parts.squares))
    possible = _added(rows, parts.possible.astype(np.float64), shape) > 0
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(least[:, :-1], rows, np.where(parts.possible, parts.least, np.inf))
    np.maximum.at(most[:, :-1], rows, np.where(parts.possible, parts.most, -np.inf))
    possible[:, -1] = [meant.missing for meant in wording.meanings]
    is_named = np.array([label != ROOT or wording.has_missing for label in wording.labels])
    masses[:, -1] = possible[:, -1] & is_named
    with np.errstate(invalid="ignore", divide="ignore"):
        means, squares = (np.where(masses > 0, total / masses, 0.0) for total in (sums, squares))
    names = (*(text(low) if low == high else UNNAMED for low, high in zip(lows, highs, strict=True)), None)
    inside = np.append(_points_inside(lows, highs, wording.whole), np.nan)
    # all that a label may be lies beyond what a reader thinks of: it is taken for the nearest piece
    for row in np.flatnonzero(~masses.any(axis=1)):
        piece = possible[row].argmax()
        masses[row, piece], means[row, piece], squares[row, piece] = 1.0, inside[piece], inside[piece] ** 2
    return Pieces(names, inside, possible, masses, means, squares, least, most)


def _edges(wording: Wording, at: Iterable[float], apart: bool) -> list[float]:
    """Return the numbers that are pieces of their own."""
    low, high = wording.range
    if apart and wording.is_exact:
        return sorted({span.low for meant in wording.meanings for span in meant.spans} | set(at))
    edges = {low, high, *at} | (set(range(int(low), int(high) + 1)) if apart else set())
    if not wording.whole:
        return sorted(edges)
    return sorted({math.floor(edge) for edge in edges} | {math.ceil(edge) for edge in edges})


def _ends_of_pieces(edges: Sequence[float], whole: bool) -> tuple[Floats, Floats]:
    """Return both ends of each piece: the edges, and the gaps between, below and above them."""
    points = np.array(edges, dtype=np.float64)
    before, after = np.insert(points, 0, -np.inf), np.append(points, np.inf)
    if whole:
        before, after = before + 1, after - 1
    lows = np.stack([before, np.append(points, np.nan)], axis=1).ravel()[:-1]
    highs = np.stack([after, np.append(points, np.nan)], axis=1).ravel()[:-1]
    is_piece = lows <= highs
    return lows[is_piece], highs[is_piece]


def _points_inside(lows: Floats, highs: Floats, whole: bool) -> Floats:
    """Return a number inside each piece."""
    with np.errstate(invalid="ignore"):
        middles = (lows + highs) / 2
    step = 0.0 if whole else 1.0
    return np.where(
        np.isinf(lows), highs - step, np.where(np.isinf(highs), lows + step, lows if whole else middles)
    )


@dataclass(frozen=True, eq=False)
class _Overlaps:
    """The overlaps of spans and pieces: one row for each span, one column for each piece."""

    possible: Booleans
    masses: Floats
    sums: Floats
    squares: Floats
    least: Floats
    most: Floats


def _overlaps(
    spans: Sequence[Span], lows: Floats, highs: Floats, thought: tuple[float, float], whole: bool
) -> _Overlaps:
    """Compare each span with each piece; only the range that a reader assumes carries mass."""
    first = np.array([[span.low] for span in spans])
    last = np.array([[span.high] for span in spans])
    least, most = np.maximum(first, lows), np.minimum(last, highs)
    low, high = np.clip(least, *thought), np.clip(most, *thought)
    is_point = first == last
    if whole:
        possible = least <= most
        masses = np.where(possible & (most >= thought[0]) & (least <= thought[1]), high - low + 1, 0.0)
        spread = (masses**2 - 1) / 12
    else:
        possible = _intersect(spans, lows, highs)
        masses = np.where(possible, np.where(is_point, 1.0, np.maximum(high - low, 0.0)), 0.0)
        spread = np.where(is_point, 0.0, masses**2 / 12)
    middles = (low + high) / 2
    return _Overlaps(possible, masses, masses * middles, masses * (middles**2 + spread), least, most)


def _intersect(spans: Sequence[Span], lows: Floats, highs: Floats) -> Booleans:
    """Return whether a span and a piece share a number; a piece that is not a point excludes its ends."""
    first = np.array([[span.low] for span in spans])
    last = np.array([[span.high] for span in spans])
    with_first = np.array([[span.with_low] for span in spans])
    with_last = np.array([[span.with_high] for span in spans])
    is_point = lows == highs
    on_points = ((first < lows) | (with_first & (first == lows))) & (
        (last > lows) | (with_last & (last == lows))
    )
    in_gaps = np.maximum(first, lows) < np.minimum(last, highs)
    at_gaps = (first == last) & (lows < first) & (first < highs)
    return np.where(is_point, on_points, in_gaps | at_gaps)


def _added(rows: np.ndarray, parts: Floats, shape: tuple[int, int]) -> Floats:
    """Add up the spans of each label, with an empty column for the missing value."""
    total = np.zeros(shape)
    np.add.at(total[:, :-1], rows, parts)
    return total
