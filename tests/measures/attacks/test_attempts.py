"""What each attacker gets of a few people, worked out by hand."""

from __future__ import annotations

import collections
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import AttackRisk, Inference, Linkability, Membership, SinglingOut
from sfumato.measures.attacks.attack import AttackTried, Outcome, attempted, worst
from sfumato.measures.attacks.attack_setting import Listed, Setting, drawn_people, setting_of
from sfumato.measures.attacks.linkability import _nearest_records
from sfumato.measures.attacks.success_rates import advantage, rate, risk
from sfumato.results.inapplicable import NotApplicable
from sfumato.runtime.errors import ParameterError

ATTRIBUTES = {
    "age": sf.Attribute("age", "quasi-identifying", "numeric"),
    "ill": sf.Attribute("ill", "sensitive"),
    "pay": sf.Attribute("pay", "sensitive", "numeric"),
}


def setting(inside: dict[str, Any], outside: dict[str, Any] | None, n_trial: int = 0) -> Setting:
    """Return a setting in which everybody is released as they are and everybody is attacked."""
    schema = sf.Schema(tuple(ATTRIBUTES[name] for name in inside))
    release = sf.sanitize(pa.table(inside), schema, sf.sanitizers.AsIs())
    original = release.origin.table
    assert original is not None
    outsiders = None if outside is None else listed(sf.Table.from_arrow(outside), n_trial)
    return Setting(release, listed(original, n_trial), outsiders, None, "by hand")


def listed(table: sf.Table, n_trial: int) -> Listed:
    return Listed(table, np.repeat(np.arange(table.n_rows), table.weights), n_trial)


def rates(outcome: Outcome) -> list[float | None]:
    control = None if outcome.control is None else outcome.control.value
    return [outcome.attacked.value, control, outcome.guessing.value]


def tries(measure: Inference, where: Setting, name: str) -> dict[str, AttackTried]:
    return {each.attacker: each for each in measure.attempts(where, name, ("age",))}


class TestInference:
    ILL: ClassVar[dict[str, Any]] = {"age": [10, 10, 10, 20], "ill": ["flu", "flu", "gout", "cold"]}

    def test_the_likeliest_value_of_the_nearest_records_is_guessed(self) -> None:
        where = setting(self.ILL, {"age": [12, 19], "ill": ["gout", "cold"]})
        found = tries(Inference(miners=()), where, "ill")["likeliest among the nearest records"]
        # flu of everybody near 10, which is wrong of one; the outsider of 12 has gout; flu is the commonest
        assert rates(found.judged) == [3 / 4, 1 / 2, 1 / 2]
        assert (found.judged.n_tries, found.judged.risk.value) == (4, 1 / 2)
        assert rates(found.trial) == [0, 0, 0]

    def test_who_is_best_is_found_with_others_than_those_who_judge(self) -> None:
        where = setting(self.ILL, {"age": [12, 19], "ill": ["gout", "cold"]}, n_trial=1)
        found = tries(Inference(miners=()), where, "ill")["likeliest among the nearest records"]
        assert (found.trial.n_tries, found.judged.n_tries) == (1, 3)
        everybody = found.trial.attacked.value + 3 * found.judged.attacked.value
        assert everybody == pytest.approx(3)

    def test_without_outsiders_it_is_compared_with_guessing(self) -> None:
        found = tries(Inference(miners=()), setting(self.ILL, None), "ill")
        outcome = found["likeliest among the nearest records"].judged
        assert rates(outcome) == [3 / 4, None, 1 / 2]
        assert outcome.risk.value == 1 / 2

    def test_a_number_is_guessed_right_within_a_twentieth_of_it(self) -> None:
        where = setting(
            {"age": [10, 20, 30], "pay": [100, 200, None]},
            {"age": [10, 10, 20, 20, 30, 30], "pay": [105, 106, 209, 211, None, 5]},
        )
        found = tries(Inference(miners=()), where, "pay")["a nearest record"]
        # 100 is guessed of 105 and 106, 200 of 209 and 211, and missing of missing
        assert rates(found.judged)[:2] == [1, 3 / 6]

    def test_what_occurs_nowhere_is_never_guessed(self) -> None:
        found = tries(
            Inference(miners=()), setting(self.ILL, {"age": [10, 20], "ill": ["plague", "cold"]}), "ill"
        )
        assert rates(found["likeliest among the nearest records"].judged)[1] == 1 / 2

    def test_every_sensitive_attribute_is_guessed_unless_one_is_given(self) -> None:
        both = {**self.ILL, "pay": [1, 2, 3, 4]}
        where = setting(both, None)
        assert [each.attribute for each in Inference(miners=()).tried(where)] == ["ill", "pay"]
        one = list(Inference(miners=(), attribute="pay").tried(where))
        assert [each.attribute for each in one] == ["pay"]
        # an attribute that is not sensitive is no attribute of the measurement
        (age,) = Inference(miners=(), attribute="age", known=("ill", "pay")).tried(where)
        assert (age.attribute, age.detail["known"]) == (None, "ill, pay")

    def test_what_is_not_released_is_not_guessed(self) -> None:
        where = setting({**self.ILL, "pay": [1, 2, 3, 4]}, None)
        cells = {name: each for name, each in where.release.cells.items() if name != "ill"}
        part = replace(where, release=replace(where.release, cells=cells))
        assert [each.attribute for each in Inference(miners=()).tried(part)] == ["pay"]

    def test_without_a_sensitive_attribute_there_is_nothing_to_guess(self) -> None:
        with pytest.raises(NotApplicable, match="no attribute is sensitive"):
            list(Inference(miners=()).tried(setting({"age": [1, 2]}, None)))


def test_whom_a_record_fits_is_said_to_be_in_the_data() -> None:
    where = setting({"age": [10, 20]}, {"age": [10, 15, 18, 30]})
    (found,) = Membership().tried(where)
    assert (found.detail["attacked"], found.detail["control"]) == (1, 1 / 4)
    assert found.value == pytest.approx(3 / 4)
    assert (found.detail["attacker"], found.detail["known"]) == ("some record fits", "age")
    assert (found.detail["tries"], found.detail["control-group"]) == (2, "by hand")
    # who says it without the release says it of as many as of outsiders
    assert found.detail["guessing"] == 1 / 4


class TestLinkability:
    WHERE: ClassVar[dict[str, Any]] = {"age": [10, 20, 30], "size": [1, 2, 3], "town": ["x", "y", "z"]}

    def where(self) -> Setting:
        attributes = (
            sf.Attribute("age", "quasi-identifying", "numeric"),
            sf.Attribute("size", "quasi-identifying", "numeric"),
            sf.Attribute("town", "quasi-identifying"),
        )
        release = sf.sanitize(pa.table(self.WHERE), sf.Schema(attributes), sf.sanitizers.AsIs())
        outside = sf.Table.from_arrow({"age": [10, 30], "size": [1, 1], "town": ["x", "x"]})
        return Setting(release, listed(release.origin.table, 0), listed(outside, 0), None, "by hand")

    def test_somebody_is_linked_whose_parts_lie_nearest_to_one_record(self) -> None:
        attack = Linkability(("age",), other=("size",), neighbours=1)
        (found,) = attack.tried(self.where())
        # of the outsiders the first fits one record and the second two; by chance it is one of three
        assert [found.detail[each] for each in ("attacked", "control", "guessing")] == [
            1,
            1 / 2,
            pytest.approx(1 / 3),
        ]
        assert found.value == 1
        assert (found.detail["known"], found.detail["attacker"]) == ("age | size", "nearest records")

    @pytest.mark.parametrize(
        ("known", "other", "told"),
        [
            ((), (), "age, town | size"),
            (("size",), (), "size | age, town"),
            ((), ("size",), "age, town | size"),
            (("town",), ("age", "size"), "town | age, size"),
        ],
    )
    def test_the_two_sources_share_the_quasi_identifiers(
        self, known: tuple[str, ...], other: tuple[str, ...], told: str
    ) -> None:
        (found,) = Linkability(known, other=other).tried(self.where())
        assert found.detail["known"] == told

    def test_two_draws_of_two_of_four_have_one_in_common_five_times_of_six(self) -> None:
        where = setting({"age": [1, 2, 3, 4], "ill": list("abcd")}, None)
        (found,) = Linkability(("age",), other=("ill",), neighbours=2).tried(where)
        assert found.detail["guessing"] == pytest.approx(5 / 6)
        # everybody's own record is nearest to both, whatever the second nearest are
        assert found.detail["attacked"] == 1
        # more neighbours than records are all of them
        (all_of_them,) = Linkability(("age",), other=("ill",), neighbours=9).tried(where)
        assert all_of_them.detail["guessing"] == 1

    def test_four_quasi_identifiers_are_dealt_out_in_turn(self) -> None:
        schema = sf.Schema.of(dict.fromkeys("abcd", "quasi-identifying"))
        release = sf.sanitize(pa.table({name: [1, 2] for name in "abcd"}), schema, sf.sanitizers.AsIs())
        assert Linkability()._sources(release) == (("a", "c"), ("b", "d"))

    def test_records_are_numbered_row_by_row(self) -> None:
        schema = sf.Schema((ATTRIBUTES["age"],))
        release = sf.sanitize(pa.table({"age": [10, 10, 20, 30]}), schema, sf.sanitizers.AsIs())
        people = listed(sf.Table.from_arrow({"age": [10, 20, 30]}), 0)
        for drawn, expected in ((0.0, [0, 2, 3]), (0.9, [1, 2, 3])):
            found = _nearest_records(release, ("age",), people, np.full((3, 1), drawn))
            assert found.dtype == np.int64
            assert found.ravel().tolist() == expected

    def test_somebody_is_near_and_known_from_one_source(self) -> None:
        with pytest.raises(ParameterError, match="neighbours must be at least 1, not 0"):
            Linkability(neighbours=0)
        with pytest.raises(ParameterError, match="'age' is both in known and in other"):
            Linkability(("age",), other=("age",))

    def test_one_quasi_identifier_is_no_two_sources(self) -> None:
        with pytest.raises(NotApplicable, match="one quasi-identifier only"):
            list(Linkability().tried(setting({"age": [1, 2], "ill": ["a", "b"]}, None)))


def test_attacks_that_cannot_be_tried_are_named_with_the_reason() -> None:
    where = setting({"age": [1, 2, 3, 4], "ill": list("abcd")}, None)
    (found,) = AttackRisk(miners=()).tried(where)
    assert set(found.detail["not-tried"]) == {"linkability", "membership"}
    assert set(found.detail["attacks"]) == {"singling-out", "inference of ill"}
    assert found.value == max(found.detail["attacks"].values())
    (one,) = AttackRisk(known=("age",), miners=()).tried(setting({"age": [1, 2, 3]}, {"age": [1, 2, 9]}))
    # of one known attribute nothing can be linked, and nothing is sensitive
    assert set(one.detail["attacks"]) == {"singling-out", "membership"}
    assert "not-tried" not in one.detail


def test_where_no_attack_can_be_tried_every_reason_is_told() -> None:
    of_a_group: Any = "some group"
    where = replace(setting({"age": [1, 2]}, None), group=of_a_group)
    with pytest.raises(
        NotApplicable, match=r"^singling-out: .*; linkability: .*; membership: nobody is known"
    ):
        AttackRisk(miners=()).tried(where)


def test_every_attacker_is_told_what_is_known() -> None:
    where = setting({"age": [1, 2], "pay": [3, 4], "ill": ["a", "b"]}, None)
    attacks = {
        each.name: each
        for each in AttackRisk(("age", "pay", "ill"), people=7, seed=5, miners=())._attacks(where)
    }
    assert list(attacks) == ["singling-out", "linkability", "inference", "membership"]
    assert {(each.people, each.seed) for each in attacks.values()} == {(7, 5)}
    linkability, inference = attacks["linkability"], attacks["inference"]
    assert isinstance(linkability, Linkability)
    assert isinstance(inference, Inference)
    assert (linkability.known, linkability.other) == (("age", "ill"), ("pay",))
    assert (inference.known, inference.miners) == (("age", "pay", "ill"), ())


def test_an_attack_that_gets_nothing_is_not_the_worst() -> None:
    # everybody has the same illness, which is guessed of outsiders as well
    where = setting({"age": [1, 2, 3, 4], "ill": ["a"] * 4}, {"age": [1, 2, 3, 14], "ill": ["a"] * 4})
    (found,) = AttackRisk(miners=()).tried(where)
    risks = found.detail["attacks"]
    assert risks["inference of ill"] == 0
    assert 0 < max(risks.values()) < 1
    assert found.value == max(risks.values()) == risks[found.detail["worst"]]
    attacks = {"singling-out": SinglingOut(), "membership": Membership()}
    (worst,) = attacks[found.detail["worst"]].tried(where)
    assert found.interval == worst.interval


def test_what_is_known_is_dealt_out_to_two_sources() -> None:
    where = setting({"age": [1, 2]}, None)
    linkability = next(
        each for each in AttackRisk(tuple("abcde"))._attacks(where) if each.name == "linkability"
    )
    assert isinstance(linkability, Linkability)
    assert (linkability.known, linkability.other) == (("a", "c", "e"), ("b", "d"))


class TestAttempts:
    def test_the_first_are_for_the_trial_and_the_others_judge(self) -> None:
        table = sf.Table.from_arrow({"age": [1, 2, 3, 4]})
        where = Setting(
            sf.sanitize(pa.table({"age": [1]}), sf.Schema.of(age="quasi-identifying"), sf.sanitizers.AsIs()),
            Listed(table, np.arange(4), 1),
            Listed(table, np.arange(3), 2),
            None,
            "",
        )
        right = np.array([True, True, False, False])
        found = attempted("somebody", where, right, right[:3], np.array([0.5, 0.0, 0.25, 0.5]), advantage)
        assert rates(found.trial) == [1, 1, 0.5]
        assert rates(found.judged) == [1 / 3, 0, 0.25]
        assert (found.trial.n_tries, found.judged.n_tries) == (1, 3)
        assert found.judged.risk == advantage(rate(1, 3), rate(0, 1))
        assert attempted("somebody", where, right, None, right).judged.risk == risk(rate(1, 3), rate(1, 3))

    def test_the_worst_is_chosen_by_the_trial_and_the_first_of_equals(self) -> None:
        def tried(name: str, trial: int, judged: int) -> AttackTried:
            outcomes = [Outcome(rate(right, 10), rate(0, 10), rate(0, 10), 10) for right in (trial, judged)]
            return AttackTried(name, *outcomes)

        assert worst([tried("a", 2, 9), tried("b", 6, 1), tried("c", 6, 8)]).attacker == "b"


class TestWhoIsDrawn:
    def test_nobody_is_drawn_twice_and_the_others_are_left(self) -> None:
        table, _ = sf.Schema.of(age="quasi-identifying").bind(sf.Table.from_arrow({"age": [1, 1, 1, 2, 3]}))
        for n_drawn in (0, 2, 5, 9):
            rows, left = drawn_people(table, n_drawn, np.random.default_rng(n_drawn))
            counts = collections.Counter(rows.tolist())
            assert len(rows) == min(n_drawn, 5)
            assert [counts[row] + left[row] for row in range(table.n_rows)] == table.weights.tolist()

    def test_half_as_many_more_serve_to_choose_and_who_is_left_is_known_of(self) -> None:
        n = 400
        table = {"age": list(range(n)), "ill": ["a", "b"] * (n // 2)}
        schema = sf.Schema(tuple(ATTRIBUTES[name] for name in table))
        release = sf.sanitize(pa.table(table), schema, sf.sanitizers.AsIs())
        where = setting_of(release, None, 20, 0)
        assert where.outside is not None
        assert where.reference is not None
        for each in (where.inside, where.outside):
            assert (len(each.rows), each.n_trial) == (30, 10)
        # a fifth is left out: thirty of them are attacked, the others are the attacker's to learn from
        assert where.release.n_records == 320
        assert where.told == "80 people, left out of a release that was made anew and is attacked"
        assert where.reference.n_records == 50

    def test_of_few_people_none_can_be_left_out(self) -> None:
        release = sf.sanitize(
            pa.table({"age": [1, 2]}), sf.Schema.of(age="quasi-identifying"), sf.sanitizers.AsIs()
        )
        where = setting_of(release, None, 20, 0)
        assert (where.outside, where.told) == (None, "none: there are too few people to leave some out")
