"""Estimators of the re-identification risk of a sample in the population that it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.identity.population_table import survey_classes
from sfumato.measures.identity.reidentification import (
    JournalistRisk,
    check_population_size,
    people_of_size,
    risk_detail,
)
from sfumato.measures.identity.superpopulation import (
    Estimator,
    NoEstimate,
    SampledClasses,
    population_uniques,
)
from sfumato.registry.declarations import Attacker, Detail, Needs, PopulationSize, RiskThreshold, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import IdentityMeasure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers

_FEW = 50
"""Classes of fewer records are added up one by one; the series is short for larger ones."""
_TERMS = 60


@register
@dataclass(frozen=True)
class IndividualRisk(IdentityMeasure):
    """The largest chance that a record of a sample is matched with its person in the population.

    Like journalist risk, but it accounts for not knowing how many people of the population look like a
    record. If f of them are in the sample and their survey weights add up to F, their number is modelled as
    negative binomial, and the risk is the expectation of one over it, p/f · ₂F₁(1, 1; f+1; 1-p) with p = f/F.
    A record that is alone in its class is therefore at a higher risk than 1/F. The detail has the average
    over the records, the share of records at a risk above the threshold, and the expected number of correct
    matches when all are tried.

    Parameters
    ----------
    population_size
        The number of people in the population, if the table has no survey weights: every record then
        represents the same number of people.
    threshold
        The risk above which a record counts as at risk.

    References
    ----------
    R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination",
    1998; L. Franconi, S. Polettini, "Individual risk estimation in mu-Argus: a review", 2004. It is what
    mu-Argus and sdcMicro call the individual risk.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> round(measure(release, [IndividualRisk(population_size=1200)])[0].value, 4)
    0.0465
    """

    population_size: PopulationSize | None = None
    threshold: RiskThreshold = 0.2

    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = JournalistRisk.against
    words: ClassVar[Words] = Words(
        "individual risk",
        "The chance of picking the right person for a record of a sample when nobody knows who is in it, for "
        "the record that is easiest to find, if one allows for chance in who was drawn.",
        "100%: somebody in the table is surely unique in the whole population. 5%: as if everybody looked "
        "like 19 others.",
        "above 0% to 100%",
        "share",
        sentence="nobody who does not know who was drawn finds the person behind a record with an estimated "
        "chance above {}",
        details={
            "average": Detail("average over the records"),
            "share-at-risk": Detail("records above the threshold", "share"),
            "expected": Detail("records matched rightly, expected", "number"),
        },
        ends=("nobody is found", "somebody is found with certainty"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the risk of the record that is easiest to find."""
        risks = individual_risks(release.classes.people, _people_alike(release, self.population_size))
        detail = risk_detail(release, 1 / risks, self.threshold)
        expected = detail["average"] * release.n_people
        return (self.measurement(float(risks.max()), detail={**detail, "expected": expected}),)


def individual_risks(sizes: Integers, stood_for: Floats) -> Floats:
    """Return the individual risk of the records of each class.

    Parameters
    ----------
    sizes
        The number of records of each class.
    stood_for
        The number of people that they represent, no fewer than the records.

    Examples
    --------
    >>> individual_risks(np.array([1, 2]), np.array([17.0, 2.0])).round(6).tolist()
    [0.177076, 0.5]
    """
    share = sizes / stood_for
    few = (sizes < _FEW) & (share < 0.5)
    risks = np.empty(len(sizes))
    risks[few] = _added_up(sizes[few], share[few])
    risks[~few] = share[~few] / sizes[~few] * _series(sizes[~few], 1 - share[~few])
    return risks


def _series(sizes: Integers, rest: Floats) -> Floats:
    """Return ₂F₁(1, 1; f+1; q), whose terms fall fast if f is large or q small."""
    term, total = np.ones(len(sizes)), np.ones(len(sizes))
    for place in range(_TERMS):
        term = term * (place + 1) * rest / (sizes + 1 + place)
        total += term
    return total


def _added_up(sizes: Integers, share: Floats) -> Floats:
    """Return the risk by recurrence, from a class of one upwards."""
    odds = share / (1 - share)
    risks = odds * np.log(1 / share)
    larger = np.arange(len(sizes))
    for size in range(1, int(sizes.max(initial=1))):
        larger = larger[sizes[larger] > size]
        risks[larger] = odds[larger] * (1 / size - risks[larger])
    return risks


@register
@dataclass(frozen=True)
class PopulationUniqueness(IdentityMeasure):
    """The share of people who are unique in the population, estimated from the sample's classes.

    The same share of the released records is expected to be unique there. An estimator needs the size of the
    population, or survey weights that add up to it, and assumes equal sampling probabilities. The detail has
    the number of such people in the population, the share of records that are unique in the release, and the
    model behind the estimate.

    Parameters
    ----------
    population_size
        The number of people in the population, if the table has no survey weights.
    method
        ``pitman`` (Hoshino 2001), ``zayatz`` (1991), ``slide-negative-binomial`` (Chen and Keller-McNulty
        1998), or ``dankar``: Pitman's if at most a tenth of the population is in the release (Zayatz's if
        that has no solution), else the smaller of the other two.

    References
    ----------
    F. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data
    sets", 2012.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> measure(release, [PopulationUniqueness(population_size=1200)])[0].value
    0.0
    """

    population_size: PopulationSize | None = None
    method: Estimator = "dankar"

    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = JournalistRisk.against
    words: ClassVar[Words] = Words(
        "population uniqueness",
        "The share of the people who are unique in the whole population, estimated from the classes of the "
        "release.",
        "0%: nobody is unique, in the table or outside. 10%: of ten records one belongs to somebody who is "
        "like nobody else in the population.",
        "0% to 100%",
        "share",
        sentence="an estimated {} of the people are unique in the whole population",
        details={
            "uniques": Detail("unique people in the population, estimated", "number"),
            "population": Detail("people in the population", "number"),
            "sample-uniques": Detail("records that are unique in the release", "share"),
            "model": Detail("estimated by the model"),
        },
        ends=("nobody is unique in the population", "everybody is unique in the population"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the estimated share of population uniques."""
        size = _population_size(release, self.population_size)
        sample = SampledClasses.of(release.classes.people, size)
        try:
            uniques, model = population_uniques(sample, self.method)
        except NoEstimate as reason:
            raise NotApplicable(str(reason)) from None
        # an estimate may exceed what it estimates
        uniques = min(uniques, float(size))
        detail = {
            "uniques": uniques,
            "population": size,
            "sample-uniques": sample.of_size(1) / release.n_people,
            "model": model,
        }
        return (self.measurement(uniques / size, detail=detail),)


_NO_SIZE = "nobody says how large the population is; give population-size, or survey weights"


def _people_alike(release: Release, size: int | None) -> Floats:
    """Return for each class how many people its records represent."""
    if size is not None:
        return people_of_size(release, size)
    alike = survey_classes(release)
    if alike is None:
        raise NotApplicable(_NO_SIZE)
    return alike


def _population_size(release: Release, size: int | None) -> int:
    if size is not None:
        check_population_size(release, size)
        return size
    table = release.origin.table if isinstance(release, LinkedRelease) else None
    if table is None or table.survey_weights is None or release.survey_weights is None:
        raise NotApplicable(_NO_SIZE)
    stood_for = table.survey_weights
    if table.person_of is not None:
        # several records of a person stand for as many people as one of them does on average
        stood_for = np.bincount(table.person_of, stood_for) / np.bincount(table.person_of, table.weights)
    return max(round(float(stood_for.sum())), release.n_original_people)
