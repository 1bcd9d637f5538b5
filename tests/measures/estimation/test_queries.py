"""Random count queries, against counting records one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.measures.utility.estimation import random_queries as module
from sfumato.measures.utility.estimation.random_queries import (
    Queries,
    TooFewQueries,
    _draw,
    _joined,
    _some_codes,
    satisfied_queries,
)
from sfumato.measures.utility.estimation.reconstruction import true_estimate

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


class TestByHand:
    def test_arrays_are_of_one_type_and_read_only(self) -> None:
        queries = Queries([[0]], [[0]], [1, 0], [[1, 0]])  # type: ignore[arg-type]
        types = {"attributes": np.int32, "starts": np.int64, "accepted": np.bool_, "values": np.bool_}
        for name, dtype in types.items():
            array = vars(queries)[name]
            assert (array.dtype, array.flags.writeable) == (dtype, False), name
        assert len(queries) == 1

    def test_some_queries_are_taken_whole(self) -> None:
        queries = Queries(
            np.array([[0], [1]]),
            np.array([[0], [3]]),
            np.arange(5) % 2 == 1,
            np.array([[True, False], [False, True]]),
        )
        some = queries.take(np.array([1]))
        assert (some.attributes.tolist(), some.starts.tolist()) == ([[1]], [[3]])
        assert some.values.tolist() == [[False, True]]
        both = _joined([queries, some])
        assert both.attributes.tolist() == [[0], [1], [1]]
        # what the second part accepts stands behind what the first does
        assert both.starts.tolist() == [[0], [3], [8]]
        assert both.accepted.tolist() == [False, True, False, True, False] * 2
        assert len(both.values) == 3
        assert _joined([queries, some, some]).starts.tolist() == [[0], [3], [8], [13]]

    @pytest.mark.parametrize(("share", "n_accepted"), [(0.2, 1), (0.21, 2), (0.4, 2), (0.999, 5), (1.5, 5)])
    def test_a_share_of_the_values_is_accepted(self, share: float, n_accepted: int) -> None:
        rng = np.random.default_rng(0)
        numbers, words = (
            Column(np.array([0]), (1, 2, 3, 4, 5), NUMERIC),
            Column(np.array([0]), tuple("abcde")),
        )
        drawn = [_some_codes(numbers, share, rng).tolist() for _ in range(60)]
        # neighbours, and any of them
        assert {tuple(each) for each in drawn} == {
            tuple(range(first, first + n_accepted)) for first in range(5 - n_accepted + 1)
        }
        chosen = [_some_codes(words, share, rng).tolist() for _ in range(60)]
        assert {len(set(each)) for each in chosen} == {n_accepted}
        assert set().union(*chosen) == set(range(5))

    def test_queries_ask_about_different_attributes_each_with_room_of_its_own(self) -> None:
        columns = [Column(np.array([0]), tuple(range(size)), NUMERIC) for size in (2, 3, 4, 5)]
        found = _draw(columns, 7, 2, 0.5, np.random.default_rng(1))
        assert (found.attributes.shape, found.values.shape) == ((7, 2), (7, 5))
        assert all(len(set(line)) == 2 for line in found.attributes.tolist())
        sizes = [[(2, 3, 4)[each] for each in line] for line in found.attributes.tolist()]
        assert len(found.accepted) == sum(map(sum, sizes))
        starts = np.cumsum([0, *(size for line in sizes for size in line)])[:-1].reshape(7, 2)
        assert found.starts.tolist() == starts.tolist()
        for line, begins in zip(sizes, starts, strict=True):
            for size, begin in zip(line, begins, strict=True):
                assert found.accepted[begin : begin + size].sum() == math.ceil(size / 2)
        assert set(found.values.sum(axis=1).tolist()) == {3}

    @pytest.mark.parametrize(("beyond", "n_accepted"), [(3e-9, 3), (3e-10, 2)])
    def test_a_share_is_exact_to_nine_digits_of_the_values(self, beyond: float, n_accepted: int) -> None:
        column = Column(np.array([0]), tuple("abcde"))
        assert len(_some_codes(column, (2 + beyond) / 5, np.random.default_rng(0))) == n_accepted

    def test_every_quasi_identifier_may_be_asked_about_and_nothing_else_in_its_place(self) -> None:
        columns = [Column(np.array([0]), tuple(range(size)), NUMERIC) for size in (2, 3, 4, 5)]
        found = _draw(columns, 40, 1, 0.5, np.random.default_rng(1))
        assert {each for (each,) in found.attributes.tolist()} == {0, 1, 2}

    def test_the_selectivity_is_that_of_all_attributes_together_unless_of_each(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = Table.from_arrow({"a": ["x", "y"], "s": ["u", "v"]})
        bound = Schema.of(a="quasi-identifying", s="sensitive").bind(table)
        shares: list[float] = []

        def drawn(columns: Any, n_queries: int, dimensions: int, share: float, rng: Any) -> Queries:
            shares.append(share)
            return _draw(columns, n_queries, dimensions, 1.0, rng)

        monkeypatch.setattr(module, "_draw", drawn)
        facts = (*bound, "s", true_estimate(*bound, "s"), 3, 1, 0.25, 0)
        for given in ((), ("joint",), ("each",)):
            satisfied_queries(*facts, *given)
        assert shares == [0.5, 0.5, 0.25]

    def test_so_many_rounds_are_drawn_and_so_many_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = Table.from_arrow({"a": ["x", "y"], "s": ["u", "v"]})
        bound = Schema.of(a="quasi-identifying", s="sensitive").bind(table)
        asked: list[int] = []
        truth = true_estimate(*bound, "s")

        def answers(queries: Queries, estimate: Any) -> Any:
            asked.append(len(queries))
            # one more is satisfied each time
            return (np.arange(len(queries)) == 0).astype(np.float64)

        monkeypatch.setattr(Queries, "answers", answers)
        queries, found, redrawn = satisfied_queries(*bound, "s", truth, 3, 1, 0.5, 0)
        assert (asked, redrawn, len(queries), found.tolist()) == ([3, 2, 1], 2 + 1, 3, [1, 1, 1])
        assert not found.flags.writeable
        asked.clear()
        with pytest.raises(TooFewQueries, match=r"only 100 of 101 queries .* after drawing 100 times"):
            satisfied_queries(*bound, "s", truth, 101, 1, 0.5, 0)
        assert len(asked) == 100
