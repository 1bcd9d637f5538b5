"""What an adversary gains, worked out by hand from predictions that are handed in."""

from __future__ import annotations

import math
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import Adversary, AntiUtility, Scenario
from sfumato.measures.scenarios import anti_utility, predictions
from sfumato.measures.scenarios.anti_utility import (
    _Attack,
    _beyond_control,
    _compared,
    _Counted,
    _Gain,
    _Gained,
    _knows_meanings,
    _most,
    _People,
    _told_anyway,
)
from sfumato.measures.scenarios.control import Control
from sfumato.miners.base import Predictions
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease

SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("ill", "sensitive"),
        sf.Attribute("job", "sensitive"),
    )
)
PEOPLE = {"age": [20, 22, 31, 35], "ill": list("abab"), "job": list("xxyy")}
# what miners say of the illness of the four people: right of three of them, of two and of all
SAID = {"majority": [0, 1, 0, 0], "naive-bayes": [1, 1, 1, 1], "random-tree": [0, 1, 0, 1]}


def release(level: int = 0) -> sf.results.LinkedRelease:
    return sf.sanitize(
        pa.table(PEOPLE), SCHEMA, sf.sanitizers.FullDomain({"age": level}, sf.models.KAnonymity(1))
    )


def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
    domain = (
        release.origin.table[name].domain
        if isinstance(release, LinkedRelease)
        else release.cells[name].labels
    )
    codes = {each: SAID.get(each, [0] * 4) for each in miners if each != "one-rule"}
    found = [
        Predictions(name, each, "category", domain, np.arange(4), release.weights, np.array(code), 2, 0.0)
        for each, code in codes.items()
    ]
    return found, [each for each in miners if each == "one-rule"]


@pytest.fixture
def handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "predictions", said)


def attack(*miners: str, weights: Any = 1.0, **facts: Any) -> Scenario:
    names = facts.pop("names", ("ill",))
    return Scenario(adversary=Adversary(names, weights, miners=miners, **facts), control=0.0)


class TestMeasurement:
    def test_the_worst_miner_counts_and_the_others_are_told(self, handed_in: None) -> None:
        (found,) = AntiUtility(attack("naive-bayes", "majority", "one-rule")).measure(release())
        assert found.value == 0.75
        radius = 1.959964 * math.sqrt(0.75 * 0.25 / 4)
        assert found.interval == pytest.approx((0.75 - radius, 0.75 + radius))
        assert found.detail["miners"] == {"naive-bayes": 2, "majority": 3, "all together": 2}
        assert (found.detail["worst-miner"], found.detail["worst-sum"]) == ("majority", 3)
        # the vote is no miner, and not counted in the average
        assert found.detail["average-sum"] == 2.5
        assert (found.detail["exact"], found.detail["nearer"]) == (0.75, 0)
        assert (found.detail["attributes"], found.detail["unfinished"]) == ("ill", "one-rule")
        assert (found.attribute, found.axis, found.better) == ("ill", "privacy", "lower")
        assert AntiUtility.guards == "attribute"
        # the release tells every illness anyway; whoever says what the first miner says is right of three
        assert (found.detail["told-anyway"], found.baseline) == (1, 0.75)

    def test_weights_say_who_matters(self, handed_in: None) -> None:
        scenario = attack("naive-bayes", "majority", weights="age - 20")
        (found,) = AntiUtility(scenario).measure(release())
        # 0, 2, 11 and 15: the first miner is right of 2 and 15, the second of 0, 2 and 11
        assert (found.detail["worst-miner"], found.value) == ("naive-bayes", 17 / 28)
        # at 0 or 1 around 17/28
        spread = 2**2 * (11 / 28) ** 2 + 15**2 * (11 / 28) ** 2 + 11**2 * (17 / 28) ** 2
        radius = 1.959964 * math.sqrt(spread) / 28
        assert found.interval == pytest.approx((17 / 28 - radius, 17 / 28 + radius))
        with pytest.raises(NotApplicable, match="0 for every record"):
            AntiUtility(attack("majority", weights=0)).measure(release())

    def test_of_several_attributes_the_one_that_gives_most_away_counts(self, handed_in: None) -> None:
        (found,) = AntiUtility(attack("naive-bayes", names=("ill", "job"))).measure(release())
        # b is right of the second and the fourth, y of the third and the fourth
        assert found.value == 0.75
        assert (found.detail["attributes"], found.attribute) == ("ill, job", None)
        (age,) = AntiUtility(attack("majority", names=("age",), guesses="values")).measure(release())
        assert age.attribute is None

    def test_by_default_the_sensitive_attributes_are_attacked(self, handed_in: None) -> None:
        (found,) = AntiUtility(attack("majority", names=())).measure(release())
        assert found.detail["attributes"] == "ill, job"
        plain = sf.sanitize(
            pa.table({"age": [1, 2]}), sf.Schema.of(age="quasi-identifying"), sf.sanitizers.AsIs()
        )
        with pytest.raises(NotApplicable, match="names no attacked attribute, and none is sensitive"):
            AntiUtility(attack("majority", names=())).measure(plain)

    def test_a_formula_is_judged_by_what_is_released_for_the_record(self, handed_in: None) -> None:
        # 20 and 22 are released as their middle, 21; 31 and 35 as 33. 22 is predicted of the first two
        scenario = attack("majority", names=("age",), reduction="released = 33", guesses="values")
        (found,) = AntiUtility(scenario).measure(release(1))
        assert (found.value, found.detail["exact"], found.detail["nearer"]) == (0.5, 0.5, 0.5)
        scenario = attack("majority", names=("age",), reduction="abs(released - true)", guesses="values")
        (found,) = AntiUtility(scenario).measure(release(1))
        assert found.detail["worst-sum"] == 1 + 1 + 2 + 2

    def test_votes_are_counted_where_they_are_wanted(self, handed_in: None) -> None:
        (found,) = AntiUtility(attack("naive-bayes", "majority", fusion=False)).measure(release())
        assert set(found.detail["miners"]) == {"naive-bayes", "majority"}

    def test_without_anybody_who_says_the_same_of_all_there_is_no_baseline(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def without(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
            return said(release, name, [each for each in miners if each != "majority"], scenario)

        monkeypatch.setattr(predictions, "predictions", without)
        (found,) = AntiUtility(attack("naive-bayes")).measure(release())
        assert (found.value, found.baseline) == (0.5, None)

    def test_one_miner_at_least_must_come_to_an_end(self, handed_in: None) -> None:
        with pytest.raises(NotApplicable, match="no miner finished for 'ill', 'job'; raise time-limit"):
            AntiUtility(attack("one-rule", names=("ill", "job"))).measure(release())


class TestSums:
    def test_people_are_counted_with_their_weights(self) -> None:
        people = _People.of(np.array([1.0, 3.0]), np.array([2, 1]))
        assert (people.total, people.squares) == (5, 11)
        gained = _Gained(worth=2, exact=0, nearer=0, products=2, squares=2)
        assert people.share(gained) == 0.4
        assert people.error(gained) == pytest.approx(math.sqrt(2 - 2 * 0.4 * 2 + 0.16 * 11) / 5)
        # rounding below 0 is no error
        assert people.error(_Gained(0, 0, 0, 0, -1e-18)) == 0

    def test_gains_are_added_up_over_records(self) -> None:
        gain = _Gain(
            np.array([0, 1, 1]),
            np.array([2, 1, 3]),
            np.array([1.0, 0.5, 0.0]),
            np.array([1.0, 0.0, 0.0]),
            np.array([0.0, 1.0, 1.0]),
        )
        weights = np.array([1.0, 10.0])
        assert astuple(gain.added(_Counted(weights))) == (2 + 5, 2, 40, 2 + 50, 2 + 25)
        some = _Counted(weights, np.array([4, 1]))
        assert astuple(gain.added(some)) == (4 + 5, 4, 20, 4 + 50, 4 + 25)

    def test_the_best_attribute_counts_piece_by_piece(self) -> None:
        two, three, nothing = np.array([0, 1]), np.array([0, 0, 1]), np.zeros(3)
        # the records of the first row in one piece, and in two
        one = _Gain(two, np.array([2, 1]), np.array([0.2, 0.9]), nothing[:2], np.array([1.0, 0]))
        other = _Gain(
            three,
            np.array([1, 1, 1]),
            np.array([0.5, 0.1, 0.1]),
            np.array([0.0, 1, 0]),
            np.array([0.0, 0, 1]),
        )
        for gains in ([one, other], [other, one]):
            found = _most(gains)
            assert (found.rows.tolist(), found.weights.tolist()) == ([0, 0, 1], [1, 1, 1])
            assert found.worth.tolist() == [0.5, 0.2, 0.9]
            assert found.exact.tolist() == [0, 1, 0]
            assert found.nearer.tolist() == [1, 1, 1]

    def test_what_some_attribute_tells_anyway_is_added_up(self) -> None:
        weights = np.array([1.0, 2, 4, 8])
        assert _told_anyway(release(1), ["age"], weights) == 0
        assert _told_anyway(release(1), ["age", "ill"], weights) == 15
        assert _told_anyway(release(0), ["age"], weights) == 15


class TestControl:
    """Four people stay, two of them in one row, and the other two are left out."""

    def control(self) -> Control:
        stays, leaves = np.array([2, 1, 0, 1]), np.array([0, 0, 2, 1])
        return Control(release(), np.array([2, 1, 0, 0]), np.array([0, 0, 1, 1]), stays, leaves)

    def compared(self, *miners: str, weights: list[float] | None = None, cells: Any = "shares") -> Any:
        scenario = replace(attack(*miners), cells=cells)
        of_row = np.ones(4) if weights is None else np.array(weights)
        return _compared(self.control(), ["ill"], scenario, of_row)

    @pytest.fixture(autouse=True)
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Return the names of the miners that are asked."""
        names: list[str] = []

        def mine(control: Control, *facts: Any) -> Any:
            names.extend(facts[2])
            return said(*facts)

        monkeypatch.setattr(Control, "mine", mine)
        return names

    def test_both_kinds_of_people_are_shares_of_all_of_them(self) -> None:
        # what one is right of, members or outsiders, and what all are right of is no difference between them
        found = self.compared("naive-bayes", "random-tree", "majority")
        # right of the three members, of whom four stay, and of one of two outsiders of three who leave
        assert (found["members"], found["control"]) == (3 / 4, 1 / 3)
        assert found["control-miner"] == "majority"
        beyond = 3 / 4 - 1 / 3
        radius = 1.959964 * math.hypot(math.sqrt(3 / 16) / 2, math.sqrt(2 / 9 / 3))
        assert found["beyond-control"] == pytest.approx(beyond)
        assert found["beyond-control-low"] == pytest.approx(beyond - radius)
        assert found["beyond-control-high"] == pytest.approx(beyond + radius)

    @pytest.mark.parametrize("weights", [[1.0, 1, 0, 0], [0.0, 0, 1, 0]])
    def test_somebody_of_both_must_matter(self, weights: list[float]) -> None:
        with pytest.raises(NotApplicable, match="nobody in the control group matters"):
            self.compared("majority", weights=weights)

    def test_miners_must_know_what_released_values_stand_for(self, asked: list[str]) -> None:
        assert _knows_meanings("naive-bayes")
        assert not _knows_meanings("one-rule")
        with pytest.raises(NotApplicable, match="only how they are written"):
            self.compared("one-rule")
        with pytest.raises(NotApplicable, match="only how they are written"):
            self.compared("majority", cells="labels")
        assert self.compared("one-rule", "majority")["control-miner"] == "majority"
        assert set(asked) == {"majority"}

    def test_there_is_none_where_none_is_wanted_or_possible(self, monkeypatch: pytest.MonkeyPatch) -> None:
        scenario = attack("majority")
        assert _beyond_control(release(), ["ill"], scenario, np.ones(4)) == {}
        few = replace(scenario, control=0.1)
        told = _beyond_control(release(), ["ill"], few, np.ones(4))
        assert told == {"no-control": "there are too few people for a control group"}
        monkeypatch.setattr(anti_utility, "control_group", lambda *facts: self.control())
        assert _beyond_control(release(), ["ill"], few, np.ones(4))["members"] == 3 / 4


def test_attributes_are_attacked_by_the_miners_that_predict_them(handed_in: None) -> None:
    table = sf.Table.from_arrow(PEOPLE)
    schema = SCHEMA.with_assumed_public_part(table)
    noisy = sf.sanitize(table, schema, sf.sanitizers.Laplace(1.0, ("age",)))
    scenario = attack("majority", "mean-number", names=("age", "ill"))
    attacked = _Attack(noisy, ("age", "ill"), scenario, (_Counted(np.ones(4)),))
    assert attacked._with_miners(("majority",)).names == ["ill"]
    assert attacked._with_miners(("mean-number",)).names == ["age"]
    assert attacked._with_miners(("majority", "mean-number")).names == ["age", "ill"]
