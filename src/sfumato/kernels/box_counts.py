"""Count the rows of a table that lie in each of many boxes; a box is one set of codes for each column.

A row lies in a box if each of its codes is in the set of its column. The boxes are sorted, so a box that
shares its first sets with the box before it starts from the rows that satisfied these sets. At worst a box
costs one look at every row and column; shared beginnings make that rare.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers


@njit(cache=True)
def count_in_boxes(
    columns: Codes,
    weights: Integers,
    boxes: Codes,
    first_set: Integers,
    starts: Integers,
    members: Codes,
    n_codes: int,
) -> Integers:
    """Return for each box the total weight of the rows in it.

    Parameters
    ----------
    columns
        For each column the code of each row.
    weights
        The weight of each row.
    boxes
        For each box and column the number of its set, sorted lexicographically.
    first_set
        For each column where its sets begin among all.
    starts, members
        Set ``i`` of a column holds the codes ``members[starts[first + i]:starts[first + i + 1]]``.
    n_codes
        A number above every code.
    """
    n_columns, n_rows = columns.shape
    matching = np.empty((n_columns + 1, n_rows), np.int32)
    n_matching = np.zeros(n_columns + 1, np.int64)
    for row in range(n_rows):
        matching[0, row] = row
    n_matching[0] = n_rows
    in_set = np.zeros(n_codes, np.bool_)
    totals = np.zeros(len(boxes), np.int64)
    for box in range(len(boxes)):
        n_shared = 0
        while box > 0 and n_shared < n_columns and boxes[box, n_shared] == boxes[box - 1, n_shared]:
            n_shared += 1
        for column in range(n_shared, n_columns):
            set_number = first_set[column] + boxes[box, column]
            set_codes = members[starts[set_number] : starts[set_number + 1]]
            in_set[set_codes] = True
            n_inside = 0
            for place in range(n_matching[column]):
                row = matching[column, place]
                matching[column + 1, n_inside] = row
                n_inside += in_set[columns[column, row]]
            n_matching[column + 1] = n_inside
            in_set[set_codes] = False
        for place in range(n_matching[n_columns]):
            totals[box] += weights[matching[n_columns, place]]
    return totals
