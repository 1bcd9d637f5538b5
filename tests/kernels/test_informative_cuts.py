"""The most informative cut: ties, the order of the records, and large weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.median_splits import informative_cuts

Records = Sequence[tuple[int, ...]]


def cut(
    records: Records, weights: Any = None, joins: Any = None, tries: int = 0
) -> tuple[int, int, list[int]] | None:
    """Return column, cut and sizes of one part; the last code of a record is its target."""
    matrix = np.array(records, dtype=np.uint8)
    held = np.ones(len(matrix), dtype=np.int64) if weights is None else np.asarray(weights)
    known = matrix[:, :-1]
    plain = np.ones((known.shape[1], int(matrix.max()) + 1))
    column_of, cuts, sizes, ended = informative_cuts(
        matrix,
        held,
        np.array([0]),
        np.array([len(matrix)]),
        known.min(axis=0)[np.newaxis].astype(np.int32),
        known.max(axis=0)[np.newaxis].astype(np.int32),
        np.array(plain if joins is None else joins, dtype=np.int32),
        known.shape[1],
        int(matrix[:, -1].max()) + 1,
        np.array([tries]),
    )
    return None if ended[0] else (int(column_of[0]), int(cuts[0]), sizes.tolist())


class TestTies:
    def test_the_column_that_tells_all_comes_first(self) -> None:
        records = [(0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1)]
        assert cut(records) == (1, 1, [2, 2])
        assert cut(records, tries=1) == (0, 1, [2, 2])
        assert cut(records, tries=2) is None

    def test_equally_informative_columns_come_in_their_order(self) -> None:
        records = [(0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0), (1, 1, 1)]
        assert cut(records, tries=0) == (0, 1, [2, 3])
        assert cut(records, tries=1) == (1, 1, [2, 3])

    def test_also_when_one_of_them_counts_the_other_way_round(self) -> None:
        # the second column is the first one mirrored: both leave the same entropy, summed in another order
        rng = np.random.default_rng(2)
        for _ in range(200):
            values, targets = rng.integers(0, 9, 60), rng.integers(0, 5, 60)
            records = list(zip(values.tolist(), (8 - values).tolist(), targets.tolist(), strict=True))
            mirrored = [(b, a, t) for a, b, t in records]
            first, second = cut(records), cut(mirrored)
            assert first is not None
            assert second is not None
            assert first[0] == second[0] == 0

    def test_of_equally_informative_cuts_the_most_even_one(self) -> None:
        # nothing is to be learned anywhere
        records = [(code, 0) for code in (0, 1, 2, 3, 3, 3)]
        assert cut(records) == (0, 3, [3, 3])

    def test_of_equally_even_ones_the_first(self) -> None:
        records = [(code, 0) for code in (0, 1, 1, 2)]
        assert cut(records) == (0, 1, [1, 3])

    def test_every_column_is_tried_once(self) -> None:
        records = list(itertools.product((0, 1), (0, 1, 2), (0,), (0, 1)))
        tried = [cut(records, tries=tries) for tries in range(4)]
        assert sorted(found[0] for found in tried if found) == [0, 1]  # the third has one code
        assert tried[2:] == [None, None]

    def test_only_the_deepest_boundaries_are_cut(self) -> None:
        # codes 0 and 1 are siblings, so are 2 and 3; the target would rather cut between siblings
        records = [(0, 0), (1, 1), (2, 1), (3, 1)]
        assert cut(records) == (0, 1, [1, 3])
        assert cut(records, joins=[[0, 1, 2, 1]]) == (0, 2, [2, 2])

    def test_a_boundary_between_codes_that_do_not_occur_counts(self) -> None:
        assert cut([(0, 0), (3, 1)], joins=[[0, 1, 2, 1]]) == (0, 2, [1, 1])


@st.composite
def parts(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    record = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2))
    return draw(st.lists(record, min_size=2, max_size=12).filter(lambda r: len({x[:2] for x in r}) > 1))


@given(records=parts(), data=st.data(), tries=st.integers(0, 1))
@settings(max_examples=150)
def test_the_order_of_the_records_does_not_matter(
    records: list[tuple[int, ...]], data: st.DataObject, tries: int
) -> None:
    shuffled = data.draw(st.permutations(records))
    assert cut(shuffled, tries=tries) == cut(records, tries=tries)


@given(records=parts(), targets=st.permutations(range(3)))
@settings(max_examples=100)
def test_what_the_target_s_values_are_called_does_not_matter(
    records: list[tuple[int, ...]], targets: list[int]
) -> None:
    renamed = [(a, b, targets[t]) for a, b, t in records]
    assert cut(renamed) == cut(records)


@given(records=parts(), times=st.sampled_from([2, 1000, 3_000_000, 2**40]))
@settings(max_examples=100)
def test_more_records_of_the_same_kind_change_the_sizes_alone(
    records: list[tuple[int, ...]], times: int
) -> None:
    few = cut(records)
    many = cut(records, np.full(len(records), times, dtype=np.int64))
    assert few is not None
    assert many is not None
    assert many[:2] == few[:2]
    assert many[2] == [size * times for size in few[2]]


@given(records=parts())
@settings(max_examples=60)
def test_a_weight_is_as_good_as_so_many_records(records: list[tuple[int, ...]]) -> None:
    distinct = sorted(set(records))
    weights = np.array([records.count(record) for record in distinct])
    assert cut(distinct, weights) == cut(records)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_weights_may_be_narrow(kind: Any) -> None:
    weights = np.array([2**29, 2**29, 2**29], dtype=kind)
    assert cut([(0, 0), (1, 1), (2, 1)], weights) == (0, 1, [2**29, 2**30])
