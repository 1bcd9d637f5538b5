"""Shared by the differentially private synthesizers: budget, one-way counts, guarantee and release."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from sfumato.data.public_part import check_people
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry import methods
from sfumato.registry.declarations import Guarantee
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.runtime.arrays import Integers
from sfumato.sanitizers.base import RareValues
from sfumato.sanitizers.synthesize.dp_binning import Coding, counted_rows
from sfumato.sanitizers.synthesize.noisy_counts import rho_of
from sfumato.sanitizers.synthesize.private_records import PrivateRecords

_ENOUGH = 0.5
"""If the released values of an attribute stand for a smaller share of the records, somebody should know."""


class Budget(Protocol):
    """The parameters that every differentially private synthesizer has."""

    @property
    def epsilon(self) -> float:
        """The logarithm of the factor by which a person may change the probability of an outcome."""

    @property
    def delta(self) -> float:
        """The probability that may be added on top of that factor."""

    @property
    def n_records(self) -> int:
        """How many records to draw, or 0."""

    @property
    def records_per_person(self) -> int:
        """How many records of a person count."""


class Model(Protocol):
    """A model that records are drawn from."""

    def drawn(self, n_records: int, rng: np.random.Generator) -> tuple[Integers, ...]:
        """Draw records: for each attribute the position of each record's value among the known ones."""


Fit = Callable[[PrivateRecords], Model]
"""Spends the budget of the records on counts, and returns what they say of all attributes together."""


def budget_guarantee(how: Budget, schema: Schema) -> Guarantee:
    """Return the differential privacy guarantee, which holds for everyone, whatever their records are."""
    return Guarantee(how.epsilon, how.delta, _unit(schema))


def budget_rho(how: Budget) -> float:
    """Return the budget of all counts, which with half of delta gives epsilon; the rest pays for values."""
    return rho_of(how.epsilon, how.delta / 2)


def synthesize(
    how: Budget, table: Table, schema: Schema, rng: np.random.Generator, fit: Fit
) -> LinkedRelease:
    """Release synthetic records, drawn from a model that spends the budget.

    Half of delta pays for the set of values that occur, the other half for the Gaussian noise of all counts.
    """
    method = methods.name_of(type(how))
    check_people(schema, table)
    rows = counted_rows(table, how.records_per_person)
    codings = [Coding.of(table[name], schema, name, method) for name in schema.released]
    half = how.delta / 2
    records = PrivateRecords(
        [coding.key_of[coding.column.codes[rows]] for coding in codings],
        [coding.is_public for coding in codings],
        budget_rho(how),
        half,
        how.records_per_person if _unit(schema) == "person" else 1,
    )
    model = fit(records)
    n_original = round(records.total)
    drawn = model.drawn(how.n_records or n_original, rng)
    cells = {
        coding.name: coding.cells(schema, records.known[place][positions], rng)
        for place, (coding, positions) in enumerate(zip(codings, drawn, strict=True))
    }
    rare = [*_rare_values(how, schema, records)]
    for words in rare:
        warnings.warn(words, RareValues, stacklevel=2)
    release = synthetic_release(table, schema, cells, (*_notes(how, schema), *rare))
    return replace(release, reported_original=n_original)


def count_singly(records: PrivateRecords, rho: float) -> None:
    """Spend a budget, and all of delta, on the number of records and the values of every attribute."""
    rho_per_count = rho / (records.n_attributes + 1)
    records.count_records(rho_per_count)
    for place in range(records.n_attributes):
        records.count_values(place, rho_per_count, records.delta / records.n_attributes)


def _unit(schema: Schema) -> Literal["record", "person"]:
    # a bound schema forgets the column where everybody has one record, which nobody may know
    return "record" if (schema.given or schema).person is None else "person"


def _notes(how: Budget, schema: Schema) -> Iterator[str]:
    of_whom = {
        "record": "one record is in the table (records are taken for people)",
        "person": f"one person is in the table, up to {how.records_per_person} of whose records count,",
    }
    yield (
        f"The records are synthetic and ({how.epsilon:g}, {how.delta:g})-differentially private: "
        f"whether {of_whom[_unit(schema)]} changes the probability of any outcome at most by the "
        f"factor e^{how.epsilon:g}, and by {how.delta:g} beside. The schema is taken as known to "
        "everybody, and the promise is about this release alone: others of the same people add to it, "
        "and so do figures that compare it with the original."
    )
    most = schema.people_at_most
    if most is not None and how.delta * most > 1:
        yield f"Delta is above one in {most:,} people; choose one far below."


def _rare_values(how: Budget, schema: Schema, records: PrivateRecords) -> Iterator[str]:
    """Name the attributes whose values are mostly too rare; the noisy counts alone tell which."""
    remedy = "declare wider intervals, a lowest level of its hierarchy, or a shorter public domain"
    for place, name in enumerate(schema.released):
        share = min(float(records.counted[place].counts.sum()) / records.total, 1.0)
        if records.known[place][0] < 0:
            yield f"No value of {name} is common enough to be told at this epsilon: it is withheld; {remedy}."
        elif share < _ENOUGH:
            yield (
                f"Most values of {name} are too rare to be told at this epsilon: those that are released "
                f"stand for {share:.0%} of the records; {remedy}."
            )
