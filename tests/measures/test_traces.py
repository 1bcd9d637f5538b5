"""Trace risk against counting by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import AsIs, Release, Schema, SuppressQuasiIdentifiers, Table, measure, sanitize
from sfumato.errors import ParameterError
from sfumato.measures.traces import TraceRisk

ATTRIBUTES = Schema.of(patient="identifying", place="quasi-identifying", illness="sensitive").attributes
SCHEMA = Schema(ATTRIBUTES, person="patient")


def published(people: list[int], places: list[int], how: Any = None) -> Release:
    table = {"patient": people, "place": places, "illness": ["a"] * len(people)}
    return sanitize(Table.from_arrow(table), SCHEMA, how or AsIs(), seed=0)


def by_hand(people: list[int], places: list[int], known: int | None) -> Fraction:
    """Return the mean chance: for each person over all choices of their records, then over the people."""
    traces: dict[int, Counter[int]] = {person: Counter() for person in people}
    for person, place in zip(people, places, strict=True):
        traces[person][place] += 1
    means = []
    for trace in traces.values():
        records = list(trace.elements())
        choices = [Counter(each) for each in combinations(records, min(known or len(records), len(records)))]
        candidates = [sum(other >= choice for other in traces.values()) for choice in choices]
        means.append(sum((Fraction(1, n) for n in candidates), Fraction()) / len(candidates))
    return sum(means, Fraction()) / len(means)


@st.composite
def visits(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    n = draw(st.integers(2, 14))
    people = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(lambda p: len(set(p)) < n))
    return people, draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))


@given(visits=visits(), known=st.sampled_from([1, 2, 3, None]))
@settings(max_examples=100)
def test_the_chance_is_one_over_those_who_could_have_all_known_records(
    visits: tuple[list[int], list[int]], known: int | None
) -> None:
    (taken,) = measure(published(*visits), [TraceRisk(known)])
    assert taken.value == pytest.approx(float(by_hand(*visits, known)))
    assert taken.detail["known-2"] == pytest.approx(float(by_hand(*visits, 2)))


@given(visits=visits())
@settings(max_examples=50)
def test_whoever_knows_more_records_finds_no_fewer_people(visits: tuple[list[int], list[int]]) -> None:
    (taken,) = measure(published(*visits), [TraceRisk()])
    told = [taken.detail[f"known-{n}"] for n in (1, 2, 3, "all")]
    assert told == sorted(told)
    assert 0 <= taken.detail["share-alone"] <= taken.detail["known-all"] <= 1


def test_where_nothing_is_told_apart_only_the_number_of_records_speaks() -> None:
    release = published([0, 0, 1, 1, 2, 2], [1, 2, 3, 1, 2, 3], SuppressQuasiIdentifiers())
    (taken,) = measure(release, [TraceRisk()])
    assert taken.value == pytest.approx(1 / 3)


def test_a_large_table_is_sampled_and_says_how_far_it_may_be_off() -> None:
    people = [number % 3000 for number in range(30_000)]
    places = [(7 * number + number // 3000) % 40 for number in range(30_000)]
    release = published(people, places)
    (sampled,) = measure(release, [TraceRisk(known=2)])
    assert sampled.interval is not None
    low, high = sampled.interval
    assert low < sampled.value < high
    assert measure(release, [TraceRisk(known=2)])[0].value == sampled.value
    assert measure(release, [TraceRisk()])[0].interval is None


def test_without_several_records_it_says_why_it_does_not_apply() -> None:
    release = published([0, 1, 2], [1, 2, 3])
    (taken,) = measure(release, ["trace-risk"])
    assert taken.value is None
    assert "several records" in str(taken.detail)


def test_nobody_knows_less_than_one_record() -> None:
    with pytest.raises(ParameterError, match="known must be at least 1"):
        TraceRisk(known=0)
