"""Tests of epsilon and delta: read from the recipe, nowhere else, and published as an unverified claim."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sfumato import Limit, Schema, Table, ask, explore, measure, publish, sanitize, verify
from sfumato.measures import Epsilon, PrivacyDelta
from sfumato.measures.disclosure.dp_guarantee import guarantee_of
from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import PolicyNotMet
from sfumato.sanitizers import MST, AsIs, CartSynthesis, Laplace
from sfumato.verification.documents import Band
from sfumato.workflow.report.bands import Bands

Bound = tuple[Table, Schema]


def test_they_are_what_the_recipe_says(hospital: Bound) -> None:
    release = sanitize(*hospital, MST(0.7, 1e-8))
    taken = {each.measure: each for each in measure(release, ["epsilon", "privacy-delta"])}
    assert (taken["epsilon"].value, taken["privacy-delta"].value) == (0.7, 1e-8)
    assert taken["epsilon"].detail["unit"] == "record"


@pytest.mark.parametrize("how", [AsIs(), Laplace(), CartSynthesis()])
def test_methods_that_promise_nothing_to_everybody_have_none(hospital: Bound, how: object) -> None:
    release = sanitize(*hospital, how)  # type: ignore[arg-type]
    assert guarantee_of(release) is None
    for taken in measure(release, [Epsilon(), PrivacyDelta()]):
        assert taken.value is None
        assert "promises no differential privacy" in taken.detail["reason"]


def test_a_release_of_unknown_make_promises_nothing(hospital: Bound) -> None:
    assert guarantee_of(replace(sanitize(*hospital, MST()), recipe=None)) is None


def test_the_smallest_epsilon_that_loses_little_can_be_asked_for(adult: Bound) -> None:
    recipes = [Recipe.of(MST(epsilon)) for epsilon in (0.01, 0.3, 3.0)] + [Recipe.of(AsIs())]
    frontier = explore(*adult, recipes, measures=["epsilon", "utility-loss"], policy="none")
    answer = ask(frontier, "min epsilon where utility-loss <= 0.02")
    assert answer.candidate is not None
    assert answer.candidate.recipe.parameters["epsilon"] == 0.3
    assert answer.not_applicable["epsilon"] == 1


def test_what_is_promised_is_told_exactly_and_not_as_a_band(hospital: Bound) -> None:
    (taken,) = measure(sanitize(*hospital, MST(0.3)), ["epsilon"])
    assert Bands(b"secret").of(taken) == Band(low=0.3, high=0.3)


def test_a_policy_can_limit_what_must_be_promised(hospital: Bound, tmp_path: Path) -> None:
    policy = {"epsilon": Limit(at_most=1.0)}
    publish(sanitize(*hospital, MST(0.5)), tmp_path / "kept", policy=policy)
    for how in (MST(2.0), AsIs()):
        with pytest.raises(PolicyNotMet):
            publish(sanitize(*hospital, how), tmp_path / "broken", policy=policy)


def test_a_published_folder_tells_the_promise_as_an_unverified_claim(hospital: Bound, tmp_path: Path) -> None:
    measures = ["epsilon", "utility-loss"]
    publish(
        sanitize(*hospital, MST(0.5)),
        tmp_path / "out",
        measures,
        profiles=["nist"],
        policy="none",
        allow_singling_out=True,
    )
    assert verify(tmp_path / "out").holds
    claims = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert "epsilon" not in {claim["measure"] for claim in claims["claims"]}
    pages = {page.name: page.read_text(encoding="utf-8") for page in (tmp_path / "out").glob("*.html")}
    assert len(pages) == 2
    for page in pages.values():
        assert "(0.5, 1e-06)-differentially private" in page
        assert "not differentially private" not in page
        assert "looks exact is true" not in page
