"""The profile of a lattice against the measures of every release that it describes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Attribute
from sfumato.models import KAnonymity
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import FullDomain
from sfumato.searches.lattice import profile as lattice_profile
from sfumato.searches.lattice.profile import LARGEST_K, LatticeProfile, efficient, profile

Bound = tuple[Table, Schema]

SAME_NAME = (
    "k-anonymity",
    "weighted-k",
    "reidentification-risk",
    "general-loss",
    "total-loss",
    "discernibility",
    "average-class-size",
    "precision",
    "distinct-diversity",
    "probabilistic-diversity",
    "entropy-diversity",
    "t-closeness",
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "delta-disclosure",
    "beta-likeness",
)
OTHER_NAME: dict[str, dict[str, Any]] = {
    "t-closeness-ordered": {"t-closeness": {"distance": "ordered"}},
    "t-closeness-hierarchical": {"t-closeness": {"distance": "hierarchical"}},
}


def release_of(
    bound: Bound, whole: LatticeProfile, node: int, k: int = 1, suppression: float = 0.0
) -> Release:
    levels = dict(zip(whole.names, whole.levels[node].tolist(), strict=True))
    return sanitize(*bound, FullDomain(levels, KAnonymity(k), suppression))


def measured(release: Release, name: str, attribute: str | None = None) -> float:
    taken = measure(release, [OTHER_NAME.get(name, name)])
    values = [m.value for m in taken if m.attribute in (None, attribute) or attribute is None]
    assert None not in values
    worst = min if taken[0].better == "higher" else max
    return float(worst(value for value in values if value is not None))


def has_order(schema: Schema) -> bool:
    return all(
        schema.hierarchy(name).is_ordered or len(schema.hierarchy(name).values) <= 2
        for name in schema.sensitive
    )


def check_node(bound: Bound, whole: LatticeProfile, node: int) -> None:
    release = release_of(bound, whole, node)
    assert whole.n_classes[node] == release.classes.n_classes
    assert whole.smallest[node] == release.classes.sizes.min()
    assert whole.squares[node] == (release.classes.sizes**2).sum()
    for name in (*SAME_NAME, *OTHER_NAME):
        if name == "t-closeness-ordered" and not has_order(bound[1]):
            with pytest.raises(ParameterError, match="no score 't-closeness-ordered'"):
                whole.score(name)
            continue
        assert whole.score(name)[node] == pytest.approx(measured(release, name), rel=1e-9, abs=1e-11), name
    for attribute, scores in whole.sensitive.items():
        for name in ("privacy-loss", "knowledge-gain", "accuracy-gain"):
            assert scores[name][node] == pytest.approx(
                measured(release, name, attribute), rel=1e-9, abs=1e-11
            )
        (mean,) = (
            taken.detail["mean"]
            for taken in measure(release, ["privacy-loss"])
            if taken.attribute == attribute
        )
        assert scores["mean-privacy-loss"][node] == pytest.approx(mean, rel=1e-9, abs=1e-11)


@given(data=st.data())
@settings(max_examples=60)
def test_every_score_is_what_the_measures_say_of_the_release(
    tiny_tables: st.SearchStrategy[Bound], floored_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables | floored_tables)
    whole = profile(*bound)
    for node in {0, len(whole.levels) - 1, data.draw(st.integers(0, len(whole.levels) - 1))}:
        check_node(bound, whole, node)


def same(one: LatticeProfile, other: LatticeProfile) -> None:
    for name in ("levels", "n_classes", "smallest", "squares", "small_classes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.small_losses, other.small_losses, atol=1e-12)
    assert one.scores.keys() == other.scores.keys()
    for name in one.scores:
        np.testing.assert_allclose(one.scores[name], other.scores[name], rtol=1e-9, atol=1e-11, err_msg=name)


@given(data=st.data())
@settings(max_examples=60)
def test_rolling_up_gives_what_every_node_by_itself_gives(
    tiny_tables: st.SearchStrategy[Bound], floored_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables | floored_tables)
    rolled = profile(*bound)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_profile, "_MOST_BYTES", 0)
        same(rolled, profile(*bound))


def test_a_lattice_that_is_not_nested_is_described_right() -> None:
    rows = [["x", "", "n"], ["y", "b", "m"], ["z", "b", "m"]]
    table = Table.from_arrow({"a": ["x", "x", "y", "z", None, None, "y"], "b": [1, 2, 1, 2, 1, 1, 1]})
    a = Attribute("a", "quasi-identifying", hierarchy=Hierarchy.of_rows(rows))
    bound = Schema((a, Attribute("b", "quasi-identifying"))).bind(table)
    whole = profile(*bound)
    for node in range(len(whole.levels)):
        release = release_of(bound, whole, node)
        assert whole.n_classes[node] == release.classes.n_classes
        assert whole.general_loss[node] == pytest.approx(measured(release, "general-loss"), abs=1e-12)


@pytest.fixture(scope="module")
def people() -> tuple[Bound, LatticeProfile]:
    """Four hundred records with three quasi-identifiers and two sensitive attributes."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=400)
    columns: dict[str, Any] = {
        name: [f"{name}{int(np.clip(2 * value + 4, 0, 7))}" for value in hidden + rng.normal(size=400)]
        for name in "xyz"
    }
    columns["s"] = [
        "abcdefghij"[int(np.clip(2 * value + 5, 0, 9))] for value in hidden + rng.normal(size=400)
    ]
    columns["t"] = rng.integers(0, 3, size=400)

    def tree(name: str) -> Hierarchy:
        leaves = [f"{name}{place}" for place in range(8)]
        return Hierarchy.of_levels(
            leaves, [[str(place // width) for place in range(8)] for width in (2, 4, 8)]
        )

    illness = Hierarchy.nested({"u": ["a", "b", "c"], "v": {"w": ["d", "e"], "q": list("fghij")}})
    attributes = [Attribute(name, "quasi-identifying", hierarchy=tree(name)) for name in "xyz"]
    schema = Schema(
        (*attributes, Attribute("s", "sensitive", hierarchy=illness), Attribute("t", "sensitive"))
    )
    bound = schema.bind(Table.from_arrow(columns))
    return bound, profile(*bound)


def test_all_nodes_of_a_larger_table(people: tuple[Bound, LatticeProfile]) -> None:
    bound, whole = people
    for node in range(0, len(whole.levels), 5):
        check_node(bound, whole, node)


@pytest.mark.parametrize("k", [1, 2, 3, 10, LARGEST_K])
def test_suppression_is_known_for_every_k_at_once(k: int, people: tuple[Bound, LatticeProfile]) -> None:
    bound, whole = people
    for node in range(0, len(whole.levels), 7):
        try:
            release = release_of(bound, whole, node, k, suppression=1.0)
        except Infeasible:
            assert whole.n_suppressed(k)[node] == whole.n_records
            assert whole.average_class_size(k)[node] == np.inf
            continue
        assert whole.n_suppressed(k)[node] == release.n_suppressed
        assert whole.total_loss(k)[node] == pytest.approx(measured(release, "total-loss"), abs=1e-12)
        assert whole.discernibility(k)[node] == measured(release, "discernibility")
        assert whole.average_class_size(k)[node] == pytest.approx(measured(release, "average-class-size"))


def test_a_k_beyond_the_table_of_sizes_is_refused(people: tuple[Bound, LatticeProfile]) -> None:
    for k in (0, LARGEST_K + 1):
        with pytest.raises(ParameterError, match="for k from 1 to 64"):
            people[1].n_suppressed(k)


@pytest.mark.parametrize(
    "axes",
    [
        ("k-anonymity", "general-loss"),
        ("privacy-loss", "discernibility"),
        ("delta-disclosure", "precision"),
        ("k-anonymity", "t-closeness", "general-loss"),
    ],
)
def test_the_front_is_that_of_brute_force(
    axes: tuple[str, ...], people: tuple[Bound, LatticeProfile]
) -> None:
    _, whole = people
    signs = [-1 if axis in ("k-anonymity", "precision") else 1 for axis in axes]
    points = [
        tuple(sign * round(whole.score(axis)[node], 12) for sign, axis in zip(signs, axes, strict=True))
        for node in range(len(whole.levels))
    ]
    expected = {
        point
        for point in points
        if not any(
            all(a <= b for a, b in zip(other, point, strict=True)) and other != point for other in points
        )
    }
    front = whole.pareto(axes)
    assert {points[node] for node in front} == expected
    assert len(front) == len(expected)
    assert [points[node] for node in front] == sorted(points[node] for node in front)


@pytest.mark.parametrize("suppression", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("utility", ["total-loss", "discernibility", "average-class-size"])
def test_the_front_with_suppression_is_that_of_brute_force(
    utility: str, suppression: float, people: tuple[Bound, LatticeProfile]
) -> None:
    _, whole = people
    losses = getattr(whole, utility.replace("-", "_"))
    points = [
        (-k, round(loss, 12))
        for k in range(1, LARGEST_K + 1)
        for loss, n_suppressed in zip(losses(k).tolist(), whole.n_suppressed(k).tolist(), strict=True)
        if n_suppressed <= suppression * whole.n_records and n_suppressed < whole.n_records
    ]
    best = {k: min(loss for other, loss in points if other <= k) for k, _ in points}
    expected = {
        (k, loss) for k, loss in points if loss == best[k] and (k - 1 not in best or best[k - 1] > loss)
    }
    nodes, ks = whole.front_with_suppression(utility, suppression)
    found = [(-k, round(losses(k)[node], 12)) for node, k in zip(nodes.tolist(), ks.tolist(), strict=True)]
    assert set(found) == expected
    assert found == sorted(found)


def test_a_recipe_of_a_node_holds(people: tuple[Bound, LatticeProfile]) -> None:
    bound, whole = people
    for node in whole.pareto(["k-anonymity", "general-loss"]).tolist():
        release = sanitize(*bound, whole.recipe(node))
        assert release.n_suppressed == 0
        assert measured(release, "k-anonymity") == whole.smallest[node]
    nodes, ks = whole.front_with_suppression("total-loss", 0.1)
    for node, k in zip(nodes.tolist(), ks.tolist(), strict=True):
        release = sanitize(*bound, whole.recipe(node, KAnonymity(k), 0.1))
        assert release.n_suppressed == whole.n_suppressed(k)[node]


def test_only_the_sensitive_attributes_that_are_asked_for_are_described(
    people: tuple[Bound, LatticeProfile],
) -> None:
    bound, both = people
    one = profile(*bound, sensitive=["t"])
    assert list(one.sensitive) == ["t"]
    np.testing.assert_array_equal(one.score("t-closeness"), both.sensitive["t"]["t-closeness"])
    none = profile(*bound, sensitive=[])
    np.testing.assert_array_equal(none.smallest, both.smallest)
    with pytest.raises(ParameterError, match="no score 't-closeness'"):
        none.score("t-closeness")


def test_what_cannot_be_described_is_refused(people: tuple[Bound, LatticeProfile]) -> None:
    bound, whole = people
    with pytest.raises(ParameterError, match="64 nodes, more than max_nodes = 63"):
        profile(*bound, max_nodes=63)
    with pytest.raises(ParameterError, match="no sensitive attribute 'u'"):
        profile(*bound, sensitive=["u"])
    with pytest.raises(ParameterError, match="did you mean 'general-loss'"):
        whole.pareto(["k-anonymity", "general-los"])
    with pytest.raises(ParameterError, match="with suppression a profile does not know 'precision'"):
        whole.front_with_suppression("precision", 0.1)


def test_the_arrays_of_a_profile_are_read_only(people: tuple[Bound, LatticeProfile]) -> None:
    _, whole = people
    arrays = [
        whole.levels,
        whole.smallest,
        whole.small_losses,
        *whole.scores.values(),
        *whole.sensitive["s"].values(),
    ]
    assert not any(array.flags.writeable for array in arrays)


def test_levels_are_in_lexicographic_order(people: tuple[Bound, LatticeProfile]) -> None:
    assert whole_levels(people[1]) == list(itertools.product(range(4), repeat=3))


def whole_levels(whole: LatticeProfile) -> list[tuple[int, ...]]:
    return [tuple(levels) for levels in whole.levels.tolist()]


def test_efficient_rows_count_infinity_as_a_number_and_equal_rows_once() -> None:
    inf = np.inf
    points = np.array([[1, inf], [1, 3], [2, 3], [0, inf], [1, 3], [3, -inf]], dtype=np.float64)
    assert efficient(points).tolist() == [3, 1, 5]


def test_rows_that_differ_by_rounding_are_equal() -> None:
    assert efficient(np.array([[1.0, 2.0], [0.9, 2.0 + 1e-15]])).tolist() == [1]
