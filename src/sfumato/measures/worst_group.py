"""Worst-group measures: measure the people of each value of an attribute, and report the worst."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.measures.by_group import SMALLEST, too_small
from sfumato.registry.declarations import (
    EVERY_TYPE,
    AttributeName,
    Axis,
    Better,
    Detail,
    Guards,
    MeasureName,
    RecordCount,
    ReleaseType,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import (
    Measure,
    Measurement,
    build_measure,
    measure_group,
    worst_value,
)
from sfumato.results.people_groups import Group, groups_of
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError

_DETAILS = {
    "group": Detail("the group"),
    "best": Detail("of the best-off group"),
    "groups": Detail("of each group"),
}


@dataclass(frozen=True)
class WorstGroup(Measure):
    """A measure for each value of an attribute, of which the worst group counts."""

    attribute: AttributeName = ""
    of: MeasureName = "utility-loss"
    smallest: RecordCount = SMALLEST

    better: ClassVar[Better] = "lower"
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE
    compares_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        asked = build_measure(self.of)
        if isinstance(asked, WorstGroup) or asked.axis != self.axis:
            raise ParameterError(f"of: {self.of!r} is no measure of {self.axis}")
        # which direction is better is that of the measure, of which the class knows nothing
        object.__setattr__(self, "better", better_of(asked))

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the worst of all groups that are large enough, with the others in the detail."""
        name = self.attribute or next(iter(release.schema.quasi_identifiers), "")
        if not name:
            raise NotApplicable("the release has no quasi-identifier; name the attribute that makes groups")
        groups = groups_of(release, name, self.smallest)
        taken = {group.name: measure_group(release, group, [self.of]) for group in groups}
        values = {group: worst_value(measurements, self.of) for group, measurements in taken.items()}
        applicable = {group: value for group, value in values.items() if value is not None}
        if not applicable:
            raise NotApplicable(self._why_not(name, taken.values()))
        ranked = sorted(applicable, key=lambda group: applicable[group], reverse=self.better == "lower")
        detail = {"group": ranked[0], "best": applicable[ranked[-1]], "groups": applicable}
        return (self.taken(applicable[ranked[0]], detail=detail),)

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Refuse a group: the measure compares all of them."""
        raise NotApplicable("it compares groups, and says nothing of one alone")

    def _why_not(self, attribute: str, taken: Iterable[Sequence[Measurement]]) -> str:
        """Return why there is no result: no group is large enough, or the reason that the measure gave."""
        silent = [measurement for of_group in taken for measurement in of_group]
        if not silent:
            return too_small(attribute, self.smallest)
        reasons = dict.fromkeys(
            str(measurement.detail["reason"]) for measurement in silent if "reason" in measurement.detail
        )
        return f"{self.of} says nothing of any group of {attribute!r}: {'; '.join(reasons)}"


@register
@dataclass(frozen=True)
class WorstGroupLoss(WorstGroup):
    """A utility measure for the group of people with the largest loss.

    For each value of an attribute the measure compares the released records of these people with their
    original ones. For synthetic records, or if records cannot be linked, it uses those released with the
    value. Small groups are skipped.

    Parameters
    ----------
    attribute
        The attribute whose values make the groups; by default the first quasi-identifier.
    of
        The measure, one of utility.
    smallest
        How many records a group must have.

    References
    ----------
    C. Task et al., "SDNist" and the "diverse communities data excerpts", NIST, 2023.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> WorstGroupLoss("sex", of="general-loss", smallest=1).measure(release)[0].value
    0.0
    """

    axis: ClassVar[Axis] = "utility"
    words: ClassVar[Words] = Words(
        "loss of the worst-off group",
        "What is lost for the group of people, of all values of an attribute, who lose most.",
        "Near the loss of the best-off group: nobody pays for the others.",
        "as the measure that is taken",
        details=_DETAILS,
    )


@register
@dataclass(frozen=True)
class WorstGroupRisk(WorstGroup):
    """A privacy measure for the group of people at the largest risk.

    For each value of an attribute the measure looks at the whole classes (or groups, if these publish the
    sensitive values) that contain a released record of such a person. An attack is tried on such people, with
    similar people as its control group. Small groups are skipped.

    Parameters
    ----------
    attribute
        The attribute whose values make the groups; by default the first quasi-identifier.
    of
        The measure, one of privacy.
    smallest
        How many records a group must have.

    References
    ----------
    C. Task et al., "SDNist" and the "diverse communities data excerpts", NIST, 2023.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> WorstGroupRisk("sex", of="reidentification-risk", smallest=1).measure(release)[0].value
    1.0
    """

    of: MeasureName = "privacy-loss"

    axis: ClassVar[Axis] = "privacy"
    guards: ClassVar[Guards] = "attribute"
    words: ClassVar[Words] = Words(
        "risk of the worst-off group",
        "What an adversary learns of the group of people, of all values of an attribute, who are protected "
        "least.",
        "Near the risk of the best-off group: all are protected alike.",
        "as the measure that is taken",
        details=_DETAILS,
    )


def better_of(asked: Measure) -> Better:
    """Return which direction of a measure, or of the model whose level it measures, is better."""
    model = getattr(asked, "model", None)
    return asked.better if model is None else model.better


def worst_for_each(asked: Iterable[Measure], attribute: str) -> Iterator[WorstGroup]:
    """Yield the worst-group version of each of some measures.

    Measures whose label does not determine them, because they read a file or have a scenario, have none; nor
    have measures that compare groups already.

    Parameters
    ----------
    asked
        The measures.
    attribute
        The attribute whose values make the groups.

    Examples
    --------
    >>> from sfumato.measures import GeneralLoss
    >>> [each.label for each in worst_for_each([GeneralLoss()], "sex")]
    ['worst-group-loss attribute=sex of=general-loss']
    """
    for measure in asked:
        if not isinstance(measure, WorstGroup) and _is_told_by_label(measure):
            of_group = WorstGroupRisk if measure.axis == "privacy" else WorstGroupLoss
            yield of_group(attribute, measure.label)


def _is_told_by_label(asked: Measure) -> bool:
    try:
        return bool(build_measure(asked.label) == asked)
    except ParameterError:
        return False
