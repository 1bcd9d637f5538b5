"""Units: the finest parts of an attribute's domain, and the records as rows of units."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.recoding_classes import PersonLists, SensitiveRows
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group, value_counts
from sfumato.kernels.shared_grouping import Records
from sfumato.runtime.arrays import Booleans, Codes, Integers
from sfumato.runtime.errors import ParameterError, suggestion

_MOST_UNITS = 1000
# Attributes are looked up together while their units have at most so many combinations.
_JOINT = 2048


def unit_of_value(table: Table, schema: Schema, name: str, granularity: Mapping[str, float]) -> Codes:
    """Return the unit of each value of an attribute: 0, 1, 2, … in the order of the domain.

    Numbers are cut between the intervals of the first level of their hierarchy, or between multiples of
    their granularity (0: between any two values); categories between any two values. Nothing is cut below
    an attribute's lowest level.
    """
    column = table[name]
    width = granularity.get(name)
    if column.kind.is_ordered and width:
        boundaries = _interval_changes(column, width)
    elif column.kind.is_ordered and width is None and schema.hierarchy(name).height > 1:
        boundaries = np.diff(schema.hierarchy(name).node_of[1]) != 0
    else:
        boundaries = np.ones(len(column.domain) - 1, dtype=np.bool_)
    boundaries = boundaries & (np.diff(schema.hierarchy(name).node_of[schema[name].lowest_level]) != 0)
    unit_of = np.concatenate([[0], np.cumsum(boundaries)]).astype(np.int32)
    if unit_of[-1] >= _MOST_UNITS:
        raise ParameterError(
            f"{name!r} can be cut in {int(unit_of[-1]):,} places, more than {_MOST_UNITS - 1}; give a number "
            'a granularity or a hierarchy of intervals, or search space = "lattice"'
        )
    return unit_of


def check_granularity(table: Table, schema: Schema, granularity: Mapping[str, float]) -> None:
    """Raise `ParameterError` when a granularity is not that of a numeric quasi-identifier."""
    names = schema.quasi_identifiers
    for name, width in granularity.items():
        if name not in names:
            hint = suggestion(name, names) or f"; they are {', '.join(names)}"
            raise ParameterError(f"granularity: no quasi-identifier {name!r}{hint}")
        if not table[name].kind.is_ordered:
            raise ParameterError(f"granularity: {name!r} is not numeric; give it a hierarchy instead")
        if not 0 <= width < float("inf"):
            raise ParameterError(f"granularity: the width of {name!r} must be 0 or more, not {width:g}")


def _interval_changes(column: Column, width: float) -> Booleans:
    step = Fraction(str(width))
    # a missing value is an interval of its own
    positions = map(column.kind.position, column.domain)
    places = [None if place is None else int(Fraction(str(place)) // step) for place in positions]
    return np.array([one != other for one, other in itertools.pairwise(places)], dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class UnitRecords:
    """The records as distinct rows of units, with their sensitive values and their people."""

    records: Records
    sensitive: SensitiveRows
    persons: PersonLists
    n_records: int

    @classmethod
    def of(cls, table: Table, schema: Schema, unit_of: Sequence[Codes]) -> UnitRecords:
        """Put rows with equal units together."""
        names = schema.quasi_identifiers
        coded = [units[table[name].codes] for name, units in zip(names, unit_of, strict=True)]
        n_units = [int(units[-1]) + 1 for units in unit_of]
        order, joints = _joints(n_units)
        codes = _joint_codes(coded, n_units, order, joints)
        row_of, n_rows = number_rows(codes, [int(joint.max(initial=0)) + 1 for joint in codes], table.n_rows)
        row_of = _sorted_numbers(row_of, n_rows, codes)
        first = first_row_of_group(row_of, n_rows)
        first_unit = np.concatenate([[0], np.cumsum(n_units)]).astype(np.int64)
        units = np.stack(
            [codes[first] + start for codes, start in zip(coded, first_unit, strict=False)], axis=1
        )
        weights = sum_by_group(row_of, n_rows, table.weights)
        records = Records(
            codes=np.ascontiguousarray(np.stack([joint[first] for joint in codes]), dtype=np.int32),
            units=np.ascontiguousarray(units, dtype=np.int32),
            weights=weights,
            order=np.array(order, dtype=np.int64),
            joints=np.array(joints, dtype=np.int64),
            first_unit=first_unit,
            unit_counts=np.bincount(
                units.ravel(), np.repeat(weights, len(n_units)), int(first_unit[-1])
            ).astype(np.int64),
        )
        sensitive = _sensitive(table, schema, row_of, n_rows)
        return cls(records, sensitive, _persons(table, schema, row_of, n_rows), table.n_records)


def _joints(n_units: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the attributes joint by joint, and where each joint starts, with the end appended."""
    joints: list[tuple[int, list[int]]] = []
    for attribute in sorted(range(len(n_units)), key=lambda place: -n_units[place]):
        for place, (size, members) in enumerate(joints):
            if size * n_units[attribute] <= _JOINT:
                joints[place] = (size * n_units[attribute], [*members, attribute])
                break
        else:
            joints.append((n_units[attribute], [attribute]))
    order = [attribute for _, members in joints for attribute in members]
    return order, [0, *np.cumsum([len(members) for _, members in joints]).tolist()]


def _joint_codes(
    coded: Sequence[Codes], n_units: Sequence[int], order: Sequence[int], joints: Sequence[int]
) -> list[Codes]:
    codes: list[Codes] = []
    for start, end in itertools.pairwise(joints):
        joint = np.zeros(len(coded[0]), dtype=np.int32)
        for attribute in order[start:end]:
            joint = joint * np.int32(n_units[attribute]) + coded[attribute].astype(np.int32)
        codes.append(joint)
    return codes


def _sorted_numbers(row_of: Integers, n_rows: int, codes: Sequence[Codes]) -> Integers:
    """Number the rows in the order of their codes, so that neighbours lie near each other in memory."""
    first = first_row_of_group(row_of, n_rows)
    rank = np.empty(n_rows, dtype=np.int64)
    rank[np.lexsort([joint[first] for joint in reversed(codes)])] = np.arange(n_rows)
    return rank[row_of]


def _persons(table: Table, schema: Schema, row_of: Integers, n_rows: int) -> PersonLists:
    people = table.people()
    if people is None:
        nobody = np.empty(0, dtype=np.int64)
        return PersonLists(nobody, nobody, nobody.astype(np.int32), nobody, nobody)
    pairs = np.unique(people.person_of * n_rows + row_of)
    offsets = np.concatenate([[0], np.cumsum([len(table[name].domain) for name in schema.sensitive])])
    held = [
        np.unique(np.stack([table[name].codes + offset, people.person_of, row_of]).astype(np.int64), axis=1)
        for name, offset in zip(schema.sensitive, offsets, strict=False)
    ] or [np.empty((3, 0), dtype=np.int64)]
    values, holders, rows = np.concatenate(held, axis=1)
    return PersonLists(pairs // n_rows, pairs % n_rows, values.astype(np.int32), holders, rows)


def _sensitive(table: Table, schema: Schema, row_of: Integers, n_rows: int) -> SensitiveRows:
    names = schema.sensitive
    if not names:
        nothing = np.zeros(0, np.int64)
        return SensitiveRows(
            np.zeros(n_rows + 1, np.int64), nothing.astype(np.int32), nothing, 0, nothing, distinct=False
        )
    offsets = np.concatenate([[0], np.cumsum([len(table[name].domain) for name in names])])
    values = [table[name].codes + offset for name, offset in zip(names, offsets, strict=False)]
    starts, codes, counts = value_counts(
        np.tile(row_of, len(names)),
        n_rows,
        np.concatenate(values).astype(np.int32),
        int(offsets[-1]),
        np.tile(table.weights, len(names)),
    )
    owners = np.repeat(np.arange(len(names)), np.diff(offsets))
    return SensitiveRows(starts, codes, counts, int(offsets[-1]), owners, distinct=False)
