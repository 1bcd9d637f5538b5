"""Extend a hierarchy by values that first occur in new records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.hierarchy import Flat, Hierarchy, HierarchySource
from sfumato.data.kinds import Kind, Value
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Column, Table, text
from sfumato.runtime.errors import HierarchyError


@dataclass(frozen=True, eq=False)
class Placed:
    """A hierarchy over the values that were seen and those of new records.

    Parameters
    ----------
    hierarchy
        All of them; one that the attribute's own hierarchy does not have lies directly below the root.
    unplaced
        Those that it does not have.
    """

    hierarchy: Hierarchy
    unplaced: frozenset[Value] = field(repr=False)


def placed(attribute: Attribute, kind: Kind, seen: Sequence[Value], new: Iterable[Value]) -> Placed:
    """Give the values of new records their places in the hierarchy of an attribute.

    Parameters
    ----------
    attribute
        The attribute as it was described, not yet bound. One without a hierarchy places nothing new.
    kind
        The kind of its values.
    seen
        The values of earlier records, in the hierarchy or not.
    new
        The values of the new records, some of them seen.

    Examples
    --------
    >>> from sfumato import Intervals
    >>> from sfumato.data.kinds import NUMERIC
    >>> age = Attribute("age", "quasi-identifying", "numeric", Intervals((10,)))
    >>> placed(age, NUMERIC, [21, 35], [35, 47]).hierarchy.labels[1]
    ('[20, 30)', '[30, 40)', '[40, 50)')
    """
    every = kind.sorted([*seen, *new])
    source = attribute.hierarchy
    if source is None:
        known = {*seen, None}
        return Placed(Flat().build(every, kind), frozenset(value for value in every if value not in known))
    # a value that was seen need not be in the hierarchy: a kept recoding withholds those that are not
    fits = {None, *_fitting(source, [value for value in every if value is not None], kind)}
    unplaced = [value for value in every if value not in fits]
    whole = source.build(tuple(value for value in every if value in fits), kind)
    return Placed(_with_unplaced(whole, unplaced).build(every, kind), frozenset(unplaced))


def _fitting(source: HierarchySource, values: Sequence[Value], kind: Kind) -> Sequence[Value]:
    """Return the values that a hierarchy can be built over, by halves where not all can."""
    if not values:
        return []
    try:
        source.build(kind.sorted(values), kind)
    except HierarchyError:
        if len(values) == 1:
            return []
    else:
        return values
    middle = len(values) // 2
    return [*_fitting(source, values[:middle], kind), *_fitting(source, values[middle:], kind)]


def _with_unplaced(hierarchy: Hierarchy, unplaced: Sequence[Value]) -> Hierarchy:
    """Append values that stand for themselves on every level but the root."""
    if not unplaced:
        return hierarchy
    below = hierarchy.labels[:-1]
    own = [np.arange(len(unplaced)) + len(labels) for labels in below]
    added = np.array([*own, np.zeros(len(unplaced), dtype=np.int64)], dtype=np.int32)
    ones = np.ones(len(unplaced), dtype=np.int64)
    names = tuple(text(value) for value in unplaced)
    return replace(
        hierarchy,
        values=(*hierarchy.values, *unplaced),
        node_of=np.concatenate([hierarchy.node_of, added], axis=1),
        labels=(*((*labels, *names) for labels in below), hierarchy.labels[-1]),
        sizes=(
            *(np.concatenate([sizes, ones]) for sizes in hierarchy.sizes[:-1]),
            hierarchy.sizes[-1] + len(unplaced),
        ),
        leaves=(*(hierarchy.leaves or hierarchy.values), *unplaced),
    )


def typed_columns(schema: Schema, table: Table) -> dict[str, Column]:
    """Return the released columns of new records with the kinds that the schema gives them.

    A file that lacks a column, has one that nobody described or texts where numbers are expected is refused
    as `Schema.bind` refuses it.
    """
    plain = tuple(replace(attribute, hierarchy=None, lowest_level=0) for attribute in schema.attributes)
    bound, _ = replace(schema, attributes=plain).bind(table, is_release=True)
    return dict(bound.columns)
