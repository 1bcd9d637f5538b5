"""What all attacks share: what they ask for by default, and what they tell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import AttackRisk, Inference, Linkability, Membership, SinglingOut
from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure, AttackTried, Outcome
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.success_rates import rate
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.people_groups import groups_of
from sfumato.runtime.errors import ParameterError

KINDS: tuple[type[AttackMeasure], ...] = (SinglingOut, Linkability, Inference, Membership, AttackRisk)
SCHEMA = sf.Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")


def release(n: int = 20) -> sf.results.LinkedRelease:
    people = {"age": list(range(n)), "town": ["A", "B"] * (n // 2), "ill": ["x", "y"] * (n // 2)}
    return sf.sanitize(pa.table(people), SCHEMA, sf.sanitizers.AsIs())


@pytest.mark.parametrize("kind", KINDS)
def test_unless_something_is_given_a_thousand_people_are_attacked_by_their_quasi_identifiers(
    kind: type[AttackMeasure],
) -> None:
    assert kind() == kind(known=(), control=None, people=1000, seed=0)
    assert (kind.axis, kind.better, kind.is_attack) == ("privacy", "lower", True)
    assert kind.guards == ("attribute" if kind is Inference else "identity")
    assert kind.words.range == CUT_OFF == "0% to 100%"
    assert kind(people=1).people == 1
    for name, least in (("people", 1), ("seed", 0)):
        with pytest.raises(ParameterError, match=f"{name} must be at least {least}, not {least - 1}"):
            kind(**{name: least - 1})  # type: ignore[arg-type]


def test_some_ask_for_more() -> None:
    miners = ("naive-bayes", "random-tree", "regression-tree")
    assert Inference() == Inference(attribute=None, miners=miners)
    assert AttackRisk().miners == miners
    assert Linkability() == Linkability(other=(), neighbours=1)
    assert AttackRisk.includes == tuple(each().name for each in KINDS[:-1])


def outcome(right: int, outsiders: int | None) -> Outcome:
    return Outcome(rate(right, 10), None if outsiders is None else rate(outsiders, 20), rate(1, 10), 10)


def where() -> Setting:
    made = release()
    return Setting(made, Listed(made.origin.table, np.arange(20)), None, None, "by hand")


@pytest.mark.parametrize("outsiders", [4, None])
def test_the_judges_tell_what_the_best_attacker_of_the_trial_gets(outsiders: int | None) -> None:
    attempts = [
        AttackTried("a", outcome(1, 0), outcome(9, 0)),
        AttackTried("b", outcome(8, 0), outcome(6, outsiders)),
    ]
    found = Membership().worst_measurement(where(), attempts, "age", "ill")
    expected = outcome(6, outsiders).risk
    assert (found.value, found.interval) == (expected.value, (expected.low, expected.high))
    assert expected.value == pytest.approx((0.6 - 0.2) / 0.8 if outsiders else (0.6 - 0.1) / 0.9)
    assert found.attribute == "ill"
    control = {} if outsiders is None else {"control": 0.2}
    assert found.detail == {
        "attacker": "b",
        "known": "age",
        "attacked": 0.6,
        **control,
        "guessing": 0.1,
        "tries": 10,
        "control-group": "by hand",
    }


def test_every_figure_has_a_title_and_a_unit() -> None:
    attempts = [AttackTried("a", outcome(1, 0), outcome(6, 4))]
    told = Membership().worst_measurement(where(), attempts, "age").detail
    assert told.keys() == ATTACK_DETAILS.keys()
    assert all(each.title for each in ATTACK_DETAILS.values())
    # what is counted is a number, all others are shares as the measure is
    assert {name: each.unit for name, each in ATTACK_DETAILS.items() if each.unit} == {"tries": "number"}


def test_the_people_of_a_group_are_attacked_alone() -> None:
    made = release(60)
    (group, _) = groups_of(made, "town", 1)
    (found,) = Membership(people=8).of_group(made, group)
    assert found.detail["tries"] == 8
    with pytest.raises(NotApplicable, match="not for the people of a group"):
        SinglingOut().of_group(made, group)
