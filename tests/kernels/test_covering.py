"""The first box around a row, against looking at every box for every row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.first_box import first_box_around


@given(data=st.data(), n_columns=st.integers(1, 4), n_rows=st.integers(1, 12))
def test_it_is_the_first_whose_sets_hold_every_code(data: st.DataObject, n_columns: int, n_rows: int) -> None:
    code = st.integers(0, 4)
    rows = data.draw(st.lists(st.tuples(*[code] * n_columns), min_size=n_rows, max_size=n_rows))
    sets = [data.draw(st.lists(st.sets(code, min_size=1), min_size=1, max_size=3)) for _ in range(n_columns)]
    places = st.tuples(*(st.integers(0, len(each) - 1) for each in sets))
    boxes = data.draw(st.lists(places, min_size=1, max_size=6))
    every = [sorted(members) for each in sets for members in each]
    found = first_box_around(
        np.array(rows, dtype=np.int32).T.copy(),
        np.array(boxes, dtype=np.int32).reshape(len(boxes), n_columns),
        np.cumsum([0, *(len(each) for each in sets[:-1])]),
        np.cumsum([0, *map(len, every)]),
        np.array([member for members in every for member in members], dtype=np.int32),
        5,
    )
    expected = [
        next(
            (
                number
                for number, box in enumerate(boxes)
                if all(row[column] in sets[column][box[column]] for column in range(n_columns))
            ),
            -1,
        )
        for row in rows
    ]
    assert found.tolist() == expected
