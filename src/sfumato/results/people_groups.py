"""Groups: the people with one value of an attribute, and what a release is to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.table import Table, text
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.release import Release, without_rows
from sfumato.runtime.arrays import Booleans, Integers
from sfumato.runtime.errors import ParameterError, suggestion


@dataclass(frozen=True, eq=False)
class Group:
    """The people with one value of an attribute.

    Parameters
    ----------
    attribute
        The attribute that tells people apart.
    value
        Their value of it; ``None`` is no value.
    name
        The value as it is written.
    members
        Which rows of the original are theirs.
    n_records
        How many records these are.
    """

    attribute: str
    value: object
    name: str
    members: Booleans = field(repr=False)
    n_records: int


def groups_of(release: Release, attribute: str, smallest: int) -> Iterator[Group]:
    """Yield the groups of the original that have so many records, in the order of their values."""
    table = _original(release)
    if attribute not in release.cells:
        hint = suggestion(attribute, release.cells) or f"; it has {', '.join(release.cells)}"
        raise ParameterError(f"the release has no attribute {attribute!r}{hint}")
    column = table[attribute]
    for code in np.unique(column.codes).tolist():
        members = column.codes == code
        n_records = int(table.weights[members].sum())
        if n_records >= smallest:
            value = column.domain[code]
            yield Group(attribute, value, text(value) or "missing", members, n_records)


def own_records(release: Release, group: Group) -> Release:
    """Return the released records of a group as a release of its original ones."""
    table = _original(release)
    kept = without_rows(release, ~_released(release, group))
    rows = np.flatnonzero(group.members)
    part = table.part(rows, table.weights[rows])
    place = np.cumsum(group.members) - 1
    return replace(
        kept,
        original=part,
        rows=None if kept.rows is None else place[kept.rows],
        n_original=part.n_records,
        earlier=(),
    )


def own_classes(release: Release, group: Group) -> Release:
    """Return the classes, or the groups with values of their own, that hold somebody of a group."""
    partition = release.groups if release.group_of is not None else release.classes
    held = np.zeros(partition.n_classes, dtype=np.bool_)
    held[partition.class_of[_released(release, group)]] = True
    return without_rows(release, ~held[partition.class_of])


def _original(release: Release) -> Table:
    if release.original is None:
        raise NotApplicable("the original is needed, and the release was read from files alone")
    return release.original


def _released(release: Release, group: Group) -> Booleans:
    """Return which released rows are those of a group, by the original or by the released value."""
    released = _by_original(release, group) if release.rows is not None else _by_value(release, group)
    if not released.any():
        raise NotApplicable("no record of the group is released")
    return released


def _by_original(release: Release, group: Group) -> Booleans:
    return group.members[release.rows]


def _by_value(release: Release, group: Group) -> Booleans:
    column, cells = _original(release)[group.attribute], release.cells[group.attribute]
    if cells.sets is None or not cells.sets.exact:
        raise NotApplicable(f"the released values of {group.attribute!r} do not tell who is in which group")
    codes: Integers = cells.sets.members[cells.codes]
    in_group = np.zeros(len(column.domain), dtype=np.bool_)
    in_group[column.codes[group.members]] = True
    return in_group[codes]
