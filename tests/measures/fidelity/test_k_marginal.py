"""The k-marginal score of a few records, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import sanitize
from sfumato.measures import KMarginal
from sfumato.measures.utility.fidelity.k_marginal import cut_codes
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.reading import datasets
from sfumato.results.inapplicable import NotApplicable
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs

NAN = float("nan")


def categories(**codes: list[int]) -> SingleValues:
    columns = {name: np.array(each) for name, each in codes.items()}
    return SingleValues(columns, {}, {name: int(each.max()) + 1 for name, each in columns.items()})


def numbers(*values: float, n_different: int) -> SingleValues:
    return SingleValues({"x": np.arange(len(values))}, {"x": np.array(values)}, {"x": n_different})


class TestCuts:
    def test_numbers_with_many_values_are_cut_at_the_quantiles_of_the_original(self) -> None:
        true = numbers(1, 2, 3, 4, 5, NAN, n_different=6)
        made = numbers(0, 2, 3.5, NAN, 99, n_different=6)
        own, other, size = cut_codes(true, made, 4)["x"]
        # at 2, 3 and 4; what is missing is a part of its own
        assert own.tolist() == [0, 1, 2, 3, 3, 4]
        assert other.tolist() == [0, 1, 2, 4, 3]
        assert size == 5

    def test_as_many_values_as_parts_stay_as_they_are(self) -> None:
        true = numbers(1, 2, 3, 4, n_different=4)
        own, other, size = cut_codes(true, numbers(9, 9, n_different=4), 4)["x"]
        assert (own.tolist(), other.tolist(), size) == ([0, 1, 2, 3], [0, 1], 4)
        assert cut_codes(true, true, 3)["x"][2] == 4

    def test_categories_stay_as_they_are(self) -> None:
        own, other, size = cut_codes(categories(a=[0, 2, 1]), categories(a=[1, 1]), 2)["a"]
        assert (own.tolist(), other.tolist(), size) == ([0, 2, 1], [1, 1], 3)


class TestScore:
    TRUE = categories(a=[0, 0, 1, 1], b=[0, 0, 1, 1], c=[0, 0, 0, 1])
    # of a and b every combination occurs once; c is only ever 1
    MADE = categories(a=[0, 0, 1, 1] * 2, b=[0, 1, 0, 1] * 2, c=[1] * 8)

    def test_it_is_500_for_each_part_of_two_that_is_alike(self) -> None:
        release = sanitize(*datasets.hospital(), AsIs())
        (found,) = KMarginal(attributes=2).compared(release, self.TRUE, self.MADE)
        # a, b: 1/2 and 1/2 against four quarters. a, c: 1/2, 1/4, 1/4 against 0, 0, 1/2 and another half;
        # b, c: the same
        apart = [1.0, 1.5, 1.5]
        assert found.value == pytest.approx(500 * (2 - np.mean(apart)))
        assert found.detail == {"marginals": 3, "worst": pytest.approx(250), "worst-marginal": "a, c"}

    def test_of_one_attribute_shares_are_compared(self) -> None:
        release = sanitize(*datasets.hospital(), AsIs())
        (found,) = KMarginal(attributes=1).compared(release, self.TRUE, self.MADE)
        assert found.value == pytest.approx(500 * (2 - 1.5 / 3))
        assert found.detail["worst-marginal"] == "c"
        assert found.better == "higher"
        # one attribute that is drawn by itself is as it was
        assert found.baseline == 1000

    def test_a_value_that_is_not_released_any_more_is_missed(self) -> None:
        release = sanitize(*datasets.hospital(), AsIs())
        (found,) = KMarginal(attributes=1).compared(release, categories(a=[0, 1, 2]), categories(a=[0, 0]))
        assert found.value == pytest.approx(500 * (2 - 4 / 3))

    def test_the_baseline_draws_every_attribute_by_itself(self) -> None:
        release = sanitize(*datasets.hospital(), AsIs())
        same = categories(a=[0, 1] * 1000, b=[0, 1] * 1000)
        (found,) = KMarginal(attributes=2).compared(release, same, same)
        # half of the records are on the diagonal by chance: four quarters against two halves
        assert found.value == 1000
        assert found.baseline == pytest.approx(500, abs=30)


class TestMarginals:
    def test_so_many_different_ones_are_drawn_by_the_seed(self) -> None:
        drawn = [KMarginal(2, 9, seed=seed)._chosen("abcde") for seed in range(5)]
        for each in drawn:
            assert len(set(each)) == 9
            assert each == sorted(each)
        assert drawn[0] == KMarginal(2, 9)._chosen("abcde")
        assert any(each != drawn[0] for each in drawn)
        assert len(KMarginal(2, 10)._chosen("abcde")) == 10

    def test_more_than_a_million_are_too_many_to_choose_from(self) -> None:
        with pytest.raises(NotApplicable, match="there are 1,004,731 marginals; give fewer"):
            KMarginal(3, 5)._chosen([str(place) for place in range(183)])


def test_unless_something_is_given_it_is_nists_three_of_all() -> None:
    assert KMarginal() == KMarginal(attributes=3, marginals=100, bins=20, seed=0)


@pytest.mark.parametrize(("name", "least"), [("attributes", 1), ("marginals", 1), ("bins", 2), ("seed", 0)])
def test_parameters_have_a_least_value(name: str, least: int) -> None:
    assert getattr(KMarginal(**{name: least}), name) == least
    with pytest.raises(ParameterError, match=f"{name} must be at least {least}, not {least - 1}"):
        KMarginal(**{name: least - 1})
