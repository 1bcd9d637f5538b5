"""Recode new records with a kept recoding, and list the records it cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, Label
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Records, Table
from sfumato.kernels.first_match import first_covering_class
from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.results.extended_hierarchy import Placed, placed, typed_columns
from sfumato.results.label_parsing import Spellings
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.origin import Origin
from sfumato.results.recoding import Recoding, ReleasedValues, is_withheld, loses_least
from sfumato.results.release import Release
from sfumato.results.released_column import Cells, ValueSets, exact_cells, suppressed_cells
from sfumato.runtime.arrays import Booleans, Codes, Integers

NO_CLASS = ""
"""The name under which records are counted whose values are released, but in no class together."""


@dataclass(frozen=True, eq=False)
class Taken:
    """New records as a kept recoding releases them.

    Parameters
    ----------
    release
        The records that could be taken. No model has been checked yet.
    schema
        What the attributes are, not yet bound, with hierarchies that know the values of the new records.
    withheld
        How many records could not: by the first attribute with a value that no released value stands for, and
        under the empty name those whose values no class has together.
    """

    release: LinkedRelease
    schema: Schema = field(repr=False)
    withheld: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_withheld(self) -> int:
        """The number of records that could not be taken."""
        return sum(self.withheld.values())


def take(recoding: Recoding, records: Records) -> Taken:
    """Give new records the released values of a kept recoding.

    A record is given released values that contain its own; of several classes that do, the one that loses
    least. A value that was never seen is taken where a label of the release says so (``[20, 30)``), or where
    the recoding is a level of the hierarchy and the hierarchy has it. All other records are withheld.

    Parameters
    ----------
    recoding
        What `freeze` made.
    records
        The new records, with the columns of the original: whatever `Table.from_arrow` takes.

    Examples
    --------
    >>> from sfumato import datasets, freeze, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> recoding = freeze(sanitize(*datasets.hospital(), Mondrian(KAnonymity(3))))
    >>> new = {"name": ["A", "B"], "zip": ["02138", "99999"], "age": [27, 30], "sex": ["Female", "Male"]}
    >>> taken = take(recoding, {**new, "diagnosis": ["Flu", "Asthma"]})
    >>> taken.release.n_records, dict(taken.withheld)
    (1, {'zip': 1})
    """
    table = records if isinstance(records, Table) else Table.from_arrow(records)
    places = _places(recoding, table)
    knowing = _knowing(recoding.schema, places)
    bound, schema = knowing.bind(table)
    readings = {name: _read(recoding, name, bound[name], places[name]) for name in schema.quasi_identifiers}
    label_of, withheld = (
        _by_values(readings, bound)
        if recoding.recodes == "values"
        else _by_classes(recoding, readings, bound)
    )
    rows = np.flatnonzero(withheld.kept)
    cells = {name: _cells(readings[name], label_of[name][rows], bound[name]) for name in readings}
    for name in (*schema.sensitive, *schema.insensitive):
        cells[name] = _untouched(recoding.values[name], bound[name], schema, name, rows)
    release = LinkedRelease(
        schema=replace(schema, given=recoding.schema),
        cells={name: cells[name] for name in schema.released},
        weights=bound.weights[rows],
        n_original=bound.n_records,
        origin=Origin(bound, rows),
        recipe=recoding.recipe,
        notes=recoding.release.notes,
    )
    return Taken(release, knowing, withheld.counted(bound.weights))


def _places(recoding: Recoding, table: Table) -> dict[str, Placed]:
    columns = typed_columns(recoding.schema, table)
    return {
        name: placed(recoding.schema[name], column.kind, recoding.values[name].seen, column.domain)
        for name, column in columns.items()
    }


def _knowing(schema: Schema, places: Mapping[str, Placed]) -> Schema:
    """Return the schema whose hierarchies know the new values; without a hierarchy nothing must be known."""
    return replace(
        schema,
        attributes=tuple(
            replace(attribute, hierarchy=places[attribute.name].hierarchy)
            if attribute.name in places
            and (attribute.hierarchy is not None or attribute.role == "quasi-identifying")
            else attribute
            for attribute in schema.attributes
        ),
    )


@dataclass(frozen=True, eq=False)
class _Reading:
    """What the released values of one attribute stand for among the values of new records.

    Parameters
    ----------
    values
        The released values.
    labels
        The same, with those that the hierarchy adds for values that were never seen.
    members
        For each label the codes of the new records' domain that it stands for.
    sizes, n_leaves
        How many leaves each label has, and how many there are.
    """

    values: ReleasedValues
    labels: tuple[Label, ...]
    members: tuple[Codes, ...]
    sizes: tuple[int, ...]
    n_leaves: int


def _read(recoding: Recoding, name: str, column: Column, place: Placed) -> _Reading:
    """Read the labels of an attribute over all values that are known by now."""
    values, hierarchy = recoding.values[name], place.hierarchy
    schema = recoding.schema
    known = Column(np.empty(0, dtype=np.int32), hierarchy.values, column.kind)
    spelled = Spellings(known, hierarchy, schema.decimal, schema.thousands).read(values.labels)
    own = _own_codes(hierarchy, column)
    members = [
        own[meaning.codes][own[meaning.codes] >= 0] if meaning is not None else np.empty(0, dtype=np.int32)
        for meaning in spelled.meanings
    ]
    sizes = [meaning.leaves if meaning is not None else 1 for meaning in spelled.meanings]
    labels = list(values.labels)
    if recoding.recodes == "values" and spelled.level is not None and ROOT not in values.labels:
        for label, codes, size in _new_nodes(place, spelled.level, own, members):
            labels.append(label)
            members.append(codes)
            sizes.append(size)
    return _Reading(values, tuple(labels), tuple(members), tuple(sizes), hierarchy.n_leaves)


def _own_codes(hierarchy: Hierarchy, column: Column) -> Codes:
    """Return for each known value its code among the new records, -1 for one that they do not have."""
    code_of = {value: code for code, value in enumerate(column.domain)}
    return np.array([code_of.get(value, -1) for value in hierarchy.values], dtype=np.int32)


def _new_nodes(place: Placed, level: int, own: Codes, members: list[Codes]) -> list[tuple[Label, Codes, int]]:
    """Return the nodes of a level for values that no released value stands for and the hierarchy has."""
    hierarchy = place.hierarchy
    has_label = np.zeros(int(own.max(initial=-1)) + 2, dtype=np.bool_)
    has_label[np.concatenate([[-1], *members]).astype(np.int64)] = True
    is_unplaced = np.array([value in place.unplaced for value in hierarchy.values])
    codes, nodes = own[~is_unplaced], hierarchy.node_of[level][~is_unplaced]
    new_nodes = []
    for node in np.unique(nodes[~has_label[codes]]):
        below = codes[nodes == node]
        size = int(hierarchy.sizes[level][node])
        new_nodes.append((hierarchy.labels[level][node], below[below >= 0], size))
    return new_nodes


@dataclass(frozen=True, eq=False)
class _Withheld:
    """Which rows are kept, and which attribute is to blame where one is not."""

    kept: Booleans
    blamed: Mapping[str, Booleans]

    def counted(self, weights: Integers) -> dict[str, int]:
        """Return the records of each reason, those without any left out."""
        counts = {name: int(weights[rows].sum()) for name, rows in self.blamed.items()}
        counts[NO_CLASS] = int(weights[~self.kept].sum()) - sum(counts.values())
        return {name: count for name, count in counts.items() if count}


def _blamed(readings: Mapping[str, _Reading], bound: Table) -> dict[str, Booleans]:
    """Return for each attribute the rows whose first value without a released one is its own."""
    is_kept = np.ones(bound.n_rows, dtype=np.bool_)
    blamed = {}
    for name, reading in readings.items():
        has_label = np.zeros(len(bound[name].domain), dtype=np.bool_)
        for codes in reading.members:
            has_label[codes] = True
        blamed[name] = is_kept & ~has_label[bound[name].codes]
        is_kept &= ~blamed[name]
    return blamed


def _by_values(readings: Mapping[str, _Reading], bound: Table) -> tuple[dict[str, Integers], _Withheld]:
    """Give each value the label that loses least of those that stand for it."""
    label_of: dict[str, Integers] = {}
    for name, reading in readings.items():
        best = np.full(len(bound[name].domain), -1, dtype=np.int64)
        added = np.arange(len(reading.values.labels), len(reading.labels))
        for label in [*added, *loses_least(reading.values)[::-1]]:
            best[reading.members[label]] = label
        label_of[name] = best[bound[name].codes]
    blamed = _blamed(readings, bound)
    kept = ~np.logical_or.reduce([*blamed.values(), np.zeros(bound.n_rows, dtype=np.bool_)])
    return label_of, _Withheld(kept, blamed)


def _by_classes(
    recoding: Recoding, readings: Mapping[str, _Reading], bound: Table
) -> tuple[dict[str, Integers], _Withheld]:
    """Assign each row to the first class all of whose labels stand for its values."""
    class_of = first_classes(
        recoding.classes, [readings[n].members for n in readings], bound, tuple(readings)
    )
    label_of = {
        name: recoding.classes[class_of, place].astype(np.int64) for place, name in enumerate(readings)
    }
    return label_of, _Withheld(class_of >= 0, _blamed(readings, bound))


def first_classes(
    classes: Codes, members: list[tuple[Codes, ...]], bound: Table, names: tuple[str, ...]
) -> Integers:
    """Return for each row the first class that takes it, -1 where none does.

    Parameters
    ----------
    classes
        For each class the label of each attribute.
    members
        For each attribute and label the values that it stands for.
    bound, names
        The rows and the attributes.
    """
    if not names:
        return np.zeros(bound.n_rows, dtype=np.int64)
    lists = [
        _labels_of_values(codes, len(bound[name].domain)) for name, codes in zip(names, members, strict=True)
    ]
    # values that are in the same labels need not be told apart
    alike = [np.unique(keys, return_inverse=True) for keys in _keys(lists)]
    atoms = [inverse[bound[name].codes] for name, (_, inverse) in zip(names, alike, strict=True)]
    number, n_different = number_rows(atoms, [len(keys) for keys, _ in alike], bound.n_rows)
    first = first_row_of_group(number, n_different)
    kept_lists = [
        [values[place] for place in np.unique(inverse, return_index=True)[1]]
        for values, (_, inverse) in zip(lists, alike, strict=True)
    ]
    first_label = np.cumsum([0, *(len(values) for values in members)])
    flat = [codes + first_label[place] for place, values in enumerate(kept_lists) for codes in values]
    class_of = first_covering_class(
        np.stack([codes[first] for codes in atoms]).astype(np.int64),
        np.cumsum([0, *(len(values) for values in kept_lists)])[:-1],
        np.cumsum([0, *(len(codes) for codes in flat)]),
        np.concatenate([np.empty(0, dtype=np.int64), *flat]),
        classes.astype(np.int64) + first_label[:-1],
        int(first_label[-1]),
    )
    return class_of[number]


def classes_taking(earlier: Release, bound: Table, schema: Schema) -> Integers:
    """Return for each row the class of an earlier release that would take it, -1 where none would.

    Parameters
    ----------
    earlier
        What was published: its labels are enough.
    bound, schema
        The rows of the newer release's original, and its bound schema.
    """
    names = tuple(name for name in schema.quasi_identifiers if name in earlier.cells)
    described = schema.given or schema
    members, losses = [], []
    for name in names:
        column = bound[name]
        seen = earlier.origin.table[name].domain if isinstance(earlier, LinkedRelease) else ()
        hierarchy = placed(described[name], column.kind, seen, column.domain).hierarchy
        known = Column(np.empty(0, dtype=np.int32), hierarchy.values, column.kind)
        spellings = Spellings(known, hierarchy, schema.decimal, schema.thousands)
        meanings = spellings.read([spellings.plain(label) for label in earlier.cells[name].labels]).meanings
        own = _own_codes(hierarchy, column)
        codes = [
            np.empty(0, dtype=np.int32) if meaning is None else own[meaning.codes] for meaning in meanings
        ]
        members.append(tuple(values[values >= 0] for values in codes))
        leaves = [hierarchy.n_leaves if meaning is None else meaning.leaves for meaning in meanings]
        losses.append(np.array(leaves) / hierarchy.n_leaves)
    first = first_row_of_group(earlier.classes.class_of, earlier.classes.n_classes)
    columns = [earlier.cells[name].codes[first] for name in names]
    if not columns:
        return np.zeros(bound.n_rows, dtype=np.int64)
    lost = np.sum([loss[codes] for loss, codes in zip(losses, columns, strict=True)], axis=0)
    order = np.lexsort((*columns[::-1], np.round(lost, 12)))
    class_of = first_classes(np.stack(columns, axis=1)[order], members, bound, names)
    return np.where(class_of >= 0, order[class_of], -1)


def _labels_of_values(members: tuple[Codes, ...], n_values: int) -> list[Integers]:
    """Return for each value the labels that stand for it."""
    owner = np.repeat(np.arange(len(members)), [len(codes) for codes in members])
    values = np.concatenate([np.empty(0, dtype=np.int32), *members])
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(np.bincount(values, minlength=n_values))[:-1]
    return np.split(owner[order], ends)


def _keys(lists: list[list[Integers]]) -> list[Integers]:
    """Number the different lists of labels of each attribute."""
    numbered = []
    for values in lists:
        place: dict[bytes, int] = {}
        numbered.append(np.array([place.setdefault(codes.tobytes(), len(place)) for codes in values]))
    return numbered


def _cells(reading: _Reading, label_of: Integers, column: Column) -> Cells:
    """Return the cells of one quasi-identifier, with the labels that are used."""
    used, codes = np.unique(label_of, return_inverse=True)
    members = [np.sort(reading.members[label]) for label in used]
    sets = ValueSets(
        np.cumsum([0, *map(len, members)]),
        np.concatenate([np.empty(0, dtype=np.int32), *members]),
        np.array([reading.sizes[label] for label in used], dtype=np.int64),
        reading.n_leaves,
    )
    return Cells(codes.astype(np.int32), tuple(reading.labels[label] for label in used), column.domain, sets)


def _untouched(values: ReleasedValues, column: Column, schema: Schema, name: str, rows: Integers) -> Cells:
    """Release what is no quasi-identifier as the release did: as it is, or not at all."""
    if is_withheld(values):
        return suppressed_cells(column, schema.hierarchy(name), rows)
    return exact_cells(column, rows)
