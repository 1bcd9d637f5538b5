"""Any measures as objectives: the front of a space that can be searched entirely, and limits that hold."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.results.measurement import worst_value
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import FullDomain
from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.grids import LatticeSpace, ParameterSpace
from sfumato.searches.evolution.measured_objectives import MeasuredProblem

Bound = tuple[Table, Schema]


def problem_of(bound: Bound, limits: dict[str, Limit], eta: float = 0.2) -> MeasuredProblem:
    return MeasuredProblem(
        LatticeSpace.of(*bound), *bound, ("t-closeness", "utility-loss"), KAnonymity(2), eta, limits
    )


def every_point(bound: Bound, limits: dict[str, Limit], eta: float) -> set[tuple[float, float]]:
    """Return t and utility loss of every node that keeps the limits, lower better."""
    names = bound[1].quasi_identifiers
    points = set()
    for levels in itertools.product(*(range(bound[1].hierarchy(name).height + 1) for name in names)):
        how = FullDomain(dict(zip(names, levels, strict=True)), KAnonymity(2), eta)
        try:
            release = sanitize(*bound, how)
        except Infeasible:
            continue
        taken = measure(release, ["t-closeness", "utility-loss", *limits])
        if all(limit.allows(worst_value(taken, name)) for name, limit in limits.items()):
            t, loss = (worst_value(taken, name) for name in ("t-closeness", "utility-loss"))
            assert t is not None
            assert loss is not None
            points.add((round(t, 12), round(loss, 12)))
    return {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}


@pytest.mark.parametrize(
    "limits", [{}, {"k-anonymity": Limit(at_least=3), "general-loss": Limit(at_most=0.8)}]
)
def test_the_whole_front_of_two_measures_is_found(limits: dict[str, Limit], hospital: Bound) -> None:
    problem = problem_of(hospital, limits)
    judge = evolve(problem.space, problem, Settings(20, 15))
    improve(judge)
    found = {(round(t, 12), round(loss, 12)) for t, loss in judge.archive.traits.tolist()}
    assert found == every_point(hospital, limits, 0.2)
    for genes, traits in zip(judge.archive.genes, judge.archive.traits, strict=True):
        release = sanitize(*hospital, problem.recipe(genes, traits))
        assert release.n_suppressed <= 0.2 * 12


def test_limits_that_nothing_keeps_are_infeasible(hospital: Bound) -> None:
    problem = problem_of(hospital, {"k-anonymity": Limit(at_least=13)})
    with pytest.raises(Infeasible, match="no release that keeps all limits"):
        evolve(problem.space, problem, Settings(10, 3))


def test_the_parameters_of_a_sanitizer_are_searched(hospital: Bound) -> None:
    space = ParameterSpace.of("mondrian", {"model": {"k-anonymity": {"k": [2, 12]}}})
    objectives = ("k-anonymity", "general-loss")
    problem = MeasuredProblem(space, *hospital, objectives, KAnonymity(1), 0.0, {})
    front = improve(evolve(space, problem, Settings(12, 10)))
    points = set()
    for k in range(2, 13):
        release = sanitize(*hospital, space.recipe(np.array([k - 2]), KAnonymity(1), 0.0))
        points.add(tuple(m.value for m in measure(release, objectives)))
    best: Any = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] <= p[1] for q in points)}
    assert {tuple(row) for row in front.traits.tolist()} == best


def test_a_measure_may_be_infinite(hospital: Bound) -> None:
    space = LatticeSpace.of(*hospital)
    problem = MeasuredProblem(space, *hospital, ("delta-disclosure", "general-loss"), KAnonymity(1), 0.0, {})
    front = improve(evolve(space, problem, Settings(12, 8)))
    assert np.isinf(front.traits[:, 0]).sum() == 1
    assert front.traits[:, 0].min() == 0


def test_a_measure_that_does_not_apply_excludes_the_release(hospital: Bound) -> None:
    space = ParameterSpace.of("bucketize", {"model": {"probabilistic-diversity": {"l": [1, 2]}}})
    problem = MeasuredProblem(space, *hospital, ("privacy-loss", "precision"), KAnonymity(1), 0.0, {})
    with pytest.raises(Infeasible):
        evolve(space, problem, Settings(4, 2))
