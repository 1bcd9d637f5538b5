"""Hash a release so that two recipes that make the same release are recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Integers
from sfumato.workflow.store.provenance import source_of

_ROWS_PER_CHUNK = 1 << 20
"""So many rows are hashed together."""


def fingerprint_of(release: Release) -> str:
    """Return a hash of what is released, and from which original rows, in any order of rows.

    Releases of one table that have it in common are the same to every reader and to every measure. It says
    as much as the release itself, so that it is keyed before it is kept, and never published.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> table, schema = datasets.hospital()
    >>> first, second, third = (sanitize(table, schema, Mondrian(KAnonymity(k))) for k in (4, 5, 2))
    >>> fingerprint_of(first) == fingerprint_of(second), fingerprint_of(first) == fingerprint_of(third)
    (True, False)
    """
    origin = release.origin if isinstance(release, LinkedRelease) else None
    source = "" if origin is None else source_of(origin.table, release.schema)
    rows = None if origin is None else origin.linked_rows
    hashed = hashlib.sha256(f"{source} {release.form}".encode())
    columns = [] if rows is None else [_Column(rows)]
    for name in sorted(release.cells):
        written, ranks = _rank_values(release.cells[name])
        hashed.update(f"{name}\\0{written}".encode())
        columns.append(ranks)
    columns.append(_Column(release.weights))
    order = _order(rows, columns)
    for column in columns:
        for part in _row_chunks(order):
            hashed.update(column.of(part).astype(np.int64).tobytes())
    if release.group_of is not None:
        hashed.update(_number_groups(release.group_of[order]).tobytes())
    return hashed.hexdigest()


@dataclass(frozen=True)
class _Column:
    """A number for each row: its own index, or an entry of another array."""

    codes: Integers
    number_of: Integers | None = None

    def of(self, rows: Integers | slice) -> Integers:
        own = self.codes[rows]
        return own if self.number_of is None else self.number_of[own]


def _order(rows: Integers | None, columns: Sequence[_Column]) -> Integers | slice:
    """Return the rows in the order of their numbers; as they are, if they follow the original's order.

    Nothing is then sorted, and nothing as long as the rows is made.
    """
    if rows is not None and bool((rows[1:] > rows[:-1]).all()):
        return slice(0, len(rows))
    return np.lexsort([column.of(slice(None)) for column in reversed(columns)])


def _row_chunks(order: Integers | slice) -> Iterator[Integers | slice]:
    """Yield rows in chunks."""
    n_rows = order.stop if isinstance(order, slice) else len(order)
    for first in range(0, n_rows, _ROWS_PER_CHUNK):
        part = slice(first, min(first + _ROWS_PER_CHUNK, n_rows))
        yield part if isinstance(order, slice) else order[part]


def _rank_values(cells: Cells) -> tuple[str, _Column]:
    """Return the released values in a canonical order, and the rank of each row's value."""
    places = sorted(cells.occurring.tolist(), key=lambda code: str(cells.labels[code]))
    rank = np.zeros(len(cells.labels), dtype=np.int64)
    rank[places] = np.arange(len(places))
    written = repr([(cells.labels[code], *_members(cells, code)) for code in places])
    return written, _Column(cells.codes, rank)


def _members(cells: Cells, code: int) -> tuple[int, str]:
    if cells.sets is None:
        return 0, ""
    return int(cells.sets.sizes[code]), hashlib.sha256(cells.sets.of(code).tobytes()).hexdigest()


def _number_groups(group_of: Integers) -> Integers:
    """Number groups in order of first appearance."""
    _, first, number = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].astype(np.int64)
