"""The intersection of several releases: what someone who holds all of them can infer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.schema import Attribute
from sfumato.data.table import (
    Column,
    Kind,
    Table,
    Value,
)
from sfumato.models.base import PrivacyModel
from sfumato.results.extended_hierarchy import placed
from sfumato.results.release import Release, failing_rows, without_rows
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.arrays import Booleans, Codes, Integers
from sfumato.runtime.numerals import (
    number,
)


def together(releases: Sequence[Release], people: Sequence[Integers | None] = ()) -> Release:
    """Put releases of the same attributes together: classes with equal labels are one class.

    What an adversary knew before is the distribution of all their records.

    Parameters
    ----------
    releases
        The newest first; its schema counts.
    people
        For each release whose each of its records is, numbered alike, where that is known; then every record
        is a row of its own. People of a release for which it is not known count as others.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> (together([release, release]).classes.sizes == 2 * release.classes.sizes).all()
    np.True_
    """
    newest = releases[0]
    numbers = [*people, *[None] * (len(releases) - len(people))]
    one_by_one = _one_by_one(releases, numbers)
    taken = [_rows(each, one_by_one=one_by_one) for each in releases]
    weights = np.concatenate([counts for _, counts in taken])
    names = [name for name in newest.schema.released if all(name in each.cells for each in releases)]
    cells, attributes = {}, {}
    for name in names:
        codes, labels = _joined(
            [each.cells[name].take(rows) for each, (rows, _) in zip(releases, taken, strict=True)]
        )
        if name in newest.schema.sensitive and ROOT not in labels:
            attributes[name], cells[name] = _exact(newest, name, codes, labels)
        else:
            cells[name] = Cells(codes, labels)
    schema = replace(
        newest.schema, attributes=tuple(attributes.get(a.name, a) for a in newest.schema.attributes)
    )
    columns = {name: Column(cells[name].codes, cells[name].domain or cells[name].labels) for name in cells}
    return Release(
        schema=schema,
        cells=cells,
        weights=weights,
        n_original=int(weights.sum()),
        original=Table(columns, weights, _people(releases, numbers, taken)),
        rows=np.arange(len(weights)),
    )


def _joined(cells: Sequence[Cells]) -> tuple[Codes, tuple[Label, ...]]:
    """Number the labels of several releases as one."""
    place: dict[Label, int] = {}
    codes = [
        np.array([place.setdefault(label, len(place)) for label in each.labels], dtype=np.int32)[each.codes]
        for each in cells
    ]
    return np.concatenate(codes), tuple(place)


def _exact(newest: Release, name: str, codes: Codes, labels: tuple[Label, ...]) -> tuple[Attribute, Cells]:
    """Return a sensitive attribute with the hierarchy over all its values, for models that need distances."""
    described = (newest.schema.given or newest.schema)[name]
    kind: Kind = newest.schema[name].kind or "categorical"
    seen = newest.schema.hierarchy(name).values
    values: list[Value] = [
        number(label) if kind == "numeric" and label is not None else label for label in labels
    ]
    hierarchy = placed(described, kind, seen, values).hierarchy
    used = hierarchy.build(tuple(sorted_as(hierarchy.values, values)), kind)
    place = {label: code for code, label in enumerate(used.labels[0])}
    own = np.array([place[label] for label in labels], dtype=np.int32)
    n_values = len(used.values)
    exact = ValueSets(
        np.arange(n_values + 1), np.arange(n_values), np.ones(n_values, dtype=np.int64), n_values
    )
    cells = Cells(own[codes], used.labels[0], used.values, exact)
    return replace(newest.schema[name], hierarchy=used), cells


def sorted_as(order: Sequence[Value], values: Sequence[Value]) -> list[Value]:
    """Return values in the order in which they stand in another list."""
    wanted = set(values)
    return [value for value in order if value in wanted]


def _one_by_one(releases: Sequence[Release], numbers: Sequence[Integers | None]) -> bool:
    """Return whether equal records must be told apart: those of different people, where some are known."""
    known = [each.people is not None for each in releases]
    return any(each is not None for each in numbers) or any(known) != all(known)


def _rows(release: Release, *, one_by_one: bool) -> tuple[Integers, Integers]:
    """Return the rows that are put together, and how many records each stands for."""
    rows = np.arange(release.n_rows)
    if not one_by_one:
        return rows, release.weights
    return np.repeat(rows, release.weights), np.ones(release.n_records, dtype=np.int64)


def _people(
    releases: Sequence[Release],
    numbers: Sequence[Integers | None],
    taken: Sequence[tuple[Integers, Integers]],
) -> Integers | None:
    """Return whose each row is; people of a release that nobody numbered count as different from all."""
    if all(each.people is None for each in releases) and all(each is None for each in numbers):
        return None
    begun = max((int(each.max(initial=-1)) + 1 for each in numbers if each is not None), default=0)
    found = []
    for release, own, (rows, _) in zip(releases, numbers, taken, strict=True):
        if own is not None:
            found.append(own)
            continue
        others = np.arange(len(rows)) if release.people is None else release.people.person_of[rows]
        found.append(others + begun)
        begun += int(others.max(initial=-1)) + 1
    return np.unique(np.concatenate(found), return_inverse=True)[1]


def failing(
    release: Release,
    earlier: Sequence[Release],
    model: PrivacyModel | None,
    people: Sequence[Integers | None] = (),
) -> Booleans:
    """Return which rows must be left out, so that a model holds alone and together with earlier releases.

    Rows are left out until it does in every class that still has one; classes of the earlier releases alone
    cannot be helped any more.

    Parameters
    ----------
    release
        The new one.
    earlier
        What was published before.
    model
        What must hold.
    people
        Whose each record of the new one and of each earlier one is, numbered alike, where that is known.
    """
    drop = np.zeros(release.n_rows, dtype=np.bool_)
    while model is not None and not drop.all():
        left = np.flatnonzero(~drop)
        rest = without_rows(release, drop)
        fails = failing_rows(rest, model)
        if earlier:
            stay = np.repeat(~drop, release.weights)
            numbers = [None if own is None else own[stay] for own in people[:1]] + [*people[1:]]
            every = [rest, *earlier]
            rows, _ = _rows(rest, one_by_one=_one_by_one(every, numbers))
            first = np.searchsorted(rows, np.arange(rest.n_rows))
            fails |= failing_rows(together(every, numbers), model)[first]
        if not fails.any():
            break
        drop[left[fails]] = True
    return drop
