"""Several sensitive attributes: each can be looked at by itself, not only the worst of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato import Candidate, Frontier, Recipe, Release, Schema, Table, sanitize
from sfumato.data.schema import Role
from sfumato.measures import Measurement, measure
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.formatting import measure_words
from sfumato.results.measurement import by_attribute, named, worst_value
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Mondrian

ORIGINAL, ONE = datasets.adult("train", quasi_identifiers=("age", "education", "workclass"))
PRIVATE = ("occupation", "workclass")
ASKED = ["privacy-loss", "t-closeness", "probabilistic-diversity", "k-anonymity"]


def with_sensitive(*names: str) -> tuple[Table, Schema]:
    """Give two of the attributes, neither of which sanitizing looks at, the role of sensitive ones."""
    role: dict[str, Role] = {name: "sensitive" if name in names else "insensitive" for name in PRIVATE}
    return Schema(tuple(replace(a, role=role.get(a.name, a.role)) for a in ONE.attributes)).bind(ORIGINAL)


def made(*sensitive: str) -> Release:
    return sanitize(*with_sensitive(*sensitive), Mondrian(KAnonymity(50)))


BOTH = measure(made(*PRIVATE), ASKED)


@pytest.mark.parametrize("attribute", PRIVATE)
@pytest.mark.parametrize("name", ["privacy-loss", "t-closeness", "probabilistic-diversity"])
def test_a_figure_of_one_is_that_of_a_schema_in_which_it_is_the_only_one(attribute: str, name: str) -> None:
    (alone,) = measure(made(attribute), [name])
    assert worst_value(BOTH, f"{name} of {attribute}") == pytest.approx(alone.value)


@pytest.mark.parametrize("name", ["privacy-loss", "t-closeness", "probabilistic-diversity"])
def test_without_an_attribute_it_is_the_worst(name: str) -> None:
    each = [worst_value(BOTH, f"{name} of {attribute}") for attribute in PRIVATE]
    worst = min if name == "probabilistic-diversity" else max
    assert worst_value(BOTH, name) == worst(value for value in each if value is not None)
    assert each[0] != each[1]


def test_only_what_speaks_of_several_is_told_apart() -> None:
    assert {m.measure for m in by_attribute(BOTH)} == {
        "privacy-loss",
        "t-closeness",
        "probabilistic-diversity",
    }
    assert by_attribute(measure(made("occupation"), ASKED)) == []
    assert worst_value(BOTH, "k-anonymity of occupation") is None
    assert worst_value(BOTH, "privacy-loss of sex") is None


def test_with_parameters_it_goes_by_its_label() -> None:
    found = measure(made(*PRIVATE), [{"t-closeness": {"distance": "js"}}])
    label = "t-closeness distance=js of occupation"
    assert label in [m.attribute_label for m in by_attribute(found)]
    assert named(found, label) == named(found, "t-closeness of occupation")
    assert measure_words(label).title == "t-closeness (distance=js) of occupation"


def candidate(name: str, income: float, disease: float, loss: float) -> Candidate:
    of = {"income": income, "disease": disease}
    taken = [Measurement("privacy-loss", value, "privacy", "lower", each) for each, value in of.items()]
    return Candidate(
        name, Recipe("mondrian"), (*taken, Measurement("general-loss", loss, "utility", "lower"))
    )


def test_a_frontier_may_have_an_axis_for_each() -> None:
    first, second = candidate("a", 0.9, 0.1, 0.5), candidate("b", 0.8, 0.8, 0.5)
    beaten = candidate("c", 0.9, 0.2, 0.5)
    axes = ("privacy-loss of income", "privacy-loss of disease", "general-loss")
    assert Frontier((first, second, beaten), ("privacy-loss", "general-loss")).efficient() == (second,)
    assert set(Frontier((first, second, beaten), axes).efficient()) == {first, second}
    with pytest.raises(ParameterError, match="'privacy-loss of age' was not measured"):
        Frontier((first, second), ("privacy-loss of age", "general-loss"))
