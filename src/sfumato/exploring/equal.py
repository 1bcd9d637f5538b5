"""Equal: how two recipes that make the same release are recognised."""

from __future__ import annotations

import hashlib

import numpy as np

from sfumato.arrays import Integers
from sfumato.cells import Cells
from sfumato.release import Release
from sfumato.store.provenance import source_of


def fingerprint_of(release: Release) -> str:
    """Return a hash of what is released, and from which original rows, in whatever order the rows stand.

    Releases of one table that have it in common are the same to every reader and to every measure. It says
    as much as the release itself, so that it is keyed before it is kept, and never published.

    Examples
    --------
    >>> from sfumato import KAnonymity, Mondrian, datasets, sanitize
    >>> table, schema = datasets.hospital()
    >>> first, second, third = (sanitize(table, schema, Mondrian(KAnonymity(k))) for k in (4, 5, 2))
    >>> fingerprint_of(first) == fingerprint_of(second), fingerprint_of(first) == fingerprint_of(third)
    (True, False)
    """
    source = "" if release.original is None else source_of(release.original, release.schema)
    hashed = hashlib.sha256(f"{source} {release.form}".encode())
    columns = [] if release.rows is None else [release.rows]
    for name in sorted(release.cells):
        written, ranks = _ranked(release.cells[name])
        hashed.update(f"{name}\\0{written}".encode())
        columns.append(ranks)
    columns.append(release.weights)
    order = np.lexsort(columns[::-1])
    for column in columns:
        hashed.update(column[order].astype(np.int64).tobytes())
    if release.group_of is not None:
        hashed.update(_numbered(release.group_of[order]).tobytes())
    return hashed.hexdigest()


def _ranked(cells: Cells) -> tuple[str, Integers]:
    """Return the released values in an order of their own, and the place of each row's value in it."""
    used = np.unique(cells.codes)
    places = sorted(used.tolist(), key=lambda code: str(cells.labels[code]))
    rank = np.zeros(len(cells.labels), dtype=np.int64)
    rank[places] = np.arange(len(places))
    return repr([(cells.labels[code], *_members(cells, code)) for code in places]), rank[cells.codes]


def _members(cells: Cells, code: int) -> tuple[int, str]:
    if cells.sets is None:
        return 0, ""
    return int(cells.sets.sizes[code]), hashlib.sha256(cells.sets.of(code).tobytes()).hexdigest()


def _numbered(group_of: Integers) -> Integers:
    """Number groups in the order in which they appear."""
    _, first, number = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].astype(np.int64)
