"""The report page: the exploration's report and those of published folders, sealed off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.routes.report import POLICY
from sfumato.workflow.project.project_file import Project

from ..conftest import field
from ..exploring import Seen, candidates, explored, harmless, patients

Ready = Callable[..., Any]


@pytest.fixture
def project(folder: Path) -> Path:
    return patients(folder)


def test_with_nothing_explored_there_is_nothing_to_report(folder: Path, ready: Ready) -> None:
    page = Seen(ready("/projects/people/report").text)
    assert "Nothing has been explored yet" in page.text
    assert "still missing: title, purpose, recipients, safeguards, data steward and review date" in page.text


def test_the_report_of_the_exploration_is_served_sealed(project: Path, ready: Ready) -> None:
    page = harmless(ready("/projects/patients/report").text)
    assert "/projects/patients/report/exploration" in page.links
    response = ready("/projects/patients/report/exploration")
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert policy.startswith("sandbox")
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    report = Seen(response.text)
    assert "Admissions <2026>" in report.text
    assert "Nothing has been chosen yet." in report.text
    assert report.all("script") == []
    assert "S. Teward" in report.text


def test_the_report_changes_with_what_was_explored(project: Path, ready: Ready) -> None:
    before = ready("/projects/patients/report/exploration").text
    project.write_text(project.read_text().replace("Research on falls.", "Research on slips."))
    after = ready("/projects/patients/report/exploration").text
    assert "Research on falls." in before
    assert "Research on slips." in after


def test_the_owners_report_of_a_release_tells_what_a_published_one_does_not(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    ready("/projects/patients/report")
    chosen = candidates(project)["mondrian-3"].id
    address = f"/projects/patients/releases/{chosen}/report"
    page = harmless(ready(f"/projects/patients/releases/{chosen}").text)
    assert address in page.links
    assert "figures from the original that a published report does not tell" in page.text
    response = ready(address)
    assert response.status_code == 200
    assert response.headers["content-security-policy"] == POLICY
    assert response.headers["cache-control"] == "no-store"
    report = Seen(response.text)
    assert "the owner's copy" in report.text
    assert f"{chosen} , mondrian with k-anonymity (k = 3)" in report.text
    assert "Distinct values" in report.text, "how many values the original has"
    assert "Nobody has decided for this release yet." in report.text
    assert report.all("script") == []
    given = {"why": "Because of <k>.", "by": "A. Steward", "folder": "out"}
    ready(guest.post(f"/projects/patients/decide/{chosen}", data=given).headers["location"])
    assert "Distinct values" not in Seen(ready("/projects/patients/published/out/report").text).text
    assert "Because of <k>." in Seen(ready(address).text).text
    saved = ready(f"{address}?download").headers["content-disposition"]
    assert saved == f'attachment; filename="patients-{chosen}-owner-report.html"'


def test_a_release_that_could_not_be_made_has_no_report(project: Path, ready: Ready) -> None:
    ready("/projects/patients/report")
    impossible = candidates(project)["mondrian-1000"].id
    response = ready(f"/projects/patients/releases/{impossible}/report")
    assert response.status_code == 404
    assert "could not be made" in response.text
    assert ready("/projects/patients/releases/nobody/report").status_code == 404


def test_published_reports_are_served_as_they_are(project: Path, ready: Ready, guest: TestClient) -> None:
    ready("/projects/patients/report")
    chosen = candidates(project)["mondrian-3"].id
    given = {"why": "Why not.", "by": "A. Steward", "folder": "out"}
    ready(guest.post(f"/projects/patients/decide/{chosen}", data=given).headers["location"])
    assert "/projects/patients/published/out" in Seen(ready("/projects/patients/report").text).links
    served = ready("/projects/patients/published/out/report")
    assert served.text == (project.parent / "out" / "report.html").read_text()
    assert served.headers["content-security-policy"].startswith("sandbox")
    saved = ready("/projects/patients/published/out/report?download")
    assert saved.headers["content-disposition"] == 'attachment; filename="out-report.html"'


def test_only_what_this_project_published_is_listed(project: Path, ready: Ready, guest: TestClient) -> None:
    other = explored(project.with_name("others.toml"), project.read_text())
    assert ready("/projects/others/report").status_code == 200
    given = {"why": "Why not.", "by": "A. Steward"}
    for path, folder in ((project, "mine"), (other, "theirs")):
        chosen = candidates(path)["mondrian-3"].id
        address = f"/projects/{path.stem}/decide/{chosen}"
        ready(guest.post(address, data=given | {"folder": folder}).headers["location"])
    (project.parent / "mine").rename(project.parent / "renamed")
    page = Seen(ready("/projects/patients/report").text)
    assert "/projects/patients/published/renamed" in page.links
    assert "Mondrian k=3" in page.text
    assert not any("theirs" in link for link in page.links)
    assert "/projects/others/published/theirs" in Seen(ready("/projects/others/report").text).links


def test_a_report_that_leads_elsewhere_is_not_served(project: Path, ready: Ready, guest: TestClient) -> None:
    ready("/projects/patients/report")
    chosen = candidates(project)["mondrian-3"].id
    given = {"why": "Why not.", "by": "A. Steward", "folder": "out"}
    ready(guest.post(f"/projects/patients/decide/{chosen}", data=given).headers["location"])
    report = project.parent / "out" / "report.html"
    report.unlink()
    report.symlink_to(project)
    assert ready("/projects/patients/published/out/report").status_code == 404


def test_what_reports_say_first_is_written_into_the_project_file(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    project.write_text("# by a human\n" + project.read_text())
    version = field(ready("/projects/patients/report").text, "version")
    given = {
        "title": 'A "new" title',
        "purpose": "</textarea><b>x\r\nin two lines",
        "recipients": "",
        "review-by": "2030-02-01",
        "version": version,
    }
    assert guest.post("/projects/patients/report", data=given).status_code == 303
    publication = Project.load(project).publication
    assert publication.title == 'A "new" title'
    assert publication.purpose == "</textarea><b>x\nin two lines"
    assert publication.recipients == ""
    assert str(publication.review_by) == "2030-02-01"
    assert project.read_text().startswith("# by a human")
    assert "</textarea><b>x" in harmless(ready("/projects/patients/report").text).text
    assert guest.post("/projects/patients/report", data=given).status_code == 409, "it changed meanwhile"


def test_a_date_that_is_none_is_told(project: Path, ready: Ready, guest: TestClient) -> None:
    version = field(ready("/projects/patients/report").text, "version")
    answer = guest.post("/projects/patients/report", data={"review-by": "soon", "version": version})
    assert answer.status_code == 422
    assert "2028-01-31" in answer.text
    assert Project.load(project).publication.title == "Admissions <2026>"


def test_a_project_without_the_section_gets_it(folder: Path, ready: Ready, guest: TestClient) -> None:
    version = field(ready("/projects/people/report").text, "version")
    assert guest.post("/projects/people/report", data={"title": "T", "version": version}).status_code == 303
    assert Project.load(folder / "people.toml").publication.title == "T"
