"""AIM: differentially private synthetic data from marginals that OpenDP selects adaptively."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Above, AtLeast, AtMost, Below, Guarantee, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers.base import MadeRecords, PrivacyBudget
from sfumato.sanitizers.synthesize.markov_field import fit_field
from sfumato.sanitizers.synthesize.private_records import PrivateRecords
from sfumato.sanitizers.synthesize.private_synthesis import (
    Model,
    budget_guarantee,
    budget_rho,
    count_singly,
    synthesize,
)


@register
@dataclass(frozen=True)
class AIM:
    """Draw synthetic records from noisy counts that are chosen round by round, with differential privacy.

    A third of the budget counts the values of every attribute, as in `mst`. OpenDP spends the rest: each
    round counts, with noise, the combination of attributes for which the model is furthest off so far, and
    the model is fitted again. Dependences between attributes may form cycles, where `mst` has a tree. The
    use of the data, the people protected and the guarantee are those of `mst`.

    It needs `pip install 'sfumato[aim]'` (OpenDP's extra `mbi`, and with it JAX), and takes minutes: JAX
    compiles the model of every round again.

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
    degree
        How many attributes may be counted together: pairs, or triples, which takes much longer.
    rounds
        The number of rounds that share the budget. If a round changes little, the next one gets more, so
        there may be fewer; 0 divides it as OpenDP does, into 16 per attribute.

    References
    ----------
    R. McKenna, B. Mullins, D. Sheldon, G. Miklau, "AIM: an adaptive and iterative mechanism for
    differentially private synthetic data", 2022.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> AIM(epsilon=0.5).guarantee(schema)
    Guarantee(epsilon=0.5, delta=1e-06, unit='record')
    """

    epsilon: PrivacyBudget = 1.0
    delta: Annotated[float, Above(0), Below(1)] = 1e-6
    n_records: MadeRecords = 0
    records_per_person: Annotated[int, AtLeast(1), AtMost(1_000_000)] = 1
    degree: Annotated[int, AtLeast(2), AtMost(8)] = 2
    rounds: Annotated[int, AtLeast(0), AtMost(1_000)] = 10

    release_type: ClassVar[ReleaseType] = "synthetic"
    repeatable: ClassVar[bool] = False
    plain: ClassVar[str] = "synthetic records with a guarantee (epsilon {epsilon})"
    does: ClassVar[str] = (
        "Synthetic records are drawn from a model of noisy counts, chosen round by round, that is "
        "differentially private."
    )
    times_mondrian: ClassVar[float] = 400.0
    always_named: ClassVar[str] = "epsilon"
    needs_extra: ClassVar[str | None] = "aim"

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release synthetic records."""
        fit = functools.partial(count_adaptively, degree=self.degree, rounds=self.rounds)
        return synthesize(self, table, schema, rng, fit)

    def guarantee(self, schema: Schema) -> Guarantee:
        """Return the differential privacy guarantee, which holds for everyone, whatever their records are."""
        return budget_guarantee(self, schema)

    def rho(self) -> float:
        """Return what is spent in zero-concentrated differential privacy, next to half of delta."""
        return budget_rho(self)


def count_adaptively(records: PrivateRecords, *, degree: int, rounds: int) -> Model:
    """Spend the budget on noisy counts of values, and on counts of combinations that OpenDP selects.

    Parameters
    ----------
    records
        What is counted.
    degree, rounds
        How many attributes are counted together at most, and into how many rounds the budget is divided.
    """
    count_singly(records, records.rho / 3)
    return fit_field(records, records.rho * (2 / 3), degree=degree, rounds=rounds)
