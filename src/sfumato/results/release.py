"""A release: what would be published, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveDomain, contributed, count_classes
from sfumato.data.hierarchy import Hierarchy, Label
from sfumato.data.schema import Schema
from sfumato.data.table import People, Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import ReleaseType
from sfumato.registry.display import Picture, as_pandas, listed
from sfumato.registry.recipe import Recipe
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, frozen, sealed, secret_order

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Form = Literal["one-table", "two-tables"]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """The released rows of a table. A suppressed record is not in it, nor is its sensitive value.

    Parameters
    ----------
    schema
        What each attribute is.
    cells
        The released values of every released attribute.
    weights
        The number of records of each released row.
    n_original
        The number of records of the original.
    original, rows
        The (bound) original table and, for each released row, the original row that it comes from;
        ``None`` when the release was read from files and that is not known.
    group_of
        The group of each row, where it is not its class: the records that share one published
        distribution of the sensitive values.
    form
        Whether it is published as one table or, when it has groups, as two: the quasi-identifiers with
        their groups, and the counts of the sensitive values of each group.
    recipe
        How it was made.
    notes
        What a reader should know, in sentences.
    earlier
        What was published before of the same people, or of some of them. It is no part of what is published.
    type
        What its rows stand for: ``people`` one by one, with true values or sets that hold them; people with
        values that were changed (``perturbed``); or nobody (``synthetic``).
    sampled
        Whether the records were drawn at random from all of them, so that a reader counts each for several.
    person_names
        Whose each record of the original is, where new records were given a kept recoding and a column tells.
        Next month's people are recognized by it. It is no part of what is published.
    told_original
        The number of original records that readers are told, where the true one would say too much: with
        differential privacy a count with noise.
    """

    schema: Schema
    cells: Mapping[str, Cells]
    weights: Integers = field(repr=False)
    n_original: int
    original: Table | None = field(default=None, repr=False)
    rows: Integers | None = field(default=None, repr=False)
    group_of: Integers | None = field(default=None, repr=False)
    form: Form = "one-table"
    recipe: Recipe | None = None
    notes: tuple[str, ...] = ()
    earlier: tuple[Earlier, ...] = field(default=(), repr=False)
    type: ReleaseType = "people"
    sampled: bool = False
    told_original: int | None = None
    person_names: PersonNames | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, np.int64))
        object.__setattr__(self, "cells", dict(self.cells))
        if self.rows is not None:
            object.__setattr__(self, "rows", frozen(self.rows, np.int64))
        if self.group_of is not None:
            object.__setattr__(self, "group_of", frozen(self.group_of, np.int64))

    @property
    def n_rows(self) -> int:
        """The number of distinct released rows."""
        return len(self.weights)

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.weights.sum())

    @property
    def n_suppressed(self) -> int:
        """The number of records that are left out; of made-up ones none is."""
        return 0 if self.type == "synthetic" else self.n_original - self.n_records

    @property
    def scale(self) -> float:
        """How many original records a reader counts for each released one: more than one for a sample."""
        stands_for_all = self.type == "synthetic" or self.sampled
        return self.n_original / self.n_records if stands_for_all and self.n_records else 1.0

    @cached_property
    def kept(self) -> Integers:
        """For each row of the original, how many of its records are released."""
        if self.original is None or self.rows is None:
            raise ValueError("a release that was read from files does not know its original")
        return sealed(sum_by_group(self.rows, self.original.n_rows, self.weights))

    @cached_property
    def survey_weights(self) -> Floats | None:
        """For each released row, how many people of the population its records stand for.

        ``None`` where no survey weights are known. Records that are equal in the original share theirs
        evenly: where they are released apart, it makes no difference which is which.
        """
        if self.rows is None or self.original is None or self.original.survey_weights is None:
            return None
        of_record = self.original.survey_weights / self.original.weights
        return sealed(self.weights * of_record[self.rows])

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """The records with equal released quasi-identifiers: what identity disclosure looks at."""
        cells = [self.cells[name] for name in self.schema.quasi_identifiers]
        class_of, n_classes = number_rows(
            [cell.codes for cell in cells], [len(cell.labels) for cell in cells], self.n_rows
        )
        return self._counted(sealed(class_of), n_classes)

    @cached_property
    def groups(self) -> EquivalenceClasses:
        """The records that share one published sensitive distribution: what attribute disclosure looks at."""
        if self.group_of is None:
            return self.classes
        group_of, n_groups = number_rows([self.group_of], [int(self.group_of.max()) + 1], self.n_rows)
        return self._counted(sealed(group_of), n_groups)

    def _counted(self, class_of: Integers, n_classes: int) -> EquivalenceClasses:
        sensitive, domains = self._sensitive(), self._domains()
        return count_classes(class_of, n_classes, self.weights, sensitive, domains, self.people)

    @cached_property
    def people(self) -> People | None:
        """Whose each released row is; ``None`` where nobody has several records, or it is not known."""
        return None if self.original is None or self.rows is None else self.original.people(self.rows)

    @property
    def n_original_people(self) -> int:
        """The number of people of the original: of records, where nobody is known to have several."""
        return self.n_original if self.people is None or self.original is None else self.original.n_people

    @cached_property
    def n_people(self) -> int:
        """The number of people with a released record: of records, where nobody is known to have several."""
        return self.n_records if self.people is None else len(np.unique(self.people.person_of))

    def partition(self, model: PrivacyModel) -> EquivalenceClasses:
        """Return the classes or the groups, whichever the model guards."""
        return self.classes if model.guards == "identity" else self.groups

    def _sensitive(self) -> dict[str, tuple[Codes, Floats]]:
        return {
            name: (self.own_values(name), self._prior(name))
            for name in self.schema.sensitive
            if name in self.cells
        }

    def own_values(self, name: str) -> Codes:
        """Return for each row the code of the released sensitive value of its own person.

        Where values are exchanged within groups, a row shows another person's; whose it is, is known from the
        original alone.
        """
        if self.group_of is None or self.original is None or self.rows is None:
            return self.cells[name].codes
        return self.original[name].codes[self.rows]

    def _domains(self) -> dict[str, SensitiveDomain]:
        return {
            name: SensitiveDomain(self.cells[name].labels, self._hierarchy(name))
            for name in self.schema.sensitive
            if name in self.cells
        }

    def _hierarchy(self, name: str) -> Hierarchy | None:
        """Return the hierarchy over the released values, where they are the original ones."""
        source = self.schema[name].hierarchy
        fits = isinstance(source, Hierarchy) and self.cells[name].labels == source.labels[0]
        return source if fits and isinstance(source, Hierarchy) else None

    def _prior(self, name: str) -> Floats:
        """Return p(T, ·) over the released values, of all original records.

        Where the original is not known, or a released value is not a part of a partition of the original
        ones, it is the distribution of the released records.
        """
        cells = self.cells[name]
        if self.original is None or cells.sets is None or cells.sets.overlap:
            counts, n_people = contributed(cells.codes, len(cells.labels), self.weights, self.people)
            return counts / n_people
        column = self.original[name]
        everybody = None if self.people is None else self.original.people()
        counts, n_people = contributed(column.codes, len(column.domain), self.original.weights, everybody)
        return np.add.reduceat(counts[cells.sets.members], cells.sets.starts[:-1]) / n_people

    def information_lost(self, name: str) -> float | None:
        """Return the share of its information that an attribute loses, records that are left out included.

        ``None`` where its released values are not sets of original ones.
        """
        cells = self.cells.get(name)
        if cells is None or cells.sets is None:
            return None
        lost = float(cells.sets.losses[cells.codes] @ self.weights)
        return (lost + self.n_suppressed) / self.n_original

    def to_arrow(self, *, typed: bool = True, order: Order | None = None, encoded: bool = False) -> pa.Table:
        """Return one Arrow row for each released record, in an order that is drawn anew each time.

        A release with groups has one more column, the number of the group, and one with pseudonyms another.
        Which of a group's sensitive values stands beside which of its records, and the numbers of groups and
        people, are drawn anew as well.

        Parameters
        ----------
        typed
            Give numbers as numbers where a column has only exact values; else everything is text, as
            in a CSV file.
        order
            An order that was drawn before, to write the same records in two formats.
        encoded
            Give every column of an attribute as a dictionary, which has each value once.
        """
        import pyarrow as pa

        drawn = order or drawn_order(self)
        columns = {
            name: self.cells[name].to_arrow(
                drawn.givers if name in self.schema.sensitive else drawn.rows, typed=typed, encoded=encoded
            )
            for name in self.schema.released
        }
        if drawn.groups is not None:
            columns[self.group_column] = pa.array(drawn.groups)
        if drawn.people is not None:
            columns[self.person_column] = pa.array(drawn.people)
        return pa.table(columns)

    @property
    def group_column(self) -> str:
        """The name of the column that holds the group: ``group``, or longer where that is taken."""
        return self._free("group")

    @property
    def person_column(self) -> str:
        """The name of the column that holds pseudonyms: ``person``, or longer where that is taken."""
        return self._free("person")

    def _free(self, name: str) -> str:
        while name in self.schema.released:
            name += "_"
        return name

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row of a pandas frame for each released record, in an order that is drawn anew."""
        return as_pandas(self.to_arrow())

    def plot(self) -> Picture:
        """Draw which share of the records lies in classes of at most each size."""
        from sfumato.workflow.report.class_size_curves import class_sizes_chart

        return Picture(class_sizes_chart(self.classes.sizes))

    def __repr__(self) -> str:
        how = "read from files" if self.recipe is None else str(self.recipe)
        made_up = f"{self.n_records:,} synthetic records for {self.n_original:,}"
        kept = f"{self.n_records:,} of {self.n_original:,} records" if self.type != "synthetic" else made_up
        return f"<Release {how}: {kept}, {listed(self.schema.released)}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import release_html

        return release_html(self)


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release that was published before, and who is in it.

    Parameters
    ----------
    release
        What was published.
    people
        Where it is known who is who: the person of each released record, of the newer release and of this
        one, in the order of their rows and numbered alike.
    """

    release: Release
    people: tuple[Integers, Integers] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class PersonNames:
    """Whose each record of an original is, as the column that tells it names people.

    Parameters
    ----------
    names
        The people, each once; ``None`` is the missing name.
    person_of
        The place of each record's person among them, the records in the order of the bound table's rows.
    """

    names: tuple[Label, ...] = field(repr=False)
    person_of: Integers = field(repr=False)


@dataclass(frozen=True, eq=False)
class Order:
    """How the records of a release are written: drawn from a cryptographic source, never from a seed.

    Two releases of the same people, or two writings of one release, have nothing in common in their order.

    Parameters
    ----------
    rows
        The released row of each written record.
    givers
        The released row whose sensitive values are written beside it: its own, or where sensitive values
        are told for groups only, that of some record of its group.
    groups
        The number of its group, if there are groups.
    people
        The pseudonym of its person, where the schema asks for one.
    """

    rows: Integers = field(repr=False)
    givers: Integers = field(repr=False)
    groups: Integers | None = field(default=None, repr=False)
    people: Integers | None = field(default=None, repr=False)


def drawn_order(release: Release) -> Order:
    """Draw the order in which a release is written."""
    rows = np.repeat(np.arange(release.n_rows), release.weights)[secret_order(release.n_records)]
    people = _pseudonyms(release, rows)
    if release.group_of is None:
        return Order(rows, rows, people=people)
    group_of = release.group_of[rows]
    # two lists of all records, group by group: one as they are written, one in another order
    own = np.argsort(group_of, kind="stable")
    other = secret_order(len(rows))
    other = other[np.argsort(group_of[other], kind="stable")]
    givers = np.empty_like(rows)
    givers[own] = rows[other]
    numbers, number_of = np.unique(group_of, return_inverse=True)
    return Order(rows, givers, secret_order(len(numbers))[number_of], people)


def drawn_orders(release: Release, n_at_once: int = 1 << 21) -> Iterator[Order]:
    """Draw the order in which a release is written, some records at a time.

    Every order of all records is as likely as any other, as it is of `drawn_order`: each record draws one of
    several parts, and the records of a part are put in an order of their own. Of each record no more than
    one byte is held. Where sensitive values are told for groups all records are drawn at once.

    Parameters
    ----------
    release
        What is written.
    n_at_once
        About how many records a part has.
    """
    if release.group_of is not None or release.n_records <= n_at_once:
        yield drawn_order(release)
        return
    n_parts = 1 << min((release.n_records // n_at_once).bit_length(), 8)
    part_of = np.frombuffer(os.urandom(release.n_records), dtype=np.uint8) & np.uint8(n_parts - 1)
    ends = np.cumsum(release.weights)
    pseudonym_of = _pseudonyms(release, np.arange(release.n_rows))
    for part in range(n_parts):
        records = np.flatnonzero(part_of == part)
        rows = np.searchsorted(ends, records, side="right")[secret_order(len(records))]
        yield Order(rows, rows, people=None if pseudonym_of is None else pseudonym_of[rows])


def _pseudonyms(release: Release, rows: Integers) -> Integers | None:
    """Draw a number for each person, unrelated to everything else."""
    if release.people is None or not release.schema.pseudonym:
        return None
    people, person_of = np.unique(release.people.person_of[rows], return_inverse=True)
    return secret_order(len(people))[person_of] + 1


def released(
    table: Table,
    schema: Schema,
    cells: Mapping[str, Cells],
    rows: Integers | None = None,
    weights: Integers | None = None,
    notes: tuple[str, ...] = (),
    *,
    release_type: ReleaseType = "people",
    sampled: bool = False,
) -> Release:
    """Make a release from the cells of the attributes that a sanitizer changed; the others stay exact.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    cells
        The changed attributes, one cell for each released row.
    rows
        The original row of each released row; all rows by default.
    weights
        The records of each released row; those of the original rows by default.
    release_type, sampled
        What the rows stand for, and whether they were drawn from all; see `Release`.
    """
    source = sealed(np.arange(table.n_rows)) if rows is None else rows
    every = {name: cells.get(name) or exact_cells(table[name], source) for name in schema.released}
    return Release(
        schema=schema,
        cells=every,
        weights=table.weights[source] if weights is None else weights,
        n_original=table.n_records,
        original=table,
        rows=source,
        notes=notes,
        type=release_type,
        sampled=sampled,
    )


def made_up(table: Table, schema: Schema, cells: Mapping[str, Cells], notes: tuple[str, ...] = ()) -> Release:
    """Make a release of records that stand for nobody from their cells, those of equal records put together.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    cells
        For each released attribute one cell for each record.
    notes
        What a reader should know.
    """
    columns = [cells[name] for name in schema.released]
    n_records = len(columns[0].codes)
    row_of, n_rows = number_rows([c.codes for c in columns], [len(c.labels) for c in columns], n_records)
    first = first_row_of_group(row_of, n_rows)
    return Release(
        schema=schema,
        cells={name: cells[name].take(first) for name in schema.released},
        weights=sum_by_group(row_of, n_rows, np.ones(n_records, dtype=np.int64)),
        n_original=table.n_records,
        original=table,
        notes=notes,
        type="synthetic",
    )


def with_recipe(release: Release, recipe: Recipe) -> Release:
    """Say how a release was made; what is known of its classes and groups stays known."""
    made = replace(release, recipe=recipe)
    for name in ("classes", "groups", "people"):
        if name in release.__dict__:
            made.__dict__[name] = release.__dict__[name]
    return made


def without_rows(release: Release, drop: Booleans) -> Release:
    """Suppress rows: they leave the release entirely."""
    keep = np.flatnonzero(~drop)
    return replace(
        release,
        cells={name: cells.take(keep) for name, cells in release.cells.items()},
        weights=sealed(release.weights[keep]),
        rows=None if release.rows is None else sealed(release.rows[keep]),
        group_of=None if release.group_of is None else sealed(release.group_of[keep]),
    )


def failing_rows(release: Release, model: PrivacyModel) -> Booleans:
    """Return for each released row whether the model fails in its class or group."""
    fails = np.zeros(release.n_rows, dtype=np.bool_)
    for part in model.parts:
        classes = release.partition(part)
        fails |= ~part.keeps_limit(classes)[classes.class_of]
    return fails


def holds(release: Release, model: PrivacyModel) -> bool:
    """Return whether the model holds in every class of the release."""
    return all(bool(part.keeps_limit(release.partition(part)).all()) for part in model.parts)
