"""Gains of an adversary who adds nearer predictions to the release, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import Adversary, NearerAccuracyGain, NearerKnowledgeGain, Scenario
from sfumato.cells import Cells, ValueSets
from sfumato.measures import mining
from sfumato.measures.reasons import NotApplicable
from sfumato.miners.base import Predictions

SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("town", "quasi-identifying"),
        sf.Attribute("ill", "sensitive"),
    )
)
# all ages are released as [20, 30): one class of four in the one town, and one of two in the other
PEOPLE = {"age": [20, 21, 22, 23, 20, 21], "town": list("AAAABB"), "ill": list("aabbab")}


def release(how: sf.Sanitizer | None = None) -> sf.Release:
    return sf.sanitize(pa.table(PEOPLE), SCHEMA, how or sf.FullDomain({"age": 1}, sf.KAnonymity(1)))


@pytest.fixture
def handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one miner be right of nobody's age, and the other of the first three people's."""

    def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
        domain = release.original[name].domain if release.original else release.cells[name].labels
        codes = {"naive-bayes": [3, 3, 3, 0, 3, 3], "majority": [0, 1, 2, 0, 3, 3]}
        if len(domain) == 2:
            codes = {"naive-bayes": [1, 0, 0, 0, 1, 1], "majority": [0, 0, 0, 0, 0, 0]}
        rows = np.arange(6)
        return [
            Predictions(name, each, "category", domain, rows, release.weights, np.array(codes[each]), 2, 0.0)
            for each in miners
        ], []

    monkeypatch.setattr(mining, "predictions", said)


def taken(kind: Any, *names: str, how: sf.Sanitizer | None = None, **facts: Any) -> Any:
    adversary = Adversary(names or ("age",), miners=("naive-bayes", "majority"), guesses="values", **facts)
    return kind(Scenario(adversary=adversary)).measure(release(how))


def test_nearer_predictions_split_the_classes_further(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain)
    # who is told from a class of two a and two b: an a, an a and a b, so that one b is left; in the other
    # town nothing changes: five of six are guessed right where three were
    assert found.value == pytest.approx(5 / 6 - 1 / 2)
    assert found.baseline == 0
    assert (found.detail["miner"], found.detail["nearer"], found.attribute) == ("majority", 3 / 6, "ill")
    assert found.detail["replaced"] == pytest.approx(5 / 6 - 1 / 2)


def test_knowledge_is_gained_from_the_same_classes(handed_in: None) -> None:
    (found,) = taken(NearerKnowledgeGain)
    # four people of six are alone, and lie log 2 from an even distribution
    before = sf.measure(release(), [sf.KnowledgeGain()])[0]
    alone = sf.sanitize(
        pa.table({"town": ["A", "B"], "ill": ["a", "b"]}),
        sf.Schema.of(town="quasi-identifying", ill="sensitive"),
        sf.AsIs(),
    )
    most = sf.measure(alone, [sf.KnowledgeGain()])[0].value
    assert found.baseline == before.value == 0
    assert found.value == pytest.approx(4 / 6 * (most or 0))


def test_predictions_that_are_far_off_change_nothing(handed_in: None) -> None:
    adversary = Adversary(("age",), miners=("naive-bayes",), guesses="values")
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(release())
    assert (found.value, found.detail["nearer"]) == (0, 0)


def test_weights_say_which_miner_is_the_worst(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain, weights="age = 23")
    # nobody is right of them; of equally bad miners it is the first
    assert (found.detail["miner"], found.detail["nearer"]) == ("naive-bayes", 0)


def test_predictions_of_several_attributes_are_added(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain, "age", "town")
    assert found.detail["miner"] == "majority, naive-bayes"
    # towns are told anyway: nothing is nearer
    assert found.value == pytest.approx(5 / 6 - 1 / 2)
    assert found.detail["nearer"] == 3 / 6


def test_a_quasi_identifier_must_be_attacked_and_something_be_sensitive(handed_in: None) -> None:
    with pytest.raises(NotApplicable, match="attacks no quasi-identifier"):
        taken(NearerAccuracyGain, "ill")
    table = pa.table({"age": [1, 2]})
    plain = sf.sanitize(table, sf.Schema.of(age="quasi-identifying"), sf.AsIs())
    with pytest.raises(NotApplicable, match="has no sensitive attribute"):
        NearerAccuracyGain(Scenario(adversary=Adversary(("age",)))).measure(plain)


def test_of_groups_nothing_can_be_replaced(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain, how=sf.Anatomy(2))
    assert found.detail["replaced"] == found.baseline


def test_a_smaller_label_in_the_place_of_a_larger_one_may_join_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = {"age": [20, 21, 22, 23, 20, 21], "town": list("AAAAAA"), "ill": list("aabbbb")}
    plain = sf.sanitize(pa.table(people), SCHEMA, sf.AsIs())
    # four people have any age, one is known to be 20 and one to be 21
    sets = ValueSets(np.array([0, 4, 5, 6]), np.array([0, 1, 2, 3, 0, 1]), np.array([4, 1, 1]), 4)
    ages = Cells(np.array([0, 0, 0, 0, 1, 2]), ("any", "20", "21"), plain.cells["age"].domain, sets)
    known = replace(plain, cells={**plain.cells, "age": ages})

    def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
        labels, codes = release.cells[name].labels, np.array([1, 0, 0, 0, 0, 0])
        return [Predictions(name, "majority", "category", labels, np.arange(6), np.ones(6), codes, 2, 0)], []

    monkeypatch.setattr(mining, "predictions", said)
    adversary = Adversary(("age",), miners=("majority",), guesses="released")
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(known)
    # two of the four are guessed right, and the others; who is told to be 20 is alone with that, and one
    # more is guessed right; but whoever writes 20 in its place puts two people together who differ
    assert (found.baseline, found.detail["nearer"]) == (0, 1 / 6)
    assert found.value == pytest.approx(5 / 6 - 4 / 6)
    assert found.detail["replaced"] == pytest.approx(0)
