"""Gains of an adversary who adds nearer predictions to the release, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.measures import Adversary, NearerAccuracyGain, NearerKnowledgeGain, Scenario
from sfumato.measures.scenarios import nearer_gains, predictions
from sfumato.measures.scenarios.nearness import Told
from sfumato.miners.base import Predictions
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, origin_of
from sfumato.results.released_column import Cells, ValueSets

SCHEMA = sf.Schema(
    (
        sf.Attribute("town", "quasi-identifying"),
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("ill", "sensitive"),
    )
)
# all ages are released as [20, 30): one class of four in the one town, and one of two in the other
PEOPLE: dict[str, list[Any]] = {
    "age": [20, 21, 22, 23, 20, 21],
    "town": list("AAAABB"),
    "ill": list("aabbaa"),
}


def release() -> sf.Release:
    return sf.sanitize(
        pa.table(PEOPLE), SCHEMA, sf.sanitizers.FullDomain({"age": 1}, sf.models.KAnonymity(1))
    )


@pytest.fixture
def handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one miner be right of nobody's age, and the other of three people's."""

    def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
        domain = (
            release.origin.table[name].domain
            if isinstance(release, LinkedRelease)
            else release.cells[name].labels
        )
        codes = {"naive-bayes": [3, 3, 3, 0, 3, 3], "majority": [0, 1, 0, 3, 3, 3]}
        if len(domain) == 2:
            codes = {"naive-bayes": [1, 0, 0, 0, 1, 1], "majority": [0, 0, 0, 0, 0, 0]}
        rows = np.arange(6)
        return [
            Predictions(name, each, "category", domain, rows, release.weights, np.array(codes[each]), 2, 0.0)
            for each in miners
        ], []

    monkeypatch.setattr(predictions, "predictions", said)


def taken(kind: Any, *names: str, **facts: Any) -> Any:
    adversary = Adversary(names or ("age",), miners=("naive-bayes", "majority"), guesses="values", **facts)
    return kind(Scenario(adversary=adversary)).measure(release())


def test_nearer_predictions_split_the_classes_further(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain)
    # in one town two a and two b could not be told apart: now two a and a b are, so that one b is left; in
    # the other both have a, as four of six have
    assert found.value == pytest.approx(1 - 4 / 6)
    assert found.baseline == 0
    assert (found.detail["miner"], found.detail["nearer"], found.attribute) == ("majority", 3 / 6, "ill")
    assert found.detail["replaced"] == pytest.approx(1 - 4 / 6)
    assert (found.axis, found.better, NearerAccuracyGain.guards) == ("privacy", "lower", "attribute")


def test_knowledge_is_gained_from_the_same_classes(handed_in: None) -> None:
    (found,) = taken(NearerKnowledgeGain)
    alone = {"age": [20, 21, 22, 23, 24, 24], "town": list("AAAABB"), "ill": PEOPLE["ill"]}
    (known,) = sf.measure(
        sf.sanitize(pa.table(alone), SCHEMA, sf.sanitizers.AsIs()), [sf.measures.KnowledgeGain()]
    )
    (before,) = sf.measure(release(), [sf.measures.KnowledgeGain()])
    assert found.baseline == before.value
    assert found.value == known.value


def test_who_has_several_records_is_one_person(handed_in: None) -> None:
    schema = sf.Schema((*SCHEMA.attributes, sf.Attribute("who", "identifying")), person="who")
    people = pa.table({**PEOPLE, "who": [1, 1, 1, 2, 3, 4]})
    made = sf.sanitize(people, schema, sf.sanitizers.FullDomain({"age": 1}, sf.models.KAnonymity(1)))
    adversary = Adversary(("age",), miners=("naive-bayes",), guesses="values")
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(made)
    # nothing is nearer, and the gain stays what it was
    assert found.value == found.baseline


def test_predictions_may_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {name: [*column, column[0]] for name, column in PEOPLE.items()}
    made = sf.sanitize(pa.table(twice), SCHEMA, sf.sanitizers.FullDomain({"age": 1}, sf.models.KAnonymity(1)))
    assert made.weights.tolist() == [2, 1, 1, 1, 1, 1]

    def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
        rows, weights = np.arange(6), release.weights
        if name == "age":
            rows, weights = np.array([0, 0, 1, 2, 3, 4, 5]), np.ones(7, dtype=np.int64)
        domain = origin_of(release).table[name].domain
        codes = np.zeros(len(rows), dtype=np.int64)
        return [Predictions(name, "majority", "category", domain, rows, weights, codes, 2, 0.0)], []

    monkeypatch.setattr(predictions, "predictions", said)
    for names in (("age", "town"), ("town", "age")):
        adversary = Adversary(names, miners=("majority",), guesses="values")
        (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(made)
        # 20 is said of everybody, and is right of the two of the first row and of one in the other town;
        # two a of four people there are told apart, so that all but one are guessed right where five have a
        assert found.detail["nearer"] == 3 / 7
        assert found.value == pytest.approx(6 / 7 - 5 / 7)


def test_predictions_that_are_far_off_change_nothing(handed_in: None) -> None:
    adversary = Adversary(("age",), miners=("naive-bayes",), guesses="values")
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(release())
    assert (found.value, found.detail["nearer"]) == (0, 0)


def test_weights_say_which_miner_is_the_worst(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain, weights="age = 22")
    # nobody is right of them; of equally bad miners it is the first
    assert (found.detail["miner"], found.detail["nearer"]) == ("naive-bayes", 0)


def test_predictions_of_several_attributes_are_added(handed_in: None) -> None:
    (found,) = taken(NearerAccuracyGain, "age", "town")
    assert found.detail["miner"] == "majority, naive-bayes"
    # towns are told anyway: nothing is nearer
    assert found.value == pytest.approx(1 - 4 / 6)
    assert found.detail["nearer"] == 3 / 6


def test_a_quasi_identifier_must_be_attacked_and_something_be_sensitive(handed_in: None) -> None:
    with pytest.raises(NotApplicable, match="attacks no quasi-identifier"):
        taken(NearerAccuracyGain, "ill")
    table = pa.table({"age": [1, 2]})
    plain = sf.sanitize(table, sf.Schema.of(age="quasi-identifying"), sf.sanitizers.AsIs())
    with pytest.raises(NotApplicable, match="has no sensitive attribute"):
        NearerAccuracyGain(Scenario(adversary=Adversary(("age",)))).measure(plain)


def test_of_groups_nothing_can_be_replaced(handed_in: None) -> None:
    people = pa.table({**PEOPLE, "ill": list("ababab")})
    adversary = Adversary(("age",), miners=("majority",), guesses="values")
    made = sf.sanitize(people, SCHEMA, sf.sanitizers.Anatomy(2))
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(made)
    assert found.detail["replaced"] == found.baseline


@pytest.mark.parametrize(("ill", "before", "known", "replaced"), [("aabbbb", 4, 5, 4), ("aabbab", 4, 5, 5)])
def test_a_smaller_label_in_the_place_of_a_larger_one_may_join_classes(
    ill: str, before: int, known: int, replaced: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = {"age": [20, 21, 22, 23, 24, 25], "town": list("AAAAAA"), "ill": list(ill)}
    plain = sf.sanitize(pa.table(people), SCHEMA, sf.sanitizers.AsIs())
    # four people have any age, one is said to be 20 and one to be 21
    sets = ValueSets(np.array([0, 4, 5, 6]), np.array([0, 1, 2, 3, 0, 1]), np.array([4, 1, 1]), 6)
    ages = Cells(np.array([0, 0, 0, 0, 1, 2]), ("any", "20", "21"), plain.cells["age"].domain, sets)

    def said(release: sf.Release, name: str, miners: Any, scenario: Scenario) -> Any:
        labels, codes = release.cells[name].labels, np.array([1, 0, 0, 0, 0, 0])
        return [
            Predictions(
                name, "majority", "category", labels, np.arange(6), np.arange(6) // 6 + 1, codes, 2, 0
            )
        ], []

    monkeypatch.setattr(predictions, "predictions", said)
    adversary = Adversary(("age",), miners=("majority",), guesses="released")
    made = replace(plain, cells={**plain.cells, "age": ages})
    (found,) = NearerAccuracyGain(Scenario(adversary=adversary)).measure(made)
    # two of the four are guessed right, and the others. Who is told to be 20 is alone with that, and one more
    # is guessed right; but whoever writes 20 in its place puts two people together, who may differ
    prior = ill.count("b") / 6
    assert found.baseline == pytest.approx(before / 6 - prior)
    assert found.value == pytest.approx(known / 6 - prior)
    assert found.detail["replaced"] == pytest.approx(replaced / 6 - prior)
    assert found.detail["nearer"] == 1 / 6


def test_predictions_that_are_no_released_labels_get_codes_behind_them() -> None:
    # three ages are told; all are released as one label, whose code is 0
    column = Column(np.array([0, 1, 0, 3, 0, 0], np.int32), (20, 21, 22, 23), NUMERIC)
    codes, weights = np.array([1, 2, 0, 4, 0, 0]), np.ones(6, np.int64)
    attempt = predictions.Attempt(
        "majority", np.arange(6), weights, Told(column, np.zeros(6)), column.codes, of_labels=False
    )
    hits = nearer_gains._Hits(attempt, codes > 0, codes, 5)
    columns, sizes = nearer_gains._with_predictions(release(), np.arange(6), {"age": codes}, [hits])
    found = dict(zip(release().schema.quasi_identifiers, zip(columns, sizes, strict=True), strict=True))
    assert found["age"][0].tolist() == [1, 2, 0, 4, 0, 0]
    assert found["town"][0].tolist() == release().cells["town"].codes.tolist()
    # a size is above every code: otherwise different rows would get the same number
    assert all(codes.max() < size for codes, size in found.values())
