"""What is guessed of a few people, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures import Inference
from sfumato.measures.attacks import inference
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.inference import _beliefs, _Secret, _shown, _voted
from sfumato.measures.attacks.record_distances import sight
from sfumato.results.released_column import Cells, ValueSets

SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("ill", "sensitive"),
        sf.Attribute("pay", "sensitive", "numeric"),
    )
)
PEOPLE: dict[str, list[Any]] = {
    "age": [10, 11, 20, 30],
    "ill": ["flu", "gout", "flu", "cold"],
    "pay": [100, 200, -300, None],
}


def release(level: int = 0) -> sf.results.LinkedRelease:
    how = sf.sanitizers.FullDomain({"age": level}, sf.models.KAnonymity(1))
    return sf.sanitize(pa.table(PEOPLE), SCHEMA, how)


def listed(ages: Sequence[float], **more: Sequence[Any]) -> Listed:
    return Listed(sf.Table.from_arrow({"age": ages, **more}), np.arange(len(ages)))


class TestSecret:
    def test_a_number_may_be_off_by_a_twentieth_of_the_true_one(self) -> None:
        secret = _Secret.of(release(), "pay")
        truth = np.array([100.0, 100, 100, -100, -100, 0, 0, np.nan, np.nan, 1])
        guess = np.array([105.0, 95, 94, -105, -106, 0, 1, np.nan, 1, np.nan])
        assert secret.right(guess, truth).tolist() == [
            *[True, True, False, True, False],
            *[True, False] * 2,
            False,
        ]
        assert secret.predicts == "number"
        assert secret.named(np.array([1, 2])).tolist() == [1, 2]
        assert secret.named(np.array([1, 2])).dtype == _Secret.of(release(), "ill").values.dtype == np.float64

    def test_a_category_is_right_or_not(self) -> None:
        secret = _Secret.of(release(), "ill")
        assert secret.right(np.array([0.0, 1, 1]), np.array([0.0, 2, np.nan])).tolist() == [
            True,
            False,
            False,
        ]
        assert secret.predicts == "category"

    def test_the_truth_is_known_of_everybody_who_is_attacked(self) -> None:
        others = listed([1, 2, 3], ill=["gout", "plague", "flu"], pay=[7, None, 9])
        domain = release().cells["ill"].domain
        places = _Secret.of(release(), "ill").truth(others).tolist()
        assert places == pytest.approx([domain.index("gout"), np.nan, domain.index("flu")], nan_ok=True)
        assert _Secret.of(release(), "pay").truth(others).tolist() == pytest.approx(
            [7, np.nan, 9], nan_ok=True
        )

    def test_the_commonest_value_is_that_of_most_people_in_the_data(self) -> None:
        table = release().origin.table
        secret = _Secret.of(release(), "ill")
        assert secret.commonest(Listed(table, np.array([0]))) == release().cells["ill"].domain.index("flu")
        people = {**PEOPLE, "pay": [1, 2, 2, 2]}
        made = sf.sanitize(pa.table(people), SCHEMA, sf.sanitizers.AsIs())
        assert _Secret.of(made, "pay").commonest(Listed(made.origin.table, np.array([0]))) == 2


def beliefs(made: sf.Release, name: str = "ill") -> list[dict[Any, float]]:
    """Return for each box how many records are expected to have each value."""
    found = _beliefs(sight(made, ("age",)), _Secret.of(made, name))
    domain = made.cells[name].domain
    return [
        {domain[found.values[entry]]: float(found.weights[entry]) for entry in range(first, end)}
        for first, end in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]


def test_a_box_is_believed_to_have_what_its_records_have() -> None:
    assert beliefs(release(1)) == [{"flu": 1, "gout": 1}, {"flu": 1}, {"cold": 1}]
    more = sf.sanitize(
        pa.table({"age": [10, 10, 10, 20], "ill": ["flu", "flu", "gout", "flu"], "pay": [1, 1, 2, 3]}),
        SCHEMA,
        sf.sanitizers.AsIs(),
    )
    assert beliefs(more) == [{"flu": 2, "gout": 1}, {"flu": 1}]


def test_of_a_group_every_record_may_have_every_value() -> None:
    people = {"age": [10, 20, 30, 40], "ill": ["flu", "gout", "flu", "cold"]}
    made = sf.sanitize(pa.table(people), sf.Schema(SCHEMA.attributes[:2]), sf.sanitizers.Anatomy(2))
    group_of = made.group_of
    assert group_of is not None
    shown = [made.cells["ill"].labels[code] for code in made.cells["ill"].codes]
    groups = [[ill for ill, of in zip(shown, group_of, strict=True) if of == group] for group in group_of]
    expected = [{ill: each.count(ill) / len(each) for ill in set(each)} for each in groups]
    assert beliefs(made) == [pytest.approx(each) for each in expected]


def test_the_likeliest_and_one_of_all_are_guessed_of_the_nearest() -> None:
    people = {"age": [10, 10, 10, 20], "ill": ["flu", "flu", "gout", "cold"], "pay": [1, 1, 2, 3]}
    made = sf.sanitize(pa.table(people), SCHEMA, sf.sanitizers.AsIs())
    many = Listed(sf.Table.from_arrow({"age": [10, 20]}), np.array([0] * 3000 + [1] * 5))
    drawn, likeliest = _voted(sight(made, ("age",)), _Secret.of(made, "ill"), many, np.random.default_rng(0))
    domain = made.cells["ill"].domain
    assert {domain[code] for code in likeliest[:3000]} == {"flu"}
    assert {domain[code] for code in (*likeliest[3000:], *drawn[3000:])} == {"cold"}
    shares = np.bincount(drawn[:3000], minlength=3) / 3000
    assert shares[domain.index("flu")] == pytest.approx(2 / 3, abs=0.04)
    assert shares[domain.index("gout")] == pytest.approx(1 / 3, abs=0.04)


def test_of_several_nearest_records_the_one_that_says_most_is_shown() -> None:
    plain = release()
    # the first may be anything, the second 10 or 11, the third is 11, the last 30
    sets = ValueSets(np.array([0, 4, 6, 7, 8]), np.array([0, 1, 2, 3, 0, 1, 1, 3]), np.array([4, 2, 1, 1]), 4)
    ages = Cells(np.arange(4), ("*", "10-11", "11", "30"), plain.cells["age"].domain, sets)
    made = replace(plain, cells={**plain.cells, "age": ages})
    assert _shown(sight(made, ("age",)), listed([11, 10, 20, 30])).tolist() == [2, 1, 0, 3]


class TestMiners:
    """A miner says of each released record what it is told to say."""

    def tried(self, monkeypatch: pytest.MonkeyPatch, said: list[int], **facts: Any) -> dict[str, Any]:
        asked: list[Any] = []

        def predicted(view: sf.Release, name: str, miner: str, weights: Any, seed: int) -> Any:
            asked.append((tuple(view.cells), name, miner, weights.tolist(), seed))
            return SimpleNamespace(finished=miner != "one-rule", predicted=np.array(said))

        monkeypatch.setattr(inference, "predict_from_all", predicted)
        made = facts.pop("release", release())
        where = Setting(made, Listed(made.origin.table, np.arange(made.origin.table.n_rows)), None, None, "")
        measure = Inference(seed=7, **facts)
        found = {each.attacker: each for each in measure.attempts(where, "ill", ("age",))}
        return {"asked": asked, **found}

    def test_what_it_says_of_the_nearest_record_is_its_guess(self, monkeypatch: pytest.MonkeyPatch) -> None:
        domain = release().cells["ill"].domain
        said = [domain.index(ill) for ill in ("flu", "flu", "flu", "cold")]
        found = self.tried(monkeypatch, said, miners=("naive-bayes", "regression-tree"))
        assert found["naive-bayes"].judged.attacked.value == 3 / 4
        # an illness is no number; what is not known of people is not shown
        assert found["asked"] == [(("age", "ill"), "ill", "naive-bayes", [1, 1, 1, 1], 7)]

    def test_one_that_does_not_come_to_an_end_guesses_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.tried(monkeypatch, [0] * 4, miners=("one-rule", "naive-bayes"))
        assert list(found) == [
            "asked",
            "a nearest record",
            "likeliest among the nearest records",
            "naive-bayes",
        ]

    def test_one_record_is_nothing_to_learn_from(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for n_records, n_asked in ((1, 0), (2, 1)):
            people = {name: column[:n_records] for name, column in PEOPLE.items()}
            few = sf.sanitize(pa.table(people), SCHEMA, sf.sanitizers.AsIs())
            found = self.tried(monkeypatch, [0] * n_records, miners=("naive-bayes",), release=few)
            assert len(found["asked"]) == n_asked
