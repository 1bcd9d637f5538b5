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
from sfumato.workflow.query.published_labels import PublishedLabels
from sfumato.workflow.query.query_language import Span

UNNAMED = ""
"""The name of a piece that has no name of its own."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The values of one attribute in pieces, and what each label may represent.

    Parameters
    ----------
    names
        How each piece is written; ``None`` is the missing value.
    inside
        A number inside each piece, if the values are numbers.
    possible
        For each label and each piece, whether the label may represent a value in it.
    masses
        The part of each label in each piece if all values are equally likely.
    means, squares
        The mean of the label's numbers in the piece, and of their squares.
    least, most
        The smallest and the largest number in the piece that the label may represent.
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


def cut(
    labels: PublishedLabels, at: Iterable[float], *, one_by_one: bool, extra_values: Iterable[str] = ()
) -> Pieces:
    """Cut the values of an attribute into pieces.

    Parameters
    ----------
    labels
        Its labels.
    at
        Numbers to cut at.
    one_by_one
        Whether every number is a piece of its own.
    extra_values
        Categories that no label names but some label may represent.
    """
    return (
        _cut_numbers(labels, at, one_by_one) if labels.is_numeric else _cut_categories(labels, extra_values)
    )


def _cut_categories(labels: PublishedLabels, extra_values: Iterable[str]) -> Pieces:
    values = tuple(dict.fromkeys([*labels.values, *extra_values]))
    missing, unnamed = len(values), len(values) + 1
    possible = np.zeros((len(labels.labels), len(values) + 2), dtype=np.bool_)
    masses = np.zeros(possible.shape)
    for row, (label, meaning) in enumerate(zip(labels.labels, labels.meanings, strict=True)):
        possible[row, : len(values)] = [meaning.may_be(value) for value in values]
        possible[row, missing], possible[row, unnamed] = meaning.missing, meaning.is_open
        masses[row] = possible[row]
        masses[row, len(labels.values) : missing] = 0.0
        masses[row, missing] = meaning.missing and (label != ROOT or labels.has_missing)
        masses[row, unnamed] = not masses[row, :unnamed].any()
    nothing = np.full(possible.shape, np.nan)
    names = (*values, None, UNNAMED)
    return Pieces(names, nothing[0], possible, masses, nothing, nothing, nothing, nothing)


def _cut_numbers(labels: PublishedLabels, at: Iterable[float], one_by_one: bool) -> Pieces:
    lows, highs, inside = _number_pieces(labels, at, one_by_one)
    spans = [(row, span) for row, meaning in enumerate(labels.meanings) for span in meaning.spans]
    rows = np.array([row for row, _ in spans], dtype=np.int64)
    parts = _overlaps([span for _, span in spans], lows, highs, labels.range, labels.whole)
    shape = len(labels.labels), len(lows) + 1
    masses, sums, squares = (_summed(rows, part, shape) for part in (parts.masses, parts.sums, parts.squares))
    possible = _summed(rows, parts.possible.astype(np.float64), shape) > 0
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(least[:, :-1], rows, np.where(parts.possible, parts.least, np.inf))
    np.maximum.at(most[:, :-1], rows, np.where(parts.possible, parts.most, -np.inf))
    possible[:, -1] = [meaning.missing for meaning in labels.meanings]
    is_named = np.array([label != ROOT or labels.has_missing for label in labels.labels])
    masses[:, -1] = possible[:, -1] & is_named
    with np.errstate(invalid="ignore", divide="ignore"):
        means, squares = (np.where(masses > 0, total / masses, 0.0) for total in (sums, squares))
    names = (*(text(low) if low == high else UNNAMED for low, high in zip(lows, highs, strict=True)), None)
    # a label that lies entirely outside the range that a reader assumes counts as the nearest piece
    for row in np.flatnonzero(~masses.any(axis=1)):
        piece = possible[row].argmax()
        masses[row, piece], means[row, piece], squares[row, piece] = 1.0, inside[piece], inside[piece] ** 2
    return Pieces(names, inside, possible, masses, means, squares, least, most)


def _number_pieces(
    labels: PublishedLabels, at: Iterable[float], one_by_one: bool
) -> tuple[Floats, Floats, Floats]:
    """Return both ends of each piece, and a number inside; the last number is that of the missing value.

    The pieces are the edges themselves, and the gaps between, below and above them.
    """
    low, high = labels.range
    if one_by_one and labels.is_exact:
        edges = {span.low for meaning in labels.meanings for span in meaning.spans} | set(at)
    else:
        edges = {low, high, *at} | (set(range(int(low), int(high) + 1)) if one_by_one else set())
        if labels.whole:
            edges = {math.floor(edge) for edge in edges} | {math.ceil(edge) for edge in edges}
    points = np.array(sorted(edges), dtype=np.float64)
    before, after = np.insert(points, 0, -np.inf), np.append(points, np.inf)
    if labels.whole:
        before, after = before + 1, after - 1
    lows = np.stack([before, np.append(points, np.nan)], axis=1).ravel()[:-1]
    highs = np.stack([after, np.append(points, np.nan)], axis=1).ravel()[:-1]
    is_piece = lows <= highs
    lows, highs = lows[is_piece], highs[is_piece]
    with np.errstate(invalid="ignore"):
        inside = lows if labels.whole else (lows + highs) / 2
    step = 0.0 if labels.whole else 1.0
    inside = np.where(np.isinf(lows), highs - step, np.where(np.isinf(highs), lows + step, inside))
    return lows, highs, np.append(inside, np.nan)


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
    spans: Sequence[Span], lows: Floats, highs: Floats, assumed: tuple[float, float], whole: bool
) -> _Overlaps:
    """Compare each span with each piece; only the range that a reader assumes has mass."""
    first = np.array([[span.low] for span in spans])
    last = np.array([[span.high] for span in spans])
    least, most = np.maximum(first, lows), np.minimum(last, highs)
    low, high = np.clip(least, *assumed), np.clip(most, *assumed)
    is_point = first == last
    if whole:
        possible = least <= most
        masses = np.where(possible & (most >= assumed[0]) & (least <= assumed[1]), high - low + 1, 0.0)
        spread = (masses**2 - 1) / 12
    else:
        # a piece is a point, or a gap that does not contain its ends
        with_first = np.array([[span.with_low] for span in spans])
        with_last = np.array([[span.with_high] for span in spans])
        is_in_span = ((first < lows) | (with_first & (first == lows))) & (
            (last > lows) | (with_last & (last == lows))
        )
        meets_gap = (least < most) | (is_point & (lows < first) & (first < highs))
        possible = np.where(lows == highs, is_in_span, meets_gap)
        masses = np.where(possible, np.where(is_point, 1.0, np.maximum(high - low, 0.0)), 0.0)
        spread = np.where(is_point, 0.0, masses**2 / 12)
    middles = (low + high) / 2
    return _Overlaps(possible, masses, masses * middles, masses * (middles**2 + spread), least, most)


def _summed(rows: np.ndarray, parts: Floats, shape: tuple[int, int]) -> Floats:
    """Add up the spans of each label; the last column is for the missing value and stays empty."""
    total = np.zeros(shape)
    np.add.at(total[:, :-1], rows, parts)
    return total
