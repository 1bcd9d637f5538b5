"""Sweep: every combination of the given parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.recipe import Recipe
from sfumato.registry import register
from sfumato.schema import Schema
from sfumato.table import Table


@register
@dataclass(frozen=True)
class Sweep:
    """Try one sanitizer with every combination of the listed parameters.

    Parameters
    ----------
    sanitizer
        The sanitizer's name.
    parameters
        Its parameters; a list anywhere inside stands for each of its elements in turn.

    Examples
    --------
    >>> sweep = Sweep("mondrian", {"model": {"k-anonymity": {"k": [2, 5]}}})
    >>> [str(recipe) for recipe in sweep.recipes()]
    ['mondrian k=2', 'mondrian k=5']
    """

    sanitizer: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def recipes(self) -> list[Recipe]:
        """Return every combination as a recipe, its parameters checked."""
        return [Recipe(self.sanitizer, chosen).normalized() for chosen in _combinations(self.parameters)]

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return every combination, whatever the table."""
        return self.recipes()


def _combinations(value: Any) -> list[Any]:
    """Return every way to choose one element from each list inside."""
    if isinstance(value, Mapping):
        choices = itertools.product(*(_combinations(inner) for inner in value.values()))
        return [dict(zip(value, chosen, strict=True)) for chosen in choices]
    if isinstance(value, list):
        return [chosen for inner in value for chosen in _combinations(inner)]
    return [value]
