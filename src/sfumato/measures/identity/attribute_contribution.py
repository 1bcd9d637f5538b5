"""The contribution of each quasi-identifier to the risk, to decide which one to coarsen first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts, count_sensitive
from sfumato.kernels.people_counts import people_in_order
from sfumato.kernels.row_groups import first_row_of_group, number_rows, rows_by_group, value_counts
from sfumato.models.distances import jensen_shannon
from sfumato.registry.declarations import AtLeast, AtMost, Axis, Better, Detail, Guards, Needs, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Floats, Integers

# Up to so many quasi-identifiers every subset is looked at.
_MOST_EXACT = 8
# How many standard errors an interval of 95 percent reaches to either side, after some twenty rounds.
_REACH = 2.1


@register
@dataclass(frozen=True)
class QuasiIdentifierContribution(Measure):
    """The largest share that one quasi-identifier has in the average re-identification risk.

    The average risk (classes / records) is divided by Shapley value: what a quasi-identifier adds, averaged
    over all orders in which they could be released one after the other. The shares add up to the average risk
    less that of guessing (1 / records). If someone has several records, the people of each class are counted
    instead, and the guess is one among all people; a share may then be below 0, since a person counts in
    fewer classes when classes merge. The detail names the quasi-identifier with the largest share, the one to
    coarsen first. For each one it has the share, and what would remain if it alone were withheld: the average
    risk, and, if the classes publish sensitive values, the worst and the mean privacy loss of the sensitive
    attribute with the largest loss.

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
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> taken, = measure(release, [QuasiIdentifierContribution()])
    >>> taken.detail["coarsen-first"], round(taken.value, 3)
    ('age', 0.5)
    """

    # those who verify what was published check at most so many
    permutations: Annotated[int, AtLeast(1), AtMost(100_000)] = 200

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    needs: ClassVar[Needs] = "release"
    version: ClassVar[int] = 2  # of people with several records the parts count people, too
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
        ends=("the attribute adds no risk", "the attribute causes all of the risk"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the largest share."""
        names = release.schema.quasi_identifiers
        if not names:
            raise NotApplicable("the release has no quasi-identifier")
        classes = _Classes.of(release)
        if len(names) <= _MOST_EXACT:
            parts, errors = _shared_out(classes), None
        else:
            parts, errors = _sampled(classes, self.permutations)
        largest = int(parts.argmax())
        detail: dict[str, Any] = {
            "coarsen-first": names[largest],
            "average": classes.risk,
            "contribution": dict(zip(names, parts.tolist(), strict=True)),
            **_if_withheld(release, classes),
        }
        interval = None
        if errors is not None:
            reach = _REACH * float(errors[largest])
            interval = (float(parts[largest]) - reach, float(parts[largest]) + reach)
        return (self.measurement(float(parts[largest]), interval=interval, detail=detail),)


@dataclass(frozen=True)
class _Classes:
    """The released values of each class, one column per quasi-identifier, and the members of the class.

    Parameters
    ----------
    members
        The class and the person of each record, in the order of people; ``None`` where nobody has several.
    """

    columns: tuple[Codes, ...]
    n_labels: tuple[int, ...]
    n_classes: int
    n_records: int
    members: tuple[Integers, Integers] | None = None

    @classmethod
    def of(cls, release: Release) -> _Classes:
        cells = [release.cells[name] for name in release.schema.quasi_identifiers]
        class_of, n_classes, people = release.classes.class_of, release.classes.n_classes, release.people
        first = first_row_of_group(class_of, n_classes)
        members = None
        if people is not None:
            order, _ = rows_by_group(people.person_of, people.n_people)
            members = class_of[order], people.person_of[order]
        columns = tuple(column.codes[first] for column in cells)
        n_labels = tuple(len(column.labels) for column in cells)
        return cls(columns, n_labels, n_classes, release.n_records, members)

    @property
    def n_people(self) -> int:
        """The number of people, added up over classes: someone in several classes counts in each."""
        if self.members is None:
            return self.n_records
        class_of, person_of = self.members
        return int(people_in_order(np.arange(len(class_of)), class_of, self.n_classes, person_of).sum())

    @property
    def risk(self) -> float:
        """The average risk."""
        return self.n_classes / self.n_people

    def numbered_without(self, place: int) -> tuple[Integers, int]:
        """Return which classes merge when a column is withheld, and how many are left."""
        columns, n_labels = _without(self.columns, place), _without(self.n_labels, place)
        return number_rows(columns, n_labels, self.n_classes)

    def without(self, place: int) -> _Classes:
        """Return the classes when a column is withheld."""
        number, n_left = self.numbered_without(place)
        first = first_row_of_group(number, n_left)
        columns = tuple(codes[first] for codes in _without(self.columns, place))
        n_labels = _without(self.n_labels, place)
        members = None if self.members is None else (number[self.members[0]], self.members[1])
        return _Classes(columns, n_labels, n_left, self.n_records, members)


def _without(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return items[:place] + items[place + 1 :]


def _shared_out(classes: _Classes) -> Floats:
    """Return the Shapley value of each column, from the average risk of every subset."""
    n_columns = len(classes.columns)
    risks = np.empty(1 << n_columns)

    def visit(subset: int, remaining: _Classes, places: Sequence[int]) -> None:
        risks[subset] = remaining.risk
        for position, place in enumerate(places):
            inner = remaining.without(len(remaining.columns) - len(places) + position)
            visit(subset & ~(1 << place), inner, places[position + 1 :])

    visit((1 << n_columns) - 1, classes, range(n_columns))
    subsets = np.arange(1 << n_columns)
    n_before = np.array([subset.bit_count() for subset in range(1 << n_columns)])
    share = np.array([1 / (n_columns * math.comb(n_columns - 1, n)) for n in range(n_columns)])
    parts = np.empty(n_columns)
    for place in range(n_columns):
        lacking = subsets[(subsets >> place) & 1 == 0]
        parts[place] = share[n_before[lacking]] @ (risks[lacking | 1 << place] - risks[lacking])
    return parts


def _sampled(classes: _Classes, n_orders: int) -> tuple[Floats, Floats]:
    """Return the Shapley value of each column from random orders, with its standard error.

    Every order is used in all its rotations, so that each column is once in each position: most of the
    variance is between positions.
    """
    n_columns = len(classes.columns)
    rng = np.random.default_rng(0)
    rounds = np.empty((max(n_orders // n_columns, 2), n_columns))
    for round_ in rounds:
        order = rng.permutation(n_columns)
        round_[:] = np.mean([_added(classes, np.roll(order, shift)) for shift in range(n_columns)], axis=0)
    return rounds.mean(axis=0), rounds.std(axis=0, ddof=1) / math.sqrt(len(rounds))


def _added(classes: _Classes, order: Integers) -> Floats:
    """Return what each column adds to the average risk of those before it in the order."""
    added, remaining, places = np.empty(len(order)), classes, list(range(len(order)))
    for column in order[::-1].tolist():
        inner = remaining.without(places.index(column))
        places.remove(column)
        added[column] = remaining.risk - inner.risk
        remaining = inner
    return added


def _if_withheld(release: Release, classes: _Classes) -> dict[str, dict[str, float]]:
    """Return the average risk and the privacy loss, worst and mean, when one quasi-identifier is withheld."""
    sensitive = [] if release.group_of is not None else [*release.classes.sensitive]
    risks, worst, mean = {}, {}, {}
    for place, name in enumerate(release.schema.quasi_identifiers):
        number, n_left = classes.numbered_without(place)
        risks[name] = classes.without(place).risk
        if sensitive:
            merged = [_merged(release, attribute, number, n_left) for attribute in sensitive]
            losses = [(jensen_shannon(counts), counts.sizes) for counts in merged]
            worst[name] = max(float(loss.max()) for loss, _ in losses)
            mean[name] = max(float(loss @ sizes / sizes.sum()) for loss, sizes in losses)
    without = {"average-without": risks, "privacy-loss-without": worst, "mean-privacy-loss-without": mean}
    return {key: figures for key, figures in without.items() if figures}


def _merged(release: Release, name: str, number: Integers, n_left: int) -> SensitiveCounts:
    """Merge the counts of classes with the same number."""
    sensitive = release.classes.sensitive[name]
    if release.people is not None:
        codes, class_of = release.cells[name].codes, number[release.classes.class_of]
        facts = (sensitive.prior, sensitive.domain, release.people)
        return count_sensitive(class_of, n_left, release.weights, codes, *facts)
    owner = np.repeat(number, np.diff(sensitive.starts))
    counted = value_counts(owner, n_left, sensitive.values, len(sensitive.prior), sensitive.counts)
    return SensitiveCounts(*counted, sensitive.prior, sensitive.domain)
