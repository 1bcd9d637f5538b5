"""Counting: what a condition over regions gives on lines of records, for each cell of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.arrays import Booleans, Floats

_AT_ONCE = 2**17
"""So many numbers are looked at together: what a processor has at hand."""


def in_cells(
    holds: Booleans, lines: Sequence[Floats], n_lines: int, kept: Sequence[int]
) -> Iterator[tuple[slice, Floats]]:
    """Yield for some lines at a time what each has in each cell.

    That is the sum, over all combinations of regions where the condition holds, of the product of what the
    line has in them; the axes that are kept are not summed over.

    Parameters
    ----------
    holds
        Whether the condition holds, one axis for each attribute.
    lines, n_lines
        For each attribute one line for each record, one column for each region; and how many lines.
    kept
        The axes to keep, in their order.
    """
    others = [axis for axis in range(holds.ndim) if axis not in kept]
    table = np.transpose(holds, [*others, *kept]).astype(np.float64)
    step = max(1, _AT_ONCE // max(holds.size, 1))
    for first in range(0, n_lines, step):
        part = slice(first, min(first + step, n_lines))
        n_part = part.stop - part.start
        found = np.broadcast_to(table, (n_part, *table.shape))
        for axis in others:
            found = np.einsum("ir,ir...->i...", lines[axis][part], found)
        for place, axis in enumerate(kept, start=1):
            shape = [n_part, *(holds.shape[axis] if at == place else 1 for at in range(1, found.ndim))]
            found = found * lines[axis][part].reshape(shape)
        yield part, found


def all_in_cells(holds: Booleans, lines: Sequence[Floats], n_lines: int, kept: Sequence[int]) -> Floats:
    """Return what each line has in each cell, all of them at once, the cells in one row."""
    return np.concatenate(
        [np.empty((0, int(np.prod([holds.shape[axis] for axis in kept]))))]
        + [found.reshape(len(found), -1) for _, found in in_cells(holds, lines, n_lines, kept)]
    )
