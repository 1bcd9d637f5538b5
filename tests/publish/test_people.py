"""Publishing where somebody has several records: what is said of people, and what a reader can check."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato import Attribute, Limit, Schema, Table, measure, publish, sanitize, verify
from sfumato.models import KAnonymity, TCloseness
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import PolicyNotMet, SchemaError
from sfumato.sanitizers import Mondrian
from sfumato.verification.check import check_folder
from sfumato.verification.documents import read_manifest
from sfumato.workflow.report.owner_report import class_facts

SCHEMA = Schema(
    (
        Attribute("patient", "identifying"),
        Attribute("age", "quasi-identifying"),
        Attribute("town", "quasi-identifying"),
        Attribute("illness", "sensitive"),
    ),
    person="patient",
)
MEASURES = ["reidentification-risk", "k-anonymity", "privacy-loss", "trace-risk", "suppression-loss"]


def visits() -> Table:
    rng = random.Random(3)
    rows: dict[str, list[Any]] = {name: [] for name in ("patient", "age", "town", "illness")}
    for number in range(160):
        who = number % 60
        for name, value in zip(
            rows,
            (f"marker-{who}", 20 + who % 40, "ABC"[who % 3], rng.choice(["flu", "cold", "hiv"])),
            strict=True,
        ):
            rows[name].append(value)
    return Table.from_arrow(rows)


@pytest.fixture(scope="module")
def release() -> LinkedRelease:
    return sanitize(visits(), SCHEMA, Mondrian(KAnonymity(5) & TCloseness(0.5)), seed=1)


@pytest.fixture(scope="module")
def folder(release: LinkedRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("people") / "out"
    publish(release, place, MEASURES, policy={"reidentification-risk": Limit(at_most=0.2)})
    return place


def test_what_counts_people_is_an_unverified_claim(folder: Path) -> None:
    outcome = {check.what: check.outcome for check in verify(folder)}
    assert outcome["k-anonymity keeps k = 5, counting people"] == "unverified"
    assert outcome["t-closeness keeps t = 0.5, counting people"] == "unverified"
    assert outcome["the records are those of 60 of 60 people"] == "unverified"
    met = "the policy's reidentification-risk at most 0.2 is met by the owner's figure"
    assert outcome[met] == "unverified"
    assert "fails" not in outcome.values()


def test_what_counts_records_is_said_to(folder: Path) -> None:
    said = [check.what for check in verify(folder) if check.outcome == "checked"]
    assert any(what.startswith("k-anonymity is") and what.endswith("counting records") for what in said)
    assert not any("privacy-loss" in what for what in said)


def test_neither_the_persons_nor_how_many_a_class_has_is_published(
    folder: Path, release: LinkedRelease
) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["unverified"]["people"] == {"original": 60, "released": 60, "alone": 0}
    assert all(each["reached"] == each["limit"] for each in manifest["requirements"])
    assert not any("marker-" in file.read_text(errors="ignore") for file in folder.iterdir())
    assert "patient" not in (folder / "data.csv").read_text().splitlines()[0]


def test_the_report_says_what_classes_do_not_promise(folder: Path) -> None:
    report = (folder / "report.html").read_text()
    assert "Several records of one person." in report
    assert "people released" in report
    assert "counting people: a reader sees records" in report


def test_the_owners_report_tells_classes_in_people_and_in_records(release: LinkedRelease) -> None:
    facts = class_facts(release)
    people = sorted(release.classes.people.tolist())
    assert (facts["people"]["fewest"], facts["people"]["most"]) == (people[0], people[-1])
    assert facts["smallest"] == release.classes.sizes.min()
    assert people[0] < facts["smallest"]


def test_a_policy_is_held_against_people(release: LinkedRelease, tmp_path: Path) -> None:
    records = 1 / int(release.classes.sizes.min())
    people = 1 / int(release.classes.people.min())
    assert records < people
    with pytest.raises(PolicyNotMet, match="does not meet the policy"):
        publish(
            release,
            tmp_path / "out",
            MEASURES,
            policy={"reidentification-risk": Limit(at_most=(records + people) / 2)},
        )
    assert not (tmp_path / "out").exists()


def _more_than_kept(manifest: dict[str, Any]) -> None:
    manifest["requirements"][0]["reached"] = 50


def _impossible_k(manifest: dict[str, Any]) -> None:
    for each in (manifest["requirements"][0], manifest["recipe"]["parameters"]):
        model = each["model"]
        model["k-anonymity"]["k"] = 150
    manifest["requirements"][0] |= {"limit": 150.0, "reached": 150.0}


def _nobody_counted(manifest: dict[str, Any]) -> None:
    del manifest["unverified"]["people"]


def _records_counted(manifest: dict[str, Any]) -> None:
    del manifest["requirements"][0]["counted"]


def _more_people_than_records(manifest: dict[str, Any]) -> None:
    manifest["unverified"]["people"] = {"original": 161, "released": 161, "alone": 0}


@pytest.mark.parametrize(
    "forge",
    [_more_than_kept, _impossible_k, _nobody_counted, _records_counted, _more_people_than_records],
)
def test_what_the_records_speak_against_fails(
    folder: Path, tmp_path: Path, forge: Callable[[dict[str, Any]], None]
) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    for file in folder.iterdir():
        (forged / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((forged / "manifest.json").read_text())
    forge(manifest)
    (forged / "manifest.json").write_text(json.dumps(manifest))
    assert not verify(forged)


class TestPseudonyms:
    @pytest.fixture(scope="class")
    @classmethod
    def told(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[LinkedRelease, Path]:
        asked = Schema(SCHEMA.attributes, person="patient", pseudonym=True)
        release = sanitize(visits(), asked, Mondrian(KAnonymity(5)), seed=1)
        place = tmp_path_factory.mktemp("pseudonyms") / "out"
        publish(release, place, MEASURES, policy="none", allow_singling_out=True)
        return release, place

    def test_records_of_one_person_have_one_number(self, told: tuple[LinkedRelease, Path]) -> None:
        release, _ = told
        written = release.to_arrow().to_pydict()
        by_person: dict[int, list[tuple[Any, ...]]] = {}
        for person, *row in zip(
            written["person"], written["age"], written["town"], written["illness"], strict=True
        ):
            by_person.setdefault(person, []).append(tuple(row))
        assert sorted(by_person) == list(range(1, 61))
        assert sorted(map(len, by_person.values())) == sorted([3] * 40 + [2] * 20)

    def test_the_numbers_are_drawn_anew_at_each_writing(self, told: tuple[LinkedRelease, Path]) -> None:
        once, again = (
            {
                (row["person"], row["age"], row["town"], row["illness"])
                for row in told[0].to_arrow().to_pylist()
            }
            for _ in range(2)
        )
        assert once != again

    def test_people_of_a_class_can_be_counted_then(self, told: tuple[LinkedRelease, Path]) -> None:
        outcome = {check.what: check.outcome for check in verify(told[1])}
        assert outcome["k-anonymity keeps k = 5, counting people"] == "checked"
        assert "fails" not in outcome.values()
        assert "carry the same pseudonym" in (told[1] / "report.html").read_text()

    def test_a_number_that_was_changed_fails(self, told: tuple[LinkedRelease, Path], tmp_path: Path) -> None:
        forged = tmp_path / "forged"
        forged.mkdir()
        for file in told[1].iterdir():
            (forged / file.name).write_bytes(file.read_bytes())
        manifest = json.loads((forged / "manifest.json").read_text())
        manifest["unverified"]["people"]["released"] = 59
        (forged / "manifest.json").write_text(json.dumps(manifest))
        checks = check_folder(forged, read_manifest(forged)).checks
        assert any("speak against it" in check.problem for check in checks)

    def test_who_has_the_same_records_is_not_told_apart(self, told: tuple[LinkedRelease, Path]) -> None:
        (taken,) = measure(told[0], ["trace-risk"])
        rows = told[0].to_arrow().to_pylist()
        traces: dict[int, list[tuple[Any, Any]]] = {}
        for row in rows:
            traces.setdefault(row["person"], []).append((row["age"], row["town"]))
        alike = Counter(tuple(sorted(trace)) for trace in traces.values())
        chances = [1 / alike[tuple(sorted(trace))] for trace in traces.values()]
        assert taken.value == pytest.approx(sum(chances) / len(chances))

    def test_a_pseudonym_needs_a_person(self) -> None:
        with pytest.raises(SchemaError, match="nothing tells whose a record is"):
            Schema(SCHEMA.attributes, pseudonym=True)

    def test_where_everybody_has_one_record_none_is_written(self) -> None:
        one = {"patient": list("abcd"), "age": [1, 2, 3, 4], "town": list("wxyz"), "illness": list("ffgg")}
        asked = Schema(SCHEMA.attributes, person="patient", pseudonym=True)
        release = sanitize(Table.from_arrow(one), asked, Mondrian(KAnonymity(2)))
        assert "person" not in release.to_arrow().column_names
