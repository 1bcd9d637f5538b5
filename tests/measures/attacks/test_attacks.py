"""Attacks succeed on releases that give people away, and get nothing of those that do not."""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Intervals, Schema, Table, measure, sanitize
from sfumato.measures import AttackRisk, Inference, Linkability, Measurement, Membership, SinglingOut
from sfumato.measures.attacks.attack_setting import drawn_people, setting_of
from sfumato.measures.attacks.membership import best_threshold
from sfumato.measures.attacks.singling_out import chance_of_one
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.results.origin import Origin
from sfumato.runtime.errors import DataError, ParameterError
from sfumato.sanitizers import (
    MST,
    PRAM,
    Anatomy,
    AsIs,
    Laplace,
    Microaggregation,
    Mondrian,
    Sanitizer,
    SuppressQuasiIdentifiers,
)
from sfumato.sanitizers.perturb.changed_records import with_codes

ATTACKS = ("singling-out", "linkability", "inference", "membership")
QUICK = {
    "singling-out": SinglingOut(),
    "linkability": Linkability(),
    "inference": Inference(miners=()),
    "membership": Membership(),
}
SCHEMA = Schema(
    (
        Attribute("height", "quasi-identifying", "numeric"),
        Attribute("weight", "quasi-identifying", "numeric"),
        Attribute("town", "quasi-identifying"),
        Attribute("disease", "sensitive"),
    )
)


def people(n: int = 1000, seed: int = 0) -> dict[str, list[object]]:
    """Return people each of whom is alone with any two attributes, and whose disease nothing tells."""
    rng = np.random.default_rng(seed)
    return {
        "height": rng.integers(0, 1_000_000, n).tolist(),
        "weight": rng.integers(0, 1_000_000, n).tolist(),
        "town": [f"town {i}" for i in rng.integers(0, 20, n)],
        "disease": [f"disease {i}" for i in rng.integers(0, 6, n)],
    }


@functools.cache
def bound(seed: int = 0) -> tuple[Table, Schema]:
    table = Table.from_arrow(people(seed=seed))
    return SCHEMA.with_assumed_public_part(table).bind(table)


@functools.cache
def taken(name: str, how: object) -> Measurement:
    return measure(sanitize(*bound(), how, seed=3), [QUICK[name]])[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_succeeds_on_people_who_are_released_as_they_are(name: str) -> None:
    found = taken(name, AsIs())
    assert found.value is not None
    assert found.interval is not None
    assert found.value > 0.9
    assert found.interval[0] > 0.8
    assert found.detail["control"] < 0.4


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_gets_anything_where_all_quasi_identifiers_are_withheld(name: str) -> None:
    found = taken(name, SuppressQuasiIdentifiers())
    assert found.interval is not None
    assert found.interval[0] == 0
    assert found.value is not None
    assert found.value < 0.1


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_gets_anything_out_of_records_of_outsiders(name: str, tmp_path: Path) -> None:
    csv.write_csv(pa.table(people(seed=7)), tmp_path / "control.csv")
    outsiders = sanitize(Table.from_arrow(people(seed=99)), SCHEMA, AsIs())
    release = replace(outsiders, origin=Origin(bound()[0]), recipe=None, type="synthetic")
    found = measure(release, [replace(QUICK[name], control=str(tmp_path / "control.csv"))])[0]
    assert found.interval is not None
    assert found.interval[0] == 0
    assert found.value is not None
    assert found.value < 0.1


def test_nobody_is_looked_for_where_nobody_is_known_to_be_elsewhere() -> None:
    found = measure(replace(sanitize(*bound(), AsIs()), recipe=None), ["membership"])[0]
    assert not found.applicable
    assert "give control" in found.detail["reason"]


@pytest.mark.parametrize("name", ["inference", "membership", "singling-out"])
def test_larger_classes_are_less_at_risk(name: str) -> None:
    risks = [taken(name, how).value for how in (AsIs(), Mondrian(KAnonymity(3)), Mondrian(KAnonymity(200)))]
    first, second, third = (risk or 0.0 for risk in risks)
    assert first > second + 0.1
    assert third <= second + 0.05


@pytest.mark.parametrize("name", ["inference", "membership"])
def test_more_noise_is_less_risk(name: str) -> None:
    releases = [sanitize(*bound(), Laplace(epsilon)) for epsilon in (1e6, 0.1)]
    little, much = (measure(release, [QUICK[name]])[0].value or 0.0 for release in releases)
    assert little > much + 0.3


LADDERS: dict[str, list[Sanitizer]] = {
    "k grows": [AsIs(), *(Mondrian(KAnonymity(k)) for k in (2, 8, 40))],
    "groups grow": [Microaggregation(k) for k in (1, 5, 40)],
    "noise grows": [Laplace(epsilon) for epsilon in (1e6, 1e5, 10, 0.1)],
    "fewer values are kept": [PRAM(retain) for retain in (1.0, 0.6, 0.0)],
    "epsilon shrinks": [MST(epsilon) for epsilon in (1000, 3, 0.1)],
}
# A tree of pairs that was drawn anew has nobody's record: there is nothing to fall but what is inferred.
NOTHING_TO_GET = {("epsilon shrinks", name) for name in ("singling-out", "linkability", "membership")}
SEEDS = 3


def villagers(seed: int) -> tuple[Table, Schema]:
    """Return 400 people, two or three in each village, whose disease nothing else tells."""
    rng = np.random.default_rng(seed)
    table = Table.from_arrow(
        {
            "height": rng.integers(0, 1_000_000, 400).tolist(),
            "village": [f"village {i}" for i in rng.integers(0, 150, 400)],
            "disease": [f"disease {i}" for i in rng.integers(0, 6, 400)],
        }
    )
    height = Attribute("height", "quasi-identifying", "numeric", Intervals((50_000,)))
    schema = Schema((height, Attribute("village", "quasi-identifying"), Attribute("disease", "sensitive")))
    return schema.with_assumed_public_part(table).bind(table)


@pytest.mark.parametrize("ladder", LADDERS)
def test_the_mean_risk_of_every_attack_falls_step_by_step_when(ladder: str) -> None:
    def mean_risks(how: Sanitizer) -> list[float]:
        releases = [sanitize(*villagers(seed), how, seed=seed) for seed in range(SEEDS)]
        found = [[each.value for each in measure(release, QUICK.values())] for release in releases]
        return np.mean(found, axis=0).tolist()

    rungs = [mean_risks(how) for how in LADDERS[ladder]]
    for name, risks in zip(QUICK, zip(*rungs, strict=True), strict=True):
        # 400 people in each of three tables: the means have standard errors of 0.02 to 0.03
        assert all(later <= earlier + 0.05 for earlier, later in pairwise(risks)), (name, risks)
        falls = risks[-1] < risks[0] - 0.075
        assert falls or ((ladder, name) in NOTHING_TO_GET and risks[0] < 0.1), (name, risks)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.8))
def test_the_risk_is_the_share_of_the_records_that_are_copies(seed: int, share: float) -> None:
    table, schema = bound()
    rng = np.random.default_rng(seed)
    copied = rng.random(table.n_rows) < share
    cells = {
        name: with_codes(table[name], np.where(copied, table[name].codes, rng.permutation(table[name].codes)))
        for name in schema.released
    }
    found = measure(synthetic_release(table, schema, cells), [Inference(miners=(), people=1000)])[0]
    assert found.value is not None
    # without a control group: of those who are not copied, one in six is guessed right anyway
    assert found.value == pytest.approx(share, abs=0.15)


def test_a_control_group_can_be_given_as_a_file(tmp_path: Path) -> None:
    csv.write_csv(pa.table(people(500, seed=7)), tmp_path / "control.csv")
    release = sanitize(*bound(), AsIs())
    for attack in (SinglingOut, Linkability, Membership, functools.partial(Inference, miners=())):
        found = attack(control=str(tmp_path / "control.csv")).measure(release)[0]
        assert found.value is not None
        assert found.value > 0.9
        assert found.detail["control-group"] == "people in control.csv"


def test_a_control_group_that_is_no_different_shows_that_there_is_no_risk(tmp_path: Path) -> None:
    # the same people as in the data: whatever succeeds with one succeeds with the other
    csv.write_csv(pa.table(people()), tmp_path / "control.csv")
    release = sanitize(*bound(), AsIs())
    for attack in QUICK.values():
        found = replace(attack, control=str(tmp_path / "control.csv")).measure(release)[0]
        assert found.interval is not None
        assert found.interval[0] == 0


def test_a_control_group_without_a_known_column_is_refused_by_name(tmp_path: Path) -> None:
    csv.write_csv(pa.table({"height": [1], "weight": [2]}), tmp_path / "control.csv")
    with pytest.raises(DataError, match="the control group has no column 'town'"):
        Membership(control=str(tmp_path / "control.csv")).measure(sanitize(*bound(), AsIs()))


def test_a_release_of_another_program_is_compared_with_guessing() -> None:
    found = Inference(miners=()).measure(replace(sanitize(*bound(), AsIs()), recipe=None))[0]
    assert "control" not in found.detail
    assert found.detail["control-group"].startswith("none: ")
    assert found.value is not None
    assert found.value > 0.9


def test_what_is_told_of_groups_is_guessed_as_often_as_the_group_has_it() -> None:
    found = taken("inference", Anatomy(3))
    assert found.detail["attacked"] == pytest.approx(1 / 3, abs=0.06)
    assert found.detail["control"] == pytest.approx(1 / 6, abs=0.06)


def test_the_worst_attack_is_named() -> None:
    release = sanitize(*bound(), Anatomy(3), seed=3)
    found = AttackRisk(miners=()).measure(release)[0]
    risks = found.detail["attacks"]
    assert set(risks) == {"singling-out", "linkability", "inference of disease", "membership"}
    assert found.value == max(risks.values()) == risks[found.detail["worst"]]


def test_a_miner_can_be_the_best_attacker() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 1000, 600)
    columns = {"age": age.tolist(), "old": np.where(age > 500, "yes", "no").tolist()}
    schema = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("old", "sensitive")))
    release = replace(sanitize(Table.from_arrow(columns), schema, AsIs()), recipe=None)
    setting = setting_of(release, None, 300, 0)
    attempts = {each.attacker: each for each in Inference().attempts(setting, "old", ("age",))}
    assert attempts["random-tree"].judged.attacked.value > 0.95


def test_nobody_is_in_the_data_and_in_the_control_group() -> None:
    columns = {**people(60), "number": list(range(60))}
    schema = replace(SCHEMA, attributes=(*SCHEMA.attributes, Attribute("number", "insensitive")))
    setting = setting_of(sanitize(Table.from_arrow(columns), schema, AsIs()), None, 50, 0)
    assert setting.outside is not None
    inside, outside = setting.inside.table["number"], setting.outside.table["number"]
    assert not set(inside.codes.tolist()) & set(outside.codes.tolist())
    assert len(set(inside.codes.tolist())) == 48


def test_somebody_with_several_records_is_one_target() -> None:
    table = Table.from_arrow({"height": [1, 2, 3, 4, 5, 6], "who": [0, 0, 0, 0, 1, 2]})
    height, who = Attribute("height", "quasi-identifying", "numeric"), Attribute("who", "identifying")
    schema = Schema((height, who), person="who")
    bound_table, _ = schema.bind(table)
    rows, left = drawn_people(bound_table, 3, np.random.default_rng(0))
    assert bound_table.person_of is not None
    assert sorted(bound_table.person_of[rows].tolist()) == [0, 1, 2]
    assert left.sum() == 0


def test_a_predicate_is_true_of_exactly_one_as_often_as_its_weight_says() -> None:
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 1e-4, 3e-3], 4000)
    counts = rng.binomial(2000, weights)
    expected = (8000 * weights * (1 - weights) ** 7999).mean()
    assert chance_of_one(counts, 2000, 8000) == pytest.approx(expected, abs=0.03)


def test_a_threshold_parts_those_who_can_be_parted() -> None:
    assert best_threshold(np.array([3.0, 4.0]), np.array([1.0, 2.0])) == 2.0
    assert best_threshold(np.array([]), np.array([])) == 1.0


def test_the_same_seed_attacks_the_same_people() -> None:
    release = sanitize(*bound(), Mondrian(KAnonymity(5)), seed=1)
    one, again = (Inference(miners=(), seed=4).measure(release) for _ in range(2))
    assert one == again
    assert Inference(miners=(), seed=5).measure(release) != one


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SinglingOut(people=0), "people must be at least 1"),
        (lambda: Linkability(neighbours=0), "neighbours must be at least 1"),
        (lambda: Linkability(("age",), other=("age",)), "'age' is both in known and in other"),
        (lambda: SinglingOut(known=("hight",)).measure(sanitize(*bound(), AsIs())), "did you mean 'height'"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()  # type: ignore[operator]


def brute_linked(release: LinkedRelease, height: float, weight: float) -> bool:
    heights = np.array([float(v) for v in release.cells["height"].labels])[release.cells["height"].codes]
    weights = np.array([float(v) for v in release.cells["weight"].labels])[release.cells["weight"].codes]
    return int(np.abs(heights - height).argmin()) == int(np.abs(weights - weight).argmin())


def test_links_are_those_that_a_loop_over_all_records_finds() -> None:
    release = sanitize(*bound(), AsIs(), seed=0)
    attack = Linkability(("height",), other=("weight",), people=200)
    setting = setting_of(release, None, 200, 0)
    assert setting.outside is not None
    found = attack.attempt(setting, (("height",), ("weight",)))
    table, judged = setting.outside.table, setting.outside.rows[setting.outside.n_trial :]
    values = [np.array(table[name].domain)[table[name].codes[judged]] for name in ("height", "weight")]
    linked = [brute_linked(setting.release, *pair) for pair in zip(*values, strict=True)]
    assert found.judged.control is not None
    assert found.judged.control.value == np.mean(linked)
