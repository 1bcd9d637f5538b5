"""MST: differentially private synthetic records from a spanning tree of noisy two-way counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats, Integers, secret_order
from sfumato.cells import Cells, exact_cells, suppressed_cells
from sfumato.errors import ParameterError
from sfumato.facts import Guarantee, RecordKind
from sfumato.hierarchy import Intervals
from sfumato.registry import register
from sfumato.release import Release, made_up
from sfumato.sanitizers.noise import number_cells
from sfumato.sanitizers.noisy_counts import frequent_with_noise, noisy_largest, rho_of, with_noise
from sfumato.sanitizers.tree_model import Counted, Edge, TreeModel, fitted
from sfumato.schema import Schema
from sfumato.table import Column, Table

_MOST_PAIRS = 1 << 16
"""Two attributes with more pairs of values than this are not counted together."""
_STEPS = 1_000
"""About so many different fractions are drawn within an interval."""


@register
@dataclass(frozen=True)
class MST:
    """Draw synthetic records from a tree of noisy two-way counts, differentially private for each person.

    A third of the budget counts the values of every attribute, a third chooses the pairs of attributes
    that depend most on each other (a spanning tree, edge by edge by the exponential mechanism), a third
    counts the pairs of values along its edges. A tree-shaped model is fitted to these counts, and records
    are drawn from it. Noise and accounting are OpenDP's, in zero-concentrated differential privacy, from a
    cryptographic source: two runs differ.

    Nothing is taken from the data without being paid for. Which values occur is paid in delta: a value
    that too few people have does not appear, and an attribute without a value that enough have is
    withheld. Numbers with intervals are counted in the narrowest of them and drawn evenly within. The
    intervals, hierarchies and roles of the schema, and whether numbers are whole, are taken as known to
    everybody.

    Parameters
    ----------
    epsilon, delta
        The guarantee: whether a person's records are in the table changes the probability of any outcome
        at most by the factor e^epsilon, and by delta beside. Delta should be far below one in the number of
        people.
    n_records
        How many records to draw; 0 draws as many as the table has, told with noise.
    records_per_person
        How many records of a person count, where the schema names the column that tells whose a record is:
        more than that are left out at random. Noise grows with it.

    References
    ----------
    R. McKenna, G. Miklau, D. Sheldon, "Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data", 2021; R. Rogers, "A unifying privacy analysis framework for
    unknown domain algorithms in differential privacy", 2023 (which values may be told).

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), MST(epsilon=100.0, n_records=50))
    >>> release.kind, release.n_records
    ('synthetic', 50)
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    n_records: int = 0
    records_per_person: int = 1

    kind: ClassVar[RecordKind] = "synthetic"
    repeatable: ClassVar[bool] = False
    does: ClassVar[str] = (
        "Synthetic records are drawn from a model of noisy counts that is differentially private."
    )
    times_mondrian: ClassVar[float] = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise ParameterError(f"epsilon must be above 0, not {self.epsilon:g}")
        if not 0 < self.delta < 1:
            raise ParameterError(f"delta must lie between 0 and 1, not {self.delta:g}")
        if self.n_records < 0:
            raise ParameterError(f"n-records must be 0 or more, not {self.n_records}")
        if self.records_per_person < 1:
            raise ParameterError(f"records-per-person must be at least 1, not {self.records_per_person}")

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release records that stand for nobody."""
        rows = counted_rows(table, self.records_per_person)
        codings = [Coding.of(table[name], schema, name) for name in schema.released]
        keys = [each.key_of[each.column.codes[rows]] for each in codings]
        sensitivity = self.records_per_person if self._unit(schema) == "person" else 1
        half = self.delta / 2
        told = counted(keys, rho_of(self.epsilon, half), half, sensitivity)
        n_original = max(round(told.total), 1)
        n_records = self.n_records or n_original
        cells = {
            each.name: each.cells(schema, known[drawn], rng)
            for each, known, drawn in zip(codings, told.known, told.model.drawn(n_records, rng), strict=True)
        }
        release = made_up(table, schema, cells, tuple(self._notes(schema, told)))
        return replace(release, told_original=n_original)

    def guarantee(self, schema: Schema) -> Guarantee:
        """Return what is promised to everybody, whatever their records are."""
        return Guarantee(self.epsilon, self.delta, self._unit(schema))

    def _unit(self, schema: Schema) -> Literal["record", "person"]:
        # a bound schema forgets the column where everybody has one record, which nobody may know
        return "record" if (schema.given or schema).person is None else "person"

    def _notes(self, schema: Schema, told: Fitting) -> Iterator[str]:
        of_whom = {
            "record": "one record is in the table (records are taken for people)",
            "person": f"one person is in the table, up to {self.records_per_person} of whose records count,",
        }
        yield (
            f"The records are synthetic and ({self.epsilon:g}, {self.delta:g})-differentially private: "
            f"whether {of_whom[self._unit(schema)]} changes the probability of any outcome at most by the "
            f"factor e^{self.epsilon:g}, and by {self.delta:g} beside. The schema is taken as known to "
            "everybody, and the promise is about this release alone: others of the same people add to it, "
            "and so do figures that compare it with the original."
        )
        withheld = [name for name, known in zip(schema.released, told.known, strict=True) if known[0] < 0]
        if withheld:
            yield f"No value of {', '.join(withheld)} is common enough to be told at this epsilon."
        if self.delta * told.total > 1:
            yield f"Delta is above one in {told.total:,.0f} people; choose one far below."


def counted_rows(table: Table, most: int) -> Integers:
    """Return the row of every record, of each person no more than so many, chosen at random in secret."""
    rows = np.repeat(np.arange(table.n_rows), table.weights)
    if table.person_of is None:
        return rows
    rows = rows[secret_order(len(rows))]
    by_person = rows[np.argsort(table.person_of[rows], kind="stable")]
    n_records = np.bincount(table.person_of[rows], minlength=table.n_people)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(n_records) - n_records, n_records)
    return by_person[place < most]


@dataclass(frozen=True, eq=False)
class Coding:
    """How the values of an attribute are counted: as themselves, or as the intervals of a grid.

    Parameters
    ----------
    name, column
        The attribute.
    key_of
        The key of each value of its domain: its code, or the number of its interval among those that occur.
    width
        The width of an interval, if it is counted in intervals.
    lows
        The lower end of each interval; that of missing values is not a number.
    """

    name: str
    column: Column
    key_of: Integers
    width: float = 0.0
    lows: Floats | None = None

    @classmethod
    def of(cls, column: Column, schema: Schema, name: str) -> Coding:
        """Choose how to count: numbers in the narrowest intervals of their hierarchy, if it has any."""
        source = (schema.given or schema)[name].hierarchy
        if not isinstance(source, Intervals) or schema[name].lowest_level:
            return cls(name, column, np.arange(len(column.domain)))
        numbers = np.array([np.nan if value is None else value for value in column.domain], dtype=np.float64)
        places, key_of = np.unique(np.floor(numbers / source.widths[0]), return_inverse=True)
        return cls(name, column, key_of, source.widths[0], places * source.widths[0])

    def cells(self, schema: Schema, keys: Integers, rng: np.random.Generator) -> Cells:
        """Return the cells of records with these keys; where no key is known, they are withheld."""
        everyone = np.arange(len(keys))
        if not len(keys) or keys[0] < 0:
            return suppressed_cells(self.column, schema.hierarchy(self.name), np.zeros_like(everyone))
        if self.lows is None:
            return exact_cells(Column(keys, self.column.domain, self.column.kind), everyone)
        return number_cells(self._within(self.lows[keys], rng.random(len(keys))))

    def _within(self, lows: Floats, shares: Floats) -> Floats:
        """Return numbers that lie evenly within intervals, whole ones where all are."""
        if self.column.is_whole:
            first, end = np.ceil(lows), np.ceil(lows + self.width)
            return first + np.floor(shares * (end - first))
        digits = math.ceil(math.log10(_STEPS / self.width))
        return np.round(lows + np.floor(shares * _STEPS) * (self.width / _STEPS), digits)


@dataclass(frozen=True, eq=False)
class Fitting:
    """What the noisy counts tell.

    Parameters
    ----------
    total
        The number of records.
    known
        For each attribute the keys that enough people have; -1 alone where there is none.
    model
        How often they occur, and which together.
    """

    total: float
    known: tuple[Integers, ...]
    model: TreeModel


def counted(keys: Sequence[Integers], rho: float, delta: float, sensitivity: int) -> Fitting:
    """Spend a budget on noisy counts of values and of pairs of values along a spanning tree.

    Parameters
    ----------
    keys
        For each attribute the key of each record.
    rho, delta
        What is spent in all; delta on which keys occur.
    sensitivity
        How many records one person may have.
    """
    third = rho / 3
    each = third / (len(keys) + 1)
    total = max(float(with_noise(np.array([len(keys[0])]), each, sensitivity)[0]), 1.0)
    frequent = [
        frequent_with_noise(np.bincount(of_records), each, delta / len(keys), sensitivity)
        for of_records in keys
    ]
    known = tuple(values if len(values) else np.array([-1]) for values, _ in frequent)
    single = [
        Counted(counts if len(counts) else np.ones(1), _variance(each, sensitivity)) for _, counts in frequent
    ]
    places = [_places(of_records, values) for of_records, values in zip(keys, known, strict=True)]
    sizes = [len(values) for values in known]
    tree = spanning_tree(places, [each.counts for each in single], total, third, sensitivity)
    pairs = {
        (one, other): Counted(
            with_noise(
                _pair_counts(places[one], places[other], sizes[one], sizes[other]),
                third / len(tree),
                sensitivity,
            ),
            _variance(third / len(tree), sensitivity),
        )
        for one, other in tree
    }
    return Fitting(total, known, fitted(total, single, pairs))


def spanning_tree(
    places: Sequence[Integers], singles: Sequence[Floats], total: float, rho: float, sensitivity: int
) -> list[Edge]:
    """Choose edge by edge the pairs of attributes that are furthest from independence, with noise.

    Parameters
    ----------
    places
        For each attribute the value of each record, or -1 where it is not told.
    singles
        For each attribute the noisy counts of its values.
    total
        The noisy number of records.
    rho
        What may be spent in all.
    sensitivity
        How many records one person may have: by so much one person changes a score.
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
        each = rho / (len(several) - 1)
        edge = open_edges[noisy_largest([scores[edge] for edge in open_edges], each, sensitivity)]
        tree.append(edge)
        joined = component[edge[1]]
        component = {p: component[edge[0]] if c == joined else c for p, c in component.items()}
    return tree


def dependence(one: Integers, other: Integers, of_one: Floats, of_other: Floats, total: float) -> int:
    """Return by how many records in all the pairs of values differ from independence.

    What independence expects comes from noisy counts alone and is rounded, so that a record more or less
    changes this by at most 1.
    """
    shares = [
        np.maximum(counts, 0.0) / max(np.maximum(counts, 0.0).sum(), 1.0) for counts in (of_one, of_other)
    ]
    expected = np.rint(total * np.outer(*shares)).astype(np.int64)
    found = _pair_counts(one, other, len(of_one), len(of_other))
    return int(np.abs(found - expected).sum())


def _places(keys: Integers, known: Integers) -> Integers:
    """Return the place of each key among the known ones, which are ascending; -1 where it is not told."""
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, at, -1)


def _pair_counts(one: Integers, other: Integers, n_one: int, n_other: int) -> Integers:
    both = (one >= 0) & (other >= 0)
    counts = np.bincount(one[both] * n_other + other[both], minlength=n_one * n_other)
    return counts.reshape(n_one, n_other)


def _variance(rho: float, sensitivity: int) -> float:
    return sensitivity**2 / (2 * rho)
