"""Count the rows of a table that lie in each of many boxes; a box is one set for each column."""

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

    The boxes are sorted, so that a box that begins with the same sets as the one before starts from
    the rows that are left after those.

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
    left = np.empty((n_columns + 1, n_rows), np.int32)
    n_left = np.zeros(n_columns + 1, np.int64)
    for row in range(n_rows):
        left[0, row] = row
    n_left[0] = n_rows
    belongs = np.zeros(n_codes, np.bool_)
    totals = np.zeros(len(boxes), np.int64)
    for box in range(len(boxes)):
        changed = 0
        while box > 0 and changed < n_columns and boxes[box, changed] == boxes[box - 1, changed]:
            changed += 1
        for column in range(changed, n_columns):
            one = first_set[column] + boxes[box, column]
            own = members[starts[one] : starts[one + 1]]
            belongs[own] = True
            found = 0
            for place in range(n_left[column]):
                row = left[column, place]
                left[column + 1, found] = row
                found += belongs[columns[column, row]]
            n_left[column + 1] = found
            belongs[own] = False
        for place in range(n_left[n_columns]):
            totals[box] += weights[left[n_columns, place]]
    return totals
