"""The catalogue: an entry for everything registered, and the nearest name for what is not."""

from __future__ import annotations

import inspect
import json
from typing import cast, get_args

import pytest

from sfumato.interfaces.cli.catalogue import catalogue, entry
from sfumato.registry import methods
from sfumato.results.json_schemas import MethodShape
from sfumato.runtime.errors import ParameterError

REGISTERED = [(kind, name) for kind in get_args(methods.Kind) for name in methods.registered(kind)]
ENTRIES = catalogue()


def test_has_one_entry_for_everything_registered() -> None:
    assert [(each.kind, each.name) for each in ENTRIES] == REGISTERED
    assert {kind for kind, _ in REGISTERED} == {"sanitizer", "model", "measure", "search", "miner"}


def test_names_are_unique_over_all_kinds() -> None:
    names = [name for _, name in REGISTERED]
    assert len(set(names)) == len(names)


def test_is_plain_data() -> None:
    plain = [entry.to_dict() for entry in ENTRIES]
    assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize("each", ENTRIES, ids=[name for _, name in REGISTERED])
def test_entry_says_what_it_is_in_one_sentence(each: MethodShape) -> None:
    cls = methods.look_up(cast(methods.Kind, each.kind), each.name)
    assert each.summary
    assert each.summary[-1] in ".:"
    assert "\n" not in each.summary
    assert each.documentation == inspect.getdoc(cls)
    assert " ".join(each.documentation.split()).startswith(each.summary)


@pytest.mark.parametrize("each", ENTRIES, ids=[name for _, name in REGISTERED])
def test_entry_lists_the_parameters_that_can_be_given(each: MethodShape) -> None:
    constructor = inspect.signature(methods.look_up(cast(methods.Kind, each.kind), each.name))
    assert [parameter.name for parameter in each.parameters] == [
        name.replace("_", "-") for name in constructor.parameters
    ]
    for parameter, given in zip(each.parameters, constructor.parameters.values(), strict=True):
        assert (parameter.default == "required") == (given.default is inspect.Parameter.empty)
        assert parameter.type


def test_entry_of_a_model_tells_its_declared_facts() -> None:
    facts = entry("k-anonymity").facts
    assert facts["guards"] == "identity"
    assert facts["better"] == "higher"
    assert facts["monotone"] is True


def test_entry_of_a_measure_tells_its_side() -> None:
    facts = entry("general-loss").facts
    assert (facts["axis"], facts["better"]) == ("utility", "lower")


def test_entry_writes_a_model_as_a_default_in_short() -> None:
    (model,) = [each for each in entry("mondrian").parameters if each.name == "model"]
    assert model.default == "k-anonymity k=5"


def test_entry_names_the_paper() -> None:
    assert "Sweeney" in entry("k-anonymity").reference
    assert "\n" not in entry("k-anonymity").reference
    assert entry("as-is").reference == ""


@pytest.mark.parametrize(
    ("name", "near"), [("mondrain", "mondrian"), ("t-closenes", "t-closeness"), ("swep", "sweep")]
)
def test_a_near_miss_gets_a_suggestion(name: str, near: str) -> None:
    with pytest.raises(ParameterError) as caught:
        entry(name)
    assert str(caught.value) == (
        f"nothing is called {name!r}; did you mean {near!r}? (sfumato methods lists them all)"
    )


def test_a_name_like_no_other_gets_none() -> None:
    with pytest.raises(
        ParameterError, match=r"^nothing is called 'xyzzy' \(sfumato methods lists them all\)$"
    ):
        entry("xyzzy")
