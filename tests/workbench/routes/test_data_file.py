"""How the file is written: marks, dates and encoding in a form, and a few rows behind a press."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.data.hierarchy import Dates
from sfumato.workflow.project.project_file import Project

from ..conftest import field

HERE = "/projects/visits/file"
VISITS = """\
Patient;Größe;Kosten;Aufnahme;Diagnose
P-{0}1;1,7{0};1.2{0}0,50;0{0}.03.2021;I10
P-{0}2;1,8{0};98{0},00;1{0}.04.2022;E11.9
P-{0}3;1,6{0};2.{0}00,00;k.A.;J45.0
"""
PROJECT = """\
# kept by hand
[data]
path = "visits.csv"   # from the ward

[attributes.Patient]
role = "identifying"

[attributes."Größe"]
role = "insensitive"

[attributes.Kosten]
role = "quasi-identifying"   # confirmed

[attributes.Aufnahme]
role = "quasi-identifying"

[attributes.Diagnose]
role = "sensitive"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A German file, and a project that says nothing about how it is written."""
    head, *rows = VISITS.splitlines()
    lines = [row.format(digit) for digit in range(1, 8) for row in rows]
    (tmp_path / "visits.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    (tmp_path / "visits.toml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def sent(guest: TestClient, page: str, **fields: str) -> Any:
    given = {key.replace("_", "-"): value for key, value in fields.items()}
    return guest.post(HERE, data={"version": field(page, "version"), **given})


def project(folder: Path) -> Project:
    return Project.load(folder / "visits.toml")


def test_marks_are_written_and_the_roles_stay(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    response = sent(
        guest, ready(HERE).text, decimal=",", thousands=".", missing_values="k.A.\r\n\r\n999\nk.A."
    )
    assert response.status_code == 303
    found = project(folder)
    assert (found.data.decimal, found.data.thousands) == (",", ".")
    assert found.data.missing_values == ["k.A.", "999"]
    assert {each.name: each.role for each in found.schema.attributes} == {
        "Patient": "identifying",
        "Größe": "insensitive",
        "Kosten": "quasi-identifying",
        "Aufnahme": "quasi-identifying",
        "Diagnose": "sensitive",
    }
    written = (folder / "visits.toml").read_text(encoding="utf-8")
    assert written.startswith('# kept by hand\n[data]\npath = "visits.csv"   # from the ward\n')
    assert "# confirmed" in written
    assert found.read()[0].n_records == 21


def test_saving_what_stands_changes_no_byte(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    by_hand = PROJECT + 'kind = "categorical"\n'
    (folder / "visits.toml").write_text(by_hand, encoding="utf-8")
    page = ready(HERE).text
    assert sent(guest, page, decimal=".", thousands="", missing_values="").status_code == 303
    assert (folder / "visits.toml").read_text(encoding="utf-8") == by_hand


def test_what_was_only_guessed_is_guessed_again(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    marks = ("keine Angabe", "unbekannt", "offen", "fehlt")
    for number, mark in enumerate(marks, start=1):
        text = (folder / "visits.csv").read_text(encoding="utf-8")
        (folder / "visits.csv").write_text(text.replace(f"0{number}.03.2021", mark), encoding="utf-8")
    assert "date-Aufnahme" not in ready(HERE).text
    sent(guest, ready(HERE).text, missing_values="\n".join(("k.A.", *marks)))
    assert project(folder).schema["Aufnahme"].hierarchy == Dates(format="%d.%m.%Y")
    assert project(folder).schema["Aufnahme"].role == "quasi-identifying"


def test_a_date_format_is_chosen_by_its_example(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    page = ready(HERE).text
    assert '<option value="" selected>not generalised as dates</option>' in page
    assert sent(guest, page, missing_values="k.A.", date_Aufnahme="%d.%m.%Y").status_code == 303
    page = ready(HERE).text
    assert re.search(r'<option value="%d.%m.%Y" selected>31.12.2024</option>', page)
    assert '<option value="%m/%d/%Y">12/31/2024</option>' in page
    assert "03.2021" not in page
    before = (folder / "visits.toml").read_text(encoding="utf-8")
    refused = sent(guest, page, missing_values="k.A.", date_Aufnahme="%Y-%m-%d")
    assert refused.status_code == 422
    assert 'id="date-Aufnahme-wrong">' in refused.text
    assert "are not dates of the format %Y-%m-%d" in refused.text
    assert '<option value="%Y-%m-%d" selected>' in refused.text
    assert (folder / "visits.toml").read_text(encoding="utf-8") == before
    other = before.replace("%d.%m.%Y", "%d.%m.%y")
    (folder / "visits.toml").write_text(other, encoding="utf-8")
    page = ready(HERE).text
    assert sent(guest, page, missing_values="k.A.", date_Aufnahme="%d.%m.%Y").status_code == 303
    assert project(folder).schema["Aufnahme"].hierarchy == Dates(format="%d.%m.%Y")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"decimal": ".", "thousands": "."}, "thousands"),
        ({"decimal": "x"}, "decimal"),
        ({"missing_values": "x" * 101}, "missing-values"),
        ({"encoding": "utf-16"}, "encoding"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_not_written(
    folder: Path, guest: TestClient, ready: Callable[..., Any], fields: dict[str, str], key: str
) -> None:
    raw = (folder / "visits.csv").read_bytes()
    response = sent(guest, ready(HERE).text, **fields)
    assert response.status_code == 422
    assert f'id="{key}-wrong"' in response.text
    assert (folder / "visits.toml").read_text(encoding="utf-8") == PROJECT
    assert (folder / "visits.csv").read_bytes() == raw


def test_a_file_that_cannot_be_read_leads_here_and_is_mended(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    broken = PROJECT.replace("[data]\n", '[data]\nencoding = "utf-16"\n')
    (folder / "visits.toml").write_text(broken, encoding="utf-8")
    assert f'href="{HERE}"' in ready("/projects/visits/data").text
    page = ready(HERE)
    assert page.status_code == 200
    assert "cannot be read as it is" in page.text
    assert sent(guest, page.text, encoding="").status_code == 303
    assert (folder / "visits.toml").read_text(encoding="utf-8") == PROJECT


def test_a_column_keeps_its_role_when_another_encoding_renames_it(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    garbled = PROJECT.replace("[data]\n", '[data]\nencoding = "latin-1"\n').replace(
        'attributes."Größe"', 'attributes."GrÃ¶Ã\x9fe"'.replace("\x9f", "\\u009f")
    )
    (folder / "visits.toml").write_text(garbled, encoding="utf-8")
    assert sent(guest, ready(HERE).text, encoding="utf-8").status_code == 303
    assert project(folder).schema["Größe"].role == "insensitive"
    assert len(project(folder).schema.attributes) == 5


def test_another_separator_brings_columns_with_guessed_roles(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    one_column = "Patient;Größe;Kosten;Aufnahme;Diagnose"
    data = '[data]\npath = "visits.csv"\nseparator = "|"\n\n'
    misread = f'{data}[attributes."{one_column}"]\nrole = "sensitive"\n'
    (folder / "visits.toml").write_text(misread, encoding="utf-8")
    assert sent(guest, ready(HERE).text, separator="").status_code == 303
    found = project(folder)
    assert [each.name for each in found.schema.attributes] == one_column.split(";")
    assert (found.schema["Patient"].role, found.schema["Diagnose"].role) == ("identifying", "sensitive")
    assert (found.data.decimal, found.data.thousands) == (",", ".")
    assert found.data.missing_values == ["k.A."]
    assert found.read()[0].n_records == 21


def test_rows_are_shown_behind_a_press_without_what_names_people(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    rows = f"{HERE}/rows"
    assert "P-" not in ready(rows).text
    assert "E11.9" not in ready(rows).text
    shown = guest.post(rows, data={"agreed": "yes"}).text
    assert shown.count("<tr>") == 9
    assert "<code>Diagnose</code>" in shown
    assert "Patient" not in shown
    assert "P-" not in shown
    assert "<td" not in guest.post(rows, data={}).text


def test_rows_are_shown_before_a_column_has_a_role(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    bare = PROJECT.replace('[attributes.Patient]\nrole = "identifying"\n', "").replace(
        '[attributes.Diagnose]\nrole = "sensitive"\n', ""
    )
    (folder / "visits.toml").write_text(bare, encoding="utf-8")
    ready(HERE)
    shown = guest.post(f"{HERE}/rows", data={"agreed": "yes"}).text
    assert "<code>Diagnose</code>" in shown
    assert "P-" not in shown
