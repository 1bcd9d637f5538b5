"""Re-identification risk for an adversary who knows a person's quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sfumato.measures.utility.percentiles import percentile
from sfumato.registry.declarations import (
    Attacker,
    Better,
    Detail,
    FileName,
    Needs,
    PopulationSize,
    RiskThreshold,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import IdentityMeasure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import ParameterError


@register
@dataclass(frozen=True)
class ReidentificationRisk(IdentityMeasure):
    """The largest chance that a record is matched with its person: 1 / the smallest class.

    The prosecutor's view: the adversary knows that the person is in the table. The detail has the
    average over the records, the share of records at a risk above the threshold, and how many
    records are alone in their class.

    Parameters
    ----------
    threshold
        The risk above which a record counts as at risk.

    References
    ----------
    K. El Emam, F. Dankar, "Protecting privacy using k-anonymity", 2008.

    Examples
    --------
    >>> ReidentificationRisk().threshold
    0.2
    """

    threshold: RiskThreshold = 0.2

    words: ClassVar[Words] = Words(
        "re-identification risk",
        "The chance of picking the right record of a person whose quasi-identifiers are known and who is "
        "known to be in the table, for the record that is easiest to find (prosecutor risk: one over the "
        "smallest class).",
        "100%: somebody is unique. 9.09% is a smallest class of 11, 5% one of 20.",
        "above 0% to 100%",
        "share",
        sentence="nobody who knows a person's quasi-identifiers picks the right record with a chance above"
        " {}",
        details={
            "average": Detail("average over the records"),
            "share-at-risk": Detail("records above the threshold", "share"),
            "uniques": Detail("records alone in their class"),
        },
        ends=("nobody is found", "somebody is found with certainty"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the risk of the record that is easiest to find."""
        people = release.classes.people
        uniques = int(_weights_where(release, people == 1))
        detail = {**risk_detail(release, people, self.threshold), "uniques": uniques}
        return (self.measurement(1 / int(people.min()), detail=detail),)


@dataclass(frozen=True)
class _PopulationRisk(IdentityMeasure):
    """A risk that depends on how many people of a population look like a record."""

    population: FileName | None = None
    population_size: PopulationSize | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not None and self.population_size is not None:
            raise ParameterError("give population or population-size, not both: a table tells its size")

    @property
    def requires(self) -> Needs:
        """The original where a population is given: published labels do not tell which values they hold."""
        return "release" if self.population is None else "original"

    def alike(self, release: Release) -> Floats | None:
        """Return for each class how many people of the population look like its records, if known."""
        from sfumato.measures.identity.population_table import population_classes, survey_classes

        if self.population is not None:
            return population_classes(release, self.population).astype(np.float64)
        if self.population_size is None:
            return survey_classes(release)
        return people_of_size(release, self.population_size)


def people_of_size(release: Release, size: int) -> Floats:
    """Return for each class how many people look alike in a population of this size, under equal sampling."""
    check_population_size(release, size)
    return release.classes.people.astype(np.float64) * (size / release.n_original_people)


def check_population_size(release: Release, size: int) -> None:
    """Refuse a population that is smaller than the table."""
    n_people = release.n_original_people
    if size < n_people:
        raise ParameterError(
            f"population-size {size:,} is below the table's {n_people:,} "
            f"{'records' if release.people is None else 'people'}; give the size of the population that "
            "the table was drawn from"
        )


class _AgainstPopulation(_PopulationRisk):
    """A risk that is only defined relative to a population."""

    @property
    def requires(self) -> Needs:
        """The records where their survey weights tell the population."""
        return "records" if self.population is None and self.population_size is None else super().requires

    def in_population(self, release: Release) -> Floats:
        """Return for each class how many people of the population look like its records."""
        alike = self.alike(release)
        if alike is None:
            raise NotApplicable(NO_POPULATION)
        return alike


NO_POPULATION = "no population is given; give population, population-size, or survey weights"


@register
@dataclass(frozen=True)
class JournalistRisk(_AgainstPopulation):
    """The largest chance that a record is matched with its person when nobody knows who is in the table.

    1 / the smallest class of the population, over the classes of the release. The detail has the
    average over the records, the share of records at a risk above the threshold, and that smallest class.

    Parameters
    ----------
    population
        A file with the quasi-identifiers of the whole population, the table's people among it. A person
        belongs to a class when every released value of the class may stand for the person's. Readers of
        the publication cannot recompute the risk, as they do not have this file.
    population_size
        The number of people in the population, if there is no such file. Every class is then assumed to be
        the same share of its class in the population: an estimate, and a rough one for small classes. If
        neither is given, survey weights show how many people look like a record.
    threshold
        The risk above which a record counts as at risk.

    References
    ----------
    K. El Emam, F. Dankar, "Protecting privacy using k-anonymity", 2008.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> measure(release, [JournalistRisk(population_size=1200)])[0].value
    0.0033333333333333335
    """

    threshold: RiskThreshold = 0.2

    against: ClassVar[Attacker] = Attacker(
        "The journalist",
        "Does not know who is in the table, compares it with everybody in the population, and wants to find "
        "anyone at all.",
    )
    words: ClassVar[Words] = Words(
        "journalist risk",
        "The chance of picking the right person for a record when nobody knows who is in the table, for the "
        "record that is easiest to find: one over the people of the population who look like it.",
        "100%: somebody in the table is unique in the whole population. 5%: everybody looks like at least "
        "19 others.",
        "above 0% to 100%",
        "share",
        sentence="nobody who does not know who is in the table finds the person behind a record with a "
        "chance above {}",
        details={
            "average": Detail("average over the records"),
            "share-at-risk": Detail("records above the threshold", "share"),
            "smallest": Detail("smallest class of the population", "number"),
        },
        ends=("nobody is found", "somebody is found with certainty"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the risk of the record that is easiest to find."""
        alike = self.in_population(release)
        detail = risk_detail(release, alike, self.threshold)
        return (self.measurement(1 / float(alike.min()), detail={**detail, "smallest": float(alike.min())}),)


@register
@dataclass(frozen=True)
class KMap(_AgainstPopulation):
    """The smallest number of people of the population who look like a record: the k of k-map.

    The same as k-anonymity's k, with the classes of the population in place of those of the release: it is
    never less, and a record that is alone in the table may be one of many. It is 1 / journalist risk.

    Parameters
    ----------
    population, population_size
        As in `journalist-risk`; if neither is given, survey weights are used.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", 2002; K. El Emam, F. Dankar, "Protecting
    privacy using k-anonymity", 2008.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> measure(release, [KMap(population_size=1200)])[0].value
    300.0
    """

    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = JournalistRisk.against
    words: ClassVar[Words] = Words(
        "k-map",
        "How many people of the population look like a record, for the record that the fewest look like.",
        "1: somebody in the table is unique in the whole population. 20: everybody looks like at least 19 "
        "others.",
        "1 to the size of the population",
        sentence="everybody in the release looks like at least {} people of the population",
        ends=("everybody looks like the whole population", "a person is unique in the population"),
    )

    @property
    def requires(self) -> Needs:
        """The original where a population is given, and else the records."""
        return "records" if self.population is None else "original"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the smallest class of the population."""
        return (self.measurement(float(self.in_population(release).min())),)


@register
@dataclass(frozen=True)
class MarketerRisk(_PopulationRisk):
    """The share of correct matches when an adversary tries to match all records.

    The average over the records of 1 / the people who look like a record: those of the population if
    one is given, else those of the release itself, which makes it classes / records. The detail has
    the number of correct matches. With survey weights in place of a population it is the average in the
    detail of `journalist-risk`, since readers of a release do not know the weights.

    Parameters
    ----------
    population
        A file with the quasi-identifiers of the whole population, the table's people among it. A person
        belongs to a class when every released value of the class may stand for the person's. Readers of
        the publication cannot recompute the risk, as they do not have this file.
    population_size
        The number of people in the population, if there is no such file; every class is then assumed to be
        the same share of its class in the population.

    References
    ----------
    F. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", 2010.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, ["marketer-risk"])[0].detail
    {'matched': 1.0}
    """

    against: ClassVar[Attacker] = Attacker(
        "The marketer",
        "Wants to match as many records as possible, and does not mind if some matches are wrong.",
    )
    words: ClassVar[Words] = Words(
        "marketer risk",
        "The share of the records that are matched rightly, on average, by somebody who tries to match them "
        "all with the people who look like them.",
        "100%: all of them. 5%: of 100 records 5 are matched rightly, and nobody can say which.",
        "above 0% to 100%",
        "share",
        sentence="somebody who tries to match all records matches {} of them rightly",
        details={
            "matched": Detail("records matched rightly", "number"),
        },
        ends=("hardly any record is matched", "every record is matched"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the expected share of correct matches."""
        is_given = self.population is not None or self.population_size is not None
        alike = self.alike(release) if is_given else None
        people = release.classes.people
        matched = float((people / (people if alike is None else alike)).sum())
        return (self.measurement(matched / int(people.sum()), detail={"matched": matched}),)


@register
@dataclass(frozen=True)
class WeightedK(IdentityMeasure):
    """The average size of the class of a record: Σ|E|² / Σ|E|.

    The detail has the distribution of class sizes, each percentile over the records: 5 of 100 records
    are in classes no larger than the 5th.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques
    using multi-objective optimization", 2011, equation 6.

    Examples
    --------
    >>> WeightedK().better
    'higher'
    """

    better: ClassVar[Better] = "higher"
    words: ClassVar[Words] = Words(
        "weighted k",
        "The size of the class in which a record finds itself on average.",
        "1: every record is alone. 100: on average a record is one of 100 that look alike.",
        "1 to the number of released records",
        sentence="on average a record is one of {} that look alike",
        details={
            "percentile-5": Detail("5th percentile"),
            "percentile-25": Detail("25th percentile"),
            "percentile-50": Detail("median"),
            "percentile-75": Detail("75th percentile"),
            "percentile-95": Detail("95th percentile"),
        },
        ends=("everybody looks like everybody", "everybody is unique"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the mean class size over the released records."""
        whole = release.classes.people
        sizes = whole.astype(np.float64)
        detail = {
            "classes": release.classes.n_classes,
            "smallest": float(sizes.min()),
            **{f"percentile-{percent}": percentile(sizes, whole, percent) for percent in (5, 25, 50, 75, 95)},
            "largest": float(sizes.max()),
        }
        return (self.measurement(float(sizes @ sizes / sizes.sum()), detail=detail),)


class SizeCount(NamedTuple):
    """The number of classes of one size, and of records in them."""

    size: int
    n_classes: int
    n_records: int


def class_sizes(release: Release) -> tuple[SizeCount, ...]:
    """Return the number of classes and records of each class size, in ascending order.

    References
    ----------
    R. Dewri et al., 2011, figure 6: the same, added up from the smallest size on.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> class_sizes(sanitize(*datasets.hospital(), Mondrian(KAnonymity(3))))
    (SizeCount(size=3, n_classes=4, n_records=12),)
    """
    sizes, counts = np.unique(release.classes.sizes, return_counts=True)
    return tuple(
        SizeCount(size, n_classes, size * n_classes)
        for size, n_classes in zip(sizes.tolist(), counts.tolist(), strict=True)
    )


def risk_detail(release: Release, alike: Floats | Integers, threshold: float) -> dict[str, Any]:
    """Return the average risk and the share at risk, of records, or of people if someone has several.

    The risk of a person is that of the record by which the person is found best.
    """
    if release.people is None:
        sizes = release.classes.sizes
        average = float((sizes / alike).sum()) / release.n_records
    else:
        risks = np.zeros(release.people.n_people)
        np.maximum.at(risks, release.people.person_of, (1 / alike)[release.classes.class_of])
        average = float(risks.sum()) / release.n_people
    return {
        "average": average,
        "share-at-risk": _weights_where(release, 1 / alike > threshold) / release.n_people,
    }


def _weights_where(release: Release, chosen: Booleans) -> int:
    """Return how many records (or people, if someone has several) are in some of the chosen classes."""
    if release.people is None:
        return int(release.classes.sizes[chosen].sum())
    return len(np.unique(release.people.person_of[chosen[release.classes.class_of]]))
