"""The intersection of several releases: what someone who holds all of them can infer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.kinds import Value
from sfumato.data.schema import Attribute
from sfumato.data.table import Column, Table
from sfumato.models.base import PrivacyModel
from sfumato.results.extended_hierarchy import placed
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.origin import Origin
from sfumato.results.release import Release, failing_rows
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.arrays import Booleans, Codes, Integers


def combine_releases(releases: Sequence[Release], people: Sequence[Integers | None] = ()) -> LinkedRelease:
    """Combine releases of the same attributes into one, in which classes with equal labels are one class.

    The adversary's prior is the distribution of all their records. The original of the combined release is
    the combined release itself.

    Parameters
    ----------
    releases
        The newest first; the result has its schema.
    people
        For each release the person of each record, with equal numbers in all releases, or ``None`` where that
        is unknown. If any are given, every record becomes a row of its own. People of a release without
        numbers count as different from everyone else.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> (combine_releases([release, release]).classes.sizes == 2 * release.classes.sizes).all()
    np.True_
    """
    newest = releases[0]
    numbers = [*people, *[None] * (len(releases) - len(people))]
    by_record = _needs_row_per_record(releases, numbers)
    rows_of = [_rows_and_weights(release, by_record=by_record) for release in releases]
    weights = np.concatenate([counts for _, counts in rows_of])
    names = [name for name in newest.schema.released if all(name in r.cells for r in releases)]
    cells, attributes = {}, {}
    for name in names:
        codes, labels = _renumbered(
            [release.cells[name].take(rows) for release, (rows, _) in zip(releases, rows_of, strict=True)]
        )
        if name in newest.schema.sensitive and ROOT not in labels:
            attributes[name], cells[name] = _exact_cells(newest, name, codes, labels)
        else:
            cells[name] = Cells(codes, labels)
    schema = replace(
        newest.schema, attributes=tuple(attributes.get(a.name, a) for a in newest.schema.attributes)
    )
    columns = {name: Column(cells[name].codes, cells[name].domain or cells[name].labels) for name in cells}
    table = Table(columns, weights, _person_numbers(releases, numbers, rows_of))
    return LinkedRelease(
        schema=schema,
        cells=cells,
        weights=weights,
        n_original=int(weights.sum()),
        origin=Origin(table, np.arange(len(weights))),
    )


def _renumbered(columns: Sequence[Cells]) -> tuple[Codes, tuple[Label, ...]]:
    """Number the labels of several releases alike."""
    place: dict[Label, int] = {}
    codes = [
        np.array([place.setdefault(label, len(place)) for label in cells.labels], dtype=np.int32)[cells.codes]
        for cells in columns
    ]
    return np.concatenate(codes), tuple(place)


def _exact_cells(
    newest: Release, name: str, codes: Codes, labels: tuple[Label, ...]
) -> tuple[Attribute, Cells]:
    """Return a sensitive attribute with the hierarchy over all its values, for models that need distances."""
    described = (newest.schema.given or newest.schema)[name]
    kind = newest.schema.kind(name)
    seen = newest.schema.hierarchy(name).values
    values: list[Value] = [None if label is None else kind.read(label) for label in labels]
    hierarchy = placed(described, kind, seen, values).hierarchy
    wanted = set(values)
    used = hierarchy.build(tuple(value for value in hierarchy.values if value in wanted), kind)
    place = {label: code for code, label in enumerate(used.labels[0])}
    own = np.array([place[label] for label in labels], dtype=np.int32)
    n_values = len(used.values)
    exact = ValueSets(
        np.arange(n_values + 1), np.arange(n_values), np.ones(n_values, dtype=np.int64), n_values
    )
    cells = Cells(own[codes], used.labels[0], used.values, exact)
    return replace(newest.schema[name], hierarchy=used), cells


def _needs_row_per_record(releases: Sequence[Release], numbers: Sequence[Integers | None]) -> bool:
    """Return whether equal records need rows of their own, because they may be those of different people."""
    known = [release.people is not None for release in releases]
    return any(people is not None for people in numbers) or any(known) != all(known)


def _rows_and_weights(release: Release, *, by_record: bool) -> tuple[Integers, Integers]:
    rows = np.arange(release.n_rows)
    if not by_record:
        return rows, release.weights
    return np.repeat(rows, release.weights), np.ones(release.n_records, dtype=np.int64)


def _person_numbers(
    releases: Sequence[Release],
    numbers: Sequence[Integers | None],
    rows_of: Sequence[tuple[Integers, Integers]],
) -> Integers | None:
    """Return the person of each combined row; people without numbers count as different from everyone."""
    if all(release.people is None for release in releases) and all(own is None for own in numbers):
        return None
    next_number = max(
        (int(people.max(initial=-1)) + 1 for people in numbers if people is not None), default=0
    )
    person_of = []
    for release, own, (rows, _) in zip(releases, numbers, rows_of, strict=True):
        if own is not None:
            person_of.append(own)
            continue
        others = np.arange(len(rows)) if release.people is None else release.people.person_of[rows]
        person_of.append(others + next_number)
        next_number += int(others.max(initial=-1)) + 1
    return np.unique(np.concatenate(person_of), return_inverse=True)[1]


def rows_to_suppress(
    release: Release,
    earlier: Sequence[Release],
    model: PrivacyModel | None,
    people: Sequence[Integers | None] = (),
) -> Booleans:
    """Return which rows to suppress so that a model holds alone and together with earlier releases.

    Rows are suppressed until the model holds in every class that still has a row of the new release. Classes
    that only earlier releases have cannot be protected any more.

    Parameters
    ----------
    release
        The new release.
    earlier
        The releases that were published before.
    model
        The model that must hold.
    people
        The person of each record of the new release and of each earlier one, with equal numbers in all, or
        ``None`` where that is unknown.
    """
    drop = np.zeros(release.n_rows, dtype=np.bool_)
    while model is not None and not drop.all():
        remaining = np.flatnonzero(~drop)
        rest = without_rows(release, drop)
        fails = failing_rows(rest, model)
        if earlier:
            stay = np.repeat(~drop, release.weights)
            numbers = [None if own is None else own[stay] for own in people[:1]] + [*people[1:]]
            releases = [rest, *earlier]
            rows, _ = _rows_and_weights(rest, by_record=_needs_row_per_record(releases, numbers))
            first = np.searchsorted(rows, np.arange(rest.n_rows))
            fails |= failing_rows(combine_releases(releases, numbers), model)[first]
        if not fails.any():
            break
        drop[remaining[fails]] = True
    return drop
