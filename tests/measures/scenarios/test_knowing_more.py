"""An adversary who knows some attributes from elsewhere, and a user who wants several at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.measures import Adversary, AntiUtility, GoodUtility, Scenario, User
from sfumato.models import KAnonymity
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, FullDomain, SuppressQuasiIdentifiers

SCHEMA = Schema.of(
    {"age": "quasi-identifying", "sex": "quasi-identifying", "pay": "sensitive", "car": "insensitive"}
)


def people() -> Table:
    """Return people whose pay follows from their age, and whose car from nothing."""
    rng = np.random.default_rng(4)
    ages = rng.integers(20, 26, 120)
    return Table.from_arrow(
        {
            "age": ages.tolist(),
            "sex": rng.choice(["f", "m"], 120).tolist(),
            "pay": (ages * 100).tolist(),
            "car": rng.choice(["red", "blue"], 120).tolist(),
        }
    )


def gained(release: Release, *knows: str) -> float:
    attack = Adversary(("pay",), miners=("decision-tree",), knows=knows)
    (found,) = measure(release, [AntiUtility(Scenario("s", adversary=attack, folds=3, control=0))])
    assert found.value is not None
    return found.value


def test_who_knows_what_a_value_follows_from_learns_it_although_it_is_not_released() -> None:
    release = sanitize(people(), SCHEMA, SuppressQuasiIdentifiers())
    assert gained(release) < 0.3
    assert gained(release, "sex") < 0.35
    assert gained(release, "age") == 1.0


def test_what_is_known_is_as_good_as_released() -> None:
    table = people()
    hidden = sanitize(table, SCHEMA, FullDomain({"age": 1}, KAnonymity(1)))
    shown = sanitize(table, SCHEMA, AsIs())
    assert gained(hidden, "age") == pytest.approx(gained(shown), abs=0.05)
    assert gained(shown, "age", "sex") == gained(shown)


def test_the_release_itself_stays_as_it_is() -> None:
    release = sanitize(people(), SCHEMA, SuppressQuasiIdentifiers())
    before = release.cells["age"].labels
    gained(release, "age")
    assert release.cells["age"].labels == before


def declined(*targets: str) -> Any:
    release = sanitize(people(), SCHEMA, SuppressQuasiIdentifiers())
    wants = User(targets if len(targets) > 1 else targets[0], miners=("naive-bayes",))
    (found,) = measure(release, [GoodUtility(Scenario("s", wants, folds=3))])
    return found


def test_of_several_targets_the_sums_are_added() -> None:
    pay, car, both = declined("pay"), declined("car"), declined("pay", "car")
    sums = {
        side: [each.detail["miners"]["naive-bayes"][side] for each in (pay, car, both)]
        for side in ("original", "released")
    }
    for one, other, together in sums.values():
        assert together == one + other
    assert both.value == pytest.approx(1 - sums["released"][2] / sums["original"][2])
    assert (both.detail["target"], both.attribute, pay.attribute) == ("pay, car", None, "pay")
    assert both.interval[0] <= both.value <= both.interval[1]


def test_both_survive_plain_data() -> None:
    scenario = Scenario("s", User(("pay", "car")), Adversary(("pay",), knows=("age", "sex")))
    written = scenario.to_dict()
    assert written["user"]["target"] == ["pay", "car"]
    assert Scenario.of(written) == scenario


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Adversary(("age",), knows=("age",)), "who knows 'age' need not attack it"),
        (lambda: User(()), "at least one target"),
        (
            lambda: Scenario(adversary=Adversary(knows=("agee",))).check({"age": "number"}),
            "no attribute 'agee'",
        ),
        (lambda: Scenario(user=User(("age", "payy"))).check({"age": "number"}), "no attribute 'payy'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
