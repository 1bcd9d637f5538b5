"""The data page: guesses, roles, counts and the risk, and what confirming writes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.addresses import slug
from sfumato.workflow.project.project_file import Project

from ..conftest import PEOPLE, PROJECT, field

HERE = "/projects/people/data"
ROLES = {
    "name": "identifying",
    "age": "quasi-identifying",
    "sex": "quasi-identifying",
    "zip": "quasi-identifying",
    "diagnosis": "sensitive",
}


def form(page: str, roles: dict[str, str], **more: str) -> dict[str, str]:
    chosen = {f"role-{slug(name)}": role for name, role in roles.items()}
    return {"version": field(page, "version"), **chosen, **more}


def test_it_shows_guess_reason_counts_and_risk(ready: Callable[..., Any]) -> None:
    page = ready(HERE).text
    assert "Named like a person" in page
    assert "of 6 records" in page
    assert 'aria-label="Records at each of 5 numbers"' in page
    assert re.search(r"Unique people</dt><dd>[\d.]+%", page)
    assert re.search(r'data-label="Missing">1<', page)


def test_an_identifying_attribute_shows_no_value(ready: Callable[..., Any]) -> None:
    page = ready(HERE).text
    assert not any(name in page for name in ("Ann", "Bob", "Cid", "Dot", "Eve", "Fay"))
    assert "Ann" not in ready(f"{HERE}/name").text


def test_confirming_writes_roles_and_keeps_the_rest(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    sent = form(ready(HERE).text, ROLES | {"sex": "insensitive"})
    response = guest.post(HERE, data=sent)
    assert response.status_code == 303
    assert (folder / "people.toml").read_text() == PROJECT.replace(
        '[attributes.sex]\nrole = "quasi-identifying"', '[attributes.sex]\nrole = "insensitive"'
    )
    page = ready(HERE).text
    assert "The roles are saved" in page
    assert "unique in age, zip." in page
    assert "The roles are saved" not in ready(HERE).text


def test_confirming_what_stands_changes_no_byte(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    kinds = {"kind-age": "numeric", "kind-sex": "categorical", "kind-zip": "categorical"}
    guest.post(HERE, data=form(ready(HERE).text, ROLES, **kinds))
    assert (folder / "people.toml").read_text() == PROJECT


@pytest.mark.parametrize("changed", [{"role-age": "insensitive"}, {"kind-age": "categorical"}])
def test_what_is_not_generalized_any_more_has_no_lowest_level(
    changed: dict[str, str], folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    with_level = PROJECT.replace("[attributes.age]\n", "[attributes.age]\nlowest-level = 1\n")
    (folder / "people.toml").write_text(with_level)
    assert guest.post(HERE, data=form(ready(HERE).text, ROLES) | changed).status_code == 303
    assert Project.load(folder / "people.toml").schema["age"].lowest_level == 0


def test_another_kind_takes_intervals_away(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    assert (
        guest.post(HERE, data=form(ready(HERE).text, ROLES, **{"kind-age": "categorical"})).status_code == 303
    )
    attribute = Project.load(folder / "people.toml").schema["age"]
    assert (attribute.kind, attribute.hierarchy) == ("categorical", None)


def test_missing_values_may_be_dropped(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    guest.post(HERE, data=form(ready(HERE).text, ROLES, missing="drop"))
    assert Project.load(folder / "people.toml").data.missing == "drop"
    assert "of 5 records" in ready(HERE).text


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (dict.fromkeys(ROLES, "identifying"), "nothing could be released"),
        (ROLES | {"sex": "nonsense"}, "cannot be"),
        (ROLES | {"sex": ""}, "cannot be"),
    ],
)
def test_what_cannot_be_is_refused_and_not_written(
    folder: Path, guest: TestClient, ready: Callable[..., Any], roles: dict[str, str], said: str
) -> None:
    response = guest.post(HERE, data=form(ready(HERE).text, roles))
    assert response.status_code == 422
    assert said in response.text
    assert (folder / "people.toml").read_text() == PROJECT


def test_a_change_made_elsewhere_is_noticed(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    sent = form(ready(HERE).text, ROLES | {"sex": "insensitive"})
    by_hand = PROJECT.replace("the name goes", "changed by hand")
    (folder / "people.toml").write_text(by_hand)
    response = guest.post(HERE, data=sent)
    assert response.status_code == 409
    assert "changed elsewhere" in response.text
    assert (folder / "people.toml").read_text() == by_hand


def test_the_page_reads_again_what_changed(folder: Path, ready: Callable[..., Any]) -> None:
    assert "of 6 records" in ready(HERE).text
    (folder / "people.csv").write_text(PEOPLE + "Gus,70,m,02139,gout\n")
    assert "of 7 records" in ready(HERE).text
    (folder / "people.toml").write_text(PROJECT.replace('"sensitive"', '"insensitive"'))
    assert re.search(r"<option selected>insensitive</option>", ready(HERE).text)


def test_a_column_without_a_role_can_be_given_one(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    (folder / "people.toml").write_text(PROJECT.replace('[attributes.sex]\nrole = "quasi-identifying"\n', ""))
    page = ready(HERE).text
    assert "has no role" in page
    assert guest.post(HERE, data=form(page, ROLES)).status_code == 303
    assert tomllib.loads((folder / "people.toml").read_text())["attributes"]["sex"] == {
        "role": "quasi-identifying"
    }
    assert "has no role" not in ready(HERE).text


def test_a_problem_is_shown_and_the_page_still_works(folder: Path, ready: Callable[..., Any]) -> None:
    (folder / "sex.csv").write_text("f;woman;*\n")
    broken = PROJECT.replace(
        '[attributes.sex]\nrole = "quasi-identifying"',
        '[attributes.sex]\nrole = "quasi-identifying"\nhierarchy = { csv = "sex.csv" }',
    )
    (folder / "people.toml").write_text(broken)
    page = ready(HERE).text
    assert "cannot be explored as it is" in page
    assert "not in the hierarchy" in page
    assert "role-sex" in page
    assert "not in the hierarchy" in ready(f"{HERE}/sex").text


def test_data_that_is_gone_is_said(folder: Path, ready: Callable[..., Any]) -> None:
    (folder / "people.csv").unlink()
    response = ready(HERE)
    assert response.status_code == 422
    assert "people.csv" in response.text


def test_a_project_file_that_is_no_toml_is_said(folder: Path, ready: Callable[..., Any]) -> None:
    (folder / "people.toml").write_text("policy.recipient = 'none'\n[data]\npath = \n")
    response = ready(HERE)
    assert response.status_code == 422
    assert "not TOML" in response.text


def test_a_fragment_comes_without_the_frame(ready: Callable[..., Any]) -> None:
    part = ready(HERE, headers={"Sfumato-Fragment": "part"}).text
    assert '<main id="main"' in part
    assert "<html" not in part
    assert "<title>Data of people" in part


def described(guest: TestClient, page: str, **fields: str) -> Any:
    sent = {key.replace("_", "-"): value for key, value in fields.items()}
    return guest.post("/projects/people/publication", data={"version": field(page, "version"), **sent})


def test_what_a_reviewer_should_know_is_written_and_taken_away(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    purpose = 'Research on "flu"\nand <b>gout</b>'
    assert (
        described(
            guest, ready(HERE).text, title="Patients", purpose=purpose, review_by="2027-01-31"
        ).status_code
        == 303
    )
    publication = Project.load(folder / "people.toml").publication
    assert (publication.title, publication.purpose, str(publication.review_by)) == (
        "Patients",
        purpose,
        "2027-01-31",
    )
    assert (folder / "people.toml").read_text().startswith(PROJECT)
    page = ready(HERE).text
    assert "<h1>Patients</h1>" in page
    assert "&lt;b&gt;gout" in page
    described(guest, page, title="Patients")
    assert Project.load(folder / "people.toml").publication.purpose == ""


def test_a_review_on_no_day_is_refused(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    assert described(guest, ready(HERE).text, review_by="soon").status_code == 422
    assert (folder / "people.toml").read_text() == PROJECT


def test_reviewers_templates_are_names_with_commas(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    assert described(guest, ready(HERE).text, profiles="wp216, ema").status_code == 303
    assert Project.load(folder / "people.toml").publication.profiles == ["wp216", "ema"]
    page = ready(HERE).text
    assert 'name="profiles" value="wp216, ema"' in page
    assert described(guest, page, profiles="hippa").status_code == 422
    assert Project.load(folder / "people.toml").publication.profiles == ["wp216", "ema"]


def test_the_fields_are_those_of_the_project_file() -> None:
    from sfumato.interfaces.workbench.forms.publication_form import FIELDS
    from sfumato.workflow.project.project_file import Publication

    assert tuple(FIELDS) == tuple(Publication.__struct_encode_fields__)


def test_it_warns_of_an_insensitive_attribute_that_tells_records_apart(
    folder: Path, ready: Callable[..., Any]
) -> None:
    assert "is named insensitive" not in ready(HERE).text
    insensitive = PROJECT.replace(
        '[attributes.zip]\nrole = "quasi-identifying"', '[attributes.zip]\nrole = "insensitive"'
    )
    (folder / "people.toml").write_text(insensitive)
    assert (
        '<p class="notice bad">zip is named insensitive and released as it is: 2 of 6 records (33.3%)'
        in ready(HERE).text
    )


def test_one_attribute_may_tell_whose_a_record_is(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    guest.post(HERE, data=form(ready(HERE).text, ROLES | {"name": "person"}))
    written = tomllib.loads((folder / "people.toml").read_text())
    assert written["data"]["person"] == "name"
    assert written["attributes"]["name"]["role"] == "identifying"
    assert "<option selected>person</option>" in ready(HERE).text
    guest.post(HERE, data=form(ready(HERE).text, ROLES))
    assert (folder / "people.toml").read_text() == PROJECT


def test_no_two_attributes_tell_whose_a_record_is(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    response = guest.post(HERE, data=form(ready(HERE).text, ROLES | {"name": "person", "zip": "person"}))
    assert "cannot both tell whose a record is" in response.text
    assert (folder / "people.toml").read_text() == PROJECT


def test_it_says_what_the_file_writes_in_two_ways(folder: Path, ready: Callable[..., Any]) -> None:
    people = (folder / "people.csv").read_bytes()
    assert "more than one encoding" not in ready(HERE).text
    (folder / "people.csv").write_bytes(people.replace(b"Ann", b"\xc3\x84nn").replace(b"Bob", b"B\xf6b"))
    page = ready(HERE).text
    assert "1 line in UTF-8 (the first is line 2) and 1 in another encoding (the first is line 3)" in page
