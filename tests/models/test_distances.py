"""The distances between groups and prior, on counts made by hand, against SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.stats import entropy, wasserstein_distance

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.measures import PrivacyLoss
from sfumato.models import TCloseness
from sfumato.models.distances import (
    Distance,
    hellinger,
    jensen_shannon,
    ordered_distance,
    relative_entropy,
    total_variation,
)
from sfumato.registry import methods
from sfumato.runtime.errors import MethodFailed, ParameterError


def counted(matrix: Any, prior: Any = None) -> SensitiveCounts:
    """Return the counts of a matrix, one row for each group; the prior is that of all rows unless given."""
    counts = np.asarray(matrix)
    groups, values = np.nonzero(counts)
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    whole = counts.sum(axis=0) / counts.sum() if prior is None else np.asarray(prior, dtype=float)
    return SensitiveCounts(starts, values.astype(np.int32), counts[groups, values], whole)


def shares(matrix: Any) -> np.ndarray[Any, Any]:
    counts = np.asarray(matrix, dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[int]]:
    n_values = draw(st.integers(1, 6))
    row = st.lists(st.integers(0, 50), min_size=n_values, max_size=n_values).filter(any)
    return draw(st.lists(row, min_size=1, max_size=6))


@given(matrices())
def test_total_variation_is_half_of_scipy_s_city_block(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    expected = [cityblock(row, sensitive.prior) / 2 for row in shares(matrix)]
    np.testing.assert_allclose(total_variation(sensitive), expected, atol=1e-12)


@given(matrices())
def test_jensen_shannon_is_scipy_s_squared(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    expected = [jensenshannon(row, sensitive.prior) ** 2 for row in shares(matrix)]
    np.testing.assert_allclose(jensen_shannon(sensitive), expected, atol=1e-9)


@given(matrices())
def test_relative_entropy_is_scipy_s_of_the_group_to_the_prior(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    expected = [entropy(row, sensitive.prior) for row in shares(matrix)]
    np.testing.assert_allclose(relative_entropy(sensitive), expected, atol=1e-12)


@given(matrices())
def test_hellinger_is_the_euclidean_distance_of_the_roots(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    roots = np.sqrt(shares(matrix)) - np.sqrt(sensitive.prior)
    np.testing.assert_allclose(hellinger(sensitive), np.linalg.norm(roots, axis=1) / math.sqrt(2), atol=1e-7)


@given(matrices())
def test_ordered_distance_is_scipy_s_wasserstein_distance(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    places = np.arange(len(sensitive.prior))
    scale = max(len(places) - 1, 1)
    expected = [wasserstein_distance(places, places, row, sensitive.prior) / scale for row in shares(matrix)]
    np.testing.assert_allclose(ordered_distance(sensitive), expected, atol=1e-9)


@given(matrices())
def test_distances_are_in_their_range(matrix: list[list[int]]) -> None:
    sensitive = counted(matrix)
    rarest = sensitive.prior[sensitive.prior > 0].min()
    for distances, most in (
        (total_variation, 1),
        (ordered_distance, 1),
        (hellinger, 1),
        (jensen_shannon, math.log(2)),
        (relative_entropy, math.log(1 / rarest) + 1e-12),
    ):
        assert ((distances(sensitive) >= 0) & (distances(sensitive) <= most)).all()


@given(matrices())
def test_a_group_like_the_whole_table_is_at_distance_zero(matrix: list[list[int]]) -> None:
    whole = np.sum(matrix, axis=0)
    sensitive = counted([whole, 3 * whole, 7 * whole])
    for distances in (total_variation, ordered_distance, jensen_shannon, relative_entropy, hellinger):
        assert distances(sensitive).tolist() == [0, 0, 0]


@pytest.mark.parametrize("distances", [total_variation, jensen_shannon, relative_entropy, hellinger])
def test_the_order_of_the_values_does_not_matter(distances: Any) -> None:
    matrix = np.array([[5, 0, 2, 1], [1, 3, 0, 0]])
    np.testing.assert_allclose(distances(counted(matrix)), distances(counted(matrix[:, ::-1])), atol=1e-15)


def test_order_matters_to_the_ordered_distance() -> None:
    near, far = [[4, 0, 0], [0, 4, 0], [0, 0, 4]], [[0, 4, 0]]
    prior = [1 / 3, 1 / 3, 1 / 3]
    assert ordered_distance(counted(near, prior)).tolist() == pytest.approx([0.5, 1 / 3, 0.5])
    assert ordered_distance(counted(far, prior)).tolist() == pytest.approx([1 / 3])


def test_a_value_that_a_group_lacks_costs_nothing_in_relative_entropy() -> None:
    prior = [0.5, 0.25, 0.25]
    assert relative_entropy(counted([[2, 1, 0]], prior)).tolist() == pytest.approx(
        [2 / 3 * math.log(4 / 3) + 1 / 3 * math.log(4 / 3)]
    )
    assert math.isinf(entropy(prior, [2 / 3, 1 / 3, 0]))


def test_a_revealed_value_is_farther_away_the_rarer_it_was() -> None:
    prior = [0.0003, 0.1331, 0.8666]
    losses = jensen_shannon(counted(np.eye(3, dtype=int), prior))
    assert losses[0] > losses[1] > losses[2]
    assert losses[0] < math.log(2)


def test_a_value_that_the_prior_lacks_is_as_far_as_can_be() -> None:
    sensitive = counted([[4, 0]], prior=[0.0, 1.0])
    assert jensen_shannon(sensitive).tolist() == pytest.approx([math.log(2)])
    assert total_variation(sensitive).tolist() == [1]


def test_large_counts_do_not_overflow() -> None:
    matrix = [[10**15, 3 * 10**15], [2 * 10**15, 2 * 10**15]]
    assert total_variation(counted(matrix)).tolist() == pytest.approx([0.125, 0.125])
    assert ordered_distance(counted(matrix)).tolist() == pytest.approx([0.125, 0.125])


@given(matrices(), st.data())
def test_what_a_distance_declares_of_merged_groups_holds(
    matrix: list[list[int]], data: st.DataObject
) -> None:
    """A merged group has the mean of the distributions: a convex distance is at most the mean of theirs."""
    one, other = (data.draw(st.sampled_from(matrix)) for _ in range(2))
    prior = np.sum(matrix, axis=0) / np.sum(matrix)
    groups = [one, other, np.add(one, other).tolist()]
    weights = np.array([sum(one), sum(other)]) / (sum(one) + sum(other))
    for distance in methods.instances(Distance):
        note(distance.name)
        *parts, merged = distance.of(counted(groups, prior))
        assert merged <= (weights @ parts if distance.convex else max(parts)) + 1e-9
        assert max(merged, *parts) <= distance.largest + 1e-12


def test_each_of_ours_is_monotone() -> None:
    assert all(distance.is_monotone for distance in methods.instances(Distance))
    assert not Distance("unknown", total_variation).is_monotone


@pytest.mark.parametrize(
    ("answer", "does"),
    [
        (lambda _: np.zeros(1), "returns not one number for each of 2 groups"),
        (lambda _: np.array([0.0, -1.0]), "returns numbers below 0, or none"),
        (lambda _: np.array([0.0, math.nan]), "returns numbers below 0, or none"),
        (lambda _: dict[str, int]()["Ann"], "raises KeyError"),
    ],
)
def test_a_distance_of_a_plug_in_that_fails_is_named_without_a_value(answer: Any, does: str) -> None:
    with pytest.raises(MethodFailed, match=f"^the distance 'own' {does}; repair or uninstall its plug-in$"):
        Distance("own", answer).of(counted([[1, 2], [2, 1]]))


def test_an_unknown_distance_is_refused_with_what_there_is() -> None:
    with pytest.raises(ParameterError, match="no distance 'hellingr'; did you mean 'hellinger'"):
        TCloseness(distance="hellingr")
    with pytest.raises(ParameterError, match="no distance 'xyz'; allowed are equal, hellinger, hier"):
        PrivacyLoss(distance="xyz")
