"""Tests of what numeric parameters may be: an absurd number is refused in one line, or does no harm."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import sfumato as sf
from sfumato import registry
from sfumato.errors import ParameterError, SfumatoError
from sfumato.measures.base import measure
from sfumato.models.bounds import lost_share
from sfumato.models.parameters import MOST_PEOPLE, check_number

ABSURD = [math.inf, math.nan, 1e300, 1e-300, 10**400, 2**63, 10**11, -1, 0]
KINDS: dict[Any, Any] = {"model": registry.registered("model"), "measure": registry.registered("measure")}


def numeric_parameters(cls: type[Any]) -> Iterator[tuple[str, bool]]:
    """Yield the parameters that take a number, and whether they take one for each of several names."""
    hints = get_type_hints(cls)
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        if hint in (int, float) or {int, float} & set(get_args(hint)):
            yield field.name, get_origin(hint) is Mapping


PARAMETERS = [
    (kind, name, parameter, is_mapping)
    for kind, classes in KINDS.items()
    for name, cls in classes.items()
    for parameter, is_mapping in numeric_parameters(cls)
]


@contextmanager
def one_line() -> Iterator[None]:
    """Fail on every exception but a refusal in one short line, and on every warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refusals: list[str] = []
        try:
            yield
        except SfumatoError as error:
            refusals.append(str(error))
        assert not any("\n" in refusal or len(refusal) > 300 for refusal in refusals)


@pytest.fixture(scope="module")
def releases() -> list[sf.Release]:
    table, schema = sf.datasets.hospital()
    methods: list[Any] = [sf.Mondrian(sf.KAnonymity(3)), sf.AsIs(), sf.Anatomy(2)]
    return [sf.sanitize(table, schema, method, seed=1) for method in methods]


def built(kind: Any, name: str, parameter: str, value: Any) -> Iterator[Any]:
    """Yield the method with a value, as a project file and as a program would make it, if it takes it."""
    for make in (
        lambda: registry.build(kind, name, {parameter.replace("_", "-"): value}),
        lambda: KINDS[kind][name](**{parameter: value}),
    ):
        with one_line():
            yield make()


@pytest.mark.parametrize(("kind", "name", "parameter", "is_mapping"), PARAMETERS)
def test_an_absurd_number_is_refused_in_one_line_or_does_no_harm(
    kind: Any, name: str, parameter: str, is_mapping: bool, releases: list[sf.Release]
) -> None:
    table, schema = sf.datasets.hospital()
    for number in ABSURD:
        value = {"flu": number, "cancer": number} if is_mapping else number
        for method in built(kind, name, parameter, value):
            if kind == "measure":
                for release in releases:
                    with one_line():
                        measure(release, [method])
                continue
            for how in (sf.Mondrian(method), sf.FullDomain({"zip": 2, "age": 3}, method, suppression=1.0)):
                with one_line():
                    sf.sanitize(table, schema, how, seed=1)
            with one_line():
                for part in method.parts:
                    lost_share(part, releases[0].partition(part))
                    assert isinstance(getattr(part, "smallest_class", 1), int)


@pytest.mark.parametrize(("kind", "name", "parameter", "is_mapping"), PARAMETERS)
def test_infinity_and_what_is_no_number_are_refused_by_name(
    kind: Any, name: str, parameter: str, is_mapping: bool
) -> None:
    for number in (math.inf, math.nan):
        value = {"flu": number} if is_mapping else number
        with pytest.raises(ParameterError) as refused:
            KINDS[kind][name](**{parameter: value})
        word = "alpha" if is_mapping else parameter.replace("_", "-")
        assert str(refused.value).startswith(word)
        assert "not " in str(refused.value)


@pytest.mark.parametrize(
    "name", ["journalist-risk", "marketer-risk", "k-map", "individual-risk", "population-uniqueness"]
)
def test_no_population_is_larger_than_all_people(name: str, releases: list[sf.Release]) -> None:
    taken = measure(releases[1], [{name: {"population-size": MOST_PEOPLE}}])
    assert taken[0].value is not None or taken[0].detail
    with pytest.raises(
        ParameterError, match="population-size must be at most 10,000,000,000, not 100,000,000,000"
    ):
        measure(releases[1], [{name: {"population-size": 10**11}}])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "x must be at least 1, not 0"),
        (11, "x must be at most 10, not 11"),
        (2.5, "x must be a whole number, not 2.5"),
        (math.inf, "x must be at most 10, not inf"),
        (math.nan, "x must be at least 1, not nan"),
        (10**400, "x must be at most 10, not a number of more than 300 digits"),
        ("5", "x must be a number, not str"),
    ],
)
def test_a_refusal_says_what_was_given_and_what_is_allowed(value: Any, said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check_number("x", value, least=1, most=10, whole=True)
    assert str(refused.value) == said


def test_what_may_be_is_accepted() -> None:
    for value in (1, 10, 5.0):
        check_number("x", value, least=1, most=10, whole=True)
    check_number("x", 1e300)
    with pytest.raises(ParameterError, match="x must be at most 1e\\+300, not inf"):
        check_number("x", math.inf)
    with pytest.raises(ParameterError, match="x must be above 0, not 0"):
        check_number("x", 0, above=0)
