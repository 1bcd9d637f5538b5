"""The losses, against brute force over labels, leaves and classes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Release, Schema, Table, measure, sanitize
from sfumato.measures import AverageClassSize
from sfumato.models import DistinctDiversity, KAnonymity
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import (
    AsIs,
    Bucketize,
    Clustering,
    Cut,
    FullDomain,
    Laplace,
    Mondrian,
    Sanitizer,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)
from sfumato.searches.lattice.optimum import optimal_node
from sfumato.workflow.external import read_release
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of

Bound = tuple[Table, Schema]

QUASI_IDENTIFIER_LOSSES = ("general-loss", "total-loss", "discernibility", "average-class-size", "precision")

CONTINENTS = Hierarchy.of_rows(
    [
        ["France", "Europe", "*"],
        ["Italy", "Europe", "*"],
        ["Spain", "Europe", "*"],
        ["Japan", "Asia", "*"],
        ["Korea", "Asia", "*"],
    ]
)


def value(release: Release, name: str) -> Any:
    (taken,) = measure(release, [name])
    return taken.value


def leaves_below(rows: list[list[str]], level: int, label: str) -> int:
    return sum(row[level] == label for row in rows)


class TestGeneralLoss:
    @given(
        countries=st.lists(st.sampled_from([row[0] for row in CONTINENTS.rows()]), min_size=1, max_size=12),
        level=st.integers(0, 2),
    )
    def test_counts_the_leaves_of_the_hierarchy_also_those_that_do_not_occur(
        self, countries: list[str], level: int
    ) -> None:
        schema = Schema((Attribute("country", "quasi-identifying", hierarchy=CONTINENTS),))
        release = sanitize(
            Table.from_arrow({"country": countries}), schema, FullDomain({"country": level}, KAnonymity(1))
        )
        expected = [
            (leaves_below(CONTINENTS.rows(), level, label) - 1) / 4
            for label in release.to_arrow(typed=False)["country"].to_pylist()
        ]
        assert value(release, "general-loss") == pytest.approx(sum(expected) / len(countries))

    @given(data=st.data(), k=st.integers(1, 5))
    @settings(max_examples=30)
    def test_counts_the_occurring_numbers_of_an_interval(self, data: st.DataObject, k: int) -> None:
        ages = data.draw(st.lists(st.integers(0, 40), min_size=k, max_size=20))
        release = sanitize(
            Table.from_arrow({"age": ages}), Schema.of(age="quasi-identifying"), Mondrian(KAnonymity(k))
        )
        domain = sorted(set(ages))
        costs = []
        for label in release.to_arrow(typed=False)["age"].to_pylist():
            low, high = read_interval(label, domain)
            costs.append((sum(low <= age < high for age in domain) - 1) / max(len(domain) - 1, 1))
        assert value(release, "general-loss") == pytest.approx(sum(costs) / len(ages))

    @pytest.mark.parametrize(
        "method",
        [
            FullDomain({"age": 1}, KAnonymity(1)),
            Mondrian(KAnonymity(2)),
            Clustering(KAnonymity(2)),
            Cut({"age": "010010100"}, KAnonymity(2)),
        ],
        ids=lambda method: type(method).__name__,
    )
    def test_an_interval_counts_the_leaves_that_do_not_occur_as_a_node_does(self, method: Sanitizer) -> None:
        every, ages = range(1, 101), range(10, 101, 10)
        quarters = {age: f"[{(age - 1) // 25 * 25 + 1}, {(age - 1) // 25 * 25 + 26})" for age in every}
        hierarchy = Hierarchy.of_rows([[str(age), quarters[age], "*"] for age in every])
        schema = Schema((Attribute("age", "quasi-identifying", "numeric", hierarchy),))
        table = Table.from_arrow({"age": list(ages)})
        release = sanitize(table, schema, method, seed=1)
        written = release.to_arrow(typed=False)
        costs = []
        for label in written["age"].to_pylist():
            low, high = read_interval(label, list(every))
            costs.append((sum(low <= age < high for age in every) - 1) / 99)
        assert min(costs) >= 10 / 99
        assert value(release, "general-loss") == pytest.approx(sum(costs) / len(ages))
        assert value(read_release(written, table, schema), "general-loss") == pytest.approx(
            sum(costs) / len(ages)
        )

    @given(data=st.data())
    @settings(max_examples=30)
    def test_a_level_costs_what_its_nodes_cover(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        table, schema = data.draw(tiny_tables)
        names = schema.quasi_identifiers
        levels = {name: data.draw(st.integers(0, schema.hierarchy(name).height)) for name in names}
        release = sanitize(table, schema, FullDomain(levels, KAnonymity(1)))
        (taken,) = measure(release, ["general-loss"])
        assert taken.detail.keys() == set(names)
        weights = {name: schema[name].weight for name in names}
        expected = sum(taken.detail[name] * weights[name] for name in names) / (sum(weights.values()) or 1)
        assert taken.value == pytest.approx(expected)
        for name in names:
            if levels[name] in (0, schema.hierarchy(name).height):
                all_or_nothing = levels[name] > 0 and schema.hierarchy(name).n_leaves > 1
                assert taken.detail[name] == pytest.approx(float(all_or_nothing))

    def test_attributes_are_weighted(self) -> None:
        table = Table.from_arrow({"age": [10, 20, 30], "sex": ["f", "m", "f"]})
        schema = Schema(
            (Attribute("age", "quasi-identifying", weight=3.0), Attribute("sex", "quasi-identifying"))
        )
        release = sanitize(table, schema, FullDomain({"age": 1}, KAnonymity(1)))
        assert value(release, "general-loss") == pytest.approx(0.75)
        release = sanitize(table, schema, FullDomain({"sex": 1}, KAnonymity(1)))
        assert value(release, "general-loss") == pytest.approx(0.25)

    def test_attributes_without_any_weight_cost_nothing(self) -> None:
        schema = Schema((Attribute("age", "quasi-identifying", weight=0.0),))
        release = sanitize(Table.from_arrow({"age": [1, 2]}), schema, SuppressQuasiIdentifiers())
        assert value(release, "general-loss") == 0

    def test_a_one_value_domain_costs_nothing(self) -> None:
        release = sanitize(
            Table.from_arrow({"age": [1, 1]}), Schema.of(age="quasi-identifying"), SuppressQuasiIdentifiers()
        )
        assert value(release, "general-loss") == 0

    def test_suppressed_records_are_not_counted_here(self) -> None:
        table = Table.from_arrow({"age": [1, 12, 13, 14]})
        schema = Schema((Attribute("age", "quasi-identifying", hierarchy=Intervals((10,))),))
        release = sanitize(table, schema, FullDomain({"age": 1}, KAnonymity(2), suppression=0.25))
        # three kept cells of 2/3 each, over four original records
        assert value(release, "general-loss") == pytest.approx(3 * (2 / 3) / 4)
        assert value(release, "suppression-loss") == 0.25
        assert value(release, "total-loss") == pytest.approx(0.75)

    def test_insensitive_and_sensitive_attributes_do_not_count(self) -> None:
        table = Table.from_arrow({"age": [1, 2], "height": [3, 4], "ill": ["a", "b"]})
        schema = Schema.of(age="quasi-identifying", height="insensitive", ill="sensitive")
        (taken,) = measure(sanitize(table, schema, SuppressQuasiIdentifiers()), ["general-loss"])
        assert taken.detail == {"age": 1.0}

    def test_withholding_the_sensitive_values_is_not_called_lossless(self) -> None:
        table = Table.from_arrow({"age": [1, 2], "ill": ["a", "b"]})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), SuppressSensitive())
        for taken in measure(release, QUASI_IDENTIFIER_LOSSES):
            assert taken.value is None
            assert "withheld" in taken.detail["reason"]

    def test_without_quasi_identifiers_nothing_is_lost(self) -> None:
        release = sanitize(Table.from_arrow({"ill": ["a", "b"]}), Schema.of(ill="sensitive"), AsIs())
        assert value(release, "general-loss") == 0


def read_interval(label: str, domain: list[int]) -> tuple[float, float]:
    if label == "*":
        return domain[0], domain[-1] + 1
    if label[0] == "<":
        return domain[0], int(label[1:])
    if label[:2] == ">=":
        return int(label[2:]), domain[-1] + 1
    written = re.fullmatch(r"\[(\d+), (\d+)\)", label)
    return (int(written[1]), int(written[2])) if written else (int(label), int(label) + 1)


@given(data=st.data(), k=st.integers(1, 4))
@settings(max_examples=30)
def test_suppression_and_total_loss_and_discernibility(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int
) -> None:
    table, schema = data.draw(tiny_tables)
    names = schema.quasi_identifiers
    levels = dict.fromkeys(names, 1)
    written = sanitize(table, schema, FullDomain(levels, KAnonymity(1))).to_arrow().to_pylist()
    sizes = Counter(tuple(record[name] for name in names) for record in written)
    kept = [size for size in sizes.values() if size >= k]
    if not kept:
        return
    release = sanitize(table, schema, FullDomain(levels, KAnonymity(k), suppression=1.0))
    suppressed = table.n_records - sum(kept)
    (taken,) = measure(release, ["suppression-loss"])
    assert taken.value == suppressed / table.n_records
    assert taken.detail == {"suppressed": suppressed, "records": table.n_records}
    (total,) = measure(release, ["total-loss"])
    assert total.value == pytest.approx(value(release, "general-loss") + taken.value)
    (general,) = measure(release, ["general-loss"])
    assert total.detail == {
        "general-loss": general.value,
        "suppression-loss": taken.value,
        "by-attribute": {name: general.detail[name] + taken.value for name in names},
    }
    weights = {name: schema[name].weight for name in names}
    if sum(weights.values()):
        parts = sum(total.detail["by-attribute"][name] * weights[name] for name in names)
        assert parts / sum(weights.values()) == pytest.approx(total.value)
    assert value(release, "average-class-size") == sum(kept) / len(kept)
    (divided,) = measure(release, [AverageClassSize(k)])
    assert divided.value == pytest.approx(sum(kept) / len(kept) / k)
    assert value(release, "discernibility") == sum(size**2 for size in kept) + table.n_records * suppressed


def test_total_loss_of_a_suppressed_record_is_that_of_all_its_cells() -> None:
    table = Table.from_arrow({"age": [1, 2, 2, 2], "sex": ["f", "m", "m", "m"]})
    schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
    release = sanitize(table, schema, FullDomain({}, KAnonymity(3), suppression=0.5))
    assert value(release, "total-loss") == 0.25


def test_discernibility_of_a_large_table_is_exact() -> None:
    one = Table.from_arrow({"age": [1, 2]})
    table = Table({"age": one["age"]}, np.array([3_000_000_000, 4_000_000_000]))
    release = sanitize(table, Schema.of(age="quasi-identifying"), AsIs())
    assert value(release, "discernibility") == float(3_000_000_000**2 + 4_000_000_000**2)


def from_files(release: Release) -> Release:
    layout = Layout.of(release)
    return read_back(tables_of(release, typed=False), layout)


def test_losses_of_classes_can_be_recomputed_from_the_files(hospital: Bound) -> None:
    for how in (AsIs(), Mondrian(KAnonymity(3)), SuppressQuasiIdentifiers(), SuppressSensitive()):
        release = sanitize(*hospital, how)
        for name in ("discernibility", "average-class-size"):
            assert measure(from_files(release), [name]) == measure(release, [name])


def test_losses_that_need_sets_say_so_without_them(hospital: Bound) -> None:
    seen = from_files(sanitize(*hospital, Mondrian(KAnonymity(3))))
    noisy = sanitize(*hospital, Laplace())
    for release, why in ((seen, "are not sets of original values"), (noisy, "values were changed")):
        for taken in measure(release, ["general-loss", "total-loss", "precision"]):
            assert taken.value is None
            assert why in taken.detail["reason"]


def test_exchanged_sensitive_values_are_not_called_lossless(hospital: Bound) -> None:
    release = sanitize(*hospital, Bucketize(DistinctDiversity(2)))
    for taken in measure(release, QUASI_IDENTIFIER_LOSSES):
        assert taken.value is None
        assert "exchanged" in taken.detail["reason"]


def test_a_class_is_not_measured_in_units_of_nothing() -> None:
    with pytest.raises(ParameterError, match="k must be at least 1"):
        AverageClassSize(0)


class TestPrecision:
    @given(data=st.data())
    @settings(max_examples=30)
    def test_is_one_minus_the_mean_level(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        table, schema = data.draw(tiny_tables)
        heights = {name: schema.hierarchy(name).height for name in schema.quasi_identifiers}
        levels = {name: data.draw(st.integers(0, height)) for name, height in heights.items()}
        release = sanitize(table, schema, FullDomain(levels, KAnonymity(1)))
        (taken,) = measure(release, ["precision"])
        assert taken.detail == levels
        assert taken.value == pytest.approx(1 - sum(levels[n] / heights[n] for n in levels) / len(levels))

    @given(data=st.data())
    @settings(max_examples=30)
    def test_without_a_recipe_the_cells_tell_the_level(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        table, schema = data.draw(tiny_tables)
        names = schema.quasi_identifiers
        levels = {name: data.draw(st.integers(0, schema.hierarchy(name).height)) for name in names}
        release = replace(sanitize(table, schema, FullDomain(levels, KAnonymity(1))), recipe=None)
        (taken,) = measure(release, ["precision"])
        if taken.value is None:  # two nodes of one level are written alike
            return
        for name in names:
            found, tree = taken.detail[name], schema.hierarchy(name)
            assert found <= levels[name]
            one, other = (
                [tree.labels[level][node] for node in tree.node_of[level]] for level in (found, levels[name])
            )
            assert one == other

    def test_the_ends(self, hospital: Bound) -> None:
        assert value(sanitize(*hospital, AsIs()), "precision") == 1
        assert value(sanitize(*hospital, SuppressQuasiIdentifiers()), "precision") == 0
        alone = sanitize(Table.from_arrow({"ill": ["a", "b"]}), Schema.of(ill="sensitive"), AsIs())
        assert value(alone, "precision") == 1

    def test_attributes_on_several_levels_have_none(self, hospital: Bound) -> None:
        for how in (Mondrian(KAnonymity(3)), Cut({"age": "0100000"}, KAnonymity(1))):
            (taken,) = measure(sanitize(*hospital, how), ["precision"])
            assert taken.value is None
            assert "is not on one level of its hierarchy" in taken.detail["reason"]


@pytest.mark.parametrize("suppression", [0.0, 0.25])
@pytest.mark.parametrize("objective", QUASI_IDENTIFIER_LOSSES)
def test_the_search_for_the_best_node_counts_alike(
    objective: Any, suppression: float, hospital: Bound
) -> None:
    found = optimal_node(*hospital, KAnonymity(3), suppression=suppression, objective=objective)
    release = sanitize(*hospital, FullDomain(found.levels, KAnonymity(3), suppression))
    asked = {"average-class-size": {"k": 3}} if objective == "average-class-size" else objective
    (taken,) = measure(release, [asked])
    assert taken.value == pytest.approx(found.score)


class TestFivePeopleByHand:
    """Three Europeans and two Asians, of two ages; the one who is alone with both is left out."""

    @pytest.fixture
    def release(self) -> Release:
        people = {"country": ["France", "Italy", "Spain", "Japan", "Japan"], "age": [1, 1, 2, 2, 2]}
        country = Attribute("country", "quasi-identifying", hierarchy=CONTINENTS, weight=3.0)
        schema = Schema((country, Attribute("age", "quasi-identifying")))
        how = FullDomain({"country": 1}, KAnonymity(2), suppression=0.5)
        return sanitize(Table.from_arrow(people), schema, how)

    def test_information_in_the_cells(self, release: Release) -> None:
        general, total, precision = measure(release, ["general-loss", "total-loss", "precision"])
        # two cells of three leaves in five and two of two, over five records; country weighs three times
        assert general.detail == {"country": pytest.approx(0.3), "age": 0.0}
        assert general.value == pytest.approx(0.3 * 3 / 4)
        assert total.value == pytest.approx(0.225 + 0.2)
        assert total.detail["suppression-loss"] == 0.2
        assert total.detail["general-loss"] == general.value
        assert total.detail["by-attribute"] == {"country": pytest.approx(0.5), "age": 0.2}
        assert (precision.value, precision.detail) == (1 - (1 / 2 + 0) / 2, {"country": 1, "age": 0})

    def test_classes_and_records(self, release: Release) -> None:
        names: list[Any] = ["suppression-loss", "discernibility", "average-class-size", AverageClassSize(4)]
        suppression, discernibility, size, in_fours = measure(release, names)
        assert (suppression.value, suppression.detail) == (0.2, {"suppressed": 1, "records": 5})
        assert discernibility.value == 2**2 + 2**2 + 5 * 1
        assert (size.value, size.detail) == (2, {"classes": 2})
        assert in_fours.value == 0.5


def test_people_who_are_left_out_are_counted_beside_records() -> None:
    visits = {"who": [1, 1, 2, 3, 3, 4], "age": [1, 2, 2, 2, 3, 4]}
    attributes = Schema.of(who="identifying", age="quasi-identifying").attributes
    schema = Schema(attributes, person="who")
    release = sanitize(Table.from_arrow(visits), schema, FullDomain({}, KAnonymity(2), suppression=0.5))
    (taken,) = measure(release, ["suppression-loss"])
    # of age 2 are records of three people; the fourth has no other
    assert taken.detail == {"suppressed": 3, "records": 6, "people-left-out": 1, "people": 4}


class TestLevels:
    """The level of an attribute where no recipe tells it: from labels and the values behind them."""

    def level(self, labels: list[str], sets: list[list[int]], codes: list[int]) -> Any:
        columns = {"country": [row[0] for row in CONTINENTS.rows()]}
        schema = Schema((Attribute("country", "quasi-identifying", hierarchy=CONTINENTS),))
        release = sanitize(Table.from_arrow(columns), schema, AsIs())
        domain = release.cells["country"].domain
        members = [domain.index(CONTINENTS.rows()[place][0]) for each in sets for place in sorted(each)]
        starts = np.cumsum([0, *map(len, sets)])
        values = ValueSets(starts, np.array(members, np.int32), np.diff(starts), 5)
        cells = Cells(np.array(codes, np.int32), tuple(labels), domain, values)
        return measure(replace(release, cells={"country": cells}, recipe=None), ["precision"])[0]

    def test_is_that_whose_nodes_are_written(self) -> None:
        found = self.level(["Europe", "Asia"], [[0, 1, 2], [3, 4]], [0, 0, 0, 1, 1])
        assert (found.value, found.detail) == (0.5, {"country": 1})

    def test_labels_that_no_record_has_do_not_count(self) -> None:
        found = self.level(["Europe", "Asia", "some"], [[0, 1, 2], [3, 4], [1, 3]], [0, 0, 0, 1, 1])
        assert found.detail == {"country": 1}

    @pytest.mark.parametrize(
        ("labels", "sets"),
        [
            (["Europe", "East"], [[0, 1, 2], [3, 4]]),
            (["Europe", "Asia"], [[0, 1], [3, 4]]),
            (["Europe", "Asia"], [[0, 1, 3], [2, 4]]),
            (["France", "Asia"], [[0], [3, 4]]),
        ],
        ids=["other label", "part of a node", "mixed nodes", "two levels"],
    )
    def test_what_is_no_level_has_none(self, labels: list[str], sets: list[list[int]]) -> None:
        assert "not on one level" in self.level(labels, sets, [0, 0, 0, 1, 1]).detail["reason"]

    def test_is_told_by_the_recipe_where_two_look_the_same(self) -> None:
        same = Hierarchy.of_rows([["a", "a", "*"], ["b", "b", "*"]])
        schema = Schema((Attribute("town", "quasi-identifying", hierarchy=same),))
        how = FullDomain({"town": 1}, KAnonymity(1))
        release = sanitize(Table.from_arrow({"town": ["a", "b"]}), schema, how)
        for made, level in ((release, 1), (replace(release, recipe=None), 0)):
            assert measure(made, ["precision"])[0].detail == {"town": level}
