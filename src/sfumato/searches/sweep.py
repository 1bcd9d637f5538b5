"""The sweep: every combination of the given parameter values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import SanitizerName
from sfumato.registry.methods import list_parameters, look_up, register
from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import ParameterError

MOST_CANDIDATES = 20_000
"""How many candidates one sweep may make: more would only fill the memory before the first is made."""


@register
@dataclass(frozen=True)
class Sweep:
    """Try one sanitizer with every combination of the listed parameters.

    Parameters
    ----------
    sanitizer
        The sanitizer's name.
    parameters
        Its parameters; a list anywhere inside stands for each of its elements in turn. For a parameter that
        is a list by nature, give a list of lists.

    Examples
    --------
    >>> sweep = Sweep("mondrian", {"model": {"k-anonymity": {"k": [2, 5]}}})
    >>> [str(recipe) for recipe in sweep.recipes()]
    ['mondrian k=2', 'mondrian k=5']
    """

    sanitizer: SanitizerName
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """The one method that is tried."""
        return (self.sanitizer,)

    def recipes(self) -> list[Recipe]:
        """Return every combination as a recipe, its parameters checked."""
        lists = list_parameters(look_up("sanitizer", self.sanitizer))
        check_how_many(
            self.sanitizer, {name: value for name, value in self.parameters.items() if name not in lists}
        )
        listed = [choices(value, whole=name in lists) for name, value in self.parameters.items()]
        if not all(listed):
            raise ParameterError(
                f"{self.sanitizer}: an empty list leaves nothing to try; list at least one value"
            )
        return [
            Recipe(self.sanitizer, dict(zip(self.parameters, chosen, strict=True))).normalized()
            for chosen in itertools.product(*listed)
        ]

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return every combination, whatever the table."""
        return self.recipes()


def how_many(given: Any) -> int:
    """Return how many combinations the lists inside make, without making them.

    Examples
    --------
    >>> how_many({"k": [2, 5], "t": list(range(1000))})
    2000
    """
    if isinstance(given, Mapping):
        return math.prod(how_many(inner) for inner in given.values())
    return sum(how_many(inner) for inner in given) if isinstance(given, list) else 1


def check_how_many(name: str, given: Any) -> None:
    """Raise `ParameterError` when the lists inside make more candidates than anybody could want."""
    n_candidates = how_many(given)
    if n_candidates > MOST_CANDIDATES:
        raise ParameterError(
            f"{name}: this makes {n_candidates:,} candidates; list fewer values, at most {MOST_CANDIDATES:,}"
        )


def choices(value: Any, *, whole: bool = False) -> list[Any]:
    """Return every way to choose one element from each list inside; a whole list is one choice."""
    if isinstance(value, Mapping):
        chosen = itertools.product(*(choices(inner) for inner in value.values()))
        return [dict(zip(value, row, strict=True)) for row in chosen]
    if not isinstance(value, list):
        return [value]
    if whole:
        return value if value and all(isinstance(inner, list) for inner in value) else [value]
    return [choice for inner in value for choice in choices(inner)]
