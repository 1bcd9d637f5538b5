"""Releases: what would be published, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveDomain, contributed, count_classes
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.kinds import CATEGORICAL
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import People
from sfumato.kernels.row_groups import number_rows
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import ReleaseType
from sfumato.registry.display import Picture, as_pandas, listed
from sfumato.registry.recipe import Recipe
from sfumato.results.released_column import Cells
from sfumato.results.written_order import Order, drawn_orders
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields, sealed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Form = Literal["one-table", "two-tables"]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What would be published: the released rows of a table. Suppressed records are not part of it.

    A sanitizer returns a `LinkedRelease`, which adds what only the owner knows.

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
    type
        What its rows stand for: ``people`` one by one, with true values or sets that hold them; people with
        values that were changed (``perturbed``); or nobody (``synthetic``).
    sampled
        Whether the records were drawn at random from all of them, so that a reader counts each for several.
    reported_original
        The number of original records that readers are given, where the true one would say too much: with
        differential privacy a count with noise.
    """

    schema: Schema
    cells: Mapping[str, Cells]
    weights: Integers = field(repr=False)
    n_original: int
    group_of: Integers | None = field(default=None, repr=False)
    form: Form = "one-table"
    recipe: Recipe | None = None
    notes: tuple[str, ...] = ()
    type: ReleaseType = "people"
    sampled: bool = False
    reported_original: int | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, weights=np.int64, cells=dict, group_of=np.int64)

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
        """The number of suppressed records; 0 for synthetic records."""
        return 0 if self.type == "synthetic" else self.n_original - self.n_records

    @property
    def scale(self) -> float:
        """How many original records a reader counts for each released one: more than one for a sample."""
        stands_for_all = self.type == "synthetic" or self.sampled
        return self.n_original / self.n_records if stands_for_all and self.n_records else 1.0

    @property
    def survey_weights(self) -> Floats | None:
        """For each released row, how many of the population its records stand for; ``None`` if unknown."""
        return None

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
        names = [name for name in self.schema.sensitive if name in self.cells]
        sensitive = {name: (self.own_values(name), self._prior(name)) for name in names}
        domains = {name: SensitiveDomain(self.cells[name].labels, self._hierarchy(name)) for name in names}
        return count_classes(class_of, n_classes, self.weights, sensitive, domains, self.people)

    @property
    def people(self) -> People | None:
        """The person of each released row; ``None`` if nobody has several records, or it is not known."""
        return None

    @property
    def n_original_people(self) -> int:
        """The number of people of the original: of records, where nobody is known to have several."""
        return self.n_original

    @cached_property
    def n_people(self) -> int:
        """The number of people with a released record: of records, where nobody is known to have several."""
        return self.n_records if self.people is None else len(np.unique(self.people.person_of))

    def partition(self, model: PrivacyModel) -> EquivalenceClasses:
        """Return the classes or the groups, whichever the model guards."""
        return self.classes if model.guards == "identity" else self.groups

    def own_values(self, name: str) -> Codes:
        """Return for each row the code of the sensitive value of its own person, as far as it is known.

        If values are permuted within groups, a row shows another person's value, and only the original says
        whose.
        """
        return self.cells[name].codes

    def _hierarchy(self, name: str) -> Hierarchy | None:
        """Return the hierarchy over the released values, where they are the original ones."""
        source = self.schema[name].hierarchy
        fits = isinstance(source, Hierarchy) and self.cells[name].labels == source.labels[0]
        return source if fits and isinstance(source, Hierarchy) else None

    def _prior(self, name: str) -> Floats:
        """Return p(T, ·) over the released values, of the released records: a reader knows no others."""
        cells = self.cells[name]
        counts, n_people = contributed(cells.codes, len(cells.labels), self.weights, self.people)
        return counts / n_people

    def information_lost(self, name: str) -> float | None:
        """Return the share of its information that an attribute loses, suppressed records included.

        ``None`` if its released values are not sets of original ones.
        """
        cells = self.cells.get(name)
        if cells is None or cells.sets is None:
            return None
        lost = float(cells.sets.losses[cells.codes] @ self.weights)
        return (lost + self.n_suppressed) / self.n_original

    def to_arrow(
        self,
        *,
        typed: bool = True,
        kinds: bool = True,
        order: Order | None = None,
        encoded: bool = False,
    ) -> pa.Table:
        """Return one Arrow row for each released record, in a new random order each time.

        A release with groups has one more column, the number of the group, and one with pseudonyms another.
        The numbers of groups and people are also random, and so is the assignment of a group's sensitive
        values to its records.

        Parameters
        ----------
        typed
            Return numbers as numbers if a column has only exact values. Otherwise everything is text, as in
            a CSV file.
        kinds
            Return exact values of a further kind as their kind has them. A published file has their texts.
        order
            An order that was drawn before, to write the same records in two formats.
        encoded
            Return every column of an attribute as a dictionary, which has each value once.
        """
        import pyarrow as pa

        drawn = order or next(self.orders(n_at_once=self.n_records))
        columns = {
            name: self.cells[name].to_arrow(
                drawn.givers if name in self.schema.sensitive else drawn.rows,
                typed=typed,
                encoded=encoded,
                kind=self.schema.kind(name) if kinds else CATEGORICAL,
            )
            for name in self.schema.released
        }
        if drawn.groups is not None:
            columns[self.group_column] = pa.array(drawn.groups)
        if drawn.people is not None:
            columns[self.person_column] = pa.array(drawn.people)
        return pa.table(columns)

    def orders(self, n_at_once: int = 1 << 21) -> Iterator[Order]:
        """Draw the order in which the records are written, in parts of about so many; see `drawn_orders`."""
        person_of = self.people.person_of if self.people is not None and self.schema.pseudonym else None
        return drawn_orders(self.weights, self.group_of, person_of, n_at_once)

    @property
    def group_column(self) -> str:
        """The name of the column that holds the group: ``group``, or longer if that name is in use."""
        return self._unused_name("group")

    @property
    def person_column(self) -> str:
        """The name of the column that holds pseudonyms: ``person``, or longer if that name is in use."""
        return self._unused_name("person")

    def _unused_name(self, name: str) -> str:
        while name in self.schema.released:
            name += "_"
        return name

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row of a pandas frame for each released record, in a new random order."""
        return as_pandas(self.to_arrow())

    def plot(self) -> Picture:
        """Draw which share of the records lies in classes of at most each size."""
        from sfumato.workflow.report.charts.class_size_curves import class_sizes_chart

        return Picture(class_sizes_chart(self.classes.sizes))

    def published(self) -> Release:
        """Return what readers get: the labels that occur, and the role and kind of each attribute.

        The original values behind the labels, the hierarchies and the seed are left out. If readers get a
        number of original records that has noise, it replaces the true one.
        """
        attributes = [self.schema[name] for name in self.schema.released]
        return replace(
            self.unlinked(),
            schema=Schema(tuple(Attribute(each.name, each.role, each.kind) for each in attributes)),
            cells={name: self.cells[name].only_labels() for name in self.schema.released},
            n_original=self.n_original if self.reported_original is None else self.reported_original,
            recipe=None if self.recipe is None else replace(self.recipe, seed=None),
        )

    def unlinked(self) -> Release:
        """Return the release without the link to the original."""
        return Release(*self._field_values())

    def __reduce__(self) -> tuple[Any, ...]:
        # copies and pickles have the fields of `Release` alone: no origin, and no figures cached from it
        return Release, self._field_values()

    def _field_values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, each.name) for each in fields(Release))

    def __repr__(self) -> str:
        how = "read from files" if self.recipe is None else str(self.recipe)
        records = f"{self.n_records:,} of {self.n_original:,} records"
        if self.type == "synthetic":
            records = f"{self.n_records:,} synthetic records for {self.n_original:,}"
        return f"<{type(self).__name__} {how}: {records}, {listed(self.schema.released)}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import release_html

        return release_html(self)


AnyRelease = TypeVar("AnyRelease", bound=Release)
"""A release, linked or not; the result is of the same type."""


def with_recipe(release: AnyRelease, recipe: Recipe) -> AnyRelease:
    """Return the release with its recipe, and keep the classes and groups that were already counted."""
    described = replace(release, recipe=recipe)
    for name in ("classes", "groups"):
        if name in release.__dict__:
            described.__dict__[name] = release.__dict__[name]
    return described


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
