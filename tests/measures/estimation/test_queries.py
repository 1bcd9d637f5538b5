"""Random count queries, against counting records one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table
from sfumato.measures.estimation.queries import Queries, TooFewQueries, satisfied_queries
from sfumato.measures.estimation.reconstruction import true_estimate

Bound = tuple[Table, Schema]


def drawn(bound: Bound, sensitive: str, *, n: int = 50, d: int = 2, sel: float = 0.05, seed: int = 0) -> Any:
    truth = true_estimate(*bound, sensitive)
    return satisfied_queries(*bound, sensitive, truth, n, d, sel, seed)


def accepted(queries: Queries, query: int, bound: Bound, sensitive: str) -> dict[str, set[Any]]:
    table, schema = bound
    found = {}
    for place, attribute in enumerate(queries.attributes[query]):
        name = schema.quasi_identifiers[attribute]
        start = queries.starts[query, place]
        domain = table[name].domain
        found[name] = {value for code, value in enumerate(domain) if queries.accepted[start + code]}
    domain = table[sensitive].domain
    found[sensitive] = {value for code, value in enumerate(domain) if queries.values[query, code]}
    return found


@pytest.mark.parametrize(("d", "sel"), [(1, 0.05), (2, 0.05), (3, 0.4)])
def test_a_query_is_what_the_definition_says(hospital: Bound, d: int, sel: float) -> None:
    table, _ = hospital
    queries, answers, _ = drawn(hospital, "diagnosis", d=d, sel=sel)
    records = table.to_arrow().to_pylist()
    assert len(queries) == len(answers) == 50
    for query in range(50):
        wanted = accepted(queries, query, hospital, "diagnosis")
        assert len(wanted) == d + 1
        for name, values in wanted.items():
            assert len(values) == math.ceil(len(table[name].domain) * sel ** (1 / (d + 1)))
        true = sum(all(record[name] in values for name, values in wanted.items()) for record in records)
        assert answers[query] == true > 0
        if "age" in wanted:
            codes = sorted(table["age"].domain.index(age) for age in wanted["age"])
            assert codes == list(range(codes[0], codes[0] + len(codes)))


def test_each_attribute_may_accept_the_share_itself(hospital: Bound) -> None:
    table, schema = hospital
    truth = true_estimate(table, schema, "diagnosis")
    queries, _, _ = satisfied_queries(table, schema, "diagnosis", truth, 20, 2, 0.3, 0, "each")
    for query in range(20):
        for name, values in accepted(queries, query, hospital, "diagnosis").items():
            assert len(values) == math.ceil(len(table[name].domain) * 0.3)


def test_the_same_seed_asks_the_same_and_another_seed_asks_others(adult: Bound) -> None:
    first, answers, _ = drawn(adult, "occupation", n=20)
    again, same, _ = drawn(adult, "occupation", n=20)
    assert (first.accepted == again.accepted).all()
    assert (answers == same).all()
    other, _, _ = drawn(adult, "occupation", n=20, seed=1)
    assert [accepted(first, q, adult, "occupation") for q in range(20)] != [
        accepted(other, q, adult, "occupation") for q in range(20)
    ]


def test_queries_that_nobody_satisfies_are_drawn_again() -> None:
    n = 40
    table = Table.from_arrow({"a": [f"a{i}" for i in range(n)], "s": [f"s{i}" for i in range(n)]})
    bound = Schema.of(a="quasi-identifying", s="sensitive").bind(table)
    queries, answers, redrawn = drawn(bound, "s", n=30, d=1, sel=0.01)
    assert len(queries) == 30
    assert answers.min() >= 1
    assert redrawn > 0


def test_drawing_again_comes_to_an_end() -> None:
    n = 2000
    table = Table.from_arrow({"a": [f"a{i}" for i in range(n)], "s": [f"s{i}" for i in range(n)]})
    bound = Schema.of(a="quasi-identifying", s="sensitive").bind(table)
    with pytest.raises(TooFewQueries, match=r"of 5 queries .* give a higher selectivity or fewer dimensions"):
        drawn(bound, "s", n=5, d=1, sel=1e-9)


def test_every_attribute_is_asked_about(adult: Bound) -> None:
    queries, _, _ = drawn(adult, "occupation", n=200, d=3)
    counts = np.bincount(queries.attributes.ravel(), minlength=6)
    assert counts.sum() == 600
    assert counts.min() > 60
    assert all(len(set(line)) == 3 for line in queries.attributes.tolist())
