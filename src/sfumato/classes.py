"""EquivalenceClasses: what the adversary sees of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from sfumato.arrays import Codes, Floats, Integers, frozen, sealed
from sfumato.hierarchy import Hierarchy, Label


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
class SensitiveCounts:
    """How often each sensitive value occurs in each class, and in the whole original (the prior).

    Only values that occur in a class are listed: class ``i`` owns the entries from ``starts[i]`` up to
    ``starts[i + 1]``, its values ascending.
    """

    starts: Integers
    values: Codes
    counts: Integers
    prior: Floats
    domain: SensitiveDomain = SensitiveDomain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", frozen(self.starts, np.int64))
        object.__setattr__(self, "values", frozen(self.values, np.int32))
        object.__setattr__(self, "counts", frozen(self.counts, np.int64))
        object.__setattr__(self, "prior", frozen(self.prior, np.float64))

    @cached_property
    def sizes(self) -> Integers:
        """The number of records of each class."""
        return sealed(self.total(self.counts))

    @cached_property
    def shares(self) -> Floats:
        """For each entry p(E, s), the share of its value in its class."""
        return sealed(self.counts / np.repeat(self.sizes, np.diff(self.starts)))

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
    """

    class_of: Integers
    sizes: Integers
    sensitive: Mapping[str, SensitiveCounts]

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_of", frozen(self.class_of, np.int64))
        object.__setattr__(self, "sizes", frozen(self.sizes, np.int64))

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
) -> EquivalenceClasses:
    """Count the records and the sensitive values of each class.

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
    """
    from sfumato.kernels.grouping import sum_by_group, value_counts

    counted = {
        name: SensitiveCounts(
            *value_counts(class_of, n_classes, codes, len(prior), weights),
            prior,
            domains.get(name, SensitiveDomain()),
        )
        for name, (codes, prior) in sensitive.items()
    }
    return EquivalenceClasses(class_of, sum_by_group(class_of, n_classes, weights), counted)
