"""Date shifting: move all dates of a person by the same secret number of days."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.hierarchy import Dates
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.registry.declarations import AtLeast, AtMost, AttributeName, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import Infeasible, ParameterError, suggestion
from sfumato.sanitizers.perturb.changed_records import changed_release, records_of


@register
@dataclass(frozen=True)
class DateShift:
    """Move all dates of a person by one secret number of days, so that the days between them stay.

    The number is drawn for each person from the system's cryptographic source, never from the seed, so two
    runs differ. Time spans between dates of one person are preserved; weekdays, seasons and spans between
    dates of different people are not. Someone who knows one true date of a person can derive all of them.

    Parameters
    ----------
    days
        How far dates move at most, back or forth; every number of days except 0 is equally likely.
    attributes
        The attributes to move; by default all dates: values such as ``2026-11-16``, or in the format of their
        hierarchy of dates.

    References
    ----------
    G. Hripcsak, P. Mirhaji, A. F. Low, B. A. Malin, "Preserving temporal relations in clinical data while
    maintaining privacy", 2016.

    Examples
    --------
    >>> from sfumato import Schema, Table, sanitize
    >>> table = Table.from_arrow({"came": ["2026-01-05"], "left": ["2026-01-09"], "ill": ["flu"]})
    >>> schema = Schema.of(came="quasi-identifying", left="quasi-identifying", ill="sensitive")
    >>> (record,) = sanitize(table, schema, DateShift()).to_arrow().to_pylist()
    >>> datetime.date.fromisoformat(record["left"]) - datetime.date.fromisoformat(record["came"])
    datetime.timedelta(days=4)
    """

    days: Annotated[int, AtLeast(1), AtMost(36_525)] = 182
    attributes: tuple[AttributeName, ...] = ()

    release_type: ClassVar[ReleaseType] = "perturbed"
    repeatable: ClassVar[bool] = False
    plain: ClassVar[str] = "dates moved by a secret number of days"
    does: ClassVar[str] = "All dates of a person are moved by the same secret number of days."
    times_mondrian: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release each person's dates, moved by a number of days of their own."""
        names, rows = self._names(table, schema), records_of(table)
        person_of = np.arange(len(rows)) if table.person_of is None else table.person_of[rows]
        shift_of = secret_shifts(table.n_people, self.days)[person_of]
        cells = {name: self._moved(table[name], schema, name, rows, shift_of) for name in names}
        whose = "record" if table.person_of is None else "person"
        note = (
            f"The dates in {', '.join(names)} are moved by up to {self.days} days, all of one {whose} alike: "
            f"days between them are true, the dates are not. One true date of a {whose} gives away the rest."
        )
        return changed_release(table, schema, cells, rows, (note,))

    def _names(self, table: Table, schema: Schema) -> tuple[str, ...]:
        dated = tuple(n for n in schema.released if dates_of(table[n], _format(schema, n)) is not None)
        for name in self.attributes:
            if name not in dated:
                hint = suggestion(name, dated) or f"; there are {', '.join(dated) or 'none'}"
                raise ParameterError(f"attributes: no dates {name!r}{hint}")
        if not dated:
            raise ParameterError("date-shift needs an attribute of dates; write them like 2026-11-16")
        return tuple(dict.fromkeys(self.attributes)) or dated

    def _moved(self, column: Column, schema: Schema, name: str, rows: Integers, shift_of: Integers) -> Cells:
        if schema[name].lowest_level:
            raise Infeasible(
                f"{name!r} has lowest-level = {schema[name].lowest_level}, which a moved date cannot be on; "
                "leave the attribute or its lowest-level out",
                0.0,
            )
        format_ = _format(schema, name)
        days = np.array([-1 if day is None else day for day in dates_of(column, format_) or ()])
        exact = days[column.codes[rows]]
        days_after = np.where(exact < 0, -1, np.maximum(exact + shift_of, 1))
        moved, codes = np.unique(days_after, return_inverse=True)
        labels = tuple(_written(int(day), format_) for day in moved)
        return Cells(codes, labels, labels)


def secret_shifts(n_people: int, days: int) -> Integers:
    """Draw for each person a number of days from -days to days, but not 0, that nobody can reproduce."""
    numbers = np.array([secrets.randbelow(2 * days) for _ in range(n_people)], dtype=np.int64)
    return np.where(numbers < days, numbers - days, numbers - days + 1)


def dates_of(column: Column, format_: str) -> Sequence[int | None] | None:
    """Return the day of each value, counted from the first of year 1; ``None`` if some value is no date."""
    try:
        written = [text(value) for value in column.domain]
        days = [
            None if date is None else datetime.datetime.strptime(date, format_).toordinal()
            for date in written
        ]
    except ValueError:
        return None
    return days if any(day is not None for day in days) else None


def _format(schema: Schema, name: str) -> str:
    source = (schema.given or schema)[name].hierarchy
    return source.format if isinstance(source, Dates) else "%Y-%m-%d"


def _written(day: int, format_: str) -> str | None:
    last = datetime.date.max.toordinal()
    return None if day < 0 else datetime.date.fromordinal(min(day, last)).strftime(format_)
