"""Trace risk against counting by hand."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.measures.identity import trace_risk
from sfumato.measures.identity.trace_risk import TraceRisk
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, SuppressQuasiIdentifiers

ATTRIBUTES = Schema.of(patient="identifying", place="quasi-identifying", illness="sensitive").attributes
SCHEMA = Schema(ATTRIBUTES, person="patient")


def published(people: list[int], places: list[int], how: Any = None) -> Release:
    table = {"patient": people, "place": places, "illness": ["a"] * len(people)}
    return sanitize(Table.from_arrow(table), SCHEMA, how or AsIs(), seed=0)


def by_hand(people: list[int], places: list[int], known: int | None) -> Fraction:
    """Return the mean chance: for each person over all choices of their records, then over the people."""
    trace_risk: dict[int, Counter[int]] = {person: Counter() for person in people}
    for person, place in zip(people, places, strict=True):
        trace_risk[person][place] += 1
    means = []
    for trace in trace_risk.values():
        records = list(trace.elements())
        choices = [Counter(each) for each in combinations(records, min(known or len(records), len(records)))]
        candidates = [sum(other >= choice for other in trace_risk.values()) for choice in choices]
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


# two people have been to 1 and 2, one twice to 1, one to 3 alone
FOUR: tuple[list[int], list[int]] = ([0, 0, 1, 1, 2, 2, 3], [1, 2, 1, 2, 1, 1, 3])


def test_every_figure_of_four_people_by_hand() -> None:
    (taken,) = measure(published(*FOUR), [TraceRisk()])
    # one visit to 1 may be that of three, one to 2 that of two
    assert taken.detail == {
        "known-1": pytest.approx((2 * (1 / 3 + 1 / 2) / 2 + 1 / 3 + 1) / 4),
        "known-2": pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4),
        "known-3": pytest.approx(3 / 4),
        "known-all": pytest.approx(3 / 4),
        "worst": 1.0,
        "share-alone": 0.5,
    }
    assert taken.value == pytest.approx(3 / 4)
    assert taken.interval is None
    (once,) = measure(published(*FOUR), [TraceRisk(1)])
    assert (once.value, once.interval) == (taken.detail["known-1"], None)
    (alike,) = measure(published([0, 0, 1, 1], [1, 2, 2, 1]), [TraceRisk()])
    assert (alike.detail["worst"], alike.detail["share-alone"]) == (0.5, 0)


@pytest.mark.parametrize(("pseudonym", "chance"), [(False, (1 / 3 + 1 + 1 / 3) / 3), (True, 2 / 3)])
def test_with_pseudonyms_only_who_has_just_the_same_records_is_a_candidate(
    pseudonym: bool, chance: float
) -> None:
    """Of three people with visits to 1 and 2 one has been to 2 twice."""
    people, places = [0, 0, 1, 1, 1, 2, 2], [1, 2, 1, 2, 2, 1, 2]
    table = {"patient": people, "place": places, "illness": ["a"] * 7}
    schema = Schema(ATTRIBUTES, person="patient", pseudonym=pseudonym)
    (taken,) = measure(sanitize(Table.from_arrow(table), schema, AsIs(), seed=0), [TraceRisk()])
    assert taken.value == pytest.approx(chance)


class TestSamples:
    """Six people: nine visits of each to one place, one to another where two are alone and four in pairs."""

    PEOPLE: ClassVar[list[int]] = [person for person in range(6) for _ in range(10)]
    PLACES: ClassVar[list[list[int]]] = [9 * [0] + [own] for own in (1, 2, 3, 3, 4, 4)]

    def taken(self, known: int) -> Any:
        places = [place for each in self.PLACES for place in each]
        (taken,) = measure(published(self.PEOPLE, places), [TraceRisk(known)])
        return taken

    def test_tell_how_far_their_mean_may_be_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trace_risk, "_MOST_CHOICES", 5)
        found = self.taken(10)
        # with all ten visits known the two are alone, and the others one of two
        n_alone = round((found.value - 0.5) / 0.1)
        chances = [1.0] * n_alone + [0.5] * (5 - n_alone)
        assert found.value == pytest.approx(statistics.fmean(chances))
        reach = 1.96 * statistics.stdev(chances) / math.sqrt(5)
        assert found.interval == pytest.approx((found.value - reach, min(found.value + reach, 1.0)))

    def test_know_no_more_records_than_are_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trace_risk, "_MOST_CHOICES", 5)
        # all visits would tell who is alone; one visit out of ten is one to the place of all
        assert self.taken(1).value < 0.5
        assert self.taken(1) == self.taken(1)

    def test_are_taken_where_there_are_more_choices_than_can_be_looked_at(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of ten visits 45 pairs can be known, of six people 270."""
        release = published(self.PEOPLE, [place for each in self.PLACES for place in each])
        assert release.people is not None
        found = trace_risk._Traces.of(release, release.people)
        for most, sampled in ((270, False), (269, True)):
            monkeypatch.setattr(trace_risk, "_MOST_CHOICES", most)
            assert found._is_sampled(2) == sampled
        monkeypatch.setattr(trace_risk, "_MOST_CHOICES", 6)
        assert not found._is_sampled(11)

    def test_everybody_may_be_drawn_with_as_many_records_as_are_known(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = published(self.PEOPLE, [place for each in self.PLACES for place in each])
        assert release.people is not None
        monkeypatch.setattr(trace_risk, "_MOST_CHOICES", 6)
        drawn = trace_risk._Traces.of(release, release.people)._drawn(3)
        assert sorted(person for person, _ in drawn) == list(range(6))
        assert {len(classes) for _, classes in drawn} == {3}

    def test_no_interval_leaves_what_a_chance_can_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trace_risk, "_MOST_CHOICES", 5)
        monkeypatch.setattr(trace_risk, "_REACH", 100.0)
        assert self.taken(10).interval == (0.0, 1.0)

    def test_begin_beyond_twenty_thousand_choices(self) -> None:
        for n_people, sampled in ((20_000, False), (20_001, True)):
            once, starts = np.ones(n_people, np.int64), np.arange(n_people + 1)
            assert trace_risk._Traces(starts, once, once, starts, once, once)._is_sampled(1) == sampled
