"""The explore page: what it shows in every state, and that it starts, pauses and ends an exploration."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.server import application
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.report.charts.svg import COLOURS
from sfumato.workflow.store.store import Store

from ..conftest import PROJECT, TOKEN, until, visitor
from ..exploring import PATIENTS, Seen, candidates, change_figure, copied, explored, patients

EXPLORE = "/projects/patients/explore"
EVIL = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    patients(folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return copied(original, tmp_path / "folder")


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    app = application(folder, token=TOKEN)
    yield app
    app.state.workbench.jobs.end()


def found(folder: Path) -> dict[str, Any]:
    return dict(candidates(folder / "patients.toml"))


def test_what_was_explored_with_other_roles_is_said_to_be_kept(
    ready: Callable[..., Any], folder: Path
) -> None:
    project = folder / "patients.toml"
    before = project.read_text()
    project.write_text(before.replace("[5, 10, 20]", "[10, 20]"))
    page = Seen(ready(EXPLORE).text).text
    assert "Nothing explored yet with these roles" in page
    assert "What was explored before is kept" in page
    project.write_text(before)
    assert "Efficient candidates" in ready(EXPLORE).text


def test_no_policy_is_kept_where_none_is_set(ready: Callable[..., Any], folder: Path) -> None:
    project = folder / "patients.toml"
    address = f"{EXPLORE}/details?id={found(folder)['mondrian-3'].id}"
    assert "keeps every limit" in ready(address).text
    project.write_text(project.read_text().partition("[policy]")[0])
    assert "keeps every limit" not in ready(address).text


def test_the_page_shows_frontier_candidates_and_reasons(ready: Callable[..., Any], folder: Path) -> None:
    page = ready(EXPLORE).text
    seen = Seen(page)
    assert "Admissions <2026>" in seen.text
    assert "Efficient candidates" in seen.text
    assert "could not be made" in seen.text
    assert "with all 12 records in one class" in seen.text
    links = [address for address in seen.links if "/releases/" in address]
    assert links
    assert all(address.rpartition("/")[2] in {c.id for c in found(folder).values()} for address in links)


def test_nothing_in_the_page_is_inline(ready: Callable[..., Any]) -> None:
    for address in ("", "?view=parallel", "/plan", "/plan/4", "/progress", "/details"):
        page = ready(EXPLORE + address).text
        assert not re.search(r"<script(?![^>]*\ssrc=\"/static/)", page)
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style", page)


def test_every_state_has_an_address(ready: Callable[..., Any], folder: Path) -> None:
    chosen = found(folder)["mondrian-2"].id
    page = ready(f"{EXPLORE}?axis=k-anonymity&axis=general-loss&show=all&sanitizer=mondrian&id={chosen}").text
    assert '<option value="k-anonymity" selected>' in page
    assert '<option value="all" selected>' in page
    assert f'data-id="{chosen}"' in page
    assert f'href="/projects/patients/decide/{chosen}"' in page
    assert "All candidates" in page
    parallel = ready(f"{EXPLORE}?axis=k-anonymity&axis=general-loss&axis=weighted-k").text
    assert 'data-view="parallel"' in parallel


def test_an_unknown_axis_is_said(ready: Callable[..., Any]) -> None:
    response = ready(f"{EXPLORE}?axis=k-anonymit&axis=general-loss")
    assert response.status_code == 422
    assert "did you mean" in response.text


def test_the_details_say_everything_of_a_candidate(ready: Callable[..., Any], folder: Path) -> None:
    made = found(folder)
    text = Seen(ready(f"{EXPLORE}/details?id={made['as-is'].id}").text).text
    assert "published as it is" in text
    assert "must be at most 0.5" in text
    assert "Look at the release" in text
    beaten = Seen(ready(f"{EXPLORE}/details?id={made['mondrian-1000'].id}").text).text
    assert "It could not be made" in beaten
    assert "Point at a candidate" in ready(f"{EXPLORE}/details?id=nobody").text


def test_the_script_gets_all_candidates_once(ready: Callable[..., Any], folder: Path) -> None:
    response = ready(f"{EXPLORE}/candidates.json")
    facts = response.json()
    made = {c.id for c in found(folder).values() if c.infeasible is None}
    assert set(facts["ids"]) == made
    assert response.headers["cache-control"] == "no-store"
    assert ready(f"{EXPLORE}/candidates.json?stamp={facts['stamp']}").status_code == 204


def test_limits_in_the_address_decide_what_is_efficient_and_the_knee(ready: Callable[..., Any]) -> None:
    free = ready(f"{EXPLORE}/candidates.json?limit=re-identification-risk%3C%3D").status_code
    assert free == 422, "no such measure"
    whole = ready(f"{EXPLORE}/candidates.json").json()
    title = whole["measures"][1]["label"]
    strict = ready(f"{EXPLORE}/candidates.json?limit={title}%3C%3D-1").json()
    assert whole["front"]
    assert strict["front"] == []
    assert strict["knee"] == -1
    assert all(words for words in strict["broken"])
    page = Seen(ready(f"{EXPLORE}?limit={title}%3C%3D-1").text).text
    assert "You are trying these limits out" in page
    assert "No candidate keeps the limits" in page
    assert "You are trying" not in Seen(ready(EXPLORE).text).text


def test_rows_and_class_sizes_of_the_chosen_release_come_by_themselves(
    ready: Callable[..., Any], folder: Path
) -> None:
    chosen = found(folder)["mondrian-3"].id
    page = ready(f"{EXPLORE}?id={chosen}").text
    address = f"{EXPLORE}/rows/{chosen}"
    assert f'data-address="{address}"' in page
    rows = until(lambda: [text for text in [ready(address).text] if "data-poll" not in text])[0]
    assert "Class sizes" in rows
    assert "rows that would be published" in rows
    assert "Show rows before and after" in rows
    assert "before</bdi>" not in rows


def test_without_a_chosen_candidate_the_knee_is_shown_by_its_two_measures(
    ready: Callable[..., Any], folder: Path
) -> None:
    whole = ready(f"{EXPLORE}/candidates.json").json()
    several = ready(f"{EXPLORE}/candidates.json?view=parallel").json()
    assert whole["knee_words"] == several["knee_words"]
    assert whole["ids"][whole["knee"]] == several["ids"][several["knee"]]
    for address in ("", "?view=parallel"):
        page = ready(EXPLORE + address).text
        if whole["knee"] >= 0:
            assert f'data-id="{whole["ids"][whole["knee"]]}"' in page
            assert whole["knee_words"] in page


def test_the_script_never_gets_the_seed(ready: Callable[..., Any], folder: Path) -> None:
    with Store(Project.load(folder / "patients.toml").store_path) as store:
        seed = str(store.seed())
    assert seed == "11"
    assert "seed" not in ready(f"{EXPLORE}/candidates.json").text
    assert "seed" not in ready(EXPLORE).text


def test_a_browser_without_scripts_gets_a_picture_and_a_list(ready: Callable[..., Any]) -> None:
    page = ready(EXPLORE).text
    assert '<noscript><img class="static-picture"' in page
    response = ready(f"{EXPLORE}/frontier.svg?axis=k-anonymity&axis=general-loss")
    assert response.headers["content-type"].startswith("image/svg+xml")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert ElementTree.fromstring(response.text).tag.endswith("svg")


def test_the_colours_are_those_of_the_report() -> None:
    static = Path(__file__).parents[3] / "src/sfumato/interfaces/workbench/static"
    css = (static / "explore.css").read_text()
    light = css.partition("@media")[0]
    assert re.findall(r"--family-\d: (#\w+)", light) == list(COLOURS)
    for dark, property_ in itertools.product(COLOURS, ("fill", "stroke")):
        number = COLOURS.index(dark)
        assert f'.plane [{property_}="{dark}"] {{ {property_}: var(--family-{number}); }}' in css


def test_what_is_not_measured_yet_is_said(ready: Callable[..., Any], folder: Path) -> None:
    path = folder / "patients.toml"
    path.write_text(
        path.read_text().replace('privacy = ["privacy-loss"', 'privacy = ["t-closeness", "privacy-loss"')
    )
    assert "t-closeness has not been measured yet" in Seen(ready(EXPLORE).text).text


def test_before_anything_is_explored_the_page_says_what_to_do(
    ready: Callable[..., Any], folder: Path
) -> None:
    (folder / "people.csv").write_text("name,age,sex,zip,diagnosis\nAnn,3,f,01307,flu\nBob,4,m,01309,gout\n")
    (folder / "people.toml").write_text(PROJECT)
    text = Seen(ready("/projects/people/explore").text).text
    assert "Nothing explored yet" in text
    assert "Start exploring" in text
    assert "2 candidates" in text
    (folder / "people.toml").write_text(PROJECT.partition("[[candidates]]")[0])
    text = Seen(ready("/projects/people/explore").text).text
    assert "There is nothing to try yet" in text
    assert "Start exploring" not in text


def test_an_exploration_is_started_watched_and_ended(
    app: Starlette, guest: TestClient, ready: Callable[..., Any], folder: Path, gate: Any
) -> None:
    path = folder / "patients.toml"
    many = f'sanitizer = "gated"\ngate = "{gate.folder}"\nk = {list(range(1, 300))}'
    path.write_text(PATIENTS.replace('sanitizer = "as-is"', many, 1))
    ready(EXPLORE)
    response = guest.post(f"{EXPLORE}/start", data={"workers": "1"})
    assert response.status_code == 303
    assert "already" in guest.post(f"{EXPLORE}/start", data={"workers": "1"}).text
    job = app.state.workbench.jobs.of(path)

    def ended() -> str:
        page: str = ready(f"{EXPLORE}/progress").text
        return page if 'id="start"' in page else ""

    gate.let_through(2)
    until(lambda: not ended() and job.report.progress and job.report.progress.done >= 2)
    assert 'id="pause"' in ready(f"{EXPLORE}/progress").text
    assert guest.post(f"{EXPLORE}/pause").status_code == 303
    page = until(lambda: gate.let_through(1) or ended())
    assert "Paused." in page
    assert "Go on" in page
    guest.post(f"{EXPLORE}/start")
    guest.post(f"{EXPLORE}/cancel")
    assert "Cancelled." in until(ended)


def test_an_exploration_of_the_command_line_is_said(ready: Callable[..., Any], folder: Path) -> None:
    with Store(Project.load(folder / "patients.toml").store_path) as store, store.exclusive():
        page = ready(EXPLORE).text
        assert "being explored from elsewhere" in page
        assert 'id="start"' not in page
    assert 'id="start"' in ready(EXPLORE).text


def test_a_failed_exploration_says_why(guest: TestClient, ready: Callable[..., Any], folder: Path) -> None:
    ready(EXPLORE)
    with Store(Project.load(folder / "patients.toml").store_path) as store, store.exclusive():
        guest.post(f"{EXPLORE}/start")
        until(lambda: 'id="pause"' not in ready(f"{EXPLORE}/progress").text)
    page = ready(f"{EXPLORE}/progress").text
    assert "The exploration stopped." in page
    assert "Another `sfumato explore` is at work" in page


@pytest.mark.filterwarnings("default::sfumato.workflow.store.store.ChangedRows")
def test_figures_that_were_changed_by_hand_are_named_and_computed_again(
    guest: TestClient, ready: Callable[..., Any], folder: Path
) -> None:
    identity = change_figure(folder / "patients.toml")
    figure = f"general-loss of candidate {identity}"
    page = Seen(ready(EXPLORE).text)
    assert f"changed are left out here: {figure}. Exploring again computes them." in page.text
    guest.post(f"{EXPLORE}/start", data={"workers": "1"})
    until(lambda: 'id="pause"' not in ready(f"{EXPLORE}/progress").text)
    page = Seen(ready(EXPLORE).text)
    assert f"changed were computed again: {figure}." in page.text
    assert "left out here" not in page.text
    # another workbench sees a sound store
    other = visitor(application(folder, token=TOKEN))
    other.get(f"/?token={TOKEN}")
    response = until(lambda: [answer for answer in [other.get(EXPLORE)] if answer.status_code != 202])[0]
    assert "Efficient candidates" in response.text
    assert "changed outside" not in response.text


def test_other_pages_cannot_start_anything(app: Starlette, guest: TestClient) -> None:
    for what in ("start", "pause", "cancel"):
        response = guest.post(f"{EXPLORE}/{what}", headers={"Sec-Fetch-Site": "cross-site"})
        assert response.status_code == 403
        assert visitor(app).post(f"{EXPLORE}/{what}").status_code == 403
        assert guest.get(f"{EXPLORE}/{what}").status_code == 405


def test_a_form_leads_back_to_its_own_page_only(guest: TestClient, ready: Callable[..., Any]) -> None:
    ready(EXPLORE)
    response = guest.post(f"{EXPLORE}/pause", data={"query": "//evil.example"})
    assert response.headers["location"] == EXPLORE


def test_evil_names_are_shown_as_text(folder: Path, ready: Callable[..., Any]) -> None:
    head, *rows = (folder / "patients.csv").read_text().splitlines()
    quoted = '"' + EVIL.replace('"', '""') + '"'
    (folder / "patients.csv").write_text("\n".join([head.replace("diagnosis", quoted), *rows]))
    (folder / "patients.sqlite").unlink()
    written = PATIENTS.replace('"Admissions <2026>"', f"'{EVIL}'")
    written = written.replace("[attributes.diagnosis]", f"[attributes.'{EVIL}']")
    mondrian = 'sanitizer = "mondrian"\n'
    explored(folder / "patients.toml", written.replace(mondrian, f"{mondrian}target = '{EVIL}'\n"))
    for address in ("", "?show=all", "?view=parallel", "/plan", "/plan/4", "/details"):
        page = ready(EXPLORE + address).text
        assert EVIL not in page
        assert "<script>alert" not in page
    made = ready(f"{EXPLORE}/candidates.json")
    assert made.headers["content-type"].startswith("application/json")
    assert any(EVIL in recipe for recipe in json.loads(made.text)["recipes"])
    some = json.loads(made.text)["ids"][-1]
    assert EVIL not in ready(f"{EXPLORE}/details?id={some}").text
    assert EVIL not in ready(f"{EXPLORE}/frontier.svg").text


def test_a_time_is_chosen_and_the_usual_one_is_that_of_the_project(
    ready: Callable[..., Any], folder: Path
) -> None:
    def usual() -> str:
        (chosen,) = re.findall(r'<option value="(\w+)" selected>', ready(EXPLORE).text.partition("budget")[2])
        return str(chosen)

    assert usual() == "none"
    path = folder / "patients.toml"
    path.write_text(f'{PATIENTS}\n[explore]\nbudget = "5m"\n')
    assert usual() == "5m"
    path.write_text(f'{PATIENTS}\n[explore]\nbudget = "90s"\n')
    assert usual() == "90s"


def test_a_budget_is_given_to_the_exploration(
    app: Starlette, guest: TestClient, ready: Callable[..., Any], folder: Path, patience: float
) -> None:
    ready(EXPLORE)
    assert guest.post(f"{EXPLORE}/start", data={"workers": "1", "budget": "5m"}).status_code == 303
    job = app.state.workbench.jobs.of(folder / "patients.toml")
    assert job.budget == 300.0
    report = job.wait(patience)
    assert (report.state, report.progress.is_spent) == ("done", False)
    refused = guest.post(f"{EXPLORE}/start", data={"budget": "soon"})
    assert "is no time" in refused.text


def test_a_budget_that_is_spent_is_said_with_what_is_left(
    app: Starlette, guest: TestClient, ready: Callable[..., Any], folder: Path, patience: float
) -> None:
    path = folder / "patients.toml"
    path.write_text(PATIENTS.replace("k = [2, 3, 1000]", f"k = {list(range(1, 300))}"))
    ready(EXPLORE)
    guest.post(f"{EXPLORE}/start", data={"workers": "1", "budget": "0.000000001s"})
    app.state.workbench.jobs.of(path).wait(patience)
    page = ready(f"{EXPLORE}/progress").text
    assert "The time is up." in page
    assert "are left: going on makes them" in page
    assert "Go on" in page


def test_the_heading_is_true_when_the_time_was_too_short_for_any_candidate(
    app: Starlette, guest: TestClient, ready: Callable[..., Any], folder: Path, patience: float
) -> None:
    path = folder / "people.toml"
    (folder / "people.csv").write_text("name,age,sex,zip,diagnosis\nAnn,3,f,01307,flu\nBob,4,m,01309,gout\n")
    path.write_text(PROJECT)
    explore = "/projects/people/explore"
    ready(explore)
    guest.post(f"{explore}/start", data={"workers": "1", "budget": "0.000000001s"})
    app.state.workbench.jobs.of(path).wait(patience)
    page = ready(explore).text
    if "data-source" in page and 'class="empty"' in page:
        assert "No candidate was made in that time" in page
    assert "The first candidates are being made" not in page


def test_how_the_frontier_grew_is_drawn_and_said(ready: Callable[..., Any]) -> None:
    page = ready(EXPLORE).text
    assert "A first frontier stood after" in page
    (points,) = re.findall(r'<polyline points="([^"]+)"', page)
    places = [tuple(map(float, point.split(","))) for point in points.split()]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    heights = [-y for _, y in places]
    assert heights == sorted(heights), "it never falls"


def test_the_other_recipes_of_an_equal_release_are_listed_and_find_it(
    ready: Callable[..., Any], folder: Path
) -> None:
    path = folder / "patients.toml"
    explored(path, PATIENTS.replace("k = [2, 3, 1000]", "k = [2, 3, 4, 5]"))
    (one,) = {each.id: each for each in candidates(path).values() if each.also}.values()
    for way in one.ways:
        page = Seen(ready(f"{EXPLORE}/details?id={way.id}").text).text
        assert one.id in page
        assert "The same release is also made by" in page
        assert ready(f"/projects/patients/releases/{way.id}").status_code == 200
