"""How a researcher reads each type of release under the uniform assumption."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.measures.utility.estimation import reconstruction
from sfumato.measures.utility.estimation.estimate import Estimate
from sfumato.measures.utility.estimation.reconstruction import (
    Unreadable,
    blind_estimate,
    counted_as,
    nearest_codes,
    reconstructed,
    true_estimate,
    uniform_estimate,
    uniform_estimate_of_all,
)
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.released_column import Cells, ValueSets
from sfumato.sanitizers import (
    AsIs,
    Bucketize,
    FullDomain,
    Laplace,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)

SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric", Intervals((10,))),
        Attribute("sex", "quasi-identifying"),
        Attribute("ill", "sensitive"),
    )
)
PEOPLE = {
    "age": [21, 22, 22, 35, 35, 38],
    "sex": ["f", "m", "m", "f", "m", "f"],
    "ill": ["flu", "flu", "ague", "gout", "flu", "gout"],
}


def release(how: Any) -> LinkedRelease:
    return sanitize(Table.from_arrow(PEOPLE), SCHEMA, how)


def withheld(made: LinkedRelease, name: str) -> Cells:
    """Return the cells of an attribute of which nothing is told."""
    domain = made.origin.table[name].domain
    sets = ValueSets(np.array([0, len(domain)]), np.arange(len(domain)), np.array([len(domain)]), len(domain))
    return Cells(np.zeros(made.n_rows, dtype=np.int32), ("*",), domain, sets)


def cells_of(estimate: Estimate, made: LinkedRelease) -> dict[tuple[Any, ...], float]:
    """Return the estimated number of records of every combination of values."""
    domains = [made.origin.table[name].domain for name in ("age", "sex", "ill")]
    places = np.array(list(np.ndindex(*map(len, domains))), dtype=np.int32)
    found = estimate.on_rows(np.ascontiguousarray(places[:, :-1].T), places[:, -1])
    return {
        tuple(domain[code] for domain, code in zip(domains, place, strict=True)): float(count)
        for place, count in zip(places, found, strict=True)
        if count
    }


def test_the_table_as_it_is_is_read_exactly() -> None:
    made = release(AsIs())
    counted: dict[tuple[Any, ...], float] = {}
    for record in zip(*PEOPLE.values(), strict=True):
        counted[record] = counted.get(record, 0) + 1
    assert cells_of(uniform_estimate(made, "ill"), made) == counted
    assert cells_of(true_estimate(made.origin.table, made.schema, "ill"), made) == counted


def test_a_generalized_value_spreads_evenly_over_the_values_that_occur() -> None:
    made = release(FullDomain({"age": 1, "sex": 1}, KAnonymity(2)))
    found = cells_of(uniform_estimate(made, "ill"), made)
    # [20, 30) stands for 21 and 22, * for f and m; two of the three have the flu
    assert found[21, "f", "flu"] == pytest.approx(3 / 2 / 2 * 2 / 3)
    assert found[38, "m", "gout"] == pytest.approx(3 / 2 / 2 * 2 / 3)
    assert (21, "f", "gout") not in found


def test_a_bucket_has_its_records_and_each_any_of_the_groups_values() -> None:
    made = release(Bucketize(ProbabilisticDiversity(1.5)))
    written = made.to_arrow().to_pylist()
    groups: dict[Any, list[dict[str, Any]]] = {}
    for record in written:
        groups.setdefault(record["group"], []).append(record)
    assert len(groups) > 1
    expected: dict[tuple[Any, ...], float] = {}
    for members in groups.values():
        for record in members:
            for other in members:
                key = record["age"], record["sex"], other["ill"]
                expected[key] = expected.get(key, 0) + 1 / len(members)
    assert cells_of(uniform_estimate(made, "ill"), made) == pytest.approx(expected)


def test_withheld_sensitive_values_may_be_any() -> None:
    made = release(SuppressSensitive())
    found = cells_of(uniform_estimate(made, "ill"), made)
    assert found[22, "m", "gout"] == pytest.approx(2 / 3)
    assert sum(found.values()) == pytest.approx(6)


def test_with_all_quasi_identifiers_withheld_there_is_one_unit() -> None:
    made = release(SuppressQuasiIdentifiers())
    withheld = uniform_estimate(made, "ill")
    blind = blind_estimate(true_estimate(made.origin.table, made.schema, "ill"))
    assert withheld.n_units == blind.n_units == 1
    assert cells_of(withheld, made) == pytest.approx(cells_of(blind, made))


def test_quasi_identifiers_can_be_read_alone() -> None:
    made = release(FullDomain({"age": 1}, KAnonymity(1)))
    estimate = uniform_estimate(made, None)
    assert estimate.mixtures.n_values == 1
    assert estimate.weights.sum() == 6


def test_a_noisy_number_counts_as_the_nearest_value() -> None:
    people = {"age": [21, 22, 35, 38, 38, 38], "ill": list("abcdef")}
    table = Table.from_arrow(people)
    schema = Schema.of(age="quasi-identifying", ill="sensitive").with_assumed_public_part(table)
    made = sanitize(table, schema, Laplace(1.0))
    # half way between two values is the lower; far out are the first and the last
    noisy = (-5, 21, 21.4, 28.5, 28.6, 99)
    cells = Cells(np.arange(6, dtype=np.int32), tuple(map(str, noisy)), noisy)
    estimate = uniform_estimate(replace(made, cells={**made.cells, "age": cells}), "ill")
    expected = [21, 21, 21, 22, 35, 38]
    codes = np.array([[(21, 22, 35, 38).index(age) for age in expected]], dtype=np.int32)
    assert estimate.on_rows(codes, made.cells["ill"].codes).tolist() == [1] * 6


def test_missing_noisy_numbers_stay_missing() -> None:
    table = Table.from_arrow({"age": [30, None, 50], "ill": ["a", "b", "b"]})
    schema = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("ill", "sensitive")))
    made = sanitize(table, schema.with_assumed_public_part(table), Laplace(1e6, ("age",)))
    estimate = uniform_estimate(made, "ill")
    rows = np.array([[0, 1, 2]], dtype=np.int32)
    assert estimate.on_rows(rows, np.array([0, 1, 1])).tolist() == [1, 1, 1]


def test_what_cannot_be_read_is_told_with_the_column() -> None:
    made = release(AsIs())
    unknown = Cells(made.cells["sex"].codes, made.cells["sex"].labels)
    with pytest.raises(Unreadable, match="'sex' are neither sets of original values nor numbers"):
        uniform_estimate(replace(made, cells={**made.cells, "sex": unknown}), "ill")
    with pytest.raises(Unreadable, match="'ill' are neither sets of original values nor numbers"):
        uniform_estimate(
            replace(made, cells={**made.cells, "ill": replace(made.cells["ill"], sets=None)}), "ill"
        )
    with pytest.raises(Unreadable, match="'ill' is not released"):
        uniform_estimate(replace(made, cells={n: c for n, c in made.cells.items() if n != "ill"}), "ill")
    with pytest.raises(NotApplicable, match="the original is needed"):
        uniform_estimate(made.unlinked(), "ill")


@pytest.mark.parametrize("how", ["uniform", "maximum-entropy"])
def test_both_readings_keep_the_number_of_records(how: Any) -> None:
    for sanitizer in (AsIs(), FullDomain({"age": 1}, KAnonymity(1)), Bucketize(ProbabilisticDiversity(1.5))):
        assert reconstructed(release(sanitizer), "ill", how).weights.sum() == pytest.approx(6)


def test_a_release_is_read_in_the_way_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    refined: list[Estimate] = []
    monkeypatch.setattr(reconstruction, "maximum_entropy_estimate", refined.append)
    made = release(AsIs())
    assert cells_of(reconstructed(made, "ill", "uniform"), made) == cells_of(
        uniform_estimate(made, "ill"), made
    )
    assert not refined
    reconstructed(made, "ill", "maximum-entropy")
    assert [cells_of(each, made) for each in refined] == [cells_of(uniform_estimate(made, "ill"), made)]


def test_where_all_sensitive_values_are_withheld_the_classes_are_one_group() -> None:
    found = uniform_estimate(release(SuppressSensitive()), "ill")
    assert found.mixtures.counts.tolist() == pytest.approx([2.0, 2.0, 2.0])
    assert set(found.mixture_of.tolist()) == {0}


class TestByHand:
    def test_several_sensitive_attributes_are_read_beside_one_another(self) -> None:
        schema = Schema((*SCHEMA.attributes, Attribute("job", "sensitive")))
        people = {**PEOPLE, "job": ["x", "x", "y", "y", "x", "y"]}
        made = sanitize(Table.from_arrow(people), schema, FullDomain({"age": 1, "sex": 1}, KAnonymity(3)))
        both = uniform_estimate_of_all(made, ["ill", "job"])
        ill, job = (uniform_estimate(made, name) for name in ("ill", "job"))
        assert both.overall.tolist() == pytest.approx([*ill.overall, *job.overall])
        assert both.mixtures.first_values == (0, 3, 5)
        assert uniform_estimate_of_all(made, ["job"]).overall.tolist() == job.overall.tolist()

    def test_one_of_two_sensitive_attributes_tells_the_classes_apart(self) -> None:
        schema = Schema((*SCHEMA.attributes, Attribute("job", "sensitive")))
        made = sanitize(
            Table.from_arrow({**PEOPLE, "job": ["x", "y"] * 3}), schema, FullDomain({"sex": 1}, KAnonymity(1))
        )
        hidden = replace(made, cells={**made.cells, "job": withheld(made, "job")})
        for names in (["ill", "job"], ["job", "ill"]):
            both = uniform_estimate_of_all(hidden, names)
            assert len(both.mixtures.totals) == made.classes.n_classes == 4
        assert len(uniform_estimate_of_all(hidden, ["job"]).mixtures.totals) == 1

    def test_where_all_have_one_label_it_is_spread_over_what_it_stands_for(self) -> None:
        # there is a second label, which nobody has
        made = release(AsIs())
        sets = ValueSets(np.array([0, 2, 3]), np.array([2, 0, 1]), np.array([2, 1]), 3)
        cells = Cells(
            np.zeros(made.n_rows, dtype=np.int32), ("some", "other"), made.origin.table["ill"].domain, sets
        )
        mixtures = uniform_estimate(replace(made, cells={**made.cells, "ill": cells}), "ill").mixtures
        assert (mixtures.starts.tolist(), mixtures.values.tolist()) == ([0, 2], [2, 0])
        assert mixtures.counts.tolist() == [3, 3]

    def test_one_record_whose_value_is_withheld_may_have_any(self) -> None:
        people = {"q": ["a"], "ill": ["flu"]}
        made = sanitize(
            Table.from_arrow(people), Schema.of(q="quasi-identifying", ill="sensitive"), SuppressSensitive()
        )
        assert uniform_estimate(made, "ill").mixtures.counts.tolist() == [1]

    def test_two_labels_of_two_values_each_are_spread_over_them(self) -> None:
        people = {"q": [*"aabb"], "ill": [*"uvwx"]}
        made = sanitize(Table.from_arrow(people), Schema.of(q="quasi-identifying", ill="sensitive"), AsIs())
        sets = ValueSets(np.array([0, 2, 4]), np.arange(4), np.array([2, 2]), 4)
        cells = Cells(made.cells["ill"].codes // 2, ("u or v", "w or x"), tuple("uvwx"), sets)
        mixtures = uniform_estimate(replace(made, cells={**made.cells, "ill": cells}), "ill").mixtures
        assert (mixtures.starts.tolist(), mixtures.values.tolist()) == ([0, 2, 4], [0, 1, 2, 3])
        assert mixtures.counts.tolist() == [1, 1, 1, 1]

    def test_a_noisy_sensitive_number_counts_as_the_nearest_value(self) -> None:
        people = {"q": [*"aab"], "pay": [10, 20, 40]}
        schema = Schema((Attribute("q", "quasi-identifying"), Attribute("pay", "sensitive", "numeric")))
        made = sanitize(Table.from_arrow(people), schema, AsIs())
        noisy = Cells(made.cells["pay"].codes, ("11", "29", "31"), (11, 29, 31))
        mixtures = uniform_estimate(replace(made, cells={**made.cells, "pay": noisy}), "pay").mixtures
        assert (mixtures.starts.tolist(), mixtures.values.tolist()) == ([0, 2, 3], [0, 1, 2])
        assert mixtures.counts.tolist() == [1, 1, 1]
        # everybody has the last number: all are nearest to 40
        last = Cells(np.full(3, 2, dtype=np.int32), ("11", "29", "31"), (11, 29, 31))
        same = uniform_estimate(replace(made, cells={**made.cells, "pay": last}), "pay").mixtures
        assert (same.starts.tolist(), same.values.tolist(), same.counts.tolist()) == ([0, 1], [2], [3])

    def test_a_sample_counts_for_all(self) -> None:
        made = release(AsIs())
        drawn = replace(made, sampled=True, n_original=12)
        assert counted_as(drawn).tolist() == [2 * weight for weight in made.weights.tolist()]

    def test_records_are_counted_and_not_their_people(self) -> None:
        schema = Schema((Attribute("name", "identifying"), *SCHEMA.attributes), person="name")
        people = {"name": list("aabcde"), **PEOPLE, "age": [21] * 3 + [35] * 3, "sex": ["f"] * 6}
        made = sanitize(Table.from_arrow(people), schema, AsIs())
        assert made.people is not None
        told = dict(
            zip(made.origin.table["ill"].domain, uniform_estimate(made, "ill").overall.tolist(), strict=True)
        )
        assert told == {"flu": 3, "ague": 1, "gout": 2}

    def test_quasi_identifiers_alone_have_one_value_for_everybody(self) -> None:
        mixtures = uniform_estimate(release(AsIs()), None).mixtures
        assert (mixtures.starts.tolist(), mixtures.values.tolist(), mixtures.counts.tolist()) == (
            [0, 1],
            [0],
            [6],
        )

    def test_what_is_left_when_everything_is_withheld(self) -> None:
        made = release(AsIs())
        blind = blind_estimate(true_estimate(made.origin.table, made.schema, "ill"))
        assert (blind.weights.tolist(), blind.mixture_of.tolist()) == ([6], [0])
        assert [spread.label_of.tolist() for spread in blind.spreads] == [[0], [0]]
        assert blind.spreads[0].codes.tolist() == [0, 1, 2, 3]
        assert blind.spreads[0].masses.tolist() == [1, 1, 1, 1]
        told = dict(zip(made.origin.table["ill"].domain, blind.overall.tolist(), strict=True))
        assert told == {"flu": 3, "ague": 1, "gout": 2}

    def test_survey_weights_say_how_many_people_a_record_counts_for(self) -> None:
        made = release(AsIs())
        assert counted_as(made).tolist() == made.weights.tolist()
        counts = np.array([0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
        original = replace(made.origin.table, survey_weights=counts)
        weighted = replace(made, origin=replace(made.origin, table=original))
        assert counted_as(weighted).tolist() == counts.tolist()
        estimate = uniform_estimate(weighted, "ill")
        assert estimate.weights.sum() == pytest.approx(18)
        # the people of each illness are those that its records stand for
        ills = [made.cells["ill"].labels[code] for code in made.cells["ill"].codes]
        expected = [
            sum(n for ill, n in zip(ills, counts, strict=True) if ill == name)
            for name in original["ill"].domain
        ]
        assert estimate.overall.tolist() == pytest.approx(expected)
        hidden = release(SuppressSensitive())
        withheld = uniform_estimate(replace(hidden, origin=replace(hidden.origin, table=original)), "ill")
        assert withheld.overall.tolist() == pytest.approx([6, 6, 6])

    def test_a_missing_number_is_no_number_to_be_near_to(self) -> None:
        column = Column(np.array([0]), (10, 20, None), NUMERIC)
        noisy = Cells(np.arange(3), ("9", "16", ""), (9, 16, None))
        assert nearest_codes("age", noisy, column).tolist() == [0, 1, 2]
        assert nearest_codes("age", noisy, column).dtype == np.int32
        known = Column(np.array([0]), (10, 20), NUMERIC)
        assert nearest_codes("age", Cells(np.arange(2), ("15", "15.1"), (15, 15.1)), known).tolist() == [0, 1]

    @pytest.mark.parametrize("domain", [("a", "b"), (None, None), ("x", 1)])
    def test_words_are_near_to_no_number(self, domain: Any) -> None:
        column = Column(np.array([0]), (10, 20), NUMERIC)
        with pytest.raises(Unreadable, match="'age' are neither"):
            nearest_codes("age", Cells(np.arange(2), ("a", "b"), domain), column)

    def test_a_generalized_sensitive_value_may_be_any_that_it_stands_for(self) -> None:
        tree = Hierarchy.nested({"cold": ["flu", "ague"], "other": ["gout"]})
        schema = Schema(
            (Attribute("age", "quasi-identifying", "numeric"), Attribute("ill", "sensitive", hierarchy=tree))
        )
        table, _ = schema.bind(
            Table.from_arrow({"age": [1, 1, 2, 2], "ill": ["flu", "gout", "ague", "ague"]})
        )
        plain = sanitize(table, schema, AsIs())
        codes = {value: code for code, value in enumerate(table["ill"].domain)}
        members = np.array([codes["flu"], codes["ague"], codes["gout"]])
        sets = ValueSets(np.array([0, 2, 3]), members, np.array([2, 1]), 3)
        shown = [1 if table["ill"].domain[code] == "gout" else 0 for code in plain.cells["ill"].codes]
        cells = Cells(np.array(shown), ("cold", "other"), table["ill"].domain, sets)
        made = replace(plain, cells={**plain.cells, "ill": cells})
        mixtures = uniform_estimate(made, "ill").mixtures
        found = [
            {
                table["ill"].domain[v]: n
                for v, n in zip(mixtures.values[a:b], mixtures.counts[a:b], strict=True)
            }
            for a, b in zip(mixtures.starts[:-1], mixtures.starts[1:], strict=True)
        ]
        assert found == [{"flu": 0.5, "ague": 0.5, "gout": 1}, {"flu": 1, "ague": 1}]
