"""What minimal covers reveal to an adversary who knows how common each value is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sfumato.kernels.distribution_fit import fit_codes
from sfumato.kernels.row_groups import sum_by_group
from sfumato.measures.attacks.attack_setting import read_people
from sfumato.measures.attacks.record_distances import people_column, places_among
from sfumato.measures.informed.covers import CoveredRanges, covered_ranges, ends, is_covering
from sfumato.measures.informed.informed_reader import RecipeReaderMeasure
from sfumato.registry.declarations import Detail, FileName, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers

# The covers of larger classes tell next to nothing about their records.
_MOST_RECORDS = 200
# What is less likely than this is taken not to have happened; the distribution is a wrong one then.
_LEAST_CHANCE = 1e-12
# How the distribution is fitted to the cells of a release: rounds, and how many records of doubt.
_ROUNDS = 20
_DOUBT = 1.0


@register
@dataclass(frozen=True)
class DowncodingGain(RecipeReaderMeasure):
    """How many more values an informed attacker recovers than one who knows only how common each is.

    Two adversaries know the distribution of each quasi-identifier and undo its generalisation: they guess as
    many values of a cell as the class has records, those most likely to be right. One assumes that the
    records are random draws from the cell. The other knows that the cell is the smallest cover of the class
    (an interval with both ends, a node with records below two of its children, or a round interval for which
    no smaller one is enough), and conditions the draws on that. Records of a class look alike, so a value
    counts as recovered if a record of the class has it, each record once. The value considers records in
    cells of two values or more: it is the share that the second adversary recovers, less the baseline, the
    share that the first recovers; for the most revealing attribute. Attributes are considered one by one, and
    classes of up to 200 records.

    The measure needs a recipe that determines covers (it has ``borders``); otherwise the value is 0.

    Parameters
    ----------
    distribution
        The source of the distribution: the ``original`` itself, which is the most that can be known, or the
        ``release``, by a fit to all its cells.
    control
        A file with other people, from which the distribution is estimated instead.

    References
    ----------
    A. Cohen, "Attacks on deidentification's defenses", 2022, for minimal hierarchical methods and an
    adversary who knows the distribution.

    Examples
    --------
    Of a and b one is rare, and so is one of c and d; a rare one is released with a common one:

    >>> from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Clustering
    >>> tree = Hierarchy.nested({"x": ["a", "b"], "y": ["c", "d"]})
    >>> schema = Schema((Attribute("place", "quasi-identifying", hierarchy=tree),))
    >>> places = Table.from_arrow({"place": [*"aaaaab", *"cccccd"]})
    >>> gain, = measure(sanitize(places, schema, Clustering(KAnonymity(2)), seed=1), ["downcoding-gain"])
    >>> gain.baseline, gain.detail["recovered"]
    (0.5, 1.0)
    """

    distribution: Literal["original", "release"] = "original"
    control: FileName | None = None

    words: ClassVar[Words] = Words(
        "downcoding gain",
        "How many more values an adversary recovers from their cells who knows how common each value is and "
        "that no smaller cell was possible, than one who only knows how common each value is.",
        "0%: that cells are as small as possible tells nothing. 20%: of 100 people in cells of two values or "
        "more, the values of 20 more are recovered.",
        "-100% to 100%; below 0% the recipe misleads",
        "share",
        sentence="an informed attacker who knows the distribution recovers values of {} more of the people",
        baseline="recovered from the distribution alone",
        details={
            "attribute": Detail("attribute that tells most"),
            "recovered": Detail("share recovered from both"),
            "share-wide": Detail("records in cells of two values or more"),
            "gain": Detail("gain for each attribute"),
        },
        ends=("the recipe helps nobody", "every value is recovered by the recipe"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the gain of the attribute that reveals most."""
        if origin_of(release).linked_rows is None or release.recipe is None:
            raise NotApplicable("it is not known how the release was made, or which released record is which")
        recovered = dict(self._recovered(release)) if is_covering(release) else {}
        gains = {name: of_attribute.gain for name, of_attribute in recovered.items()}
        if not gains:
            return (self.measurement(0.0, baseline=0.0),)
        worst = max(gains, key=gains.__getitem__)
        largest = recovered[worst]
        detail = {
            "attribute": worst,
            "recovered": largest.informed,
            "share-wide": largest.n_records / release.n_records,
            "gain": gains,
        }
        return (self.measurement(gains[worst], baseline=largest.uninformed, detail=detail),)

    def _recovered(self, release: Release) -> Iterator[tuple[str, _Recovered]]:
        """Yield the recovered share for each quasi-identifier that has cells of two values or more."""
        for name, ranges in covered_ranges(release):
            recovered = _Recovered.of(release, name, ranges, self._shares(release, name))
            if recovered.n_records:
                yield name, recovered

    def _shares(self, release: Release, name: str) -> Floats:
        """Return how common each value of an attribute is, as far as the adversary knows."""
        table = origin_of(release).table
        column = table[name]
        if self.control is not None:
            people = read_people(self.control)
            others = people_column(people, name)
            places = places_among(column.domain, others)[others.codes]
            known = ~np.isnan(places)
            counts = np.bincount(places[known].astype(np.int64), people.weights[known], len(column.domain))
            return np.asarray((counts + _DOUBT) / (counts.sum() + _DOUBT * len(counts)))
        if self.distribution == "release":
            return shares_in_cells(release, name)
        counts = np.bincount(column.codes, table.weights, len(column.domain))
        return np.asarray(counts / counts.sum())


def shares_in_cells(release: Release, name: str) -> Floats:
    """Return how common each original value is, estimated from the released cells of an attribute."""
    cells = release.cells[name]
    assert cells.sets is not None
    amounts = sum_by_group(cells.codes, len(cells.labels), release.weights).astype(np.float64)
    labels = np.arange(len(amounts))
    n_values = len(origin_of(release).table[name].domain)
    fitted = fit_codes(
        cells.sets.starts,
        cells.sets.members,
        labels,
        np.zeros_like(labels),
        amounts,
        amounts,
        n_values,
        1,
        _ROUNDS,
        _DOUBT,
        _DOUBT,
    )
    return np.asarray(fitted.ravel())


@dataclass(frozen=True)
class _Recovered:
    """The share of the records in wide cells whose values each adversary recovers, and their number."""

    informed: float
    uninformed: float
    n_records: int

    @property
    def gain(self) -> float:
        return round(self.informed - self.uninformed, 12)

    @classmethod
    def of(cls, release: Release, name: str, ranges: CoveredRanges, shares: Floats) -> _Recovered:
        classes = _ReleasedClasses.of(release, name)
        totals = np.array([0, 0, 0])
        for cell, size in np.unique(np.stack([classes.cells, classes.sizes]), axis=1).T.tolist():
            first, last = (int(end[cell]) for end in ends(release.cells[name]))
            if first == last or size > _MOST_RECORDS:
                continue
            counts = classes.counts(cell, size, first, last)
            low, high = ranges[cell]
            guessed = [
                likeliest(shares[first : last + 1], size, known)
                for known in (None, (low - first, high - first))
            ]
            right = [int(np.minimum(counts, guess).sum()) for guess in guessed]
            totals += (right[1], right[0], int(counts.sum()))
        n_records = max(int(totals[2]), 1)
        return cls(int(totals[0]) / n_records, int(totals[1]) / n_records, int(totals[2]))


@dataclass(frozen=True, eq=False)
class _ReleasedClasses:
    """The classes of a release by one attribute: the cell and the size of each, and its values with counts.

    Parameters
    ----------
    cells, sizes
        The released value and the number of records of each class.
    class_of, values, amounts
        How many records of a class have a value, for each class and value that occur.
    """

    cells: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    class_of: Integers = field(repr=False)
    values: Integers = field(repr=False)
    amounts: Integers = field(repr=False)

    @classmethod
    def of(cls, release: Release, name: str) -> _ReleasedClasses:
        origin = origin_of(release)
        classes, column = release.classes, origin.table[name]
        cells = np.zeros(classes.n_classes, dtype=np.int64)
        cells[classes.class_of] = release.cells[name].codes
        key = classes.class_of * len(column.domain) + column.codes[origin.rows]
        pairs, pair_of = np.unique(key, return_inverse=True)
        amounts = sum_by_group(pair_of, len(pairs), release.weights)
        class_of, values = np.divmod(pairs, len(column.domain))
        return cls(cells, classes.sizes, class_of, values, amounts)

    def counts(self, cell: int, size: int, first: int, last: int) -> Integers:
        """Return the counts of the values from first to last, one row per class of this cell and size."""
        chosen = np.flatnonzero((self.cells == cell) & (self.sizes == size))
        line_of = np.full(len(self.cells), -1)
        line_of[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(line_of[self.class_of] >= 0)
        counts = np.zeros((len(chosen), last - first + 1), dtype=np.int64)
        inside = own[(self.values[own] >= first) & (self.values[own] <= last)]
        counts[line_of[self.class_of[inside]], self.values[inside] - first] = self.amounts[inside]
        return counts


def likeliest(shares: Floats, n_records: int, ranges: tuple[Integers, Integers] | None) -> Integers:
    """Return how often to guess each value of a cell to maximize the expected number of right guesses.

    Guessing a value for the j-th time is right if at least j of the records have it. The result has the most
    likely of these guesses, as many as there are records.

    Parameters
    ----------
    shares
        How common each value of the cell is, in proportion.
    n_records
        How many records of the cell there are, drawn independently of each other.
    ranges
        The ranges of values, from the smallest to the largest drawn, of which it is known that one came out;
        ``None`` where nothing is known.

    Examples
    --------
    Of two values one is nine times as common; if both are known to occur, each does once:

    >>> likeliest(np.array([0.9, 0.1]), 2, None).tolist()
    [2, 0]
    >>> likeliest(np.array([0.9, 0.1]), 2, (np.array([0]), np.array([1]))).tolist()
    [1, 1]
    """
    at_least = chances_of_counts(shares, n_records, ranges)
    order = np.argsort(-at_least.ravel(), kind="stable")[:n_records]
    return np.bincount(order // n_records, minlength=len(shares))


def chances_of_counts(shares: Floats, n_records: int, ranges: tuple[Integers, Integers] | None) -> Floats:
    """Return for each value, in a row, the probability that at least 1, 2, … of the records have it.

    That all records lie from l to h has the chance F(l, h)^m; that these are their smallest and their
    largest follows by inclusion and exclusion of the next narrower spans, and so does the chance of any
    set of ranges. Within a span the number of records with one value is binomial.

    Parameters
    ----------
    shares, n_records, ranges
        As in `likeliest`.
    """
    if not shares.any():
        shares = np.ones_like(shares)
    shares = shares / shares.sum()
    low, high, signs = _spans(len(shares), ranges)
    running = np.concatenate([[0.0], np.cumsum(shares)])
    masses = running[high + 1] - running[low]
    chance = signs * masses**n_records
    if ranges is not None and chance.sum() < _LEAST_CHANCE:
        return chances_of_counts(shares, n_records, None)
    values = np.arange(len(shares))
    chances = np.zeros((len(shares), n_records))
    for first, last, mass, share in zip(low, high, masses, chance, strict=True):
        if mass > 0:
            inside = slice(first, last + 1)
            odds = np.clip(shares[inside] / mass, 0.0, 1.0)
            chances[values[inside]] += share * _at_least(n_records, odds)
    # differences of nearly equal numbers leave a little below what is larger in truth
    return np.minimum.accumulate(np.clip(chances / chance.sum(), 0.0, 1.0), axis=1)


def _at_least(n_records: int, odds: Floats) -> Floats:
    """Return for each probability, in a row, how likely 1, 2, … of so many independent draws succeed.

    The binomial probabilities are added from the smallest tail on, so each sum keeps its relative accuracy.
    """
    n_right = np.arange(n_records + 1)
    ways = np.array([math.comb(n_records, right) for right in n_right.tolist()], dtype=np.float64)
    odds = odds[:, np.newaxis]
    exactly = ways * odds**n_right * (1 - odds) ** (n_records - n_right)
    return np.asarray(np.cumsum(exactly[:, :0:-1], axis=1)[:, ::-1])


def _spans(n_values: int, ranges: tuple[Integers, Integers] | None) -> tuple[Integers, Integers, Floats]:
    """Return spans of values and their signs, whose chances add up to that of the ranges."""
    if ranges is None or not np.size(ranges):
        return np.array([0]), np.array([n_values - 1]), np.ones(1)
    signs = np.zeros((n_values + 1, n_values + 1))
    low, high = ranges
    for inwards, sign in (((0, 0), 1), ((1, 0), -1), ((0, 1), -1), ((1, 1), 1)):
        # the last line and column take the spans of nothing: high - 1 may be -1
        np.add.at(signs, (low + inwards[0], high - inwards[1]), sign)
    first, last = np.nonzero(np.triu(signs[:, :n_values]))
    return first, last, signs[first, last]
