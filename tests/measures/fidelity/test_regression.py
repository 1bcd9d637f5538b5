"""Regressions on two tables: beside SciPy's, and worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, sanitize
from sfumato.measures import RegressionLoss
from sfumato.measures.utility.fidelity.regression import (
    _Coefficients,
    _Design,
    _frequent,
    _least_squares,
    _mixed,
    _overlap,
    _scale,
)
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.results.inapplicable import NotApplicable
from sfumato.sanitizers import AsIs

NAN = float("nan")
RELEASE = sanitize(
    Table.from_arrow({"x": [1, 2], "y": [1, 2]}), Schema.of(x="quasi-identifying", y="sensitive"), AsIs()
)


def records(numbers: dict[str, Any] | None = None, **codes: Any) -> SingleValues:
    known = {name: np.asarray(each, dtype=np.float64) for name, each in (numbers or {}).items()}
    columns = {name: np.asarray(each, dtype=np.int64) for name, each in codes.items()}
    return SingleValues(
        {**columns, **{name: np.arange(len(each)) for name, each in known.items()}}, known, {}
    )


class TestDesign:
    def test_numbers_are_in_units_of_the_standard_deviation(self) -> None:
        assert _scale(np.array([1.0, 3.0, NAN])) == (2, 1)
        assert _scale(np.array([5.0, 5.0])) == (5, 1)

    def test_the_commonest_category_is_what_the_others_are_compared_with(self) -> None:
        # 2 occurs three times, 0 and 4 twice, 1 once, and 3 never
        assert _frequent(records(a=[0, 0, 1, 2, 2, 2, 4, 4]), "a") == [0, 4, 1]

    def test_twelve_categories_count(self) -> None:
        many = np.repeat(np.arange(14), np.arange(14, 0, -1))
        assert _frequent(records(a=many), "a") == list(range(1, 12))
        # of equally frequent ones the first
        assert _frequent(records(a=list(range(40)) * 2), "a") == list(range(1, 12))
        assert _frequent(records(a=[*range(60), *range(0, 60, 2)]), "a") == list(range(2, 24, 2))

    def test_a_category_to_explain_is_its_commonest_value(self) -> None:
        both = records({"x": [1.0, 2.0, 3.0]}, a=[0, 1, 1], b=[0, 0, 1])
        assert _Design.of(both, ["b", "x"], "a").commonest == 1
        assert _Design.of(both, [], "a").fitted(both).value.tolist() == pytest.approx([2 / 3])
        design = _Design.of(both, ["a", "b"], "x")
        assert design.commonest is None
        assert design.categories == {"a": [0], "b": [1]}
        assert _Design.of(both, ["x", "a"], "b").numbers["x"] == pytest.approx((2.0, (2 / 3) ** 0.5))

    def test_a_line_and_its_errors_are_scipys(self) -> None:
        from scipy import stats

        x, y = np.array([1.0, 2, 4, 7, 9]), np.array([2.0, 1, 5, 4, 8])
        found = _Design.of(records({"x": x, "y": y}), ["x"], "y").fitted(records({"x": x, "y": y}))
        line = stats.linregress((x - x.mean()) / x.std(), y)
        assert found.value.tolist() == pytest.approx([line.intercept, line.slope])
        assert found.error.tolist() == pytest.approx([line.intercept_stderr, line.stderr])

    def test_a_missing_number_counts_as_the_mean_and_a_missing_outcome_not_at_all(self) -> None:
        known = records({"x": [1.0, 3.0, NAN, 2.0], "y": [4.0, 8.0, 6.0, NAN]})
        found = _Design.of(known, ["x"], "y").fitted(known)
        # 1, 3 and the mean of 2 lie on a line; the spread is that of 1, 2 and 3
        assert found.value.tolist() == pytest.approx([6, 2 * (2 / 3) ** 0.5])

    def test_groups_are_compared_with_the_commonest(self) -> None:
        known = records({"y": [1.0, 3.0, 5.0, 7.0, 10.0]}, a=[1, 1, 1, 0, 2])
        assert _Design.of(known, ["a"], "y").fitted(known).value.tolist() == pytest.approx([3, 4, 7])


class TestLeastSquares:
    def test_as_many_coefficients_as_records_leave_no_error(self) -> None:
        found = _least_squares(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0]))
        assert found.value.tolist() == pytest.approx([1, 2])
        assert found.error.tolist() == pytest.approx([0, 0], abs=1e-7)

    def test_one_record_more_leaves_one_degree_of_freedom(self) -> None:
        columns = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
        found = _least_squares(columns, np.array([0.0, 3.0, 0.0]))
        # the mean of 1 is off by 1, 2 and 1: 6 over one degree of freedom, over 3 and over 2
        assert found.value.tolist() == pytest.approx([1, 0])
        assert found.error.tolist() == pytest.approx([2**0.5, 3**0.5])

    def test_a_column_of_nothing_has_no_error(self) -> None:
        found = _least_squares(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.array([0.0, 3.0, 0.0]))
        assert found.value.tolist() == pytest.approx([1, 0])
        assert found.error.tolist() == pytest.approx([2**0.5, 0])

    def test_columns_that_say_the_same_share_what_they_explain(self) -> None:
        rng = np.random.default_rng(0)
        one = rng.normal(size=20)
        columns = np.column_stack([np.ones(20), one, one + 1e-7 * rng.normal(size=20)])
        found = _least_squares(columns, 4 * one + 0.1 * rng.normal(size=20))
        assert found.value[1:].tolist() == pytest.approx([2, 2], abs=0.1)


def coefficients(value: list[float], error: list[float]) -> _Coefficients:
    return _Coefficients(np.array(value), np.array(error))


class TestOverlap:
    ALL = np.array([True])

    @pytest.mark.parametrize(
        ("value", "error", "expected"),
        [
            # the other interval is twice as wide, and holds all of the first
            (1.0, 2.0, 0.75),
            (-1.0, 2.0, 0.75),
            (0.0, 1.0, 1.0),
            # a quarter of 2 · 1.96 away: three quarters of both are common
            (1.959964 / 2, 1.0, 0.75),
            (-1.959964 / 2, 1.0, 0.75),
            (4.0, 1.0, 0.0),
            (-4.0, 1.0, 0.0),
        ],
    )
    def test_it_is_the_mean_of_the_shares_that_two_intervals_have_in_common(
        self, value: float, error: float, expected: float
    ) -> None:
        first = coefficients([0.0], [1.0])
        found = _overlap(first, coefficients([value], [error]), self.ALL)
        assert found == pytest.approx(expected, abs=1e-6)

    def test_only_what_is_told_counts(self) -> None:
        first, second = coefficients([0.0, 0, 0], [1.0, 1, 1]), coefficients([0.0, 9, 9], [1.0, 1, 1])
        assert _overlap(first, second, np.array([True, False, False])) == 1
        assert _overlap(first, second, np.array([True, True, False])) == 0.5

    def test_coefficients_without_error_are_the_same_or_not(self) -> None:
        exact = coefficients([2.0], [0.0])
        assert _overlap(exact, exact, self.ALL) == 1
        assert _overlap(exact, coefficients([2.5], [0.0]), self.ALL) == 0
        assert _overlap(exact, coefficients([2.000001], [0.0]), self.ALL) == 0

    def test_a_difference_in_the_tenth_digit_is_rounding(self) -> None:
        one = coefficients([0.0], [0.5 / 1.959963984540054])
        for apart, expected in ((4e-10, 1.0), (2e-9, 1 - 2e-9)):
            other = coefficients([apart], [0.5 / 1.959963984540054])
            assert _overlap(one, other, self.ALL) == pytest.approx(expected, abs=1e-13)


class TestLoss:
    X = (-1.0, -1.0, 1.0, 1.0)

    def test_it_is_what_the_intervals_do_not_have_in_common(self) -> None:
        true = records({"x": self.X, "y": [0.0, 2.0, 4.0, 6.0]})
        made = records({"x": self.X, "y": [0.0, 2.0, 0.0, 2.0]})
        found = RegressionLoss("y").of_target(RELEASE, true, made, "y")
        # 3 + 2 x and 1 + 0 x, off by 1 everywhere: 4 over two degrees of freedom, over 4
        error = 0.5**0.5
        common = max(1 - 2 / (2 * 1.959964 * error), 0)
        assert found.value == pytest.approx(1 - common, abs=1e-6)
        assert found.detail == {"coefficients": 2, "difference": pytest.approx(2)}
        assert found.attribute == "y"
        assert RegressionLoss().of_target(RELEASE, true, made, "x").attribute is None

    def test_what_has_no_error_is_not_compared(self) -> None:
        exact = records({"x": self.X, "y": [2.0, 2.0, 6.0, 6.0]})
        with pytest.raises(NotApplicable, match="'y' is explained by the others without error"):
            RegressionLoss().of_target(RELEASE, exact, exact, "y")
        # nothing follows from a number that is the same wherever it is known
        near = records({"x": self.X, "z": [5.0, NAN, 5.0, 5.0], "y": [2.0, 2.0, 6.0, 6.0001]})
        assert RegressionLoss().of_target(RELEASE, near, near, "y").detail["coefficients"] == 2

    def test_the_baseline_draws_every_attribute_by_itself(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.normal(size=500)
        same = records({"x": x, "y": 3 * x + rng.normal(size=500)})
        found = RegressionLoss().of_target(RELEASE, same, same, "y")
        assert found.value == 0
        # the intercept stays within its wider interval, the slope is lost
        assert found.baseline is not None
        assert 0.5 <= found.baseline < 0.9


def test_an_attribute_that_is_drawn_by_itself_keeps_its_values() -> None:
    one = records({"x": np.arange(30.0)}, a=[0, 1, 2] * 10)
    mixed = _mixed(one, 0)
    assert sorted(mixed.codes["a"].tolist()) == sorted(one.codes["a"].tolist())
    assert sorted(mixed.numbers["x"].tolist()) == one.numbers["x"].tolist()
    # a number and its code stay together, two attributes do not
    assert mixed.numbers["x"].tolist() == mixed.codes["x"].tolist()
    assert (mixed.codes["x"] % 3).tolist() != mixed.codes["a"].tolist()
    assert _mixed(one, 1).codes["x"].tolist() != mixed.codes["x"].tolist()
