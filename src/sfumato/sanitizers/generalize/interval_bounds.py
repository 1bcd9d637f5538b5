"""End points of released intervals and sets that do not reveal the extreme records of a class.

The smallest interval around the records of a class ends at two of them, and an adversary who knows the method
knows that. On a grid, an interval ends at round numbers instead, and a set ends at positions counted off
among the categories of a branch. Both depend only on the domain, never on the records of the class.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Literal

import numpy as np

from sfumato.data.hierarchy import Hierarchy, Label, interval_label, range_label
from sfumato.data.ordered_ranges import OR_MISSING
from sfumato.data.table import Column, text
from sfumato.results.released_column import Cells, RangeSets, interval_cover, merged_cells, range_cells
from sfumato.runtime.arrays import Integers

Borders = Literal["tight", "grid"]
"""Whether what is released ends with the extreme records of a class, or at round places around them."""

# An interval has at most so many steps. With one, two neighbours on both sides of a border would need all
# numbers. Two steps are never more than the next step. With four the general loss is about half as much above
# that of tight borders, and attackers gain hardly more; with five and ten they gain: `benchmarks/borders.py`.
_FEW_STEPS, _MOST_STEPS = 2, 4
# So many different values of the column lie in the first and in the last of more than two steps. With fewer,
# someone who knows these values could name that of an extreme record.
_FEWEST_VALUES = 3


def rounded(
    first: Integers, last: Integers, steps: Iterable[int], most: int = _FEW_STEPS
) -> tuple[Integers, Integers, Integers]:
    """Return the interval of a few steps around each range: its begin, its end (exclusive) and the step.

    The step is the smallest for which this is possible, and the interval begins at a multiple of it. A single
    number stays as it is. Larger ranges never get smaller intervals.

    Parameters
    ----------
    first, last
        The ends of ranges of whole numbers.
    steps
        Ascending, each at least twice the one before, without end.
    most
        How many steps an interval may have. Of steps of 1 it never has more than two: it would be tight.

    Examples
    --------
    >>> ends = rounded(np.array([21, 21, 38, 7]), np.array([21, 23, 41, 13]), round_steps())
    >>> [end.tolist() for end in ends]
    [[21, 20, 35, 5], [22, 25, 45, 15], [1, 5, 5, 5]]
    """
    start, end, step_of = first.copy(), last + 1, np.ones_like(first)
    open_ranges = np.flatnonzero(last > first)
    for step in steps:
        if not len(open_ranges):
            return start, end, step_of
        low, high = first[open_ranges] // step, last[open_ranges] // step
        fits = high - low < (most if step > 1 else _FEW_STEPS)
        fitting = open_ranges[fits]
        start[fitting], end[fitting], step_of[fitting] = low[fits] * step, (high[fits] + 1) * step, step
        open_ranges = open_ranges[~fits]
    return start, end, step_of


def _rounded_numbers(first: Integers, last: Integers, values: Integers) -> tuple[Integers, Integers]:
    """Return a round interval around each range: narrow where enough values lie in its first and last step.

    Parameters
    ----------
    values
        The different numbers of the column, ascending.
    """
    start, end, _ = rounded(first, last, round_steps())
    narrow_start, narrow_end, step = rounded(first, last, round_steps(), _MOST_STEPS)
    n_first, n_last = (
        np.searchsorted(values, begin + step) - np.searchsorted(values, begin)
        for begin in (narrow_start, narrow_end - step)
    )
    is_narrow = (np.minimum(n_first, n_last) >= _FEWEST_VALUES) & (narrow_end - narrow_start < end - start)
    return np.where(is_narrow, narrow_start, start), np.where(is_narrow, narrow_end, end)


def round_steps() -> Iterator[int]:
    """Yield the steps of numbers: 1, 5, 10, 20, 50, 100, ….

    There is no step of 2 ones: an interval of 5 that does not fit two steps of 2 would have to end at one
    certain number.
    """
    yield 1
    for power in itertools.count():
        yield from (5 * 10**power, 10 * 10**power, 20 * 10**power)


def doubled_steps() -> Iterator[int]:
    """Yield the steps along categories: 1, 2, 4, 8, …."""
    return (2**power for power in itertools.count())


def bordered_cells(
    column: Column,
    hierarchy: Hierarchy,
    low: Integers,
    high: Integers,
    borders: Borders,
    *,
    free: bool = False,
) -> Cells:
    """Release a cover of each range of domain codes, from ``low`` to ``high``, one cell for each.

    Parameters
    ----------
    borders
        ``tight`` borders give the smallest cover. On a ``grid``, numbers and others with whole places are
        covered by a round interval, categories by a set of one or two round blocks of siblings.
    free
        Whether categories are covered along their order and not along the hierarchy.
    """
    # without any number, a missing value is all that a cover can hold, and no border could be a round one
    if borders == "tight" or (column.kind.can_round and not hierarchy.leaf_numbers):
        return range_cells(column, hierarchy, low, high, free=free)
    if column.kind.can_round:
        return _round_cells(column, hierarchy, low, high)
    along_order = free or column.kind.is_ordered
    return range_cells(column, hierarchy, *grid_ranges(hierarchy, low, high, free=along_order), free=free)


def bordered_leaves(
    column: Column, hierarchy: Hierarchy, low: Integers, high: Integers, borders: Borders
) -> Integers:
    """Return how many leaves the cover of each range of codes has."""
    cells = bordered_cells(column, hierarchy, low, high, borders)
    assert cells.sets is not None
    return cells.sets.sizes[cells.codes]


def grid_ranges(
    hierarchy: Hierarchy, low: Integers, high: Integers, *, free: bool = False
) -> tuple[Integers, Integers]:
    """Widen each range of categories to one or two round blocks among the children of one node.

    Blocks are counted off from the first child. If they reach all children, the result is the node.
    """
    if free:
        start, end, _ = rounded(low.astype(np.int64), high.astype(np.int64), doubled_steps())
        return start, np.minimum(end, len(hierarchy.values)) - 1
    first, last = low.astype(np.int64), high.astype(np.int64)
    level = (hierarchy.node_of[:, low] == hierarchy.node_of[:, high]).argmax(axis=0)
    for above in range(1, hierarchy.height + 1):
        on_level = np.flatnonzero(level == above)
        first[on_level], last[on_level] = _among_siblings(hierarchy, above, low[on_level], high[on_level])
    return first, last


def _among_siblings(
    hierarchy: Hierarchy, above: int, low: Integers, high: Integers
) -> tuple[Integers, Integers]:
    """Widen ranges that each lie below one node of a level, in blocks of its children."""
    child, parent = hierarchy.node_of[above - 1], hierarchy.node_of[above]
    begins, ends = (np.searchsorted(parent, parent[low], side) for side in ("left", "right"))
    eldest, youngest = child[begins].astype(np.int64), child[ends - 1]
    start, end, _ = rounded(child[low] - eldest, child[high] - eldest, doubled_steps())
    last = np.minimum(eldest + end - 1, youngest)
    return np.searchsorted(child, eldest + start), np.searchsorted(child, last, "right") - 1


def _round_cells(column: Column, hierarchy: Hierarchy, low: Integers, high: Integers) -> Cells:
    """Cover ranges of numbers by round intervals, which may also hold the missing value."""
    pairs, code_of = np.unique(low.astype(np.int64) << 32 | high, return_inverse=True)
    low, high = pairs >> 32, pairs & 0xFFFFFFFF
    leaves, decimals = _counted(hierarchy.leaf_numbers)
    places = np.array(hierarchy.leaf_places)
    or_missing = np.array([value is None for value in column.domain])[high].astype(np.int64)
    top = np.maximum(high - or_missing, low)
    alone = low == high
    # a missing value by itself is no number: any will do, its cover is not a round one
    low_place, top_place = (np.minimum(places[codes], len(leaves) - 1) for codes in (low, top))
    n_numbers = len(places) - column.has_missing
    start, end = _rounded_numbers(leaves[low_place], leaves[top_place], leaves[places[:n_numbers]])
    first_leaf, end_leaf = np.searchsorted(leaves, start), np.searchsorted(leaves, end)
    first = np.where(alone, low, np.searchsorted(places, first_leaf))
    last = np.where(alone, high, np.searchsorted(places, end_leaf) - 1)
    last = np.where(or_missing > 0, high, np.minimum(last, n_numbers - 1))
    last = np.where(alone, high, last)
    is_full = last - first + 1 == len(places)
    sizes = np.where(is_full, hierarchy.n_leaves, np.where(alone, 1, end_leaf - first_leaf + or_missing))
    labels = tuple(
        _label(column, hierarchy, ends, (begins, ended), decimals)
        for *ends, begins, ended in zip(
            first.tolist(), last.tolist(), start.tolist(), end.tolist(), strict=True
        )
    )
    sets = RangeSets(first, last, sizes, hierarchy.n_leaves)
    return merged_cells(code_of.astype(np.int32), labels, column.domain, sets)


def _label(
    column: Column, hierarchy: Hierarchy, codes: list[int], ends: tuple[int, int], decimals: int
) -> Label:
    """Print a round interval; single values and the full range are printed as elsewhere."""
    first, last = codes
    if last - first + 1 in (1, len(column.domain)):
        return interval_cover(column, hierarchy, first, last)[0]
    if column.domain[last] is None and last - first == 1:
        return f"{text(column.domain[first])}{OR_MISSING}"
    start, end = ends
    if column.kind.at is None:
        label = interval_label(_number(start, decimals), _number(end, decimals))
    else:
        label = range_label(column.kind.at(start), column.kind.at(end - 1)) or ""
    return label if column.domain[last] is not None else label + OR_MISSING


def _counted(numbers: tuple[int | float, ...]) -> tuple[Integers, int]:
    """Return numbers in units of their smallest decimal place, and its exponent: 2.5 and 3 are 25 and 30."""
    exact = [Decimal(repr(value)) for value in numbers]
    decimals = max((-int(number.normalize().as_tuple().exponent) for number in exact), default=0)
    counts = [int(number.scaleb(max(decimals, 0))) for number in exact]
    fits = max(map(abs, counts), default=0) < 2**60
    return np.array(counts, dtype=np.int64 if fits else object), max(decimals, 0)


def _number(count: int, decimals: int) -> int | float:
    return count if decimals == 0 else float(Decimal(count).scaleb(-decimals))
