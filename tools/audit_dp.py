"""Audit what differentially private methods claim: a lower bound of epsilon beside each claim.

Each method runs many times on two tiny neighbouring tables. One half of the runs chooses, by each of several
numbers about an output, the event that tells the tables apart best. The other half counts the event, and the
Clopper-Pearson ends of both rates give a lower bound of epsilon that holds with 95% confidence. A bound above
the claim shows a fault. One below it shows no fault: the last column says which epsilon so many runs could
have found at most.

    python -m tools.audit_dp [--runs 1000] [--counts 20000]

Then faults are planted, one at a time, and each of them must be found. Whole releases are slow and spread
their budget over many counts, so single counts that spend all of it are audited as well.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats

from sfumato import Attribute, Intervals, PublicValues, Schema, Table, sanitize
from sfumato.data.table import Column
from sfumato.runtime.errors import SchemaError
from sfumato.sanitizers import MST, Laplace
from sfumato.sanitizers.base import RareValues
from sfumato.sanitizers.synthesize import dp_binning, noisy_counts, private_records

EPSILONS = (0.5, 1.0, 4.0)
DELTA = 1e-3
N_PEOPLE = 200
_CONFIDENCE = 0.95
_AGES = PublicValues(whole=True, bounds=(0, 99))
SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric", Intervals((10,)), public=_AGES),
        Attribute("town", "sensitive", "categorical", public=PublicValues(domain=("A", "B"))),
    ),
    people_at_most=1_000,
)
_WITH_PEOPLE = replace(SCHEMA, attributes=(Attribute("who", "identifying"), *SCHEMA.attributes), person="who")

Rows = list[dict[str, Any]]


def people(n: int = N_PEOPLE) -> Rows:
    """Return people of two towns between 20 and 59."""
    return [{"age": 20 + place % 40, "town": "AB"[place % 2]} for place in range(n)]


def table(rows: Rows) -> Table:
    """Return rows as a table."""
    return Table.from_arrow({name: [row[name] for row in rows] for name in rows[0]})


@dataclass(frozen=True)
class Case:
    """Two neighbouring tables.

    Parameters
    ----------
    name
        How they differ.
    schema
        The schema of both.
    one, other
        Their rows.
    """

    name: str
    schema: Schema
    one: Rows
    other: Rows


def cases() -> Iterator[Case]:
    """Yield neighbours: they differ in a record, a rare value, a missing one, or in a person's records."""
    base = people()
    yield Case("one record", SCHEMA, base, [*base, {"age": 85, "town": "A"}])
    yield Case("a rare value", SCHEMA, base, [*base, {"age": 30, "town": "Z"}])
    yield Case("a missing value", SCHEMA, base, [*base, {"age": None, "town": None}])
    several = [{"who": f"p{place // 2}", **row} for place, row in enumerate(base)]
    visits = [{"who": "q", "age": 85, "town": "A"}, {"who": "q", "age": 85, "town": "A"}]
    yield Case("a person with two records", _WITH_PEOPLE, several, [*several, *visits])


def statistics(records: list[dict[str, Any]], n_original: float) -> list[float]:
    """Return numbers about an output, by which somebody could tell two tables apart."""
    ages = [row["age"] for row in records]
    numbers = [age for age in ages if isinstance(age, (int, float))]
    towns = [row["town"] for row in records]
    return [
        n_original,
        sum(age >= 80 for age in numbers),
        sum(age is None for age in ages),
        sum(town is None for town in towns),
        towns.count("A"),
        towns.count("Z"),
        sum(age != round(age) for age in numbers),
    ]


def lower_bound(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], delta: float) -> float:
    """Return a lower bound of epsilon that holds with 95% confidence, 0 at least.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> same = lower_bound(rng.normal(size=(2_000, 1)), rng.normal(size=(2_000, 1)), 0.0)
    >>> apart = lower_bound(rng.normal(size=(2_000, 1)), 5 + rng.normal(size=(2_000, 1)), 0.0)
    >>> same < 0.2, apart > 5
    (True, True)
    """
    half = len(one) // 2
    best, event = -math.inf, (0, 0.0, 1, False)
    for column in range(one.shape[1]):
        values = np.unique(np.concatenate([one[:half, column], other[:half, column]]))
        for cut in np.unique(np.quantile(values, np.linspace(0, 1, 60))):
            for sign in (1, -1):
                for swapped in (False, True):
                    bound = _bound(one[:half, column], other[:half, column], cut, sign, swapped, delta)
                    if bound > best:
                        best, event = bound, (column, float(cut), sign, swapped)
    column, cut, sign, swapped = event
    return max(_bound(one[half:, column], other[half:, column], cut, sign, swapped, delta), 0.0)


def _bound(one: Any, other: Any, cut: float, sign: int, swapped: bool, delta: float) -> float:
    common, rare = (other, one) if swapped else (one, other)
    n_common, n_rare = (int((sign * each >= sign * cut).sum()) for each in (common, rare))
    return _epsilon_between(n_common, len(common), n_rare, len(rare), delta)


def _epsilon_between(n_common: int, of_common: int, n_rare: int, of_rare: int, delta: float) -> float:
    tail = (1 - _CONFIDENCE) / 2
    low = stats.beta.ppf(tail, n_common, of_common - n_common + 1) if n_common else 0.0
    high = stats.beta.ppf(1 - tail, n_rare + 1, of_rare - n_rare) if n_rare < of_rare else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def detectable(n: int, delta: float) -> float:
    """Return the largest lower bound that so many runs can give: an event of one table alone."""
    return _epsilon_between(n // 2, n // 2, 0, n // 2, delta)


Sample = Callable[[int, bool], "np.ndarray[Any, Any]"]
"""Draws so many outputs on one of two neighbouring tables, as numbers: on the second one, if asked."""


def of_method(case: Case, epsilon: float) -> Sample:
    """Return whole releases of `mst`; few records are drawn, which costs no privacy."""
    how = MST(epsilon, DELTA, n_records=60, records_per_person=2 if case.schema.person else 1)

    def sample(n: int, second: bool) -> np.ndarray[Any, Any]:
        original, found = table(case.other if second else case.one), []
        for _ in range(n):
            release = sanitize(original, case.schema, how)
            found.append(statistics(release.to_arrow().to_pylist(), release.reported_original or 0))
        return np.array(found)

    return sample


def of_count(epsilon: float, *, n_more: int = 1, sensitivity: int = 1) -> Sample:
    """Return the count of all records, on which the whole budget is spent."""

    def sample(n: int, second: bool) -> np.ndarray[Any, Any]:
        keys = [np.zeros(N_PEOPLE + (n_more if second else 0), dtype=np.int64)]
        rho = noisy_counts.rho_of(epsilon, DELTA)
        counts = [
            private_records.PrivateRecords(keys, [(True,)], rho, DELTA, sensitivity).count_records(rho)
            for _ in range(n)
        ]
        return np.array(counts)[:, None]

    return sample


def of_rare_value(epsilon: float) -> Sample:
    """Return whether a value that one person has is known, and its count."""

    def sample(n: int, second: bool) -> np.ndarray[Any, Any]:
        keys, rho = [np.array([0] * N_PEOPLE + [1] * second)], noisy_counts.rho_of(epsilon, DELTA / 2)
        found = []
        for _ in range(n):
            records = private_records.PrivateRecords(keys, [(False,) * 2], rho, DELTA / 2, 1)
            counted = records.count_values(0, rho, DELTA / 2)
            found.append([len(records.known[0]), counted.counts[0]])
        return np.array(found)

    return sample


def of_laplace(epsilon: float) -> Sample:
    """Return one value with noise; every record has noise of its own, so one release has all runs."""
    schema, how = Schema((SCHEMA["age"],)), Laplace(epsilon, rounded=False)

    def sample(n: int, second: bool) -> np.ndarray[Any, Any]:
        release = sanitize(Table.from_arrow({"age": [99 if second else 0] * n}), schema, how)
        return np.array(release.to_arrow()["age"].to_pylist(), dtype=np.float64)[:, None]

    return sample


def audited(sample: Sample, n: int, delta: float = DELTA) -> float:
    """Return the lower bound of epsilon that so many runs on each of two neighbouring tables give."""
    return lower_bound(sample(n, False), sample(n, True), delta)


# Faults


def _half_the_noise() -> Any:
    plain = noisy_counts._scale
    halved = mock.Mock(side_effect=lambda rho, sensitivity: plain(rho, sensitivity) / 2)
    return mock.patch.multiple(noisy_counts, _scale=halved, _check_spent=mock.Mock())


def _wholeness_from_the_data() -> Any:
    def read(schema: Schema, name: str, column: Column, method: str) -> Attribute:
        attribute = (schema.given or schema)[name]
        return replace(attribute, public=replace(attribute.public, whole=column.is_whole))

    return mock.patch.object(dp_binning, "declared", read)


def _delta_dropped() -> Any:
    def every(counts: Any, rho: float, delta: float, sensitivity: int) -> Any:
        values = np.flatnonzero(counts)
        return values, noisy_counts.with_noise(counts[values], rho, sensitivity)

    return mock.patch.object(private_records, "frequent_with_noise", every)


_FRACTION = Case("one fraction", SCHEMA, people(), [*people(), {"age": 30.5, "town": "A"}])
FAULTS: dict[str, tuple[Callable[[], Any], Sample]] = {
    "noise scale halved": (_half_the_noise, of_count(0.5)),
    # a person has two records, and the noise is that for one
    "sensitivity 1 for 2": (nullcontext, of_count(0.5, n_more=2)),
    "wholeness read from the data": (_wholeness_from_the_data, of_method(_FRACTION, 0.5)),
    "delta dropped": (_delta_dropped, of_rare_value(0.5)),
}
"""For each fault how it is planted, and the outputs that show it; all claim an epsilon of 0.5."""
STEPS = (20, 100, 1_000, 5_000, 20_000, 50_000)
"""The numbers of runs after which somebody looks whether a fault was found."""


def found_at(name: str, most: int) -> tuple[int, float] | None:
    """Return after how many runs a planted fault is found, with the lower bound; none if it is not."""
    fault, sample = FAULTS[name]
    with fault():
        for n in STEPS:
            bound = audited(sample, n) if n <= most else 0.0
            if bound > 0.5:
                return n, bound
    return None


def is_refused() -> bool:
    """Return whether a table that contradicts its public part is refused."""
    try:
        sanitize(table(_FRACTION.other), SCHEMA, MST())
    except SchemaError:
        return True
    return False


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1_000, help="whole releases on each of two tables")
    parser.add_argument("--counts", type=int, default=20_000, help="single counts on each of two tables")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RareValues)
    print("| outputs | neighbours differ in | runs | claim | lower bound | most that could be found |")
    print("|---|---|---|---|---|---|")
    for epsilon in EPSILONS:
        for what, difference, sample, n, delta in _rows(epsilon, given.runs, given.counts):
            bound, most = audited(sample, n, delta), detectable(n, delta)
            print(f"| {what} | {difference} | {n:,} | {epsilon:g} | {bound:.2f} | {most:.2f} |", flush=True)
    print(
        f"| mst | a fraction where whole is declared | 1 | any | {'refused' if is_refused() else 'RUN'} | |"
    )
    print("\n| planted fault | claim | found at | lower bound |\n|---|---|---|---|")
    for name in FAULTS:
        n, bound = found_at(name, given.counts) or (0, 0.0)
        print(f"| {name} | 0.5 | {f'{n:,} runs' if n else 'not found'} | {bound:.2f} |", flush=True)


def _rows(epsilon: float, n: int, n_counts: int) -> Iterator[tuple[str, str, Sample, int, float]]:
    for case in cases():
        yield "mst", case.name, of_method(case, epsilon), n, DELTA
    yield "count of records", "one record", of_count(epsilon), n_counts, DELTA
    people_count = of_count(epsilon, n_more=2, sensitivity=2)
    yield "count of records", "a person with two records", people_count, n_counts, DELTA
    yield "count of values", "a rare value", of_rare_value(epsilon), n_counts // 4, DELTA
    yield "laplace", "one value", of_laplace(epsilon), n_counts, 0.0


if __name__ == "__main__":
    main()
