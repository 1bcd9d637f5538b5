"""Mondrian against a plain recursive reference, its limits, and what it says when nothing can be done."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.models import (
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    TCloseness,
)
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, ParameterError, SchemaError
from sfumato.sanitizers import Mondrian
from sfumato.sanitizers.generalize import mondrian
from sfumato.sanitizers.generalize.lowest_level import merge_below_lowest

Bound = tuple[Table, Schema]
Judge = Callable[[np.ndarray[Any, Any]], bool]


def depths_of(hierarchy: Hierarchy) -> list[int]:
    """Return for each value the lowest level on which it shares a node with the value before it."""
    nodes = hierarchy.node_of.T.tolist()
    pairs = itertools.pairwise(nodes)
    return [
        0,
        *(next(level for level, (a, b) in enumerate(zip(*pair, strict=True)) if a == b) for pair in pairs),
    ]


class Reference:
    """The definition of strict Mondrian, one part after the other, on the rows of a bound table."""

    def __init__(self, table: Table, schema: Schema, judge: Judge, free: tuple[str, ...] = ()) -> None:
        names = schema.quasi_identifiers
        self.judge = judge
        self.weights = table.weights
        self.codes = np.stack([table[name].codes for name in names], axis=1)
        self.spans = [max(len(table[name].domain) - 1, 1) for name in names]
        self.importance = [Fraction(schema[name].weight) for name in names]
        self.depths = [
            [1] * len(table[name].domain)
            if table[name].kind == NUMERIC or name in free
            else depths_of(schema.hierarchy(name))
            for name in names
        ]

    def parts(self) -> set[frozenset[int]]:
        done, waiting = set(), [np.arange(len(self.weights))]
        while waiting:
            rows = waiting.pop()
            halves = self.split(rows)
            if halves is None:
                done.add(frozenset(rows.tolist()))
            else:
                waiting += halves
        return done

    def split(self, rows: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]] | None:
        codes = self.codes[rows]
        low, high = codes.min(axis=0).tolist(), codes.max(axis=0).tolist()
        width = [
            Fraction(last - first, span) * weight
            for first, last, span, weight in zip(low, high, self.spans, self.importance, strict=True)
        ]
        for column in sorted(range(len(width)), key=lambda c: (-width[c], c)):
            if low[column] < high[column]:
                left = codes[:, column] < self.cut(column, rows, low[column], high[column])
                halves = [rows[left], rows[~left]]
                if all(self.judge(half) for half in halves):
                    return halves
        return None

    def cut(self, column: int, rows: np.ndarray[Any, Any], low: int, high: int) -> int:
        boundaries = range(low + 1, high + 1)
        deepest = max(self.depths[column][boundary] for boundary in boundaries)
        allowed = [boundary for boundary in boundaries if self.depths[column][boundary] == deepest]
        held = np.bincount(self.codes[rows, column], weights=self.weights[rows], minlength=high + 2)
        below = np.concatenate([[0], np.cumsum(held)]).astype(int)
        return min(allowed, key=lambda boundary: (abs(2 * below[boundary] - below[-1]), boundary))


def judge_of(model: PrivacyModel, table: Table, schema: Schema) -> Judge:
    """Judge rows by the definitions, in exact fractions."""
    weights = table.weights
    sensitive = [(table[name].codes, len(table[name].domain)) for name in schema.sensitive]

    def counts(rows: np.ndarray[Any, Any], codes: Any, n_values: int) -> list[int]:
        return np.bincount(codes[rows], weights=weights[rows], minlength=n_values).astype(int).tolist()

    priors = [counts(np.arange(len(weights)), codes, n) for codes, n in sensitive]
    total = int(weights.sum())

    def large(k: int, rows: np.ndarray[Any, Any]) -> bool:
        return int(weights[rows].sum()) >= k

    def diverse(least: float, rows: np.ndarray[Any, Any]) -> bool:
        size = int(weights[rows].sum())
        return all(max(counts(rows, *s)) * Fraction(least) <= size for s in sensitive)

    def close(t: float, rows: np.ndarray[Any, Any]) -> bool:
        size = int(weights[rows].sum())
        apart = [
            sum(
                abs(Fraction(here, size) - Fraction(there, total))
                for here, there in zip(counts(rows, *s), p, strict=True)
            )
            for s, p in zip(sensitive, priors, strict=True)
        ]
        return all(distance / 2 <= Fraction(t) + Fraction(1, 10**12) for distance in apart)

    tests: list[Judge] = []
    for part in model.parts:
        match part:
            case KAnonymity(k):
                tests.append(lambda rows, k=k: large(k, rows))  # type: ignore[misc]
            case ProbabilisticDiversity(least):
                tests.append(lambda rows, least=least: diverse(least, rows))  # type: ignore[misc]
            case TCloseness(t):
                tests.append(lambda rows, t=t: close(t, rows))  # type: ignore[misc]
    return lambda rows: all(test(rows) for test in tests)


def partition(release: LinkedRelease) -> set[frozenset[int]]:
    """Return the original rows of each class."""
    parts: dict[int, set[int]] = {}
    for row, number in zip(release.origin.rows.tolist(), release.classes.class_of.tolist(), strict=True):
        parts.setdefault(number, set()).add(row)
    return {frozenset(part) for part in parts.values()}


def merged_by_label(parts: set[frozenset[int]], release: LinkedRelease) -> set[frozenset[int]]:
    """Put parts together whose released values are written alike: nobody can tell them apart."""
    labels = {
        row: tuple(
            release.cells[name].labels[release.cells[name].codes[place]]
            for name in release.schema.quasi_identifiers
        )
        for place, row in enumerate(release.origin.rows.tolist())
    }
    together: dict[frozenset[Any], set[int]] = {}
    for part in parts:
        together.setdefault(frozenset(labels[row] for row in part), set()).update(part)
    return {frozenset(part) for part in together.values()}


MODELS = st.one_of(
    st.builds(KAnonymity, st.integers(1, 6)),
    st.builds(ProbabilisticDiversity, st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0])),
    st.builds(TCloseness, st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])),
    st.builds(
        lambda k, least: KAnonymity(k) & ProbabilisticDiversity(least),
        st.integers(1, 4),
        st.sampled_from([1.5, 2.0]),
    ),
)


class TestStrict:
    @given(data=st.data(), model=MODELS)
    @settings(max_examples=120)
    def test_equals_the_reference_on_random_tables(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, model: PrivacyModel
    ) -> None:
        table, schema = data.draw(tiny_tables)
        judge = judge_of(model, table, schema)
        if not judge(np.arange(table.n_rows)):
            with pytest.raises(Infeasible):
                sanitize(table, schema, Mondrian(model))
            return
        release = sanitize(table, schema, Mondrian(model))
        expected = Reference(table, schema, judge).parts()
        assert partition(release) == merged_by_label(expected, release)

    @pytest.mark.parametrize(
        "model",
        [
            KAnonymity(5),
            KAnonymity(50),
            KAnonymity(20) & ProbabilisticDiversity(3),
            KAnonymity(10) & TCloseness(0.2),
        ],
        ids=str,
    )
    def test_equals_the_reference_on_adult(self, adult: Bound, model: PrivacyModel) -> None:
        expected = Reference(*adult, judge_of(model, *adult)).parts()
        assert partition(sanitize(*adult, Mondrian(model))) == expected

    def test_equals_the_reference_when_attributes_have_weights(self, adult: Bound) -> None:
        table, schema = adult
        importance = {"age": 0.25, "education": 2.0, "sex": 0.0}
        weighted = Schema(
            tuple(
                Attribute(a.name, a.role, a.kind, a.hierarchy, importance.get(a.name, 1.0))
                for a in schema.attributes
            )
        )
        expected = Reference(table, weighted, judge_of(KAnonymity(25), table, weighted)).parts()
        assert partition(sanitize(table, weighted, Mondrian(KAnonymity(25)))) == expected

    @pytest.mark.parametrize("n_values", [256, 257, 65_537])
    def test_equals_the_reference_whatever_the_codes_are_stored_in(self, n_values: int) -> None:
        rng = np.random.default_rng(3)
        ages = np.concatenate([np.arange(n_values), rng.integers(0, n_values, 500)])
        columns = {"age": ages, "sex": rng.integers(0, 2, len(ages)), "ill": rng.integers(0, 9, len(ages))}
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying", ill="sensitive")
        bound = schema.bind(Table.from_arrow(columns))
        model = KAnonymity(max(5, n_values // 100)) & ProbabilisticDiversity(4)
        expected = Reference(*bound, judge_of(model, *bound)).parts()
        assert partition(sanitize(*bound, Mondrian(model))) == expected

    def test_leaves_no_allowed_cut_in_numbers(self) -> None:
        rng = np.random.default_rng(7)
        columns = {"a": rng.integers(0, 30, 400), "b": rng.integers(0, 9, 400), "c": rng.integers(0, 3, 400)}
        table = Table.from_arrow(columns)
        schema = Schema.of(a="quasi-identifying", b="quasi-identifying", c="quasi-identifying")
        table, schema = schema.bind(table)
        release = sanitize(table, schema, Mondrian(KAnonymity(7)))
        assert release.classes.sizes.min() >= 7
        for part in partition(release):
            rows = np.array(sorted(part))
            for name in "abc":
                codes = table[name].codes[rows]
                for boundary in range(codes.min() + 1, codes.max() + 1):
                    left = int(table.weights[rows][codes < boundary].sum())
                    right = int(table.weights[rows].sum()) - left
                    assert min(left, right) < 7

    def test_equal_values_stay_together(self) -> None:
        table = Table.from_arrow({"age": [1, 1, 1, 2, 2, 2, 2, 2]})
        schema = Schema.of(age="quasi-identifying")
        assert sanitize(table, schema, Mondrian(KAnonymity(4))).classes.n_classes == 1
        assert sanitize(table, schema, Mondrian(KAnonymity(3))).classes.n_classes == 2

    def test_the_first_of_equally_wide_attributes_is_cut_first(self) -> None:
        # 49 * (1 / 49) is a little less than 1 in floating point; 49 / 49 is not
        ages = list(range(50)) * 2
        table = Table.from_arrow({"age": ages, "sex": ["f"] * 50 + ["m"] * 50})
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
        release = sanitize(table, schema, Mondrian(KAnonymity(50), borders="tight"))
        assert set(release.to_arrow()["age"].to_pylist()) == {"[0, 25)", "[25, 50)"}
        assert set(release.to_arrow()["sex"].to_pylist()) == {"*"}

    def test_an_attribute_of_no_weight_is_cut_last_but_is_cut(self) -> None:
        table = Table.from_arrow({"constant": [1, 1, 1, 1], "age": [1, 1, 2, 2]})
        schema = Schema(
            (Attribute("constant", "quasi-identifying"), Attribute("age", "quasi-identifying", weight=0.0))
        )
        assert sanitize(table, schema, Mondrian(KAnonymity(2))).classes.n_classes == 2

    def test_categories_are_cut_between_the_topmost_branches_first(self) -> None:
        tree = Hierarchy.nested({"Europe": ["France", "Italy", "Spain"], "Asia": ["Japan"]})
        country = ["France"] * 4 + ["Italy"] * 4 + ["Spain"] * 4 + ["Japan"] * 4
        schema = Schema((Attribute("country", "quasi-identifying", hierarchy=tree),))
        release = sanitize(Table.from_arrow({"country": country}), schema, Mondrian(KAnonymity(12)))
        assert set(release.to_arrow()["country"].to_pylist()) == {"*"}
        release = sanitize(Table.from_arrow({"country": country}), schema, Mondrian(KAnonymity(4)))
        assert set(release.to_arrow()["country"].to_pylist()) == {"France", "Italy", "Spain", "Japan"}

    @given(data=st.data(), model=MODELS)
    @settings(max_examples=60)
    def test_free_categories_are_cut_anywhere_and_written_exactly(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, model: PrivacyModel
    ) -> None:
        table, schema = data.draw(tiny_tables)
        free = tuple(data.draw(st.sets(st.sampled_from(schema.quasi_identifiers))))
        judge = judge_of(model, table, schema)
        if not judge(np.arange(table.n_rows)):
            return
        release = sanitize(table, schema, Mondrian(model, free=free))
        expected = Reference(table, schema, judge, free).parts()
        assert partition(release) == merged_by_label(expected, release)

    def test_free_categories_on_adult(self, adult: Bound) -> None:
        free = ("workclass", "education", "marital-status", "race")
        model = KAnonymity(200)
        release = sanitize(*adult, Mondrian(model, free=free))
        assert partition(release) == Reference(*adult, judge_of(model, *adult), free).parts()
        bound = sanitize(*adult, Mondrian(model))
        assert partition(release) != partition(bound)
        assert release.classes.sizes.min() >= 200

    def test_free_attributes_must_be_quasi_identifiers(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="no quasi-identifier 'zap'; did you mean 'zip'"):
            sanitize(*hospital, Mondrian(KAnonymity(2), free=("zap",)))

    def test_does_not_depend_on_the_seed(self, hospital: Bound) -> None:
        partitions = [partition(sanitize(*hospital, Mondrian(KAnonymity(3)), seed=seed)) for seed in range(3)]
        assert partitions[0] == partitions[1] == partitions[2]

    def test_does_not_depend_on_how_equal_records_are_written(self) -> None:
        ages = [3, 1, 2, 2, 5, 5, 5, 9, 1, 7]
        schema = Schema.of(age="quasi-identifying")
        releases = [
            sanitize(Table.from_arrow({"age": given}), schema, Mondrian(KAnonymity(3)))
            for given in (ages, ages[::-1])
        ]
        written = [Counter(release.to_arrow()["age"].to_pylist()) for release in releases]
        assert written[0] == written[1]


class TestRelaxed:
    def test_records_at_the_median_go_to_both_sides(self) -> None:
        table = Table.from_arrow({"age": [1, 1, 1, 2, 2, 2, 2, 2]})
        release = sanitize(table, Schema.of(age="quasi-identifying"), Mondrian(KAnonymity(4), "relaxed"))
        assert Counter(release.to_arrow()["age"].to_pylist()) == {"*": 4, "2": 4}
        assert release.kept.tolist() == [3, 5]

    @given(ages=st.lists(st.integers(0, 100), min_size=1, max_size=60, unique=True), k=st.integers(1, 8))
    def test_one_attribute_is_halved_as_long_as_possible(self, ages: list[int], k: int) -> None:
        schema = Schema.of(age="quasi-identifying")
        if k > len(ages):
            return
        release = sanitize(Table.from_arrow({"age": ages}), schema, Mondrian(KAnonymity(k), "relaxed"))
        sizes = [len(ages)]
        while any(size // 2 >= k for size in sizes if size > 1):
            sizes = [
                half
                for size in sizes
                for half in ([size // 2, size - size // 2] if size // 2 >= k else [size])
            ]
        assert sorted(release.classes.sizes.tolist()) == sorted(sizes)

    @given(data=st.data(), k=st.integers(1, 6), seed=st.integers(0, 3))
    @settings(max_examples=50)
    def test_every_class_is_large_enough_and_every_record_released(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int, seed: int
    ) -> None:
        table, schema = data.draw(tiny_tables)
        if k > table.n_records:
            return
        release = sanitize(table, schema, Mondrian(KAnonymity(k), "relaxed"), seed=seed)
        assert release.classes.sizes.min() >= k
        assert release.kept.tolist() == table.weights.tolist()

    @given(data=st.data(), k=st.integers(1, 4))
    @settings(max_examples=50)
    def test_is_never_coarser_than_strict_in_numbers(self, data: st.DataObject, k: int) -> None:
        ages = data.draw(st.lists(st.integers(0, 8), min_size=k, max_size=40))
        table, schema = Table.from_arrow({"age": ages}), Schema.of(age="quasi-identifying")
        strict, relaxed = (
            sanitize(table, schema, Mondrian(KAnonymity(k), how)) for how in ("strict", "relaxed")
        )
        assert relaxed.classes.sizes.max() <= max(
            strict.classes.sizes.max(), max(Counter(ages).values()) + 2 * k
        )

    def test_is_the_same_for_the_same_seed(
        self, adult: Bound, as_made: Callable[[LinkedRelease], pa.Table]
    ) -> None:
        how = Mondrian(KAnonymity(100), "relaxed")
        first, again, other = (as_made(sanitize(*adult, how, seed=seed)) for seed in (1, 1, 2))
        assert first.equals(again)
        assert not first.equals(other)

    def test_a_hierarchy_of_several_levels_is_cut_as_in_strict(self) -> None:
        tree = Hierarchy.nested({"Europe": ["France", "Italy"], "Asia": ["Japan", "Korea"]})
        country = ["France"] * 5 + ["Italy"] + ["Japan"] + ["Korea"]
        schema = Schema((Attribute("country", "quasi-identifying", hierarchy=tree),))
        release = sanitize(Table.from_arrow({"country": country}), schema, Mondrian(KAnonymity(2), "relaxed"))
        assert Counter(release.to_arrow()["country"].to_pylist()) == {"Europe": 6, "Asia": 2}

    def test_holds_a_model_of_sensitive_values(self, adult: Bound) -> None:
        release = sanitize(*adult, Mondrian(KAnonymity(20) & ProbabilisticDiversity(3), "relaxed"))
        counts = release.groups.sensitive["occupation"]
        assert (3 * counts.largest(counts.counts) <= counts.sizes).all()


class TestInfeasible:
    def test_more_than_all_records_in_a_class(self, hospital: Bound) -> None:
        with pytest.raises(
            Infeasible, match=r"k = 13 .*12 records.* k is 12, the largest possible"
        ) as caught:
            sanitize(*hospital, Mondrian(KAnonymity(13)))
        assert caught.value.reached == 12

    def test_the_largest_k_is_written_out(self) -> None:
        table = Table({"age": Table.from_arrow({"age": [1, 2]})["age"]}, np.array([1_000_000, 234_567]))
        with pytest.raises(Infeasible, match=r"1,?234,?567.* k is 1,?234,?567, the largest"):
            sanitize(table, Schema.of(age="quasi-identifying"), Mondrian(KAnonymity(2_000_001)))

    def test_all_records_in_one_class_is_allowed(self, hospital: Bound) -> None:
        release = sanitize(*hospital, Mondrian(KAnonymity(12)))
        assert release.classes.sizes.tolist() == [12]

    def test_more_diversity_than_the_table_has(self, hospital: Bound) -> None:
        with pytest.raises(Infeasible, match=r"l = 4\.5 .* l is 4, the largest possible") as caught:
            sanitize(*hospital, Mondrian(ProbabilisticDiversity(4.5)))
        assert caught.value.reached == 4
        assert sanitize(*hospital, Mondrian(ProbabilisticDiversity(4))).n_records == 12

    def test_the_message_names_no_value(self, hospital: Bound) -> None:
        with pytest.raises(Infeasible) as caught:
            sanitize(*hospital, Mondrian(ProbabilisticDiversity(5)))
        assert not any(str(value) in str(caught.value) for value in hospital[0]["diagnosis"].domain)

    @given(data=st.data())
    @settings(max_examples=50)
    def test_closeness_zero_leaves_only_groups_like_the_whole_table(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, Mondrian(TCloseness(0)))
        whole = {name: Counter(table.to_arrow()[name].to_pylist()) for name in schema.sensitive}
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for record in release.to_arrow().to_pylist():
            groups.setdefault(tuple(record[name] for name in schema.quasi_identifiers), []).append(record)
        for members in groups.values():
            for name, counts in whole.items():
                here = Counter(record[name] for record in members)
                assert all(here[v] * table.n_records == counts[v] * len(members) for v in counts)


class TestSchema:
    def test_without_a_quasi_identifier_the_remedy_is_named(self) -> None:
        with pytest.raises(SchemaError, match="mondrian needs a quasi-identifying attribute; give one"):
            sanitize(
                Table.from_arrow({"ill": ["x", "y"]}), Schema.of(ill="sensitive"), Mondrian(KAnonymity(1))
            )

    @pytest.mark.parametrize("model", [ProbabilisticDiversity(2), KAnonymity(1) & TCloseness(0.5)], ids=str)
    def test_without_a_sensitive_attribute_a_model_of_one_is_refused(self, model: PrivacyModel) -> None:
        with pytest.raises(SchemaError, match="needs a sensitive attribute; give one"):
            sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), Mondrian(model))

    def test_without_a_sensitive_attribute_k_anonymity_is_enough(self) -> None:
        release = sanitize(
            Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), Mondrian(KAnonymity(2))
        )
        assert release.to_arrow()["age"].to_pylist() == ["*", "*"]

    def test_an_unknown_variant_is_refused(self, hospital: Bound) -> None:
        with pytest.raises(ParameterError, match="variant"):
            sanitize(*hospital, Mondrian(KAnonymity(2), "loose"))  # type: ignore[arg-type]


class TestMissingValues:
    @pytest.mark.parametrize("variant", ["strict", "relaxed"])
    def test_a_missing_value_is_a_category_and_no_record_is_lost(self, variant: Any) -> None:
        table = Table.from_arrow(
            {
                "age": pa.array([float("nan"), 2.0, 3.0, None, 5.0, 6.0, None, 8.0]),
                "sex": ["f", None, "m", "f", None, "m", "f", None],
                "ill": ["x", "y", None, "x", None, "y", "x", None],
            }
        )
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying", ill="sensitive")
        for model in (KAnonymity(1), KAnonymity(2), KAnonymity(3) & ProbabilisticDiversity(1.5)):
            release = sanitize(table, schema, Mondrian(model, variant))
            written = release.to_arrow()
            assert written.num_rows == 8
            assert Counter(written["ill"].to_pylist()) == {"x": 3, "y": 2, None: 3}
            sizes = Counter(tuple(record[name] for name in ("age", "sex")) for record in written.to_pylist())
            assert min(sizes.values()) >= model.parts[0].limit

    def test_a_group_of_missing_values_is_not_diverse(self) -> None:
        table = Table.from_arrow({"age": [1, 1, 2, 2], "ill": [None, None, "x", "y"]})
        schema = Schema.of(age="quasi-identifying", ill="sensitive")
        assert sanitize(table, schema, Mondrian(KAnonymity(2))).classes.n_classes == 2
        assert sanitize(table, schema, Mondrian(ProbabilisticDiversity(2))).classes.n_classes == 1

    def test_one_missing_value_is_written_as_missing_or_within_a_set(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 8, None]})
        schema = Schema.of(age="quasi-identifying")
        release = sanitize(table, schema, Mondrian(KAnonymity(2)))
        assert Counter(release.to_arrow()["age"].to_pylist()) == {"[1, 3)": 2, "8 or missing": 2}


class TestModelsThatAreNotMonotone:
    @pytest.mark.parametrize("seed", [124, 265, 404, 557])
    def test_parts_that_are_released_alike_hold_together(self, seed: int) -> None:
        # found among random tables: both parts of a shared median hold, their union does not
        rng = np.random.default_rng(seed)
        n_records = int(rng.integers(8, 40))
        table = Table.from_arrow(
            {
                "age": rng.integers(0, 3, n_records),
                "sex": rng.integers(0, 2, n_records),
                "ill": rng.choice(list("xyz"), n_records, p=[0.6, 0.3, 0.1]),
            }
        )
        schema = Schema.of(age="quasi-identifying", sex="quasi-identifying", ill="sensitive")
        model = KAnonymity(2) & DeltaDisclosure(float(rng.choice([0.5, 0.8, 1.2])), absent="ignored")
        release = sanitize(table, schema, Mondrian(model, "relaxed"), seed=seed)
        assert release.n_suppressed == 0
        assert model.satisfied(release.classes).all()


@pytest.mark.parametrize("model", [BetaLikeness(), TCloseness(0.3)], ids=repr)
def test_no_part_is_empty_where_a_lowest_level_merges_all_values(model: PrivacyModel) -> None:
    ages = Attribute("age", "quasi-identifying", "numeric", Intervals((10,)), lowest_level=1)
    schema = Schema((ages, *Schema.of(sex="quasi-identifying", ill="sensitive").attributes))
    table = Table.from_arrow({"age": [31, 33, 37], "sex": ["f", "m", "m"], "ill": ["flu"] * 3})
    bound, schema = schema.bind(table)
    floored = merge_below_lowest(bound, schema)
    assert len({*floored["age"].codes}) < len(floored["age"].domain)
    parts = mondrian.partition(floored, schema, model, "strict", np.random.default_rng(0))
    assert np.bincount(parts.part_of, minlength=len(parts.low)).min() > 0
