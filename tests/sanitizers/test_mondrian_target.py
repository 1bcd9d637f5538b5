"""Workload-aware Mondrian against a plain recursive reference that measures entropies by counting."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Recipe, Schema, Table, measure, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.models import AlphaKAnonymity, DistinctDiversity, KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import Mondrian

Bound = tuple[Table, Schema]
Rows = list[int]


class Reference:
    """The definition, one part after the other, record by record."""

    def __init__(self, bound: Bound, k: int, least: float, target: str) -> None:
        table, schema = bound
        names = schema.quasi_identifiers
        self.weights = table.weights.tolist()
        self.codes = [table[name].codes.tolist() for name in names]
        self.depths = [
            [1] * len(table[name].domain)
            if table[name].kind == NUMERIC
            else self.depths_of(schema.hierarchy(name))
            for name in names
        ]
        self.target = table[target].codes.tolist()
        self.sensitive = [table[name].codes.tolist() for name in schema.sensitive]
        self.k, self.least = k, least

    @staticmethod
    def depths_of(hierarchy: Hierarchy) -> list[int]:
        """Return for each value the lowest level on which it shares a node with the value before it."""
        paths = hierarchy.node_of.T.tolist()
        pairs = zip(paths[1:], paths, strict=False)
        return [0, *(next(level for level in range(len(a)) if a[level] == b[level]) for a, b in pairs)]

    def parts(self) -> set[frozenset[int]]:
        done, waiting = set(), [list(range(len(self.weights)))]
        while waiting:
            rows = waiting.pop()
            halves = self.split(rows)
            if halves is None:
                done.add(frozenset(rows))
            else:
                waiting += halves
        return done

    def split(self, rows: Rows) -> list[Rows] | None:
        best = [(*self.best_cut(column, rows), column) for column in range(len(self.codes))]
        # entropies that differ by a rounding error are equal: then the first column comes first
        for _, cut, column in sorted(best, key=lambda found: (round(found[0], 9), found[2])):
            if cut is not None:
                halves = [
                    [row for row in rows if (self.codes[column][row] < cut) is left] for left in (True, False)
                ]
                if all(self.holds(half) for half in halves):
                    return halves
        return None

    def best_cut(self, column: int, rows: Rows) -> tuple[float, int | None]:
        codes = [self.codes[column][row] for row in rows]
        boundaries = range(min(codes) + 1, max(codes) + 1)
        if not boundaries:
            return math.inf, None
        deepest = max(self.depths[column][boundary] for boundary in boundaries)
        allowed = [boundary for boundary in boundaries if self.depths[column][boundary] == deepest]
        return min(
            (
                (round(self.left_over(column, rows, b), 9), self.unevenness(column, rows, b), b)
                for b in allowed
            ),
        )[::2]

    def left_over(self, column: int, rows: Rows, boundary: int) -> float:
        """Return the entropy of the target that is left when both sides are known."""
        sides: list[Counter[int]] = [Counter(), Counter()]
        for row in rows:
            sides[self.codes[column][row] >= boundary][self.target[row]] += self.weights[row]
        total = sum(side.total() for side in sides)
        return sum(
            -count / total * math.log(count / side.total()) for side in sides for count in side.values()
        )

    def unevenness(self, column: int, rows: Rows, boundary: int) -> int:
        left = sum(self.weights[row] for row in rows if self.codes[column][row] < boundary)
        return abs(2 * left - sum(self.weights[row] for row in rows))

    def holds(self, rows: Rows) -> bool:
        size = sum(self.weights[row] for row in rows)
        for codes in self.sensitive:
            counts: Counter[int] = Counter()
            for row in rows:
                counts[codes[row]] += self.weights[row]
            if max(counts.values()) * self.least > size:
                return False
        return size >= self.k


def partition(release: LinkedRelease) -> set[frozenset[int]]:
    """Return the original rows of each class."""
    parts: dict[int, set[int]] = {}
    for row, number in zip(release.origin.rows.tolist(), release.classes.class_of.tolist(), strict=True):
        parts.setdefault(number, set()).add(row)
    return {frozenset(part) for part in parts.values()}


def merged_by_label(parts: set[frozenset[int]], release: LinkedRelease) -> set[frozenset[int]]:
    """Put parts together whose released values are written alike: nobody can tell them apart."""
    names = release.schema.quasi_identifiers
    labels = {
        row: tuple(release.cells[name].labels[release.cells[name].codes[place]] for name in names)
        for place, row in enumerate(release.origin.rows.tolist())
    }
    together: dict[frozenset[Any], set[int]] = {}
    for part in parts:
        together.setdefault(frozenset(labels[row] for row in part), set()).update(part)
    return {frozenset(part) for part in together.values()}


class TestReference:
    @given(data=st.data(), k=st.integers(1, 5), least=st.sampled_from([1.0, 1.0, 1.5, 2.0]))
    @settings(max_examples=250)
    def test_equals_the_reference_on_random_tables(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int, least: float
    ) -> None:
        table, schema = data.draw(tiny_tables)
        target = data.draw(st.sampled_from(table.names))
        reference = Reference((table, schema), k, least, target)
        how = Mondrian(KAnonymity(k) & ProbabilisticDiversity(least), target=target)
        if not reference.holds(list(range(table.n_rows))):
            with pytest.raises(Infeasible):
                sanitize(table, schema, how)
            return
        release = sanitize(table, schema, how)
        assert partition(release) == merged_by_label(reference.parts(), release)

    @pytest.mark.parametrize("target", ["occupation", "marital-status"])
    def test_equals_the_reference_on_a_part_of_adult(self, adult: Bound, target: str) -> None:
        table, schema = adult
        few = schema.bind(table.take(np.arange(0, table.n_rows, 60)))
        release = sanitize(*few, Mondrian(KAnonymity(10), target=target))
        assert partition(release) == Reference(few, 10, 1.0, target).parts()

    def test_categories_are_cut_along_their_hierarchy(self) -> None:
        tree = Hierarchy.nested({"Europe": ["France", "Italy"], "Asia": ["Japan", "Korea"]})
        schema = Schema(
            (Attribute("land", "quasi-identifying", hierarchy=tree), Attribute("ill", "sensitive"))
        )
        # the target would have France by itself, but Europe and Asia must be told apart first
        columns = {"land": ["France", "Italy", "Japan", "Korea"] * 2, "ill": ["a", "b", "b", "b"] * 2}
        release = sanitize(Table.from_arrow(columns), schema, Mondrian(KAnonymity(4), target="ill"))
        assert set(release.to_arrow()["land"].to_pylist()) == {"Europe", "Asia"}


class TestWorkload:
    def accuracy(self, release: LinkedRelease, target: str) -> float:
        """Return how many records a researcher gets right who says the commonest value of the class."""
        column = release.origin.table[target]
        counts = np.zeros((release.classes.n_classes, len(column.domain)), dtype=np.int64)
        np.add.at(counts, (release.classes.class_of, column.codes[release.origin.rows]), release.weights)
        return float(counts.max(axis=1).sum() / counts.sum())

    @pytest.mark.parametrize("target", ["occupation", "sex", "education"])
    @pytest.mark.parametrize("k", [50, 500])
    def test_the_classes_tell_more_about_the_target_than_those_of_medians(
        self, adult: Bound, target: str, k: int
    ) -> None:
        aware = sanitize(*adult, Mondrian(KAnonymity(k), target=target))
        blind = sanitize(*adult, Mondrian(KAnonymity(k)))
        assert aware.classes.sizes.min() >= k
        assert self.accuracy(aware, target) > self.accuracy(blind, target)

    def test_the_accuracy_gain_about_the_sensitive_attribute_is_larger(self, adult: Bound) -> None:
        gains = [
            measure(sanitize(*adult, Mondrian(KAnonymity(100), target=target)), ["accuracy-gain"])[0].value
            for target in ("occupation", "")
        ]
        assert gains[0] is not None
        assert gains[1] is not None
        assert gains[0] > gains[1] > 0

    def test_a_target_beside_the_quasi_identifiers_and_the_sensitive_attribute(self, adult: Bound) -> None:
        # salaries are not in the embedded table; one that follows age and education stands for them
        table, schema = adult
        rich = table["age"].codes + 3 * table["education"].codes + np.arange(table.n_rows) % 40 > 60
        records = {name: table.to_arrow()[name] for name in table.names}
        records["salary"] = np.repeat(np.where(rich, ">50K", "<=50K"), table.weights)
        wider = Schema((*schema.attributes, Attribute("salary", "insensitive")))
        bound = wider.bind(Table.from_arrow(records))
        aware, blind = (sanitize(*bound, Mondrian(KAnonymity(100), target=t)) for t in ("salary", ""))
        assert self.accuracy(aware, "salary") > self.accuracy(blind, "salary")


class TestModels:
    @pytest.mark.parametrize(
        "model",
        [
            KAnonymity(25) & ProbabilisticDiversity(3.0),
            KAnonymity(10) & TCloseness(0.2),
            AlphaKAnonymity(0.4, 25),
            DistinctDiversity(6),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("target", ["occupation", "sex"])
    def test_the_model_holds_whatever_the_target(self, adult: Bound, model: Any, target: str) -> None:
        release = sanitize(*adult, Mondrian(model, target=target))
        assert holds(release, model)
        assert release.classes.n_classes > 5
        assert release.n_suppressed == 0

    def test_no_split_tells_nothing_and_still_the_parts_become_smaller(self) -> None:
        # a target with one value: every cut is equally good, so the most even one is taken
        table = Table.from_arrow({"age": list(range(8)), "same": ["x"] * 8})
        schema = Schema.of(age="quasi-identifying", same="insensitive")
        release = sanitize(table, schema, Mondrian(KAnonymity(2), target="same"))
        assert release.classes.sizes.tolist() == [2, 2, 2, 2]

    def test_the_target_may_be_a_quasi_identifier(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 3, 4], "sex": list("ffmm")})
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
        release = sanitize(table, schema, Mondrian(KAnonymity(2), target="sex"))
        assert sorted(set(release.to_arrow()["sex"].to_pylist())) == ["f", "m"]


class TestMistakes:
    def test_an_unknown_target_is_refused(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="target: no attribute 'salary' in the table"):
            sanitize(*hospital, Mondrian(KAnonymity(2), target="salary"))

    def test_an_identifying_attribute_is_no_target(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="target: no attribute 'name' in the table"):
            sanitize(*hospital, Mondrian(KAnonymity(2), target="name"))

    def test_relaxed_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="a target goes with the strict variant only"):
            Mondrian(KAnonymity(2), "relaxed", "age")

    def test_a_recipe_survives_json(self) -> None:
        how = Mondrian(KAnonymity(2), target="age")
        assert Recipe.from_json(Recipe.of(how).to_json()).build() == how

    def test_does_not_depend_on_the_seed_or_the_order_of_the_records(self, hospital: Bound) -> None:
        table, schema = hospital
        how = Mondrian(KAnonymity(3), target="diagnosis")
        written = {
            str(sorted(map(str, sanitize(each, schema, how, seed=seed).to_arrow().to_pylist())))
            for seed in range(2)
            for each in (table, Table.from_arrow(table.to_arrow().take(list(range(11, -1, -1)))))
        }
        assert len(written) == 1
