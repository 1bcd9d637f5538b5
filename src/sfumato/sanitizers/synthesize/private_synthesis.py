"""Shared by the differentially private synthesizers: budget, one-way counts, guarantee and release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Guarantee
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.runtime.arrays import Integers
from sfumato.sanitizers.synthesize.dp_binning import Coding, counted_rows
from sfumato.sanitizers.synthesize.noisy_counts import frequent_with_noise, rho_of, variance_of, with_noise
from sfumato.sanitizers.synthesize.tree_model import Counted


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


@dataclass(frozen=True, eq=False)
class Fitting:
    """The results of the noisy counts.

    Parameters
    ----------
    total
        The number of records.
    known
        For each attribute the keys that enough people have; -1 alone where there is none.
    model
        Their frequencies and their joint distribution.
    """

    total: float
    known: tuple[Integers, ...]
    model: Model


@dataclass(frozen=True, eq=False)
class SingleCounts:
    """The results of the noisy counts of single attributes.

    Parameters
    ----------
    total
        The number of records, at least 1.
    known
        For each attribute the keys that enough people have; -1 alone where there is none.
    single
        For each attribute how many records have each of them.
    places
        For each attribute the position of each record's key among the known ones; -1 if it is not disclosed.
    """

    total: float
    known: tuple[Integers, ...]
    single: tuple[Counted, ...]
    places: tuple[Integers, ...]


Fit = Callable[[Sequence[Integers], float, float, int], Fitting]
"""From the keys of each attribute's records, rho, delta and how many records one person may have."""


def budget_guarantee(how: Budget, schema: Schema) -> Guarantee:
    """Return the differential privacy guarantee, which holds for everyone, whatever their records are."""
    return Guarantee(how.epsilon, how.delta, _unit(schema))


def synthesize(
    how: Budget, table: Table, schema: Schema, rng: np.random.Generator, fit: Fit
) -> LinkedRelease:
    """Release synthetic records, drawn from a model that spends the budget.

    Half of delta pays for the set of values that occur, the other half for the Gaussian noise of all counts.
    """
    rows = counted_rows(table, how.records_per_person)
    codings = [Coding.of(table[name], schema, name) for name in schema.released]
    keys = [coding.key_of[coding.column.codes[rows]] for coding in codings]
    sensitivity = how.records_per_person if _unit(schema) == "person" else 1
    half = how.delta / 2
    fitting = fit(keys, rho_of(how.epsilon, half), half, sensitivity)
    n_original = max(round(fitting.total), 1)
    n_records = how.n_records or n_original
    cells = {
        coding.name: coding.cells(schema, known[positions], rng)
        for coding, known, positions in zip(
            codings, fitting.known, fitting.model.drawn(n_records, rng), strict=True
        )
    }
    release = synthetic_release(table, schema, cells, tuple(_notes(how, schema, fitting)))
    return replace(release, reported_original=n_original)


def count_singly(keys: Sequence[Integers], rho: float, delta: float, sensitivity: int) -> SingleCounts:
    """Spend a budget on the number of records and on noisy counts of the values of every attribute.

    Parameters
    ----------
    keys
        For each attribute the key of each record.
    rho, delta
        The total budget; delta pays for the set of keys that occur.
    sensitivity
        How many records one person may have.
    """
    rho_per_count = rho / (len(keys) + 1)
    total = max(float(with_noise(np.array([len(keys[0])]), rho_per_count, sensitivity)[0]), 1.0)
    frequent = [
        frequent_with_noise(np.bincount(of_records), rho_per_count, delta / len(keys), sensitivity)
        for of_records in keys
    ]
    known = tuple(values if len(values) else np.array([-1]) for values, _ in frequent)
    variance = variance_of(rho_per_count, sensitivity)
    single = tuple(Counted(counts if len(counts) else np.ones(1), variance) for _, counts in frequent)
    places = tuple(_places(of_records, values) for of_records, values in zip(keys, known, strict=True))
    return SingleCounts(total, known, single, places)


def _unit(schema: Schema) -> Literal["record", "person"]:
    # a bound schema forgets the column where everybody has one record, which nobody may know
    return "record" if (schema.given or schema).person is None else "person"


def _notes(how: Budget, schema: Schema, fitting: Fitting) -> Iterator[str]:
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
    withheld = [name for name, known in zip(schema.released, fitting.known, strict=True) if known[0] < 0]
    if withheld:
        yield f"No value of {', '.join(withheld)} is common enough to be told at this epsilon."
    if how.delta * fitting.total > 1:
        yield f"Delta is above one in {fitting.total:,.0f} people; choose one far below."


def _places(keys: Integers, known: Integers) -> Integers:
    """Return the position of each key among the known ones, which are ascending; -1 if it is unknown."""
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, at, -1)
