"""Household risk: how well an adversary finds a household through any one of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.identity.population_risk import individual_risks
from sfumato.measures.identity.population_table import survey_classes
from sfumato.registry.declarations import Attacker, Detail, Needs, RiskThreshold, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import linked
from sfumato.results.measurement import IdentityMeasure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers


@register
@dataclass(frozen=True)
class HouseholdRisk(IdentityMeasure):
    """The largest chance that some member of a household is matched with a record: 1 - Π(1 - r).

    An adversary who finds one member of a household has found all, if they are published as a household or
    are known to live together. The members' risks r are individual risks if the table has survey weights, and
    1 / the class size otherwise, and are assumed to be independent. A suppressed member has no risk, and one
    with several records has the largest of their risks. The detail has the average over the households with a
    released record, the share of these at a risk above the threshold, and their number. Equal records of the
    original count as one.

    Parameters
    ----------
    threshold
        The risk above which a household counts as at risk.

    References
    ----------
    L. Franconi, S. Polettini, "Individual risk estimation in mu-Argus: a review", 2004; it is what sdcMicro
    calls the hierarchical risk.

    Examples
    --------
    >>> from sfumato import Attribute, Schema, Table, measure, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> table = Table.from_arrow({"age": [31, 31, 42, 42], "home": [1, 2, 1, 3]})
    >>> schema = Schema((Attribute("age", "quasi-identifying"),), household="home")
    >>> measure(sanitize(table, schema, AsIs()), ["household-risk"])[0].value
    0.75
    """

    threshold: RiskThreshold = 0.2

    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = Attacker(
        "The acquaintance of a household",
        "Knows everybody who lives there and has found it when the record of any of them is found.",
    )
    version: ClassVar[int] = 2  # the records of a person without a household are of one household
    words: ClassVar[Words] = Words(
        "household risk",
        "The chance that the record of at least one member of a household is picked rightly, for the "
        "household that is easiest to find.",
        "100%: some member of a household is unique. With classes of 20, a household of four has 18.5%.",
        "above 0% to 100%",
        "share",
        sentence="nobody who knows a whole household finds one of its members with a chance above {}",
        details={
            "average": Detail("average over the households"),
            "share-at-risk": Detail("households above the threshold", "share"),
            "households": Detail("households with a released record", "number"),
        },
        ends=("nobody is found by a household", "a member is found with certainty"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the risk of the household that is easiest to find."""
        risks = household_risks(release)
        detail = {
            "average": float(risks.mean()),
            "share-at-risk": float((risks > self.threshold).mean()),
            "households": len(risks),
        }
        return (self.measurement(float(risks.max()), detail=detail),)


def household_risks(made: Release) -> Floats:
    """Return the risk of every household that has a released record."""
    release = linked(made)
    table = release.origin.table
    if table.households is None:
        raise NotApplicable("nobody says who lives together; name the column with the household")
    classes, alike = release.classes, survey_classes(release)
    of_class = 1 / classes.people if alike is None else individual_risks(classes.people, alike)
    expected = np.bincount(release.origin.rows, release.weights * of_class[classes.class_of], table.n_rows)
    of_record = np.minimum(expected / table.weights, 1.0)
    row_of, household_of = table.households.row_of, table.households.household_of
    is_released = np.bincount(household_of, release.kept[row_of]) > 0
    risks = of_record[row_of]
    if table.person_of is not None:
        risks, household_of = _of_people(risks, table.person_of[row_of], household_of)
    with np.errstate(divide="ignore"):
        missed = np.bincount(household_of, np.log1p(-risks))
    return -np.expm1(missed[is_released])


def _of_people(risks: Floats, person_of: Integers, household_of: Integers) -> tuple[Floats, Integers]:
    """Return the largest risk of each member with several records, and the member's household."""
    order = np.lexsort((person_of, household_of))
    person_of, household_of = person_of[order], household_of[order]
    is_first = np.append(True, (np.diff(person_of) != 0) | (np.diff(household_of) != 0))
    first = np.flatnonzero(is_first)
    return np.maximum.reduceat(risks[order], first), household_of[first]
