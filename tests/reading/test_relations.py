"""Relations: the columns that say the same as another or follow from it, against the definition."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.table import Table
from sfumato.reading import column_relations as module
from sfumato.reading.column_relations import relations
from sfumato.reading.role_guess import guess
from sfumato.runtime.progress import listening


def by_definition(table: Table) -> list[tuple[str, str, str]]:
    """Compare all pairs of columns, record by record."""
    values = {name: [column.domain[code] for code in column.codes] for name, column in table.columns.items()}
    found = []
    for other, column in sorted(
        permutations(values, 2), key=lambda pair: [list(values).index(name) for name in pair]
    ):
        n_rows, counts = table.n_rows, Counter(values[column])
        bits = -sum(n / n_rows * math.log2(n / n_rows) for n in counts.values())
        n_values = len(set(values[other]))
        n_pairs = len(set(zip(values[other], values[column], strict=True)))
        if len(counts) >= 2 and (n_rows - n_values) * bits >= 20 and n_pairs == n_values:
            found.append((column, other, "same" if len(counts) == n_values else "follows"))
    return found


columns = st.sampled_from(["fine", "coarse", "other", "same", "noise", "constant", "broken"])


@settings(deadline=None)
@given(
    st.lists(columns, min_size=1, max_size=9),
    st.integers(min_value=1, max_value=60),
    st.integers(min_value=0, max_value=99),
)
def test_columns_that_follow_are_those_of_the_definition(kinds: list[str], n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    fine = rng.integers(12, size=n_rows)
    made = {
        "fine": fine,
        "coarse": fine // 4,
        "other": fine % 3,
        "same": 11 - fine,
        "constant": 0 * fine,
        # follows in all rows but the last
        "broken": np.append(fine[:-1] // 4, 7),
    }
    drawn = [made[kind] if kind in made else rng.integers(3, size=n_rows) for kind in kinds]
    # numbers, whose codes are in their own order and not in that of the rows
    table = Table.from_arrow({f"{place}": column for place, column in enumerate(drawn)})
    found = [(each.column, each.other, each.how) for each in relations(table)]
    assert found == by_definition(table)


def test_a_column_that_follows_but_in_a_row_that_is_not_looked_at_first_does_not_follow() -> None:
    n_rows = 20_000
    fine = [f"v{row % 100}" for row in range(n_rows)]
    coarse = [f"w{row % 5}" for row in range(n_rows)]
    spoilt = [*coarse[:-1], "w0"]
    table = Table.from_arrow(
        {"fine": fine, "coarse": coarse, "spoilt": spoilt, "id": [*map(str, range(n_rows))]}
    )
    found = {(each.column, each.other) for each in relations(table)}
    assert ("coarse", "fine") in found
    assert ("spoilt", "fine") not in found


def wide(n_columns: int, n_rows: int = 100) -> Table:
    rng = np.random.default_rng(5)
    return Table.from_arrow(
        {f"q{place}": [*map(str, rng.integers(2 + place % 9, size=n_rows))] for place in range(n_columns)}
    )


@pytest.mark.parametrize("repeat", [False, True])
def test_of_a_wide_table_few_pairs_of_columns_are_compared_in_all_rows(
    repeat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_compared = 0
    follows = module._follows

    def counting(*columns: np.ndarray) -> bool:
        nonlocal n_compared
        n_compared += 1
        return follows(*columns)

    monkeypatch.setattr(module, "_follows", counting)
    table = wide(300)
    if repeat:
        once = wide(30)
        table = Table.from_arrow(
            {f"q{place}": once.to_arrow().column(place % 30).to_pylist() for place in range(300)}
        )
    found = relations(table)
    assert len(found) == (300 * 9 if repeat else 0)
    # there are 89,700 pairs
    assert n_compared < 300


def test_a_wide_table_says_how_far_it_has_come_and_a_narrow_one_does_not() -> None:
    said: list[str] = []
    with listening(said.append):
        guess(wide(20))
        assert said == []
        guess(wide(1_100, n_rows=12))
    assert said == [
        f"{n} of 1,100 columns {what}"
        for what in ("compared with the others", "looked at")
        for n in ("500", "1,000")
    ]
