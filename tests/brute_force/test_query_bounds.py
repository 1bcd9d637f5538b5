"""Bounds of queries against every original of at most seven records that fits the published cells.

The labels are read here by their shapes alone, and the conditions by Python. Of records that do not depend on
each other the numbers that they can add up to are collected one record after the other, which goes through
every original without writing each of them down.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.workflow.query.query_answer import QueryAnswer, query

Value = int | str | None
Record = tuple[Value, ...]
Holds = Callable[[Record], bool]
Reached = set[tuple[int, int]]

NAMES = ("age", "town", "ill")
SAYS_NOTHING = re.compile(
    r"is \* in every record|names no value|has no numbers|has too many different numbers"
)
BRANCHES = {"North": ["a", "b"], "South": ["c", "d"]}
SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((2, 4))),
        sf.Attribute("town", "quasi-identifying", hierarchy=sf.Hierarchy.nested(BRANCHES)),
        sf.Attribute("ill", "sensitive"),
    )
)
TWO = sf.models.KAnonymity(2)
METHODS: dict[str, Callable[[random.Random, sf.Table], sf.sanitizers.Sanitizer]] = {
    "as-is": lambda _, table: sf.sanitizers.AsIs(),
    "suppress-quasi-identifiers": lambda _, table: sf.sanitizers.SuppressQuasiIdentifiers(),
    "suppress-sensitive": lambda _, table: sf.sanitizers.SuppressSensitive(),
    "full-domain": lambda rng, table: full_domain(rng, 1, 0.0),
    "full-domain with suppression": lambda rng, table: full_domain(rng, 2, 0.7),
    "cut": lambda rng, table: cut(rng, table),
    "mondrian": lambda _, table: sf.sanitizers.Mondrian(TWO),
    "mondrian, relaxed": lambda _, table: sf.sanitizers.Mondrian(TWO, variant="relaxed"),
    "mondrian, diverse": lambda _, table: sf.sanitizers.Mondrian(TWO & sf.models.DistinctDiversity(2)),
    "clustering": lambda _, table: sf.sanitizers.Clustering(TWO),
    "local-recoding": lambda _, table: sf.sanitizers.LocalRecoding(TWO),
    "cell-suppression": lambda _, table: sf.sanitizers.CellSuppression(TWO, suppression=0.5),
    "top-coding": lambda rng, table: sf.sanitizers.TopCoding({"age": rng.choice([21, 22])}),
    "bucketize": lambda _, table: sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(1.5)),
    "anatomy": lambda _, table: sf.sanitizers.Anatomy(2),
}


def full_domain(rng: random.Random, k: int, suppression: float) -> sf.sanitizers.Sanitizer:
    levels = {"age": rng.randrange(4), "town": rng.randrange(3)}
    return sf.sanitizers.FullDomain(levels, sf.models.KAnonymity(k), suppression=suppression)


def cut(rng: random.Random, table: sf.Table) -> sf.sanitizers.Sanitizer:
    lengths = {name: len(table[name].domain) - 1 for name in NAMES[:2]}
    cuts = {name: "".join(rng.choice("01") for _ in range(length)) for name, length in lengths.items()}
    return sf.sanitizers.Cut(cuts, sf.models.KAnonymity(1), free=("town",))


def people(rng: random.Random) -> tuple[sf.Table, sf.Schema]:
    """Draw three to seven people, most of whose values are there."""
    n = rng.randint(3, 7)
    columns = {
        "age": pa.array(rng.choices([20, 21, 22, 23, None], k=n), pa.int64()),
        "town": pa.array(rng.choices(["a", "b", "c", None], k=n), pa.string()),
        "ill": pa.array(rng.choices(["flu", "gout", "cold", None], [3, 3, 1, 1], k=n), pa.string()),
    }
    return SCHEMA.bind(sf.Table.from_arrow(pa.table(columns)))


# What labels stand for. A reader knows that ages are whole; numbers and names that no query speaks of are
# like one another.

ANY: dict[str, set[Value]] = {
    "age": {*range(15, 30), None},
    "town": {"a", "b", "c", "d", "elsewhere", None},
    "ill": {"flu", "gout", "cold", "other", None},
}


def meant(label: str | None, name: str) -> set[Value]:
    """Return every value that a label may stand for."""
    if label is None:
        return {None}
    if label == "*":
        return ANY[name]
    if label.endswith(" or missing"):
        return meant(label.removesuffix(" or missing"), name) | {None}
    if label.startswith("{"):
        return set().union(*(meant(part, name) for part in label[1:-1].split(", ")))
    if name != "age":
        return set(BRANCHES.get(label, [label])) if name == "town" else {label}
    if found := re.fullmatch(r"\[(\d+), (\d+)\)", label):
        return set(range(int(found[1]), int(found[2])))
    if found := re.fullmatch(r"(\d+) to (\d+)", label):
        return set(range(int(found[1]), int(found[2]) + 1))
    if found := re.fullmatch(r"(<|>=)(\d+)", label):
        return {n for n in ANY[name] if isinstance(n, int) and (n < int(found[2])) == (found[1] == "<")}
    return {int(label)}


def is_open(label: str | None) -> bool:
    return label is not None and (label == "*" or label[0] in "<>")


# Queries, each drawn as a text and as what Python makes of it.


def drawn_test(rng: random.Random, place: int) -> tuple[str, Holds]:
    """Draw a test of one attribute; a missing value passes none but that for it."""
    name = NAMES[place]
    pool: list[Any] = (
        [19, 20, 21, 22, 23] if place == 0 else sorted({"a", "b", "c"} if place == 1 else {"flu", "gout"})
    )
    signs = ["=", "!=", "in", "not in", "is missing", "is not missing"]
    sign = rng.choice([*signs, "<", "<=", ">", ">=", "range", "not range"] if place == 0 else signs)
    one, *others = rng.choices(pool, k=3)
    low, high = sorted((one, others[0]))
    tests: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "=": (f"{name} = {one}", lambda value: value == one),
        "!=": (f"{name} != {one}", lambda value: value != one),
        "in": (f"{name} in ({one}, {others[0]})", lambda value: value in (one, others[0])),
        "not in": (f"{name} not in ({one}, {others[0]})", lambda value: value not in (one, others[0])),
        "<": (f"{name} < {one}", lambda value: value < one),
        "<=": (f"{name} <= {one}", lambda value: value <= one),
        ">": (f"{name} > {one}", lambda value: value > one),
        ">=": (f"{name} >= {one}", lambda value: value >= one),
        "range": (f"{name} in [{low}, {high})", lambda value: low <= value < high),
        "not range": (f"{name} not in [{low}, {high}]", lambda value: not low <= value <= high),
    }
    if sign == "is missing":
        return f"{name} is missing", lambda record: record[place] is None
    if sign == "is not missing":
        return f"{name} is not missing", lambda record: record[place] is not None
    text, holds = tests[sign]
    return text, lambda record: record[place] is not None and holds(record[place])


def condition(rng: random.Random, depth: int = 0) -> tuple[str, Holds]:
    drawn = rng.random()
    if depth == 2 or drawn < 0.4:
        return drawn_test(rng, rng.randrange(3))
    text, holds = condition(rng, depth + 1)
    if drawn < 0.55:
        return f"not ({text})", lambda record: not holds(record)
    other_text, other = condition(rng, depth + 1)
    if drawn < 0.8:
        return f"({text}) and ({other_text})", lambda record: holds(record) and other(record)
    return f"({text}) or ({other_text})", lambda record: holds(record) or other(record)


@dataclass(frozen=True)
class Drawn:
    """A query, as a text and as what it asks."""

    what: str
    where: tuple[str, Holds] | None
    by: tuple[str, ...]

    @classmethod
    def of(cls, rng: random.Random) -> Drawn:
        by = rng.choice([(), (), ("age",), ("town",), ("ill",), ("town", "age"), ("ill", "town")])
        what = rng.choice(["count", "count", "share", "sum", "mean"])
        return cls(what, None if rng.random() < 0.2 else condition(rng), by)

    def __str__(self) -> str:
        of = f"{self.what} age" if self.what in ("sum", "mean") else self.what
        where = "" if self.where is None else f" where {self.where[0]}"
        return of + where + (f" by {', '.join(self.by)}" if self.by else "")

    def added(self, record: Record, cell: tuple[Value, ...]) -> tuple[int, int]:
        """Return how many records, and what sum, one record adds to a cell of the answer."""
        own = tuple(record[NAMES.index(name)] for name in self.by)
        age = record[0] if self.what in ("sum", "mean") else 0
        holds = self.where is None or self.where[1](record)
        return (1, int(age)) if holds and own == cell and age is not None else (0, 0)


# Every original.


def groups_of(release: sf.Release) -> list[list[dict[str, str | None]]]:
    """Return the published records, those together whose sensitive values are told together."""
    column = release.group_column
    groups: dict[Any, list[dict[str, str | None]]] = {}
    for number, row in enumerate(release.to_arrow(typed=False).to_pylist()):
        groups.setdefault(row.get(column, -number), []).append(row)
    return list(groups.values())


def orders(records: list[dict[str, str | None]]) -> Iterable[tuple[str | None, ...]]:
    """Return every order of a group's sensitive values."""
    values = [record["ill"] for record in records]
    return set(itertools.permutations(values)) if len(values) > 1 else [tuple(values)]


def reached(release: sf.Release, asked: Drawn, cell: tuple[Value, ...]) -> Reached:
    """Return what the records of some original add up to in a cell, for every original that fits."""
    every: Reached = {(0, 0)}
    for records in groups_of(release):
        of_group: Reached = set()
        for ills in orders(records):
            here: Reached = {(0, 0)}
            for record, ill in zip(records, ills, strict=True):
                values = [meant(record["age"], "age"), meant(record["town"], "town"), meant(ill, "ill")]
                ways = {asked.added(each, cell) for each in itertools.product(*values)}
                here = {(n + more, s + sum_) for n, s in here for more, sum_ in ways}
            of_group |= here
        every = {(n + more, s + sum_) for n, s in every for more, sum_ in of_group}
    return every


def extremes(asked: Drawn, found: Reached, n_records: int) -> tuple[float | None, float | None]:
    of: dict[str, list[float]] = {
        "count": [n for n, _ in found],
        "share": [n / n_records for n, _ in found],
        "sum": [s for _, s in found],
        "mean": [s / n for n, s in found if n],
    }
    figures = of[asked.what]
    return (min(figures), max(figures)) if figures else (None, None)


def named_cells(release: sf.Release, asked: Drawn) -> Iterator[tuple[Value, ...]]:
    """Yield the cells of an answer all of whose values are published as they are."""
    rows = release.to_arrow(typed=False).to_pylist()
    values = [
        {value for row in rows for value in meant(row[name], name) if len(meant(row[name], name)) == 1}
        for name in asked.by
    ]
    yield from itertools.product(*values)


def compare(release: sf.Release, asked: Drawn, answer: QueryAnswer) -> int:
    """Compare every figure with all originals; return how many there are."""
    shown = {
        tuple(int(v) if n == "age" and v is not None else v for n, v in row.by.items()): row
        for row in answer.rows
    }
    in_groups = release.group_of is not None
    for cell in {*shown, *named_cells(release, asked)}:
        found = reached(release, asked, cell)
        least, most = extremes(asked, found, release.n_records)
        if cell not in shown:
            assert not most
            continue
        row = shown[cell]
        if in_groups and asked.what in ("sum", "mean"):  # the notes say that these may be too wide
            if least is not None and most is not None:
                assert row.least is not None
                assert row.most is not None
                assert row.least <= least + 1e-9
                assert row.most >= most - 1e-9
            continue
        if least is None or most is None:
            assert (row.least, row.most, row.value) == (None, None, None)
            continue
        assert [row.least, row.most] == pytest.approx([least, most])
        assert row.value is None or least - 1e-6 <= row.value <= most + 1e-6
    return len(shown)


def answered(release: sf.Release, asked: Drawn) -> QueryAnswer | None:
    """Ask; ``None`` where the release says nothing of what is asked, or numbers have no end."""
    labels = {release.cells["age"].labels[code] for code in release.cells["age"].codes}
    if asked.what in ("sum", "mean") and any(map(is_open, labels)):
        return None
    try:
        return query(release, str(asked))
    except ParameterError as problem:
        if SAYS_NOTHING.search(str(problem)):
            return None
        raise


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.thorough("its first seeds", but=2)
def test_bounds_are_those_of_every_original(seed: int) -> None:
    rng = random.Random(seed)
    compared: Counter[str] = Counter()
    for name, how in METHODS.items():
        for release in itertools.islice(releases(rng, how, seed), 5):
            for _ in range(8):
                asked = Drawn.of(rng)
                answer = answered(release, asked)
                if answer is not None:
                    try:
                        compared[name] += compare(release, asked, answer)
                    except AssertionError as problem:
                        rows = release.to_arrow(typed=False).to_pylist()
                        raise AssertionError(f"{name}: {asked} of {rows}") from problem
    assert len(compared) == len(METHODS) >= 12


def releases(
    rng: random.Random, how: Callable[[random.Random, sf.Table], sf.sanitizers.Sanitizer], seed: int
) -> Iterator[sf.Release]:
    """Yield releases of other people each time; some have too few for the method."""
    while True:
        table, schema = people(rng)
        with suppress(Infeasible):
            yield sf.sanitize(table, schema, how(rng, table), seed=seed)
