"""How strongly two attributes go together, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import sanitize
from sfumato.measures import CorrelationDifference
from sfumato.measures.utility.fidelity.association import association
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.reading import datasets
from sfumato.sanitizers import AsIs


def records(codes: dict[str, list[int]], numbers: dict[str, list[float]] | None = None) -> SingleValues:
    known = {name: np.array(each) for name, each in (numbers or {}).items()}
    columns = {name: np.array(each, dtype=np.int32) for name, each in codes.items()}
    return SingleValues(columns | {name: np.arange(len(each)) for name, each in known.items()}, known, {})


NAN = float("nan")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # the record without a second number is left out, and so is the one without a first
        ([1.0, 2.0, 3.0, 100.0, NAN], [2.0, 4.0, 6.0, NAN, -50.0], 1.0),
        ([1.0, 2.0, 3.0], [6.0, 4.0, 2.0], -1.0),
        ([0.0, 0.0, 2.0, 2.0], [0.0, 1.0, 0.0, 1.0], 0.0),
        # deviations -1, 0, 1 and -1, 1, 0: their products add up to 1 of 2
        ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], 0.5),
        ([1.0, 2.0], [5.0, 5.0], 0.0),
        ([NAN, NAN], [1.0, 2.0], 0.0),
        ([1.0, NAN], [NAN, 2.0], 0.0),
    ],
)
def test_two_numbers_have_pearsons_correlation(
    first: list[float], second: list[float], expected: float
) -> None:
    found = records({}, {"first": first, "second": second})
    assert association(found, "first", "second") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([0, 0, 1, 1], [3, 3, 1, 1], 1.0),
        ([0, 0, 1, 1], [0, 1, 0, 1], 0.0),
        ([0, 1, 2, 3], [0, 0, 1, 1], 1.0),
        ([0, 1, 2], [2, 0, 1], 1.0),
        # shares 3, 1, 1, 3 of 8 where 2 are expected: 4 times (1/8)² of 1/4
        ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1], 0.5),
        ([0, 0, 0], [0, 1, 2], 0.0),
    ],
)
def test_two_categories_have_cramers_v(first: list[int], second: list[int], expected: float) -> None:
    assert association(records({"a": first, "b": second}), "a", "b") == pytest.approx(expected)
    assert association(records({"a": first, "b": second}), "b", "a") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("category", "number", "expected"),
    [
        # means 1 and 2 around 1.5, single values 0, 2, 0, 4: 1/4 of 11/4
        ([0, 0, 1, 1], [0.0, 2.0, 0.0, 4.0], (1 / 11) ** 0.5),
        ([0, 0, 1, 1, 1], [0.0, 2.0, 0.0, 4.0, NAN], (1 / 11) ** 0.5),
        ([0, 0, 7], [1.0, 1.0, 4.0], 1.0),
        ([0, 1, 2], [5.0, 5.0, 5.0], 0.0),
    ],
)
def test_a_category_explains_a_share_of_the_variance_of_a_number(
    category: list[int], number: list[float], expected: float
) -> None:
    found = records({"a": category}, {"x": number})
    assert association(found, "a", "x") == association(found, "x", "a") == pytest.approx(expected)


def test_no_more_than_all_is_explained() -> None:
    # rounding makes what lies between these three groups a little more than everything
    assert association(records({"a": [0, 0, 1, 1, 2]}, {"x": [0.8, 0.8, 0.3, 0.3, 0.1]}), "a", "x") == 1.0


def test_the_difference_is_the_mean_over_all_pairs_and_the_worst_is_named() -> None:
    release = sanitize(*datasets.hospital(), AsIs())
    true = records(
        {"a": [0, 0, 1, 1], "x": [0, 0, 1, 1], "y": [1, 1, 0, 0], "b": [0, 0, 1, 1]},
    )
    true = SingleValues(true.codes, {"x": np.array([0.0, 0, 2, 2]), "y": np.array([2.0, 2, 0, 0])}, {})
    numbers = np.array([0.0, 2, 0, 4])
    made = SingleValues({**true.codes, "b": np.array([0, 1, 0, 1])}, {"x": numbers, "y": numbers}, {})
    (found,) = CorrelationDifference().compared(release, true, made)
    # everything goes together in the original, x and y against each other; in the release they go together,
    # a explains 1 of 11 parts of their variance, b 9 of them, and a says nothing of b
    apart = [2.0, 1.0, *[1 - (1 / 11) ** 0.5] * 2, *[1 - (9 / 11) ** 0.5] * 2]
    assert found.value == pytest.approx(np.mean(apart))
    assert found.baseline == pytest.approx(1)
    assert found.detail == {"pairs": 6, "worst": pytest.approx(2), "worst-pair": "x, y"}
