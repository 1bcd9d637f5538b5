"""What predicates single out of a few people, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import SinglingOut
from sfumato.measures.attacks import singling_out
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.record_distances import sight
from sfumato.measures.attacks.singling_out import _control_rate, chance_of_one
from sfumato.measures.attacks.success_rates import rate


def where(people: dict[str, Any], outside: dict[str, Any] | None, n_trial: int = 0) -> Setting:
    schema = sf.Schema.of(dict.fromkeys(people, "quasi-identifying"))
    made = sf.sanitize(pa.table(people), schema, sf.sanitizers.AsIs())
    n_people = len(next(iter(people.values())))
    inside = Listed(made.origin.table, np.arange(n_people) % made.origin.table.n_rows, n_trial)
    others = None if outside is None else Listed(sf.Table.from_arrow(outside), np.arange(1))
    return Setting(made, inside, others, None, "by hand")


def attempts(setting: Setting, *names: str) -> dict[str, Any]:
    found = SinglingOut().attempts(setting, sight(setting.release, names))
    return {each.attacker: each for each in found}


def test_of_one_attribute_rare_and_extreme_values_are_tried() -> None:
    found = attempts(where({"age": [10, 20, 30]}, {"age": [40, 50, 60]}, n_trial=1), "age")
    (only,) = found.values()
    assert list(found) == ["rare and extreme values"]
    for each, n_tries in ((only.trial, 1), (only.judged, 2)):
        assert each.n_tries == n_tries
        assert each.attacked == rate(n_tries, n_tries)
        # whatever is asked, one person of the data has it; of the others three are older
        assert each.control in [rate(n, n_tries) for n in range(n_tries + 1)]


def test_outsiders_are_singled_out_as_often_as_they_are_alone() -> None:
    same = where({"age": [10, 20, 30]}, {"age": [10, 20, 30]})
    assert next(iter(attempts(same, "age").values())).judged.control == rate(3, 3)
    several = where({"age": [10, 20, 30]}, {"age": [10, 10, 20, 20, 30, 30] * 2})
    control = next(iter(attempts(several, "age").values())).judged.control
    # each of four in twelve: one of three people would be one of them in four times of nine
    assert control.value == pytest.approx(4 / 9, abs=0.1)


def test_where_no_predicate_is_found_every_try_fails() -> None:
    (found,) = attempts(where({"age": [10, 10, 10, 10]}, None, n_trial=1), "age").values()
    assert (found.trial.n_tries, found.judged.n_tries) == (1, 3)
    assert (found.judged.attacked, found.judged.control) == (rate(0, 3), None)


def test_one_three_and_all_attributes_are_combined() -> None:
    rng = np.random.default_rng(0)
    people = {name: rng.integers(0, 1000, 12).tolist() for name in "abcde"}
    found = attempts(where(people, None), *people)
    assert list(found) == [
        "rare and extreme values",
        "combinations of 3 attributes",
        "combinations of 5 attributes",
    ]
    for each in found.values():
        assert each.judged.attacked == rate(12, 12)
        assert 0 <= each.judged.guessing.value < 1
    two = {name: people[name] for name in "ab"}
    (told,) = SinglingOut().tried(where(two, None))
    assert told.detail["known"] == "a, b"
    assert list(attempts(where(two, None), *two)) == [
        "rare and extreme values",
        "combinations of 2 attributes",
    ]


def test_made_up_predicates_succeed_as_often_as_they_are_true_of_one() -> None:
    # 60 people of two ages: no predicate that is made up is true of exactly one of them
    (found,) = attempts(where({"age": [10, 20] * 30}, None), "age").values()
    assert found.judged.guessing == rate(0, 60)
    # everybody has an age of their own, and is asked for it, or for what is above or below: few are alone
    (found,) = attempts(where({"age": list(range(60))}, None, n_trial=20), "age").values()
    assert found.trial.guessing == found.judged.guessing
    assert 0 < found.judged.guessing.value < 0.3
    assert found.judged.guessing == rate(found.judged.guessing.value * 60, 60)


class TestControlRate:
    def test_as_many_outsiders_are_counted(self) -> None:
        assert _control_rate(np.array([1, 1, 0, 5]), (100, 100), 8) == rate(2, 8)
        assert _control_rate(np.array([], dtype=np.int64), (100, 10), 8) == rate(0, 8)

    @pytest.mark.parametrize("counts", [[0, 0, 1, 2], [1, 1, 1, 0]])
    @pytest.mark.parametrize(("n_inside", "n_outside"), [(1000, 10), (10, 1000)])
    def test_of_fewer_or_more_it_is_told_what_as_many_would_show(
        self, counts: list[int], n_inside: int, n_outside: int
    ) -> None:
        counted = np.array(counts)
        found = _control_rate(counted, (n_inside, n_outside), 8)
        scaled = rate(4 * chance_of_one(counted, n_outside, n_inside), 8)
        plain = rate(counts.count(1), 8)
        assert (found.value, found.middle) == (scaled.value, scaled.middle)
        # few people tell of many with more doubt, never with less
        stretch = max(scaled.middle / plain.middle, 1)
        assert found.reach == max(scaled.reach, plain.reach * stretch)

    def test_what_few_people_tell_of_many_is_in_doubt_by_as_much_as_it_is_stretched(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(singling_out, "chance_of_one", lambda *facts: 0.9)
        found = _control_rate(np.array([1, 0, 0, 0]), (1000, 10), 8)
        seen, expected = rate(1, 8), rate(3.6, 8)
        assert found.value == expected.value == 3.6 / 8
        assert found.reach == pytest.approx(seen.reach * expected.middle / seen.middle)
        assert found.reach > expected.reach
        # where less is expected than was seen it is not surer than what was seen
        monkeypatch.setattr(singling_out, "chance_of_one", lambda *facts: 0.1)
        found = _control_rate(np.array([1, 1, 1, 0]), (1000, 10), 8)
        assert found.reach == rate(3, 8).reach > rate(0.4, 8).reach


class TestChanceOfOne:
    def test_many_people_are_no_trouble(self) -> None:
        # half of the predicates are true of half of the people: of one of two, half of the time
        assert chance_of_one(np.array([0, 1000]), 2000, 2) == pytest.approx(0.25, abs=0.01)

    def test_what_is_rarer_than_can_be_seen_may_be_true_of_one_of_many(self) -> None:
        assert chance_of_one(np.array([0] * 199 + [1]), 10, 10_000) > 0.05

    @pytest.mark.parametrize(("count", "n_people", "expected"), [(50, 1, 0.5), (50, 2, 0.5), (25, 2, 0.375)])
    def test_it_is_n_w_by_who_else_is_not(self, count: int, n_people: int, expected: float) -> None:
        counts = np.full(200, count)
        assert chance_of_one(counts, 100, n_people) == pytest.approx(expected, abs=0.03)

    def test_of_one_person_it_is_the_mean_share(self) -> None:
        assert chance_of_one(np.array([0, 0, 0, 40]), 100, 1) == pytest.approx(0.1, abs=0.01)
        assert chance_of_one(np.array([100, 100, 0]), 100, 1) == pytest.approx(2 / 3, abs=0.01)

    def test_what_is_true_of_nobody_or_of_everybody_is_true_of_no_single_one(self) -> None:
        assert chance_of_one(np.zeros(5, dtype=np.int64), 100, 1000) < 0.03
        assert chance_of_one(np.full(5, 100), 100, 1000) < 1e-6
