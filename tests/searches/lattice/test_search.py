"""The searches through the lattice: what they propose can be made, holds, and is the best."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.models import KAnonymity, TCloseness
from sfumato.registry.methods import build
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import FullDomain
from sfumato.searches import Lattice, LatticeFront

Bound = tuple[Table, Schema]


def proposed(search: Any, bound: Bound) -> list[LinkedRelease]:
    return [sanitize(*bound, recipe) for recipe in search.propose(*bound, np.random.default_rng(0))]


def value(release: LinkedRelease, name: str) -> float:
    (taken,) = measure(release, [name])
    assert taken.value is not None
    return taken.value


def every_release(bound: Bound, k: int, suppression: float = 0.0) -> list[LinkedRelease]:
    schema = bound[1]
    ranges = (range(schema.hierarchy(name).height + 1) for name in schema.quasi_identifiers)
    releases = []
    for levels in itertools.product(*ranges):
        how = FullDomain(dict(zip(schema.quasi_identifiers, levels, strict=True)), KAnonymity(k), suppression)
        try:
            releases.append(sanitize(*bound, how))
        except Infeasible:
            continue
    return releases


@pytest.mark.parametrize("objective", ["total-loss", "general-loss", "discernibility"])
@pytest.mark.parametrize(("k", "suppression"), [(2, 0.0), (3, 0.25), (4, 1.0)])
def test_the_lattice_search_proposes_the_best_release(
    objective: Any, k: int, suppression: float, hospital: Bound
) -> None:
    (release,) = proposed(Lattice(KAnonymity(k), suppression, objective), hospital)
    best = min(value(other, objective) for other in every_release(hospital, k, suppression))
    assert value(release, objective) == pytest.approx(best)
    assert value(release, "k-anonymity") >= k
    assert release.n_suppressed <= suppression * 12


def test_a_model_that_cannot_hold_gives_a_recipe_that_says_so(hospital: Bound) -> None:
    (recipe,) = Lattice(KAnonymity(13)).propose(*hospital, np.random.default_rng(0))
    with pytest.raises(Infeasible, match="cannot hold"):
        sanitize(*hospital, recipe)


def test_a_lattice_search_is_built_from_a_project_file(hospital: Bound) -> None:
    written = {"model": {"k-anonymity": {"k": 2}, "t-closeness": {"t": 0.5}}, "suppression": 0.1, "budget": 5}
    search = build("search", "lattice", written)
    assert search == Lattice(KAnonymity(2) & TCloseness(0.5), 0.1, "total-loss", 5.0)
    assert proposed(search, hospital)


@pytest.mark.parametrize(
    "wrong",
    [{"suppression": 2.0}, {"suppression": -0.1}, {"budget": 0.0}, {"objective": "loss"}],
)
def test_a_lattice_search_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        build("search", "lattice", wrong)


def test_the_front_is_efficient_and_nothing_beats_it(hospital: Bound) -> None:
    front = [
        (value(release, "k-anonymity"), value(release, "general-loss"))
        for release in proposed(LatticeFront(), hospital)
    ]
    every = {
        (value(other, "k-anonymity"), value(other, "general-loss")) for other in every_release(hospital, 1)
    }
    assert front == sorted(front, reverse=True)
    for k, loss in front:
        assert not any(a >= k and b <= loss + 1e-12 and (a > k or b < loss - 1e-12) for a, b in every)
    for k, loss in every:
        assert any(a >= k and b <= loss + 1e-12 for a, b in front)


def test_the_front_with_suppression_beats_the_one_without(hospital: Bound) -> None:
    without = {value(r, "k-anonymity"): value(r, "total-loss") for r in proposed(LatticeFront(), hospital)}
    some = {
        value(r, "k-anonymity"): value(r, "total-loss")
        for r in proposed(LatticeFront(suppression=0.3), hospital)
    }
    for k, loss in without.items():
        assert min(other for reached, other in some.items() if reached >= k) <= loss + 1e-12
    for k, loss in some.items():
        assert loss >= min(value(r, "total-loss") for r in every_release(hospital, int(k), 0.3)) - 1e-12


@pytest.mark.parametrize("privacy", ["t-closeness", "privacy-loss", "probabilistic-diversity"])
def test_the_front_of_another_score_holds_as_proposed(privacy: str, hospital: Bound) -> None:
    releases = proposed(LatticeFront(privacy=privacy, utility="precision"), hospital)
    reached = [value(release, privacy) for release in releases]
    assert reached == sorted(reached, reverse=privacy == "probabilistic-diversity")
    assert len(releases) >= 2


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_a_long_front_is_thinned_evenly_with_both_ends(most: int, hospital: Bound) -> None:
    whole = list(LatticeFront().propose(*hospital, np.random.default_rng(0)))
    some = list(LatticeFront(most=most).propose(*hospital, np.random.default_rng(0)))
    assert len(some) == min(most, len(whole))
    assert some[0] == whole[0]
    assert [recipe for recipe in whole if recipe in some] == some
    assert most == 1 or some[-1] == whole[-1]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"most": 0}, "most must be at least 1"),
        ({"suppression": 1.1}, "suppression"),
        ({"suppression": 0.1, "privacy": "t-closeness"}, "the front is that of k-anonymity"),
    ],
)
def test_a_front_refuses_what_makes_no_sense(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        build("search", "lattice-front", wrong)


def test_a_score_that_a_profile_does_not_have_is_named_when_it_is_asked_for(hospital: Bound) -> None:
    with pytest.raises(ParameterError, match="no score 'utility-loss'"):
        list(LatticeFront(utility="utility-loss").propose(*hospital, np.random.default_rng(0)))
