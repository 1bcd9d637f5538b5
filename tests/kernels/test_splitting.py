"""The splitting kernels against plain loops over the records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from sfumato.kernels.median_splits import (
    balanced_cuts,
    informative_cuts,
    move_records,
    records_by_side,
    widest_columns,
)

N_CODES = 7
N_COLUMNS = 3


@dataclass
class Parts:
    """Records part by part, with the depth of the boundary before each code of each column."""

    records: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]
    joins: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.starts)

    def rows(self, part: int) -> range:
        return range(int(self.starts[part]), int(self.ends[part]))

    def codes(self, part: int, column: int) -> list[int]:
        return [int(self.records[row, column]) for row in self.rows(part)]

    def ranges(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        each = [
            self.records[a:b, :N_COLUMNS].astype(np.int32)
            for a, b in zip(self.starts, self.ends, strict=True)
        ]
        return np.array([part.min(axis=0) for part in each]), np.array([part.max(axis=0) for part in each])

    def weight_below(self, part: int, column: int, boundary: int) -> int:
        return sum(int(self.weights[row]) for row in self.rows(part) if self.records[row, column] < boundary)

    def weight(self, part: int) -> int:
        return sum(int(self.weights[row]) for row in self.rows(part))

    def allowed_boundaries(self, part: int, column: int) -> list[int]:
        codes = self.codes(part, column)
        boundaries = range(min(codes) + 1, max(codes) + 1)
        deepest = max(int(self.joins[column, boundary]) for boundary in boundaries)
        return [boundary for boundary in boundaries if self.joins[column, boundary] == deepest]

    def columns_that_vary(self, part: int) -> list[int]:
        return [column for column in range(N_COLUMNS) if len(set(self.codes(part, column))) > 1]


@st.composite
def parts_of_records(draw: st.DrawFn, *, unit_weights: bool = False) -> Parts:
    """Draw up to five parts. Every part has one column at least with two different codes."""
    record = st.tuples(*[st.integers(0, N_CODES - 1)] * (N_COLUMNS + 1))
    varied = st.lists(record, min_size=2, max_size=9).filter(
        lambda rows: len({r[:N_COLUMNS] for r in rows}) > 1
    )
    drawn = draw(st.lists(varied, min_size=1, max_size=5))
    ends = np.cumsum([len(part) for part in drawn])
    # filled up to whole words of eight bytes
    records = np.zeros((ends[-1], 8), dtype=np.uint8)
    records[:, : N_COLUMNS + 1] = [row for part in drawn for row in part]
    weights = draw(st.lists(st.integers(1, 4), min_size=int(ends[-1]), max_size=int(ends[-1])))
    depth = st.just(1) if draw(st.booleans()) else st.integers(1, 3)
    joins = draw(st.lists(st.lists(depth, min_size=N_CODES, max_size=N_CODES), min_size=3, max_size=3))
    return Parts(
        records,
        np.ones(len(weights), dtype=np.int64) if unit_weights else np.array(weights, dtype=np.int64),
        np.concatenate([[0], ends[:-1]]),
        ends,
        np.array(joins, dtype=np.int32),
    )


def chosen_columns(parts: Parts, data: st.DataObject) -> np.ndarray[Any, Any]:
    return np.array([data.draw(st.sampled_from(parts.columns_that_vary(part))) for part in range(len(parts))])


def cut(parts: Parts, column_of: Any, shared: bool) -> Any:
    low, high = parts.ranges()
    plain = (parts.joins[:, 1:] == 1).all(axis=1)
    return balanced_cuts(
        parts.records,
        parts.weights,
        parts.starts,
        parts.ends,
        column_of,
        low,
        high,
        parts.joins,
        plain,
        np.full(N_COLUMNS, shared),
    )


class TestWidestColumns:
    @given(
        ranges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=5),
        data=st.data(),
    )
    def test_ranks_by_the_share_of_the_domain_times_importance(
        self, ranges: list[tuple[int, int]], data: st.DataObject
    ) -> None:
        n_columns = len(ranges)
        low, high = (np.array([ends], dtype=np.int32) for ends in zip(*map(sorted, ranges), strict=True))
        last = np.array([data.draw(st.integers(max(int(top), 1), 49)) for top in high[0]], dtype=np.int32)
        importance = np.array(
            data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n_columns, max_size=n_columns))
        )
        width = [
            Fraction(int(high[0, c] - low[0, c]), int(last[c])) * Fraction(importance[c])
            for c in range(n_columns)
        ]
        ranked = sorted((c for c in range(n_columns) if high[0, c] > low[0, c]), key=lambda c: (-width[c], c))
        for tries in range(n_columns + 1):
            column_of, ended = widest_columns(low, high, last, importance, np.array([tries]))
            assert bool(ended[0]) is (tries >= len(ranked))
            if not ended[0]:
                assert column_of[0] == ranked[tries]

    def test_equal_shares_of_two_domains_tie(self) -> None:
        # 49 * (1 / 49) is not 1 in floating point
        low, high = np.zeros((1, 2), dtype=np.int32), np.array([[49, 1]], dtype=np.int32)
        column_of, _ = widest_columns(low, high, np.array([49, 1], dtype=np.int32), np.ones(2), np.array([0]))
        assert column_of.tolist() == [0]


class TestBalancedCuts:
    @given(parts=parts_of_records(), data=st.data())
    @settings(max_examples=60)
    def test_cuts_at_the_deepest_boundary_that_divides_most_evenly(
        self, parts: Parts, data: st.DataObject
    ) -> None:
        column_of = chosen_columns(parts, data)
        cuts, quotas, sizes = cut(parts, column_of, shared=False)
        assert not quotas.any()
        for part, column in enumerate(column_of):
            total = parts.weight(part)
            unevenness = {
                boundary: abs(2 * parts.weight_below(part, column, boundary) - total)
                for boundary in parts.allowed_boundaries(part, column)
            }
            best = min(unevenness, key=lambda boundary: (unevenness[boundary], boundary))
            assert cuts[part] == best
            below = parts.weight_below(part, column, best)
            assert sizes[2 * part : 2 * part + 2].tolist() == [below, total - below]

    @given(parts=parts_of_records(unit_weights=True), data=st.data())
    @settings(max_examples=60)
    def test_shared_columns_are_halved(self, parts: Parts, data: st.DataObject) -> None:
        column_of = chosen_columns(parts, data)
        cuts, quotas, sizes = cut(parts, column_of, shared=True)
        for part, column in enumerate(column_of):
            codes = parts.codes(part, column)
            left, right = sizes[2 * part : 2 * part + 2].tolist()
            assert left + right == len(codes)
            assert right - left in (0, 1)
            assert cuts[part] in codes
            assert sum(code < cuts[part] for code in codes) + quotas[part] == left
            assert 0 < quotas[part] <= codes.count(int(cuts[part]))

    def test_a_few_records_in_a_wide_domain_are_cut_alike(self) -> None:
        records = np.zeros((4, 2), dtype=np.int32)
        records[:, 0] = [5, 90_000, 12, 60_000]
        joins = np.ones((1, 100_000), dtype=np.int32)
        where = (records, np.array([1, 1, 1, 4]), np.array([0]), np.array([4]), np.array([0]))
        low, high = np.array([[5]], dtype=np.int32), np.array([[90_000]], dtype=np.int32)
        for plain in (True, False):
            cuts, _, sizes = balanced_cuts(*where, low, high, joins, np.array([plain]), np.array([False]))
            assert (cuts.tolist(), sizes.tolist()) == ([13], [2, 5])


class TestInformativeCuts:
    @given(parts=parts_of_records(), tries=st.integers(0, 3))
    @settings(max_examples=60)
    def test_the_cut_leaves_least_entropy_of_the_target(self, parts: Parts, tries: int) -> None:
        low, high = parts.ranges()
        where = (parts.records, parts.weights, parts.starts, parts.ends, low, high, parts.joins)
        asked = np.full(len(parts), tries)
        column_of, cuts, sizes, ended = informative_cuts(*where, N_COLUMNS, N_CODES, asked)
        for part in range(len(parts)):
            left_over = {
                column: {
                    b: self.left_over(parts, part, column, b) for b in parts.allowed_boundaries(part, column)
                }
                for column in parts.columns_that_vary(part)
            }
            ranked = sorted(min(each.values()) for each in left_over.values())
            assert bool(ended[part]) is (tries >= len(ranked))
            if ended[part]:
                continue
            column, boundary = int(column_of[part]), int(cuts[part])
            assert left_over[column][boundary] == pytest.approx(ranked[tries], abs=1e-9)
            below, total = parts.weight_below(part, column, boundary), parts.weight(part)
            assert sizes[2 * part : 2 * part + 2].tolist() == [below, total - below]
            rivals = [b for b, rest in left_over[column].items() if rest < ranked[tries] + 1e-10]
            assert abs(2 * below - total) == min(
                abs(2 * parts.weight_below(part, column, b) - total) for b in rivals
            )

    def left_over(self, parts: Parts, part: int, column: int, boundary: int) -> float:
        """Return the mean entropy of the target on the two sides."""
        counts = np.zeros((2, N_CODES))
        for row in parts.rows(part):
            side = int(parts.records[row, column] >= boundary)
            counts[side, parts.records[row, N_COLUMNS]] += parts.weights[row]
        weight = counts.sum(axis=1)
        return float(
            sum(entropy(side) * total for side, total in zip(counts, weight, strict=True)) / weight.sum()
        )


class TestSidesAndDivide:
    @given(parts=parts_of_records(unit_weights=True), data=st.data(), shared=st.booleans())
    @settings(max_examples=60)
    def test_records_go_left_and_right_in_their_order(
        self, parts: Parts, data: st.DataObject, shared: bool
    ) -> None:
        column_of = chosen_columns(parts, data)
        cuts, quotas, sizes = cut(parts, column_of, shared)
        expected = [
            self.is_left(parts, part, column_of[part], cuts[part], quotas[part]) for part in range(len(parts))
        ]
        where = (parts.starts, parts.ends, column_of, cuts, quotas)
        places, child_of = records_by_side(parts.records, parts.weights, *where)
        assert places.tolist() == [row for part in range(len(parts)) for row in parts.rows(part)]
        assert child_of.tolist() == [2 * p + (not left) for p, each in enumerate(expected) for left in each]
        for part, each in enumerate(expected):
            assert sizes[2 * part : 2 * part + 2].tolist() == [sum(each), len(each) - sum(each)]

    @given(parts=parts_of_records(), data=st.data())
    @settings(max_examples=60)
    def test_moving_the_records_keeps_them_whole(self, parts: Parts, data: st.DataObject) -> None:
        column_of = chosen_columns(parts, data)
        cuts, quotas, _ = cut(parts, column_of, shared=False)
        allowed = np.array([data.draw(st.booleans()) for _ in range(len(parts))])
        order = np.arange(len(parts.weights))
        moved = Parts(parts.records.copy(), parts.weights.copy(), parts.starts, parts.ends, parts.joins)
        where = (parts.starts, parts.ends, column_of, cuts, quotas)
        words = moved.records.view(np.uint64)
        middles, low, high = move_records(
            moved.records, words, moved.weights, order, *where, allowed, *parts.ranges()
        )
        np.testing.assert_array_equal(moved.records, parts.records[order])
        np.testing.assert_array_equal(moved.weights, parts.weights[order])
        for part in range(len(parts)):
            rows = list(parts.rows(part))
            if not allowed[part]:
                assert order[rows].tolist() == rows
                continue
            is_left = self.is_left(parts, part, column_of[part], cuts[part], 0)
            left = [row for row, goes_left in zip(rows, is_left, strict=True) if goes_left]
            right = [row for row, goes_left in zip(rows, is_left, strict=True) if not goes_left]
            assert order[rows].tolist() == left + right
            assert middles[part] == rows[0] + len(left)
            for side, members in enumerate((left, right)):
                codes = parts.records[members, :N_COLUMNS]
                assert low[2 * part + side].tolist() == codes.min(axis=0).tolist()
                assert high[2 * part + side].tolist() == codes.max(axis=0).tolist()

    def is_left(self, parts: Parts, part: int, column: int, cut: int, quota: int) -> list[bool]:
        left = []
        for code in parts.codes(part, column):
            at_the_cut = bool(code == cut) and quota > 0
            left.append(bool(code < cut) or at_the_cut)
            quota -= at_the_cut
        return left
