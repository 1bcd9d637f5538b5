"""The best node against a brute force that makes and measures every full-domain release."""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, measure
from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Attribute
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
    TCloseness,
)
from sfumato.models.distances import Distance, total_variation
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError
from sfumato.sanitizers import FullDomain
from sfumato.searches.lattice import optimum
from sfumato.searches.lattice.optimum import Objective, Optimum, optimal_node

Bound = tuple[Table, Schema]
Releases = dict[tuple[int, ...], LinkedRelease]
OBJECTIVES = get_args(Objective)
SUPPRESSIONS = (0.0, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class EvenSize(PrivacyModel):
    """A model that nothing is known of, and that is not monotone: the size of a class is even."""

    least: int = 1

    guards: ClassVar[Any] = "identity"
    monotone: ClassVar[bool] = False
    better: ClassVar[Any] = "higher"
    parameter: ClassVar[str] = "least"

    def scores(self, classes: Any) -> Any:
        return (classes.sizes % 2 == 0).astype(np.float64)


@dataclass(frozen=True)
class HalfSize(KAnonymity):
    """A model derived from one whose score is known, with another score."""

    def scores(self, classes: Any) -> Any:
        return classes.sizes / 2


MODELS: tuple[PrivacyModel, ...] = (
    KAnonymity(2),
    KAnonymity(4),
    DistinctDiversity(2),
    ProbabilisticDiversity(1.5),
    EntropyDiversity(1.6),
    RecursiveDiversity(2.0, 2),
    AlphaKAnonymity(0.7, k=2),
    TCloseness(0.3),
    TCloseness(0.2, "ordered"),
    TCloseness(0.3, "hierarchical"),
    TCloseness(0.15, "js"),
    TCloseness(0.3, "kl"),
    TCloseness(0.3, "hellinger"),
    DeltaDisclosure(1.0, absent="ignored"),
    DeltaDisclosure(2.5),
    BetaLikeness(0.8),
    BetaLikeness(1.5, "enhanced"),
    KAnonymity(3) & TCloseness(0.4),
    EvenSize(),
    HalfSize(2),
)
WITH_NAMED_VALUES = (*MODELS, AlphaKAnonymity(0.9, k=1, alphas={"a": 0.5}))


def score(release: Release, model: PrivacyModel, objective: str, levels: dict[str, int]) -> float:
    if objective.startswith("average-class-size"):
        k = max((part.k for part in model.parts if type(part) is KAnonymity), default=1)
        sizes = release.classes.sizes.tolist()
        if objective == "average-class-size-with-suppressed" and release.n_suppressed:
            sizes.append(release.n_suppressed)
        return sum(sizes) / len(sizes) / k
    if objective == "geometric-loss":
        (taken,) = measure(release, ["total-loss"])
        losses = taken.detail["by-attribute"]
        weights = [release.schema[name].weight for name in losses]
        powers = [(1 + losses[name]) ** weight for name, weight in zip(losses, weights, strict=True)]
        return math.prod(powers) ** (1 / max(sum(weights), 1e-300)) - 1
    if objective == "precision":
        return 1 - float(np.mean([levels[n] / release.schema.hierarchy(n).height for n in levels]))
    (taken,) = measure(release, [objective])
    assert taken.value is not None
    return taken.value


def by_brute_force(
    bound: Bound, model: PrivacyModel, suppression: float, objective: str
) -> dict[tuple[int, ...], float]:
    """Make the release of every node and return the scores of those that can be made."""
    return scored(every_release(bound, model, suppression), model, objective)


def every_release(bound: Bound, model: PrivacyModel, suppression: float) -> Releases:
    """Make the release of every node that can be made."""
    table, schema = bound
    names = schema.quasi_identifiers
    made = {}
    ranges = (range(schema[name].lowest_level, schema.hierarchy(name).height + 1) for name in names)
    for levels in itertools.product(*ranges):
        how = FullDomain(dict(zip(names, levels, strict=True)), model, suppression)
        with contextlib.suppress(Infeasible):
            made[levels] = how.sanitize(table, schema, np.random.default_rng(0))
    return made


def scored(made: Releases, model: PrivacyModel, objective: str) -> dict[tuple[int, ...], float]:
    return {
        levels: score(
            release, model, objective, dict(zip(release.schema.quasi_identifiers, levels, strict=True))
        )
        for levels, release in made.items()
    }


def best_of(scores: dict[tuple[int, ...], float], objective: str) -> tuple[tuple[int, ...], float]:
    best = (max if objective == "precision" else min)(scores.values())
    ties = [levels for levels, value in scores.items() if abs(value - best) <= 1e-12 * max(1, abs(best))]
    return min(ties), best


def check(found: Optimum, scores: dict[tuple[int, ...], float], objective: str) -> None:
    levels, best = best_of(scores, objective)
    assert found.exact
    assert found.score == pytest.approx(best, rel=1e-12, abs=1e-12)
    assert found.bound == pytest.approx(best, rel=1e-11, abs=1e-11)
    assert tuple(found.levels.values()) == levels
    assert found.n_evaluated <= found.n_nodes


@given(data=st.data())
@settings(max_examples=100)
def test_the_optimum_of_a_random_table_is_that_of_brute_force(
    tiny_tables: st.SearchStrategy[Bound],
    floored_tables: st.SearchStrategy[Bound],
    data: st.DataObject,
) -> None:
    bound = data.draw(tiny_tables | floored_tables)
    ordered = all(bound[1].hierarchy(name).is_ordered for name in bound[1].sensitive)
    model = data.draw(st.sampled_from([m for m in MODELS if ordered or m != TCloseness(0.2, "ordered")]))
    suppression = data.draw(st.sampled_from(SUPPRESSIONS))
    # made once for all objectives: to make the releases takes longest
    made = every_release(bound, model, suppression)
    for objective in OBJECTIVES:
        note(objective)
        if not made:
            with pytest.raises(Infeasible):
                optimal_node(*bound, model, suppression=suppression, objective=objective)
            continue
        found = optimal_node(*bound, model, suppression=suppression, objective=objective)
        check(found, scored(made, model, objective), objective)
        release = made[tuple(found.levels.values())]
        assert found.n_suppressed == release.n_suppressed
        assert found.n_classes == release.classes.n_classes


def correlated_table(n_records: int = 150) -> Bound:
    """Three attributes with hierarchies of four levels, and a sensitive one that depends on them."""
    rng = np.random.default_rng(5)
    hidden = rng.normal(size=n_records)
    columns: dict[str, Any] = {
        name: [
            f"{name}{int(np.clip(value, 0, 7))}" for value in (2 * hidden + rng.normal(size=n_records) + 4)
        ]
        for name in "xyz"
    }
    columns["s"] = ["abcd"[int(np.clip(value + 1.5, 0, 3))] for value in hidden + rng.normal(size=n_records)]

    def tree(name: str) -> Hierarchy:
        leaves = [f"{name}{place}" for place in range(8)]
        return Hierarchy.of_levels(
            leaves, [[str(place // width) for place in range(8)] for width in (2, 4, 8)]
        )

    attributes = [Attribute(name, "quasi-identifying", hierarchy=tree(name)) for name in "xyz"]
    schema = Schema(
        (
            *attributes,
            Attribute("s", "sensitive", hierarchy=Hierarchy.nested({"u": ["a", "b"], "v": ["c", "d"]})),
        )
    )
    return schema.bind(Table.from_arrow(columns))


@pytest.fixture(scope="module")
def correlated() -> Bound:
    return correlated_table()


@pytest.mark.parametrize("model", [EvenSize(), HalfSize(4)], ids=str)
def test_a_model_that_nothing_is_known_of_is_judged_where_nothing_is_sensitive(model: PrivacyModel) -> None:
    table, schema = correlated_table(40)
    attributes = tuple(
        replace(each, role="insensitive") if each.role == "sensitive" else each for each in schema.attributes
    )
    bound = Schema(attributes).bind(table)
    scores = by_brute_force(bound, model, 0.3, "discernibility")
    assert 0 < len(scores) < 4**3
    check(optimal_node(*bound, model, suppression=0.3, objective="discernibility"), scores, "discernibility")


@pytest.mark.parametrize("claims", [{}, {"convex": True}], ids=["honest", "lying"])
def test_a_distance_that_grows_when_groups_are_merged_prunes_nothing(
    claims: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it declares decides: one that lies makes the search miss the best node."""

    def near(sensitive: SensitiveCounts) -> Any:
        """Return 1 where a distribution is like the prior but not the same, else 0."""
        apart = total_variation(sensitive)
        return ((apart > 0) & (apart < 0.4)).astype(np.float64)

    known = {each.name: each for each in methods.instances(Distance)}
    monkeypatch.setitem(methods._instances, Distance, {**known, "near": Distance("near", near, **claims)})
    levels = [[str(place // width) for place in range(8)] for width in (2, 8)]
    attribute = Attribute("x", "quasi-identifying", hierarchy=Hierarchy.of_levels([*range(8)], levels))
    # each value has one sensitive value, each pair nearly the distribution of all, and all exactly that
    rows = [(x, "ab"[x % 2]) for x, n in enumerate((2, 3, 3, 2, 2, 3, 3, 2)) for _ in range(n)]
    columns = dict(zip("xs", map(list, zip(*rows, strict=True)), strict=True))
    bound = Schema((attribute, Attribute("s", "sensitive"))).bind(Table.from_arrow(columns))
    scores = by_brute_force(bound, TCloseness(0.5, "near"), 0.0, "general-loss")
    assert scores == {(0,): 0, (2,): 1}
    found = optimal_node(*bound, TCloseness(0.5, "near"), objective="general-loss")
    assert tuple(found.levels.values()) == ((2,) if claims else (0,))


def every_node(problem: Any) -> dict[tuple[int, ...], float]:
    """Evaluate all nodes, without any pruning."""
    ranges = (range(height + 1) for height in problem.lattice.heights)
    nodes = [problem.evaluate(levels) for levels in itertools.product(*ranges)]
    return {node.levels: problem.score(node.cost) for node in nodes if node.cost < math.inf}


@pytest.mark.thorough("its first models", but=6)
@pytest.mark.parametrize("model", WITH_NAMED_VALUES, ids=str)
def test_pruning_never_changes_the_answer(model: PrivacyModel, correlated: Bound) -> None:
    for suppression, objective in itertools.product((0.0, 0.05, 0.25, 1.0), OBJECTIVES):
        problem = optimum._NodeProblem.of(*correlated, model, suppression, objective)
        try:
            found = optimal_node(*correlated, model, suppression=suppression, objective=objective)
        except Infeasible:
            continue
        check(found, every_node(problem), objective)


@pytest.mark.parametrize("model", WITH_NAMED_VALUES, ids=str)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_a_node_says_of_finer_nodes_is_true(
    model: PrivacyModel, objective: Any, correlated: Bound
) -> None:
    problem = optimum._NodeProblem.of(*correlated, model, 0.25, objective)
    ranges = [range(height + 1) for height in problem.lattice.heights]
    nodes = {levels: problem.evaluate(levels) for levels in itertools.product(*ranges)}
    for coarse, fine in itertools.product(list(nodes.values())[::7], list(nodes.values())[::3]):
        if all(low <= high for low, high in zip(fine.levels, coarse.levels, strict=True)):
            bound = coarse.base
            if bound < math.inf:
                more = (
                    problem.total(fine.levels, coarse.steps)
                    if problem.separable
                    else problem.least_cost(fine.levels)
                )
                bound += more
            assert (
                fine.cost >= bound - 1e-9 * max(1, abs(bound)) if bound < math.inf else fine.cost == math.inf
            )


def test_attributes_that_weigh_more_count_more_in_geometric_loss(correlated: Bound) -> None:
    table, schema = correlated
    heavy = tuple(
        replace(each, weight={"x": 5.0, "y": 0.0}.get(each.name, each.weight)) for each in schema.attributes
    )
    bound = Schema(heavy).bind(table)
    scores = by_brute_force(bound, KAnonymity(4), 0.1, "geometric-loss")
    assert best_of(scores, "geometric-loss") != best_of(
        by_brute_force(correlated, KAnonymity(4), 0.1, "geometric-loss"), "geometric-loss"
    )
    check(
        optimal_node(*bound, KAnonymity(4), suppression=0.1, objective="geometric-loss"),
        scores,
        "geometric-loss",
    )


def test_suppressed_records_are_one_class_more_or_do_not_count() -> None:
    # as it is: four of "a", and two that are alone; one level up: all six together
    bound = Schema.of(a="quasi-identifying").bind(Table.from_arrow({"a": ["a"] * 4 + ["b", "c"]}))
    kept = optimal_node(*bound, KAnonymity(2), suppression=0.5, objective="average-class-size")
    with_suppressed = optimal_node(
        *bound, KAnonymity(2), suppression=0.5, objective="average-class-size-with-suppressed"
    )
    assert kept.levels == with_suppressed.levels == {"a": 0}
    assert (kept.score, with_suppressed.score) == (4 / 1 / 2, 6 / 2 / 2)


def test_pruning_saves_most_of_the_work(correlated: Bound) -> None:
    for model in (KAnonymity(5), TCloseness(0.2), KAnonymity(5) & EntropyDiversity(2.0)):
        found = optimal_node(*correlated, model)
        assert found.n_evaluated < found.n_nodes / 2


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("model", [KAnonymity(5), KAnonymity(3) & TCloseness(0.3), EvenSize()], ids=str)
def test_a_search_that_is_broken_off_says_what_could_still_be_found(
    objective: Any, model: PrivacyModel, correlated: Bound
) -> None:
    better = 1 if objective != "precision" else -1
    whole = optimal_node(*correlated, model, suppression=0.1, objective=objective)
    before = math.inf
    for evaluations in (1, 2, 5, 10, 20, 40, 1000):
        found = optimal_node(
            *correlated, model, suppression=0.1, objective=objective, evaluations=evaluations
        )
        assert found.n_evaluated <= max(evaluations, 1) + 1
        assert better * found.bound <= better * whole.score + 1e-9 * abs(whole.score)
        assert better * found.score >= better * whole.score - 1e-9 * abs(whole.score)
        assert better * found.score <= before
        before = better * found.score
        if found.exact:
            assert (found.levels, found.score) == (whole.levels, whole.score)
    assert found.exact


def test_without_time_the_top_is_returned_with_an_honest_bound(correlated: Bound) -> None:
    found = optimal_node(*correlated, KAnonymity(5), budget=0.0)
    assert list(found.levels.values()) == [3, 3, 3]
    assert (found.score, found.bound) == pytest.approx((1.0, 0.0))
    assert (found.exact, found.n_evaluated) == (False, 1)


@pytest.mark.parametrize("model", [KAnonymity(5), KAnonymity(3) & TCloseness(0.3), EvenSize()], ids=str)
@pytest.mark.parametrize("objective", ["total-loss", "discernibility"])
def test_walks_around_the_best_node_do_not_change_the_answer(
    model: PrivacyModel, objective: Any, correlated: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = optimal_node(*correlated, model, suppression=0.1, objective=objective)
    monkeypatch.setattr(optimum, "_FIRST_WALK", 3)
    walked = optimal_node(*correlated, model, suppression=0.1, objective=objective)
    assert (walked.levels, walked.score, walked.exact) == (whole.levels, whole.score, True)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_search_that_must_forget_boxes_does_not_claim_too_much(
    objective: Any, correlated: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = 1 if objective != "precision" else -1
    whole = optimal_node(*correlated, EvenSize(), suppression=0.3, objective=objective)
    for most in (2, 4, 8):
        monkeypatch.setattr(optimum, "_MOST_HELD", most)
        found = optimal_node(*correlated, EvenSize(), suppression=0.3, objective=objective)
        assert better * found.bound <= better * whole.score + 1e-9 * abs(whole.score)
        assert not found.exact or found.levels == whole.levels


def test_the_same_search_gives_the_same_answer_twice(correlated: Bound) -> None:
    first, second = (
        optimal_node(*correlated, KAnonymity(4), suppression=0.1, evaluations=30) for _ in range(2)
    )
    assert first == second


def test_a_lattice_that_is_not_nested_is_searched_without_pruning() -> None:
    # on level 1 a missing value and "x" are both released without a label, on level 2 they are apart
    rows = [["x", "", "n"], ["y", "b", "m"], ["z", "b", "m"]]
    table = Table.from_arrow({"a": ["x", "x", "y", "z", None, None, "y"], "b": [1, 2, 1, 2, 1, 1, 1]})
    schema = Schema(
        (
            Attribute("a", "quasi-identifying", hierarchy=Hierarchy.of_rows(rows)),
            Attribute("b", "quasi-identifying"),
        )
    )
    bound = schema.bind(table)
    problem = optimum._NodeProblem.of(*bound, KAnonymity(2), 0.3, "total-loss")
    assert not all(problem.lattice.nested)
    for suppression, objective in itertools.product((0.0, 0.3), OBJECTIVES):
        found = optimal_node(*bound, KAnonymity(2), suppression=suppression, objective=objective)
        check(found, by_brute_force(bound, KAnonymity(2), suppression, objective), objective)
        assert found.n_evaluated == found.n_nodes


def test_what_cannot_be_searched_for_is_refused(correlated: Bound, hospital: Bound) -> None:
    wrong: Any = "total-lose"
    with pytest.raises(ParameterError, match="did you mean 'total-loss'"):
        optimal_node(*correlated, KAnonymity(5), objective=wrong)
    with pytest.raises(ParameterError, match="suppression must be a share"):
        optimal_node(*correlated, KAnonymity(5), suppression=1.5)
    with pytest.raises(Infeasible, match="the largest possible"):
        optimal_node(*correlated, KAnonymity(151), suppression=1.0)
    with pytest.raises(SchemaError, match="quasi-identifying"):
        optimal_node(hospital[0].select(["diagnosis"]), Schema.of(diagnosis="sensitive"), KAnonymity(2))
    with pytest.raises(SchemaError, match="sensitive"):
        optimal_node(Table.from_arrow({"a": [1, 2]}), Schema.of(a="quasi-identifying"), TCloseness(0.2))


@pytest.mark.parametrize(
    ("n_records", "suppression", "expected"),
    [
        (10, 0.0, 0),
        (10, 0.1, 1),
        (10, 0.3, 3),
        (3, 1 / 3, 1),
        (10, 1.0, 9),
        (1, 1.0, 0),
        (7, 0.999999, 6),
        (3, 0.7, 2),
    ],
)
def test_as_many_records_may_be_suppressed_as_the_share_allows_but_never_all(
    n_records: int, suppression: float, expected: int
) -> None:
    assert optimum._most_suppressed(n_records, suppression) == expected
