"""The base class of all sanitizers, and the functions that run a recipe and check feasibility."""

from __future__ import annotations

from typing import Annotated, Protocol, runtime_checkable

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveDomain, contributed, count_classes
from sfumato.data.schema import Schema, with_declared_values
from sfumato.data.table import Records, Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.registry import methods
from sfumato.registry.declarations import Above, AtLeast, AtMost
from sfumato.registry.method_extras import require_extras
from sfumato.registry.plugin_errors import blamed_on
from sfumato.registry.recipe import Recipe
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.release import failing_rows, with_recipe
from sfumato.runtime.arrays import Integers, sealed
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers.generalize.lowest_level import merge_below_lowest, widen_to_lowest
from sfumato.sanitizers.soundness import check_promise, check_sound

MOST_RECORDS = 1_000_000_000
"""No table that fits into memory has more records, so that no class or leaf of more is worth asking for."""
MadeRecords = Annotated[int, AtLeast(0), AtMost(10_000_000)]
"""How many synthetic records to make; as many as the table has, if 0."""
PrivacyBudget = Annotated[float, Above(0), AtMost(1_000_000)]
"""An epsilon; a far smaller one than the largest promises nothing to anybody."""


class RareValues(UserWarning):
    """Values that are too rare for a method to count them, and therefore not released."""


@runtime_checkable
class Sanitizer(Protocol):
    """A frozen dataclass whose fields are its parameters."""

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Make a release of a bound table."""


def sanitize(
    table: Records, schema: Schema, how: Recipe | Sanitizer, *, seed: int | None = None
) -> LinkedRelease:
    """Make one release by one recipe.

    Parameters
    ----------
    table
        The original: a `Table`, or anything that `Table.from_arrow` takes, such as a pandas or Polars
        frame. It is not changed.
    schema
        What each attribute is.
    how
        A recipe, or a sanitizer with its parameters.
    seed
        The seed when a sanitizer is given; a recipe brings its own. Without one the system draws it, and
        the release's recipe keeps it.

    Examples
    --------
    >>> from sfumato import datasets
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Mondrian(KAnonymity(3)))
    >>> int(release.classes.sizes.min()) >= 3
    True
    """
    recipe = (how if isinstance(how, Recipe) else Recipe.of(how, seed)).normalized()
    original = table if isinstance(table, Table) else Table.from_arrow(table)
    return make_release(*schema.bind(original), recipe)


def make_release(table: Table, schema: Schema, recipe: Recipe) -> LinkedRelease:
    """Make a release of a bound table, with no attribute below its lowest level.

    The result of the method is checked before it is used: `MethodFailed` if it is not a release of this
    table, or breaks the promise of the recipe.
    """
    seeded = recipe.seeded()
    method = seeded.build()
    require_extras(method)
    if hasattr(method, "guarantee"):
        table, schema = with_declared_values(table, schema)
    floored = merge_below_lowest(table, schema)
    with blamed_on(method):
        returned = method.sanitize(floored, schema, seeded.generator())
        release = widen_to_lowest(check_sound(returned, method, floored, schema), table)
        return check_promise(with_recipe(release, seeded), method)


def watched_attributes(schema: Schema, model: PrivacyModel) -> tuple[str, ...]:
    """Return the sensitive attributes that a model looks at: all of them, or none."""
    guarding = [part for part in model.parts if part.guards == "attribute"]
    return schema.require("sensitive", methods.name_of(type(guarding[0]))) if guarding else ()


def whole_table(table: Table, schema: Schema, names: tuple[str, ...] | None = None) -> EquivalenceClasses:
    """Return all records as one class, with the counts of these sensitive attributes (all by default)."""
    sensitive, domains, people = {}, {}, table.people()
    for name in schema.sensitive if names is None else names:
        column, hierarchy = table[name], schema.hierarchy(name)
        counts, n_people = contributed(column.codes, len(column.domain), table.weights, people)
        sensitive[name] = column.codes, counts / n_people
        domains[name] = SensitiveDomain(hierarchy.labels[0], hierarchy)
    class_of = sealed(np.zeros(table.n_rows, dtype=np.int64))
    return count_classes(class_of, 1, table.weights, sensitive, domains, people)


def check_feasible(table: Table, schema: Schema, model: PrivacyModel, *, suppresses: bool = False) -> None:
    """Raise `Infeasible` when a model does not even hold with all records in one class.

    A model that names a value that is not in the table is a `ParameterError`.

    Parameters
    ----------
    suppresses
        Whether records may be suppressed: then the others may keep a limit of the sensitive attribute that
        the whole table breaks, and only sizes can be judged in advance.
    """
    everybody = whole_table(table, schema, watched_attributes(schema, model))
    for part in model.parts:
        _check_named_values(part, everybody)
        if suppresses and part.guards == "attribute":
            continue
        if not part.keeps_limit(everybody).all():
            reached = part.level(everybody)
            letter = part.parameter
            extreme = "largest" if part.better == "higher" else "smallest"
            of_people = "" if table.person_of is None else f" of {table.n_people:,} people"
            raise Infeasible(
                f"{methods.name_of(type(part))} with {letter} = {_formatted(part.limit)} cannot hold: with "
                f"all {table.n_records:,} records{of_people} in one class {letter} is {_formatted(reached)}, "
                f"the {extreme} possible",
                reached,
            )


def _check_named_values(part: PrivacyModel, everybody: EquivalenceClasses) -> None:
    labels = [counts.domain.labels for counts in everybody.sensitive.values()]
    unknown = [name for name in part.named_values if not any((name or None) in names for names in labels)]
    if unknown:
        raise ParameterError(
            f"{methods.name_of(type(part))}: no sensitive attribute has the value {unknown[0]!r}; "
            "write it as the data does"
        )


def merge_records(
    part_of: Integers, rows: Integers, weights: Integers
) -> tuple[Integers, Integers, Integers]:
    """Merge records of the same row and part: return part, row and number of records."""
    spans = [int(part_of.max(initial=0)) + 1, int(rows.max(initial=0)) + 1]
    number, n_pairs = number_rows([part_of, rows], spans, len(rows))
    first = first_row_of_group(number, n_pairs)
    return part_of[first], rows[first], sum_by_group(number, n_pairs, weights)


def suppress_failing(release: LinkedRelease, model: PrivacyModel, limit: float) -> LinkedRelease:
    """Suppress the records of classes in which the model fails, if they are few enough.

    Parameters
    ----------
    release
        All records.
    model
        What must hold.
    limit
        The largest share of the records that may be suppressed.
    """
    fails = failing_rows(release, model)
    n_failing = int(release.weights[fails].sum())
    share = n_failing / release.n_original
    if n_failing == release.n_records:
        raise Infeasible("every record would be suppressed; choose coarser values or a weaker model", share)
    if share > limit:
        raise Infeasible(
            f"{n_failing:,} of {release.n_original:,} records ({share:.1%}) fail the model, more than the "
            f"suppression limit of {limit:.1%}; choose coarser values or a higher limit",
            share,
        )
    return without_rows(release, fails)


def _formatted(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"
