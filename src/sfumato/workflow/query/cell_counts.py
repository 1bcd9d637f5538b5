"""Multiply a condition over regions with lines of records, to count them in each cell of an answer."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Booleans, Floats, Integers

_CHUNK_SIZE = 2**17
"""The numbers of a chunk, so that it fits into the processor's cache."""


@dataclass(frozen=True, eq=False)
class AnswerCells:
    """The cells of an answer: every combination of regions of the attributes after ``by``.

    Parameters
    ----------
    axes
        The axes of these attributes, in the order of the answer.
    regions
        For each of them the regions that the answer shows; nothing is computed for the others.
    """

    axes: tuple[int, ...]
    regions: tuple[Integers, ...] = field(repr=False)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return math.prod(map(len, self.regions))

    def along(self, axis: int, n_regions: int) -> AnswerCells:
        """Return these cells, each split by all regions of one more attribute."""
        return AnswerCells((*self.axes, axis), (*self.regions, np.arange(n_regions)))

    def region_along(self, axis: int) -> Integers:
        """Return for each cell its region of one of these attributes."""
        places = np.indices([len(regions) for regions in self.regions]).reshape(len(self.axes), -1)
        place = self.axes.index(axis)
        return self.regions[place][places[place]]

    def narrowed(self, holds: Booleans) -> Booleans:
        """Drop the regions that the answer does not show, and put the axes of the answer last."""
        for axis, regions in zip(self.axes, self.regions, strict=True):
            holds = np.take(holds, regions, axis)
        others = [axis for axis in range(holds.ndim) if axis not in self.axes]
        return np.transpose(holds, [*others, *self.axes])


_SINGLE_FIGURE = AnswerCells((), ())
"""The answer that is one figure."""


def in_cells(
    holds: Booleans, lines: Sequence[Floats], n_lines: int, cells: AnswerCells
) -> Iterator[tuple[slice, Floats]]:
    """Yield for chunks of lines the amount of each line in each cell.

    The amount is the sum, over all combinations of regions where the condition holds, of the product of the
    line's entries for these regions. The axes of the answer are not summed over.

    Parameters
    ----------
    holds
        Whether the condition holds, one axis for each attribute.
    lines, n_lines
        For each attribute one line for each record, one column for each region; and how many lines.
    cells
        The cells of the answer.
    """
    others = [axis for axis in range(holds.ndim) if axis not in cells.axes]
    shown = [lines[axis][:, _span(regions)] for axis, regions in zip(cells.axes, cells.regions, strict=True)]
    table = cells.narrowed(holds).astype(np.float64)
    step = max(1, _CHUNK_SIZE // max(table.size, 1))
    for first in range(0, n_lines, step):
        part = slice(first, min(first + step, n_lines))
        n_part = part.stop - part.start
        amounts = np.broadcast_to(table, (n_part, *table.shape))
        for axis in others:
            amounts = np.einsum("ir,ir...->i...", lines[axis][part], amounts)
        for place, line in enumerate(shown, start=1):
            shape = [n_part, *(line.shape[1] if at == place else 1 for at in range(1, amounts.ndim))]
            amounts = amounts * line[part].reshape(shape)
        yield part, amounts


def all_in_cells(holds: Booleans, lines: Sequence[Floats], n_lines: int, cells: AnswerCells) -> Floats:
    """Return for each cell the amount of every line in it."""
    all_amounts = np.empty((cells.n_cells, n_lines))
    for part, amounts in in_cells(holds, lines, n_lines, cells):
        all_amounts[:, part] = amounts.reshape(len(amounts), -1).T
    return all_amounts


def each_cell(
    holds: Booleans, powers: Sequence[Sequence[Floats]], n_lines: int, cells: AnswerCells
) -> Iterator[tuple[Integers, list[Floats]]]:
    """Yield for each cell the lines with an amount in it, and their amounts.

    Parameters
    ----------
    holds, n_lines, cells
        As in `in_cells`.
    powers
        Several lots of lines as in `in_cells`. If the first has a zero, the others have one too.
    """
    others = [axis for axis in range(holds.ndim) if axis not in cells.axes]
    axes = list(zip(cells.axes, map(_span, cells.regions), strict=True))
    columns = [[np.ascontiguousarray(lines[axis].T[span]) for axis, span in axes] for lines in powers]
    table = cells.narrowed(holds)

    # many cells hold for the same regions of the other attributes: their sums are computed once
    @functools.cache
    def sums_over_others(pattern: bytes) -> list[Floats]:
        here = np.frombuffer(pattern, dtype=np.bool_).reshape(table.shape[: len(others)])
        return [
            all_in_cells(here, [lines[axis] for axis in others], n_lines, _SINGLE_FIGURE)[0]
            for lines in powers
        ]

    @functools.cache
    def rows_in_first_region(pattern: bytes, region: int) -> Integers:
        nonzero = sums_over_others(pattern)[0] != 0
        return np.flatnonzero(nonzero & (columns[0][0][region] != 0) if columns[0] else nonzero)

    for cell in itertools.product(*(range(len(regions)) for regions in cells.regions)):
        place: tuple[Any, ...] = (..., *cell)
        pattern = table[place].tobytes()
        rows = rows_in_first_region(pattern, cell[0] if cell else 0)
        for column, region in zip(columns[0][1:], cell[1:], strict=True):
            rows = rows[column[region][rows] != 0]
        amounts = [sums[rows] for sums in sums_over_others(pattern)]
        for power, own_columns in enumerate(columns):
            for column, region in zip(own_columns, cell, strict=True):
                amounts[power] = amounts[power] * column[region][rows]
        yield rows, amounts


def _span(places: Integers) -> slice | Integers:
    """Return consecutive places as a slice, because slicing does not copy."""
    is_consecutive = len(places) > 0 and places[-1] - places[0] == len(places) - 1
    return slice(int(places[0]), int(places[-1]) + 1) if is_consecutive else places
