"""The sweep: every combination of the lists, in order, each of them checked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import ParameterError, ProjectError
from sfumato.searches import Search, Sweep
from sfumato.searches.sweep import how_many
from sfumato.workflow.project.project_file import search_of


def model(**parameters: Any) -> dict[str, Any]:
    return {"model": {"k-anonymity": parameters}}


def levels(recipe: Recipe) -> dict[str, int]:
    return dict(recipe.parameters["levels"])


class TestCombinations:
    def test_no_list_gives_one_recipe(self) -> None:
        assert Sweep("as-is").recipes() == [Recipe("as-is")]
        assert len(Sweep("mondrian", model(k=5)).recipes()) == 1

    def test_a_list_gives_one_recipe_for_each_element_in_order(self) -> None:
        recipes = Sweep("mondrian", model(k=[10, 2, 5])).recipes()
        assert [recipe.parameters["model"]["k-anonymity"]["k"] for recipe in recipes] == [10, 2, 5]

    def test_lists_at_all_depths_are_multiplied_the_last_one_fastest(self) -> None:
        parameters = {
            "variant": ["strict", "relaxed"],
            "model": {"k-anonymity": {"k": [2, 5]}, "t-closeness": {"t": [0.1, 0.2], "distance": "js"}},
        }
        chosen = [
            (
                r.parameters["variant"],
                r.parameters["model"]["k-anonymity"]["k"],
                r.parameters["model"]["t-closeness"]["t"],
            )
            for r in Sweep("mondrian", parameters).recipes()
        ]
        assert chosen == list(itertools.product(["strict", "relaxed"], [2, 5], [0.1, 0.2]))

    def test_a_mapping_of_levels_is_swept_key_by_key(self) -> None:
        sweep = Sweep("full-domain", {"levels": {"age": [0, 1, 2], "sex": 1, "zip": [3, 4]}})
        assert [levels(recipe) for recipe in sweep.recipes()] == [
            {"age": age, "sex": 1, "zip": zip_} for age in (0, 1, 2) for zip_ in (3, 4)
        ]

    def test_a_list_may_hold_whole_tables(self) -> None:
        sweep = Sweep("mondrian", {"model": [{"k-anonymity": {"k": [2, 3]}}, {"t-closeness": {"t": 0.2}}]})
        assert [str(recipe) for recipe in sweep.recipes()] == [
            "mondrian k=2",
            "mondrian k=3",
            "mondrian t=0.2",
        ]

    @given(
        st.dictionaries(
            st.sampled_from(["age", "sex", "zip"]),
            st.integers(0, 9) | st.lists(st.integers(0, 9), min_size=1, max_size=4),
        )
    )
    def test_are_as_many_as_the_product_of_the_lengths(self, swept: dict[str, Any]) -> None:
        listed = {name: given if isinstance(given, list) else [given] for name, given in swept.items()}
        expected = [dict(zip(listed, chosen, strict=True)) for chosen in itertools.product(*listed.values())]
        assert [levels(recipe) for recipe in Sweep("full-domain", {"levels": swept}).recipes()] == expected

    def test_a_parameter_that_is_a_list_by_nature_is_taken_whole(self) -> None:
        recipes = Sweep("laplace", {"attributes": ["age", "hours"], "epsilon": [0.1, 1.0]}).recipes()
        assert [(r.parameters["attributes"], r.parameters["epsilon"]) for r in recipes] == [
            (["age", "hours"], 0.1),
            (["age", "hours"], 1.0),
        ]

    def test_a_list_of_such_lists_is_swept(self) -> None:
        recipes = Sweep("laplace", {"attributes": [["age"], ["age", "hours"]]}).recipes()
        assert [recipe.parameters["attributes"] for recipe in recipes] == [["age"], ["age", "hours"]]

    def test_combinations_are_counted_without_being_made(self) -> None:
        given = model(k=list(range(1000)))
        given["model"]["t-closeness"] = {"t": [0.1] * 1000}
        assert how_many(given) == 1_000_000
        assert how_many({}) == 1

    def test_more_combinations_than_anybody_could_want_are_refused_at_once(self) -> None:
        many = list(range(2, 1002))
        given = {
            "model": {
                "k-anonymity": {"k": many},
                "t-closeness": {"t": many},
                "delta-disclosure": {"delta": many},
            }
        }
        with pytest.raises(
            ParameterError, match=r"mondrian: this makes 1,000,000,000 candidates; list fewer"
        ):
            Sweep("mondrian", given).recipes()
        with pytest.raises(ProjectError, match=r"number 1: mondrian: this makes 1,000,000,000 candidates"):
            search_of({"sanitizer": "mondrian", **given}, 1)

    def test_an_empty_list_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="mondrian: an empty list leaves nothing to try"):
            Sweep("mondrian", model(k=[])).recipes()


class TestRecipes:
    def test_have_every_parameter_written_out(self) -> None:
        (recipe,) = Sweep("mondrian", model(k=5)).recipes()
        assert set(recipe.parameters) == set(methods.parameters_of(methods.look_up("sanitizer", "mondrian")))

    def test_are_equal_however_the_defaults_are_written(self) -> None:
        assert Sweep("mondrian", {}).recipes() == Sweep("mondrian", {"variant": "strict"}).recipes()

    @pytest.mark.parametrize(
        ("sanitizer", "parameters", "message"),
        [
            ("mondrain", {}, "did you mean 'mondrian'"),
            ("mondrian", {"modle": {}}, "did you mean 'model'"),
            ("mondrian", {"variant": ["strict", "lose"]}, "variant"),
            ("mondrian", model(k=[2, 0]), "k must be at least 1, not 0"),
            ("full-domain", {"suppression": [0.1, 1.1]}, "between 0 and 1, not 1.1"),
        ],
    )
    def test_are_checked_every_one(self, sanitizer: str, parameters: dict[str, Any], message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            Sweep(sanitizer, parameters).recipes()

    def test_do_not_change_what_was_given(self) -> None:
        given_parameters = {"levels": {"age": [0, 1]}}
        Sweep("full-domain", given_parameters).recipes()
        assert given_parameters == {"levels": {"age": [0, 1]}}


def test_is_a_search_that_proposes_the_same_whatever_the_table() -> None:
    sweep = Sweep("mondrian", model(k=[2, 5]))
    assert isinstance(sweep, Search)
    table = Table.from_arrow({"age": [1, 2]})
    proposed = sweep.propose(table, Schema.of(age="quasi-identifying"), np.random.default_rng(1))
    assert list(proposed) == sweep.recipes()


def test_is_registered_by_its_name() -> None:
    parameters = {"sanitizer": "as-is", "parameters": {}}
    assert methods.build("search", "sweep", parameters) == Sweep("as-is", {})
