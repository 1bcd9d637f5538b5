"""Find the first of many boxes that contains each row of a table; a box is one set of codes for each column.

Rows that have found their box are not looked at again. At worst the search costs boxes x rows, and a row
leaves a box at the first column that does not fit.
"""

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
    box_of = np.full(n_rows, -1, np.int64)
    remaining = np.arange(n_rows)
    n_remaining = n_rows
    in_set = np.zeros((n_columns, n_codes), np.bool_)
    for box in range(len(boxes)):
        for column in range(n_columns):
            set_number = first_set[column] + boxes[box, column]
            for place in range(starts[set_number], starts[set_number + 1]):
                in_set[column, members[place]] = True
        n_kept = 0
        for place in range(n_remaining):
            row = remaining[place]
            column = 0
            while column < n_columns and in_set[column, columns[column, row]]:
                column += 1
            if column == n_columns:
                box_of[row] = box
            else:
                remaining[n_kept] = row
                n_kept += 1
        n_remaining = n_kept
        for column in range(n_columns):
            set_number = first_set[column] + boxes[box, column]
            for place in range(starts[set_number], starts[set_number + 1]):
                in_set[column, members[place]] = False
    return box_of
