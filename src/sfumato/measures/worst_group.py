"""The group that does worst: a measure taken for the people of each value of an attribute."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato import registry
from sfumato.arrays import Booleans, Integers
from sfumato.errors import ParameterError, suggestion
from sfumato.facts import (
    EVERY_KIND,
    AttributeName,
    Axis,
    Better,
    Detail,
    Guards,
    MeasureName,
    RecordKind,
    Words,
)
from sfumato.measures.base import Measure, Measurement, NotApplicable, measure, worst_value
from sfumato.registry import register
from sfumato.release import Release, without_rows
from sfumato.table import Table, text

_DETAILS = {"group": Detail("the group"), "best": Detail("of the best-off group")}


@dataclass(frozen=True)
class _WorstGroup(Measure):
    """A measure taken for each value of an attribute; the value is that of the group that does worst."""

    attribute: AttributeName = ""
    of: MeasureName = "utility-loss"
    smallest: int = 100

    better: ClassVar[Better] = "lower"

    def __post_init__(self) -> None:
        if self.smallest < 1:
            raise ParameterError(f"smallest must be at least 1, not {self.smallest}")
        asked = registry.build_measure(self.of)
        if isinstance(asked, _WorstGroup) or asked.axis != self.axis or _better(asked) != self.better:
            raise ParameterError(
                f"of: {self.of!r} is no measure of {self.axis} where {self.better} is better"
            )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the worst of all groups that are large enough, and the best in the detail."""
        found = dict(self._by_group(release))
        if not found:
            raise NotApplicable(f"{self.of} does not apply to any group of {self.smallest} people")
        ranked = sorted(found, key=lambda group: found[group], reverse=self.better == "lower")
        return (
            self.taken(
                found[ranked[0]],
                detail={"group": ranked[0], "best": found[ranked[-1]], "groups": len(ranked)},
            ),
        )

    def _by_group(self, release: Release) -> Iterator[tuple[str, float]]:
        """Yield what the measure says of each group."""
        table = release.original
        if table is None:
            raise NotApplicable("the original is needed, and the release was read from files alone")
        name = self.attribute or next(iter(release.schema.quasi_identifiers), "")
        if not name:
            raise NotApplicable("the release has no quasi-identifier; name the attribute that makes groups")
        if name not in release.cells:
            hint = suggestion(name, release.cells) or f"; it has {', '.join(release.cells)}"
            raise ParameterError(f"the release has no attribute {name!r}{hint}")
        column = table[name]
        for code in np.unique(column.codes).tolist():
            members = column.codes == code
            if int(table.weights[members].sum()) < self.smallest:
                continue
            part = self.of_group(release, table, name, members)
            value = None if part is None else worst_value(measure(part, [self.of]), self.of)
            if value is not None:
                yield text(column.domain[code]) or "missing", value

    @abstractmethod
    def of_group(self, release: Release, table: Table, name: str, members: Booleans) -> Release | None:
        """Return what the measure is taken of, for the people in these rows of the original."""


@register
@dataclass(frozen=True)
class WorstGroupLoss(_WorstGroup):
    """A utility measure for the group of people who lose most by it.

    For each value of an attribute the measure compares the released records of these people with their
    original ones; of synthetic records, and where it is not known which record is which, those that are
    released with the value. Small groups are left out.

    Parameters
    ----------
    attribute
        The attribute whose values make the groups; by default the first quasi-identifier.
    of
        The measure: one of utility where lower is better.
    smallest
        How many records a group must have.

    References
    ----------
    C. Task et al., "SDNist" and the "diverse communities data excerpts", NIST, 2023.

    Examples
    --------
    >>> from sfumato import AsIs, datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> WorstGroupLoss("sex", of="general-loss", smallest=1).measure(release)[0].value
    0.0
    """

    axis: ClassVar[Axis] = "utility"
    judges: ClassVar[tuple[RecordKind, ...]] = EVERY_KIND
    words: ClassVar[Words] = Words(
        "loss of the worst-off group",
        "What is lost for the group of people, of all values of an attribute, who lose most.",
        "Near the loss of the best-off group: nobody pays for the others.",
        "as the measure that is taken",
        details=_DETAILS,
    )

    def of_group(self, release: Release, table: Table, name: str, members: Booleans) -> Release | None:
        """Return the group's released records as a release of its original ones."""
        released = _released_with(release, name, members)
        if not released.any():
            return None
        rows = np.flatnonzero(members)
        part = table.part(rows, table.weights[rows])
        place = np.cumsum(members) - 1
        kept = without_rows(release, ~released)
        return replace(
            kept,
            original=part,
            rows=None if kept.rows is None else place[kept.rows],
            n_original=part.n_records,
            earlier=(),
        )


@register
@dataclass(frozen=True)
class WorstGroupRisk(_WorstGroup):
    """A privacy measure for the group of people who are found, or learned about, best.

    For each value of an attribute the measure looks at the classes (or, where sensitive values are told for
    groups, at these) that hold a released record of such a person, whole as they are. Small groups are left
    out.

    Parameters
    ----------
    attribute
        The attribute whose values make the groups; by default the first quasi-identifier.
    of
        The measure: one of privacy where lower is better, that looks at classes.
    smallest
        How many records a group must have.

    References
    ----------
    C. Task et al., "SDNist" and the "diverse communities data excerpts", NIST, 2023.

    Examples
    --------
    >>> from sfumato import AsIs, datasets, sanitize
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

    def of_group(self, release: Release, table: Table, name: str, members: Booleans) -> Release | None:
        """Return the classes that hold somebody of the group."""
        released = _released_with(release, name, members)
        if not released.any():
            return None
        partition = release.groups if release.group_of is not None else release.classes
        held = np.zeros(partition.n_classes, dtype=np.bool_)
        held[partition.class_of[released]] = True
        return without_rows(release, ~held[partition.class_of])


def _released_with(release: Release, name: str, members: Booleans) -> Booleans:
    """Return which released rows are those of the group, by the original or by the released value."""
    if release.rows is not None:
        return members[release.rows]
    table, cells = release.original, release.cells[name]
    assert table is not None
    if cells.sets is None or not cells.sets.exact:
        raise NotApplicable(f"the released values of {name!r} do not tell who is in which group")
    codes: Integers = cells.sets.members[cells.codes]
    in_group = np.zeros(len(table[name].domain), dtype=np.bool_)
    in_group[table[name].codes[members]] = True
    return in_group[codes]


def _better(asked: Measure) -> Better:
    model = getattr(asked, "model", None)
    return asked.better if model is None else model.better
