"""Compare the distribution of one attribute in the original and in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.data.hierarchy import interval_label
from sfumato.data.table import Column, text
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Floats, Integers

_BINS = 24
_CATEGORIES = 18


@dataclass(frozen=True)
class Pair:
    """One value, or several merged: the numbers of records in the original and in the release."""

    label: str
    before: float
    after: float
    is_rest: bool = False


@dataclass(frozen=True)
class BeforeAfter:
    """All values of an attribute, and the largest number of records among them."""

    pairs: tuple[Pair, ...]
    description: str

    @property
    def highest(self) -> float:
        """The largest number of records, at least 1."""
        return max([1.0, *(max(pair.before, pair.after) for pair in self.pairs)])


def before_and_after(release: Release, name: str) -> BeforeAfter | None:
    """Compare the original and the released distribution; ``None`` without the original.

    A released value that stands for several original ones is spread evenly over them, as a reader would
    who knows nothing else.
    """
    if not isinstance(release, LinkedRelease) or name not in release.origin.table.columns:
        return None
    original = release.origin.table
    column = original[name]
    before = _added(column.codes, original.weights, len(column.domain))
    cells = release.cells[name]
    if column.kind.is_number:
        return _numbers(column, before, cells, release.weights)
    return _categories(column, before, _spread(column, cells, release.weights))


def _counts(cells: Cells, weights: Integers) -> Floats:
    return _added(cells.codes, weights, len(cells.labels))


def _added(codes: Codes, weights: Integers | Floats, n_codes: int) -> Floats:
    return np.bincount(codes, weights=weights, minlength=n_codes).astype(np.float64)


def _spread(column: Column, cells: Cells, weights: Integers) -> Floats:
    """Return the expected number of released records with each original value."""
    counts = _counts(cells, weights)
    if cells.sets is None:
        place = {label: code for code, label in enumerate(map(text, column.domain))}
        expected = np.zeros(len(column.domain))
        for label, count in zip(cells.labels, counts, strict=True):
            if label in place:
                expected[place[label]] += count
        return expected
    sizes = np.diff(cells.sets.starts)
    share = np.repeat(counts / np.maximum(sizes, 1), sizes)
    return _added(cells.sets.members, share, len(column.domain))


def _numbers(column: Column, before: Floats, cells: Cells, weights: Integers) -> BeforeAfter:
    """Compare numbers in intervals of equal width, or one by one if there are few."""
    places = [place for place, value in enumerate(column.domain) if value is not None]
    numbers = np.array([column.domain[place] for place in places], dtype=np.float64)
    missing = [] if column.missing_code is None else [column.missing_code]
    if cells.sets is not None:
        after = _spread(column, cells, weights)
        if len(places) <= _BINS:
            labels = [text(value) or "missing" for value in column.domain]
            return _paired(labels, before, after, f"Records at each of {len(places)} numbers")
        released, amounts = numbers, after[places]
        lacking = float(after[missing].sum())
    else:
        known = [place for place, value in enumerate(cells.domain) if value is not None]
        counts = _counts(cells, weights)
        released = np.array([cells.domain[place] for place in known], dtype=np.float64)
        amounts = counts[known]
        lacking = float(counts.sum() - amounts.sum())
    edges = np.histogram_bin_edges(numbers, bins=min(_BINS, max(len(numbers), 1)))
    first, _ = np.histogram(numbers, edges, weights=before[places])
    second, _ = np.histogram(np.clip(released, edges[0], edges[-1]), edges, weights=amounts)
    labels = [interval_label(float(f"{low:.4g}"), float(f"{high:.4g}")) for low, high in pairwise(edges)]
    if missing:
        labels, first = [*labels, "missing"], np.append(first, before[missing].sum())
        second = np.append(second, lacking)
    return _paired(labels, first, second, f"Records in {len(labels)} intervals")


def _categories(column: Column, before: Floats, after: Floats) -> BeforeAfter:
    order = np.argsort(-before, kind="stable")
    shown = order if len(order) <= _CATEGORIES else order[: _CATEGORIES - 1]
    rest = order[len(shown) :]
    labels = [text(column.domain[place]) or "missing" for place in shown]
    most_frequent = _paired(
        labels, before[shown], after[shown], f"Records in each of {len(order):,} categories"
    )
    if not len(rest):
        return most_frequent
    others = Pair(f"{len(rest):,} others", float(before[rest].sum()), float(after[rest].sum()), is_rest=True)
    return BeforeAfter(
        (*most_frequent.pairs, others), f"{most_frequent.description}, the most frequent first"
    )


def _paired(labels: Sequence[str], before: Floats, after: Floats, description: str) -> BeforeAfter:
    rows = zip(labels, before.tolist(), after.tolist(), strict=True)
    return BeforeAfter(tuple(Pair(label, first, second) for label, first, second in rows), description)
