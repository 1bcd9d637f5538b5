"""The public part of a schema: what everyone may know of a table without its records.

Differential privacy hides whether a person is in the table. It cannot hide what a method reads from the
records for free, so a method that states an epsilon takes from them only counts with noise. Everything else
that it needs, such as the kinds of values, is declared. The publisher assumes that this part is public; the
guarantee rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from sfumato.data.public_values import NOTHING_PUBLIC, PublicValues
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Column, Table
from sfumato.runtime.errors import SchemaError


def declared(schema: Schema, name: str, column: Column, method: str) -> Attribute:
    """Return an attribute as it was given, or say what a method needs to know of it and the line to paste.

    Parameters
    ----------
    schema
        The schema, bound or not.
    name, column
        The attribute and its values, from which the proposed line is derived.
    method
        The method that needs the declaration.
    """
    attribute = (schema.given or schema)[name]
    lacks, line = "", ""
    if attribute.kind is None:
        lacks, line = "kind", f'kind = "{column.kind.name}"'
    elif column.kind.is_number and attribute.public.whole is None:
        lacks, line = "whole", f"public = {{ whole = {str(column.is_whole).lower()} }}"
    if lacks:
        raise SchemaError(
            f"{method} takes nothing from the records for free, and {lacks!r} of {name!r} is not declared; "
            f"if everyone may know it, write under [attributes.{name}]: {line}"
        )
    if column.kind.is_number and attribute.public.whole and not column.is_whole:
        raise SchemaError(
            f"attribute {name!r} is declared public with whole = true, but some of its numbers are not "
            "whole; round them in the data, or declare whole = false"
        )
    return attribute


def is_declared(table: Table, schema: Schema) -> bool:
    """Return whether every released attribute has the declarations that a count of its values needs."""
    try:
        for name in schema.released:
            declared(schema, name, table[name], "")
    except SchemaError:
        return False
    return True


def check_people(schema: Schema, table: Table) -> None:
    """Refuse a table of more people than the schema declares."""
    most = schema.people_at_most
    if most is not None and table.n_people > most:
        raise SchemaError(
            f"the table has more people than people-at-most = {most} declares; "
            "declare a number that everyone may know and that it never exceeds"
        )


def assumed_public(table: Table, schema: Schema) -> Schema:
    """Return a schema with a public part that is proposed from the records themselves.

    It is an assumption: kinds, wholeness, bounds and the number of people are read from the records, and
    the publisher must know from elsewhere that everyone may know them. Bounds are rounded outward to 1, 2 or
    5 with zeros, and the number of people to a power of ten. What is declared already stays.
    """
    plain = schema if schema.given is None else schema.for_parts
    bound_table, bound = plain.bind(table)
    attributes = []
    for attribute in plain.attributes:
        if attribute.is_released:
            column = bound_table[attribute.name]
            proposed = proposed_values(column)
            public = replace(
                attribute.public,
                whole=proposed.whole if attribute.public.whole is None else attribute.public.whole,
                bounds=attribute.public.bounds or proposed.bounds,
            )
            attribute = replace(attribute, kind=bound[attribute.name].kind, public=public)
        attributes.append(attribute)
    most = plain.people_at_most or people_below(bound_table.n_people)
    return replace(plain, attributes=tuple(attributes), people_at_most=most, given=None)


def proposed_values(column: Column) -> PublicValues:
    """Return wholeness and round bounds of a column of numbers; nothing of any other column."""
    if not column.kind.is_number:
        return NOTHING_PUBLIC
    return proposed_of_numbers([value for value in column.domain if isinstance(value, (int, float))])


def proposed_of_numbers(numbers: Iterable[float]) -> PublicValues:
    """Return whether all of some numbers are whole, and round bounds of them.

    Examples
    --------
    >>> proposed_of_numbers([17, 42, 90])
    PublicValues(whole=True, bounds=(0, 100), domain=())
    """
    known = [*numbers]
    bounds = round_bounds(min(known), max(known)) if known else None
    return PublicValues(whole=all(number == int(number) for number in known), bounds=bounds)


def round_bounds(low: float, high: float) -> tuple[float, float]:
    """Return bounds outside of two numbers that reveal little of them: multiples of a round step.

    Examples
    --------
    >>> round_bounds(17, 90), round_bounds(0.2, 0.9), round_bounds(5, 5)
    ((0, 100), (0, 1), (5, 10))
    """
    size = max(abs(low), abs(high), high - low) or 1.0
    if not math.isfinite(size):
        return low, high
    unit = 10.0 ** math.floor(math.log10(size))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= size * (1 - 1e-12))
    ends = math.floor(low / step) * step, math.ceil(high / step) * step
    ends = (ends[0], ends[1] if ends[1] > ends[0] else ends[0] + step)
    first, last = (int(end) if end == int(end) else end for end in ends)
    return first, last


def delta_for(people_at_most: int) -> float:
    """Return a delta far below one in a number of people.

    Examples
    --------
    >>> delta_for(100), delta_for(1_000_000)
    (1e-06, 1e-07)
    """
    return float(f"1e-{max(6, len(str(people_at_most - 1)) + 1)}")


def people_below(n_people: int) -> int:
    """Return the power of ten above a number of people.

    Examples
    --------
    >>> people_below(12), people_below(45_222)
    (100, 100000)
    """
    return int(10 ** len(str(n_people)))
