"""What every sanitizer is, and the one function that runs a recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato import registry
from sfumato.classes import EquivalenceClasses, SensitiveDomain, count_classes
from sfumato.errors import Infeasible
from sfumato.models.base import PrivacyModel
from sfumato.recipe import Recipe
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.table import Table


@runtime_checkable
class Sanitizer(Protocol):
    """A frozen dataclass whose fields are its parameters."""

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Make a release of a bound table."""


def sanitize(table: Table, schema: Schema, how: Recipe | Sanitizer, *, seed: int = 0) -> Release:
    """Make one release by one recipe.

    Parameters
    ----------
    table
        The original. It is bound to the schema if that has not been done.
    schema
        What each attribute is.
    how
        A recipe, or a sanitizer with its parameters.
    seed
        The seed when a sanitizer is given; a recipe brings its own.

    Examples
    --------
    >>> from sfumato import KAnonymity, Mondrian, datasets
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Mondrian(KAnonymity(3)))
    >>> int(release.classes.sizes.min()) >= 3
    True
    """
    recipe = how.normalized() if isinstance(how, Recipe) else Recipe.of(how, seed)
    bound_table, bound_schema = schema.bind(table)
    release = recipe.build().sanitize(bound_table, bound_schema, recipe.generator())
    return replace(release, recipe=recipe)


def whole_table(table: Table, schema: Schema) -> EquivalenceClasses:
    """Return all records as one class."""
    sensitive, domains = {}, {}
    for name in schema.sensitive:
        column, hierarchy = table[name], schema.hierarchy(name)
        counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain))
        sensitive[name] = (column.codes, counts / table.n_records)
        domains[name] = SensitiveDomain(hierarchy.labels[0], hierarchy)
    return count_classes(np.zeros(table.n_rows, dtype=np.int64), 1, table.weights, sensitive, domains)


def check_feasible(table: Table, schema: Schema, model: PrivacyModel) -> None:
    """Raise `Infeasible` when a model does not even hold with all records in one class."""
    for part in model.parts:
        if part.guards == "attribute":
            schema.require("sensitive", registry.name_of(type(part)))
        everybody = whole_table(table, schema)
        if not part.keeps_limit(everybody).all():
            reached = part.level(everybody)
            letter = part.parameter
            extreme = "largest" if part.better == "higher" else "smallest"
            raise Infeasible(
                f"{registry.name_of(type(part))} with {letter} = {part.limit:g} cannot hold: with all "
                f"{table.n_records:,} records in one class {letter} is {reached:g}, the {extreme} possible",
                reached,
            )
