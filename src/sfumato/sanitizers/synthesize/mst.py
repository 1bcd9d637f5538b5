"""MST: differentially private synthetic data from a spanning tree of noisy two-way counts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Above, AtLeast, AtMost, Below, Guarantee, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.arrays import Floats, Integers
from sfumato.sanitizers.base import MadeRecords, PrivacyBudget
from sfumato.sanitizers.synthesize.noisy_counts import noisy_largest, variance_of, with_noise
from sfumato.sanitizers.synthesize.private_synthesis import (
    Fitting,
    budget_guarantee,
    count_singly,
    synthesize,
)
from sfumato.sanitizers.synthesize.tree_model import Counted, Edge, fit_tree

_MOST_PAIRS = 1 << 16
"""Two attributes with more pairs of values than this are not counted together."""


@register
@dataclass(frozen=True)
class MST:
    """Draw synthetic records from a tree of noisy two-way counts, differentially private for each person.

    A third of the budget counts the values of every attribute, a third chooses the pairs of attributes with
    the strongest dependence (a spanning tree, edge by edge by the exponential mechanism), and a third counts
    the pairs of values along its edges. A tree-shaped model is fitted to these counts, and records are drawn
    from it. OpenDP does the noise and the accounting, in zero-concentrated differential privacy and from a
    cryptographic source, so two runs differ.

    Everything taken from the data is paid for. Delta pays for the set of values that occur: a value that too
    few people have does not appear, and an attribute in which no value has enough people is withheld. Numbers
    with intervals are counted in the narrowest of them and drawn uniformly within. The intervals, hierarchies
    and roles of the schema, and whether numbers are whole, count as public knowledge.

    Parameters
    ----------
    epsilon, delta
        The guarantee: adding or removing a person's records changes the probability of any outcome at most
        by the factor e^epsilon, plus delta. Delta should be far below one in the number of people.
    n_records
        How many records to draw; 0 draws as many as the table has, counted with noise.
    records_per_person
        How many records of a person count, if the schema names the column that identifies people: further
        records are dropped at random. Noise grows with this number.

    References
    ----------
    R. McKenna, G. Miklau, D. Sheldon, "Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data", 2021; R. Rogers, "A unifying privacy analysis framework for
    unknown domain algorithms in differential privacy", 2023 (which values may be told).

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), MST(epsilon=100.0, n_records=50))
    >>> release.type, release.n_records
    ('synthetic', 50)
    """

    epsilon: PrivacyBudget = 1.0
    delta: Annotated[float, Above(0), Below(1)] = 1e-6
    n_records: MadeRecords = 0
    records_per_person: Annotated[int, AtLeast(1), AtMost(1_000_000)] = 1

    release_type: ClassVar[ReleaseType] = "synthetic"
    repeatable: ClassVar[bool] = False
    plain: ClassVar[str] = "synthetic records with a guarantee (epsilon {epsilon})"
    does: ClassVar[str] = (
        "Synthetic records are drawn from a model of noisy counts that is differentially private."
    )
    times_mondrian: ClassVar[float] = 5.0
    always_named: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release synthetic records."""
        return synthesize(self, table, schema, rng, count_along_tree)

    def guarantee(self, schema: Schema) -> Guarantee:
        """Return the differential privacy guarantee, which holds for everyone, whatever their records are."""
        return budget_guarantee(self, schema)


def count_along_tree(keys: Sequence[Integers], rho: float, delta: float, sensitivity: int) -> Fitting:
    """Spend a budget on noisy counts of values and of pairs of values along a spanning tree.

    Parameters
    ----------
    keys
        For each attribute the key of each record.
    rho, delta
        The total budget; delta pays for the set of keys that occur.
    sensitivity
        How many records one person may have.
    """
    third = rho / 3
    singles = count_singly(keys, third, delta, sensitivity)
    places, sizes = singles.places, [len(values) for values in singles.known]
    tree = spanning_tree(
        places,
        [counted_values.counts for counted_values in singles.single],
        singles.total,
        third,
        sensitivity,
    )
    pairs = {
        (one, other): Counted(
            with_noise(
                _pair_counts(places[one], places[other], sizes[one], sizes[other]),
                third / len(tree),
                sensitivity,
            ),
            variance_of(third / len(tree), sensitivity),
        )
        for one, other in tree
    }
    return Fitting(singles.total, singles.known, fit_tree(singles.total, singles.single, pairs))


def spanning_tree(
    places: Sequence[Integers], singles: Sequence[Floats], total: float, rho: float, sensitivity: int
) -> list[Edge]:
    """Choose, edge by edge and with noise, the pairs of attributes that are furthest from independence.

    Parameters
    ----------
    places
        For each attribute the value of each record, or -1 if it is not disclosed.
    singles
        For each attribute the noisy counts of its values.
    total
        The noisy number of records.
    rho
        The total budget.
    sensitivity
        How many records one person may have, which is how much one person changes a score.
    """
    several = [place for place, counts in enumerate(singles) if len(counts) > 1]
    scores = {
        (one, other): dependence(places[one], places[other], singles[one], singles[other], total)
        for one, other in itertools.combinations(several, 2)
        if len(singles[one]) * len(singles[other]) <= _MOST_PAIRS
    }
    tree: list[Edge] = []
    component = {place: place for place in several}
    while open_edges := [edge for edge in scores if component[edge[0]] != component[edge[1]]]:
        rho_per_edge = rho / (len(several) - 1)
        edge = open_edges[noisy_largest([scores[edge] for edge in open_edges], rho_per_edge, sensitivity)]
        tree.append(edge)
        joined = component[edge[1]]
        component = {p: component[edge[0]] if c == joined else c for p, c in component.items()}
    return tree


def dependence(one: Integers, other: Integers, of_one: Floats, of_other: Floats, total: float) -> int:
    """Return the total number of records by which the pairs of values differ from independence.

    The expected counts come from noisy counts alone and are rounded, so one record more or less changes the
    result by at most 1.
    """
    shares = [
        np.maximum(counts, 0.0) / max(np.maximum(counts, 0.0).sum(), 1.0) for counts in (of_one, of_other)
    ]
    expected = np.rint(total * np.outer(*shares)).astype(np.int64)
    pair_counts = _pair_counts(one, other, len(of_one), len(of_other))
    return int(np.abs(pair_counts - expected).sum())


def _pair_counts(one: Integers, other: Integers, n_one: int, n_other: int) -> Integers:
    both = (one >= 0) & (other >= 0)
    counts = np.bincount(one[both] * n_other + other[both], minlength=n_one * n_other)
    return counts.reshape(n_one, n_other)
