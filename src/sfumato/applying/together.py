"""Together: several releases of the same attributes as one, as whoever has them all sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.applying.placing import placed
from sfumato.arrays import Booleans, Codes, Integers
from sfumato.cells import Cells, ValueSets
from sfumato.hierarchy import ROOT, Label
from sfumato.models.base import PrivacyModel
from sfumato.release import Release, failing_rows, without_rows
from sfumato.schema import Attribute
from sfumato.table import Column, Kind, Table, Value, number


def together(releases: Sequence[Release]) -> Release:
    """Put releases of the same attributes together: classes with equal labels are one class.

    What an adversary knew before is the distribution of all their records.

    Parameters
    ----------
    releases
        The newest first; its schema counts.

    Examples
    --------
    >>> from sfumato import KAnonymity, Mondrian, datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> (together([release, release]).classes.sizes == 2 * release.classes.sizes).all()
    np.True_
    """
    newest = releases[0]
    weights = np.concatenate([each.weights for each in releases])
    names = [name for name in newest.schema.released if all(name in each.cells for each in releases)]
    cells, attributes = {}, {}
    for name in names:
        codes, labels = _joined([each.cells[name] for each in releases])
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
        original=Table(columns, weights, _people(releases)),
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


def _people(releases: Sequence[Release]) -> Integers | None:
    """Return whose each row is: people of different releases count as different, for nothing says more."""
    if all(each.people is None for each in releases):
        return None
    numbers, begun = [], 0
    for each in releases:
        own = np.arange(each.n_rows) if each.people is None else each.people.person_of
        numbers.append(own + begun)
        begun += int(own.max(initial=-1)) + 1
    return np.unique(np.concatenate(numbers), return_inverse=True)[1]


def failing(release: Release, earlier: Sequence[Release], model: PrivacyModel | None) -> Booleans:
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
    """
    drop = np.zeros(release.n_rows, dtype=np.bool_)
    while model is not None and not drop.all():
        left = np.flatnonzero(~drop)
        rest = without_rows(release, drop)
        fails = failing_rows(rest, model)
        if earlier:
            fails |= failing_rows(together([rest, *earlier]), model)[: rest.n_rows]
        if not fails.any():
            break
        drop[left[fails]] = True
    return drop
