"""Find for each row of a table the first of many boxes that holds it; a box is one set for each column."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers


@njit(cache=True)
def first_box_around(
    columns: Codes, boxes: Codes, first_set: Integers, starts: Integers, members: Codes, n_codes: int
) -> Integers:
    """Return for each row the first box whose sets hold all its codes, or -1.

    Parameters
    ----------
    columns
        For each column the code of each row.
    boxes
        For each box and column the number of its set.
    first_set
        For each column where its sets begin among all.
    starts, members
        Set ``i`` of a column holds the codes ``members[starts[first + i]:starts[first + i + 1]]``.
    n_codes
        A number above every code.
    """
    n_columns, n_rows = columns.shape
    around = np.full(n_rows, -1, np.int64)
    left = np.arange(n_rows)
    n_left = n_rows
    belongs = np.zeros((n_columns, n_codes), np.bool_)
    for box in range(len(boxes)):
        for column in range(n_columns):
            one = first_set[column] + boxes[box, column]
            for place in range(starts[one], starts[one + 1]):
                belongs[column, members[place]] = True
        still = 0
        for place in range(n_left):
            row = left[place]
            column = 0
            while column < n_columns and belongs[column, columns[column, row]]:
                column += 1
            if column == n_columns:
                around[row] = box
            else:
                left[still] = row
                still += 1
        n_left = still
        for column in range(n_columns):
            one = first_set[column] + boxes[box, column]
            for place in range(starts[one], starts[one + 1]):
                belongs[column, members[place]] = False
    return around
