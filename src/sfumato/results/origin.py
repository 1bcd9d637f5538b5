"""The link from a release to its original. The owner keeps it; it is never published."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.table import People, Table
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers, freeze_fields, sealed


@dataclass(frozen=True, eq=False)
class Origin:
    """The link from a release to its original: the table, the rows, earlier releases and names of people.

    Parameters
    ----------
    table
        The (bound) original table.
    linked_rows
        For each released row the original row that it comes from; ``None`` if that is unknown, and for
        synthetic records, which come from nobody.
    earlier
        Earlier releases of the same people, or of some of them.
    person_names
        The person of each original record, if a column names people and a kept recoding was applied to new
        records. For example, it identifies the same people in next month's records.
    """

    table: Table = field(repr=False)
    linked_rows: Integers | None = field(default=None, repr=False)
    earlier: tuple[Earlier, ...] = field(default=(), repr=False)
    person_names: PersonNames | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, linked_rows=np.int64)

    @property
    def rows(self) -> Integers:
        """The original row of each released row; `NotApplicable` if that is unknown."""
        if self.linked_rows is None:
            raise NotApplicable("it is not known which record each released row comes from")
        return self.linked_rows

    @cached_property
    def people(self) -> People | None:
        """The person of each released row; ``None`` if nobody has several records, or it is unknown."""
        return None if self.linked_rows is None else self.table.people(self.linked_rows)

    def keep(self, rows: Integers) -> Origin:
        """Return the origin of some of the released rows."""
        return self if self.linked_rows is None else replace(self, linked_rows=sealed(self.linked_rows[rows]))


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release that was published before, and its people if they are known.

    Parameters
    ----------
    release
        The earlier release.
    people
        The person of each record of the newer release and of this one, in the order of their rows, with equal
        numbers for equal people; ``None`` if that is unknown.
    """

    release: Release
    people: tuple[Integers, Integers] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class PersonNames:
    """The person of each record of an original, by the names in a column.

    Parameters
    ----------
    names
        The people, each once; ``None`` is the missing name.
    person_of
        For each record the position of its person in ``names``, in the order of the bound table's rows.
    """

    names: tuple[Label, ...] = field(repr=False)
    person_of: Integers = field(repr=False)
