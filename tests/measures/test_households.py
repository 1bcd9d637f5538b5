"""Household risk, against brute force over the members."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.measures import HouseholdRisk
from sfumato.measures.identity.household_risk import household_risks
from sfumato.measures.identity.population_risk import individual_risks
from sfumato.models import KAnonymity
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

AGE = (Attribute("age", "quasi-identifying"),)
Members = list[tuple[int, int]]
members = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 6)), min_size=1, max_size=30)


def table(people: Members, **more: list[float]) -> Table:
    return Table.from_arrow({"age": [age for age, _ in people], "home": [home for _, home in people], **more})


@given(members, st.sampled_from([0.1, 0.2, 0.5, 0.99]))
@settings(max_examples=60)
def test_a_household_is_found_unless_every_member_is_missed(people: Members, threshold: float) -> None:
    sizes = Counter(age for age, _ in people)
    missed: dict[int, float] = defaultdict(lambda: 1.0)
    for age, home in people:
        missed[home] *= 1 - 1 / sizes[age]
    risks = [1 - chance for chance in missed.values()]
    release = sanitize(table(people), Schema(AGE, household="home"), AsIs())
    (taken,) = measure(release, [HouseholdRisk(threshold)])
    assert taken.value == pytest.approx(max(risks))
    assert taken.detail["average"] == pytest.approx(sum(risks) / len(risks))
    assert taken.detail["households"] == len(risks)
    near = any(math.isclose(risk, threshold) for risk in risks)
    assert near or taken.detail["share-at-risk"] == sum(risk > threshold for risk in risks) / len(risks)


def test_with_survey_weights_the_members_run_their_individual_risk() -> None:
    people: Members = [(1, 1), (2, 1), (2, 2)]
    schema = Schema(AGE, household="home", survey_weight="w")
    release = sanitize(table(people, w=[50.0, 10.0, 30.0]), schema, AsIs())
    first, second = individual_risks(np.array([1, 2]), np.array([50.0, 40.0])).tolist()
    expected = [1 - (1 - first) * (1 - second), second]
    assert sorted(household_risks(release).tolist()) == pytest.approx(sorted(expected))


def test_a_member_who_is_left_out_runs_no_risk_and_a_household_without_others_does_not_count() -> None:
    people: Members = [(1, 1), (2, 1), (2, 2), (3, 3)]
    release = sanitize(
        table(people), Schema(AGE, household="home"), FullDomain({}, KAnonymity(2), suppression=0.5)
    )
    (taken,) = measure(release, ["household-risk"])
    assert (taken.value, taken.detail["average"], taken.detail["households"]) == (0.5, 0.5, 2)


def test_four_in_classes_of_twenty() -> None:
    people: Members = [
        (age, 0 if place == 0 else 100 * age + place) for age in range(4) for place in range(20)
    ]
    (taken,) = measure(sanitize(table(people), Schema(AGE, household="home"), AsIs()), ["household-risk"])
    assert taken.value == pytest.approx(1 - 0.95**4)


def test_alone_everybody_runs_the_prosecutors_risk() -> None:
    people: Members = [(1, 1), (2, 2), (2, 3), (3, 4), (3, 5), (3, 6)]
    release = sanitize(table(people), Schema(AGE, household="home"), Mondrian(KAnonymity(2)))
    household, person = measure(release, ["household-risk", "reidentification-risk"])
    assert household.value == pytest.approx(person.value)
    assert household.detail["average"] == pytest.approx(person.detail["average"])


def test_equal_records_that_are_released_apart_share_their_risk() -> None:
    people: Members = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 5)]
    how = Mondrian(KAnonymity(2), variant="relaxed")
    release = sanitize(table(people), Schema(AGE, household="home"), how)
    risks = household_risks(release)
    assert len(risks) == 5
    assert risks.sum() == pytest.approx(release.classes.n_classes)


def test_without_households_the_reason_says_what_to_name() -> None:
    release = sanitize(table([(1, 1)]), Schema(AGE, household="home"), AsIs())
    unknown = sanitize(table([(1, 1)]).select(["age"]), Schema(AGE), AsIs())
    reasons = {
        "name the column": unknown,
        "which record each released row comes from": with_unknown_rows(release),
        "the original is needed": release.unlinked(),
    }
    for reason, nobody in reasons.items():
        (taken,) = measure(nobody, ["household-risk"])
        assert (taken.value, reason in taken.detail["reason"]) == (None, True)


def test_a_threshold_is_a_risk() -> None:
    with pytest.raises(ParameterError, match="threshold must be a risk between 0 and 1"):
        HouseholdRisk(-1)
    release = sanitize(table([(1, 1), (2, 2)]), Schema(AGE, household="home"), AsIs())
    for threshold, share in ((0.99, 1), (1.0, 0)):
        assert measure(release, [HouseholdRisk(threshold)])[0].detail["share-at-risk"] == share


def test_a_member_with_several_records_is_found_by_the_best_of_them() -> None:
    visits = {"who": [1, 1, 2, 3, 4], "age": [31, 42, 42, 42, 42], "home": [1, 1, 1, 2, 2]}
    attributes = (Attribute("who", "identifying"), *AGE)
    schema = Schema(attributes, person="who", household="home")
    risks = household_risks(sanitize(Table.from_arrow(visits), schema, AsIs()))
    # the first person is alone at 31, and one of four people at 42
    assert risks.tolist() == pytest.approx([1.0, 1 - 0.75**2])
    same = {**visits, "age": [42, 42, 42, 42, 42]}
    risks = household_risks(sanitize(Table.from_arrow(same), schema, AsIs()))
    assert risks.tolist() == pytest.approx([1 - 0.75**2, 1 - 0.75**2])


def test_a_person_without_a_household_number_lives_alone_however_many_records_there_are() -> None:
    visits = {"who": [1, 1, 1, 2, 3], "age": [31, 42, 42, 42, 42], "home": [None, None, None, 7, None]}
    schema = Schema((Attribute("who", "identifying"), *AGE), person="who", household="home")
    release = sanitize(Table.from_arrow(visits), schema, AsIs())
    assert sorted(household_risks(release).tolist()) == pytest.approx([1 / 3, 1 / 3, 1.0])
    (taken,) = measure(release, ["household-risk"])
    assert (taken.detail["households"], taken.detail["average"]) == (3, pytest.approx(5 / 9))


def test_a_record_without_a_household_number_belongs_where_its_person_lives() -> None:
    visits = {"who": [1, 1, 2], "age": [31, 42, 42], "home": [None, 7, 7]}
    schema = Schema((Attribute("who", "identifying"), *AGE), person="who", household="home")
    risks = household_risks(sanitize(Table.from_arrow(visits), schema, AsIs()))
    assert risks.tolist() == pytest.approx([1.0])
    # of two households the first in the order of their values
    moved = {"who": [1, 1, 1], "age": [31, 42, 42], "home": [9, 7, None]}
    own = Table.from_arrow(moved)
    bound, _ = schema.bind(own)
    assert bound.households is not None
    assert sorted(np.bincount(bound.households.household_of).tolist()) == [1, 2]
