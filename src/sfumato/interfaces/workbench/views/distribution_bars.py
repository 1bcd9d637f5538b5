"""Compute the bars that show how the values of one attribute are distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.data.hierarchy import interval_label
from sfumato.data.kinds import Value
from sfumato.data.table import Column, Table, text
from sfumato.runtime.arrays import Floats, Integers

_BINS = 24
_CATEGORIES = 24


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its number of records, and its height relative to the highest one."""

    label: str
    count: int
    height: float
    is_rest: bool = False


@dataclass(frozen=True)
class BarChart:
    """The bars of one attribute, and one sentence for people who cannot see them."""

    bars: tuple[Bar, ...]
    description: str


def counts_of(table: Table, column: Column) -> Integers:
    """Return the number of records with each value of a column."""
    return np.bincount(column.codes, weights=table.weights, minlength=len(column.domain)).astype(np.int64)


def distribution(table: Table, column: Column) -> BarChart:
    """Draw a column: numbers in intervals of equal width, categories by descending frequency."""
    counts = counts_of(table, column)
    present = [place for place, value in enumerate(column.domain) if value is not None and counts[place]]
    values = [column.domain[place] for place in present]
    if column.kind.is_number and len(values) > _BINS:
        return _in_bins(values, counts[present])
    if column.kind.is_ordered and len(values) <= _BINS:
        labels = [text(value) or "" for value in values]
        described = f"Records at each of {len(values)} {column.kind.plural}"
        return BarChart(_bars(labels, counts[present]), described)
    return _in_categories(values, counts[present])


def _in_bins(values: Sequence[Value], counts: Integers) -> BarChart:
    numbers = np.array(values, dtype=np.float64)
    totals, edges = np.histogram(numbers, bins=_edges(numbers), weights=counts)
    plain = [float(f"{edge:.6g}") for edge in edges]
    labels = [interval_label(low, high) for low, high in pairwise(plain)]
    ends = f"{text(float(numbers.min()))} to {text(float(numbers.max()))}"
    return BarChart(_bars(labels, totals.astype(np.int64)), f"Records from {ends} in {len(labels)} intervals")


def _edges(numbers: Floats) -> Floats:
    """Return the borders of a bounded number of intervals; whole for whole numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    if (numbers % 1 == 0).all() and high - low < 2**52:
        width = math.ceil((high - low + 1) / _BINS)
        return low + width * np.arange(math.ceil((high - low + 1) / width) + 1, dtype=np.float64)
    return low + (high - low) / _BINS * np.arange(_BINS + 1, dtype=np.float64)


def _in_categories(values: Sequence[Value], counts: Integers) -> BarChart:
    order = np.argsort(-counts, kind="stable")
    shown = order if len(order) <= _CATEGORIES else order[: _CATEGORIES - 1]
    bars = _bars([text(values[place]) or "" for place in shown], counts[shown])
    n_more = len(order) - len(shown)
    description = f"Records in each of {len(values):,} categories"
    if n_more:
        rest = int(counts[order[len(shown) :]].sum())
        highest = max(int(counts.max()), rest, 1)
        bars = tuple(Bar(bar.label, bar.count, bar.count / highest) for bar in bars)
        bars = (*bars, Bar(f"{n_more:,} others", rest, rest / highest, is_rest=True))
        description += f", the {len(shown)} most frequent first and the others together"
    return BarChart(bars, description)


def _bars(labels: Sequence[str], counts: Integers) -> tuple[Bar, ...]:
    highest = max(int(counts.max(initial=0)), 1)
    pairs = zip(labels, counts.tolist(), strict=True)
    return tuple(Bar(label, count, count / highest) for label, count in pairs)
