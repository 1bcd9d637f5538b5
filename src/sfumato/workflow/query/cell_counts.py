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

_AT_ONCE = 2**17
"""So many numbers are looked at together: what a processor has at hand."""


@dataclass(frozen=True, eq=False)
class AnswerCells:
    """The cells of an answer: every combination of regions of the attributes after ``by``.

    Parameters
    ----------
    axes
        The axes of these attributes, in the order of the answer.
    regions
        For each of them the regions that are told; nothing is computed of the others.
    """

    axes: tuple[int, ...]
    regions: tuple[Integers, ...] = field(repr=False)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return math.prod(map(len, self.regions))

    @property
    def told(self) -> list[tuple[int, Integers]]:
        """Each axis with its regions."""
        return list(zip(self.axes, self.regions, strict=True))

    def along(self, axis: int, n_regions: int) -> AnswerCells:
        """Return these cells, each split by all regions of one more attribute."""
        return AnswerCells((*self.axes, axis), (*self.regions, np.arange(n_regions)))

    def region_along(self, axis: int) -> Integers:
        """Return for each cell its region of one of these attributes."""
        places = np.indices([len(each) for each in self.regions]).reshape(len(self.axes), -1)
        place = self.axes.index(axis)
        return self.regions[place][places[place]]

    def narrowed(self, holds: Booleans) -> Booleans:
        """Leave out the regions that are not told, and put the axes of the answer last."""
        for axis, told in zip(self.axes, self.regions, strict=True):
            holds = np.take(holds, told, axis)
        others = [axis for axis in range(holds.ndim) if axis not in self.axes]
        return np.transpose(holds, [*others, *self.axes])


_SINGLE_FIGURE = AnswerCells((), ())
"""The answer that is one figure."""


def in_cells(
    holds: Booleans, lines: Sequence[Floats], n_lines: int, cells: AnswerCells
) -> Iterator[tuple[slice, Floats]]:
    """Yield for chunks of lines what each has in each cell.

    That is the sum, over all combinations of regions where the condition holds, of the product of what the
    line has in them; the axes of the answer are not summed over.

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
    told = [lines[axis][:, _span(regions)] for axis, regions in zip(cells.axes, cells.regions, strict=True)]
    table = cells.narrowed(holds).astype(np.float64)
    step = max(1, _AT_ONCE // max(table.size, 1))
    for first in range(0, n_lines, step):
        part = slice(first, min(first + step, n_lines))
        n_part = part.stop - part.start
        found = np.broadcast_to(table, (n_part, *table.shape))
        for axis in others:
            found = np.einsum("ir,ir...->i...", lines[axis][part], found)
        for place, line in enumerate(told, start=1):
            shape = [n_part, *(line.shape[1] if at == place else 1 for at in range(1, found.ndim))]
            found = found * line[part].reshape(shape)
        yield part, found


def all_in_cells(holds: Booleans, lines: Sequence[Floats], n_lines: int, cells: AnswerCells) -> Floats:
    """Return for each cell what every line has in it."""
    every = np.empty((cells.n_cells, n_lines))
    for part, found in in_cells(holds, lines, n_lines, cells):
        every[:, part] = found.reshape(len(found), -1).T
    return every


def each_cell(
    holds: Booleans, powers: Sequence[Sequence[Floats]], n_lines: int, cells: AnswerCells
) -> Iterator[tuple[Integers, list[Floats]]]:
    """Yield for each cell the lines that have something in it, and what they have.

    Parameters
    ----------
    holds, n_lines, cells
        As in `in_cells`.
    powers
        Lines as in `in_cells`, several times: what has nothing in a region in the first has nothing there in
        the others.
    """
    others = [axis for axis in range(holds.ndim) if axis not in cells.axes]
    columns = [[_columns(lines[axis], told) for axis, told in cells.told] for lines in powers]
    table = cells.narrowed(holds)

    @functools.cache
    def beside(shown: bytes) -> list[Floats]:
        here = np.frombuffer(shown, dtype=np.bool_).reshape(table.shape[: len(others)])
        return [
            all_in_cells(here, [lines[axis] for axis in others], n_lines, _SINGLE_FIGURE)[0]
            for lines in powers
        ]

    @functools.cache
    def outermost(shown: bytes, region: int) -> Integers:
        found = beside(shown)[0] != 0
        return np.flatnonzero(found & (columns[0][0][region] != 0) if columns[0] else found)

    for cell in itertools.product(*(range(len(each)) for each in cells.regions)):
        place: tuple[Any, ...] = (..., *cell)
        shown = table[place].tobytes()
        at = outermost(shown, cell[0] if cell else 0)
        for column, region in zip(columns[0][1:], cell[1:], strict=True):
            at = at[column[region][at] != 0]
        yield at, [_multiply(one, each, cell, at) for one, each in zip(beside(shown), columns, strict=True)]


def _columns(lines: Floats, told: Integers) -> Floats:
    return np.ascontiguousarray(lines.T[_span(told)])


def _multiply(found: Floats, columns: Sequence[Floats], cell: Sequence[int], at: Integers) -> Floats:
    found = found[at]
    for column, region in zip(columns, cell, strict=True):
        found = found * column[region][at]
    return found


def _span(places: Integers) -> slice | Integers:
    """Return consecutive places as a slice, because slicing does not copy."""
    follow = len(places) > 0 and places[-1] - places[0] == len(places) - 1
    return slice(int(places[0]), int(places[-1]) + 1) if follow else places
