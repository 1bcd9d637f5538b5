"""The release page: measurements at once, the dossier a little later, original records when asked for."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.server import application
from sfumato.interfaces.workbench.views import dossiers

from ..conftest import TOKEN, until, visitor
from ..exploring import Seen, candidates, harmless, patients

Ready = Callable[..., Any]


@pytest.fixture
def project(folder: Path) -> Path:
    return patients(folder)


def whole(ready: Ready, address: str) -> str:
    """Ask until the dossier is there."""
    made: str = until(lambda: 'data-poll="700"' not in (page := ready(address).text) and page)
    return made


def address(project: Path, name: str) -> str:
    return f"/projects/{project.stem}/releases/{candidates(project)[name].id}"


def test_everything_that_is_known_of_a_release_stands_on_its_page(project: Path, ready: Ready) -> None:
    page = harmless(whole(ready, address(project, "mondrian-3")))
    assert "Mondrian with k-anonymity (k = 3)" in page.text
    assert "re-identification risk at most 50% (no class of fewer than 2 records) 33.3% met" in page.text
    for measure in ("privacy loss", "weighted k", "accuracy gain", "utility loss", "query error"):
        assert measure in page.text
    for heading in (
        "What was done to each attribute",
        "Class sizes",
        "Where the privacy loss comes from",
        "Which groups of people can be studied least well",
        "What would be published",
    ):
        assert heading in page.text
    assert "12 of 12 records are released" in page.text
    assert "coarsen first" in page.text


def test_values_stand_beside_baseline_interval_and_the_trivial_releases(project: Path, ready: Ready) -> None:
    chosen = candidates(project)["mondrian-3"]
    page = Seen(ready(address(project, "mondrian-3")).text)
    error = next(m for m in chosen.measurements if m.measure == "query-error")
    assert error.interval is not None
    assert error.baseline is not None
    assert f"{100 * error.interval[0]:.3g}% to {100 * error.interval[1]:.3g}%" in page.text
    assert f"{100 * error.baseline:.3g}%" in page.text


def test_the_page_comes_at_once_and_asks_again_while_the_release_is_made(
    project: Path, ready: Ready, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    made, asked = dossiers.describe, threading.Event()

    def slowly(*given: Any) -> Any:
        assert asked.wait(patience)
        return made(*given)

    monkeypatch.setattr(dossiers, "describe", slowly)
    page = ready(address(project, "mondrian-2"))
    assert page.status_code == 200
    assert 'id="dossier" data-poll="700" aria-busy="true"' in page.text
    assert "privacy loss" in page.text
    assert '<meta http-equiv="refresh" content="2">' in page.text
    asked.set()
    assert "What would be published" in whole(ready, address(project, "mondrian-2"))


def test_a_release_of_two_tables_shows_both(project: Path, ready: Ready) -> None:
    page = Seen(whole(ready, address(project, "anatomy")))
    assert "rows of quasi-identifiers.csv" in page.text
    assert "rows of sensitive.csv" in page.text


def test_a_release_that_tells_nothing_says_so(project: Path, ready: Ready) -> None:
    page = Seen(whole(ready, address(project, "suppress-sensitive")))
    assert "nothing is learned about anybody" in page.text


def test_a_candidate_that_could_not_be_made_says_why(project: Path, ready: Ready) -> None:
    page = Seen(ready(address(project, "mondrian-1000")).text)
    assert "This release could not be made." in page.text
    assert "Decide and publish" not in page.text


def test_an_unknown_release_is_not_found(project: Path, ready: Ready) -> None:
    for identity in ("0000000000", "..", "%2e%2e%2fpatients.toml", "<script>"):
        response = ready(f"/projects/patients/releases/{identity}")
        assert response.status_code == 404
        harmless(response.text)


def test_no_original_record_is_shown_before_it_is_asked_for(project: Path, ready: Ready) -> None:
    """Zip codes are withheld in this release, so one in a row of a table would be that of a record."""
    zips = {row.split(",")[1] for row in (project.parent / "patients.csv").read_text().splitlines()[1:]}
    for page in ("", "/originals"):
        text = whole(ready, address(project, "suppress-quasi-identifiers") + page)
        tables = re.findall(r'<table class="sample">.*?</table>', text, re.DOTALL)
        assert len(tables) == (page == "")
        cells = {html.unescape(cell) for table in tables for cell in re.findall(r"<bdi>(.*?)</bdi>", table)}
        assert not cells & zips


def test_original_records_come_after_an_explicit_press_and_are_kept_nowhere(
    project: Path, ready: Ready, guest: TestClient
) -> None:
    asked = address(project, "mondrian-3") + "/originals"
    assert "real people's values" in ready(asked).text
    shown = guest.post(asked, data={"agreed": "yes"})
    assert shown.status_code == 200
    assert shown.headers["cache-control"] == "no-store"
    assert Seen(shown.text).text.count("before") >= 8
    names = {row.split(",")[0] for row in (project.parent / "patients.csv").read_text().splitlines()[1:]}
    assert [name for name in names if name in Seen(shown.text).text] == [], "identifying ones never"
    assert "drawn at random, as" in guest.post(asked).text


def test_foreign_pages_cannot_press(project: Path, app: Starlette) -> None:
    client = visitor(app, Sec_Fetch_Site="cross-site")
    client.get(f"/?token={TOKEN}")
    pressed = client.post(address(project, "mondrian-3") + "/originals", data={"agreed": "yes"})
    assert pressed.status_code == 403


def test_a_release_is_made_once(project: Path, ready: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.workflow.explore import stored_results

    made: list[str] = []
    truly = stored_results.remade

    def counted(candidate: Any, *given: Any) -> Any:
        made.append(candidate.id)
        return truly(candidate, *given)

    monkeypatch.setattr(stored_results, "remade", counted)
    for _ in range(3):
        whole(ready, address(project, "mondrian-3"))
    assert len(made) == 1


def test_the_last_of_several_at_once_does_not_wait_for_ever(project: Path) -> None:
    """A dossier never waits for a thread that waits for it."""
    app = application(project.parent, token=TOKEN)
    client = visitor(app)
    client.get(f"/?token={TOKEN}")
    made = candidates(project)
    names = ["mondrian-2", "mondrian-3", "anatomy", "as-is"]
    ids = [made[name].id for name in names]

    def are_there() -> bool:
        pages = [client.get(f"/projects/patients/releases/{identity}") for identity in ids]
        pages.append(client.get(f"/projects/patients/compare?id={ids[0]}&id={ids[1]}&id={ids[2]}"))
        return all(page.status_code == 200 and "data-poll" not in page.text for page in pages)

    until(are_there)


def test_measures_that_are_new_in_the_project_do_not_hinder_the_pages(project: Path, ready: Ready) -> None:
    """The axes are then others that were measured."""
    chosen = address(project, "mondrian-3")
    project.write_text(
        project.read_text().replace('privacy = ["privacy-loss"', 'privacy = ["information-gain"')
    )
    for page in (
        chosen,
        "/projects/patients/compare",
        "/projects/patients/ask?q=max+k",
        "/projects/patients/report",
    ):
        assert ready(page).status_code == 200
    assert "privacy loss" in whole(ready, chosen)
