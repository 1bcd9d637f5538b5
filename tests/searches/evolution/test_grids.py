"""The lattice and the parameters of a sanitizer as spaces of steps."""

from __future__ import annotations

import itertools
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.runtime.errors import ParameterError
from sfumato.searches.evolution.evolution_run import Settings
from sfumato.searches.evolution.grids import LatticeSpace, ParameterSpace
from sfumato.searches.evolution.problems import PublisherProblem

Bound = tuple[Table, Schema]


@given(data=st.data())
@settings(max_examples=100)
def test_the_traits_of_a_node_are_those_of_its_release(
    data: st.DataObject, tiny_tables: Any, floored_tables: Any
) -> None:
    """Also where two nodes are released under one name, or where an attribute has a lowest level."""
    table, schema = data.draw(tiny_tables | floored_tables)
    space = LatticeSpace.of(table, schema)
    genes = space.sample(np.random.default_rng(data.draw(st.integers(0, 1000))), 5)
    problem = PublisherProblem(space, "suppression", eta=0.3)
    for row, traits in zip(genes, problem.evaluate(genes).traits, strict=True):
        release = sanitize(table, schema, problem.recipe(row, traits))
        k, loss = (m.value for m in measure(release, ["k-anonymity", "general-loss"]))
        assert (k, release.n_suppressed) == (traits[0], traits[4])
        assert loss == pytest.approx(traits[3], abs=1e-12)


def test_levels_are_drawn_crossed_and_changed_within_their_hierarchies(hospital: Bound) -> None:
    space = LatticeSpace.of(*hospital)
    rng = np.random.default_rng(0)
    genes = space.sample(rng, 200)
    every = set(itertools.product(*(range(height + 1) for height in space.highest)))
    assert {tuple(row) for row in genes.tolist()} == every
    one, other = space.cross(rng, genes[:100], genes[100:])
    np.testing.assert_array_equal(one + other, genes[:100] + genes[100:])
    for rows in (one, space.mutate(rng, one, 0.5)):
        assert {tuple(row) for row in rows.tolist()} <= every
    around = {tuple(row) for row in space.neighbours(np.array([0, 1, 1])).tolist()}
    assert around == {(1, 1, 1), (0, 0, 1), (0, 2, 1), (0, 1, 0)}


def test_the_evolution_finds_the_exact_front_of_a_small_lattice(hospital: Bound) -> None:
    place = Path(__file__).parents[3] / "benchmarks" / "exact_front.py"
    compare_with_exact = runpy.run_path(str(place))["compare_with_exact"]
    for privacy in ("weighted-k", "k-anonymity"):
        found = compare_with_exact(*hospital, privacy, Settings(40, 20))
        assert found.closeness == pytest.approx(1)
        assert found.gain >= 1
        assert 0 < found.exact <= 1


def test_parameters_have_steps() -> None:
    ranges = {
        "model": {"k-anonymity": {"k": [2, 50]}, "t-closeness": {"t": [0.1, 0.5], "distance": "equal"}},
        "variant": ["strict", "relaxed"],
    }
    space = ParameterSpace.of("mondrian", ranges)
    assert space.highest.tolist() == [48, 100, 1]
    recipe = space.recipe(np.array([3, 50, 1]), KAnonymity(1), 0.0)
    assert recipe.parameters["model"]["k-anonymity"] == {"k": 5}
    assert recipe.parameters["model"]["t-closeness"]["t"] == 0.3
    assert recipe.parameters["variant"] == "relaxed"


@pytest.mark.parametrize(
    ("ranges", "complaint"),
    [
        ({"model": {"k-anonymity": {"k": 5}}}, "nothing of 'mondrian' varies"),
        ({"model": {"k-anonymity": {"k": [9, 2]}}}, "must begin below its end"),
        ({"model": {"k-anonymity": {"k": []}}}, "an empty list of 'mondrian'"),
        ({"model": {"k-anonymity": {"q": [1, 2]}}}, "no parameter 'q'"),
        ({"model": {"k-anonymity": {"k": [0, 5]}}}, "k must be at least 1"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(ranges: Any, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        ParameterSpace.of("mondrian", ranges)
