"""Large populations, against every conjunction of every node tried out."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, measure, sanitize
from sfumato.measures.utility.estimation import subpopulations
from sfumato.measures.utility.estimation.subpopulations import (
    AttributeNodes,
    Populations,
    alike_in,
    large_populations,
)
from sfumato.runtime.caching import forget
from sfumato.sanitizers import AsIs

Bound = tuple[Table, Schema]
Conjunction = tuple[frozenset[Any] | None, ...]


def nodes_by_hand(schema: Schema, name: str) -> set[frozenset[Any]]:
    """Return the sets of values below each label of each level, but not that of all values."""
    hierarchy = schema.hierarchy(name)
    sets: dict[tuple[int, str], set[Any]] = {}
    for value, labels in zip(hierarchy.values, hierarchy.rows(), strict=True):
        for level, label in enumerate(labels):
            sets.setdefault((level, label), set()).add(value)
    return {frozenset(values) for values in sets.values()} - {frozenset(hierarchy.values)}


def by_hand(table: Table, schema: Schema, minimum_support: str) -> dict[Conjunction, int]:
    names = schema.quasi_identifiers
    records = table.to_arrow().select(names).to_pylist()
    choices = [[None, *nodes_by_hand(schema, name)] for name in names]
    found: dict[Conjunction, int] = {}
    for conjunction in itertools.product(*choices):
        wanted = [
            (name, values) for name, values in zip(names, conjunction, strict=True) if values is not None
        ]
        support = sum(all(record[name] in values for name, values in wanted) for record in records)
        if wanted and support >= max(Fraction(1), Fraction(minimum_support) * len(records)):
            found[conjunction] = support
    return found


def conjunctions(found: Populations) -> list[tuple[int, ...]]:
    return [found.conjunction(place) for place in range(len(found))]


def described(found: Populations, table: Table, schema: Schema) -> dict[Conjunction, int]:
    names = schema.quasi_identifiers
    result: dict[Conjunction, int] = {}
    for nodes, support in zip(conjunctions(found), found.supports.tolist(), strict=True):
        conjunction: list[frozenset[Any] | None] = [None] * len(names)
        for node in nodes:
            place = int(found.nodes.attribute_of[node])
            assert conjunction[place] is None
            domain = table[names[place]].domain
            conjunction[place] = frozenset(domain[code] for code in found.nodes.codes(node))
        assert tuple(conjunction) not in result
        result[tuple(conjunction)] = support
    return result


@given(data=st.data(), minimum_support=st.sampled_from(["0.001", "0.05", "0.07", "0.2", "0.5", "1"]))
@settings(max_examples=40)
def test_every_large_conjunction_is_found_once_with_its_records(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, minimum_support: str
) -> None:
    table, schema = data.draw(tiny_tables)
    found = large_populations(table, schema, float(minimum_support))
    assert described(found, table, schema) == by_hand(table, schema, minimum_support)


def test_nodes_with_the_same_values_count_once_and_all_values_are_no_node() -> None:
    chain = Hierarchy.of_rows([["a", "A", "X", "*"], ["b", "B", "X", "*"], ["c", "C", "Y", "*"]])
    schema = Schema((Attribute("q", "quasi-identifying", hierarchy=chain),))
    table, schema = schema.bind(Table.from_arrow({"q": ["a", "b", "c", "c"]}))
    found = described(large_populations(table, schema, 0.25), table, schema)
    assert found == {
        (frozenset("a"),): 1,
        (frozenset("b"),): 1,
        (frozenset("c"),): 2,
        (frozenset("ab"),): 2,
    }
    alone, schema = schema.bind(Table.from_arrow({"q": ["a", "a"]}))
    assert len(large_populations(alone, schema, 0.5)) == 0


def test_a_population_has_a_record_however_small_it_may_be() -> None:
    table = Table.from_arrow({"q": ["a", "b"], "r": ["x", "y"]})
    table, schema = Schema.of(q="quasi-identifying", r="quasi-identifying").bind(table)
    found = described(large_populations(table, schema, 0.0), table, schema)
    assert found == by_hand(table, schema, "0")
    # each of the two by either and by both, but nobody is a and y
    assert sorted(found.values()) == [1] * 6


def test_a_share_is_taken_as_it_is_written() -> None:
    # 0.07 of 100 records is 7, though 0.07 * 100 is a little more
    table = Table.from_arrow({"q": ["a"] * 7 + ["b"] * 93})
    table, schema = Schema.of(q="quasi-identifying").bind(table)
    assert sorted(large_populations(table, schema, 0.07).supports.tolist()) == [7, 93]


def test_numbers_are_described_by_their_intervals_and_by_themselves() -> None:
    schema = Schema((Attribute("age", "quasi-identifying", "numeric", Intervals((10,))),))
    table, schema = schema.bind(Table.from_arrow({"age": [20, 21, 35, 36, 36]}))
    large = large_populations(table, schema, 0.4)
    found = described(large, table, schema)
    assert found == {(frozenset({36}),): 2, (frozenset({20, 21}),): 2, (frozenset({35, 36}),): 3}
    # a node that is too small by itself is not looked at
    assert len(large.nodes) == 3


def test_the_nodes_of_numbers_need_not_be_neighbours() -> None:
    parity = Hierarchy.of_rows([["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"], ["4", "even", "*"]])
    schema = Schema((Attribute("q", "quasi-identifying", "numeric", parity),))
    table, schema = schema.bind(Table.from_arrow({"q": [1, 2, 3, 4]}))
    found = described(large_populations(table, schema, 0.5), table, schema)
    assert found == {(frozenset({1, 3}),): 2, (frozenset({2, 4}),): 2}


def test_a_node_of_numbers_may_begin_and_end_in_the_same_node_below() -> None:
    rows = [["1", "a", "x", "*"], ["2", "b", "x", "*"], ["3", "a", "x", "*"], ["4", "c", "y", "*"]]
    schema = Schema((Attribute("q", "quasi-identifying", "numeric", Hierarchy.of_rows(rows)),))
    table, schema = schema.bind(Table.from_arrow({"q": [1, 2, 3, 4]}))
    found = described(large_populations(table, schema, 0.5), table, schema)
    assert found == {(frozenset({1, 3}),): 2, (frozenset({1, 2, 3}),): 3}


def test_weights_count_as_records() -> None:
    one = Table.from_arrow({"q": ["a", "b"]})
    table = Table({"q": one["q"]}, np.array([3_000_000_000, 4_000_000_000]))
    table, schema = Schema.of(q="quasi-identifying").bind(table)
    assert sorted(large_populations(table, schema, 0.4).supports.tolist()) == [3_000_000_000, 4_000_000_000]


def test_populations_are_found_once_for_a_table() -> None:
    def bound() -> Bound:
        return Schema.of(q="quasi-identifying").bind(Table.from_arrow({"q": ["a", "b", "once"]}))

    found = large_populations(*bound(), 0.05)
    assert large_populations(*bound(), 0.05) is found
    assert large_populations(*bound(), 0.5) is not found
    coarse = Hierarchy.of_rows([["a", "x", "*"], ["b", "x", "*"], ["once", "y", "*"]])
    schema = Schema((Attribute("q", "quasi-identifying", hierarchy=coarse),))
    other = large_populations(*schema.bind(bound()[0]), 0.05)
    assert len(other) == len(found) + 1


def few_attributes_at_a_time() -> Bound:
    """Four attributes of two values each: 8 populations of one, 24 of two, 32 of three, 16 of four."""
    columns = {
        name: [(row >> place) & 1 for row in range(16)] for place, name in enumerate(("a", "b", "c", "d"))
    }
    schema = Schema(
        (
            *(Attribute(name, "quasi-identifying", "categorical") for name in columns),
            Attribute("s", "sensitive"),
        )
    )
    return schema.bind(Table.from_arrow({**columns, "s": list("aabbccddaabbccdd")}))


@pytest.mark.parametrize(
    ("most", "counted", "together"), [(80, 80, None), (79, 64, 3), (33, 32, 2), (31, 8, 1)]
)
def test_of_too_many_populations_those_of_fewer_attributes_are_counted(
    monkeypatch: pytest.MonkeyPatch, most: int, counted: int, together: int | None
) -> None:
    forget()
    monkeypatch.setattr(subpopulations, "MOST_POPULATIONS", most)
    table, schema = few_attributes_at_a_time()
    found = large_populations(table, schema, 0.05)
    assert (len(found), found.most_attributes) == (counted, together)
    every = by_hand(table, schema, "0.05")
    sizes = {each: sum(values is not None for values in each) for each in every}
    few = {each: every[each] for each in every if sizes[each] <= (together or 4)}
    assert described(found, table, schema) == few
    (taken,) = measure(sanitize(table, schema, AsIs()), ["utility-loss"])
    assert (taken.value, taken.detail.get("attributes-together")) == (0.0, together)
    forget()


def test_those_of_one_attribute_are_counted_however_much_work_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget()
    monkeypatch.setattr(subpopulations, "MOST_WORK", 1)
    monkeypatch.setattr(subpopulations, "MOST_POPULATIONS", 1)
    found = large_populations(*few_attributes_at_a_time(), 0.05)
    assert (len(found), found.most_attributes) == (8, 1)
    forget()


def test_work_counts_rows_and_the_values_of_every_sensitive_attribute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # of one attribute: 8 populations in 16 rows, times 2 for the one sensitive attribute, and 8 x 4 values;
    # of two: 24 more in 8 rows each, and 24 x 4 values more
    forget()
    of_one, of_two = 8 * 16 * 2 + 8 * 4, 24 * 8 * 2 + 24 * 4
    for most, together in ((of_one + of_two, 2), (of_one + of_two - 1, 1)):
        monkeypatch.setattr(subpopulations, "MOST_WORK", most)
        assert large_populations(*few_attributes_at_a_time(), 0.05).most_attributes == together
        forget()


def test_the_populations_of_adult(adult: Bound) -> None:
    table, schema = adult
    names = schema.quasi_identifiers
    least = 0.05 * table.n_records
    masks = [
        [
            np.isin(table[name].codes, [table[name].domain.index(value) for value in values])
            for values in nodes_by_hand(schema, name)
        ]
        for name in names
    ]

    def extended(inside: Any, place: int) -> list[int]:
        found = []
        for later in range(place, len(names)):
            for mask in masks[later]:
                both = inside & mask
                support = int(table.weights[both].sum())
                if support >= least:
                    found += [support, *extended(both, later + 1)]
        return found

    supports = extended(np.ones(table.n_rows, dtype=np.bool_), 0)
    found = large_populations(table, schema, 0.05)
    assert sorted(found.supports.tolist()) == sorted(supports)
    assert len(found) == 2668
    assert len(large_populations(table, schema, 0.001)) == 127_998


class TestNodes:
    """Two attributes of three codes and of two; of the first {0}, {0, 2}, of the second {0}, {1}."""

    SETS = ([[0], [0, 2]], [[0], [1]])

    def nodes(self) -> AttributeNodes:
        return AttributeNodes.of([[np.array(each) for each in of] for of in self.SETS], [3, 2])

    def test_they_are_numbered_through(self) -> None:
        nodes = self.nodes()
        assert len(nodes) == 4
        assert nodes.attribute_of.tolist() == [0, 0, 1, 1]
        assert [nodes.codes(node).tolist() for node in range(4)] == [[0], [0, 2], [0], [1]]
        assert (nodes.code_starts.tolist(), nodes.codes_of_node.tolist()) == (
            [0, 1, 3, 4, 5],
            [0, 0, 2, 0, 1],
        )
        assert nodes.first_code.tolist() == [0, 3, 5]
        # of the first attribute 0 is in both, 1 in none and 2 in the second
        assert nodes.node_starts.tolist() == [0, 2, 2, 3, 4, 5]
        assert nodes.nodes_of_code.tolist() == [0, 1, 1, 2, 3]

    def test_arrays_are_of_one_type_and_read_only(self) -> None:
        nodes, some = self.nodes(), [1, 2]
        found = Populations(nodes, some, some, some)  # type: ignore[arg-type]
        types = {
            **dict.fromkeys(("attribute_of", "codes_of_node", "nodes_of_code"), np.int32),
            **dict.fromkeys(("code_starts", "first_code", "node_starts"), np.int64),
            "depths": np.int16,
            "last_nodes": np.int32,
            "supports": np.int64,
        }
        for name, dtype in types.items():
            array = {**vars(nodes), **vars(found)}[name]
            assert (array.dtype, array.flags.writeable) == (dtype, False), name
        assert (len(found), found.most_attributes) == (2, None)

    def test_codes_in_the_same_nodes_are_alike(self) -> None:
        numbers, one_of_each = self.nodes().alike(0)
        assert (numbers.tolist(), one_of_each.tolist()) == ([0, 1, 2], [0, 1, 2])
        same = AttributeNodes.of([[np.array([1, 2])], [np.array([0])]], [4, 2])
        numbers, one_of_each = same.alike(0)
        assert (numbers.tolist(), one_of_each.tolist()) == ([0, 1, 1, 0], [0, 1])
        assert numbers.dtype == one_of_each.dtype == np.int32
        numbers, one_of_each = same.alike(1)
        assert (numbers.tolist(), one_of_each.tolist()) == ([0, 1], [0, 1])

    def test_nodes_and_codes_stand_in_their_order(self) -> None:
        # a hundred codes, odd and even; and of nested sets each code is in all that are large enough for it
        parity = Hierarchy.of_rows([[str(number), ("even", "odd")[number % 2], "*"] for number in range(100)])
        schema = Schema((Attribute("q", "quasi-identifying", "numeric", parity),))
        _, schema = schema.bind(Table.from_arrow({"q": list(range(100))}))
        *_, even, odd = subpopulations.distinct_nodes(schema.hierarchy("q"))
        assert (even.tolist(), odd.tolist()) == (list(range(0, 100, 2)), list(range(1, 100, 2)))
        nested = AttributeNodes.of([[np.arange(size, dtype=np.int32) for size in range(1, 60)]], [60])
        for code in range(60):
            of_code = nested.nodes_of_code[nested.node_starts[code] : nested.node_starts[code + 1]]
            assert of_code.tolist() == list(range(code, 59))

    def test_every_code_may_be_a_node(self) -> None:
        found = AttributeNodes.single_codes([2, 3])
        assert found.attribute_of.tolist() == [0, 0, 1, 1, 1]
        assert [found.codes(node).tolist() for node in range(5)] == [[0], [1], [0], [1], [2]]
        assert (found.first_code.tolist(), found.node_starts.tolist()) == ([0, 2, 5], [0, 1, 2, 3, 4, 5])
        assert found.nodes_of_code.tolist() == [0, 1, 2, 3, 4]

    def test_rows_in_the_same_nodes_are_put_together(self) -> None:
        same = AttributeNodes.of([[np.array([1, 2])], [np.array([0])]], [4, 2])
        row_of, codes = alike_in(same, [np.array([0, 3, 1, 2, 1]), np.array([0, 0, 1, 1, 0])])
        assert row_of.tolist() == [0, 0, 1, 1, 2]
        assert codes.tolist() == [[0, 1, 1], [0, 1, 0]]

    def test_conjunctions_follow_from_the_order_of_the_populations(self) -> None:
        depths, last = np.array([1, 2, 2, 1, 2]), np.array([0, 2, 3, 1, 3])
        found = Populations(self.nodes(), depths, last, depths)
        assert conjunctions(found) == [(0,), (0, 2), (0, 3), (1,), (1, 3)]


def test_nothing_is_large_enough_where_everybody_is_different() -> None:
    table, schema = Schema.of(q="quasi-identifying", s="sensitive").bind(
        Table.from_arrow({"q": ["a", "b", "c"], "s": ["x", "y", "z"]})
    )
    assert (len(large_populations(table, schema, 0.5)), len(large_populations(table, schema, 0.3))) == (0, 3)
