"""The people with one value of an attribute, and the part of a release that concerns them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.table import Table, text
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, linked, origin_of, without_rows
from sfumato.results.origin import Origin
from sfumato.results.release import AnyRelease, Release
from sfumato.runtime.arrays import Booleans, Integers
from sfumato.runtime.errors import ParameterError, suggestion


@dataclass(frozen=True, eq=False)
class Group:
    """The people with one value of an attribute.

    Parameters
    ----------
    attribute
        The attribute.
    value
        The value of it that they share; ``None`` is a missing one.
    name
        The value as it is written.
    members
        For each row of the original whether it is theirs.
    n_records
        The number of their records.
    """

    attribute: str
    value: object
    name: str
    members: Booleans = field(repr=False)
    n_records: int


def groups_of(release: Release, attribute: str, smallest: int) -> Iterator[Group]:
    """Yield the groups of the original with at least ``smallest`` records, in the order of their values."""
    table = origin_of(release).table
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


def records_of_group(release: Release, group: Group) -> LinkedRelease:
    """Return the released records of a group, with its part of the original table as their original."""
    kept = without_rows(linked(release), ~_rows_of_group(release, group))
    table, linked_rows = kept.origin.table, kept.origin.linked_rows
    rows = np.flatnonzero(group.members)
    part = table.part(rows, table.weights[rows])
    place = np.cumsum(group.members) - 1
    origin = Origin(part, None if linked_rows is None else place[linked_rows])
    return replace(kept, origin=origin, n_original=part.n_records)


def classes_with_group(release: AnyRelease, group: Group) -> AnyRelease:
    """Return the classes that hold someone of a group, whole.

    If sensitive values are published for groups of records, these are the classes.
    """
    partition = release.groups if release.group_of is not None else release.classes
    has_member = np.zeros(partition.n_classes, dtype=np.bool_)
    has_member[partition.class_of[_rows_of_group(release, group)]] = True
    return without_rows(release, ~has_member[partition.class_of])


def _rows_of_group(release: Release, group: Group) -> Booleans:
    """Return which released rows are those of a group, by the original or by the released value."""
    origin = origin_of(release)
    if origin.linked_rows is None:
        of_group = _by_released_value(release, origin.table, group)
    else:
        of_group = group.members[origin.linked_rows]
    if not of_group.any():
        raise NotApplicable("no record of the group is released")
    return of_group


def _by_released_value(release: Release, table: Table, group: Group) -> Booleans:
    column, cells = table[group.attribute], release.cells[group.attribute]
    if cells.sets is None or not cells.sets.exact:
        raise NotApplicable(f"the released values of {group.attribute!r} do not tell who is in which group")
    codes: Integers = cells.sets.members[cells.codes]
    in_group = np.zeros(len(column.domain), dtype=np.bool_)
    in_group[column.codes[group.members]] = True
    return in_group[codes]
