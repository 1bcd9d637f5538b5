"""Clustering against a plain record by record reference, its limits, and models beyond k."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.models import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    TCloseness,
)
from sfumato.registry.recipe import Recipe
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible, SchemaError
from sfumato.sanitizers import Mondrian
from sfumato.sanitizers.generalize import from_clusters as clusters_of
from sfumato.sanitizers.generalize import k_member
from sfumato.sanitizers.generalize.k_member import Clustering

Bound = tuple[Table, Schema]


class Reference:
    """Greedy k-member clustering as the paper has it, on single records and sets of values."""

    def __init__(self, table: Table, schema: Schema) -> None:
        self.rows = list(zip(*(table[name].codes.tolist() for name in schema.quasi_identifiers), strict=True))
        self.left = table.weights.tolist()
        self.columns = [
            (table[name].kind.name, schema.hierarchy(name), schema[name].weight)
            for name in schema.quasi_identifiers
        ]

    def loss(self, members: list[int]) -> float:
        """Return the loss of one record in a cluster with these rows."""
        total = 0.0
        for codes, column in zip(
            zip(*(self.rows[row] for row in members), strict=True), self.columns, strict=True
        ):
            total += self.column_loss(set(codes), *column)
        return total

    @staticmethod
    def column_loss(codes: set[int], kind: str, hierarchy: Hierarchy, weight: float) -> float:
        if kind == "numeric":
            size = max(codes) - min(codes) + 1
            if 1 < size == len(hierarchy.values):
                size = hierarchy.n_leaves
        else:
            sizes = [
                int(hierarchy.sizes[level][nodes.pop()])
                for level in range(hierarchy.height + 1)
                if len(nodes := {int(hierarchy.node_of[level, code]) for code in codes}) == 1
            ]
            size = sizes[0]
        return weight * ((size - 1) / max(hierarchy.n_leaves - 1, 1))

    def take(self, row: int) -> int:
        self.left[row] -= 1
        return row

    def there(self) -> list[int]:
        return [row for row, left in enumerate(self.left) if left]

    def clusters(self, k: int, last: int) -> list[list[int]]:
        """Return the rows of each cluster, one for each record."""
        found: list[list[int]] = []
        while sum(self.left) >= k:
            last = self.take(min(self.there(), key=lambda row: (-self.loss([last, row]), row)))
            members = [last]
            while len(members) < k:
                last = self.take(
                    min(self.there(), key=lambda row: (self.loss([*members, row]), row != last, row))
                )
                members.append(last)
            found.append(members)
        for row in self.there():
            for _ in range(self.left[row]):
                min(found, key=partial(self.increase, row=row)).append(row)
        return found

    def increase(self, members: list[int], row: int) -> float:
        """Return (n + 1) · new - n · old, added up so that it rounds as the program does."""
        new, old = self.loss([*members, row]), self.loss(members)
        return new + len(members) * (new - old)


def first_record(table: Table, seed: int) -> int:
    """Return the row of the record that chance begins with."""
    records = np.repeat(np.arange(table.n_rows), table.weights)
    return int(records[Recipe("clustering", seed=seed).generator().integers(table.n_records)])


def grown(table: Table, schema: Schema, k: int, seed: int = 0) -> list[Counter[int]]:
    """Return how many records of which row each cluster has before any are merged."""
    space = clusters_of.PointSpace.of(table, schema, KAnonymity(k), borders="tight")
    clusters = k_member.grown_clusters(space, k, Recipe("clustering", seed=seed).generator())
    found: list[Counter[int]] = [Counter() for _ in clusters.low]
    for cluster, row, weight in zip(clusters.cluster_of, clusters.rows, clusters.weights, strict=True):
        found[int(cluster)][int(row)] += int(weight)
    return found


def check_greedy(table: Table, schema: Schema, k: int, seed: int = 0) -> None:
    expected = Reference(table, schema).clusters(k, first_record(table, seed))
    assert grown(table, schema, k, seed) == [Counter(members) for members in expected]


@given(data=st.data())
@settings(max_examples=150)
def test_every_choice_is_the_greedy_one(tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    k = data.draw(st.integers(2, max(2, table.n_records)))
    if k <= table.n_records:
        check_greedy(table, schema, k, data.draw(st.integers(0, 3)))


LETTERS = Hierarchy.nested({"vowel": ["a", "e"], "other": {"early": ["b", "c", "d"], "late": ["x", "y"]}})


def random_table(seed: int, n_records: int) -> Bound:
    """Return a table with numbers, two trees, few values (many ties) and missing ones."""
    rng = np.random.default_rng(seed)
    ages = [None if age == 0 else int(age) for age in rng.integers(0, 25, n_records)]
    table = Table.from_arrow(
        {
            "age": pa.array(ages, pa.int64()),
            "letter": rng.choice(list("aebcdxy"), n_records).tolist(),
            "digit": rng.choice(list("0123"), n_records).tolist(),
            "illness": rng.choice(list("uvwz"), n_records, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        }
    )
    schema = Schema(
        (
            Attribute("age", "quasi-identifying"),
            Attribute("letter", "quasi-identifying", hierarchy=LETTERS, weight=1.5),
            Attribute("digit", "quasi-identifying"),
            Attribute("illness", "sensitive"),
        )
    )
    return schema.bind(table)


@pytest.mark.parametrize("k", [2, 3, 5, 17, 149, 150])
def test_every_choice_is_the_greedy_one_among_many_records(k: int) -> None:
    check_greedy(*random_table(k, 150), k)


@pytest.mark.parametrize("seed", range(12))
def test_every_choice_is_the_greedy_one_when_many_records_are_left_over(seed: int) -> None:
    check_greedy(*random_table(seed, 44), 15)


def test_an_interval_of_all_values_costs_as_much_as_it_is_released_for() -> None:
    rng = np.random.default_rng(0)
    table = Table.from_arrow(
        {"age": rng.integers(0, 2, 40), "colour": rng.choice(["red", "blue", "grey"], 40)}
    )
    age = Attribute("age", "quasi-identifying", hierarchy=Hierarchy.flat(range(61)))
    colour = Attribute("colour", "quasi-identifying", weight=0.5)
    check_greedy(*Schema((age, colour)).bind(table), 3)
    check_greedy(*Schema((age, colour)).bind(table), 7)


def test_every_choice_is_the_greedy_one_where_trees_are_too_large_for_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters_of, "_TABLE", 5)
    check_greedy(*random_table(1, 150), 4)


def test_every_choice_is_the_greedy_one_when_the_work_comes_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters_of, "AT_ONCE", 9)
    monkeypatch.setattr(k_member, "AT_ONCE", 9)
    check_greedy(*random_table(2, 150), 4)


def classes_by_hand(release: LinkedRelease) -> list[list[dict[str, Any]]]:
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in release.to_arrow().to_pylist():
        classes.setdefault(tuple(record[name] for name in release.schema.quasi_identifiers), []).append(
            record
        )
    return list(classes.values())


def shares(records: list[dict[str, Any]], name: str) -> dict[Any, float]:
    return {value: n / len(records) for value, n in Counter(record[name] for record in records).items()}


def check_everybody_is_there(release: LinkedRelease, table: Table) -> None:
    assert release.n_suppressed == 0
    assert (release.kept == table.weights).all()
    for name, cells in release.cells.items():
        assert cells.sets is not None
        assert cells.sets.contain(cells.codes, table[name].codes[release.origin.rows]).all()


@pytest.mark.parametrize("k", [1, 2, 7, 60])
def test_every_class_has_k_records_and_nobody_is_lost(k: int) -> None:
    table, schema = random_table(3, 60)
    release = sanitize(table, schema, Clustering(KAnonymity(k), borders="tight"))
    assert min(len(members) for members in classes_by_hand(release)) >= k
    check_everybody_is_there(release, table)


def test_with_k_1_every_record_is_released_as_it_is() -> None:
    table, schema = random_table(4, 60)
    release = sanitize(table, schema, Clustering(KAnonymity(1), borders="tight"))
    written = release.to_arrow().to_pylist()
    assert Counter(map(str, written)) == Counter(
        map(str, table.to_arrow().select(schema.released).to_pylist())
    )


def test_with_k_n_everybody_is_in_one_class() -> None:
    table, schema = random_table(5, 60)
    (members,) = classes_by_hand(sanitize(table, schema, Clustering(KAnonymity(60), borders="tight")))
    assert {(record["age"], record["letter"], record["digit"]) for record in members} == {("*", "*", "*")}


def test_more_records_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(Infeasible, match="k = 61 cannot hold"):
        sanitize(*random_table(6, 60), Clustering(KAnonymity(61)))


def test_a_table_without_quasi_identifiers_is_refused() -> None:
    table = Table.from_arrow({"illness": ["u", "v"]})
    with pytest.raises(SchemaError, match="clustering needs a quasi-identifying attribute"):
        sanitize(table, Schema.of(illness="sensitive"), Clustering(KAnonymity(1)))


def test_one_record_stays_alone() -> None:
    table = Table.from_arrow({"age": [31], "illness": ["flu"]})
    release = sanitize(
        table, Schema.of(age="quasi-identifying", illness="sensitive"), Clustering(KAnonymity(1))
    )
    assert release.to_arrow().to_pylist() == [{"age": 31, "illness": "flu"}]


def test_equal_records_are_shared_out_between_clusters() -> None:
    table = Table.from_arrow({"age": [1] * 5 + [9] * 3})
    release = sanitize(table, Schema.of(age="quasi-identifying"), Clustering(KAnonymity(4), borders="tight"))
    assert Counter(record["age"] for record in release.to_arrow().to_pylist()) == {"1": 4, "*": 4}


def test_categories_are_released_as_the_lowest_node_and_numbers_as_the_tightest_interval() -> None:
    table = Table.from_arrow({"letter": list("aebcdx"), "age": [10, 12, 40, 41, 43, 99]})
    schema = Schema(
        (Attribute("letter", "quasi-identifying", hierarchy=LETTERS), Attribute("age", "quasi-identifying"))
    )
    release = sanitize(table, schema, Clustering(KAnonymity(2), borders="tight"))
    written = {(record["letter"], record["age"]) for record in release.to_arrow().to_pylist()}
    assert ("vowel", "[10, 13)") in written
    intervals = {
        "early": {"[40, 42)", "[40, 44)", "[41, 44)"},
        "other": {"[40, 100)", "[41, 100)", "[43, 100)"},
    }
    assert all(age in intervals[letter] for letter, age in written - {("vowel", "[10, 13)")})


def test_two_values_without_a_hierarchy_are_released_as_anything() -> None:
    table = Table.from_arrow({"colour": ["red", "red", "blue", "green"]})
    release = sanitize(
        table, Schema.of(colour="quasi-identifying"), Clustering(KAnonymity(2), borders="tight")
    )
    assert Counter(record["colour"] for record in release.to_arrow().to_pylist()) in (
        {"red": 2, "*": 2},
        {"*": 4},
    )


def test_missing_values_are_values_like_others() -> None:
    table = Table.from_arrow({"age": pa.array([1, 1, None, None, 9, 9], pa.int64())})
    release = sanitize(table, Schema.of(age="quasi-identifying"), Clustering(KAnonymity(2), borders="tight"))
    assert Counter(record["age"] for record in release.to_arrow().to_pylist()) == {1: 2, None: 2, 9: 2}


def has_a_label_twice(schema: Schema) -> bool:
    """Return whether two nodes have one name: to a reader they are one, and cost more than each alone."""
    for name in schema.quasi_identifiers:
        labels = [label for level in schema.hierarchy(name).labels for label in level]
        if len(set(labels)) < len(labels):
            return True
    return False


@given(data=st.data())
@settings(max_examples=50)
def test_the_loss_that_it_minimises_is_the_general_loss(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    k = data.draw(st.integers(2, max(2, table.n_records)))
    total_weight = sum(schema[name].weight for name in schema.quasi_identifiers)
    if k > table.n_records or not total_weight or has_a_label_twice(schema):
        return
    loss = Reference(table, schema).loss
    total = sum(loss(list(members)) * members.total() for members in grown(table, schema, k))
    (general,) = measure(
        sanitize(table, schema, Clustering(KAnonymity(k), borders="tight"), seed=0), ["general-loss"]
    )
    assert general.value == pytest.approx(total / total_weight / table.n_records)


def test_one_seed_one_release_and_another_seed_another_beginning(
    as_made: Callable[[LinkedRelease], pa.Table],
) -> None:
    table, schema = random_table(7, 90)
    releases = [sanitize(table, schema, Clustering(KAnonymity(4)), seed=seed) for seed in (0, 0, 1, 2)]
    assert as_made(releases[0]).equals(as_made(releases[1]))
    assert len({frozenset(map(str, release.to_arrow().to_pylist())) for release in releases}) > 1


def by_hand(
    model: PrivacyModel, members: list[dict[str, Any]], everybody: list[dict[str, Any]], name: str
) -> bool:
    share, prior = shares(members, name), shares(everybody, name)
    match model:
        case KAnonymity():
            return len(members) >= model.k
        case ProbabilisticDiversity():
            return max(share.values()) <= 1 / model.l + 1e-9
        case DistinctDiversity():
            return len(share) >= model.l
        case EntropyDiversity():
            return -sum(p * math.log(p) for p in share.values()) >= math.log(model.l) - 1e-9
        case TCloseness():
            return sum(abs(share.get(value, 0) - prior[value]) for value in prior) / 2 <= model.t + 1e-9
        case DeltaDisclosure():
            return all(
                value in share and abs(math.log(share[value] / prior[value])) < model.delta for value in prior
            )
    raise NotImplementedError


MODELS = [
    TCloseness(0.2),
    TCloseness(0.05),
    TCloseness(0.0),
    KAnonymity(5) & TCloseness(0.2),
    KAnonymity(3) & ProbabilisticDiversity(2.2),
    DistinctDiversity(4),
    EntropyDiversity(2.5) & TCloseness(0.3),
    DeltaDisclosure(1.5),
    KAnonymity(2) & DistinctDiversity(3) & TCloseness(0.25),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("sensitive", [("illness",), ("illness", "digit")], ids=len)
def test_the_model_holds_in_every_class_for_every_sensitive_attribute(
    model: PrivacyModel, sensitive: tuple[str, ...]
) -> None:
    table, schema = random_table(8, 300)
    both = Schema(
        tuple(Attribute(a.name, "sensitive") if a.name in sensitive else a for a in schema.attributes)
    )
    bound = both.bind(table)
    release = sanitize(*bound, Clustering(model, borders="tight"))
    everybody = table.to_arrow().to_pylist()
    for members in classes_by_hand(release):
        for name in sensitive:
            assert all(by_hand(part, members, everybody, name) for part in model.parts)
    check_everybody_is_there(release, bound[0])


def test_a_model_that_never_holds_is_refused() -> None:
    with pytest.raises(Infeasible, match="distinct-diversity"):
        sanitize(*random_table(9, 60), Clustering(DistinctDiversity(5)))


def test_a_model_that_looks_at_a_sensitive_attribute_needs_one() -> None:
    table = Table.from_arrow({"age": [1, 2]})
    with pytest.raises(SchemaError, match="t-closeness needs a sensitive attribute"):
        sanitize(table, Schema.of(age="quasi-identifying"), Clustering(TCloseness(0.2)))


def test_a_failing_cluster_takes_the_dearer_partner_if_that_mends_it() -> None:
    # the next cluster has the same illness; the one after it has another
    table = Table.from_arrow({"age": [1, 1, 2, 2, 4, 4, 50, 50], "illness": list("uuuuvvuv")})
    schema = Schema.of(age="quasi-identifying", illness="sensitive")
    release = sanitize(table, schema, Clustering(KAnonymity(2) & DistinctDiversity(2), borders="tight"))
    assert Counter(record["age"] for record in release.to_arrow().to_pylist()) == {"[1, 5)": 6, "50": 2}


def test_clusters_that_are_released_alike_are_judged_as_one_class() -> None:
    # two clusters of the same interval, of one illness each: together they are diverse
    table = Table.from_arrow({"age": [1, 1, 1, 1, 5, 5], "illness": list("uuvvuv")})
    schema = Schema.of(age="quasi-identifying", illness="sensitive")
    release = sanitize(table, schema, Clustering(KAnonymity(2) & DistinctDiversity(2), borders="tight"))
    assert Counter(record["age"] for record in release.to_arrow().to_pylist()) == {1: 4, 5: 2}


def test_classes_that_hold_apart_but_not_together_are_not_released_alike() -> None:
    # of 50 records of age 1, clusters of 10 hold, also the one with the single v; all 50 together do not
    table = Table.from_arrow(
        {"age": [1] * 50 + [9] * 20, "illness": ["u"] * 49 + ["v"] + ["u"] * 16 + ["v"] * 4}
    )
    schema = Schema.of(age="quasi-identifying", illness="sensitive")
    model = KAnonymity(10) & DeltaDisclosure(1.2, absent="ignored")
    release = sanitize(table, schema, Clustering(model, borders="tight"))
    assert model.satisfied(release.classes).all()


@pytest.mark.parametrize("k", [5, 10, 50])
def test_it_loses_less_than_mondrian_on_adult(adult: Bound, k: int) -> None:
    losses = [
        measure(sanitize(*adult, how), ["general-loss"])[0].value
        for how in (Clustering(KAnonymity(k), borders="tight"), Mondrian(KAnonymity(k), borders="tight"))
    ]
    assert losses[0] < 0.9 * losses[1]


def test_it_loses_less_than_mondrian_on_adult_with_t_closeness(adult: Bound) -> None:
    model = KAnonymity(5) & TCloseness(0.2)
    releases = [sanitize(*adult, how) for how in (Clustering(model), Mondrian(model))]
    assert all(model.satisfied(release.classes).all() for release in releases)
    losses = [measure(release, ["general-loss"])[0].value for release in releases]
    assert losses[0] < 0.9 * losses[1]
