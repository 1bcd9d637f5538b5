"""What each quasi-identifier adds to the risk: which one to coarsen first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Codes, Floats, Integers
from sfumato.classes import SensitiveCounts, count_sensitive
from sfumato.errors import ParameterError
from sfumato.facts import Axis, Better, Detail, Guards, Needs, Words
from sfumato.kernels.grouping import first_row_of_group, number_rows, value_counts
from sfumato.kernels.people import people_by_group
from sfumato.measures.base import Measure, Measurement
from sfumato.measures.reasons import NotApplicable
from sfumato.models.distances import jensen_shannon
from sfumato.registry import register
from sfumato.release import Release

# Up to so many quasi-identifiers every subset is looked at.
_MOST_EXACT = 8
# How many standard errors an interval of 95 percent reaches to either side, after some twenty rounds.
_REACH = 2.1


@register
@dataclass(frozen=True)
class QuasiIdentifierContribution(Measure):
    """The part of the average risk of re-identification that one quasi-identifier brings, at most.

    The average risk (classes / records) is shared out by Shapley's value: what a quasi-identifier adds,
    on average over all orders in which they could be released one after the other, those to come
    withheld. The parts add up to the average risk less that of guessing (1 / records). The detail names
    the quasi-identifier with the largest part, the one to coarsen first, and has for each one its part
    and what would be left if it alone were withheld: the average risk, and the privacy loss (the worst
    and the mean, of the sensitive attribute that loses most) where the classes publish sensitive values.

    Parameters
    ----------
    permutations
        How many orders are sampled when there are more than eight quasi-identifiers, always the same
        ones; the interval is one of 95 percent. With up to eight the value is exact.

    References
    ----------
    L. Shapley, "A value for n-person games", 1953; sampled: J. Castro, D. Gómez, J. Tejada, "Polynomial
    calculation of the Shapley value based on sampling", 2009.

    Examples
    --------
    >>> from sfumato import AsIs, datasets, measure, sanitize
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> taken, = measure(release, [QuasiIdentifierContribution()])
    >>> taken.detail["coarsen-first"], round(taken.value, 3)
    ('age', 0.5)
    """

    permutations: int = 200

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    needs: ClassVar[Needs] = "release"
    words: ClassVar[Words] = Words(
        "contribution of a quasi-identifier",
        "The part of the average re-identification risk that the most revealing quasi-identifier brings "
        "(Shapley's value). The detail names it: it is the one to coarsen first.",
        "Near the average risk: this quasi-identifier makes nearly all of it. The parts of all "
        "quasi-identifiers add up to the average risk, less that of guessing.",
        "0% to the average risk",
        "share",
        details={
            "coarsen-first": Detail("to coarsen first"),
            "average": Detail("average over the records"),
            "contribution": Detail("parts"),
            "average-without": Detail("average risk if withheld"),
            "privacy-loss-without": Detail("privacy loss if withheld", "number"),
            "mean-privacy-loss-without": Detail("mean privacy loss if withheld", "number"),
        },
    )

    def __post_init__(self) -> None:
        if self.permutations < 1:
            raise ParameterError(f"permutations must be at least 1, not {self.permutations}")

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the largest part."""
        names = release.schema.quasi_identifiers
        if not names:
            raise NotApplicable("the release has no quasi-identifier")
        classes = _Classes.of(release)
        if len(names) <= _MOST_EXACT:
            parts, errors = _shared_out(classes), None
        else:
            parts, errors = _sampled(classes, self.permutations)
        parts = parts / release.n_records
        largest = int(parts.argmax())
        detail: dict[str, Any] = {
            "coarsen-first": names[largest],
            "average": release.classes.n_classes / int(release.classes.people.sum()),
            "contribution": dict(zip(names, parts.tolist(), strict=True)),
            **_if_withheld(release, classes),
        }
        interval = None
        if errors is not None:
            reach = _REACH * float(errors[largest]) / release.n_records
            interval = (float(parts[largest]) - reach, float(parts[largest]) + reach)
        return (self.taken(float(parts[largest]), interval=interval, detail=detail),)


@dataclass(frozen=True)
class _Classes:
    """The released values of each class: one column for each quasi-identifier."""

    columns: tuple[Codes, ...]
    n_labels: tuple[int, ...]
    n_classes: int

    @classmethod
    def of(cls, release: Release) -> _Classes:
        cells = [release.cells[name] for name in release.schema.quasi_identifiers]
        first = first_row_of_group(release.classes.class_of, release.classes.n_classes)
        return cls(
            tuple(each.codes[first] for each in cells),
            tuple(len(each.labels) for each in cells),
            release.classes.n_classes,
        )

    def numbered_without(self, place: int) -> tuple[Integers, int]:
        """Return which classes become one when a column is withheld, and how many are left."""
        columns, n_labels = _without(self.columns, place), _without(self.n_labels, place)
        return number_rows(columns, n_labels, self.n_classes)

    def without(self, place: int) -> _Classes:
        """Return the classes when a column is withheld."""
        number, n_left = self.numbered_without(place)
        first = first_row_of_group(number, n_left)
        columns = tuple(codes[first] for codes in _without(self.columns, place))
        return _Classes(columns, _without(self.n_labels, place), n_left)


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return items[:place] + items[place + 1 :]


def _shared_out(classes: _Classes) -> Floats:
    """Return Shapley's value of each column, in classes, from the classes of every subset."""
    n_columns = len(classes.columns)
    counts = np.empty(1 << n_columns)

    def visit(subset: int, left: _Classes, places: Sequence[int]) -> None:
        counts[subset] = left.n_classes
        for position, place in enumerate(places):
            inner = left.without(len(left.columns) - len(places) + position)
            visit(subset & ~(1 << place), inner, places[position + 1 :])

    visit((1 << n_columns) - 1, classes, range(n_columns))
    subsets = np.arange(1 << n_columns)
    n_before = np.array([subset.bit_count() for subset in range(1 << n_columns)])
    share = np.array([1 / (n_columns * math.comb(n_columns - 1, n)) for n in range(n_columns)])
    parts = np.empty(n_columns)
    for place in range(n_columns):
        lacking = subsets[(subsets >> place) & 1 == 0]
        parts[place] = share[n_before[lacking]] @ (counts[lacking | 1 << place] - counts[lacking])
    return parts


def _sampled(classes: _Classes, n_orders: int) -> tuple[Floats, Floats]:
    """Return Shapley's value of each column, in classes, from random orders, with its standard error.

    Every order is taken in all its rotations, so that each column stands once in each place: most of the
    variance is that of the places.
    """
    n_columns = len(classes.columns)
    rng = np.random.default_rng(0)
    rounds = np.empty((max(n_orders // n_columns, 2), n_columns))
    for each in rounds:
        order = rng.permutation(n_columns)
        each[:] = np.mean([_added(classes, np.roll(order, shift)) for shift in range(n_columns)], axis=0)
    return rounds.mean(axis=0), rounds.std(axis=0, ddof=1) / math.sqrt(len(rounds))


def _added(classes: _Classes, order: Integers) -> Floats:
    """Return how many classes each column adds to those before it in the order."""
    added, left, places = np.empty(len(order)), classes, list(range(len(order)))
    for column in order[::-1].tolist():
        inner = left.without(places.index(column))
        places.remove(column)
        added[column] = left.n_classes - inner.n_classes
        left = inner
    return added


def _if_withheld(release: Release, classes: _Classes) -> dict[str, dict[str, float]]:
    """Return the average risk and the privacy loss, worst and mean, when one quasi-identifier is withheld."""
    sensitive = [] if release.group_of is not None else [*release.classes.sensitive]
    risks, worst, mean = {}, {}, {}
    for place, name in enumerate(release.schema.quasi_identifiers):
        number, n_left = classes.numbered_without(place)
        risks[name] = n_left / _people_of(release, number, n_left)
        if sensitive:
            merged = [_merged(release, attribute, number, n_left) for attribute in sensitive]
            losses = [(jensen_shannon(counts), counts.sizes) for counts in merged]
            worst[name] = max(float(loss.max()) for loss, _ in losses)
            mean[name] = max(float(loss @ sizes / sizes.sum()) for loss, sizes in losses)
    found = {"average-without": risks, "privacy-loss-without": worst, "mean-privacy-loss-without": mean}
    return {key: figures for key, figures in found.items() if figures}


def _people_of(release: Release, number: Integers, n_left: int) -> int:
    """Return how many people classes have when those with the same number are one, added up."""
    if release.people is None:
        return release.n_records
    people, class_of = release.people, number[release.classes.class_of]
    return int(people_by_group(class_of, n_left, people.person_of, people.n_people).sum())


def _merged(release: Release, name: str, number: Integers, n_left: int) -> SensitiveCounts:
    """Put the counts of classes with the same number together."""
    sensitive = release.classes.sensitive[name]
    if release.people is not None:
        codes, class_of = release.cells[name].codes, number[release.classes.class_of]
        facts = (sensitive.prior, sensitive.domain, release.people)
        return count_sensitive(class_of, n_left, release.weights, codes, *facts)
    owner = np.repeat(number, np.diff(sensitive.starts))
    counted = value_counts(owner, n_left, sensitive.values, len(sensitive.prior), sensitive.counts)
    return SensitiveCounts(*counted, sensitive.prior, sensitive.domain)
