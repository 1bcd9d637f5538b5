"""What somebody learns who has several releases: the intersection attack by hand, and brute force."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Intervals, Schema, Table, apply, freeze, measure, sanitize
from sfumato.measures import CompositionK, CompositionLoss, Measurement
from sfumato.measures.disclosure.composition import classes_of_people, people_of
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.origin import Earlier
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, Clustering, Cut, FullDomain, Mondrian, Sanitizer

AGES = [21, 22, 23, 24, 25, 26]
GANTA: dict[str, Any] = {"age": AGES, "disease": ["flu", "gout", "asthma", "flu", "gout", "asthma"]}
SCHEMA = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("disease", "sensitive")))


def _cut(bits: str, k: int = 2) -> LinkedRelease:
    return sanitize(GANTA, SCHEMA, Cut({"age": bits}, KAnonymity(k)))


def _with(release: LinkedRelease, *earlier: LinkedRelease) -> LinkedRelease:
    return release.with_earlier(*earlier)


def _taken(release: LinkedRelease, name: str) -> Measurement:
    (found,) = measure(release, [name])
    return found


def test_two_releases_that_are_each_safe_single_somebody_out_together() -> None:
    """Ages 21-23 and 24-26, then 21-22 and 23-26: each class has two people or more; 23 is alone in both."""
    first, second = _cut("00100"), _cut("01000")
    assert first.classes.sizes.min() == 3
    assert second.classes.sizes.min() == 2
    found = _taken(_with(second, first), "composition-k")
    assert found.value == 1
    assert found.detail["share-below-k"] == 1  # everybody has less than five around
    assert found.detail["share-in-earlier"] == 1
    assert found.detail["share-estimated"] == 0
    loss = _taken(_with(second, first), "composition-loss")
    alone = 0.5 * (
        math.log(2 / (1 + 1 / 3)) + 1 / 3 * math.log(1 / 3 / ((1 + 1 / 3) / 2)) + 2 / 3 * math.log(2)
    )
    assert loss.value == pytest.approx(alone)
    assert loss.value > _taken(second, "privacy-loss").value
    assert loss.detail["smallest"] == 1


def test_the_same_release_twice_tells_no_more_than_once() -> None:
    release = _cut("00100")
    assert _taken(_with(release, release), "composition-k").value == 3
    alone = _taken(release, "privacy-loss").value
    assert _taken(_with(release, release), "composition-loss").value == alone


def test_three_releases_tell_more_than_two() -> None:
    first, second, third = _cut("00100"), _cut("00000"), _cut("01010")
    assert _taken(_with(second, first), "composition-k").value == 3
    assert _taken(_with(second, first, third), "composition-k").value == 1


SEVERAL = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20))),
        Attribute("sex", "quasi-identifying"),
        Attribute("disease", "sensitive"),
    )
)


def _records(seed: int, n: int = 150) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 70, n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "disease": rng.choice(["flu", "gout", "asthma", "cold"], n).tolist(),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Mondrian(KAnonymity(5)), FullDomain({"age": 1, "sex": 0}, KAnonymity(2), suppression=1.0)),
        (FullDomain({"age": 1, "sex": 1}, KAnonymity(5)), Mondrian(KAnonymity(7))),
        (Mondrian(KAnonymity(4), variant="relaxed"), Clustering(KAnonymity(6))),
    ],
    ids=["suppressed", "level", "split"],
)
def test_the_company_is_who_shares_every_class(one: Sanitizer, other: Sanitizer) -> None:
    """By brute force: give every record its labels in both releases, and count who has the same."""
    table = _records(3)
    now, then = (sanitize(table, SEVERAL, how, seed=5) for how in (one, other))
    labels = [_labels_by_record(each) for each in (now, then)]
    sizes = []
    for record, mine in labels[0].items():
        theirs = labels[1].get(record)
        company = [
            other
            for other, label in labels[0].items()
            if label == mine and (theirs is None or labels[1].get(other) == theirs)
        ]
        sizes.append(len(company))
    found = _taken(_with(now, then), "composition-k")
    assert found.value == min(sizes)
    assert found.detail["share-below-k"] == pytest.approx(np.mean(np.array(sizes) < 5))
    in_both = len(labels[0].keys() & labels[1].keys())
    assert found.detail["share-in-earlier"] == pytest.approx(in_both / len(labels[0]))


def _labels_by_record(release: LinkedRelease) -> dict[tuple[int, int], tuple[str | None, ...]]:
    """Return the labels of each released record: the first of a row, the second, …."""
    names, seen, found = release.schema.quasi_identifiers, Counter[int](), {}
    for place, row in enumerate(release.origin.rows.tolist()):
        for _ in range(int(release.weights[place])):
            found[row, seen[row]] = tuple(
                release.cells[name].labels[release.cells[name].codes[place]] for name in names
            )
            seen[row] += 1
    return found


WITH_PEOPLE = Schema((Attribute("patient", "identifying"), *SEVERAL.attributes), person="patient")


def _months(n: int = 200) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a month and the next: nine in ten come again, with the same age and sex."""
    january = {"patient": [f"p{number}" for number in range(n)], **_records(7, n)}
    february = {name: values[n // 10 :] for name, values in january.items()}
    new = {"patient": [f"q{number}" for number in range(n // 10)], **_records(8, n // 10)}
    return january, {name: [*february[name], *new[name]] for name in january}


def test_people_who_come_again_are_recognised_by_their_column() -> None:
    january, february = _months()
    # intervals on a grid overlap, so that a person may come into another class
    first = sanitize(january, WITH_PEOPLE, Mondrian(KAnonymity(8), borders="tight"), seed=1)
    second = apply(freeze(first, january), february, limit=1.0)
    found = _taken(second, "composition-k")
    assert found.detail["share-estimated"] == 0
    assert 0.8 < found.detail["share-in-earlier"] < 1
    # the recoding is kept and people have not changed: company are all of the class who come again
    came = Counter(_classes_of_people(first, january).items() & _classes_of_people(second, february).items())
    company = Counter(labels for _, labels in came)
    news = Counter(_classes_of_people(second, february).values())
    expected = [
        company[labels] if person in set(january["patient"]) and company[labels] else news[labels]
        for person, labels in _classes_of_people(second, february).items()
    ]
    assert found.value == min(expected)


def _classes_of_people(release: LinkedRelease, records: dict[str, Any]) -> dict[str, tuple[str | None, ...]]:
    """Find everybody's released labels by the original values: everybody with the same has the same."""
    names = release.schema.quasi_identifiers
    of_values: dict[tuple[Any, ...], tuple[str | None, ...]] = {}
    for place, row in enumerate(release.origin.rows):
        values = tuple(
            release.origin.table[n].domain[release.origin.table[n].codes[row]]
            for n in release.origin.table.names
        )
        of_values[values] = tuple(release.cells[n].labels[release.cells[n].codes[place]] for n in names)
    found = {}
    columns = [records[name] for name in release.origin.table.names]
    for person, own in zip(records["patient"], zip(*columns, strict=True), strict=True):
        if own in of_values:
            found[person] = of_values[own]
    return found


def test_a_kept_recoding_is_safe_where_a_new_one_is_not() -> None:
    january, february = _months()
    first = sanitize(january, WITH_PEOPLE, Mondrian(KAnonymity(8)), seed=1)
    kept = apply(first, february, limit=1.0)
    anew = sanitize(february, WITH_PEOPLE, Mondrian(KAnonymity(8)), seed=1)
    assert _taken(kept, "composition-k").value >= 8
    naive = _taken(_with(anew, first), "composition-k")
    assert naive.detail["share-estimated"] > 0.5
    assert naive.value < 4


def test_several_records_of_one_person_are_one_person() -> None:
    table = {
        "patient": ["a", "a", "b", "c", "d", "d"],
        "age": [21, 21, 22, 23, 24, 25],
        "sex": ["f"] * 6,
        "disease": ["flu", "gout", "flu", "gout", "flu", "gout"],
    }
    now = sanitize(table, WITH_PEOPLE, FullDomain({"age": 2, "sex": 1}, KAnonymity(1)))
    then = sanitize(table, WITH_PEOPLE, FullDomain({"age": 0, "sex": 1}, KAnonymity(1)))
    # a, b, c are alone with their age then, and d is the only one of two ages
    assert _taken(now, "composition-k").value == 4
    assert _taken(_with(now, then), "composition-k").value == 1


def test_a_policy_can_limit_it(tmp_path: Any) -> None:
    from sfumato import Limit, publish
    from sfumato.runtime.errors import PolicyNotMet

    both = _with(_cut("01000"), _cut("00100"))
    with pytest.raises(PolicyNotMet, match="composition-k"):
        publish(both, tmp_path / "out", policy={"composition-k": Limit(at_least=2)})
    publish(both, tmp_path / "out", policy={"composition-loss": Limit(at_most=0.7)})
    assert "privacy loss of all releases together" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_release_that_does_not_know_its_records_is_not_judged() -> None:
    release = with_unknown_rows(_cut("01000"))
    assert _taken(release, "composition-k").value is None


def test_table_of_the_brute_force_is_really_split() -> None:
    """The case called split shows records of one row in several classes."""
    release = sanitize(_records(3), SEVERAL, Mondrian(KAnonymity(4), variant="relaxed"), seed=5)
    assert isinstance(release.origin.table, Table)
    places: defaultdict[int, int] = defaultdict(int)
    for row in release.origin.rows.tolist():
        places[row] += 1
    assert max(places.values()) > 1


def test_a_release_counts_however_many_came_before_it() -> None:
    """Whoever is in the last of a hundred earlier releases is told apart by it; equal ones tell nothing."""
    whole, halves = _cut("00000"), _cut("00100")
    gone = without_rows(halves, np.array([True, False, False, False, False, False]))
    few, many = _with(whole, whole, gone), _with(whole, *[whole] * 99, gone)
    assert _taken(few, "composition-k") == _taken(many, "composition-k")
    assert _taken(few, "composition-loss") == _taken(many, "composition-loss")
    assert _taken(many, "composition-k").value == 2


def test_losses_of_all_people_together_are_counted_by_hand() -> None:
    # 21 and 22 are together in both, 23 is alone, and 24 to 26 are like everybody
    both = _with(_cut("01000"), _cut("00100"))
    everybody = [1 / 3, 1 / 3, 1 / 3]
    two, one = (jensenshannon(each, everybody) ** 2 for each in ([1 / 2, 1 / 2, 0], [0, 0, 1]))
    found = _taken(both, "composition-loss")
    assert found.attribute == "disease"
    assert found.detail["mean"] == pytest.approx((2 * two + one) / 6)
    for threshold, share in ((0.0, 3 / 6), (float(two) + 1e-6, 1 / 6), (0.7, 0.0)):
        (taken,) = measure(both, [CompositionLoss(threshold)])
        assert taken.detail["share-at-risk"] == pytest.approx(share)
    for k, below in ((1, 0), (2, 1 / 6), (3, 3 / 6), (4, 1)):
        (company,) = measure(both, [CompositionK(k)])
        assert company.detail["share-below-k"] == pytest.approx(below)


@given(
    now=st.lists(st.integers(0, 6), max_size=6),
    then=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=9),
)
def test_whoever_had_the_same_classes_then_has_the_same_one_now(
    now: list[int], then: list[tuple[int, int]]
) -> None:
    found = classes_of_people(
        np.array(now, dtype=np.int64),
        np.array([person for person, _ in then], dtype=np.int64),
        np.array([where for _, where in then], dtype=np.int64),
    ).tolist()
    sets = {person: frozenset(where for who, where in then if who == person) for person in now}
    for person, label in zip(now, found, strict=True):
        # who was nowhere is nowhere, and a single class keeps its number
        assert (label == -1) == (not sets[person])
        if len(sets[person]) == 1:
            assert label in sets[person]
        for other, its in zip(now, found, strict=True):
            assert (label == its) == (sets[person] == sets[other])


def test_an_earlier_release_without_records_tells_nothing() -> None:
    now, nobody = _cut("00100"), without_rows(_cut("00100"), np.ones(6, dtype=np.bool_))
    found = _taken(_with(now, nobody), "composition-k")
    assert (found.value, found.detail["share-in-earlier"]) == (3, 0)


def test_what_cannot_be_asked_of_several_releases() -> None:
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        CompositionK(0)
    for threshold in (-0.1, math.nan):
        with pytest.raises(ParameterError, match="threshold must be at least 0"):
            CompositionLoss(threshold)
    ages = Schema((SCHEMA["age"],))
    (taken,) = measure(
        sanitize({"age": AGES}, ages, Cut({"age": "00100"}, KAnonymity(2))), ["composition-loss"]
    )
    assert "no sensitive attribute" in taken.detail["reason"]


def test_company_is_counted_in_classes_and_losses_in_groups() -> None:
    """Everybody is alone with an age, and two by two share what is told of their diseases."""
    release = sanitize(GANTA, SCHEMA, Anatomy(2), seed=1)
    company, loss = _taken(release, "composition-k"), _taken(release, "composition-loss")
    assert (company.value, loss.detail["smallest"]) == (1, 2)
    assert loss.value == _taken(release, "privacy-loss").value


TOWNS = Schema.of(town="quasi-identifying", ill="sensitive")


def _in_towns(towns: str, level: int = 0) -> LinkedRelease:
    people = {"town": list(towns), "ill": [f"i{place}" for place in range(len(towns))]}
    return sanitize(people, TOWNS, FullDomain({"town": level}, KAnonymity(1)))


def test_whom_no_earlier_class_would_take_is_taken_to_be_new() -> None:
    """Of four other people two would have been in the first class, one in the second and one in none."""
    together = _with(_in_towns("aabd", level=1), _in_towns("aabb"))
    (found,) = measure(together, [CompositionK(3)])
    assert (found.detail["share-in-earlier"], found.detail["share-estimated"]) == (3 / 4, 3 / 4)
    # whoever would have been in the second is alone, and the new one has the company of all
    assert (found.value, found.detail["share-below-k"]) == (1, 3 / 4)


def test_who_was_not_there_is_no_company_of_those_who_were() -> None:
    """The third of four people is new, and had no class: neither the last one nor any other."""
    before = Earlier(_in_towns("aba"), (np.arange(4), np.array([0, 1, 3])))
    (found,) = measure(_in_towns("xxyy").with_earlier(before), [CompositionK(2)])
    assert found.detail["share-below-k"] == 3 / 4


def test_who_is_who_is_known_in_releases_of_the_same_records_alone() -> None:
    now, then = _cut("01000"), _cut("00100")
    both = people_of(now, Earlier(then))
    assert both is not None
    assert [sorted(each.tolist()) for each in both] == [list(range(6))] * 2
    for without in (LinkedRelease.unlinked, with_unknown_rows):
        assert people_of(now, Earlier(without(then))) is None
        assert people_of(without(now), Earlier(then)) is None
    others = sanitize(
        {**GANTA, "age": [age + 1 for age in AGES]}, SCHEMA, Cut({"age": "00100"}, KAnonymity(2))
    )
    assert people_of(now, Earlier(others)) is None
    told = np.arange(6), np.arange(6)
    assert people_of(now, Earlier(others, told)) == told


def test_several_classes_of_one_person_are_a_class_of_their_own() -> None:
    """The first two have been in 0 and 1, one in 1, one in 0 and 2, one twice in 0, and the last nowhere."""
    then = [(0, 0), (0, 1), (1, 1), (1, 0), (1, 1), (2, 1), (3, 0), (3, 2), (4, 0), (4, 0)]
    people, classes = np.array(then).T
    one, same, single, other, twice, nobody = classes_of_people(np.array([0, 1, 2, 3, 4, 9]), people, classes)
    assert (single, twice, nobody) == (1, 0, -1)
    assert one == same != other
    assert min(one, other) > 2
