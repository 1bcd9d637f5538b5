"""Markov random fields over attributes: fitted by OpenDP's AIM, sampled here.

OpenDP's AIM is in its extra ``mbi``, which needs the package of that name and JAX. Neither of the two ways in
which mbi 1.1.0 draws records is used. Both draw an attribute given those that it was counted with, but where
dependences form cycles it depends on others as well. And "round" goes through the records in the same order
for every attribute, which makes attributes depend on each other that are independent in the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Floats, Integers
from sfumato.sanitizers.opendp import opendp_with_mbi
from sfumato.sanitizers.synthesize.private_records import PrivateRecords
from sfumato.sanitizers.synthesize.private_synthesis import Model
from sfumato.sanitizers.synthesize.tree_model import Counted, distribute, fit_tree


@dataclass(frozen=True)
class DisclosedValues:
    """A query of the disclosed values of a model; the last cell, for all others, was never counted."""

    n_values: int

    def __call__(self, marginal: Any) -> Any:
        """Return the cells of the disclosed values."""
        return marginal.datavector()[: self.n_values]


@dataclass(frozen=True, eq=False)
class DrawingStep:
    """How one attribute is drawn.

    Parameters
    ----------
    place
        Which attribute.
    parents
        The attributes on whose values it depends, drawn before.
    counts
        How many records have each combination of their values and, on the last axis, its own.
    """

    place: int
    parents: tuple[int, ...]
    counts: Floats

    def of_disclosed_values(self) -> DrawingStep:
        """Drop the last cell of every axis, which stands for undisclosed values."""
        return replace(self, counts=self.counts[(slice(-1),) * self.counts.ndim])


@dataclass(frozen=True, eq=False)
class MarkovField:
    """A Markov random field over the attributes that have several values.

    Parameters
    ----------
    steps
        How each attribute of the field is drawn, after those that it depends on.
    n_attributes
        The number of attributes; those outside the field have one value.
    """

    steps: tuple[DrawingStep, ...]
    n_attributes: int

    def drawn(self, n_records: int, rng: np.random.Generator) -> tuple[Integers, ...]:
        """Draw records: for each attribute the value of each record."""
        values: list[Integers] = [np.zeros(n_records, dtype=np.int64) for _ in range(self.n_attributes)]
        for step in self.steps:
            *sizes, n_values = step.counts.shape
            groups: Integers = np.zeros(n_records, dtype=np.int64)
            for parent, size in zip(step.parents, sizes, strict=True):
                groups = groups * size + values[parent]
            values[step.place] = distribute(step.counts.reshape(-1, n_values), groups, rng)
        return tuple(values)


def fit_field(records: PrivateRecords, rho: float, *, degree: int, rounds: int) -> Model:
    """Let OpenDP's AIM spend a budget on counts of combinations, beyond those of single values.

    Parameters
    ----------
    records
        The records, whose single values were counted before.
    rho
        The budget.
    degree, rounds
        How many attributes are counted together at most, and the number of rounds that share the budget.
    """
    dp = opendp_with_mbi()
    several = [place for place, known in records.known.items() if len(known) > 1]
    if len(several) < 2:
        single = [records.counted[place] for place in range(records.n_attributes)]
        return fit_tree(records.total, single, {})
    context = records.compositor(several, rho)
    how = dp.mbi.AIM(queries=min(degree, len(several)), rounds=rounds or None, oneway="unkeyed")
    query = context.query().contingency_table(table=_table_so_far(dp, records, several), algorithm=how)
    steps = tuple(step.of_disclosed_values() for step in steps_of(query.release().model))
    return MarkovField(steps, records.n_attributes)


def steps_of(model: Any) -> Iterator[DrawingStep]:
    """Yield how to draw from a field of mbi, one attribute after the other.

    In the order in which attributes are eliminated, turned round, those that an attribute depends on and that
    were drawn before lie in one clique of the junction tree with it.
    """
    from mbi import junction_tree, marginal_oracles

    tree, order = junction_tree.make_junction_tree(model.domain, [set(clique) for clique in model.cliques])
    marginals = marginal_oracles.message_passing_stable(model.potentials.expand(list(tree.nodes)))
    drawn: list[str] = []
    for name in reversed(order):
        neighbours = {other for clique in tree.nodes if name in clique for other in clique}
        parents = tuple(other for other in drawn if other in neighbours)
        counts = np.asarray(marginals.project((*parents, name)).values, dtype=np.float64)
        yield DrawingStep(_place(name), tuple(map(_place, parents)), counts)
        drawn.append(name)


def _table_so_far(dp: Any, records: PrivateRecords, several: Sequence[int]) -> Any:
    """Return the counts known before AIM begins, in OpenDP's form: with a cell for undisclosed values."""
    import mbi

    single = {_name(place): records.counted[place] for place in several}
    total = mbi.LinearMeasurement(np.array([records.total]), clique=(), stddev=_deviation(records.counted[0]))
    counts = [
        mbi.LinearMeasurement(
            counted.counts,
            clique=(name,),
            stddev=_deviation(counted),
            query=DisclosedValues(len(counted.counts)),
        )
        for name, counted in single.items()
    ]
    domain = mbi.Domain.fromdict({name: len(counted.counts) + 1 for name, counted in single.items()})
    return dp.mbi.ContingencyTable(
        keys={name: [*range(len(counted.counts)), None] for name, counted in single.items()},
        cuts={},
        marginals=dp.mbi.Marginals().add(total, *counts),
        model=dp.mbi.mirror_descent(domain, [total, *counts]),
    )


def _deviation(counted: Counted) -> float:
    return float(np.sqrt(counted.variance))


def _name(place: int) -> str:
    return f"attribute-{place}"


def _place(name: str) -> int:
    return int(name.removeprefix("attribute-"))
