"""Decide and publish: the policy stands before it, and what is written is what the command line writes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.cli import run
from sfumato.interfaces.workbench.state.published import folder_name, folders_of, free_name
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.verify import verify
from sfumato.workflow.store.store import Store

from ..exploring import Seen, candidates, harmless, patients

Ready = Callable[..., Any]
GIVEN = {"why": "The knee.", "by": "A. Steward", "folder": "first release"}


@pytest.fixture
def project(folder: Path) -> Path:
    return patients(folder)


def address(project: Path, name: str = "mondrian-3") -> str:
    return f"/projects/patients/decide/{candidates(project)[name].id}"


def published(guest: TestClient, ready: Ready, project: Path, **given: str) -> Any:
    ready(address(project))
    answer = guest.post(address(project), data=GIVEN | given)
    assert answer.status_code == 303
    return ready(answer.headers["location"])


def test_the_profiles_of_the_project_file_are_announced_and_written(
    project: Path, guest: TestClient, ready: Ready
) -> None:
    text = project.read_text("utf-8")
    project.write_text(text.replace("[publication]\n", '[publication]\nprofiles = ["wp216"]\n'), "utf-8")
    assert "report-wp216.html" in ready(address(project)).text
    here = str(published(guest, ready, project).url)
    assert (project.parent / "first release" / "report-wp216.html").exists()
    # the link of the report leads to it in the workbench, too, and back
    assert 'href="report-wp216.html"' in ready(f"{here}/report").text
    assert "Singling out" in guest.get(f"{here}/report-wp216.html").text
    assert guest.get(f"{here}/report.html").status_code == 200
    assert guest.get(f"{here}/manifest.json").status_code == 404


def test_the_page_shows_policy_files_and_the_form(project: Path, ready: Ready) -> None:
    page = harmless(ready(address(project)).text)
    assert "re-identification risk at most 50%" in page.text
    for file in ("data.csv", "data.parquet", "report.html", "datapackage.json", "manifest.json"):
        assert file in page.text
    named = {each.get("name"): each for each in (*page.all("input"), *page.all("textarea"))}
    assert named["by"]["value"] == "S. Teward"
    assert named["folder"]["value"] == "published"
    assert "None: nothing has been published from this project yet." in page.text
    assert "published before" not in page.text


def test_a_release_of_two_tables_names_its_files(project: Path, ready: Ready) -> None:
    project.write_text(project.read_text().replace("at-most = 0.5", "at-most = 1"))
    page = ready(address(project, "anatomy")).text
    assert "quasi-identifiers.csv" in page
    assert "sensitive.parquet" in page


def test_what_is_published_verifies_and_is_listed(project: Path, ready: Ready, guest: TestClient) -> None:
    page = Seen(published(guest, ready, project).text)
    assert "Verified." in page.text
    assert "The knee." in page.text
    assert "/projects/patients/published/first~20release/report" in page.links
    assert all(check.holds for check in verify(project.parent / "first release"))
    listed = Seen(ready(address(project)).text)
    assert "A. Steward The knee. first release" in listed.text
    assert "A release of this project was published before." in listed.text
    assert "/projects/patients/published/first~20release" in listed.links
    with Store(project.with_suffix(".sqlite")) as store:
        assert [(each.by, each.why) for each in store.decisions()] == [("A. Steward", "The knee.")]
        assert [Path(folder).name for folder in store.folders()] == ["first release"]


def test_exactly_what_the_command_line_writes_is_written(
    project: Path, ready: Ready, guest: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.workflow.publish.publish.now", lambda: "2026-11-15T12:00:00+00:00")
    # the order is drawn anew at each writing; without that both must be equal to the byte
    monkeypatch.setattr("sfumato.results.written_order.secret_order", np.arange)
    published(guest, ready, project)
    # a release that lies where it was published would be laid beside the second one
    ours = (project.parent / "first release").rename(project.parent / "moved away")
    chosen, other = candidates(project)["mondrian-3"].id, project.parent / "by-command"
    arguments = [
        "publish",
        chosen,
        str(other),
        "--why",
        GIVEN["why"],
        "--by",
        GIVEN["by"],
        "-P",
        str(project),
    ]
    assert run(arguments) == 0
    names = sorted(path.name for path in ours.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    assert len(names) == 7
    for name in names:
        assert (ours / name).read_bytes() == (other / name).read_bytes(), name


def test_a_second_release_is_laid_beside_the_first(project: Path, ready: Ready, guest: TestClient) -> None:
    published(guest, ready, project)
    assert "composition-k" not in (project.parent / "first release" / "manifest.json").read_text("utf-8")
    published(guest, ready, project, folder="second release")
    assert "composition-k" in (project.parent / "second release" / "manifest.json").read_text("utf-8")


@pytest.mark.parametrize("missing", ["why", "by", "folder"])
def test_reason_name_and_folder_are_required(
    project: Path, ready: Ready, guest: TestClient, missing: str
) -> None:
    ready(address(project))
    answer = guest.post(address(project), data=GIVEN | {missing: "  "})
    assert answer.status_code == 422
    page = Seen(answer.text)
    wrong = [each for each in (*page.all("input"), *page.all("textarea")) if each.get("aria-invalid")]
    assert [each["name"] for each in wrong] == [missing]
    assert "The knee." in answer.text or missing == "why", "what was written stays"
    assert folders_of(Project.load(project)) == ()


@pytest.mark.parametrize("taken", ["patients.csv", "patients.toml", "there", "lost"])
def test_nothing_is_ever_overwritten(project: Path, ready: Ready, guest: TestClient, taken: str) -> None:
    (project.parent / "there").mkdir()
    (project.parent / "lost").symlink_to("/nonexistent/place")
    before = sorted(os.listdir(project.parent))
    ready(address(project))
    answer = guest.post(address(project), data=GIVEN | {"folder": taken})
    assert answer.status_code == 422
    assert "nothing is ever overwritten" in answer.text
    assert sorted(os.listdir(project.parent)) == before


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../outside", "outside"),
        ("..\\..\\outside", "outside"),
        ("/etc/passwd", "passwd"),
        (".hidden", "hidden"),
        ("<b>bold</b>", "b_"),
        ('=HYPERLINK("x")', "_HYPERLINK(_x_)"),
        ("a\x00b", "a_b"),
        ("grün", "grün"),
        ("--help", "help"),
    ],
)
def test_a_folder_s_name_never_leads_out_of_the_project_s_folder(given: str, name: str) -> None:
    assert folder_name(given) == name


@pytest.mark.parametrize("given", ["", "..", "/", "...", "con", "NUL.txt", "-", "Hierarchies"])
def test_a_name_that_is_none_is_refused(given: str) -> None:
    from sfumato.runtime.errors import UserError

    with pytest.raises(UserError, match="letters and digits"):
        folder_name(given)


def test_a_free_name_is_offered(tmp_path: Path) -> None:
    assert free_name(tmp_path) == "published"
    (tmp_path / "published").mkdir()
    assert free_name(tmp_path) == "published-2"


def test_against_the_policy_nothing_is_published(project: Path, ready: Ready, guest: TestClient) -> None:
    page = ready(address(project, "as-is"))
    assert "This release may not be published." in page.text
    assert 'name="why"' not in page.text
    answer = guest.post(address(project, "as-is"), data=GIVEN)
    assert answer.status_code == 422
    assert folders_of(Project.load(project)) == ()


def test_what_could_not_be_made_cannot_be_published(project: Path, ready: Ready, guest: TestClient) -> None:
    assert "could not be made" in ready(address(project, "mondrian-1000")).text
    assert guest.post(address(project, "mondrian-1000"), data=GIVEN).status_code == 422


def test_a_folder_that_was_changed_does_not_verify(project: Path, ready: Ready, guest: TestClient) -> None:
    published(guest, ready, project)
    data = project.parent / "first release" / "data.csv"
    data.write_text(data.read_text().replace("*", "x", 1) + "\n")
    page = Seen(ready("/projects/patients/published/first~20release").text)
    assert "It does not verify" in page.text
    assert "the file was changed after it was published" in page.text


def test_a_name_is_given_to_one_release_even_when_two_are_sent_at_once(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    project.write_text(project.read_text().replace("at-most = 0.5", "at-most = 1"))
    first, second = address(project), address(project, "as-is")
    ready(first), ready(second)
    answers = [guest.post(each, data=GIVEN) for each in (first, second)]
    shown = ready(answers[0].headers["location"])
    assert "Verified." in shown.text
    if answers[1].status_code == 303:
        assert ready(answers[1].headers["location"]).status_code == 422
    (decided,) = folders_of(Project.load(project))
    assert decided.decision["candidate"] == candidates(project)["mondrian-3"].id


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "[" * 100_000,
        lambda text: "",
        lambda text: text.replace('"when"', '"then"'),
        lambda text: text.replace('"candidate"', '"other"'),
    ],
    ids=["deep", "empty", "no date", "no release"],
)
def test_a_damaged_manifest_is_said_on_every_page(
    project: Path, ready: Ready, guest: TestClient, change: Callable[[str], str]
) -> None:
    published(guest, ready, project)
    place = project.parent / "first release"
    (place / "lost").symlink_to("nowhere")
    manifest = place / "manifest.json"
    manifest.write_text(change(manifest.read_text()))
    for page in ("report", "published/first~20release"):
        assert ready(f"/projects/patients/{page}").status_code == 200
    assert ready(address(project)).status_code == 200


def test_only_published_folders_of_the_project_are_shown(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    published(guest, ready, project)
    outside = project.parent.parent / f"{project.parent.name}-outside"
    shutil.copytree(project.parent / "first release", outside)
    (project.parent / "linked").symlink_to(outside)
    (project.parent / "empty").mkdir()
    for name in ("linked", "empty", "..", "~2e~2e", "..%2f", "first%20release/../.."):
        assert ready(f"/projects/patients/published/{name}").status_code == 404, name
    shutil.rmtree(outside)


def test_evil_reasons_and_names_are_text(project: Path, ready: Ready, guest: TestClient) -> None:
    evil = "</textarea><script>alert(1)</script>\"'{{ 7 * 7 }}"
    ready(address(project))
    refused = harmless(guest.post(address(project), data=GIVEN | {"why": evil, "by": ""}).text)
    assert evil in refused.text
    shown = harmless(published(guest, ready, project, why=evil, by=evil).text)
    assert evil in shown.text
    assert "<script" not in (project.parent / "first release" / "report.html").read_text()
