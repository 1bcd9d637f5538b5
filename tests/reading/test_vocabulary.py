"""Vocabulary: names in several languages, spelled in any way, tell what a column is about."""

from __future__ import annotations

import pytest

from sfumato.data.table import Table
from sfumato.reading.role_guess import Guess, guess
from sfumato.reading.vocabulary import AGE, PLACE, POSTCODE, folded, topic_of


def of(name: str, values: list[str]) -> Guess:
    """Guess one column; a second one keeps equal values apart."""
    table = Table.from_arrow({name: values, "row key": [f"r{row}" for row in range(len(values))]})
    return guess(table)[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PatientenID", "patienten id"),
        ("Prénom", "prenom"),
        ("date_of-birth", "date of birth"),
        ("HbA1c", "hb a 1 c"),
        ("Straße", "strasse"),
        ("ICD-10", "icd 10"),
        ("ключ", ""),
        ("", ""),
    ],
)
def test_a_name_is_folded_to_plain_words(name: str, words: str) -> None:
    assert folded(name) == words


def test_the_first_topic_counts() -> None:
    assert topic_of("age at diagnosis") is AGE
    assert topic_of("postal address") is POSTCODE
    assert topic_of("city") is PLACE
    assert topic_of("column 7") is None


@pytest.mark.parametrize(
    "name",
    [
        "name",
        "First Name",
        "last_name",
        "SURNAME",
        "Nachname",
        "prénom",
        "Apellidos",
        "patient_name",
        "e-mail",
        "eMail",
        "Telefonnummer",
        "phone_number",
        "SSN",
        "IBAN",
        "passport no",
        "patientID",
        "patient_id",
        "Patientennummer",
        "numéro_patient",
        "patient_nbr",
        "visit_id",
        "id",
        "uuid",
        "street address",
        "Straße",
        "dirección",
        "Nombre",
        "Comments",
    ],
)
def test_names_of_persons_and_their_numbers_are_identifying(name: str) -> None:
    assert of(name, ["a", "b", "b", "c", "d"]).role == "identifying"


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Alter",
        "âge",
        "edad",
        "Sex",
        "gender",
        "Geschlecht",
        "date of birth",
        "Geburtsjahr",
        "zip",
        "city_name",
        "Bundesland",
        "país",
        "country_id",
        "race",
        "Staatsangehörigkeit",
        "nationality",
        "marital-status",
        "Familienstand",
        "education",
        "Beruf",
        "profession",
        "hospital_name",
        "age_at_diagnosis",
        "language",
        "nombre d'enfants",
    ],
)
def test_what_others_may_know_is_quasi_identifying(name: str) -> None:
    assert of(name, ["1", "2", "2", "3", "3"]).role == "quasi-identifying"


@pytest.mark.parametrize(
    "name",
    [
        "diagnosis",
        "Hauptdiagnose",
        "diagnóstico",
        "maladie",
        "ICD-10",
        "condition",
        "treatment",
        "drug_name",
        "salary",
        "Bruttoeinkommen",
        "revenu",
        "Income (USD)",
        "religion",
        "Konfession",
        "sexual orientation",
        "political party",
        "criminal_record",
        "test result",
        "HIV status",
        "HbA1c",
        "Schulden",
        "enfermedad",
    ],
)
def test_what_others_should_not_learn_is_sensitive(name: str) -> None:
    found = of(name, ["a", "b", "b", "c", "c"])
    assert (found.role, found.reason[:10]) == ("sensitive", "Named like")


@pytest.mark.parametrize("name", ["dosage", "capacity", "metropolitan", "experimental", "trace", "pages"])
def test_a_word_inside_another_word_is_not_that_word(name: str) -> None:
    found = of(name, ["a", "b", "b", "c", "c"])
    assert found.role == "quasi-identifying"
    assert not any(word in found.reason for word in ("an age", "origin", "a place", "politic", "health"))
