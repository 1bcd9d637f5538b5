"""Rows in boxes, against looking at every row for every box."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.box_counts import count_in_boxes


@given(data=st.data(), n_columns=st.integers(1, 4), n_rows=st.integers(1, 12))
def test_a_row_is_in_a_box_when_every_set_holds_its_code(
    data: st.DataObject, n_columns: int, n_rows: int
) -> None:
    code = st.integers(0, 4)
    rows = data.draw(st.lists(st.tuples(*[code] * n_columns), min_size=n_rows, max_size=n_rows))
    weights = data.draw(st.lists(st.integers(1, 5), min_size=n_rows, max_size=n_rows))
    some = st.lists(st.sets(code), min_size=1, max_size=3)
    sets = [data.draw(some) for _ in range(n_columns)]
    places = st.tuples(*(st.integers(0, len(each) - 1) for each in sets))
    boxes = sorted(data.draw(st.lists(places, min_size=1, max_size=6)))
    every = [sorted(members) for each in sets for members in each]
    counted = count_in_boxes(
        np.array(rows, dtype=np.int32).T.copy(),
        np.array(weights),
        np.array(boxes, dtype=np.int32).reshape(len(boxes), n_columns),
        np.cumsum([0, *(len(each) for each in sets[:-1])]),
        np.cumsum([0, *map(len, every)]),
        np.array([member for members in every for member in members], dtype=np.int32),
        5,
    )
    expected = [
        sum(
            weight
            for row, weight in zip(rows, weights, strict=True)
            if all(row[column] in sets[column][box[column]] for column in range(n_columns))
        )
        for box in boxes
    ]
    assert counted.tolist() == expected
