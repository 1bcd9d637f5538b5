"""What a release is worth to an honest user, worked out by hand from predictions that are handed in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.unknown_rows import with_unknown_rows

import sfumato as sf
from sfumato.measures import GoodUtility, Scenario, User
from sfumato.measures.scenarios import good_utility
from sfumato.measures.scenarios.good_utility import (
    _Decline,
    _mixed,
    _ratio_error,
    _together,
    _Utility,
    _utility,
    _utility_of_original,
    unfinished,
)
from sfumato.miners.base import Predictions
from sfumato.results.inapplicable import NotApplicable
from sfumato.runtime.errors import ParameterError

SCHEMA = sf.Schema.of(age="quasi-identifying", ill="sensitive")
# two rows: three people of 20 with a, and one of 30 with b
PEOPLE = {"age": [20, 20, 20, 30], "ill": ["a", "a", "a", "b"]}


def release(**changed: Any) -> sf.results.LinkedRelease:
    return replace(sf.sanitize(pa.table(PEOPLE), SCHEMA, sf.sanitizers.AsIs()), **changed)


@pytest.fixture
def predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a miner say a of two people of the first row, b of the third one and of the last."""

    def predictions(release: Any, name: str, miners: Any, scenario: Any) -> Any:
        rows, weights, codes = np.array([0, 0, 1]), np.array([2, 1, 1]), np.array([0, 1, 1])
        known = release.origin.table[name].domain
        if miners == ["one-rule"]:
            return [], miners
        return [Predictions(name, miners[0], "category", known, rows, weights, codes, 2, 0.0)], []

    monkeypatch.setattr(good_utility, "predictions", predictions)


class TestUtility:
    def test_it_is_a_sum_over_records_with_what_its_variance_needs(self, predicted: None) -> None:
        found = _utility(release(), np.array([0, 1]), "ill", "majority", Scenario(), np.array([1.0, 10.0]))
        assert found is not None
        # two right of three, and one of ten times the weight
        assert found.total == 12
        # the three lie at 1, 1 and 0 around 2/3
        assert found.within == pytest.approx(2 / 3)
        assert found.mixed.tolist() == pytest.approx([2 / math.sqrt(3), 10])

    def test_released_rows_are_judged_by_their_original_ones(self, predicted: None) -> None:
        known = release(origin=sf.results.Origin(release().origin.table, np.array([1, 0])))
        found = _utility(known, np.array([1, 0]), "ill", "majority", Scenario(), np.array([1.0, 10.0]))
        assert found is not None
        # now the last row is that of the three: b is said of two of them, and is wrong of each
        assert (found.total, found.mixed.tolist()) == (10, pytest.approx([0, 10]))
        assert found.within == pytest.approx(0, abs=1e-12)

    def test_a_miner_that_did_not_come_to_an_end_is_worth_nothing_known(self, predicted: None) -> None:
        facts = (np.array([0, 1]), "ill", "one-rule", Scenario(), np.ones(2))
        assert _utility(release(), *facts) is None
        assert _utility_of_original(release(), *facts[1:]) is None

    def test_the_original_is_worth_the_same_from_the_shelf(self, predicted: None) -> None:
        one = _utility(release(), np.array([0, 1]), "ill", "majority", Scenario(), np.ones(2))
        other = _utility_of_original(release(), "ill", "majority", Scenario(), np.ones(2))
        assert one is not None
        assert other is not None
        assert (one.total, one.within, one.mixed.tolist()) == (
            other.total,
            other.within,
            other.mixed.tolist(),
        )

    @pytest.mark.parametrize(("n_rows", "is_kept"), [(1999, False), (2000, True)])
    def test_what_could_be_read_off_single_rows_is_not_kept(
        self, n_rows: int, is_kept: bool, predicted: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keys: list[Any] = []

        def computed(key: Any, compute: Any) -> Any:
            keys.append(key)
            return compute()

        monkeypatch.setattr(good_utility, "kept", computed)
        table = pa.table({"age": range(n_rows), "ill": ["a", "b"] * (n_rows // 2) + ["a"] * (n_rows % 2)})
        original = sf.sanitize(table, SCHEMA, sf.sanitizers.AsIs())
        _utility_of_original(original, "ill", "majority", Scenario(), np.ones(n_rows))
        assert [key is not None for key in keys] == [is_kept]

    def test_several_add_up(self) -> None:
        one, other = _Utility(2, 4, np.array([1.0, 2.0])), _Utility(3, 9, np.array([10.0, 0.0]))
        both = _together([one, other])
        assert both is not None
        # standard deviations of 2 and 3
        assert (both.total, both.within, both.mixed.tolist()) == (5, 25, [11, 2])
        rounded = one.plus(_Utility(0, -1e-18, np.zeros(2)))
        assert rounded.within == _Utility(0, -1e-18, np.zeros(2)).plus(one).within == 4
        assert _together([one, None, other]) is None
        assert _together(iter([one])) is one


class TestRatio:
    def test_its_error_is_that_of_the_differences_over_the_sum(self) -> None:
        old, new = _Utility(4, 2, np.array([3.0, 1.0])), _Utility(2, 1, np.array([0.0, 2.0]))
        # half of it: apart by -1.5 and 1.5, and 1 + 2 / 4 within
        assert _ratio_error(old, new) == pytest.approx(math.sqrt(4.5 + 1.5) / 4)

    def test_without_any_utility_there_is_none(self) -> None:
        nothing = _Utility(0, 1, np.ones(1))
        assert _ratio_error(nothing, nothing) == 0
        assert _ratio_error(_Utility(0.5, 0, np.zeros(1)), _Utility(0, 1, np.zeros(1))) == 2

    def test_rounding_below_0_is_no_error(self) -> None:
        same = _Utility(1, -1e-18, np.zeros(1))
        assert _ratio_error(same, same) == 0

    def test_the_decline_is_what_is_lost(self) -> None:
        assert _Decline(4, 3, 0.0).value == 0.25
        assert _Decline(4, 5, 0.0).value == -0.25


class TestMixing:
    def test_few_rows_are_kept_as_they_are(self) -> None:
        values = np.random.default_rng(0).normal(size=1999)
        assert _mixed(values) is values
        assert len(_mixed(np.append(values, 1.0))) == 100

    @pytest.mark.parametrize(("n_rows", "n_sums"), [(2000, 100), (2039, 101), (20_000, 1000), (30_000, 1000)])
    def test_many_rows_are_added_up_by_twenties_and_keep_their_length(self, n_rows: int, n_sums: int) -> None:
        values = np.random.default_rng(1).normal(size=n_rows) + 3
        found = _mixed(values)
        assert len(found) == n_sums
        assert (found != 0).all()
        assert found @ found == pytest.approx(values @ values, rel=6 / math.sqrt(n_sums))

    def test_two_tables_are_mixed_alike(self) -> None:
        values = np.random.default_rng(2).normal(size=3000)
        assert (_mixed(2 * values) - 2 * _mixed(values)).tolist() == pytest.approx([0] * 150)


DECLINES: dict[str, _Decline | None] = {
    "good": _Decline(10, 9, 0.01),
    "bad": _Decline(10, 6, 0.1),
    "never": None,
    "useless": _Decline(0, 0, 0.0),
    "better": _Decline(10, 12, 0.05),
    "hardly": _Decline(10, 10.5, 0.05),
    "small": _Decline(0.5, 0.25, 0.0),
}


class TestMeasurement:
    def taken(self, monkeypatch: pytest.MonkeyPatch, miners: tuple[str, ...], target: Any = "ill") -> Any:
        def decline(*facts: Any) -> _Decline | None:
            return DECLINES[facts[4]]

        monkeypatch.setattr(good_utility, "_decline", decline)
        (found,) = GoodUtility(Scenario(user=User(target, miners=miners))).measure(release())
        return found

    def test_the_largest_decline_counts_and_the_others_are_told(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = self.taken(monkeypatch, ("good", "bad", "never", "useless"))
        assert found.value == pytest.approx(0.4)
        assert found.interval == pytest.approx((0.4 - 0.1959964, 0.4 + 0.1959964))
        assert (found.detail["miner"], found.detail["target"], found.attribute) == ("bad", "ill", "ill")
        assert (found.detail["original"], found.detail["released"]) == (10, 6)
        assert found.detail["miners"] == {
            "good": {"original": 10, "released": 9},
            "bad": {"original": 10, "released": 6},
            "useless": {"original": 0, "released": 0},
        }
        assert found.detail["unfinished"] == "never"

    def test_who_does_better_with_the_release_loses_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.taken(monkeypatch, ("better",))
        assert (found.value, found.interval) == (0, (0, 0))
        assert "unfinished" not in found.detail
        assert self.taken(monkeypatch, ("hardly",)).interval == pytest.approx((0, 0.0979982 - 0.05))

    def test_what_is_worth_nothing_on_the_original_cannot_decline(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(NotApplicable, match="no miner has any good utility for 'ill' on the original"):
            self.taken(monkeypatch, ("useless", "never"))
        assert self.taken(monkeypatch, ("useless", "small")).value == 0.5

    def test_an_attribute_that_is_not_sensitive_and_several_are_none(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.taken(monkeypatch, ("good",), "age").attribute is None
        several = self.taken(monkeypatch, ("good",), ("ill", "age"))
        assert (several.attribute, several.detail["target"]) == (None, "ill, age")


def test_a_miner_is_compared_with_itself_on_the_original(predicted: None) -> None:
    (found,) = GoodUtility(Scenario(user=User("ill", miners=("majority", "one-rule")))).measure(release())
    assert (found.detail["original"], found.detail["released"], found.value) == (3, 3, 0)
    assert found.detail["unfinished"] == "one-rule"
    # which of the three equal people are right is not known of either: 2/3 within the row, twice
    assert found.interval == pytest.approx((0, 1.959964 * math.sqrt(4 / 3) / 3))


class TestScenarios:
    def test_a_scenario_may_be_plain_data_and_has_a_name(self) -> None:
        assert GoodUtility({"name": "s", "folds": 3}) == GoodUtility(Scenario("s", folds=3))
        assert GoodUtility(Scenario("s")).parameters == {"scenario": "s"}
        assert GoodUtility(Scenario()).parameters == {"scenario": "unnamed"}
        assert GoodUtility().parameters == {}
        with pytest.raises(ParameterError, match="the scenario is not known"):
            GoodUtility("s")

    def test_records_of_people_are_judged(self) -> None:
        assert (GoodUtility.axis, GoodUtility.better, GoodUtility.needs) == ("utility", "lower", "records")
        assert GoodUtility.judges == ("people", "perturbed")

    def test_each_released_row_must_be_known_to_come_from_somebody(self) -> None:
        with pytest.raises(NotApplicable, match="which record each released row comes from"):
            GoodUtility().measure(with_unknown_rows(release()))
        with pytest.raises(NotApplicable, match="the original is needed"):
            GoodUtility().measure(release().unlinked())

    def test_a_scenario_must_fit_the_table(self) -> None:
        with pytest.raises(ParameterError, match="no attribute 'pay' that is released"):
            GoodUtility(Scenario(user=User("pay"))).measure(release())

    def test_without_a_sensitive_attribute_a_target_is_needed(self) -> None:
        plain = sf.sanitize(
            pa.table({"age": [1, 2]}), sf.Schema.of(age="quasi-identifying"), sf.sanitizers.AsIs()
        )
        with pytest.raises(NotApplicable, match="the scenario names no target"):
            GoodUtility().measure(plain)

    def test_miners_that_did_not_come_to_an_end_are_named_once(self) -> None:
        assert unfinished(["b", "a", "b"]) == {"unfinished": "b, a"}
        assert unfinished([]) == {}
