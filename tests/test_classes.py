"""EquivalenceClasses: the adversary's view, against counting records one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts, count_classes

N_VALUES = 4


@st.composite
def weighted_rows(draw: st.DrawFn) -> list[tuple[int, int, int, int]]:
    """Draw (class, value, other value, weight), no class empty."""
    n_classes = draw(st.integers(1, 5))
    value, weight = st.integers(0, N_VALUES - 1), st.integers(1, 5)
    every_class = [(place, draw(value), draw(value), draw(weight)) for place in range(n_classes)]
    more = draw(st.lists(st.tuples(st.integers(0, n_classes - 1), value, value, weight), max_size=15))
    return draw(st.permutations(every_class + more))


def counted(rows: list[tuple[int, int, int, int]]) -> EquivalenceClasses:
    class_of, first, second, weights = (np.array(column) for column in zip(*rows, strict=True))
    prior = np.full(N_VALUES, 1 / N_VALUES)
    sensitive = {"first": (first.astype(np.int32), prior), "second": (second.astype(np.int32), prior)}
    return count_classes(class_of, int(class_of.max()) + 1, weights, sensitive)


@given(weighted_rows())
def test_sizes_and_counts_are_those_of_the_records(rows: list[tuple[int, int, int, int]]) -> None:
    classes = counted(rows)
    records = [row[:3] for row in rows for _ in range(row[3])]
    sizes = Counter(place for place, _, _ in records)
    assert classes.n_classes == len(sizes)
    assert classes.sizes.tolist() == [sizes[place] for place in range(classes.n_classes)]
    assert classes.n_records == len(records)
    for name, position in (("first", 1), ("second", 2)):
        counts = classes.sensitive[name]
        assert counts.sizes.tolist() == classes.sizes.tolist()
        for place in range(classes.n_classes):
            expected = Counter(record[position] for record in records if record[0] == place)
            entries = slice(counts.starts[place], counts.starts[place + 1])
            assert counts.values[entries].tolist() == sorted(expected)
            assert counts.counts[entries].tolist() == [expected[value] for value in sorted(expected)]
            shares = [expected[value] / sizes[place] for value in sorted(expected)]
            assert counts.shares[entries].tolist() == pytest.approx(shares)
            assert counts.total(counts.counts)[place] == sizes[place]
            assert counts.largest(counts.counts)[place] == max(expected.values())


def counts(**changes: Any) -> SensitiveCounts:
    facts = {
        "starts": [0, 2, 3],
        "values": [0, 2, 1],
        "counts": [3, 1, 4],
        "prior": [0.5, 0.3, 0.2],
        **changes,
    }
    arrays: dict[str, Any] = {name: np.array(array) for name, array in facts.items()}
    return SensitiveCounts(**arrays)


def test_the_prior_of_each_entry_is_that_of_its_value() -> None:
    assert counts().priors.tolist() == [0.5, 0.2, 0.3]
    assert counts().shares.tolist() == [0.75, 0.25, 1.0]


def test_entries_are_summed_and_compared_within_their_class() -> None:
    entries = np.array([5.0, 7.0, 1.0])
    assert counts().total(entries).tolist() == [12, 1]
    assert counts().largest(entries).tolist() == [7, 1]


def test_all_arrays_are_read_only_and_the_callers_are_left_alone() -> None:
    class_of, sizes = np.array([0, 1]), np.array([1, 1])
    classes = EquivalenceClasses(class_of, sizes, {"illness": counts()})
    held = classes.sensitive["illness"]
    every = (classes.class_of, classes.sizes, held.starts, held.values, held.counts, held.prior)
    for array in (*every, held.sizes, held.shares, held.priors):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    class_of[0] = 7
    sizes[0] = 7
    assert (classes.class_of.tolist(), classes.sizes.tolist()) == ([0, 1], [1, 1])
