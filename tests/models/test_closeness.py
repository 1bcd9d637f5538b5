"""t-closeness against exact fractions, SciPy, and the earth mover's problem solved as a linear programme."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import jensenshannon

from sfumato import Attribute, Hierarchy, Release, Schema, Table, sanitize
from sfumato.models import KAnonymity, TCloseness
from sfumato.results.release import holds
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of

Bound = tuple[Table, Schema]


def distributions(release: Release, table: Table, name: str) -> list[tuple[list[Fraction], list[Fraction]]]:
    """Return for each class its distribution and that of all original records, over the same values."""
    everybody = Counter(record[name] for record in table.to_arrow().to_pylist())
    classes: dict[tuple[Any, ...], Counter[Any]] = {}
    for record in release.to_arrow().to_pylist():
        key = tuple(record[q] for q in release.schema.quasi_identifiers)
        classes.setdefault(key, Counter())[record[name]] += 1
    return [
        (
            [Fraction(here[v], here.total()) for v in everybody],
            [Fraction(everybody[v], everybody.total()) for v in everybody],
        )
        for _, here in sorted(classes.items(), key=str)
    ]


def variation(here: list[Fraction], there: list[Fraction]) -> Fraction:
    return sum((abs(p - q) for p, q in zip(here, there, strict=True)), Fraction(0)) / 2


def earth_moved(here: Any, there: Any, ground: Any) -> float:
    """Solve the transport problem: least Σ flow · distance that turns one distribution into the other."""
    m = len(here)
    out, into = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    supply = np.array([float(p) for p in (*here, *there)])
    solved = linprog(np.ravel(ground), A_eq=np.vstack([out, into])[:-1], b_eq=supply[:-1], method="highs")
    assert solved.success
    return float(solved.fun)


def worst(release: Release, table: Table, distance: Any) -> list[float]:
    """Return for each class the largest distance over the sensitive attributes, sorted."""
    each = [
        [distance(*pair) for pair in distributions(release, table, name)] for name in release.schema.sensitive
    ]
    return sorted(max(map(float, one)) for one in zip(*each, strict=True))


class TestEqual:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_is_the_total_variation(self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        scores = TCloseness().scores(release.groups)
        assert sorted(scores) == pytest.approx(worst(release, table, variation), abs=1e-12)

    @given(data=st.data())
    @settings(max_examples=20)
    def test_is_the_earth_mover_s_distance_when_all_values_are_equally_far(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        expected = worst(release, table, lambda p, q: earth_moved(p, q, 1 - np.eye(len(p))))
        assert sorted(TCloseness().scores(release.groups)) == pytest.approx(expected, abs=1e-9)

    @given(data=st.data())
    @settings(max_examples=40)
    def test_exactly_t_is_allowed(self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        exact = worst(release, table, variation)[-1]
        assert holds(release, TCloseness(exact))
        if exact > 1e-3:
            assert not holds(release, TCloseness(exact - 1e-6))

    @pytest.mark.parametrize("order", ["abcd", "dcba", "bdac"])
    def test_three_tenths_hold_in_whatever_order_they_are_added_up(self, order: str) -> None:
        here, everywhere = {"a": 3, "b": 4, "c": 3, "d": 0}, {"a": 4, "b": 4, "c": 6, "d": 6}
        records = [(1, v) for v in order for _ in range(here[v])]
        records += [(2, v) for v in order for _ in range(everywhere[v] - here[v])]
        table = Table.from_arrow({"age": [age for age, _ in records], "ill": [ill for _, ill in records]})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
        assert holds(release, TCloseness(0.3))
        assert holds(release, TCloseness(0.1 + 0.2))
        assert not holds(release, TCloseness(0.299999))


class TestJensenShannon:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_is_scipy_s_squared(self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        expected = worst(release, table, lambda p, q: jensenshannon([*map(float, p)], [*map(float, q)]) ** 2)
        assert sorted(TCloseness(0.1, "js").scores(release.groups)) == pytest.approx(expected, abs=1e-9)


class TestOrdered:
    @given(data=st.data())
    @settings(max_examples=30)
    def test_is_the_earth_mover_s_distance_over_the_order(self, data: st.DataObject) -> None:
        ages = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=25))
        table = Table.from_arrow({"group": [g for g, _ in ages], "pay": [p for _, p in ages]})
        schema = Schema.of(group="quasi-identifying", pay="sensitive")
        release = sanitize(table, schema, AsIs())
        everybody = Counter(pay for _, pay in ages)
        order = sorted(everybody)
        expected = []
        for group in {g for g, _ in ages}:
            here = Counter(pay for g, pay in ages if g == group)
            ground = np.abs(np.subtract.outer(np.arange(len(order)), np.arange(len(order)))) / max(
                len(order) - 1, 1
            )
            p, q = ([counts[v] / counts.total() for v in order] for counts in (here, everybody))
            expected.append(earth_moved(p, q, ground))
        scores = TCloseness(0.1, "ordered").scores(release.groups)
        assert sorted(scores) == pytest.approx(sorted(expected), abs=1e-9)

    def test_the_worked_example_of_the_paper(self) -> None:
        # Li, Li, Venkatasubramanian 2007: salaries 3k to 11k; {3k, 4k, 5k} has 0.375, {6k, 8k, 11k} 0.167
        pay = [3, 4, 5, 6, 8, 11, 7, 9, 10]
        table = Table.from_arrow({"group": [1, 1, 1, 2, 2, 2, 3, 3, 3], "pay": pay})
        release = sanitize(table, Schema.of(group="quasi-identifying", pay="sensitive"), AsIs())
        scores = TCloseness(0.1, "ordered").scores(release.groups)
        assert scores[:2] == pytest.approx([0.375, 1 / 6])

    def test_the_last_digits_survive_many_groups(self) -> None:
        n = 30_000
        table = Table.from_arrow({"group": np.repeat(np.arange(n), 3), "pay": np.tile([1, 2, 3], n)})
        release = sanitize(table, Schema.of(group="quasi-identifying", pay="sensitive"), AsIs())
        assert TCloseness(0.0, "ordered").level(release.groups) == 0
        assert holds(release, TCloseness(0.0, "ordered"))


class TestHierarchical:
    @given(data=st.data())
    @settings(max_examples=30)
    def test_is_the_earth_mover_s_distance_over_the_tree(self, data: st.DataObject) -> None:
        letters = "abcdef"
        middle = {letter: data.draw(st.sampled_from("PQR")) for letter in letters}
        top = {node: data.draw(st.sampled_from("XY")) for node in "PQR"}
        levels = [[middle[letter] for letter in letters], [top[middle[letter]] for letter in letters]]
        tree = Hierarchy.of_levels(letters, levels)
        height = tree.height
        records = data.draw(
            st.lists(st.tuples(st.integers(0, 2), st.sampled_from(letters)), min_size=1, max_size=20)
        )
        table = Table.from_arrow({"group": [g for g, _ in records], "ill": [v for _, v in records]})
        schema = Schema(
            (Attribute("group", "quasi-identifying"), Attribute("ill", "sensitive", hierarchy=tree))
        )
        release = sanitize(table, schema, AsIs())
        paths = {v: [*[v, middle[v], top[middle[v]]][:height], "*"] for v in letters}
        everybody = Counter(v for _, v in records)
        values = sorted(everybody)
        ground = [
            [next(i for i in range(height + 1) if paths[v][i:] == paths[w][i:]) / height for v in values]
            for w in values
        ]
        expected = []
        for group in {g for g, _ in records}:
            here = Counter(v for g, v in records if g == group)
            p, q = ([counts[v] / counts.total() for v in values] for counts in (here, everybody))
            expected.append(earth_moved(p, q, ground))
        scores = TCloseness(0.1, "hierarchical").scores(release.groups)
        assert sorted(scores) == pytest.approx(sorted(expected), abs=1e-9)

    def test_without_a_hierarchy_all_values_are_equally_far(self, hospital: Bound) -> None:
        table = Table.from_arrow({"age": [1, 1, 2, 2, 2], "ill": list("abbcc")})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
        equal, hierarchical = (TCloseness(0.1, d).scores(release.groups) for d in ("equal", "hierarchical"))
        assert hierarchical.tolist() == equal.tolist()


class TestOrderOfCategories:
    """The order in which categories were first seen means nothing, and is not published."""

    TABLE = Table.from_arrow({"age": [1, 2, 2], "pay": ["high", "low", "middle"]})
    MODEL = TCloseness(0.9, "ordered")

    def test_there_is_none_without_a_hierarchy(self) -> None:
        schema = Schema.of(age="quasi-identifying", pay="sensitive")
        for bound in ((self.TABLE, schema), schema.bind(self.TABLE)):
            release = sanitize(*bound, AsIs())
            with pytest.raises(
                ParameterError, match="the values of 'pay' have no order; give it a hierarchy"
            ):
                self.MODEL.scores(release.groups)
            with pytest.raises(ParameterError, match="no order"):
                sanitize(*bound, Mondrian(self.MODEL))

    def test_a_flat_hierarchy_lists_them_and_is_published(self) -> None:
        order = Hierarchy.flat(["low", "middle", "high"])
        pay = Attribute("pay", "sensitive", hierarchy=order)
        release = sanitize(self.TABLE, Schema((Attribute("age", "quasi-identifying"), pay)), AsIs())
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        expected = self.MODEL.scores(release.groups)
        assert sorted(self.MODEL.scores(seen.groups)) == pytest.approx(sorted(expected))
        assert sorted(expected) == pytest.approx([1 / 4, 1 / 2])


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical", "js"])
class TestEveryDistance:
    def test_all_records_in_one_class_have_distance_zero(self, distance: Any, adult: Bound) -> None:
        release = sanitize(
            *adult, FullDomain({name: adult[1].hierarchy(name).height for name in adult[1].quasi_identifiers})
        )
        assert TCloseness(0.0, distance).level(release.groups) == 0
        assert holds(release, TCloseness(0.0, distance))

    def test_the_prior_is_that_of_all_records_also_of_suppressed_ones(self, distance: Any) -> None:
        table = Table.from_arrow({"age": [1, 2, 3, 4, 4, 4, 4], "ill": [*"aaa", *"aabb"]})
        schema = Schema.of(age="quasi-identifying", ill="sensitive")
        release = sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=0.5))
        p, q = [0.5, 0.5], [5 / 7, 2 / 7]
        expected = jensenshannon(p, q) ** 2 if distance == "js" else 5 / 7 - 0.5
        assert release.n_suppressed == 3
        assert TCloseness(0.1, distance).level(release.groups) == pytest.approx(expected)

    def test_one_value_has_distance_zero(self, distance: Any) -> None:
        table = Table.from_arrow({"age": [1, 2, 3], "ill": ["a"] * 3})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
        assert TCloseness(0.0, distance).scores(release.groups).tolist() == [0, 0, 0]


@pytest.mark.parametrize("t", [-0.1, float("nan")])
def test_t_is_not_negative(t: float) -> None:
    with pytest.raises(ParameterError, match="t must be at least 0"):
        TCloseness(t)
