"""A recoding: how a release mapped values, kept for later records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.kinds import Value
from sfumato.data.schema import Schema
from sfumato.data.table import Records, Table, text
from sfumato.kernels.row_groups import first_row_of_group
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import Recodes
from sfumato.registry.recipe import Recipe
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Floats, Integers, sealed
from sfumato.runtime.errors import UserError


@dataclass(frozen=True, eq=False)
class ReleasedValues:
    """The released values of one attribute.

    Parameters
    ----------
    labels
        How they are written, each once.
    losses
        How much each loses.
    seen
        The original values that they were made of.
    """

    labels: tuple[Label, ...] = field(repr=False)
    losses: Floats = field(repr=False)
    seen: tuple[Value, ...] = field(repr=False)

    @cached_property
    def is_exact(self) -> bool:
        """Whether every value is released as it is."""
        return self.labels == tuple(text(value) for value in self.seen)


@dataclass(frozen=True, eq=False, repr=False)
class Recoding:
    """What a release did to values: new records get the same released values as its own.

    Made by `freeze`. A released value stands for a set of original ones; a new record is given one that
    contains its own value, or is withheld.

    Parameters
    ----------
    release
        What it was taken from.
    schema
        What the attributes are; its hierarchies place values that the release has never seen.
    recodes
        Whether the released ``values`` depend on the attribute's own value alone, or on the record's class:
        then new records are assigned to ``classes`` that exist.
    values
        The released values of each attribute.
    classes
        For each class the label of each quasi-identifier; the one that loses least comes first, and of equal
        ones the first in the order of letters.
    table
        What the release was made of, as it was given; it tells who is who, where a column does.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> table, schema = datasets.hospital()
    >>> freeze(sanitize(table, schema, Mondrian(KAnonymity(3))))
    <Recoding of mondrian k=3: 4 classes of zip, age, sex>
    """

    release: Release
    schema: Schema
    recodes: Recodes
    values: Mapping[str, ReleasedValues] = field(repr=False)
    classes: Codes = field(repr=False)
    table: Table | None = field(default=None, repr=False)

    @property
    def recipe(self) -> Recipe:
        """How the release was made."""
        assert self.release.recipe is not None
        return self.release.recipe

    @cached_property
    def model(self) -> PrivacyModel | None:
        """What the recipe promises of every class."""
        return getattr(self.recipe.build(), "model", None)

    @property
    def suppression(self) -> float | None:
        """The share of the records that the recipe lets a method leave out, where it names one above 0."""
        return getattr(self.recipe.build(), "suppression", 0.0) or None

    def __repr__(self) -> str:
        names = ", ".join(self.schema.quasi_identifiers)
        what = "values" if self.recodes == "values" else f"{len(self.classes):,} classes"
        return f"<Recoding of {self.recipe}: {what} of {names}>"


def freeze(release: Release, table: Records | None = None) -> Recoding:
    """Keep the recoding of a release, to apply it to records that come later.

    Parameters
    ----------
    release
        One that `sanitize` made, or that `read_release` read from a published folder.
    table
        What it was made of, as it was given to `sanitize`. If a column names people, those who come again
        are then recognised; otherwise it is not needed.

    Returns
    -------
    Recoding
        What `apply` takes.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import FullDomain
    >>> how = FullDomain({"zip": 2, "age": 1, "sex": 1}, KAnonymity(2))
    >>> recoding = freeze(sanitize(*datasets.hospital(), how))
    >>> recoding.recodes, recoding.values["age"].labels
    ('values', ('[20, 30)', '[30, 40)', '[60, 70)'))
    """
    _check_kept(release)
    assert release.recipe is not None
    method = release.recipe.build()
    values = {name: _values(release, name) for name in release.schema.released}
    return Recoding(
        release,
        _described(release.schema),
        getattr(method, "recodes", "classes"),
        values,
        sealed(_classes(release, values)),
        table if table is None or isinstance(table, Table) else Table.from_arrow(table),
    )


def _check_kept(release: Release) -> None:
    """Refuse what is no function of values or classes."""
    if release.recipe is None:
        raise UserError("the release does not say how it was made; keep the recoding of one that does")
    if release.group_of is not None:
        raise UserError(
            f"{release.recipe.sanitizer} exchanges sensitive values within buckets of its own records, and "
            "new records would need new buckets: its recoding cannot be kept; sanitize the new records by "
            "themselves"
        )
    if release.type != "people":
        what = "makes records up" if release.type == "synthetic" else "changes the values of each record"
        raise UserError(
            f"{release.recipe.sanitizer} {what}: there is no recoding to keep; sanitize the new records by "
            "themselves"
        )
    noisy = [name for name, cells in release.cells.items() if cells.sets is None]
    if noisy:
        raise UserError(
            f"column {noisy[0]!r} is released with noise, which is drawn anew for every record: there is no "
            "recoding to keep; sanitize the new records by themselves"
        )


def _described(schema: Schema) -> Schema:
    """Return the schema as it was before it was bound, with the kinds that binding found."""
    given = schema.given
    same = given is not None and [(a.name, a.role) for a in given.attributes] == [
        (a.name, a.role) for a in schema.attributes
    ]
    source = given if given is not None and same else schema
    kinds = {attribute.name: attribute.kind for attribute in schema.attributes}
    attributes = tuple(replace(attribute, kind=kinds[attribute.name]) for attribute in source.attributes)
    return replace(source, attributes=attributes)


def _values(release: Release, name: str) -> ReleasedValues:
    cells = release.cells[name]
    assert cells.sets is not None
    seen = release.origin.table[name].domain if isinstance(release, LinkedRelease) else ()
    labels, losses = _used(cells) if name in release.schema.quasi_identifiers else (cells.labels, None)
    if losses is None:
        losses = cells.sets.losses
    return ReleasedValues(labels, losses * release.schema[name].weight, seen or cells.domain)


def _used(cells: Cells) -> tuple[tuple[Label, ...], Floats]:
    """Return the labels that some record is released with: only these are published."""
    assert cells.sets is not None
    used = np.unique(cells.codes)
    return tuple(cells.labels[code] for code in used), cells.sets.losses[used]


def _classes(release: Release, values: Mapping[str, ReleasedValues]) -> Codes:
    """Return the labels of each class, those that lose least first."""
    names = release.schema.quasi_identifiers
    first = first_row_of_group(release.classes.class_of, release.classes.n_classes)
    columns: list[Integers] = []
    for name in names:
        cells = release.cells[name]
        place = np.full(len(cells.labels), -1, dtype=np.int32)
        place[np.unique(cells.codes)] = np.arange(len(values[name].labels))
        columns.append(place[cells.codes[first]])
    rows = np.stack(columns, axis=1) if columns else np.empty((len(first), 0), dtype=np.int32)
    losses = np.sum([values[n].losses[c] for n, c in zip(names, columns, strict=True)], axis=0)
    ranks = [_ranks(values[name].labels)[codes] for name, codes in zip(names, columns, strict=True)]
    # sums of the same losses in another order differ in their last digit
    return rows[np.lexsort((*ranks[::-1], np.round(losses, 12)))] if columns else rows


def _ranks(labels: tuple[Label, ...]) -> Integers:
    """Return the place of each label in the order of letters, a missing value last."""
    order = sorted(range(len(labels)), key=lambda code: (labels[code] is None, labels[code] or ""))
    ranks = np.empty(len(labels), dtype=np.int64)
    ranks[order] = np.arange(len(labels))
    return ranks


def loses_least(values: ReleasedValues) -> Integers:
    """Return the labels of an attribute in the order in which they are tried."""
    return np.lexsort((_ranks(values.labels), np.round(values.losses, 12)))


def is_withheld(values: ReleasedValues) -> bool:
    """Return whether an attribute is released as ``*`` alone."""
    return values.labels == (ROOT,)
