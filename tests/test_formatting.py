"""The words: everything registered has them, and numbers are printed as people write them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from sfumato.measures import Measure, Measurement
from sfumato.models import KAnonymity, TCloseness
from sfumato.registry import methods
from sfumato.registry.declarations import Words, own
from sfumato.registry.methods import register
from sfumato.registry.recipe import Recipe
from sfumato.results import formatting
from sfumato.results.pareto import Limit
from sfumato.results.release import Release
from sfumato.sanitizers import FullDomain, Mondrian

SEED = 918273645564738291


@pytest.mark.parametrize("kind", ["measure", "model"])
def test_everything_that_can_be_measured_has_words(kind: methods.Kind) -> None:
    for name in methods.registered(kind):
        assert formatting.measure_words(name).title
        assert formatting.measure_words(name).meaning


def test_every_sanitizer_has_words() -> None:
    assert [name for name in methods.registered("sanitizer") if not formatting.sanitizer_words(name)] == []


def test_a_measure_of_a_plug_in_speaks_through_its_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    known = methods.registered("measure")

    @dataclass(frozen=True)
    class StrangerThings(Measure):
        """How strange the `release` looks.

        More about it.
        """

        axis: ClassVar[Any] = "privacy"
        better: ClassVar[Any] = "lower"

        def measure(self, release: Release) -> tuple[Measurement, ...]:
            return (self.measurement(1.0),)

    monkeypatch.setitem(methods._registered, "measure", known)
    register(StrangerThings)
    assert formatting.measure_words("stranger-things") == Words(
        "stranger things", "How strange the release looks."
    )
    assert formatting.measure_words("gone") == Words("gone", "")


def test_recipes_are_told_without_seed_and_defaults() -> None:
    mondrian = Mondrian(KAnonymity(5) & TCloseness(0.2, distance="js"), variant="relaxed")
    told = formatting.recipe_in_words(Recipe.of(mondrian, SEED))
    assert (
        told
        == "mondrian with k-anonymity (k = 5) and t-closeness (t = 0.2, distance = js); variant = relaxed"
    )
    full_domain = FullDomain({"age": 2, "zip": 1}, suppression=0.05)
    told = formatting.recipe_in_words(Recipe.of(full_domain))
    assert told == "full-domain with k-anonymity (k = 5); levels age 2, zip 1, suppression = 0.05"
    assert (
        formatting.recipe_in_words(Recipe("gone", {"model": {"lost": {}}, "x": None}))
        == "gone with lost; x = none"
    )


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "0%"),
        (-0.0, "0%"),
        (1.0, "100%"),
        (0.99999, ">99.9%"),
        (1 / 11, "9.09%"),
        (-0.02, "\u22122%"),
        (math.inf, "∞"),
    ],
)
def test_shares_are_printed_in_percent(value: float, printed: str) -> None:
    assert formatting.share(value) == printed


def test_limits_are_printed_with_the_digits_that_they_were_given() -> None:
    assert formatting.limit_of("reidentification-risk", Limit(at_most=0.0910)) == "at most 9.1%"
    assert formatting.limit_of("reidentification-risk", Limit(at_most=0.09091)) == "at most 9.091%"
    assert formatting.limit_of("reidentification-risk", Limit(at_most=0.0909123)) == "at most 9.09123%"
    assert formatting.limit_of("reidentification-risk", Limit(at_most=1 / 11)) == "at most 9.091%"
    assert formatting.limit_of("k-anonymity", Limit(at_least=5, at_most=10)) == "at least 5 and at most 10"


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        (Recipe.of(Mondrian(KAnonymity(11) & TCloseness(0.1)), SEED), "Mondrian k=11, t=0.1"),
        (Recipe("full-domain", {"levels": {"age": 2, "sex": 0}}), "Full domain levels 2-0"),
        (Recipe("suppress-quasi-identifiers"), "Suppress quasi-identifiers"),
        (Recipe("gone", {"epsilon": 1 / 11}), "Gone epsilon=0.09091"),
    ],
)
def test_a_release_is_called_by_its_method_and_what_sets_it_apart(recipe: Recipe, name: str) -> None:
    assert formatting.recipe_name(recipe) == name


def test_a_name_is_never_too_long_for_a_heading() -> None:
    wide = Recipe("full-domain", {"levels": {f"column {number}": number for number in range(40)}})
    assert len(formatting.recipe_name(wide)) <= 80


def test_every_measure_and_model_says_what_both_ends_of_its_scale_mean() -> None:
    for kind in ("measure", "model"):
        for name in methods.registered(kind):
            best, worst = formatting.measure_words(name).ends
            assert best, name
            assert worst not in ("", best), name


def test_the_words_of_a_candidate_come_before_its_recipe() -> None:
    for name, how in methods.registered("sanitizer").items():
        words = formatting.plain_name(Recipe(name).normalized())
        assert words[:1].isupper(), name
        assert own(how, "plain") is None or words.lower().startswith(own(how, "plain")[:6].lower()), name


def test_a_method_without_plain_words_goes_by_its_name() -> None:
    assert formatting.plain_name(Recipe("full-domain", {"levels": {"age": 1}})) == "Full domain levels 1"


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("{a, b, c, d}", "{a, b, c, d}"),
        ("{a, b, c, d, e}", "one of 5 (a, b, …)"),
        ('{a, "b, c", d, e, missing}', "one of 5 (a, b, c, …)"),
        ("{1990 to 1993, 2000, 2010, 2015, 2020}", "{1990 to 1993, 2000, 2010, 2015, 2020}"),
        ("[20, 30)", "[20, 30)"),
        ("*", "*"),
        (None, ""),
    ],
)
def test_a_long_set_is_shown_by_how_many_it_has(label: str | None, words: str) -> None:
    assert formatting.cell_words(label) == words
