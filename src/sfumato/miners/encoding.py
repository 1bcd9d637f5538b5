"""Encode released cells as numeric columns, so that a miner can use generalized values.

A miner declares one of three encodings:

``columns``
    A category is one column for each original value, with the value's share of the released set: ``{a, b}``
    is half an ``a`` and half a ``b``, ``*`` is a little of everything. A number is the middle and the width
    of the released set; a noisy number is used as it is.
``bins``
    Numbers are shares, too: of ten bins with about equally many records.
``codes``
    One column for each attribute: the number of the released value, or of the bin.

If cells are read as ``labels`` instead of ``shares``, an attribute that is generalized anywhere is a category
with one value per released label: ``20-29`` and ``25-29`` have nothing in common, nor have ``*`` and ``a``.
Numbers that are released as intervals are then categories, too.

A category with many values keeps columns for the most frequent ones, and the others share one. Constant
columns are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.miners.base import CellsAs, Encoding
from sfumato.miners.knowledge import numbers_of, published
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Floats, Integers

MOST_COLUMNS = 100
N_BINS = 10


def encode(
    release: Release, names: Sequence[str], encoding: Encoding, cells: CellsAs = "shares"
) -> tuple[Integers, Floats]:
    """Return the pattern of each released row and for each pattern its columns.

    Rows with the same pattern look the same to every miner.
    """
    kinds = [published(release, name) for name in names]
    pattern_of, n_patterns = number_rows(
        [kind_of for kind_of, _ in kinds], [len(shares.starts) - 1 for _, shares in kinds], release.n_rows
    )
    first = first_row_of_group(pattern_of, n_patterns)
    blocks = [np.empty((n_patterns, 0))]
    for name, (kind_of, shares) in zip(names, kinds, strict=True):
        of_value = _value_columns(release, name, encoding, cells)
        of_kind = of_value[shares.likeliest] if encoding == "codes" else shares.mean(of_value)
        blocks.append(of_kind[kind_of[first]])
    columns = np.concatenate(blocks, axis=1)
    varies = (columns != columns[:1]).any(axis=0)
    return pattern_of, np.ascontiguousarray(columns[:, varies])


def _value_columns(release: Release, name: str, encoding: Encoding, cells_as: CellsAs) -> Floats:
    """Return the columns of each released value of an attribute."""
    cells = release.cells[name]
    is_generalized = cells.sets is not None and bool((cells.sets.sizes > 1).any())
    by_label = cells_as == "labels" and is_generalized
    numbers = None if by_label else numbers_of(cells, release.schema.kind(name))
    counts: Floats = np.bincount(cells.codes, release.weights, len(cells.labels)).astype(np.float64)
    if numbers is None:
        if encoding == "codes":
            return np.arange(len(counts), dtype=np.float64)[:, None]
        return _shares(replace(cells, domain=(), sets=None) if by_label else cells, counts)
    if encoding == "columns":
        # middle, width and whether the value is missing; a missing number is replaced by the mean
        missing = np.isnan(numbers.middle)
        total = counts[~missing] @ numbers.middle[~missing]
        middle = np.where(missing, total / max(counts[~missing].sum(), 1), numbers.middle)
        return np.column_stack([middle, np.where(missing, 0.0, numbers.width), missing])
    bins = _bins(numbers.middle, counts)
    return bins[:, None].astype(np.float64) if encoding == "codes" else np.eye(int(bins.max()) + 1)[bins]


def _bins(middle: Floats, counts: Floats) -> Integers:
    """Return the bin of each number, with about equally many records per bin; missing has its own."""
    missing = np.isnan(middle)
    order = np.argsort(middle, kind="stable")[: int((~missing).sum())]
    before = np.cumsum(counts[order]) - counts[order]
    bins = np.full(len(middle), N_BINS, dtype=np.int64)
    bins[order] = np.minimum(before * N_BINS // max(counts[order].sum(), 1), N_BINS - 1)
    return np.unique(bins, return_inverse=True)[1]


def _shares(cells: Cells, counts: Floats) -> Floats:
    """Return for each released value the share of every original value in its set."""
    sets = cells.sets
    members: Integers = np.arange(len(counts)) if sets is None else sets.members.astype(np.int64)
    sizes: Integers = np.ones_like(members) if sets is None else np.diff(sets.starts)
    n_values = len(counts) if sets is None else len(cells.domain)
    owner = np.repeat(np.arange(len(counts)), sizes)
    share = np.repeat(1 / sizes, sizes)
    value_counts = np.bincount(members, share * counts[owner], n_values)
    column_of = np.arange(n_values)
    if n_values > MOST_COLUMNS:
        # the most frequent values have a column each, and the others share the last one
        column_of = np.full(n_values, MOST_COLUMNS - 1, dtype=np.int64)
        frequent = np.argsort(-value_counts, kind="stable")[: MOST_COLUMNS - 1]
        column_of[frequent] = np.arange(MOST_COLUMNS - 1)
    shares = np.zeros((len(counts), int(column_of.max()) + 1))
    np.add.at(shares, (owner, column_of[members]), share)
    return shares
