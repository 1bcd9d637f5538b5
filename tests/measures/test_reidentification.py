"""Re-identification risk and weighted k, against brute force over the written records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import JournalistRisk, KMap, MarketerRisk, ReidentificationRisk, WeightedK, class_sizes
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]


def releases(bound: Bound) -> list[LinkedRelease]:
    table, schema = bound
    made = [
        sanitize(table, schema, AsIs()),
        sanitize(table, schema, Mondrian(KAnonymity(min(3, table.n_records)))),
    ]
    if made[0].classes.sizes.max() >= 2:
        made.append(sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=1.0)))
    return made


def sizes_by_hand(release: LinkedRelease) -> list[int]:
    names = release.schema.quasi_identifiers
    return list(Counter(tuple(r[name] for name in names) for r in release.to_arrow().to_pylist()).values())


@given(data=st.data(), threshold=st.sampled_from([0.05, 0.2, 1 / 3, 0.5, 1.0]))
@settings(max_examples=30)
def test_the_risk_of_every_record(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, threshold: float
) -> None:
    for release in releases(data.draw(tiny_tables)):
        risks = [1 / size for size in sizes_by_hand(release) for _ in range(size)]
        (taken,) = measure(release, [ReidentificationRisk(threshold)])
        assert taken.value == max(risks)
        assert taken.detail["average"] == pytest.approx(sum(risks) / len(risks))
        assert taken.detail["share-at-risk"] == sum(risk > threshold for risk in risks) / len(risks)
        assert taken.detail["uniques"] == risks.count(1.0)


@given(data=st.data())
@settings(max_examples=30)
def test_weighted_k_is_the_mean_class_size_of_a_record(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release in releases(data.draw(tiny_tables)):
        sizes = sizes_by_hand(release)
        (taken,) = measure(release, [WeightedK()])
        assert taken.value == pytest.approx(float(Fraction(sum(size * size for size in sizes), sum(sizes))))
        each = sorted(size for size in sizes for _ in range(size))
        expected = {"classes": len(sizes), "smallest": each[0], "largest": each[-1]}
        for percent in (5, 25, 50, 75, 95):
            expected[f"percentile-{percent}"] = each[-(-percent * len(each) // 100) - 1]
        assert taken.detail == expected


@given(data=st.data())
@settings(max_examples=30)
def test_class_sizes_count_classes_and_records(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release in releases(data.draw(tiny_tables)):
        counted = Counter(sizes_by_hand(release))
        rows = class_sizes(release)
        assert [row.size for row in rows] == sorted(counted)
        assert {row.size: row.n_classes for row in rows} == counted
        assert sum(row.n_records for row in rows) == release.n_records
        assert all(row.n_records == row.size * row.n_classes for row in rows)


@given(data=st.data())
@settings(max_examples=30)
def test_the_marketer_matches_one_record_of_each_class(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release in releases(data.draw(tiny_tables)):
        marketer, prosecutor = measure(release, ["marketer-risk", "reidentification-risk"])
        assert marketer.value == prosecutor.detail["average"]
        assert marketer.detail == {"matched": len(sizes_by_hand(release))}


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_a_threshold_is_a_risk(threshold: float) -> None:
    for risk in (ReidentificationRisk, JournalistRisk):
        with pytest.raises(ParameterError, match="threshold must be a risk between 0 and 1"):
            risk(threshold=threshold)


def test_a_risk_exactly_at_the_threshold_is_not_above_it() -> None:
    release = sanitize(
        Table.from_arrow({"age": [1] * 5 + [2] * 4}), Schema.of(age="quasi-identifying"), AsIs()
    )
    (taken,) = measure(release, [ReidentificationRisk(0.2)])
    assert taken.detail["share-at-risk"] == 4 / 9


def test_the_average_is_over_records_not_over_classes(adult: Bound) -> None:
    release = sanitize(*adult, AsIs())
    (taken,) = measure(release, ["reidentification-risk"])
    assert taken.detail["average"] == pytest.approx(release.classes.n_classes / 45_222)
    assert taken.detail["average"] < float((1 / release.classes.sizes).mean())


def test_suppressed_records_run_no_risk() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 3]})
    release = sanitize(
        table, Schema.of(age="quasi-identifying"), FullDomain({}, KAnonymity(2), suppression=0.5)
    )
    (risk,) = measure(release, ["reidentification-risk"])
    assert (risk.value, risk.detail["average"], risk.detail["uniques"]) == (0.5, 0.5, 0)
    (weighted,) = measure(release, ["weighted-k"])
    assert weighted.value == 2


def test_withholding_everything_leaves_one_in_all(hospital: Bound) -> None:
    release = sanitize(*hospital, SuppressQuasiIdentifiers())
    risk, weighted = measure(release, ["reidentification-risk", "weighted-k"])
    assert risk.value == 1 / 12
    assert weighted.value == 12


class TestPeopleWithSeveralRecords:
    """One person has a record in both classes; the class of the other two has three people."""

    @pytest.fixture
    def release(self) -> LinkedRelease:
        visits = {"who": [1, 1, 1, 2, 3], "age": [1, 2, 2, 2, 2]}
        attributes = Schema.of(who="identifying", age="quasi-identifying").attributes
        return sanitize(Table.from_arrow(visits), Schema(attributes, person="who"), AsIs())

    def test_everybody_is_found_by_the_best_of_their_records(self, release: LinkedRelease) -> None:
        for threshold, share in ((0.2, 1), (0.5, 1 / 3), (1.0, 0)):
            (risk,) = measure(release, [ReidentificationRisk(threshold)])
            average = (1 + 1 / 3 + 1 / 3) / 3
            assert risk.value == 1
            assert risk.detail == {
                "average": pytest.approx(average),
                "share-at-risk": pytest.approx(share),
                "uniques": 1,
            }

    def test_classes_are_counted_in_people(self, release: LinkedRelease) -> None:
        marketer, weighted = measure(release, ["marketer-risk", "weighted-k"])
        assert (marketer.value, marketer.detail) == (2 / 4, {"matched": 2.0})
        assert weighted.value == (1 + 9) / 4
        assert (weighted.detail["smallest"], weighted.detail["largest"]) == (1, 3)

    def test_a_population_is_compared_with_the_people_of_the_table(self, release: LinkedRelease) -> None:
        (journalist, k_map) = measure(release, [JournalistRisk(population_size=30), KMap(population_size=30)])
        assert (journalist.value, k_map.value) == (1 / 10, 10)
        assert journalist.detail["smallest"] == 10
        (marketer,) = measure(release, [MarketerRisk(population_size=30)])
        assert marketer.value == pytest.approx(0.2 / 4)
        assert marketer.detail == {"matched": pytest.approx(0.2)}
        assert measure(release, [KMap(population_size=3)])[0].value == 1
        with pytest.raises(ParameterError, match="population-size 2 is below the table's 3 people"):
            measure(release, [KMap(population_size=2)])


def test_a_threshold_may_be_nothing_or_certainty() -> None:
    release = sanitize(Table.from_arrow({"age": [1, 2, 2]}), Schema.of(age="quasi-identifying"), AsIs())
    shares = [
        measure(release, [ReidentificationRisk(threshold)])[0].detail["share-at-risk"]
        for threshold in (0.0, 0.5, 1.0)
    ]
    assert shares == [1, 1 / 3, 0]


@pytest.mark.parametrize("risk", [JournalistRisk, KMap, MarketerRisk])
def test_a_population_is_a_table_or_a_number_of_people(risk: type[JournalistRisk]) -> None:
    with pytest.raises(ParameterError, match="population-size must be at least 1, not 0"):
        risk(population_size=0)
    with pytest.raises(ParameterError, match="give population or population-size, not both"):
        risk("people.csv", 10)
    assert (risk("people.csv").population_size, risk(population_size=1).population) == (None, None)
    assert risk("people.csv").requires == "original"


def test_survey_weights_tell_the_journalist_of_a_population_and_not_the_marketer() -> None:
    table = Table.from_arrow({"age": [1, 1, 2], "w": [10.0, 20.0, 5.0]})
    schema = Schema(Schema.of(age="quasi-identifying").attributes, survey_weight="w")
    release = sanitize(table, schema, AsIs())
    journalist, marketer = measure(release, ["journalist-risk", "marketer-risk"])
    assert (journalist.value, marketer.value) == (1 / 5, 2 / 3)
    without = sanitize(table.select(["age"]), Schema.of(age="quasi-identifying"), AsIs())
    (unknown,) = measure(without, ["journalist-risk"])
    assert unknown.detail["reason"].startswith("no population is given; give population, population-size")
