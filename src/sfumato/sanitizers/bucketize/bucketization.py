"""Bucketization and Anatomy: exact quasi-identifiers, with sensitive values published per group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.anatomy import diverse_groups, separate_people
from sfumato.kernels.row_groups import first_row_of_group, number_rows, rows_by_group, sum_by_group
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.models.diversity import ProbabilisticDiversity
from sfumato.registry.declarations import AtLeast, AtMost, AttributeName
from sfumato.registry.methods import check_bounds, name_of, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.release import Form
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers.base import MOST_RECORDS
from sfumato.sanitizers.generalize.mondrian import Variant, partition


@register
@dataclass(frozen=True)
class Bucketize:
    """Permute the sensitive values within Mondrian's parts; quasi-identifiers stay exact.

    People can be recognised in the release, but not which of their group's sensitive values is theirs. So
    the model must guard against attribute disclosure: k-anonymity cannot hold, and a group's size is not
    a k.

    Parameters
    ----------
    model
        What must hold in every group.
    variant
        Mondrian's variant, ``strict`` or ``relaxed``.
    form
        ``one-table`` publishes each record with a permuted sensitive value and the number of its
        group; ``two-tables`` publishes the quasi-identifiers with the group, and the counts of the
        sensitive values of each group.
    free
        Categorical attributes with a hierarchy that may be cut anywhere in their order.
    smallest_group
        The smallest number of people in a group. It is not a k: people can be recognised in the release.

    References
    ----------
    X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", 2006; N. Li, T. Li, "On the
    tradeoff between privacy and utility in data publishing", 2009, section 5.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import ProbabilisticDiversity
    >>> release = sanitize(*datasets.hospital(), Bucketize(ProbabilisticDiversity(2)))
    >>> release.groups.n_classes < release.classes.n_classes
    True
    """

    model: PrivacyModel = ProbabilisticDiversity(3.0)
    variant: Variant = "strict"
    form: Form = "one-table"
    free: tuple[AttributeName, ...] = ()
    smallest_group: Annotated[int, AtLeast(1), AtMost(MOST_RECORDS)] = 1

    plain: ClassVar[str] = "exact values, sensitive ones exchanged in groups"
    does: ClassVar[str] = (
        "Quasi-identifiers stay exact; sensitive values are exchanged among the records of a bucket."
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the records with their sensitive values permuted within Mondrian's parts."""
        for part in self.model.parts:
            if part.guards == "identity":
                raise ParameterError(
                    f"bucketize leaves quasi-identifiers exact, so {name_of(type(part))} cannot hold; "
                    "ask for models of the sensitive attribute only"
                )
        if self.smallest_group > table.n_people:
            raise Infeasible(
                f"bucketize with smallest-group = {self.smallest_group:,} cannot hold: there are "
                f"{table.n_people:,} {'records' if table.person_of is None else 'people'}",
                table.n_people,
            )
        model = self.model & KAnonymity(self.smallest_group) if self.smallest_group > 1 else self.model
        parts = partition(table, schema, model, self.variant, rng, free=self.free)
        rows = np.repeat(parts.rows, parts.weights)
        return _permuted(table, schema, rows, np.repeat(parts.part_of, parts.weights), self.form, rng)


@register
@dataclass(frozen=True)
class Anatomy:
    """Group the records so that every group has l different sensitive values, each at most once.

    Groups are formed from the sensitive values alone, regardless of the quasi-identifiers, which stay exact.
    Remaining records join groups that lack their value. No group has two records of the same person.

    Parameters
    ----------
    l
        The number of different values in every group.
    form
        ``two-tables`` (QIT and ST, as in the paper) or ``one-table`` with permuted values.

    References
    ----------
    X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", 2006.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> release = sanitize(*datasets.hospital(), Anatomy(3))
    >>> measure(release, ["distinct-diversity"])[0].value
    3.0
    """

    l: Annotated[int, AtLeast(2), AtMost(MOST_RECORDS)] = 3  # noqa: E741 - the paper's letter
    form: Form = "two-tables"

    plain: ClassVar[str] = "exact values, sensitive ones listed by group"
    does: ClassVar[str] = (
        "Quasi-identifiers stay exact; sensitive values are published in a second table, per group."
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def model(self) -> PrivacyModel:
        """What the grouping guarantees."""
        return ProbabilisticDiversity(float(self.l))

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the records in groups of l different sensitive values."""
        names = schema.require("sensitive", "anatomy")
        if len(names) > 1:
            raise ParameterError("anatomy groups by one sensitive attribute; give the others another role")
        column = table[names[0]]
        rows = rng.permutation(np.repeat(np.arange(table.n_rows), table.weights))
        counts = np.bincount(column.codes[rows], minlength=len(column.domain))
        possible = table.n_records // int(counts.max())
        if possible < self.l:
            raise Infeasible(
                f"anatomy with l = {self.l} cannot hold: the commonest value has {int(counts.max()):,} of "
                f"{table.n_records:,} records, so the largest possible l is {possible}",
                possible,
            )
        _, numbered = diverse_groups(counts, self.l, table.n_records)
        by_value, _ = rows_by_group(column.codes[rows].astype(np.int64), len(column.domain))
        group_of = np.empty(len(rows), dtype=np.int64)
        group_of[by_value] = numbered
        if table.person_of is not None:
            # records with the same value are swapped until nobody is twice in a group
            people, values = table.person_of[rows], column.codes[rows].astype(np.int64)
            n_together = separate_people(people, values, group_of, int(people.max()) + 1)
            if n_together:
                raise Infeasible(
                    f"anatomy with l = {self.l} cannot hold: {n_together:,} records found no group without "
                    "another record of the same person; ask for a smaller l, or use bucketize"
                )
        return _permuted(table, schema, rows, group_of, self.form, rng)


def _permuted(
    table: Table, schema: Schema, rows: Integers, group_of: Integers, form: Form, rng: np.random.Generator
) -> LinkedRelease:
    """Release records (one row number each) with sensitive values permuted within their groups.

    Several sensitive values of a person move together.
    """
    shuffled = rng.permutation(len(rows))
    # two lists of all records, group by group: one as they are, one in random order within the group
    in_order = np.argsort(group_of, kind="stable")
    at_random = shuffled[np.argsort(group_of[shuffled], kind="stable")]
    giver = np.empty(len(rows), dtype=np.int64)
    giver[in_order] = rows[at_random]
    # groups are numbered at random, because their order follows from the values
    group_of = rng.permutation(int(group_of.max()) + 1)[group_of]
    # records that are written alike become one row
    sensitive = [table[name] for name in schema.sensitive]
    columns = [rows, group_of, *(column.codes[giver] for column in sensitive)]
    cardinalities = [table.n_rows, int(group_of.max()) + 1, *(len(column.domain) for column in sensitive)]
    number, n_rows = number_rows(columns, cardinalities, len(rows))
    first = first_row_of_group(number, n_rows)
    weights = sum_by_group(number, n_rows, np.ones(len(rows), dtype=np.int64))
    cells: dict[str, Cells] = {name: exact_cells(table[name], giver[first]) for name in schema.sensitive}
    release = released(table, schema, cells, rows[first], weights)
    return replace(release, group_of=group_of[first], form=form)
