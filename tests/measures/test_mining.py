"""What miners tell about people: who is asked, what they look at, and what it is worth, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Hierarchy, Schema, Table, __version__, sanitize
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.table import Column
from sfumato.measures import Adversary, Scenario, User
from sfumato.measures.scenarios import predictions as mining
from sfumato.measures.scenarios.nearness import Told
from sfumato.measures.scenarios.predictions import (
    attack,
    attempts_at,
    common_entries,
    commonest,
    of_user,
    predictions,
    predictions_of_seen,
    sums_key,
    vote,
    with_known,
    worth_to_adversary,
    worth_to_user,
)
from sfumato.miners.base import Predictions
from sfumato.models import KAnonymity
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Laplace

PEOPLE: dict[str, list[Any]] = {
    "age": [1, 1, 2, 2],
    "town": ["a", "b", "a", "b"],
    "ill": ["x", "y", "x", "y"],
}
SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")
LEVELS = FullDomain({"age": 1}, KAnonymity(1))


def release(how: Any = None, n: int = 4) -> LinkedRelease:
    table = Table.from_arrow({name: values[:n] for name, values in PEOPLE.items()})
    return sanitize(table, SCHEMA.with_assumed_public_part(table), how or AsIs(), seed=1)


def told(*codes: float, miner: str = "majority", predicts: Any = "category", **facts: Any) -> Predictions:
    """Return predictions of one entry for each row, in the order of the rows."""
    n = len(codes)
    return Predictions(
        "ill",
        miner,
        predicts,
        ("x", "y"),
        np.arange(n),
        np.ones(n, np.int64),
        np.array(codes),
        2,
        0.0,
        **facts,
    )


class Asked:
    """Miners that say what they are told to, and note what they were asked."""

    def __init__(self, *found: Predictions, lacking: tuple[str, ...] = ()) -> None:
        self.found, self.lacking, self.calls = found, lacking, list[tuple[Release, str, Any]]()

    def __call__(self, view: Release, name: str, miners: Any, scenario: Scenario) -> Any:
        self.calls.append((view, name, miners))
        return list(self.found), list(self.lacking)


class TestWhoPredicts:
    SCENARIO = Scenario(folds=3, seed=7, time_limit=9.0, cells="labels")

    @pytest.fixture(autouse=True)
    def nobody_is_trained(self, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = []

        def predict(view: Release, name: str, miner: str, *trained: Any, **settings: Any) -> Predictions:
            seen.append({"miner": miner, "trained": trained, **settings})
            return told(0, 0, 0, 0, miner=miner, trouble="too late" if miner == "slow" else None)

        monkeypatch.setattr(mining, "predict", predict)
        monkeypatch.setattr(mining, "predict_from_all", predict)
        return seen

    def test_those_who_have_not_seen_a_record_are_trained_in_folds(self, nobody_is_trained: Any) -> None:
        found, lacking = predictions(release(), "ill", ["majority", "slow"], self.SCENARIO)
        assert ([each.miner for each in found], lacking) == (["majority"], ["slow"])
        settings = {"folds": 3, "seed": 7, "time_limit": 9.0, "cells": "labels"}
        assert nobody_is_trained[0] == {"miner": "majority", "trained": (), **settings}

    def test_those_who_have_seen_all_are_trained_on_every_record(self, nobody_is_trained: Any) -> None:
        found, lacking = predictions_of_seen(release(), "ill", ["slow", "majority"], self.SCENARIO)
        assert ([each.miner for each in found], lacking) == (["majority"], ["slow"])
        (trained,) = nobody_is_trained[1].pop("trained")
        assert trained.tolist() == release().weights.tolist()
        settings = {"seed": 7, "time_limit": 9.0, "cells": "labels"}
        assert nobody_is_trained[1] == {"miner": "majority", **settings}

    @pytest.mark.parametrize("mine", [predictions, predictions_of_seen])
    def test_from_one_record_nobody_learns(self, mine: Any) -> None:
        with pytest.raises(NotApplicable, match="needs at least two released records"):
            mine(release(n=1), "ill", ["majority"], self.SCENARIO)
        assert len(mine(release(n=2), "ill", ["majority"], self.SCENARIO)[0]) == 1

    def test_the_adversary_has_seen_all_records_only_where_the_scenario_says_so(
        self, nobody_is_trained: Any
    ) -> None:
        for trained_on, seen in (("others", ()), ("all", (1,))):
            adversary = Adversary(trained_on=trained_on)  # type: ignore[arg-type]
            scenario = replace(self.SCENARIO, adversary=adversary)
            commonest(release(), "ill", scenario)
            assert len(nobody_is_trained[-1]["trained"]) == len(seen)

    def test_who_says_the_same_of_everybody_says_it_of_what_is_released(self, nobody_is_trained: Any) -> None:
        first = commonest(release(), "ill", self.SCENARIO)
        assert first is not None
        assert (first.miner, first.of_labels, first.codes.tolist()) == ("majority", False, [0] * 4)
        commonest(release(Laplace()), "age", self.SCENARIO)
        assert [each["miner"] for each in nobody_is_trained] == ["majority", "mean-number"]

    def test_an_attack_is_what_the_miners_tell(self) -> None:
        scenario = replace(self.SCENARIO, adversary=Adversary(miners=("majority", "mean-number")))
        assert [each.miner for each in attack(release(), "ill", scenario).every] == ["majority"]

    def test_who_did_not_come_to_an_end_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mining, "predict", lambda *_, **__: told(trouble="too late"))
        assert commonest(release(), "ill", self.SCENARIO) is None
        with pytest.raises(NotApplicable, match="no miner finished for 'ill'; raise time-limit"):
            attack(release(), "ill", replace(self.SCENARIO, adversary=Adversary(miners=("majority",))))


class TestAttempts:
    def at(self, made: LinkedRelease, name: str, asked: Asked, **adversary: Any) -> Any:
        scenario = Scenario(adversary=Adversary(**{"miners": ("majority", "mean-number"), **adversary}))
        return attempts_at(made, name, scenario, asked)

    def test_every_miner_that_suits_is_asked_and_their_vote_comes_last(self) -> None:
        asked = Asked(told(0, 0, 0, 0), told(1, 0, 1, 0, miner="one"), told(1, 1, 0, 0, miner="two"))
        found = self.at(release(), "ill", asked)
        assert [each.miner for each in found.every] == ["majority", "one", "two", "all together"]
        assert [each.is_fused for each in found.every] == [False, False, False, True]
        assert [each.of_labels for each in found.every] == [False] * 4
        assert found.every[-1].codes.tolist() == [1, 0, 0, 0]
        # the truth is x, y, x, y
        assert found.every[0].told.distance.tolist() == [0, math.inf, 0, math.inf]
        assert [name for _, name, _ in asked.calls] == ["ill"]
        assert [miners for *_, miners in asked.calls] == [["majority"]]

    def test_one_alone_or_without_fusion_has_no_vote(self) -> None:
        both = self.at(release(), "ill", Asked(told(0, 0, 0, 0), told(0, 0, 0, 0)))
        assert [each.is_fused for each in both.every] == [False, False, True]
        alone = self.at(release(), "ill", Asked(told(0, 0, 0, 0)))
        apart = self.at(release(), "ill", Asked(told(0, 0, 0, 0), told(0, 0, 0, 0)), fusion=False)
        assert (len(alone.every), len(apart.every)) == (1, 2)

    def test_who_did_not_come_to_an_end_is_named_once(self) -> None:
        found = self.at(release(LEVELS), "age", Asked(told(0, 0, 0, 0), lacking=("slow", "slower")))
        assert found.unfinished == ("slow", "slower")

    @pytest.mark.parametrize(
        ("guesses", "of_labels"),
        [("values", [False]), ("released", [True]), ("both", [False, True])],
    )
    def test_of_sets_values_or_labels_or_both_are_guessed(self, guesses: Any, of_labels: list[bool]) -> None:
        asked = Asked(told(0, 0, 0, 0))
        found = self.at(release(LEVELS), "age", asked, guesses=guesses)
        assert [each.of_labels for each in found.every] == of_labels
        names = {False: "majority", True: "majority of released values"}
        assert [each.miner for each in found.every] == [names[each] for each in of_labels]
        for (view, *_), labels in zip(asked.calls, of_labels, strict=True):
            # labels stand for nothing else, and nobody knows the truth behind them
            assert (view.cells["age"].sets is None) == labels
            assert isinstance(view, LinkedRelease) != labels
            assert bool(view.cells["age"].domain) != labels

    def test_of_exact_values_there_are_no_labels_to_guess(self) -> None:
        for made, name in ((release(), "age"), (release(Anatomy(2)), "ill")):
            found = self.at(made, name, Asked(told(0, 0, 0, 0)), guesses="released")
            assert [each.of_labels for each in found.every] == [False]

    def test_of_sets_that_are_told_for_groups_no_record_has_one_of_its_own(self) -> None:
        roles = Schema.of(age="sensitive", town="quasi-identifying", ill="sensitive")
        grouped = replace(release(LEVELS), group_of=np.zeros(4, np.int64))
        for made, labels in ((grouped, [True]), (replace(grouped, schema=roles), [False])):
            found = self.at(made, "age", Asked(told(0, 0, 0, 0)), guesses="released")
            assert [each.of_labels for each in found.every] == labels

    def test_of_some_sets_beside_exact_values_labels_are_guessed_too(self) -> None:
        rows = [["a", "a", "*"], ["b", "bc", "*"], ["c", "bc", "*"]]
        town = Attribute("town", "quasi-identifying", hierarchy=Hierarchy.of_rows(rows))
        table = Table.from_arrow({"town": list("abca"), "ill": PEOPLE["ill"]})
        made = sanitize(
            table, Schema((town, Attribute("ill", "sensitive"))), FullDomain({"town": 1}, KAnonymity(1))
        )
        found = self.at(made, "town", Asked(told(0, 0, 0, 0)))
        assert [each.of_labels for each in found.every] == [False, True]

    def test_of_a_label_the_distance_is_its_other_values(self) -> None:
        (found,) = self.at(release(LEVELS), "age", Asked(told(0, 0, 0, 0)), guesses="released").every
        # the label is that of both ages
        assert found.told.distance.tolist() == [1.0] * 4

    def test_of_noisy_numbers_numbers_are_told(self) -> None:
        made = release(Laplace())
        truth = made.origin.table["age"].take(made.origin.rows)
        asked = Asked(told(1.2, 1.2, 4.9, 4.9, predicts="number"))
        (found,) = self.at(made, "age", asked).every
        assert [miners for *_, miners in asked.calls] == [["mean-number"]]
        ages = [truth.domain[code] for code in truth.codes]
        assert found.told.distance.tolist() == [
            abs(said - int(str(age))) for said, age in zip([1, 1, 5, 5], ages, strict=True)
        ]
        assert [found.told.column.domain[code] for code in found.codes] == [1.0, 1.0, 5.0, 5.0]

    def test_without_a_miner_that_suits_the_reason_says_what_to_add(self) -> None:
        asked = Asked()
        with pytest.raises(NotApplicable, match="predicts a category; add one for 'ill'"):
            self.at(release(), "ill", asked, miners=("mean-number",))
        with pytest.raises(NotApplicable, match="predicts a number; add one for 'age'"):
            self.at(release(Laplace()), "age", asked, miners=("majority",))

    def test_what_the_adversary_knows_is_true_but_the_attribute_itself(self) -> None:
        asked = Asked(told(0, 0, 0, 0))
        coarse = FullDomain({"age": 1, "town": 1}, KAnonymity(1))
        self.at(release(coarse), "age", asked, knows=("town", "age"), guesses="values")
        ((view, *_),) = asked.calls
        assert view.cells["town"].labels == ("a", "b")
        assert view.cells["age"].labels == release(coarse).cells["age"].labels


def test_the_true_values_of_nobody_are_known_without_names_or_records() -> None:
    made = release(LEVELS)
    known = with_known(made, ["age"])
    assert known.cells["age"].labels == ("1", "2")
    assert known.cells["age"].codes.tolist() == made.origin.table["age"].codes[made.origin.rows].tolist()
    assert known.cells["ill"] is made.cells["ill"]
    assert with_known(made, []) is made
    for unknown in (with_unknown_rows(made), made.unlinked()):
        assert with_known(unknown, ["age"]) is unknown


class TestVotes:
    def test_the_commonest_category_wins_and_a_tie_is_the_first_miners(self) -> None:
        found = vote([told(0, 1, 0), told(1, 1, 1), told(1, 0, 2)])
        assert (found.predicted.tolist(), found.miner) == ([1, 1, 0], "all together")

    def test_of_numbers_it_is_the_mean(self) -> None:
        found = vote([told(0.0, 1.0, 7.0, predicts="number"), told(1.0, 4.0, 7.0, predicts="number")])
        assert (found.predicted.tolist(), found.miner) == ([0.5, 2.5, 7.0], "all together")


NUMBERS = Column(np.array([0, 1, 2]), (10, 20, 30), NUMERIC)
OTHERS = Column(np.array([0, 0, 1]), (10, 30), NUMERIC)


class TestWorth:
    @pytest.mark.parametrize(
        ("error", "worth"),
        [
            ("equal", [1, 0, 1]),
            ("distance", [1, 0.5, 1]),
            ("predicted < true", [0, 1, 0]),
            (lambda predicted, true: (true - predicted).astype(np.int64), [0, 10, 0]),
        ],
        ids=["equal", "distance", "formula", "function"],
    )
    def test_of_a_prediction_to_a_user(self, error: Any, worth: list[float]) -> None:
        hierarchy: Any = None
        found = worth_to_user(User(error=error), OTHERS, NUMBERS, hierarchy)
        assert found.tolist() == worth
        assert found.dtype == np.float64

    def test_equal_codes_of_one_domain_are_equal_values(self) -> None:
        same = Column(np.array([0, 2, 2]), NUMBERS.domain, NUMERIC)
        hierarchy: Any = None
        found = worth_to_user(User(), same, NUMBERS, hierarchy)
        assert found.tolist() == [1, 0, 1]
        assert found.dtype == np.float64

    @pytest.mark.parametrize(
        ("adversary", "worth"),
        [
            (Adversary(), [1, 0, 0, 1, 0, 0]),
            (Adversary(reduction="nearer"), [1, 1, 0, 0, 1, 1]),
            (Adversary(reduction="nearer", c=75), [1, 0, 0, 0, 1, 0]),
            (Adversary(reduction="distance"), [1, 0.5, 0, 0, 0, 0.5]),
            (Adversary(reduction="predicted > released and predicted = true"), [0, 0, 0, 1, 1, 0]),
            (Adversary(reduction=lambda predicted, released, true: true - released), [5] * 6),
        ],
        ids=["exact", "nearer", "much nearer", "distance", "formula", "function"],
    )
    def test_of_a_prediction_to_an_adversary(self, adversary: Adversary, worth: list[float]) -> None:
        """What is told is exact, nearer, farther, exact beside what is exact, beside nothing, or near one."""
        said = Told(Column(np.array([0, 0, 0, 1, 1, 0]), (10, 20), NUMERIC), np.array([0, 2, 6, 0, 1, 0.5]))
        blurred = np.array([4.0, 4, 4, 0, math.inf, 1])
        shown = Told(Column(np.zeros(6, np.int32), (15,), NUMERIC), blurred)
        truth = Column(np.zeros(6, np.int32), (20,), NUMERIC)
        assert worth_to_adversary(adversary, said, shown, truth).tolist() == worth

    def test_predictions_are_values_of_the_truth_or_numbers_of_their_own(self) -> None:
        categories = Column(np.array([0, 1]), ("x", "y"), CATEGORICAL)
        found = of_user(told(1, 0), categories)
        assert ([found.domain[code] for code in found.codes], found.kind) == (["y", "x"], CATEGORICAL)
        found = of_user(told(12.4, 7.0, predicts="number"), NUMBERS.take(np.array([0, 1])))
        assert ([found.domain[code] for code in found.codes], found.kind) == ([12.0, 7.0], NUMERIC)


def test_lists_of_entries_are_cut_at_all_their_borders() -> None:
    pieces, (one, other) = common_entries([np.array([1, 4, 2]), np.array([3, 2, 2])])
    assert pieces.tolist() == [1, 2, 2, 2]
    assert (one.tolist(), other.tolist()) == ([0, 1, 1, 2], [0, 0, 1, 2])


class TestWhatSumsDependOn:
    def key(self, **changed: Any) -> Any:
        facts = {"kind": "accuracy", "release": release(), "names": ["ill"], "miners": ["majority"]}
        made = {**facts, "dealt": Scenario(), **changed}
        return sums_key(made["kind"], made["release"], made["names"], made["miners"], made["dealt"], "more")

    def test_every_part_of_the_question_tells_it_from_others(self) -> None:
        other = {
            "kind": "gain",
            "release": release(LEVELS),
            "names": ["age"],
            "miners": ["mean-number"],
        }
        keys = [self.key(), *(self.key(**{name: value}) for name, value in other.items())]
        keys += [
            self.key(dealt=each) for each in (Scenario(folds=4), Scenario(seed=1), Scenario(cells="labels"))
        ]
        assert len({repr(key) for key in keys}) == len(keys)
        assert self.key() == self.key()
        assert {__version__, version("scikit-learn"), "more"} < set(map(str, self.key()))

    def test_a_function_of_the_users_cannot_be_told_from_others(self) -> None:
        assert sums_key("kind", release(), ["ill"], ["majority"], Scenario(), "1", len) is None
