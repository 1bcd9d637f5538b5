"""Encode released cells as numeric columns, so that a miner can use generalized values.

A miner says how it wants the attributes:

``columns``
    A category is one column for each original value, holding the value's share of the released set:
    ``{a, b}`` is half an ``a`` and half a ``b``, ``*`` is a little of everything. A number is the middle of
    the released set and the set's width; a noisy number is taken as it is.
``bins``
    Numbers too are shares: of ten bins that hold about equally many records.
``codes``
    One column for each attribute: the number of the released value, or of the bin.

Where cells are taken as ``labels`` instead of ``shares``, an attribute that is generalised anywhere is a
category with one value for each released label, whatever it stands for: ``20-29`` and ``25-29`` have nothing
in common, nor have ``*`` and ``a``. Numbers that are released as intervals are categories then, too.

A category with many values keeps columns for the commonest ones, and the others share one. Columns that
are the same everywhere are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.miners.base import CellsAs, Encoding
from sfumato.miners.knowledge import Numbers, numbers_of, published
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
    told = [published(release, name) for name in names]
    pattern_of, n_patterns = number_rows(
        [kind_of for kind_of, _ in told], [len(shares.starts) - 1 for _, shares in told], release.n_rows
    )
    first = first_row_of_group(pattern_of, n_patterns)
    blocks = [np.empty((n_patterns, 0))]
    for name, (kind_of, shares) in zip(names, told, strict=True):
        looks = _looks(release, name, encoding, cells)
        of_kind = looks[shares.likeliest] if encoding == "codes" else shares.mean(looks)
        blocks.append(of_kind[kind_of[first]])
    columns = np.concatenate(blocks, axis=1)
    varies = (columns != columns[:1]).any(axis=0)
    return pattern_of, np.ascontiguousarray(columns[:, varies])


def _looks(release: Release, name: str, encoding: Encoding, cells_as: CellsAs) -> Floats:
    """Return the columns of each released value of an attribute."""
    cells = release.cells[name]
    by_label = cells_as == "labels" and _is_generalised(cells)
    numbers = None if by_label else numbers_of(cells, release.schema.kind(name))
    counts: Floats = np.bincount(cells.codes, release.weights, len(cells.labels)).astype(np.float64)
    if numbers is None:
        each = np.arange(len(counts), dtype=np.float64)
        shown = replace(cells, domain=(), sets=None) if by_label else cells
        return each[:, None] if encoding == "codes" else _shares(shown, counts)
    if encoding == "columns":
        return _number_columns(numbers, counts)
    bins = _bins(numbers.middle, counts)
    return bins[:, None].astype(np.float64) if encoding == "codes" else np.eye(int(bins.max()) + 1)[bins]


def _is_generalised(cells: Cells) -> bool:
    """Return whether some released value stands for several original ones."""
    return cells.sets is not None and bool((cells.sets.sizes > 1).any())


def _number_columns(numbers: Numbers, counts: Floats) -> Floats:
    """Return middle, width and whether the value is missing; a missing number stands at the mean."""
    missing = np.isnan(numbers.middle)
    known = counts[~missing] @ numbers.middle[~missing]
    mean = known / max(counts[~missing].sum(), 1)
    return np.column_stack(
        [np.where(missing, mean, numbers.middle), np.where(missing, 0.0, numbers.width), missing]
    )


def _bins(middle: Floats, counts: Floats) -> Integers:
    """Return the bin of each number, about equally many records in each; a missing one has its own."""
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
    column_of = _column_of(np.bincount(members, share * counts[owner], n_values).astype(np.float64))
    shares = np.zeros((len(counts), int(column_of.max()) + 1))
    np.add.at(shares, (owner, column_of[members]), share)
    return shares


def _column_of(counts: Floats) -> Integers:
    """Give each value a column of its own, or the commonest ones where there are too many."""
    if len(counts) <= MOST_COLUMNS:
        return np.arange(len(counts))
    column_of = np.full(len(counts), MOST_COLUMNS - 1, dtype=np.int64)
    column_of[np.argsort(-counts, kind="stable")[: MOST_COLUMNS - 1]] = np.arange(MOST_COLUMNS - 1)
    return column_of
