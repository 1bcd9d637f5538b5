"""Estimates: what a release says about the original, as weights spread over the original values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.kernels.weight_estimates import (
    Conjunctions,
    LabelArrays,
    MixtureArrays,
    NodeShares,
    Units,
    add_up,
    even_runs,
    label_totals,
    node_distributions,
    row_densities,
    shares_by_node,
)
from sfumato.measures.utility.estimation.subpopulations import AttributeNodes, Populations
from sfumato.runtime.arrays import Codes, Floats, Integers, freeze_fields, sealed

_BLOCK = 2**17
"""How many numbers of a result are computed at a time, so that little is held and Ctrl-C is heard."""

_LEAST_LINES = 32
"""So many lines are computed at a time at least: each time has a price, too."""


@dataclass(frozen=True, eq=False)
class Spread:
    """How the labels of one quasi-identifier spread over its original values.

    Parameters
    ----------
    label_of
        The label of each unit.
    starts, codes, masses
        Label ``i`` lies on ``codes[starts[i]:starts[i + 1]]``, on each in proportion to its mass.
    n_codes
        The number of original values.
    """

    label_of: Codes
    starts: Integers
    codes: Codes
    masses: Floats
    n_codes: int

    def __post_init__(self) -> None:
        freeze_fields(self, label_of=np.int32, starts=np.int64, codes=np.int32, masses=np.float64)

    @cached_property
    def totals(self) -> Floats:
        """The mass of each label."""
        return sealed(label_totals(self.starts, self.masses))

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.starts) - 1

    @classmethod
    def of_codes(cls, codes: Codes, n_codes: int) -> Spread:
        """Return units that lie on one code each."""
        return cls(codes, np.arange(n_codes + 1), np.arange(n_codes), np.ones(n_codes), n_codes)

    def with_anything(self) -> Spread:
        """Return the spread with one more unit and one more label, spread evenly over all codes."""
        return Spread(
            np.append(self.label_of, self.n_labels),
            np.append(self.starts, self.starts[-1] + self.n_codes),
            np.append(self.codes, np.arange(self.n_codes)),
            np.append(self.masses, np.ones(self.n_codes)),
            self.n_codes,
        )

    def take(self, units: Integers) -> Spread:
        """Return the spread of these units."""
        return Spread(sealed(self.label_of[units]), self.starts, self.codes, self.masses, self.n_codes)


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Distributions over the values of a sensitive attribute, only values that occur in each.

    Mixture ``i`` has the values ``values[starts[i]:starts[i + 1]]``, each in proportion to its count.
    Those of several attributes may stand beside one another, their values numbered through.

    Parameters
    ----------
    firsts
        Where the values of each attribute begin; by default there is only one.
    """

    starts: Integers
    values: Codes
    counts: Floats
    n_values: int
    firsts: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        freeze_fields(self, starts=np.int64, values=np.int32, counts=np.float64)

    @classmethod
    def beside(cls, parts: Sequence[Mixtures]) -> Mixtures:
        """Combine the mixtures of several attributes of the same units."""
        *firsts, n_values = np.cumsum([0, *(part.n_values for part in parts)]).tolist()
        mixture = [np.repeat(np.arange(len(part.starts) - 1), np.diff(part.starts)) for part in parts]
        order = np.argsort(np.concatenate(mixture), kind="stable")
        values = [part.values + first for part, first in zip(parts, firsts, strict=True)]
        return cls(
            np.sum([part.starts for part in parts], axis=0),
            np.concatenate(values)[order],
            np.concatenate([part.counts for part in parts])[order],
            n_values,
            tuple(firsts),
        )

    @property
    def first_values(self) -> tuple[int, ...]:
        """Where the values of each attribute begin, and where the last ones end."""
        return (*self.firsts, self.n_values)

    @cached_property
    def totals(self) -> Floats:
        """The sum of the counts of each mixture, which is the same for each attribute."""
        return sealed(label_totals(self.starts, self.counts) / len(self.firsts))

    @property
    def arrays(self) -> MixtureArrays:
        """The arrays for kernels."""
        return MixtureArrays(self.starts, self.values, self.counts, self.totals)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a release says about the original table, as weighted units.

    A unit is a number of records about which the release says the same. Each quasi-identifier of a
    unit spreads over original values independently of the others, and so do the sensitive values: the
    estimated number of records with values v and s is the sum over the units of
    weight · Π share(v) · share(s).

    Parameters
    ----------
    weights
        The number of records of each unit.
    spreads
        For each quasi-identifier how it spreads.
    mixture_of, mixtures
        Which mixture of sensitive values each unit has; units with the same stand together.
    """

    weights: Floats = field(repr=False)
    spreads: tuple[Spread, ...] = field(repr=False)
    mixture_of: Integers = field(repr=False)
    mixtures: Mixtures = field(repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, weights=np.float64, mixture_of=np.int64)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.weights)

    @cached_property
    def labels(self) -> Codes:
        """The labels of all units, one line for each quasi-identifier."""
        lines = [spread.label_of for spread in self.spreads]
        return sealed(np.array(lines, dtype=np.int32).reshape(len(lines), self.n_units))

    @property
    def units(self) -> Units:
        """The arrays for kernels."""
        return Units(self.labels, self.weights, self.mixture_of)

    @cached_property
    def overall(self) -> Floats:
        """The estimated number of records with each sensitive value."""
        amounts = add_up(self.mixture_of, self.weights, len(self.mixtures.totals))
        scale = np.repeat(amounts / self.mixtures.totals, np.diff(self.mixtures.starts))
        return sealed(add_up(self.mixtures.values, scale * self.mixtures.counts, self.mixtures.n_values))

    @cached_property
    def entries(self) -> tuple[Integers, Integers, Floats]:
        """Each sensitive value of each unit: the unit, the place in the mixtures, the amount."""
        lengths = np.diff(self.mixtures.starts)[self.mixture_of]
        units = np.repeat(np.arange(self.n_units), lengths)
        offsets = np.arange(len(units)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = self.mixtures.starts[self.mixture_of][units] + offsets
        scale = self.weights / self.mixtures.totals[self.mixture_of]
        return units, places, scale[units] * self.mixtures.counts[places]

    @cached_property
    def all_labels(self) -> LabelArrays:
        """The labels of all quasi-identifiers, concatenated."""
        lengths = [np.diff(spread.starts) for spread in self.spreads]
        return LabelArrays(
            sealed(np.concatenate([[0], np.cumsum(np.concatenate(lengths))])),
            sealed(np.cumsum([0] + [spread.n_labels for spread in self.spreads])),
            sealed(np.concatenate([spread.codes for spread in self.spreads])),
            sealed(np.concatenate([spread.masses for spread in self.spreads])),
            sealed(np.concatenate([spread.totals for spread in self.spreads])),
            sealed(np.concatenate([even_runs(s.starts, s.codes, s.masses) for s in self.spreads])),
        )

    def in_populations(self, populations: Populations) -> Iterator[Floats]:
        """Yield the estimated counts of the sensitive values in each population, a block at a time."""
        shares = self.shares_in(populations.nodes)
        conjunctions = Conjunctions(
            populations.depths, populations.last_nodes, populations.nodes.attribute_of
        )
        step = max(_LEAST_LINES, _BLOCK // self.mixtures.n_values)
        for first in range(0, len(populations), step):
            last = min(first + step, len(populations))
            expected = np.zeros((last - first, self.mixtures.n_values))
            node_distributions(conjunctions, first, last, self.units, self.mixtures.arrays, shares, expected)
            yield expected

    def on_rows(self, rows: Codes, values: Codes) -> Floats:
        """Return the estimated number of records with these codes and this sensitive value.

        Parameters
        ----------
        rows
            The codes, one line for each quasi-identifier, one column for each row.
        values
            The sensitive value of each row.
        """
        order = np.argsort([-spread.n_codes for spread in self.spreads], kind="stable")
        by_beginning = np.lexsort(rows[order[::-1]])
        singles = AttributeNodes.single_codes([spread.n_codes for spread in self.spreads])
        expected = np.empty(len(values))
        expected[by_beginning] = row_densities(
            np.ascontiguousarray(rows[:, by_beginning]),
            values[by_beginning],
            order,
            singles.first_code,
            self.units,
            self.mixtures.arrays,
            self.mixtures.n_values,
            self.shares_in(singles),
        )
        return expected

    def with_suppressed(self, n_suppressed: float) -> Estimate:
        """Return this estimate with more records, or people that they represent, that may be anything.

        Their sensitive values are those of the others; one more record, spread over all values, keeps
        a value that none of the others has from being impossible.
        """
        n_values = self.mixtures.n_values
        mixtures = Mixtures(
            np.append(self.mixtures.starts, self.mixtures.starts[-1] + n_values),
            np.append(self.mixtures.values, np.arange(n_values)),
            np.append(self.mixtures.counts, self.overall + 1 / n_values),
            n_values,
        )
        return Estimate(
            np.append(self.weights, n_suppressed),
            tuple(spread.with_anything() for spread in self.spreads),
            np.append(self.mixture_of, len(mixtures.totals) - 1),
            mixtures,
        )

    def shares_in(self, nodes: AttributeNodes) -> NodeShares:
        """Return for each node the labels of its attribute that overlap it, with their shares."""
        parts = []
        for place, spread in enumerate(self.spreads):
            first, last = nodes.first_code[place : place + 2]
            parts.append(
                shares_by_node(
                    spread.starts,
                    spread.codes,
                    spread.masses,
                    spread.totals,
                    nodes.node_starts[first : last + 1],
                    nodes.nodes_of_code,
                    len(nodes),
                )
            )
        counts = np.sum([np.diff(starts) for starts, _, _ in parts], axis=0)
        return NodeShares(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([labels for _, labels, _ in parts]),
            np.concatenate([shares for _, _, shares in parts]),
            max(spread.n_labels for spread in self.spreads),
        )
