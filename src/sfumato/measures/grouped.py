"""Any measure by any grouping: its figure for each group of people, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

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
    check_bound,
)
from sfumato.registry.display import Picture, as_pandas, listed
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.json_schemas import ByGroupShape, GroupShape
from sfumato.results.measurement import (
    Measure,
    Measurement,
    build_measure,
    measure,
    measure_group,
    worst_value,
)
from sfumato.results.people_groups import Group, groups_of
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SMALLEST = 100
"""Groups of fewer records are left out: a figure of few people says little."""

_DETAILS = {
    "group": Detail("the group"),
    "best": Detail("of the best-off group"),
    "groups": Detail("of each group"),
}


@dataclass(frozen=True, repr=False)
class Grouped:
    """The measurements of each group of people.

    Parameters
    ----------
    attribute
        The attribute whose values make the groups.
    sizes
        How many original records each group has.
    groups
        The measurements of each group.
    everybody
        The measurements of all people.
    n_left_out
        How many records are in groups that are too small.
    """

    attribute: str
    sizes: Mapping[str, int]
    groups: Mapping[str, Sequence[Measurement]] = field(repr=False)
    everybody: Sequence[Measurement] = field(default=(), repr=False)
    n_left_out: int = 0

    @classmethod
    def of(
        cls,
        release: Release,
        measures: Sequence[str | Mapping[str, Any] | Measure],
        attribute: str,
        smallest: int,
    ) -> Grouped:
        """Measure each group that has so many records, but not everybody."""
        groups = list(groups_of(release, attribute, smallest))
        sizes = {group.name: group.n_records for group in groups}
        measured = {group.name: measure_group(release, group, measures) for group in groups}
        return cls(attribute, sizes, measured, n_left_out=release.n_original - sum(sizes.values()))

    @property
    def labels(self) -> tuple[str, ...]:
        """The measures, by their labels."""
        return tuple(dict.fromkeys(measurement.label for measurement in self.everybody))

    def values(self, label: str) -> dict[str, float | None]:
        """Return the value of a measure for each group, the worst over the sensitive attributes."""
        return {name: worst_value(measurements, label) for name, measurements in self.groups.items()}

    def ranked(self, label: str) -> dict[str, float]:
        """Return the values of the groups that a measure applies to, the worst first."""
        values = {name: value for name, value in self.values(label).items() if value is not None}
        every = (measurement for group in self.groups.values() for measurement in group)
        lower = any(measurement.label == label and measurement.better == "lower" for measurement in every)
        return dict(sorted(values.items(), key=lambda pair: pair[1], reverse=lower))

    def worst(self, label: str) -> str | None:
        """Return the group with the worst value of a measure; ``None`` if it applies to none."""
        return next(iter(self.ranked(label)), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return self.to_shape().to_dict()

    def to_shape(self) -> ByGroupShape:
        """Return the document for JSON."""
        values = {label: self.values(label) for label in self.labels}
        return ByGroupShape.of(
            self,
            groups=[
                GroupShape(
                    group=name,
                    records=self.sizes[name],
                    values={label: by_name[name] for label, by_name in values.items()},
                )
                for name in self.groups
            ],
            worst={label: self.worst(label) for label in self.labels},
        )

    def to_arrow(self) -> pa.Table:
        """Return one row for each group: its name, its records, and every measure."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {
            self.attribute: list(self.groups),
            "records": [self.sizes[name] for name in self.groups],
        }
        return pa.table(columns | {label: list(self.values(label).values()) for label in self.labels})

    def to_pandas(self) -> pd.DataFrame:
        """Return what `to_arrow` returns, as a pandas frame."""
        return as_pandas(self.to_arrow())

    def plot(self) -> Picture:
        """Draw a panel for each measure: every group next to all people, with the worst one marked."""
        from sfumato.workflow.report.charts.group_chart import groups_chart

        return Picture(groups_chart(self))

    def __repr__(self) -> str:
        return f"<Grouped {self.attribute}: {listed(self.labels)} of {len(self.groups):,} groups>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import grouped_html

        return grouped_html(self)


def measure_by(
    release: Release,
    measures: Iterable[str | Mapping[str, Any] | Measure],
    attribute: str,
    *,
    smallest: int = SMALLEST,
) -> Grouped:
    """Measure a release for the people of each value of an attribute.

    A utility measure compares the released records of these people with their original ones. A privacy
    measure looks at the whole classes that contain one of them. An attack is tried on them and on similar
    people who are not in the data.

    Parameters
    ----------
    release
        What would be published.
    measures
        Measures, or their names, as in `measure`.
    attribute
        The released attribute whose values make the groups.
    smallest
        How many original records a group must have.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> found = measure_by(release, ["general-loss", "reidentification-risk"], "sex", smallest=1)
    >>> list(found.sizes), found.worst("general-loss") in found.sizes
    (['Female', 'Male'], True)
    """
    check_bound("smallest", RecordCount, smallest)
    wanted = list(measures)
    try:
        grouped = Grouped.of(release, wanted, attribute, smallest)
    except NotApplicable as reason:
        raise ParameterError(f"nothing can be measured by {attribute!r}: {reason}") from None
    if not grouped.groups:
        raise ParameterError(_too_small(attribute, smallest))
    return replace(grouped, everybody=measure(release, wanted))


def _too_small(attribute: str, smallest: int) -> str:
    return f"no value of {attribute!r} has {smallest:,} records; take a smaller number with smallest"


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
        if isinstance(self.grouped, WorstGroup) or self.grouped.axis != self.axis:
            raise ParameterError(f"of: {self.of!r} is no measure of {self.axis}")

    @cached_property
    def grouped(self) -> Measure:
        """The measure that is taken of each group."""
        return build_measure(self.of)

    @property
    def direction(self) -> Better:
        """Whether lower or higher is better of the measure that is taken of each group."""
        return self.grouped.direction

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the worst of all groups that are large enough, with the others in the detail."""
        attribute = self.attribute or next(iter(release.schema.quasi_identifiers), "")
        if not attribute:
            raise NotApplicable("the release has no quasi-identifier; name the attribute that makes groups")
        figures = Grouped.of(release, [self.grouped], attribute, self.smallest)
        if not figures.groups:
            raise NotApplicable(_too_small(attribute, self.smallest))
        ranked = figures.ranked(self.grouped.label)
        if not ranked:
            silent = (measurement for group in figures.groups.values() for measurement in group)
            reasons = dict.fromkeys(str(m.detail["reason"]) for m in silent if "reason" in m.detail)
            raise NotApplicable(f"{self.of} says nothing of any group of {attribute!r}: {'; '.join(reasons)}")
        worst, best = next(iter(ranked)), next(reversed(ranked))
        values = {name: ranked[name] for name in figures.groups if name in ranked}
        detail = {"group": worst, "best": values[best], "groups": values}
        return (self.measurement(values[worst], detail=detail),)

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Refuse a group: the measure compares all of them."""
        raise NotApplicable("it compares groups, and says nothing of one alone")


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
        ends=("no group loses anything", "some group loses everything"),
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
        ends=("no group is at risk", "some group is fully at risk"),
    )


def worst_for_each(measures: Iterable[Measure], attribute: str) -> Iterator[WorstGroup]:
    """Yield the worst-group version of each of some measures.

    Measures whose label does not determine them, because they read a file or have a scenario, have none; nor
    have measures that compare groups already.

    Parameters
    ----------
    measures
        The measures.
    attribute
        The attribute whose values make the groups.

    Examples
    --------
    >>> from sfumato.measures import GeneralLoss
    >>> [worst.label for worst in worst_for_each([GeneralLoss()], "sex")]
    ['worst-group-loss attribute=sex of=general-loss']
    """
    for wanted in measures:
        if not isinstance(wanted, WorstGroup) and _is_determined_by_label(wanted):
            kind = WorstGroupRisk if wanted.axis == "privacy" else WorstGroupLoss
            yield kind(attribute, wanted.label)


def _is_determined_by_label(wanted: Measure) -> bool:
    try:
        return bool(build_measure(wanted.label) == wanted)
    except ParameterError:
        return False
