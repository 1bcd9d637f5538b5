"""How well attributes that are released unchanged tell records apart.

A model protects the quasi-identifiers, but insensitive attributes are released unchanged. An attribute with a
unique value for many records singles them out whatever k is, and it links releases that share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.kernels.row_groups import number_rows, sum_by_group
from sfumato.results import formatting
from sfumato.results.release import Release

NEAR_UNIQUE = 0.1
"""The share of records that insensitive attributes may leave alone before somebody should be warned."""
MOST = 0.5
"""The same where a sensitive value has to be known, too: most of the records."""


@dataclass(frozen=True)
class Alone:
    """How many records are unique in the values of some attributes.

    Parameters
    ----------
    attributes
        The insensitive attributes, whose values are all known.
    sensitive
        A sensitive attribute whose value is known as well, if any.
    n_alone, n_records
        How many records are alone, and of how many.
    """

    attributes: tuple[str, ...]
    sensitive: str | None
    n_alone: int
    n_records: int

    @property
    def share(self) -> float:
        """The share of unique records."""
        return self.n_alone / self.n_records if self.n_records else 0.0

    @property
    def is_much(self) -> bool:
        """Whether the share calls for a warning."""
        return self.share >= NEAR_UNIQUE if self.sensitive is None else self.share > MOST

    @property
    def figure(self) -> str:
        """The number in words."""
        return f"{self.n_alone:,} of {self.n_records:,} records ({formatting.share(self.share)})"


def alone_by_insensitive(release: Release) -> tuple[Alone, ...]:
    """Count unique records by each insensitive attribute, by all of them, and with a sensitive one.

    If sensitive values are published per group, no record has a value of its own to combine. Synthetic
    records contain nothing unchanged.

    Parameters
    ----------
    release
        A release, or the original.

    Examples
    --------
    >>> from sfumato import Schema, Table
    >>> from sfumato.results.release import released
    >>> table = Table.from_arrow({"age": [1, 1, 2, 2], "visit": [7, 8, 9, 9], "ill": ["a", "a", "a", "b"]})
    >>> schema = Schema.of(age="quasi-identifying", visit="insensitive", ill="sensitive")
    >>> [found.n_alone for found in alone_by_insensitive(released(*schema.bind(table), {}))]
    [2, 4]
    """
    names = tuple(name for name in release.schema.insensitive if name in release.cells)
    if not names or release.type == "synthetic":
        return ()
    singles = [(name,) for name in names]
    known = [*singles, *([names] if len(names) > 1 else [])]
    grouped = release.group_of is not None
    sensitive = () if grouped else tuple(name for name in release.schema.sensitive if name in release.cells)
    return (
        *(_alone(release, attributes, None) for attributes in known),
        *(_alone(release, names, value) for value in sensitive),
    )


def warnings_of(counts: Iterable[Alone]) -> tuple[str, ...]:
    """Return warnings about attributes that make too many records unique."""
    return tuple(map(_warning, told_apart(counts)))


def told_apart(counts: Iterable[Alone]) -> list[Alone]:
    """Return the combinations that call for a warning, without those implied by an earlier one."""
    said: list[Alone] = []
    for alone in counts:
        if alone.is_much and not any(_follows(alone, other) for other in said):
            said.append(alone)
    return said


def _alone(release: Release, attributes: tuple[str, ...], sensitive: str | None) -> Alone:
    cells = [release.cells[name] for name in (*attributes, *([sensitive] if sensitive is not None else []))]
    group_of, n_groups = number_rows(
        [cell.codes for cell in cells], [len(cell.labels) for cell in cells], release.n_rows
    )
    sizes = sum_by_group(group_of, n_groups, release.weights)
    return Alone(attributes, sensitive, int((sizes == 1).sum()), release.n_records)


def _follows(later: Alone, earlier: Alone) -> bool:
    return later.n_alone == earlier.n_alone and set(later.attributes) >= set(earlier.attributes)


def _warning(alone: Alone) -> str:
    one = len(alone.attributes) == 1
    names = formatting.joined(alone.attributes)
    role = (
        f"{names} {'is' if one else 'are'} named insensitive and released as {'it is' if one else 'they are'}"
    )
    if alone.sensitive is not None:
        return (
            f"{role}: with {alone.sensitive}, {alone.figure} are the only ones with their values. Whoever "
            "has another release of the same people, or knows these values of a person, can link them."
        )
    values = "value" if one else "values together"
    return (
        f"{role}: {alone.figure} are the only ones with their {values}, whatever protects the others. "
        "Name what others may know of a person quasi-identifying, and leave out what numbers the records."
    )
