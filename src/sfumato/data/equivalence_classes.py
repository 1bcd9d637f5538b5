"""Equivalence classes: groups of released records that an adversary cannot tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from sfumato.data.hierarchy import Hierarchy, Label
from sfumato.data.table import People
from sfumato.runtime.arrays import Codes, Floats, Integers, freeze_fields, sealed


@dataclass(frozen=True)
class SensitiveDomain:
    """What the codes of a sensitive attribute mean, for models that need to know.

    Parameters
    ----------
    labels
        The value behind each code.
    hierarchy
        How the values generalize; without one all are equally far apart.
    """

    labels: tuple[Label, ...] = field(default=(), repr=False)
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """What is counted otherwise where somebody has several records in a class.

    Parameters
    ----------
    sizes
        How many people each class has.
    contributions
        For each entry what the people of the class contribute to the value: each of them 1, shared among
        their records there.
    different
        How many different values each class has, those that one person alone has counted once, and no more
        than people.
    """

    sizes: Integers
    contributions: Floats
    different: Integers


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """How many people of each class have each sensitive value, and the whole original (the prior).

    Only values that occur in a class are listed: class ``i`` owns the entries from ``starts[i]`` up to
    ``starts[i + 1]``, its values ascending.

    Parameters
    ----------
    counts
        For each entry how many people of the class have the value at all.
    people
        Where somebody has several records: what that changes. Without it every record is another person's.
    """

    starts: Integers
    values: Codes
    counts: Integers
    prior: Floats
    domain: SensitiveDomain = SensitiveDomain()
    people: SharedCounts | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, starts=np.int64, values=np.int32, counts=np.int64, prior=np.float64)

    @cached_property
    def sizes(self) -> Integers:
        """The number of people of each class."""
        return sealed(self.total(self.counts)) if self.people is None else self.people.sizes

    @cached_property
    def shares(self) -> Floats:
        """For each entry p(E, s), the share of its value in its class; a person counts once in a class."""
        if self.people is None:
            return self.having
        return sealed(self.people.contributions / self.each(self.sizes))

    @property
    def contributions(self) -> Integers | Floats:
        """For each entry what the people of its class contribute to it: each of them 1 in all."""
        return self.counts if self.people is None else self.people.contributions

    @cached_property
    def having(self) -> Floats:
        """For each entry the share of the people of its class who have its value at all."""
        return sealed(self.counts / self.each(self.sizes))

    @cached_property
    def reached(self) -> Floats:
        """For each entry the share of all values of its class up to this one."""
        if self.people is not None:
            from sfumato.kernels.people_counts import running_totals

            return sealed(running_totals(self.starts, self.people.contributions) / self.each(self.sizes))
        # counted in integers: a running sum of the shares of many classes would lose its last digits
        counted = np.cumsum(self.counts)
        earlier = (counted - self.counts)[self.starts[:-1]]
        return sealed((counted - self.each(earlier)) / self.each(self.sizes))

    @cached_property
    def n_different(self) -> Integers:
        """How many different values each class has; those that one person alone has are one together."""
        return sealed(np.diff(self.starts)) if self.people is None else self.people.different

    def each(self, of_class: np.ndarray) -> np.ndarray:
        """Return for each entry what its class has."""
        return np.repeat(of_class, np.diff(self.starts))

    @cached_property
    def priors(self) -> Floats:
        """For each entry p(T, s), the share of its value in the original."""
        return sealed(self.prior[self.values])

    def total(self, entries: np.ndarray) -> np.ndarray:
        """Add up the entries of each class."""
        return np.add.reduceat(entries, self.starts[:-1])

    def largest(self, entries: np.ndarray) -> np.ndarray:
        """Return the largest entry of each class."""
        return np.maximum.reduceat(entries, self.starts[:-1])


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """One partition of the released records, with the sensitive values in each part.

    Parameters
    ----------
    class_of
        The class of each released row.
    sizes
        The number of records of each class.
    sensitive
        For each sensitive attribute its counts and its prior.
    persons
        The number of different people of each class, where somebody has several records.
    """

    class_of: Integers
    sizes: Integers
    sensitive: Mapping[str, SensitiveCounts]
    persons: Integers | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, class_of=np.int64, sizes=np.int64, persons=np.int64)

    @property
    def people(self) -> Integers:
        """The number of different people of each class: of records, where nobody has several."""
        return self.sizes if self.persons is None else self.persons

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.sizes.sum())


def count_classes(
    class_of: Integers,
    n_classes: int,
    weights: Integers,
    sensitive: Mapping[str, tuple[Codes, Floats]],
    domains: Mapping[str, SensitiveDomain] = MappingProxyType({}),
    people: People | None = None,
) -> EquivalenceClasses:
    """Count the records, the people and the sensitive values of each class.

    Parameters
    ----------
    class_of
        The class of each row, numbered from 0, none of them empty.
    n_classes
        How many there are.
    weights
        The number of records of each row.
    sensitive
        For each sensitive attribute the codes of the rows and the prior over the codes.
    domains
        For each sensitive attribute what the codes mean.
    people
        Whose the rows are; without it every record is another person's.
    """
    from sfumato.kernels.people_counts import people_by_group
    from sfumato.kernels.row_groups import sum_by_group

    counted = {
        name: count_sensitive(
            class_of, n_classes, weights, codes, prior, domains.get(name, SensitiveDomain()), people
        )
        for name, (codes, prior) in sensitive.items()
    }
    sizes = sealed(sum_by_group(class_of, n_classes, weights))
    if people is None:
        return EquivalenceClasses(class_of, sizes, counted)
    # who was counted by their values need not be counted again
    n_people = next((counts.sizes for counts in counted.values()), None)
    if n_people is None:
        n_people = people_by_group(class_of, n_classes, people.person_of, people.n_people)
    return EquivalenceClasses(class_of, sizes, counted, n_people)


def count_sensitive(
    class_of: Integers,
    n_classes: int,
    weights: Integers,
    codes: Codes,
    prior: Floats,
    domain: SensitiveDomain,
    people: People | None,
) -> SensitiveCounts:
    """Count the values of one sensitive attribute in each class; see `count_classes`."""
    from sfumato.kernels.people_counts import value_people
    from sfumato.kernels.row_groups import value_counts

    if people is None:
        starts, values, counts = map(sealed, value_counts(class_of, n_classes, codes, len(prior), weights))
        return SensitiveCounts(starts, values, counts, prior, domain)
    starts, values, having, contributions, sizes, different = value_people(
        class_of, n_classes, people.person_of, people.n_people, codes, len(prior), weights
    )
    shared = SharedCounts(sealed(sizes), sealed(contributions), sealed(different))
    return SensitiveCounts(starts, values, having, prior, domain, shared)


def contributed(
    codes: Codes, n_values: int, weights: Integers, people: People | None
) -> tuple[Integers | Floats, int]:
    """Return what all people contribute to each value, and how many people there are.

    Everybody contributes 1, shared among their records: without people, the number of records.
    """
    from sfumato.kernels.row_groups import sum_by_group

    if people is None:
        return sum_by_group(codes.astype(np.int64), n_values, weights), int(weights.sum())
    of_person = sum_by_group(people.person_of, people.n_people, weights)
    shares = np.bincount(codes, weights / of_person[people.person_of], n_values)
    return shares, int(np.count_nonzero(of_person))
