"""How far a released or predicted value of a record is from the truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, Value
from sfumato.data.table import Column
from sfumato.kernels.row_groups import number_rows, value_counts
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers


@dataclass(frozen=True, eq=False)
class Told:
    """Statements about one attribute of each record: a value, a set of values or a noisy number.

    Parameters
    ----------
    column
        What is told as one value each: the value itself, the middle of a set of numbers, the label of
        a set of categories.
    distance
        How far it lies from the truth. A noisy number: the difference. A set: its number of values, those
        of the hierarchy that do not occur included, less one when it holds the truth, else infinite; a
        value is a set of one.
    """

    column: Column = field(repr=False)
    distance: Floats = field(repr=False)

    def take(self, entries: Integers) -> Told:
        """Return the statements about these entries."""
        return Told(self.column.take(entries), self.distance[entries])


def true_column(release: Release, name: str) -> Column:
    """Return the original value of each released row."""
    origin = origin_of(release)
    return origin.table[name].take(origin.rows)


def is_noisy(release: Release, name: str) -> bool:
    """Return whether an attribute is released with noise; otherwise its released values are sets."""
    cells = release.cells[name]
    if cells.sets is None and not (cells.domain and release.schema.kind(name).is_number):
        raise NotApplicable(f"what the released values of {name!r} stand for is not known")
    return cells.sets is None


def released_as(release: Release, name: str) -> Told:
    """Return the release's statement about an attribute of each row.

    In a release with groups, the sensitive value of a record may be any value of its group.
    """
    truth, cells = true_column(release, name), release.cells[name]
    if is_noisy(release, name):
        noisy = Column(cells.codes, cells.domain, NUMERIC)
        return Told(noisy, _difference(_numbers(noisy), _numbers(truth)))
    if release.group_of is not None and name in release.schema.sensitive:
        return Told(released_column(cells, truth.kind), _group_distance(release, name))
    return told_sets(cells, cells.codes, truth)


def told_sets(cells: Cells, codes: Codes, truth: Column) -> Told:
    """Return released values, given as codes of these cells, with their distance from the truth."""
    assert cells.sets is not None
    sizes = cells.sets.sizes[codes] - 1.0
    distance = np.where(cells.sets.contain(codes, truth.codes), sizes, np.inf)
    return Told(replace(released_column(cells, truth.kind), codes=codes), distance)


def told_values(predicted: Codes, truth: Column) -> Told:
    """Return predicted values, as codes of the truth's domain, if the release has sets."""
    column = Column(predicted, truth.domain, truth.kind)
    return Told(column, np.where(predicted == truth.codes, 0.0, np.inf))


def told_numbers(predicted: Floats, truth: Column) -> Told:
    """Return predicted numbers if the release is noisy; whole numbers are rounded."""
    rounded = np.rint(predicted) if truth.is_whole else predicted
    values, codes = np.unique(rounded, return_inverse=True)
    column = Column(codes, tuple(float(value) for value in values), NUMERIC)
    return Told(column, _difference(rounded, _numbers(truth)))


def nearer(predicted: Floats, released: Floats, c: float) -> Booleans:
    """Return which predictions are c% nearer to the truth than the release.

    No prediction is nearer than an exactly released value, whatever c.

    Parameters
    ----------
    predicted, released
        The distances from the truth.
    c
        By how many per cent it must be nearer: 0 is any bit nearer, 100 the true value.

    Examples
    --------
    >>> import numpy as np
    >>> nearer(np.array([0.0, 2.0, 4.0, 0.0]), np.array([4.0, 4.0, 4.0, 0.0]), 50)
    array([ True,  True, False, False])
    """
    if c == 0:
        return predicted < released
    # at c = 100, 0 times an infinite distance would not be a number
    limit = 0.0 if c == 100 else (100 - c) / 100 * released
    return np.isfinite(predicted) & (predicted <= limit) & (released > 0)


def closeness(predicted: Column, truth: Column, hierarchy: Hierarchy) -> Floats:
    """Return 1 for the true value, decreasing to 0 for the farthest one.

    The distance of values on a line is their difference, that of categories the size of the lowest node above
    both.
    """
    values = truth.numbers
    if values is not None:
        known = values[~np.isnan(values)]
        width = float(known.max() - known.min()) if len(known) else 0.0
        far = _difference(_numbers(predicted), _numbers(truth))
        return np.maximum(1 - far / width, 0.0) if width > 0 else (far == 0).astype(np.float64)
    far = np.empty(len(truth.codes))
    for level in range(hierarchy.height, -1, -1):
        nodes = hierarchy.node_of[level]
        together = nodes[predicted.codes] == nodes[truth.codes]
        far[together] = hierarchy.sizes[level][nodes[truth.codes[together]]] - 1.0
    return 1 - far / max(hierarchy.n_leaves - 1, 1)


def released_column(cells: Cells, kind: Kind) -> Column:
    """Return each released row's set as one value: the middle of numbers, the label of categories."""
    if not kind.is_number or cells.sets is None:
        return Column(cells.codes, cells.labels, CATEGORICAL)
    numbers = [np.nan if value is None else float(value) for value in cells.domain]
    middles: list[Value] = []
    for first, end in zip(cells.sets.starts[:-1], cells.sets.starts[1:], strict=True):
        known = [numbers[code] for code in cells.sets.members[first:end] if not np.isnan(numbers[code])]
        middles.append((min(known) + max(known)) / 2 if known else None)
    return Column(cells.codes, tuple(middles), NUMERIC)


def _group_distance(release: Release, name: str) -> Floats:
    """Return for each row the number of values in its group, less one."""
    assert release.group_of is not None
    cells = release.cells[name]
    group, n_groups = number_rows([release.group_of], [int(release.group_of.max()) + 1], release.n_rows)
    starts, _, _ = value_counts(group, n_groups, cells.codes, len(cells.labels), release.weights)
    return (np.diff(starts) - 1.0)[group]


def _numbers(column: Column) -> Floats:
    assert column.numbers is not None
    return column.numbers[column.codes]


def _difference(one: Floats, other: Floats) -> Floats:
    """Return the absolute difference; a missing value is infinitely far from all but a missing one."""
    far = np.abs(one - other)
    return np.where(np.isnan(far), np.where(np.isnan(one) & np.isnan(other), 0.0, np.inf), far)
