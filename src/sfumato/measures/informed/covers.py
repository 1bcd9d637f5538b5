"""Which ranges of original values a method would release as each released value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sfumato.data.table import Column
from sfumato.models.anonymity import KAnonymity
from sfumato.registry import methods
from sfumato.results.linked_release import origin_of
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Integers
from sfumato.sanitizers.generalize.from_clusters import PointSpace

# Of more values than this not every range is tried.
_MOST_VALUES = 512


@dataclass(frozen=True, eq=False)
class CoveredRanges:
    """For each released value the ranges of original values that are released as it.

    Parameters
    ----------
    starts
        The offset of the ranges of each released value. Without ranges, any range inside may be released so.
    low, high
        The first and the last value of each range.
    """

    starts: Integers = field(repr=False)
    low: Codes = field(repr=False)
    high: Codes = field(repr=False)

    @classmethod
    def of(cls, code_of: Integers, low: Codes, high: Codes, n_released: int) -> CoveredRanges:
        """Sort ranges by the released value of each."""
        order = np.argsort(code_of, kind="stable")
        starts = np.searchsorted(code_of[order], np.arange(n_released + 1))
        return cls(starts, low[order], high[order])

    def __getitem__(self, released: int) -> tuple[Codes, Codes]:
        """Return the ranges of one released value."""
        own = slice(*self.starts[released : released + 2])
        return self.low[own], self.high[own]


def is_covering(release: Release) -> bool:
    """Return whether the recipe determines how the values of a class are covered."""
    return release.recipe is not None and "borders" in release.recipe.parameters


def covered_ranges(release: Release) -> Iterator[tuple[str, CoveredRanges]]:
    """Yield for each quasi-identifier which ranges are released as each of its released values.

    Parameters
    ----------
    release
        A release with its original, whose recipe says how covers are made.
    """
    assert release.recipe is not None
    table = origin_of(release).table
    how = release.recipe.parameters
    method = methods.find("sanitizer", release.recipe.sanitizer)
    as_sets = how.get("cells", getattr(method, "cells", None)) == "sets"
    space = PointSpace.of(table, release.schema, KAnonymity(1), sets=as_sets, borders=how["borders"])
    for place, name in enumerate(release.schema.quasi_identifiers):
        column, cells = table[name], release.cells[name]
        if column.kind.is_ordered and how["borders"] == "tight":
            yield name, CoveredRanges.of(np.arange(len(cells.labels)), *ends(cells), len(cells.labels))
        elif len(column.domain) <= _MOST_VALUES and name not in how.get("free", ()):
            yield name, _tried(space, place, column, cells)
        else:
            nothing = np.zeros(0, dtype=np.int32)
            yield name, CoveredRanges.of(nothing, nothing, nothing, len(cells.labels))


def ends(cells: Cells) -> tuple[Codes, Codes]:
    """Return the first and the last original value that each released one stands for."""
    assert cells.sets is not None
    return cells.sets.members[cells.sets.starts[:-1]], cells.sets.members[cells.sets.starts[1:] - 1]


def _tried(space: PointSpace, place: int, column: Column, cells: Cells) -> CoveredRanges:
    """Cover every range of values, and record which ranges give each released value."""
    low, high = np.triu_indices(len(column.domain))
    lows, highs = np.zeros((2, len(low), space.points.shape[1]), dtype=np.int32)
    lows[:, place], highs[:, place] = low, high
    covered = list(space.cells(lows, highs).values())[place]
    code_of = {label: code for code, label in enumerate(cells.labels)}
    known = np.array([code_of.get(label, -1) for label in covered.labels])[covered.codes]
    is_released = known >= 0
    return CoveredRanges.of(known[is_released], low[is_released], high[is_released], len(cells.labels))
