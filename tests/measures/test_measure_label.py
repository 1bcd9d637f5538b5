"""The label of a measurement: written from its parts, and taken apart where a user or a file wrote it."""

from __future__ import annotations

import json
import pickle

import pytest

from sfumato.measures import Measurement, PrivacyLoss, WorstGroupRisk
from sfumato.results.formatting import measure_words
from sfumato.results.measure_label import MeasureLabel

PARTS = {
    "k-anonymity": ("k-anonymity", "", None),
    "t-closeness distance=js": ("t-closeness", "distance=js", None),
    "privacy-loss of income": ("privacy-loss", "", "income"),
    "privacy-loss of cause of death": ("privacy-loss", "", "cause of death"),
    "privacy-loss of a=b": ("privacy-loss", "", "a=b"),
    "t-closeness distance=js of cause of death": ("t-closeness", "distance=js", "cause of death"),
    "worst-group-risk attribute=cause of death of=privacy-loss distance=js": (
        "worst-group-risk",
        "attribute=cause of death of=privacy-loss distance=js",
        None,
    ),
}


@pytest.mark.parametrize("written", PARTS)
def test_what_is_written_is_taken_apart_and_written_alike(written: str) -> None:
    label = MeasureLabel.parse(written)
    assert (label.measure, label.parameters, label.attribute) == PARTS[written]
    assert label == written
    assert MeasureLabel(*PARTS[written]) == label
    assert MeasureLabel.parse(label) is label


def test_a_label_with_and_without_an_attribute() -> None:
    label = MeasureLabel.of("t-closeness", {"distance": "js"})
    one = label.of_attribute("income")
    assert (label.whole, one.whole) == (label, label)
    assert (one, one.attribute) == ("t-closeness distance=js of income", "income")


def test_a_label_keeps_its_parts_between_processes_and_is_a_text_in_files() -> None:
    label = MeasureLabel("t-closeness", "distance=js", "income")
    copy = pickle.loads(pickle.dumps(label))
    assert (copy, copy.measure, copy.parameters, copy.attribute) == (
        label,
        "t-closeness",
        "distance=js",
        "income",
    )
    assert json.loads(json.dumps({label: label})) == {str(label): str(label)}


def test_measures_and_measurements_know_the_parts_of_their_labels() -> None:
    asked = WorstGroupRisk("cause of death", PrivacyLoss(distance="hellinger").label)
    taken = Measurement(asked.name, 0.1, "privacy", "lower", "ill", parameters=asked.parameters)
    assert asked.label == taken.label
    assert taken.label.parameters == "attribute=cause of death of=privacy-loss distance=hellinger"
    assert taken.attribute_label.attribute == "ill"
    assert taken.attribute_names[1] == "worst-group-risk of ill"


def test_the_title_of_a_measure_by_an_attribute_with_an_of_in_its_name_is_whole() -> None:
    label = "worst-group-risk attribute=cause of death of=privacy-loss"
    assert measure_words(label).title == (
        "risk of the worst-off group (attribute=cause of death of=privacy-loss)"
    )
