"""Match the records of one table in two releases of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Pairs:
    """Where the records of each original row are in both releases.

    Parameters
    ----------
    first, second
        The released row in each release; -1 where the record is left out.
    counts
        The (expected) number of records of each pair.
    expected
        Whether some of them are expectations.
    """

    first: Integers
    second: Integers
    counts: Floats
    expected: bool

    @classmethod
    def of(cls, first: Release, second: Release) -> Pairs | None:
        """Pair the released rows; ``None`` if the original row of a record is unknown.

        Records with equal values are taken to be spread independently over the rows of both releases.
        """
        if not isinstance(first, LinkedRelease) or not isinstance(second, LinkedRelease):
            return None
        if first.origin.linked_rows is None or second.origin.linked_rows is None:
            return None
        table, other = first.origin.table, second.origin.table
        if table is not other and table.fingerprint != other.fingerprint:
            raise ParameterError("the releases are of different tables; compare releases of one table")
        (place_a, weight_a, start_a, n_a), (place_b, weight_b, start_b, n_b) = (
            _entries(first),
            _entries(second),
        )
        n_pairs = n_a * n_b
        row = np.repeat(np.arange(table.n_rows), n_pairs)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
        a = start_a[row] + within // n_b[row]
        b = start_b[row] + within % n_b[row]
        counts = weight_a[a] * (weight_b[b] / table.weights[row])
        return cls(place_a[a], place_b[b], counts, bool(((n_a > 1) & (n_b > 1)).any()))

    @property
    def in_both(self) -> Booleans:
        """Which pairs belong to records that both release."""
        return (self.first >= 0) & (self.second >= 0)

    @property
    def released(self) -> dict[str, float]:
        """The numbers of records that both release, only one of them, or none."""
        a, b = self.first >= 0, self.second >= 0
        kinds = {"both": a & b, "only-first": a & ~b, "only-second": b & ~a, "neither": ~a & ~b}
        return {kind: self.count(those) for kind, those in kinds.items()}

    def count(self, those: Booleans) -> float:
        """Return the number of records of some pairs: a whole number unless it is an expectation."""
        total = float(self.counts[those].sum())
        return total if self.expected else round(total)


def _entries(release: LinkedRelease) -> tuple[Integers, Integers, Integers, Integers]:
    """List for each original row its released rows, and one entry more for its records that are left out.

    Returns released rows and weights in the order of the original rows, and for each original row where
    its entries start and how many there are.
    """
    table = release.origin.table
    left_out = table.weights - release.kept
    gone = np.flatnonzero(left_out)
    rows = np.concatenate([release.origin.rows, gone])
    places = np.concatenate([np.arange(release.n_rows), np.full(len(gone), -1)])
    weights = np.concatenate([release.weights, left_out[gone]])
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=table.n_rows)
    return places[order], weights[order], np.cumsum(counts) - counts, counts
