"""MST: differentially private synthetic data from a spanning tree of noisy two-way counts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Above, AtLeast, AtMost, Below, Guarantee, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers.base import MadeRecords, PrivacyBudget
from sfumato.sanitizers.synthesize.private_records import PrivateRecords
from sfumato.sanitizers.synthesize.private_synthesis import (
    budget_guarantee,
    budget_rho,
    count_singly,
    synthesize,
)
from sfumato.sanitizers.synthesize.tree_model import Edge, TreeModel, fit_tree

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

    Everything that it takes from the records is paid for. The rest is the public part of the schema, which
    you declare: kinds, wholeness, bounds, domains, hierarchies and roles. It refuses to guess them. Delta
    pays for values that are not declared: one that too few people have does not appear, and an attribute in
    which no value has enough people is withheld, with a warning. Numbers with intervals are counted in the
    narrowest of them and drawn uniformly within.

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
    needs_extra: ClassVar[str | None] = "dp"

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release synthetic records."""
        return synthesize(self, table, schema, rng, count_along_tree)

    def guarantee(self, schema: Schema) -> Guarantee:
        """Return the differential privacy guarantee, which holds for everyone, whatever their records are."""
        return budget_guarantee(self, schema)

    def rho(self) -> float:
        """Return what is spent in zero-concentrated differential privacy, next to half of delta."""
        return budget_rho(self)


def count_along_tree(records: PrivateRecords) -> TreeModel:
    """Spend the budget on noisy counts of values and of pairs of values along a spanning tree."""
    third = records.rho / 3
    count_singly(records, third)
    tree = spanning_tree(records, third)
    pairs = {(one, other): records.count_pairs(one, other, third / len(tree)) for one, other in tree}
    return fit_tree(records.total, [records.counted[place] for place in range(records.n_attributes)], pairs)


def spanning_tree(records: PrivateRecords, rho: float) -> list[Edge]:
    """Choose, edge by edge and with noise, the pairs of attributes that are furthest from independence."""
    sizes = {place: len(known) for place, known in records.known.items() if len(known) > 1}
    pairs = [
        (one, other)
        for one, other in itertools.combinations(sizes, 2)
        if sizes[one] * sizes[other] <= _MOST_PAIRS
    ]
    tree: list[Edge] = []
    component = {place: place for place in sizes}
    while open_edges := [edge for edge in pairs if component[edge[0]] != component[edge[1]]]:
        edge = records.furthest_pair(open_edges, rho / (len(sizes) - 1))
        tree.append(edge)
        joined = component[edge[1]]
        component = {p: component[edge[0]] if c == joined else c for p, c in component.items()}
    return tree
