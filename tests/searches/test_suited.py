"""What suits a table: every family of methods, with thresholds that the table can reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import sanitize
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.models import KAnonymity, TCloseness
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Mondrian
from sfumato.searches.default_plan import Suited, _of_other_types


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every optimum be found, however long that takes."""
    monkeypatch.setattr("sfumato.searches.default_plan._SECONDS", math.inf)


def proposed(table: Table, schema: Schema, **thresholds: Any) -> list[Recipe]:
    return list(Suited(**thresholds).propose(table, schema, np.random.default_rng(0)))


def people(n_records: int = 400, *, numeric: bool = False) -> tuple[Table, Schema]:
    rng = np.random.default_rng(7)
    pay = rng.integers(1_000, 9_000, n_records)
    table = Table.from_arrow(
        {
            "age": rng.integers(18, 90, n_records),
            "sex": rng.choice(["f", "m"], n_records),
            "pay": pay if numeric else np.array(["low", "middle", "high"])[pay % 3],
        }
    )
    attributes = Attribute("age", "quasi-identifying", "numeric"), Attribute("sex", "quasi-identifying")
    schema = Schema((*attributes, Attribute("pay", "sensitive")))
    return schema.with_assumed_public_part(table).bind(table)


def ks(recipes: list[Recipe], sanitizer: str = "mondrian") -> list[int]:
    models = [r.parameters["model"] for r in recipes if r.sanitizer == sanitizer]
    return [model["k-anonymity"]["k"] for model in models if set(model) == {"k-anonymity"}]


def test_every_family_that_suits_the_table_is_tried() -> None:
    tried = {recipe.sanitizer for recipe in proposed(*people())}
    # changed and made-up values are for who asks for them, and a cut is what evolution searches
    known = methods.registered("sanitizer")
    asked_for = {name for name, cls in known.items() if getattr(cls, "release_type", "people") != "people"}
    assert tried == known.keys() - asked_for - {"cut", "top-coding", "sampling"} - _plugged_in()


def test_changed_and_made_up_records_are_tried_where_somebody_asks_for_them() -> None:
    table, schema = people(600)
    usual, every = proposed(table, schema), proposed(table, schema, every_type=True)
    assert every[: len(usual)] == usual
    more = every[len(usual) :]
    assert {recipe.sanitizer for recipe in more} == set(Suited(every_type=True).sanitizers)
    assert len(more) <= 15
    types = {sanitize(table, schema, recipe).type for recipe in more}
    assert types == {"perturbed", "synthetic"}


def test_intervals_and_sets_end_on_a_grid_unless_somebody_asks_for_tight_ones() -> None:
    grid, tight = proposed(*people()), proposed(*people(), borders="tight")
    assert [recipe.sanitizer for recipe in grid] == [recipe.sanitizer for recipe in tight]
    for recipes, borders in ((grid, "grid"), (tight, "tight")):
        ends = {
            recipe.sanitizer: recipe.parameters["borders"]
            for recipe in recipes
            if "borders" in recipe.parameters
        }
        assert ends == dict.fromkeys(("mondrian", "clustering", "local-recoding"), borders)


@pytest.mark.parametrize(
    ("n_records", "family", "expected"),
    [(90, "mst", 0), (600, "mst", 3), (40, "microaggregation", 1), (30, "cart-synthesis", 1)],
)
def test_other_types_are_tried_where_there_are_records_enough(
    n_records: int, family: str, expected: int
) -> None:
    recipes = proposed(*people(n_records), every_type=True)
    assert sum(recipe.sanitizer == family for recipe in recipes) == expected


def test_averages_are_not_tried_where_no_number_tells_people_apart_or_it_takes_too_long() -> None:
    table, _ = people(600)
    categories = Schema.of(age="withheld", sex="quasi-identifying", pay="sensitive")
    assert "microaggregation" not in {r.sanitizer for r in proposed(table, categories, every_type=True)}
    ages = {"age": np.arange(300_000) % 80, "pay": np.arange(300_000) % 3}
    many = Table.from_arrow(ages)
    schema = Schema.of(age="quasi-identifying", pay="sensitive")
    tried = list(_of_other_types(*schema.with_assumed_public_part(many).bind(many)))
    assert {r.sanitizer for r in tried} == {"sampling", "rank-swapping", "pram", "mst"}
    # of the number of people only the public bound may be used
    assert {r.parameters["delta"] for r in tried if r.sanitizer == "mst"} == {1e-7}
    undeclared = list(_of_other_types(*schema.bind(many)))
    assert {r.sanitizer for r in undeclared} == {"sampling", "rank-swapping", "pram"}


def _plugged_in() -> set[str]:
    known = methods.registered("sanitizer")
    return {name for name, cls in known.items() if methods.is_plugged_in(cls)}


def test_nothing_is_proposed_twice_and_everything_can_be_made() -> None:
    table, schema = people()
    recipes = proposed(table, schema)
    assert len({recipe.key for recipe in recipes}) == len(recipes)
    for recipe in recipes:
        sanitize(table, schema, recipe)


def test_a_threshold_asks_for_more_than_a_partition_for_k_alone_reaches() -> None:
    table, schema = people()
    for recipe in proposed(table, schema):
        model = recipe.parameters.get("model", {})
        if recipe.sanitizer == "mondrian" and "t-closeness" in model:
            plain = sanitize(table, schema, Mondrian(KAnonymity(model["k-anonymity"]["k"])))
            assert model["t-closeness"]["t"] < TCloseness().level(plain.groups)


@pytest.mark.parametrize(
    ("n_records", "expected"),
    [(3, []), (4, [2]), (12, [2, 3]), (100, [2, 3, 5, 10, 20]), (900, [2, 3, 5, 10, 20, 50, 100, 200])],
)
def test_the_values_of_k_fit_the_number_of_records(n_records: int, expected: list[int]) -> None:
    assert ks(proposed(*people(n_records))) == expected


def test_numbers_are_compared_as_numbers() -> None:
    models = [recipe.parameters.get("model", {}) for recipe in proposed(*people(numeric=True))]
    assert {m["t-closeness"]["distance"] for m in models if "t-closeness" in m} == {"natural"}
    models = [recipe.parameters.get("model", {}) for recipe in proposed(*people())]
    assert {m["t-closeness"]["distance"] for m in models if "t-closeness" in m} == {"equal"}


def test_what_needs_a_role_that_no_attribute_has_is_not_tried() -> None:
    table, _ = people()
    no_sensitive = Schema.of(age="quasi-identifying", sex="quasi-identifying", pay="withheld")
    recipes = proposed(table, no_sensitive)
    assert {"bucketize", "anatomy", "suppress-sensitive"}.isdisjoint(r.sanitizer for r in recipes)
    assert {key for r in recipes for key in r.parameters.get("model", {})} == {"k-anonymity"}
    no_quasi_identifier = Schema.of(age="withheld", sex="withheld", pay="sensitive")
    assert [r.sanitizer for r in proposed(table, no_quasi_identifier)] == ["as-is"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"k-anonymity": Limit(at_least=7)}, 7),
        ({"reidentification-risk": Limit(at_most=0.09)}, 12),
        ({"reidentification-risk": Limit(at_most=1 / 11)}, 11),
    ],
)
def test_what_the_policy_asks_for_is_tried_by_every_family(limits: dict[str, Limit], expected: int) -> None:
    recipes = list(Suited().within(Policy(NOBODY, limits)).propose(*people(), np.random.default_rng(0)))
    for family in ("mondrian", "clustering", "cell-suppression", "full-domain", "local-recoding"):
        assert expected in ks(recipes, family)


def test_the_policy_s_distance_and_diversity_are_tried() -> None:
    limits = {"t-closeness": Limit(at_most=0.123), "probabilistic-diversity": Limit(at_least=2.5)}
    search = Suited().within(Policy(NOBODY, limits))
    assert (search.t, search.l) == ((0.123,), (2.5,))
    models = [r.parameters.get("model", {}) for r in search.propose(*people(), np.random.default_rng(0))]
    assert 0.123 in {m["t-closeness"]["t"] for m in models if "t-closeness" in m}
    assert 2.5 in {m["probabilistic-diversity"]["l"] for m in models if "probabilistic-diversity" in m}


def test_a_policy_without_thresholds_changes_nothing() -> None:
    assert Suited().within(Policy(NOBODY, {"utility-loss": Limit(at_most=0.1)})) == Suited()


@pytest.mark.parametrize("given", [{"k": (0,)}, {"l": (0.5,)}, {"t": (-0.1,)}, {"t": (float("nan"),)}])
def test_thresholds_that_no_model_has_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be at least"):
        Suited(**given)


def test_an_external_example_is_served() -> None:
    recipes = proposed(*datasets.hospital())
    assert len(recipes) > 10
