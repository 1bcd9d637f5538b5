"""Layout: how a release lies in files, and how a reader reads it back from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, Value, find_kind
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table, as_dictionary, compacted, text, text_column
from sfumato.registry.declarations import ReleaseType
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Form, Release
from sfumato.results.released_column import Cells
from sfumato.results.written_order import Order
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.written_tables import WrittenTable
from sfumato.workflow.publish.branches import published_branches

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE, PEOPLE, VALUES = "data", "quasi-identifiers", "sensitive"
COUNT = "count"


@dataclass(frozen=True)
class Layout:
    """What a reader must know to read published tables as a release.

    Parameters
    ----------
    attributes
        For each published attribute its role, and for a sensitive one its kind and hierarchy, which
        distances between its values may need; what the branches of a hierarchy stand for that are published,
        and whether all its numbers are whole.
    n_original
        The number of records of the original.
    form
        One table or two.
    group
        The column that holds the group, if there is one.
    person
        The column that holds pseudonyms, if there is one.
    type
        What the rows stand for: ``people``, people with changed values (``perturbed``), or nobody
        (``synthetic``).
    sampled
        Whether the records were drawn at random from all of them.
    """

    attributes: Mapping[str, Mapping[str, Any]]
    n_original: int
    form: Form = "one-table"
    group: str | None = None
    person: str | None = None
    type: ReleaseType = "people"
    sampled: bool = False

    @classmethod
    def of(cls, release: Release) -> Layout:
        """Describe a release."""
        return cls(
            attributes={name: _facts(release, name) for name in release.schema.released},
            n_original=release.n_original if release.reported_original is None else release.reported_original,
            form=release.form,
            group=None if release.group_of is None else release.group_column,
            person=release.person_column if release.schema.pseudonym and release.people is not None else None,
            type=release.type,
            sampled=release.sampled,
        )

    @property
    def schema(self) -> Schema:
        """The published attributes, without the group."""
        return Schema(tuple(_attribute(name, facts) for name, facts in self.attributes.items()))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the published tables."""
        return (WHOLE,) if self.form == "one-table" else (PEOPLE, VALUES)


def tables_of(release: Release, *, typed: bool, order: Order | None = None) -> dict[str, pa.Table]:
    """Return the tables to publish, by name, sorted or in the order that was drawn before.

    The columns of one table are dictionaries, which are written faster.
    """
    is_whole = release.form == "one-table"
    records = release.to_arrow(typed=typed, kinds=False, order=order, encoded=is_whole)
    if is_whole:
        return {WHOLE: records}
    group = release.group_column
    sensitive = [name for name in records.column_names if name in release.schema.sensitive]
    counts = records.select([group, *sensitive]).group_by([group, *sensitive]).aggregate([([], "count_all")])
    counts = counts.rename_columns([group, *sensitive, _count_column(sensitive)])
    by = [(name, "ascending") for name in (group, *sensitive)]
    return {PEOPLE: records.drop_columns(sensitive), VALUES: counts.sort_by(by)}


def as_release(tables: Mapping[str, WrittenTable], layout: Layout) -> Release:
    """Take tables that were read from published files as the release that a reader sees."""
    import pyarrow as pa

    if layout.form == "one-table":
        whole = tables[WHOLE]
        columns = {
            name: text_column(column.values, column.codes)
            for name, column in whole.columns.items()
            if name != layout.person
        }
        return _release(compacted(columns, whole.counts), layout)
    records = {}
    for name, table in tables.items():
        columns = {key: as_dictionary(column.values, column.codes) for key, column in table.columns.items()}
        records[name] = pa.table(columns).take(np.repeat(np.arange(table.n_rows), table.counts))
    return read_back(records, layout)


def read_back(tables: Mapping[str, pa.Table], layout: Layout) -> Release:
    """Take published tables as the release that a reader sees: labels, and no original."""
    records = tables[WHOLE] if layout.form == "one-table" else _joined(tables, layout)
    if layout.person in records.column_names:
        # whose the records are is counted by `verify` alone: what a reader sees of a class are its records
        records = records.drop_columns([layout.person])
    return _release(Table.from_arrow(records), layout)


def _release(records: Table, layout: Layout) -> Release:
    expected = {*layout.attributes, *([layout.group] if layout.group else [])}
    if set(records.names) != expected:
        raise VerificationFailed("the published columns are not those that the manifest names")
    schema = layout.schema
    group = (Attribute(layout.group, "insensitive"),) if layout.group else ()
    table, bound = Schema((*schema.attributes, *group)).bind(records, is_release=True)
    return Release(
        schema=Schema(tuple(bound[name] for name in layout.attributes)),
        cells={
            name: Cells(table[name].codes, tuple(text(value) for value in table[name].domain))
            for name in layout.attributes
        },
        weights=table.weights,
        n_original=layout.n_original,
        group_of=table[layout.group].codes if layout.group else None,
        form=layout.form,
        type=layout.type,
        sampled=layout.sampled,
    )


def _facts(release: Release, name: str) -> dict[str, Any]:
    attribute = release.schema[name]
    facts: dict[str, Any] = {"role": attribute.role}
    kind = release.schema.kind(name)
    if kind not in (NUMERIC, CATEGORICAL):
        facts["kind"] = kind.name
    hierarchy, cells = attribute.hierarchy, release.cells[name]
    branches = published_branches(release, name)
    if branches:
        facts["branches"] = branches
    original = release.origin.table if isinstance(release, LinkedRelease) else None
    # of a release without its original only what is declared may be told
    if kind.is_number and (attribute.public.whole if original is None else original[name].is_whole):
        facts["whole"] = True
    if (
        attribute.role == "sensitive"
        and isinstance(hierarchy, Hierarchy)
        and cells.labels == hierarchy.labels[0]
    ):
        occurs = np.isin(np.arange(len(cells.labels)), cells.codes)
        facts["kind"] = attribute.kind
        # only values that are published: a value of a suppressed record must not appear here
        rows = [row for row, kept in zip(hierarchy.rows(), occurs, strict=True) if kept]
        if hierarchy.height > 1 or (hierarchy.is_ordered and not kind.is_number):
            facts["hierarchy"] = rows
    return facts


@dataclass(frozen=True)
class _AsReleased:
    """Released values that are not leaves of a hierarchy and so have no order."""

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        return replace(Hierarchy.flat(values), is_ordered=False)


def _attribute(name: str, facts: Mapping[str, Any]) -> Attribute:
    role, kind = facts["role"], facts.get("kind")
    if kind not in (None, NUMERIC.name) and ("hierarchy" not in facts or find_kind(kind) is None):
        # intervals are no values of a kind, and not every reader has the plug-in that brings it
        kind = CATEGORICAL.name
    if "hierarchy" in facts:
        return Attribute(name, role, kind, Hierarchy.of_rows(facts["hierarchy"]))
    return Attribute(name, role, kind, None if role == "sensitive" else _AsReleased())


def _count_column(sensitive: list[str]) -> str:
    name = COUNT
    while name in sensitive:
        name += "_"
    return name


def _joined(tables: Mapping[str, pa.Table], layout: Layout) -> pa.Table:
    people, values, group = tables[PEOPLE], tables[VALUES], layout.group or ""
    sensitive = [name for name, facts in layout.attributes.items() if facts["role"] == "sensitive"]
    count = _count_column(sensitive)
    if group not in people.column_names or {*values.column_names} != {group, *sensitive, count}:
        raise VerificationFailed("the two tables do not have the columns that the manifest names")
    return joined(people, values, group, count)


def joined(people: pa.Table, values: pa.Table, group: str, count: str) -> pa.Table:
    """Assign every person of a group one of the group's sensitive values; which one does not matter.

    Parameters
    ----------
    people
        The quasi-identifiers with their groups.
    values
        The sensitive values of each group with their counts.
    group, count
        The columns that hold the group and the count.
    """
    import pyarrow.compute as pc

    people = people.take(pc.sort_indices(_as_text(people[group])))
    values = values.take(pc.sort_indices(_as_text(values[group])))
    one_per_person = values.take(
        np.repeat(np.arange(values.num_rows), _counts(values[count], people.num_rows))
    )
    if not _as_text(one_per_person[group]).equals(_as_text(people[group])):
        raise VerificationFailed("the two tables do not have the same number of records in every group")
    for name in values.column_names:
        if name not in (group, count):
            people = people.append_column(name, one_per_person[name])
    return people


def _counts(column: pa.ChunkedArray, most: int) -> Integers:
    """Return the counts. They must add up, because a forged count would exhaust the memory."""
    try:
        counts = np.array(_as_text(column).cast("int64").to_pylist(), dtype=np.int64)
    except (ValueError, TypeError):
        raise VerificationFailed("a count in the table of sensitive values is not a number") from None
    if ((counts < 1) | (counts > most)).any() or counts.sum() != most:
        raise VerificationFailed("the two tables do not have the same number of records in every group")
    return counts


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    return column.cast(pa.string())
