"""Measures by group: measure the people of each value of an attribute separately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sfumato.registry.declarations import RecordCount, check_bound
from sfumato.registry.display import Picture, as_pandas, listed
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, Measurement, json_value, measure, measure_group, worst_value
from sfumato.results.people_groups import groups_of
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SMALLEST = 100
"""Groups of fewer records are left out: a figure of few people says little."""


@dataclass(frozen=True, repr=False)
class ByGroup:
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
    groups: Mapping[str, tuple[Measurement, ...]] = field(repr=False)
    everybody: tuple[Measurement, ...] = field(repr=False)
    n_left_out: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The measures, by their labels."""
        return tuple(dict.fromkeys(measurement.label for measurement in self.everybody))

    def values(self, label: str) -> dict[str, float | None]:
        """Return the value of a measure for each group, the worst over the sensitive attributes."""
        return {name: worst_value(measurements, label) for name, measurements in self.groups.items()}

    def worst(self, label: str) -> str | None:
        """Return the group with the worst value of a measure; ``None`` if it applies to none."""
        values = {name: value for name, value in self.values(label).items() if value is not None}
        if not values:
            return None
        lower = (
            next(measurement.better for measurement in self.everybody if measurement.label == label)
            == "lower"
        )
        return (max if lower else min)(values, key=lambda name: values[name])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "attribute": self.attribute,
            "left-out": self.n_left_out,
            "groups": [
                {
                    "group": name,
                    "records": self.sizes[name],
                    "values": {label: json_value(self.values(label)[name]) for label in self.labels},
                }
                for name in self.groups
            ],
            "worst": {label: self.worst(label) for label in self.labels},
        }

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
        from sfumato.workflow.report.group_chart import groups_chart

        return Picture(groups_chart(self))

    def __repr__(self) -> str:
        return f"<ByGroup {self.attribute}: {listed(self.labels)} of {len(self.groups):,} groups>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import by_group_html

        return by_group_html(self)


def measure_by(
    release: Release,
    measures: Iterable[str | Mapping[str, Any] | Measure],
    attribute: str,
    *,
    smallest: int = SMALLEST,
) -> ByGroup:
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
    asked = list(measures)
    try:
        groups = list(groups_of(release, attribute, smallest))
    except NotApplicable as reason:
        raise ParameterError(f"nothing can be measured by {attribute!r}: {reason}") from None
    if not groups:
        raise ParameterError(too_small(attribute, smallest))
    sizes = {group.name: group.n_records for group in groups}
    return ByGroup(
        attribute,
        sizes,
        {group.name: tuple(measure_group(release, group, asked)) for group in groups},
        tuple(measure(release, asked)),
        release.n_original - sum(sizes.values()),
    )


def too_small(attribute: str, smallest: int) -> str:
    """Return the message for groups that are all too small."""
    return f"no value of {attribute!r} has {smallest:,} records; take a smaller number with smallest"
