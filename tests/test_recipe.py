"""Recipe: how a release is made, as data that survives JSON and refuses what it does not know."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Recipe, Release, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.reading import datasets
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

models = st.one_of(
    st.builds(KAnonymity, st.integers(1, 50)),
    st.builds(TCloseness, st.floats(0, 1), st.sampled_from(["equal", "js"])),
    st.builds(
        lambda k, share: KAnonymity(k) & ProbabilisticDiversity(share), st.integers(1, 50), st.floats(1, 9)
    ),
    st.builds(
        lambda share, t: ProbabilisticDiversity(share) & TCloseness(t), st.floats(1, 9), st.floats(0, 1)
    ),
)
sanitizers = st.one_of(
    st.just(AsIs()),
    st.builds(Mondrian, models, st.sampled_from(["strict", "relaxed"])),
    st.builds(
        FullDomain, st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)), models, st.floats(0, 1)
    ),
)


def refusal(recipe: Recipe) -> str:
    with pytest.raises(ParameterError) as caught:
        recipe.build()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(sanitizers, st.integers(0, 2**63))
def test_any_sanitizer_survives_json_and_back(sanitizer: Any, seed: int) -> None:
    recipe = Recipe.of(sanitizer, seed)
    again = Recipe.from_json(recipe.to_json())
    assert again == recipe
    assert again.seed == seed
    assert again.build() == sanitizer
    assert again.to_json() == recipe.to_json()
    assert again.normalized() == recipe


def test_a_conjunction_is_written_as_one_mapping_and_comes_back_as_one() -> None:
    sanitizer = Mondrian(KAnonymity(5) & TCloseness(0.2))
    recipe = Recipe.of(sanitizer)
    assert recipe.parameters["model"] == {
        "k-anonymity": {"k": 5},
        "t-closeness": {"t": 0.2, "distance": "equal"},
    }
    assert Recipe.from_json(recipe.to_json()).build() == sanitizer


def test_a_model_may_be_written_as_a_mapping_or_given_as_it_is() -> None:
    assert Recipe("mondrian", {"model": {"k-anonymity": {"k": 7}}}).build() == Mondrian(KAnonymity(7))
    assert Recipe("mondrian", {"model": {"k-anonymity": {}}}).build() == Mondrian(KAnonymity())
    assert Recipe("mondrian", {"model": KAnonymity(7)}).build() == Mondrian(KAnonymity(7))


def test_a_whole_number_will_do_where_a_fraction_is_wanted() -> None:
    assert Recipe("mondrian", {"model": {"probabilistic-diversity": {"l": 3}}}).build() == Mondrian(
        ProbabilisticDiversity(3.0)
    )


def test_normalizing_writes_the_defaults_out_and_keeps_the_seed() -> None:
    recipe = Recipe("mondrian", {"model": {"k-anonymity": {}}}, seed=9).normalized()
    assert recipe.parameters["model"] == {"k-anonymity": {"k": 5}}
    assert recipe.parameters["variant"] == "strict"
    assert recipe.seed == 9
    assert recipe.key == Recipe.of(Mondrian()).key


# ------------------------------------------------------------------------------------- key and seed


def test_the_key_ignores_the_seed_and_nothing_else() -> None:
    recipe = Recipe.of(Mondrian(KAnonymity(5)), seed=1)
    assert recipe.key == Recipe.of(Mondrian(KAnonymity(5)), seed=2).key
    others = [
        Mondrian(KAnonymity(6)),
        Mondrian(KAnonymity(5), "relaxed"),
        FullDomain(model=KAnonymity(5)),
        AsIs(),
    ]
    assert len({recipe.key, *(Recipe.of(other).key for other in others)}) == len(others) + 1


def test_the_key_does_not_depend_on_the_order_of_parameters() -> None:
    one = Recipe("full-domain", {"levels": {"a": 1, "b": 2}, "suppression": 0.1})
    other = Recipe("full-domain", {"suppression": 0.1, "levels": {"b": 2, "a": 1}})
    assert one.key == other.key
    assert one.to_json() == other.to_json()


def test_what_may_be_published_has_no_seed() -> None:
    recipe = Recipe.of(Mondrian(), seed=987654321)
    assert "seed" not in recipe.public_json()
    assert "987654321" not in recipe.public_json()
    assert "987654321" not in recipe.key
    assert "987654321" not in str(recipe)
    assert json.loads(recipe.to_json())["seed"] == 987654321
    assert Recipe.from_json(recipe.public_json()).seed is None


def test_the_generator_is_a_fresh_one_each_time() -> None:
    recipe = Recipe("as-is", seed=5)
    first = recipe.generator().integers(0, 2**60, 4).tolist()
    assert recipe.generator().integers(0, 2**60, 4).tolist() == first
    assert Recipe("as-is", seed=6).generator().integers(0, 2**60, 4).tolist() != first
    assert np.random.default_rng(5).integers(0, 2**60, 4).tolist() == first


def test_the_same_recipe_on_the_same_table_gives_the_same_release(
    as_made: Callable[[Release], pa.Table],
) -> None:
    table, schema = datasets.hospital()
    recipe = Recipe("mondrian", {"model": {"k-anonymity": {"k": 3}}, "variant": "relaxed"}, seed=4)
    one, again = (as_made(sanitize(table, schema, recipe)) for _ in range(2))
    assert one == again
    assert as_made(sanitize(table, schema, Recipe.from_json(recipe.to_json()))) == one


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("sanitizer", "parameters", "expected"),
    [
        (
            "mondrain",
            {},
            "no sanitizer 'mondrain'; did you mean 'mondrian'? (sfumato methods lists them all)",
        ),
        ("zzz", {}, "no sanitizer 'zzz' (sfumato methods lists them all)"),
        (
            "mondrian",
            {"varient": "strict"},
            "sanitizer 'mondrian' has no parameter 'varient'; did you mean 'variant'?",
        ),
        ("mondrian", {"zzz": 1}, "sanitizer 'mondrian' has no parameter 'zzz'; it has model"),
        ("as-is", {"k": 1}, "sanitizer 'as-is' has no parameter 'k'; it has no parameters"),
        ("mondrian", {"variant": "strickt"}, "no variant 'strickt'; did you mean 'strict'?"),
        ("mondrian", {"variant": "zzz"}, "no variant 'zzz'; allowed are strict, relaxed"),
        ("mondrian", {"model": {"k-anonimity": {}}}, "no model 'k-anonimity'; did you mean 'k-anonymity'?"),
        ("mondrian", {"model": {"k-anonymity": {"kk": 5}}}, "model 'k-anonymity' has no parameter 'kk'"),
        ("mondrian", {"model": {"k-anonymity": {"k": "five"}}}, "k: expected `int`, got `str`"),
        ("mondrian", {"model": {"k-anonymity": {"k": 2.5}}}, "k: expected `int`, got `float`"),
        (
            "mondrian",
            {"model": {"k-anonymity": {"k": 0}}},
            "mondrian: k-anonymity: k must be at least 1, not 0",
        ),
        ("mondrian", {"model": {"k-anonymity": 5}}, "its parameters are written { parameter = value }"),
        ("mondrian", {"model": {}}, "a model is written { name = { parameter = value } }"),
        ("mondrian", {"model": "k-anonymity"}, "a model is written { name = { parameter = value } }"),
        ("full-domain", {"levels": {"age": "two"}}, "levels: expected `int`, got `str`"),
        ("full-domain", {"suppression": 2}, "suppression must be a share between 0 and 1, not 2"),
        ("full-domain", {"suppression": None}, "suppression: expected `float`, got `null`"),
    ],
)
def test_a_recipe_that_cannot_be_built_is_refused_in_one_line(
    sanitizer: str, parameters: dict[str, Any], expected: str
) -> None:
    assert expected in refusal(Recipe(sanitizer, parameters))


def test_parameters_that_are_no_mapping_are_refused() -> None:
    parameters: Any = [1]
    assert "its parameters are written" in refusal(Recipe("mondrian", parameters))


@pytest.mark.parametrize(
    "written",
    [
        "",
        "not JSON",
        "[]",
        "null",
        '"mondrian"',
        "{}",
        '{"sanitizer": "mondrian"}',
        '{"sanitizer": 5, "parameters": {}}',
        '{"sanitizer": "mondrian", "parameters": [1]}',
        '{"sanitizer": "mondrian", "parameters": {}, "seed": "secret"}',
        '{"sanitizer": "mondrian", "parameters": {}, "seed": 1.5}',
    ],
)
def test_what_is_no_recipe_is_refused_in_one_line(written: str) -> None:
    with pytest.raises(ParameterError, match="not a recipe; expected sanitizer, parameters and seed"):
        Recipe.from_json(written)


# ------------------------------------------------------------------------------------------ in words


@pytest.mark.parametrize(
    ("sanitizer", "expected"),
    [
        (Mondrian(KAnonymity(5)), "mondrian k=5"),
        (Mondrian(KAnonymity(5) & TCloseness(0.2)), "mondrian k=5 t=0.2"),
        (Mondrian(KAnonymity(5), "relaxed"), "mondrian k=5 variant=relaxed"),
        (AsIs(), "as-is"),
        (FullDomain({"age": 1}, KAnonymity(2), 0.1), "full-domain k=2 levels={age:1} suppression=0.1"),
    ],
)
def test_a_recipe_is_one_short_line(sanitizer: Any, expected: str) -> None:
    assert str(Recipe.of(sanitizer)) == expected
