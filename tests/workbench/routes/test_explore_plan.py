"""The plan pages: what forms write to the project file, and what they refuse."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.forms.plan_form import Plan
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.workflow.project.project_file import Project

from ..conftest import PROJECT, field

EVIL = '<script>alert("1")</script>'


@pytest.fixture
def read_project(folder: Path) -> Callable[[], Project]:
    return lambda: Project.load(folder / "people.toml")


def send(guest: TestClient, address: str, version: str, **typed: Any) -> Any:
    return guest.post(f"/projects/people/explore/plan{address}", data={"version": version, **typed})


def version(guest: TestClient) -> str:
    return field(guest.get("/projects/people/explore/plan").text, "version")


def test_the_plan_lists_what_is_tried_measured_and_required(guest: TestClient) -> None:
    text = guest.get("/projects/people/explore/plan").text
    assert "mondrian with k-anonymity (k = 2, 3)" in text
    assert "2 candidates" in text
    assert "privacy loss" in text
    assert "at least 11 people look alike" in text


def test_a_method_is_added_through_its_form(
    guest: TestClient, folder: Path, read_project: Callable[[], Project]
) -> None:
    page = guest.get("/projects/people/explore/plan/new?sanitizer=anatomy").text
    assert 'name="p.l"' in page
    typed = {"kind": "sanitizer", "name": "anatomy", "p.l": "2, 4", "p.form": "two-tables"}
    response = send(guest, "/2", field(page, "version"), **typed)
    assert response.status_code == 303
    assert len(read_project().searches) == 2
    assert "l = [2, 4]" in (folder / "people.toml").read_text()
    assert "# who wrote this: a human" in (folder / "people.toml").read_text()
    assert "form" not in tomllib.loads((folder / "people.toml").read_text())["candidates"][1]


def test_a_search_is_added_through_its_form(guest: TestClient, read_project: Callable[[], Project]) -> None:
    page = guest.get("/projects/people/explore/plan/new?search=lattice").text
    typed = {
        "kind": "search",
        "name": "lattice",
        "p.model": ["k-anonymity", "t-closeness"],
        "p.model.k-anonymity.k": "3",
        "p.model.t-closeness.t": "0.5",
        "p.suppression": "0.1",
        "p.objective": "precision",
    }
    assert send(guest, "/2", field(page, "version"), **typed).status_code == 303
    search: Any = read_project().searches[1]
    assert (search.suppression, search.objective) == (0.1, "precision")
    assert len(search.model.parts) == 2


def test_a_block_is_changed_and_removed(guest: TestClient, read_project: Callable[[], Project]) -> None:
    page = guest.get("/projects/people/explore/plan/1").text
    assert 'value="2, 3"' in page
    typed = {"p.model": "k-anonymity", "p.model.k-anonymity.k": "4", "p.variant": "strict"}
    assert send(guest, "/1", field(page, "version"), **typed).status_code == 303
    search: Any = read_project().searches[0]
    assert [str(recipe) for recipe in search.recipes()] == ["mondrian k=4"]
    assert send(guest, "/1/remove", version(guest)).status_code == 303
    assert read_project().searches == ()
    assert "Nothing is tried yet" in guest.get("/projects/people/explore/plan").text


def test_an_error_stands_beside_its_input_and_nothing_is_written(guest: TestClient, folder: Path) -> None:
    before = (folder / "people.toml").read_text()
    typed = {"p.model": "k-anonymity", "p.model.k-anonymity.k": "0, 5", "p.target": EVIL}
    response = send(guest, "/1", version(guest), **typed)
    assert response.status_code == 422
    wrong = response.text.index('id="p.model.k-anonymity.k-wrong"')
    assert "k must be at least 1, not 0" in response.text[wrong : wrong + 120]
    assert 'value="0, 5"' in response.text
    assert EVIL not in response.text
    assert "&lt;script&gt;" in response.text
    assert (folder / "people.toml").read_text() == before


def test_too_many_candidates_are_refused(guest: TestClient) -> None:
    many = ", ".join(map(str, range(1, 400)))
    typed = {
        "p.model": ["k-anonymity", "t-closeness"],
        "p.model.k-anonymity.k": many,
        "p.model.t-closeness.t": many,
    }
    response = send(guest, "/1", version(guest), **typed)
    assert response.status_code == 422
    assert "list fewer values" in response.text


def test_a_change_made_elsewhere_is_not_overwritten(guest: TestClient, folder: Path) -> None:
    then = version(guest)
    path = folder / "people.toml"
    path.write_text(path.read_text() + "# more\n")
    response = send(guest, "/1", then, **{"p.model": "k-anonymity", "p.model.k-anonymity.k": "9"})
    assert response.status_code == 409
    assert "9" not in path.read_text()


def test_a_block_that_no_form_shows_is_edited_as_text(guest: TestClient, folder: Path) -> None:
    path = folder / "people.toml"
    path.write_text(
        PROJECT.replace("model = { k-anonymity = { k = [2, 3] } }", "model = [{ k-anonymity = { k = 2 } }]")
    )
    page = guest.get("/projects/people/explore/plan/1").text
    assert '<textarea id="text"' in page
    wrong = send(guest, "/1", field(page, "version"), text="model = {")
    assert wrong.status_code == 422
    right = send(guest, "/1", field(page, "version"), text="model = [{ k-anonymity = { k = 6 } }]")
    assert right.status_code == 303
    assert "k = 6" in path.read_text()


def test_measures_are_chosen_with_parameters_and_axis(
    guest: TestClient, read_project: Callable[[], Project]
) -> None:
    typed = {
        "privacy.name": ["0 privacy-loss", "1 reidentification-risk", "2 t-closeness"],
        "privacy.use": ["0", "1", "2"],
        "privacy.axis": "1",
        "privacy.1.threshold": "0.1",
        "privacy.2.distance": "js",
        "utility.name": ["0 general-loss", "1 precision"],
        "utility.use": "0",
        "utility.axis": "0",
    }
    assert send(guest, "/measures", version(guest), **typed).status_code == 303
    project = read_project()
    assert project.privacy == (
        {"reidentification-risk": {"threshold": 0.1}},
        "privacy-loss",
        {"t-closeness": {"distance": "js"}},
    )
    assert project.utility == ("general-loss",)
    assert project.axes == ("reidentification-risk threshold=0.1", "general-loss")
    text = guest.get("/projects/people/explore/plan?also=t-closeness").text
    assert text.count(">t-closeness<") + text.count(' t-closeness"') >= 2


def test_a_wrong_measure_is_said_in_the_librarys_words(guest: TestClient, folder: Path) -> None:
    before = (folder / "people.toml").read_text()
    typed = {
        "privacy.name": ["0 reidentification-risk"],
        "privacy.use": "0",
        "privacy.0.threshold": "x",
        "utility.name": ["0 general-loss"],
        "utility.use": [],
    }
    response = send(guest, "/measures", version(guest), **typed)
    assert response.status_code == 422
    assert "expected a number" in response.text
    typed = {**typed, "privacy.0.threshold": "0.1"}
    assert "at least one measure of utility" in send(guest, "/measures", version(guest), **typed).text
    assert (folder / "people.toml").read_text() == before


def test_a_policy_is_named_and_limited(guest: TestClient, read_project: Callable[[], Project]) -> None:
    typed = {
        "recipient": "contract",
        "limit.measure": ["suppression-loss", "", "k-anonymity"],
        "limit.most": ["5%", "", ""],
        "limit.least": ["", "", "3"],
    }
    assert send(guest, "/policy", version(guest), **typed).status_code == 303
    policy = read_project().policy
    assert policy.recipient == "contract"
    assert policy.limits == {"suppression-loss": Limit(at_most=0.05), "k-anonymity": Limit(at_least=3)}
    emptied = {"recipient": "none", "limit.measure": [], "limit.most": [], "limit.least": []}
    assert send(guest, "/policy", version(guest), **emptied).status_code == 303
    assert read_project().policy == Policy(NOBODY)


def test_a_measure_is_limited_for_one_of_several_sensitive_attributes(
    guest: TestClient, folder: Path, read_project: Callable[[], Project]
) -> None:
    page = "/projects/people/explore/plan"
    assert "privacy-loss of diagnosis" not in guest.get(page).text
    sex = '[attributes.sex]\nrole = "{}"'
    both = PROJECT.replace(sex.format("quasi-identifying"), sex.format("sensitive"))
    (folder / "people.toml").write_text(both)
    assert '<option value="privacy-loss of sex">privacy loss of sex</option>' in guest.get(page).text
    assert 'value="k-anonymity of sex"' not in guest.get(page).text
    typed = {
        "recipient": "none",
        "limit.measure": ["privacy-loss of sex"],
        "limit.most": ["0.2"],
        "limit.least": [""],
    }
    assert send(guest, "/policy", version(guest), **typed).status_code == 303
    assert read_project().policy.limits == {"privacy-loss of sex": Limit(at_most=0.2)}
    assert '<option value="privacy-loss of sex" selected>' in guest.get(page).text


@pytest.mark.parametrize(("most", "said"), [("many", "expected a number"), ("-1", "")])
def test_a_policy_that_cannot_be_read_is_said(guest: TestClient, most: str, said: str) -> None:
    typed = {"limit.measure": ["suppression-loss"], "limit.most": [most], "limit.least": ["0"]}
    response = send(guest, "/policy", version(guest), **typed)
    assert response.status_code == 422
    assert said in response.text


@pytest.mark.parametrize("address", ["/7", "/0", "/x", "/../people", "/9999999999", "/7/remove"])
def test_unknown_blocks_are_not_found(guest: TestClient, address: str) -> None:
    assert guest.get(f"/projects/people/explore/plan{address}").status_code in (404, 405)


def test_an_unknown_method_says_which_is_near(guest: TestClient) -> None:
    response = guest.get("/projects/people/explore/plan/new?sanitizer=mondrain")
    assert response.status_code == 422
    assert "did you mean" in response.text


def test_evil_names_are_shown_as_text(guest: TestClient, folder: Path) -> None:
    path = folder / "people.toml"
    path.write_text(PROJECT + f"\n[attributes.'{EVIL}']\nrole = 'insensitive'\n[scenarios.'{EVIL}']\n")
    for address in ("", "/1", "/new?sanitizer=mondrian", "/new?search=evolution"):
        text = guest.get(f"/projects/people/explore/plan{address}").text
        assert EVIL not in text
    assert "&lt;script&gt;" in text or "&lt;script&gt;" in guest.get("/projects/people/explore/plan").text


def test_every_registered_method_has_a_page(guest: TestClient) -> None:
    from sfumato.registry import methods

    for kind in ("sanitizer", "search"):
        for name in methods.registered(kind):
            response = guest.get(f"/projects/people/explore/plan/new?{kind}={name}")
            assert response.status_code == 200, name


def test_the_plan_is_read_without_the_data(guest: TestClient, folder: Path) -> None:
    (folder / "people.csv").unlink()
    assert guest.get("/projects/people/explore/plan").status_code == 200
    assert Plan.of(folder / "people.toml").blocks[0].n_candidates == 2
