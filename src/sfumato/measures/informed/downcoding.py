"""Downcoding attack: place records in a smaller cell than the one released for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.informed.covers import CoveredRanges, covered_ranges, ends, is_covering
from sfumato.measures.informed.informed_reader import RecipeReaderMeasure
from sfumato.registry.declarations import Detail, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers


@register
@dataclass(frozen=True)
class Downcoding(RecipeReaderMeasure):
    """The share of the records that an informed attacker can place in a smaller cell, with certainty.

    A method that releases the smallest cover of each class (an interval, a set or a node) would have released
    a smaller one if that had been enough. So for each released value, the adversary derives which ranges of
    original values are released as it, and where the smallest and the largest value of the class must be:
    with tight borders at the two ends, below a node with two children in one of each. That places two records
    of every class in smaller cells than were released for them. Records of a class look alike, so it does not
    matter which. The value is the share of records placed in this way by the most revealing attribute of each
    class, if the conclusion is true in the original. The detail has the share placed on a single value, the
    share of false conclusions (0 unless the release was made by another recipe), and how much smaller the
    cells become on average.

    All attributes together rule out combinations of values, but only in classes of two, where each record has
    one end or the other of every attribute. In classes of three, two records are enough for all ends, and the
    third can have any combination. The detail has the share of combinations that are ruled out, averaged over
    the records whose cells have several.

    The measure needs a recipe that determines covers (it has ``borders``). Other methods do not release
    smallest covers, and the value is 0.

    References
    ----------
    A. Cohen, "Attacks on deidentification's defenses", 2022: every minimal, hierarchical method is open to
    downcoding. The attack here is the part of it that needs no knowledge of the distribution.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(4)))
    >>> round(measure(release, ["downcoding"])[0].value, 3)
    0.333
    """

    words: ClassVar[Words] = Words(
        "downcoding",
        "The share of the people for whom an informed attacker finds a smaller interval, set or "
        "branch than was released, without any doubt.",
        "0%: what was released is all that can be known. 40%: of 100 people 40 can be placed more exactly.",
        "0% to 100%",
        "share",
        sentence="{} of the people can be placed in a smaller cell than was released for them",
        details={
            "exactly": Detail("people placed on a single value"),
            "false": Detail("conclusions that are false"),
            "smaller": Detail("how much smaller the cells become"),
            "ruled-out": Detail("combinations of values that are ruled out"),
        },
        ends=("nobody is placed in a smaller cell", "everybody is"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the share of the records that can be placed."""
        if origin_of(release).linked_rows is None or release.recipe is None:
            raise NotApplicable("it is not known how the release was made, or which released record is which")
        if not is_covering(release):
            return (self.measurement(0.0, detail=dict.fromkeys(self.words.details, 0.0)),)
        conclusions = [_Placed.of(release, name, ranges) for name, ranges in covered_ranges(release)]
        placed, exact = (
            np.max([getattr(placed_by, fact) for placed_by in conclusions], axis=0)
            for fact in ("n", "n_exact")
        )
        concluded = np.concatenate([placed_by.concludes for placed_by in conclusions])
        holds = np.concatenate([placed_by.holds for placed_by in conclusions])
        smaller = np.max([placed_by.smaller for placed_by in conclusions], axis=0)
        detail = {
            "exactly": int(exact.sum()) / release.n_records,
            "false": float((concluded & ~holds).sum()) / max(int(concluded.sum()), 1),
            "smaller": float(smaller[placed > 0].mean()) if placed.any() else 0.0,
            "ruled-out": _ruled_out(conclusions, release.classes.sizes),
        }
        return (self.measurement(int(placed.sum()) / release.n_records, detail=detail),)


@dataclass(frozen=True, eq=False)
class _Whereabouts:
    """The possible positions of the smallest and the largest value of a class, per released value.

    Parameters
    ----------
    lowest, highest
        For each released value the first and the last place of the smallest value, and of the largest.
    """

    lowest: tuple[Codes, Codes]
    highest: tuple[Codes, Codes]

    @classmethod
    def of(cls, cells: Cells, ranges: CoveredRanges) -> _Whereabouts:
        """Combine the ranges of each released value; without any, the values may be anywhere."""
        first, last = ends(cells)
        known = np.diff(ranges.starts) > 0
        starts = ranges.starts[:-1][known]
        bounds = []
        for values in (ranges.low, ranges.high):
            least, most = first.copy(), last.copy()
            if len(starts):
                least[known] = np.minimum.reduceat(values, starts)
                most[known] = np.maximum.reduceat(values, starts)
            bounds.append((least, most))
        return cls(*bounds)


@dataclass(frozen=True, eq=False)
class _Placed:
    """The conclusions from one attribute for each class.

    Parameters
    ----------
    concludes, holds
        Whether anything is, and whether that is true.
    n, n_exact
        How many records are rightly placed in a smaller cell, and on a single value.
    smaller
        By how much their cells become smaller, on average over the two.
    width, at_ends
        How many values the cell has, and how many of them can be the smallest or the largest of the class.
    """

    concludes: Booleans
    holds: Booleans
    n: Integers
    n_exact: Integers
    smaller: Floats
    width: Integers
    at_ends: Integers

    @classmethod
    def of(cls, release: Release, name: str, ranges: CoveredRanges) -> _Placed:
        cells, classes, origin = release.cells[name], release.classes, origin_of(release)
        whereabouts = _Whereabouts.of(cells, ranges)
        values = origin.table[name].codes[origin.rows]
        smallest, released = np.zeros_like(classes.sizes), np.zeros_like(classes.sizes)
        smallest[classes.class_of], released[classes.class_of] = values, cells.codes
        largest = smallest.copy()
        np.minimum.at(smallest, classes.class_of, values)
        np.maximum.at(largest, classes.class_of, values)
        first, last = ends(cells)
        widths = (last - first + 1)[released]
        of_two = [
            ((low[released] <= extreme) & (extreme <= high[released]), (high - low + 1)[released])
            for extreme, (low, high) in ((smallest, whereabouts.lowest), (largest, whereabouts.highest))
        ]
        holds = of_two[0][0] & of_two[1][0]
        n = np.sum([holds & (width < widths) for _, width in of_two], axis=0)
        n_exact = np.sum([holds & (width == 1) & (widths > 1) for _, width in of_two], axis=0)
        concludes = np.logical_or.reduce([width < widths for _, width in of_two])
        smaller = np.mean([1 - width / widths for _, width in of_two], axis=0)
        at_ends = np.where(np.diff(ranges.starts) > 0, _n_ends(ranges), last - first + 1)[released]
        return cls(concludes, holds, n, n_exact, np.where(holds, smaller, 0.0), widths, at_ends)


def _n_ends(ranges: CoveredRanges) -> Integers:
    """Return for each released value how many values are an end of one of its ranges."""
    n_released = len(ranges.starts) - 1
    of = np.tile(np.repeat(np.arange(n_released), np.diff(ranges.starts)), 2)
    pairs = np.unique(np.stack([of, np.concatenate([ranges.low, ranges.high])]), axis=1)
    return np.bincount(pairs[0], minlength=n_released)


def _ruled_out(conclusions: Sequence[_Placed], sizes: Integers) -> float:
    """Return the mean share of combinations in a record's cells that no record of its class can have."""
    possible = np.prod([placed_by.at_ends / placed_by.width for placed_by in conclusions], axis=0)
    several = np.prod([placed_by.width.astype(np.float64) for placed_by in conclusions], axis=0) > 1
    ruled_out = np.where(sizes == 2, 1 - possible, 0.0)
    return float(ruled_out[several] @ sizes[several]) / max(int(sizes[several].sum()), 1)
