"""Distances between values that are ordered or lie in a tree, against the transport problem itself."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, sanitize
from sfumato.models import KAnonymity, TCloseness
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import holds
from sfumato.sanitizers import AsIs, Bucketize, FullDomain, Mondrian
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of

Bound = tuple[Table, Schema]
Pairs = list[tuple[int, Any]]
Ground = dict[tuple[Any, Any], float]

LETTERS = "abcdefg"


def earth_moved(here: Counter[Any], there: Counter[Any], ground: Ground) -> float:
    """Solve the transport problem: least Σ flow · distance that turns one distribution into the other."""
    values = list(there)
    m = len(values)
    out, into = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    supply = [counts[value] / counts.total() for counts in (here, there) for value in values]
    costs = [ground[source, target] for source in values for target in values]
    solved = linprog(costs, A_eq=np.vstack([out, into])[:-1], b_eq=supply[:-1], method="highs")
    assert solved.success
    return float(solved.fun)


def moved_by_hand(pairs: Pairs, ground: Ground) -> list[float]:
    everybody = Counter(value for _, value in pairs)
    groups = {group: Counter(value for other, value in pairs if other == group) for group, _ in pairs}
    return sorted(earth_moved(here, everybody, ground) for here in groups.values())


def release_of(pairs: Pairs, sensitive: Attribute, how: Any = AsIs()) -> LinkedRelease:  # noqa: B008
    values = [value for _, value in pairs]
    kind = pa.string() if any(isinstance(value, str) for value in values) else pa.float64()
    table = Table.from_arrow({"group": [group for group, _ in pairs], "it": pa.array(values, kind)})
    return sanitize(table, Schema((Attribute("group", "quasi-identifying"), sensitive)), how)


def pairs_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Pairs]:
    return st.lists(st.tuples(st.integers(0, 2), values), min_size=1, max_size=10)


@st.composite
def trees(draw: st.DrawFn) -> list[list[str]]:
    """Draw up to three levels over the letters, each a partition coarser than the one below."""
    levels: list[list[str]] = []
    below = list(LETTERS)
    for names in ("PQRST", "UVW", "XY"):
        if draw(st.booleans()):
            parents = {node: draw(st.sampled_from(names)) for node in dict.fromkeys(below)}
            below = [parents[node] for node in below]
            levels.append(below)
    return levels


def ground_of(levels: list[list[str]]) -> Ground:
    """Return how high the lowest common node of two letters is; a missing value joins at the root only."""
    columns = [list(LETTERS), *levels]
    if len(columns) == 1 or len(set(columns[-1])) > 1:
        columns.append(["*"] * len(LETTERS))
    height = len(columns) - 1
    ground: Ground = {(None, None): 0.0}
    for i, one in enumerate(LETTERS):
        ground[one, None] = ground[None, one] = 1.0
        for j, other in enumerate(LETTERS):
            joined = next(level for level, labels in enumerate(columns) if labels[i] == labels[j])
            ground[one, other] = joined / height
    return ground


class TestNatural:
    @given(pairs=pairs_of(st.sampled_from([1, 2.5, 7, 30, None])))
    @settings(max_examples=60)
    def test_numbers_are_as_far_apart_as_in_their_order(self, pairs: Pairs) -> None:
        if all(value is None for _, value in pairs):
            return
        groups = release_of(pairs, Attribute("it", "sensitive", "numeric")).groups
        assert TCloseness(0.1, "natural").scores(groups) == pytest.approx(
            TCloseness(0.1, "ordered").scores(groups)
        )

    @given(pairs=pairs_of(st.sampled_from([*LETTERS, None])))
    @settings(max_examples=60)
    def test_everything_else_is_equally_far_apart(self, pairs: Pairs) -> None:
        groups = release_of(pairs, Attribute("it", "sensitive")).groups
        assert TCloseness(0.1, "natural").scores(groups) == pytest.approx(
            TCloseness(0.1, "equal").scores(groups)
        )


class TestHierarchical:
    @given(levels=trees(), pairs=pairs_of(st.sampled_from([*LETTERS, None])))
    @settings(max_examples=120)
    def test_is_the_least_work_on_a_random_tree(self, levels: list[list[str]], pairs: Pairs) -> None:
        if all(value is None for _, value in pairs):
            return
        tree = Hierarchy.of_levels(LETTERS, levels)
        release = release_of(pairs, Attribute("it", "sensitive", hierarchy=tree))
        scores = TCloseness(0.1, "hierarchical").scores(release.groups)
        assert sorted(scores) == pytest.approx(moved_by_hand(pairs, ground_of(levels)), abs=1e-9)

    @given(levels=trees(), pairs=pairs_of(st.sampled_from(LETTERS)))
    @settings(max_examples=40)
    def test_a_tree_never_makes_values_farther_apart(self, levels: list[list[str]], pairs: Pairs) -> None:
        tree = Hierarchy.of_levels(LETTERS, levels)
        groups = release_of(pairs, Attribute("it", "sensitive", hierarchy=tree)).groups
        near, far = (TCloseness(0.1, how).scores(groups) for how in ("hierarchical", "equal"))
        assert (near <= far + 1e-12).all()

    def test_numbers_in_intervals_are_a_tree_too(self) -> None:
        pairs: Pairs = [(0, 1), (0, 2), (1, 11), (1, 12)]
        release = release_of(pairs, Attribute("it", "sensitive", "numeric", Intervals((10,))))
        ground = {
            (one, other): 0.0 if one == other else 0.5 if (one < 10) == (other < 10) else 1.0
            for one in (1, 2, 11, 12)
            for other in (1, 2, 11, 12)
        }
        scores = TCloseness(0.1, "hierarchical").scores(release.groups)
        assert sorted(scores) == pytest.approx(moved_by_hand(pairs, ground))

    def test_leaves_that_do_not_occur_change_nothing(self) -> None:
        pairs: Pairs = [(0, "a"), (0, "b"), (1, "c"), (1, "c"), (1, "a")]
        small = Hierarchy.nested({"X": ["a", "b"], "Y": ["c"]})
        large = Hierarchy.nested({"X": ["q", "a", "b", "r"], "Y": ["c", "s"], "Z": ["t", "u"]})
        levels = [
            TCloseness(0.1, "hierarchical").scores(
                release_of(pairs, Attribute("it", "sensitive", hierarchy=h)).groups
            )
            for h in (small, large)
        ]
        assert levels[0].tolist() == levels[1].tolist()


class TestOrdered:
    @given(pairs=pairs_of(st.sampled_from([1, 2, 5, 6, 10, 11.5, None])))
    @settings(max_examples=80)
    def test_is_the_least_work_along_the_order_of_the_numbers(self, pairs: Pairs) -> None:
        # numbers are as far apart as they are in rank; a missing value comes last
        values = sorted({value for _, value in pairs}, key=lambda value: (value is None, value))
        steps = max(len(values) - 1, 1)
        ground = {(a, b): abs(i - j) / steps for i, a in enumerate(values) for j, b in enumerate(values)}
        release = release_of(pairs, Attribute("it", "sensitive", "numeric"))
        scores = TCloseness(0.1, "ordered").scores(release.groups)
        assert sorted(scores) == pytest.approx(moved_by_hand(pairs, ground), abs=1e-9)

    @given(order=st.permutations("abcde"), pairs=pairs_of(st.sampled_from("abcde")))
    @settings(max_examples=60)
    def test_categories_lie_in_the_order_of_their_hierarchy(self, order: list[str], pairs: Pairs) -> None:
        values = [letter for letter in order if letter in {value for _, value in pairs}]
        steps = max(len(values) - 1, 1)
        ground = {(a, b): abs(i - j) / steps for i, a in enumerate(values) for j, b in enumerate(values)}
        release = release_of(pairs, Attribute("it", "sensitive", hierarchy=Hierarchy.flat(order)))
        scores = TCloseness(0.1, "ordered").scores(release.groups)
        assert sorted(scores) == pytest.approx(moved_by_hand(pairs, ground), abs=1e-9)

    def test_with_two_values_all_distances_are_the_same(self) -> None:
        groups = release_of([(0, 1), (0, 1), (0, 2), (1, 2)], Attribute("it", "sensitive")).groups
        scores = [TCloseness(0.1, how).scores(groups) for how in ("equal", "ordered", "hierarchical")]
        assert scores[0].tolist() == pytest.approx(scores[1].tolist())
        assert scores[0].tolist() == pytest.approx(scores[2].tolist())


DISTANCES: list[Any] = ["equal", "ordered", "hierarchical", "js"]


class TestWhatIsPublished:
    """A reader of the files alone must come to the same distances."""

    @pytest.mark.parametrize("distance", DISTANCES)
    @given(levels=trees(), pairs=pairs_of(st.sampled_from([*LETTERS, None])))
    @settings(max_examples=50)
    def test_distances_survive_writing_and_reading(
        self, distance: Any, levels: list[list[str]], pairs: Pairs
    ) -> None:
        if all(value is None for _, value in pairs):
            return
        tree = Hierarchy.of_levels(LETTERS, levels)
        release = release_of(pairs, Attribute("it", "sensitive", hierarchy=tree))
        self.check(release, distance)

    @pytest.mark.parametrize("distance", DISTANCES)
    def test_a_missing_value_keeps_the_place_that_the_hierarchy_gives_it(self, distance: Any) -> None:
        tree = Hierarchy.of_rows([["a", "X", "*"], ["b", "Y", "*"], ["", "Y", "*"]])
        pairs: Pairs = [(0, "b"), (0, "b"), (1, None), (1, None), (2, "a"), (2, "b")]
        release = release_of(pairs, Attribute("it", "sensitive", hierarchy=tree))
        self.check(release, distance)

    @pytest.mark.parametrize("distance", DISTANCES)
    @pytest.mark.parametrize("form", ["one-table", "two-tables"])
    def test_groups_survive_as_well(self, distance: Any, form: Any, adult: Bound) -> None:
        table, schema = adult
        few = table.take(np.arange(0, table.n_rows, 10))
        how = Bucketize(TCloseness(0.3, distance), form=form)
        self.check(sanitize(few, schema, how), distance)

    @pytest.mark.parametrize("distance", DISTANCES)
    def test_numbers_with_and_without_a_hierarchy(self, distance: Any) -> None:
        pairs: Pairs = [(0, 10), (0, 9), (1, 100), (1, 9.5), (1, None), (2, 10), (2, 2)]
        for source in (None, Intervals((5, 50))):
            self.check(release_of(pairs, Attribute("it", "sensitive", "numeric", source)), distance)

    def check(self, release: LinkedRelease, distance: Any) -> None:
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        model = TCloseness(0.1, distance)
        assert sorted(model.scores(seen.groups)) == pytest.approx(
            sorted(model.scores(release.groups)), abs=1e-12
        )


class TestMillions:
    """Counts are 64 bits wide: a peer released classes at 0.311 for t = 0.2 of 300,000 records."""

    @staticmethod
    def enlarged(bound: Bound, times: int) -> Bound:
        table, schema = bound
        return Table(table.columns, table.weights * times), schema

    @pytest.mark.parametrize("distance", ["hierarchical", "ordered", "equal"])
    def test_no_class_above_t_is_released_of_three_million_records(self, adult: Bound, distance: Any) -> None:
        bound = self.enlarged(adult, 67)
        assert bound[0].n_records > 3_000_000
        release = sanitize(*bound, Mondrian(KAnonymity(5) & TCloseness(0.2, distance)))
        assert release.classes.n_classes > 50
        assert max(self.distances(release, bound, distance)) <= Fraction(1, 5)

    def test_suppression_takes_every_class_above_t(self, adult: Bound) -> None:
        table, schema = self.enlarged(adult, 67)
        levels = {"age": 2, "workclass": 1, "education": 1, "marital-status": 1, "race": 1}
        model = TCloseness(0.2, "hierarchical")
        release = sanitize(table, schema, FullDomain(levels, model, suppression=1.0))
        assert 0 < release.n_suppressed < table.n_records
        assert max(self.distances(release, (table, schema), "hierarchical")) <= Fraction(1, 5)
        as_is = sanitize(table, schema, FullDomain(levels, TCloseness(1.0)))
        above = [d > Fraction(1, 5) for d in self.distances(as_is, (table, schema), "hierarchical")]
        gone = as_is.classes.sizes[np.array(above)].sum()
        assert release.n_suppressed == gone

    @staticmethod
    def distances(release: LinkedRelease, bound: Bound, distance: str) -> list[Fraction]:
        """Return the distance of each class in exact fractions, from counts made anew."""
        table, schema = bound
        (name,) = schema.sensitive
        tree = schema.hierarchy(name)
        m = len(tree.values)
        counts = np.zeros((release.classes.n_classes, m), dtype=object)
        codes = table[name].codes[release.origin.rows]
        np.add.at(counts, (release.classes.class_of, codes), release.weights.astype(object))
        whole = np.zeros(m, dtype=object)
        np.add.at(whole, table[name].codes, table.weights.astype(object))
        levels: list[np.ndarray[Any, Any]] = {
            "equal": [np.eye(m, dtype=object)],
            "ordered": [np.tri(m, dtype=int).T.astype(object)],
            "hierarchical": [
                np.equal.outer(tree.node_of[level], np.arange(len(tree.labels[level]))).astype(object)
                for level in range(tree.height)
            ],
        }[distance]
        scale = 2 * len(levels) if distance != "ordered" else m - 1
        total = int(whole.sum())
        found = []
        for row in counts:
            size = int(row.sum())
            work = sum(abs(row @ nodes * total - whole @ nodes * size).sum() for nodes in levels)
            found.append(Fraction(int(work), size * total * scale))
        return found

    @pytest.mark.parametrize("distance", DISTANCES)
    def test_billions_of_records_give_the_same_as_a_few(self, distance: Any) -> None:
        tree = Hierarchy.nested({"X": ["a", "b"], "Y": ["c", "d"]})
        columns = {"group": [0, 0, 0, 1, 1, 2], "it": ["a", "b", "c", "c", "d", "a"]}
        sensitive = Attribute("it", "sensitive", hierarchy=tree)
        schema = Schema((Attribute("group", "quasi-identifying"), sensitive))
        few = schema.bind(Table.from_arrow(columns))
        many = self.enlarged(few, 3_000_000_001)
        levels = [
            TCloseness(0.1, distance).scores(sanitize(*bound, AsIs()).groups).tolist()
            for bound in (few, many)
        ]
        assert levels[0] == pytest.approx(levels[1], abs=1e-12)
        release = sanitize(*many, Mondrian(TCloseness(0.45, distance)))
        assert holds(release, TCloseness(0.45, distance))
        assert release.n_records == 6 * 3_000_000_001
        assert math.isclose(float(release.classes.sizes.sum()), 6 * 3_000_000_001, rel_tol=0)
