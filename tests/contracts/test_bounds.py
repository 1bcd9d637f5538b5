"""No number given to a method ends in a run without end, or in a traceback."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Annotated, Any, get_args, get_origin

import numpy as np
import pytest

from sfumato import Release, Schema, Table, sanitize
from sfumato.models import KAnonymity
from sfumato.models.bounds import lost_share
from sfumato.reading import datasets
from sfumato.registry import methods as registry
from sfumato.registry.declarations import (
    Above,
    AtLeast,
    AtMost,
    Below,
    Between,
    PopulationSize,
    RecordCount,
    bounds_in,
    check_bound,
)
from sfumato.results.measurement import measure
from sfumato.runtime.errors import ParameterError, SfumatoError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian
from sfumato.sanitizers.bucketize.bucketization import Anatomy

Bound = tuple[Table, Schema]

ODD = (0, -1, 2**63, 10**11, -(10**30), 10**5000, 1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan)
"""Numbers that nobody means, and that a program may get all the same."""
FAST: Mapping[str, dict[str, Any]] = {"evolution": {"population": 8, "generations": 2}}
"""What makes the rest of a method's parameters quick, where they are not looked at themselves."""
NEEDED: Mapping[tuple[str, str], dict[str, Any]] = {
    ("evolution", "limits"): {"objectives": ["k-anonymity", "total-loss"]},
    ("sweep", "parameters"): {"sanitizer": "microaggregation"},
}
UNBOUNDED = {("evolution", "limits"), ("top-coding", "bounds")}
"""Numbers on the scale of a measure or of an attribute, which may be any."""
NAMES: Mapping[str, tuple[str, ...]] = {"alphas": ("flu", "cancer")}
"""What a table of numbers is about, if not attributes."""


def is_numeric(hint: Any) -> bool:
    """Return whether a type is a number, whatever is marked on it."""
    return hint in (int, float) or bool(getattr(hint, "__metadata__", ()) and is_numeric(hint.__origin__))


def with_number(parameter: str, hint: Any, number: Any) -> Iterator[Any]:
    """Yield values of a type that hold a number: itself, in a list, or for an attribute."""
    inner = get_args(hint)
    if is_numeric(hint) or (type(None) in inner and any(map(is_numeric, inner))):
        yield number
    elif get_origin(hint) is tuple and is_numeric(inner[0]):
        yield [number]
    elif isinstance(get_origin(hint), type) and issubclass(get_origin(hint), Mapping):
        if is_numeric(inner[1]):
            yield from ({name: number} for name in NAMES.get(parameter, ("age", "sex")))
        elif get_origin(inner[1]) is not None:
            yield from ({"k-anonymity": each} for each in ({"at-least": number}, {"at-most": number}))


NUMBERS = [
    pytest.param(kind, name, parameter, hint, id=f"{name}-{parameter}")
    for kind in get_args(registry.Kind)
    for name, cls in registry.registered(kind).items()
    for parameter, hint in registry._types(cls, marks=True).items()
    if list(with_number(parameter, hint, 1))
]
EVERY_NUMBER = pytest.mark.parametrize(("kind", "name", "parameter", "hint"), NUMBERS)


@pytest.fixture(scope="module")
def releases() -> list[Release]:
    table, schema = datasets.hospital()
    methods: list[Any] = [Mondrian(KAnonymity(3)), AsIs(), Anatomy(2)]
    return [sanitize(table, schema, method, seed=1) for method in methods]


def run(kind: str, made: Any, bound: Bound, releases: list[Release]) -> None:
    """Let a method do what it is for, on a small table."""
    if kind == "sanitizer":
        sanitize(*bound, made, seed=1)
    elif kind == "search":
        list(islice(made.propose(*bound, np.random.default_rng(1)), 3))
    elif kind == "miner":
        features = np.random.default_rng(1).random((12, 3))
        estimator = made.estimator(1)
        weights = inspect.signature(estimator.fit).parameters.get("sample_weight")
        more = [np.ones(12)] if weights is not None and weights.default is weights.empty else []
        estimator.fit(features, np.arange(12) % 2, *more).predict(features)
    elif kind == "measure":
        for release in releases:
            measure(release, [made])
    else:
        for part in made.parts:
            lost_share(part, releases[0].partition(part))
            assert isinstance(getattr(part, "smallest_class", 1), int)
        for how in (Mondrian(made), FullDomain({"zip": 2, "age": 3}, made, suppression=1.0)):
            assert len(refusal(lambda how=how: sanitize(*datasets.hospital(), how, seed=1))) < 300


def refusal(do: Any) -> str:
    """Return in which words something is refused, if it is; anything but a refusal is a fault."""
    # a warning of NumPy is no line for a user
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            do()
        except SfumatoError as error:
            return str(error)
    return ""


@EVERY_NUMBER
def test_an_odd_number_ends_in_one_line_or_in_a_result(
    kind: Any, name: str, parameter: str, hint: Any, hospital: Bound, releases: list[Release]
) -> None:
    for number in ODD:
        for value in with_number(parameter, hint, number):
            given = {**FAST.get(name, {}), **NEEDED.get((name, parameter), {}), parameter: value}
            words = refusal(
                lambda given=given: run(kind, registry.build(kind, name, given), hospital, releases)
            )
            # what a program makes is the same, so that it need not run again
            for said in (words, refusal(lambda given=given: in_python(kind, name, given))):
                assert len(said) < 300
                assert "\n" not in said


def in_python(kind: Any, name: str, given: Mapping[str, Any]) -> Any:
    """Make a method as a program does."""
    return registry.look_up(kind, name)(**{each.replace("-", "_"): value for each, value in given.items()})


def outside(bound: Any) -> set[float]:
    """Return numbers that a bound must refuse, the nearest and far ones."""
    if isinstance(bound, Between):
        ends = {bound.least} if bound.is_open else {math.nextafter(bound.least, -math.inf)}
        return {*ends, -1, math.nextafter(bound.most, math.inf), 2 * bound.most}
    if isinstance(bound, AtMost):
        return {bound.limit + 1, 2 * bound.limit}
    if isinstance(bound, AtLeast):
        return {bound.limit - 1}
    return {bound.limit} if isinstance(bound, Above) else {0}


@EVERY_NUMBER
def test_what_is_declared_is_refused_in_a_project_file_and_in_python(
    kind: Any, name: str, parameter: str, hint: Any
) -> None:
    refused = {number for bound in bounds_in(hint) for number in outside(bound)}
    for number in (*refused, math.nan, math.inf, -math.inf) if refused else ():
        for value in with_number(parameter, hint, number):
            said = refusal(lambda value=value: in_python(kind, name, {parameter: value}))
            assert said.startswith(parameter)
            assert " must be " in said
            assert ", not " in said
            built = refusal(lambda value=value: registry.build(kind, name, {parameter: value}))
            if math.isfinite(number) and number == int(number):
                assert built == f"{name}: {said}"
            assert built


@EVERY_NUMBER
def test_the_ends_are_allowed(kind: Any, name: str, parameter: str, hint: Any) -> None:
    for bound in bounds_in(hint) if is_numeric(hint) else ():
        for end in (getattr(bound, "least", None), getattr(bound, "most", None)):
            if end is not None and bound.allows(end):
                whole_or_not = type(registry.defaults_of(registry.look_up(kind, name))[parameter])
                given = {**FAST.get(name, {}), parameter: whole_or_not(end)}
                assert registry.build(kind, name, given)


@EVERY_NUMBER
def test_every_number_says_what_it_may_be(kind: Any, name: str, parameter: str, hint: Any) -> None:
    """A number without an upper end is at least finite; one that says how often or how many has one."""
    bounds = bounds_in(hint)
    assert bounds or (name, parameter) in UNBOUNDED
    if registry._types(registry.look_up(kind, name))[parameter] is int:
        assert any(isinstance(bound, AtMost) for bound in bounds)


def test_a_bound_is_that_of_every_number_inside() -> None:
    with pytest.raises(ParameterError, match=r"^suited: k .* at most 1,000,000,000, not 2,000,000,000$"):
        registry.build("search", "suited", {"k": [5, 2_000_000_000]})


@pytest.mark.parametrize(
    "name", ["journalist-risk", "marketer-risk", "k-map", "individual-risk", "population-uniqueness"]
)
def test_no_population_is_larger_than_all_people(name: str, releases: list[Release]) -> None:
    most = next(bound.limit for bound in bounds_in(PopulationSize) if isinstance(bound, AtMost))
    taken = measure(releases[1], [{name: {"population-size": most}}])
    assert taken[0].value is not None or taken[0].detail
    with pytest.raises(
        ParameterError, match="population-size must be at most 10,000,000,000, not 100,000,000,000"
    ):
        measure(releases[1], [{name: {"population-size": 10**11}}])


Few = Annotated[int, AtLeast(1), AtMost(10)]


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        (Few, 0, "x must be at least 1, not 0"),
        (Few, 11, "x must be at most 10, not 11"),
        (Few, 2.5, "x must be a whole number, not 2.5"),
        (Few, math.inf, "x must be at most 10, not inf"),
        (Few, math.nan, "x must be at least 1, not nan"),
        (Few, 10**400, "x must be at most 10, not a number of more than 300 digits"),
        (Few, "5", "x must be a number, not str"),
        (Few, None, "x must be a number, not NoneType"),
        (Few, np.int64(11), "x must be at most 10, not 11"),
        (Few, Fraction(3, 2), "x must be a whole number, not 1.5"),
        (Few | None, 11, "x must be at most 10, not 11"),
        (tuple[Few, ...], (1, 11), "x must be at most 10, not 11"),
        (Mapping[str, Few], {"a": 1, "b": 11}, "x.b must be at most 10, not 11"),
        (Annotated[float, Above(0)], 0, "x must be above 0, not 0"),
        (Annotated[float, Above(0)], math.inf, "x must be at most 1e+300, not inf"),
        (Annotated[float, AtMost(1)], -math.inf, "x must be at least -1e+300, not -inf"),
        (Annotated[float, Below(1)], 1.0, "x must be below 1, not 1"),
        (Annotated[float, Between(0, 1, "a share")], 5, "x must be a share between 0 and 1, not 5"),
        (
            Annotated[float, Between(0, 1, "a share", is_open=True)],
            0.0,
            "x must be a share above 0 and at most 1, not 0",
        ),
    ],
)
def test_a_refusal_says_what_was_given_and_what_is_allowed(hint: Any, value: Any, said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check_bound("x", hint, value)
    assert str(refused.value) == said


def test_what_may_be_is_accepted() -> None:
    for value in (1, 10, 5.0, np.int64(3)):
        check_bound("x", Few, value)
    check_bound("x", Few | None, None)
    check_bound("x", Annotated[float, AtLeast(0)], 1e300)
    check_bound("x", Annotated[int, "a mark of somebody else"], "any")
    check_bound("x", RecordCount, 10**12)
