"""Searches where somebody has several records: what they find is what counting releases by hand finds."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Intervals, Recipe, Release, Schema, Table, measure, sanitize
from sfumato.models import DistinctDiversity, KAnonymity, PrivacyModel, ProbabilisticDiversity, TCloseness
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import FullDomain
from sfumato.searches.evolution.evolution import Evolution
from sfumato.searches.lattice.optimum import optimal_node
from sfumato.searches.lattice.profile import LatticeProfile, profile

SCHEMA = Schema(
    (
        Attribute("patient", "identifying"),
        Attribute("age", "quasi-identifying", hierarchy=Intervals((5, 20))),
        Attribute("size", "quasi-identifying", hierarchy=Intervals((10, 40))),
        Attribute("town", "quasi-identifying"),
        Attribute("illness", "sensitive"),
    ),
    person="patient",
)


def clinic(seed: int, n: int = 60, n_people: int = 22) -> tuple[Table, Schema]:
    rng = random.Random(seed)
    patients = [(rng.randrange(20, 60), rng.randrange(150, 200), rng.choice("ABC")) for _ in range(n_people)]
    rows: dict[str, list[Any]] = {name: [] for name in ("patient", "age", "size", "town", "illness")}
    for number in range(n):
        who = number % n_people if number < 2 * n_people else rng.randrange(n_people)
        age, size, town = patients[who]
        for name, value in zip(
            rows, (who, age + rng.randrange(3), size, town, rng.choice(["flu", "cold", "hiv"])), strict=True
        ):
            rows[name].append(value)
    return SCHEMA.bind(Table.from_arrow(rows))


@pytest.fixture(scope="module")
def bound() -> tuple[Table, Schema]:
    return clinic(1)


@pytest.fixture(scope="module")
def described(bound: tuple[Table, Schema]) -> LatticeProfile:
    return profile(*bound)


def at(bound: tuple[Table, Schema], levels: Any, model: PrivacyModel, suppression: float) -> Release | None:
    named = dict(zip(bound[1].quasi_identifiers, map(int, levels), strict=True))
    try:
        return sanitize(*bound, FullDomain(named, model, suppression))
    except Infeasible:
        return None


def test_a_profile_says_what_every_release_of_it_measures(
    bound: tuple[Table, Schema], described: LatticeProfile
) -> None:
    names = ["k-anonymity", "weighted-k", "discernibility", "general-loss", "distinct-diversity"]
    names += ["probabilistic-diversity", "entropy-diversity", "t-closeness", "privacy-loss"]
    names += ["knowledge-gain", "accuracy-gain", "delta-disclosure", "beta-likeness"]
    for node in range(0, len(described.levels), 3):
        release = at(bound, described.levels[node], KAnonymity(1), 0.0)
        assert release is not None
        for taken in measure(release, names):
            assert taken.value == pytest.approx(described.score(taken.measure)[node]), (node, taken.measure)
            if taken.measure == "privacy-loss":
                assert taken.detail["mean"] == pytest.approx(described.score("mean-privacy-loss")[node])


@pytest.mark.parametrize("k", [2, 5, 9])
def test_a_profile_says_what_suppression_for_k_people_costs(
    bound: tuple[Table, Schema], described: LatticeProfile, k: int
) -> None:
    n_compared = 0
    for node in range(len(described.levels)):
        release = at(bound, described.levels[node], KAnonymity(k), 1.0)
        if release is None:
            continue
        n_compared += 1
        assert release.n_suppressed == described.n_suppressed(k)[node]
        names = ["total-loss", "discernibility", "average-class-size"]
        taken = {each.measure: each.value for each in measure(release, names)}
        assert taken["total-loss"] == pytest.approx(described.total_loss(k)[node])
        assert taken["discernibility"] == pytest.approx(described.discernibility(k)[node])
        assert taken["average-class-size"] == pytest.approx(described.average_class_size(k)[node])
    assert n_compared > 5


MODELS = [
    KAnonymity(4),
    KAnonymity(3) & ProbabilisticDiversity(1.5),
    KAnonymity(2) & DistinctDiversity(3),
    TCloseness(0.25),
    TCloseness(0.1, "js"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("suppression", [0.0, 0.2])
def test_the_optimum_is_the_best_of_all_nodes(model: PrivacyModel, suppression: float) -> None:
    for seed in range(3):
        bound = clinic(seed, 40, 14)
        heights = [bound[1].hierarchy(name).height for name in bound[1].quasi_identifiers]
        best = min(
            (
                measure(release, ["total-loss"])[0].value
                for levels in itertools.product(*(range(height + 1) for height in heights))
                for release in [at(bound, levels, model, suppression)]
                if release is not None
            ),
            default=None,
        )
        if best is None:
            with pytest.raises(Infeasible):
                optimal_node(*bound, model, suppression=suppression)
            continue
        found = optimal_node(*bound, model, suppression=suppression)
        assert found.exact
        assert found.score == pytest.approx(best)


@pytest.mark.parametrize("model", [KAnonymity(4), KAnonymity(3) & ProbabilisticDiversity(1.5)], ids=str)
@pytest.mark.parametrize("objective", ["geometric-loss", "average-class-size-with-suppressed"])
def test_the_optimum_of_the_scores_of_arx_is_the_best_of_all_nodes(
    objective: Any, model: PrivacyModel
) -> None:
    def score(release: Release) -> float:
        if objective == "geometric-loss":
            losses = measure(release, ["total-loss"])[0].detail["by-attribute"].values()
            return float(np.prod([1 + loss for loss in losses]) ** (1 / len(losses)) - 1)
        n_classes = release.classes.n_classes + (release.n_suppressed > 0)
        return release.n_original / n_classes / model.parts[0].limit

    bound = clinic(0, 40, 14)
    heights = [bound[1].hierarchy(name).height for name in bound[1].quasi_identifiers]
    nodes = itertools.product(*(range(height + 1) for height in heights))
    releases = [at(bound, levels, model, 0.2) for levels in nodes]
    best = min(score(release) for release in releases if release is not None)
    found = optimal_node(*bound, model, suppression=0.2, objective=objective)
    assert found.exact
    assert found.score == pytest.approx(best)


@pytest.mark.parametrize("problem", ["zero-suppression", "suppression", "any-suppression", "k-l-safety"])
def test_every_solution_of_the_evolution_keeps_its_promise_for_people(
    bound: tuple[Table, Schema], problem: Any
) -> None:
    search = Evolution(problem=problem, population=12, generations=4)
    recipes = list(search.propose(*bound, np.random.default_rng(0)))
    assert recipes
    for recipe in recipes:
        release = sanitize(*bound, recipe)
        model = Recipe.build(recipe).model
        assert holds(release, model)
        # no k that is larger holds: the evolution counted what the release has
        if "k-anonymity" in recipe.parameters["model"] and problem != "any-suppression":
            assert not holds(release, KAnonymity(recipe.parameters["model"]["k-anonymity"]["k"] + 1))
