"""m-invariance by hand and by brute force, over releases of groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Schema, Table, measure, publish, sanitize, verify
from sfumato.measures import Measurement
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.origin import Earlier
from sfumato.results.release import Release
from sfumato.sanitizers import Anatomy, Mondrian

SCHEMA = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("disease", "sensitive")))


def _grouped(diseases: list[str], groups: list[int]) -> LinkedRelease:
    """Release people of ages 20, 21, … with their diseases told for groups; a group below 0 is left out."""
    table, schema = SCHEMA.bind(
        Table.from_arrow({"age": [20 + n for n in range(len(diseases))], "disease": diseases})
    )
    kept = np.flatnonzero(np.array(groups) >= 0)
    return replace(released(table, schema, {}, kept), group_of=np.array(groups)[kept])


def _taken(now: LinkedRelease, *then: Release) -> Measurement:
    (found,) = measure(now.with_earlier(*then), ["m-invariance"])
    return found


SICK = ["flu", "gout", "cold", "flu", "gout", "cold"]


def test_the_same_values_around_everybody_are_invariant() -> None:
    first, second = _grouped(SICK, [0, 0, 1, 1, 2, 2]), _grouped(SICK, [0, 0, 2, 1, 1, 2])
    # flu and gout, cold and flu, gout and cold; then flu and gout, flu and gout, cold and cold
    assert _taken(first).value == 2
    found = _taken(second, first)
    assert found.value == 0
    third = _grouped(SICK, [0, 1, 1, 0, 0, 1])
    assert _taken(third).value == 0  # two of them have the flu


def test_people_may_change_their_group_but_not_its_values() -> None:
    sick = ["flu", "gout", "flu", "gout"]
    first, second = _grouped(sick, [0, 0, 1, 1]), _grouped(sick, [0, 1, 1, 0])
    assert _taken(second, first).value == 2
    assert _taken(second, first).detail["share-changed"] == 0


def test_who_sees_other_values_than_before_is_counted() -> None:
    """The attack of the paper: gout and flu before, flu and cold now, so it is the flu."""
    sick = ["flu", "gout", "cold", "asthma"]
    first, second = _grouped(sick, [0, 0, 1, 1]), _grouped(sick, [0, 1, 0, 1])
    assert _taken(first).value == _taken(second).value == 2
    found = _taken(second, first)
    assert (found.value, found.detail["share-changed"]) == (0, 1)


def test_who_was_not_there_before_has_no_signature_to_keep() -> None:
    sick = ["flu", "gout", "cold", "asthma"]
    first, second = _grouped(sick, [0, 0, -1, -1]), _grouped(sick, [0, 0, 1, 1])
    assert _taken(second, first).value == 2


@given(st.integers(4, 9), st.integers(0, 2**32 - 1))
def test_against_looking_at_everybody(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sick = rng.choice(["flu", "gout", "cold", "asthma"], n).tolist()
    if len(set(sick)) < 2:
        sick[:2] = ["flu", "gout"]
    groups = [rng.integers(-1, 3, n).tolist() for _ in range(2)]
    for each in groups:
        each[0] = 0
    assert _taken(*(_grouped(sick, each) for each in groups)).value == _largest_m(sick, groups)


def _largest_m(sick: list[str], groups: list[list[int]]) -> int:
    """Try every m, as the definition is written."""

    def around(each: list[int], person: int) -> list[str]:
        return [sick[other] for other in range(len(sick)) if each[other] == each[person]]

    def invariant(m: int) -> bool:
        for person in range(len(sick)):
            mine = [around(each, person) for each in groups if each[person] >= 0]
            if any(len(values) < m or len(set(values)) < len(values) for values in mine):
                return False
            if len({frozenset(values) for values in mine}) > 1 and groups[0][person] >= 0:
                return False
        return True

    return max((m for m in range(1, len(sick) + 1) if invariant(m)), default=0)


def test_anatomy_twice_is_rarely_invariant_and_the_report_says_so(tmp_path: Any) -> None:
    table, schema = datasets.hospital()
    first, second = (sanitize(table, schema, Anatomy(2), seed=seed) for seed in (1, 2))
    publish(second.with_earlier(first), tmp_path / "out", policy="none", allow_singling_out=True)
    assert "m-invariance" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert verify(tmp_path / "out")


def test_where_nobody_knows_who_is_who_it_does_not_apply() -> None:
    table, schema = datasets.hospital()
    release = sanitize(table, schema, Mondrian(KAnonymity(3)))
    published = release.unlinked()
    assert _taken(release, published).value is None


@pytest.mark.parametrize("person", ["who", None])
def test_several_records_of_a_person_are_outside_of_the_definition(person: str | None) -> None:
    schema = Schema((Attribute("who", "identifying"), *SCHEMA.attributes), person=person)
    table = {"who": ["a", "a", "b", "c"], "age": [1, 2, 3, 4], "disease": ["flu", "gout", "flu", "gout"]}
    release = sanitize(table, schema, Anatomy(2), seed=1)
    assert (_taken(release).value is None) == (person is not None)


FOUR = ["flu", "gout", "cold", "asthma"]


def test_every_release_must_have_groups_of_m() -> None:
    whole, halves = _grouped(FOUR, [0, 0, 0, 0]), _grouped(FOUR, [0, 0, 1, 1])
    assert _taken(whole).value == 4
    # nobody of these was in the earlier release, whose groups are smaller
    others = Earlier(halves, (np.arange(4), np.arange(4) + 10))
    (found,) = measure(whole.with_earlier(others), ["m-invariance"])
    assert (found.value, found.attribute) == (2, "disease")


def test_groups_that_repeat_a_value_are_counted_in_people() -> None:
    found = _taken(_grouped(["flu", "flu", "gout", "cold", "asthma"], [0, 0, 0, 1, 1]))
    assert (found.value, found.detail) == (0, {"share-changed": 0.0, "share-repeated": 3 / 5})


def test_signatures_are_compared_by_their_values_whichever_comes_first() -> None:
    """Two people had the values then that two others have now, and the other way round."""
    now, then = _grouped(FOUR, [0, 0, 1, 1]), _grouped([*FOUR[2:], *FOUR[:2]], [0, 0, 1, 1])
    again = Earlier(then, (np.arange(4), np.arange(4)))
    (found,) = measure(now.with_earlier(again), ["m-invariance"])
    assert (found.value, found.detail["share-changed"]) == (0, 1)
    fewer = Earlier(then, (np.array([0, 5, 6, 3]), np.arange(4)))
    (found,) = measure(now.with_earlier(fewer), ["m-invariance"])
    assert (found.value, found.detail["share-changed"]) == (0, 1 / 2)


@pytest.mark.parametrize(("now", "then"), [([0, 1, 2, 2], [0, 1, 2, 3]), ([0, 1, 2, 3], [0, 1, 1, 3])])
def test_whoever_comes_twice_in_one_release_is_outside_of_the_definition(
    now: list[int], then: list[int]
) -> None:
    halves = _grouped(FOUR, [0, 0, 1, 1])
    earlier = Earlier(halves, (np.array(now), np.array(then)))
    (found,) = measure(halves.with_earlier(earlier), ["m-invariance"])
    assert "somebody has several records" in found.detail["reason"]


def test_an_earlier_release_without_the_attribute_tells_nothing_of_it() -> None:
    now = _grouped(FOUR, [0, 0, 1, 1])
    without = Schema((SCHEMA["age"],))
    table, schema = without.bind(Table.from_arrow({"age": [20, 21, 22, 23]}))
    same = Earlier(released(table, schema, {}), (np.arange(4), np.arange(4)))
    (found,) = measure(now.with_earlier(same), ["m-invariance"])
    assert found.detail["reason"] == "an earlier release does not have 'disease'"


def test_without_a_sensitive_attribute_there_is_nothing_to_keep() -> None:
    release = sanitize({"age": [1, 2]}, Schema((SCHEMA["age"],)), Mondrian(KAnonymity(1)))
    assert _taken(release).detail["reason"] == "the release has no sensitive attribute"
