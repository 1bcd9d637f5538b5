"""No number given to a sanitizer, a search or a miner ends in a run without end, or in a traceback."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, get_args, get_origin

import numpy as np
import pytest

from sfumato import Schema, Table, registry, sanitize
from sfumato.errors import Infeasible, ParameterError
from sfumato.facts import AtMost

Bound = tuple[Table, Schema]

ODD = (10**30, 10**5000, math.inf, math.nan, 1e300, -1, -(10**30), -1e300, -math.inf)
"""Numbers that nobody means, and that a program may get all the same."""
FAST: Mapping[str, dict[str, Any]] = {"evolution": {"population": 8, "generations": 2}}
"""What makes the rest of a method's parameters quick, where they are not looked at themselves."""
NEEDED: Mapping[tuple[str, str], dict[str, Any]] = {
    ("evolution", "limits"): {"objectives": ["k-anonymity", "total-loss"]},
    ("sweep", "parameters"): {"sanitizer": "microaggregation"},
}


def numeric(hint: Any) -> bool:
    """Return whether a type is a number, whatever is marked on it."""
    return hint in (int, float) or bool(getattr(hint, "__metadata__", ()) and numeric(hint.__origin__))


def with_number(hint: Any, number: float) -> Iterator[Any]:
    """Yield values of a type that hold a number: itself, in a list, or for an attribute."""
    inner = get_args(hint)
    if numeric(hint):
        yield number
    elif get_origin(hint) is tuple and numeric(inner[0]):
        yield [number]
    elif isinstance(get_origin(hint), type) and issubclass(get_origin(hint), Mapping):
        if numeric(inner[1]):
            yield from ({name: number} for name in ("age", "sex"))
        elif get_origin(inner[1]) is not None:
            yield from ({"k-anonymity": each} for each in ({"at-least": number}, {"at-most": number}))


NUMBERS = [
    pytest.param(kind, name, parameter, hint, id=f"{name}-{parameter}")
    for kind in ("sanitizer", "search", "miner")
    for name, cls in registry.registered(kind).items()
    for parameter, hint in (
        (each, registry._hints(cls, marks=True)[each.replace("-", "_")])
        for each in registry.parameters_of(cls)
    )
    if list(with_number(hint, 1))
]


def run(kind: str, made: Any, bound: Bound) -> None:
    """Let a method do what it is for, on a small table."""
    if kind == "sanitizer":
        sanitize(*bound, made, seed=1)
    elif kind == "search":
        list(islice(made.propose(*bound, np.random.default_rng(1)), 3))
    else:
        features = np.random.default_rng(1).random((12, 3))
        made.estimator(1).fit(features, np.arange(12) % 2).predict(features)


def refusal(kind: Any, name: str, given: dict[str, Any], bound: Bound) -> str:
    """Return why a method refuses these parameters, if it does; anything but a refusal is a fault."""
    try:
        run(kind, registry.build(kind, name, given), bound)
    except (ParameterError, Infeasible) as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("kind", "name", "parameter", "hint"), NUMBERS)
def test_an_odd_number_ends_in_one_line_or_in_a_result(
    kind: Any, name: str, parameter: str, hint: Any, hospital: Bound
) -> None:
    for number in ODD:
        for value in with_number(hint, number):
            given = {**FAST.get(name, {}), **NEEDED.get((name, parameter), {}), parameter: value}
            # a warning of NumPy is no line for a user
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                words = refusal(kind, name, given, hospital)
            assert len(words) < 300
            assert "\n" not in words


@pytest.mark.parametrize(("kind", "name", "parameter", "hint"), NUMBERS)
def test_the_same_number_is_refused_in_python(kind: Any, name: str, parameter: str, hint: Any) -> None:
    """What `build` refuses by a bound, the class refuses, too."""
    bounds = [mark.most for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, AtMost)]
    cls = registry.look_up(kind, name)
    for most in bounds:
        for number in (2 * most, math.nan, math.inf):
            with pytest.raises(ParameterError, match=rf"^{parameter} must be .*, not "):
                cls(**{parameter.replace("-", "_"): number})
        below = type(registry.defaults_of(cls)[parameter])(most)
        assert registry.build(kind, name, {parameter: below})


@pytest.mark.parametrize(("kind", "name", "parameter", "hint"), NUMBERS)
def test_every_whole_number_has_a_bound(kind: Any, name: str, parameter: str, hint: Any) -> None:
    """A whole number says how often or how many, and that is what takes time and memory."""
    if registry._hints(registry.look_up(kind, name))[parameter.replace("-", "_")] is int:
        assert any(isinstance(mark, AtMost) for mark in getattr(hint, "__metadata__", ()))


def test_a_bound_is_that_of_every_number_inside() -> None:
    with pytest.raises(ParameterError, match=r"^laplace: ranges\.age must be at most 1,000,000,000,000,000"):
        registry.build("sanitizer", "laplace", {"ranges": {"sex": 1, "age": 1e16}})
    with pytest.raises(ParameterError, match=r"^suited: k .* at most 1,000,000,000, not 2,000,000,000$"):
        registry.build("search", "suited", {"k": [5, 2_000_000_000]})
