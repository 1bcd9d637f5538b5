"""Choosing methods, exploring, and working with the frontier, in the browser."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

from ..workbench.exploring import change_figure
from .waiting import until

PROJECT = """\
# who wrote this: a human
[data]
path = "people.csv"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }

[attributes.sex]
role = "quasi-identifying"

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [4, 3, 2] }

[attributes.diagnosis]
role = "sensitive"

[measure]
privacy = ["privacy-loss", "reidentification-risk", "weighted-k"]
utility = ["general-loss", "suppression-loss"]

[policy]
recipient = "none"
reidentification-risk = { at-most = 0.2 }
"""
METHODS = (
    "mondrian",
    "clustering",
    "full-domain",
    "bucketize",
    "anatomy",
    "cell-suppression",
    "local-recoding",
)
MANY = 5_000
PLACE = """row => {
  const chart = window.sfumatoChart, box = chart.canvas.getBoundingClientRect(), [x, y] = chart.place(row);
  return [box.x + x, box.y + y];
}"""
FRONT = "window.sfumatoChart.front.map(row => window.sfumatoChart.all.ids[row])"
KNEE = "window.sfumatoChart.all.ids[window.sfumatoChart.knee] ?? null"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small table of people and a project that tries nothing yet."""
    chance = random.Random(7)
    illnesses = ["flu", "gout", "asthma", "angina"]
    rows = [
        f"{chance.randint(18, 90)},{chance.choice('fm')},{chance.randint(1300, 1399):05},"
        + chance.choice(illnesses)
        for _ in range(300)
    ]
    (tmp_path / "people.csv").write_text("age,sex,zip,diagnosis\n" + "\n".join(rows))
    (tmp_path / "people.toml").write_text(PROJECT)
    return tmp_path


def fill(folder: Path, n: int, start: int = 0) -> tuple[Candidate, ...]:
    """Write candidates straight into the store, as an exploration would."""
    project = Project.load(folder / "people.toml")
    source, chance = source_of(*project.read()), random.Random(start)
    made = []
    for i in range(start, start + n):
        along, away = chance.random(), chance.random() ** 2
        loss = min((1 - along) ** 2 + 0.5 * away, 1.0)
        values: Any = (
            ("privacy-loss", 0.69 * min(along**2 + 0.4 * away, 1), "privacy", "lower"),
            ("general-loss", loss, "utility", "lower"),
        )
        more: Any = (
            ("weighted-k", 1 + 500 * along * chance.random(), "privacy", "higher"),
            ("suppression-loss", chance.random() * away, "utility", "lower"),
        )
        more += (("reidentification-risk", 1 / chance.randint(2, 60), "privacy", "lower"),)
        measured = tuple(
            Measurement(name, value, axis, better) for name, value, axis, better in (*values, *more)
        )
        recipe = Recipe(METHODS[i % len(METHODS)], {"model": {"k-anonymity": {"k": 2 + i}}})
        made.append(Candidate(f"c{i:09}", recipe, measured, None, 0.1))
    with Store(project.store_path) as store:
        with store._connection:
            store._connection.execute("pragma synchronous = off")
        for candidate in made:
            store.save(candidate, source, {"all": list(candidate.measurements)})
    return tuple(made)


@pytest.fixture
def entered(serve: Any, page: Any, folder: Path) -> Callable[..., str]:
    """Serve the folder, come in, and go to a page of the project."""
    address = serve(folder)
    page.goto(address)
    base = address.partition("?")[0].rstrip("/") + "/projects/people/explore"

    def go(rest: str = "") -> str:
        page.goto(base + rest)
        page.locator("#job").wait_for()
        return base

    return go


def gated(gate: Any, ks: range) -> str:
    """Return candidates that wait at a gate."""
    return f'\n[[candidates]]\nsanitizer = "gated"\ngate = "{gate.folder}"\nk = {list(ks)}\n'


def drawn(page: Any) -> None:
    until(page, "window.sfumatoChart?.drawn?.length > 0")


def kept(page: Any) -> set[str]:
    """Return the ids of the candidates that are not against the policy."""
    return set(
        page.evaluate("window.sfumatoChart.all.ids.filter((_, row) => !window.sfumatoChart.all.broken[row])")
    )


def place(page: Any, row: int) -> tuple[float, float]:
    x, y = page.evaluate(PLACE, row)
    return x, y


def test_methods_are_chosen_explored_and_looked_at(
    page: Any, gate: Any, entered: Callable[..., str], photograph: Any, folder: Path
) -> None:
    entered()
    page.get_by_text("There is nothing to try yet").wait_for()
    photograph(page, "explore-empty")
    page.get_by_role("link", name="Change the plan").click()
    page.get_by_role("link", name="as-is", exact=True).click()
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("Add a method or a search").click()
    page.get_by_role("link", name="mondrian", exact=True).click()
    page.get_by_role("textbox", name="k", exact=True).fill("0, 3")
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("k must be at least 1, not 0").wait_for()
    photograph(page, "explore-try-error")
    page.get_by_role("textbox", name="k", exact=True).fill(", ".join(map(str, range(2, 40, 2))))
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("19 candidates").wait_for()
    page.get_by_label("protected place").check()
    page.get_by_role("button", name="Save the policy").click()
    page.get_by_text("The policy is saved").wait_for()
    photograph(page, "explore-plan")
    assert "# who wrote this: a human" in (folder / "people.toml").read_text()
    assert 'recipient = "protected-place"' in (folder / "people.toml").read_text()
    with (folder / "people.toml").open("a") as project:
        project.write(gated(gate, range(3, 40, 2)))
    gate.let_through(2)
    page.get_by_role("navigation").get_by_role("link", name="Explore").click()
    page.get_by_role("button", name="Start exploring").click()
    page.get_by_role("button", name="Pause").wait_for()
    drawn(page)
    # it goes on while we look closer, and what is seen stays
    page.get_by_role("button", name="Zoom in").click()
    until(page, "window.sfumatoChart.zoomed")
    seen = page.evaluate("window.sfumatoChart.all.window")
    before = page.evaluate("window.sfumatoChart.all.ids.length")
    gate.open()
    until(page, f"window.sfumatoChart.all.ids.length > {before}")
    after = page.evaluate("window.sfumatoChart.all.window")
    assert [*map(float, after.split(","))] == pytest.approx([*map(float, seen.split(","))])
    photograph(page, "explore-running")
    page.get_by_text("Explored.").wait_for()
    page.get_by_role("button", name="Whole picture").click()
    until(page, "!window.sfumatoChart.zoomed")
    candidate = page.evaluate("window.sfumatoChart.front[0]")
    page.mouse.move(*place(page, candidate))
    tip = page.locator("#tip")
    tip.wait_for()
    assert "privacy loss" in tip.inner_text()
    page.mouse.click(*place(page, candidate))
    page.get_by_role("link", name="Look at the release").wait_for()
    identity = page.evaluate(f"window.sfumatoChart.all.ids[{candidate}]")
    assert f"id={identity}" in page.url
    photograph(page, "explore-chosen")
    page.get_by_label("First measure").select_option(label="re-identification risk")
    page.wait_for_url("**axis=reidentification-risk**")
    page.get_by_text("re-identification risk and general loss").first.wait_for()
    until(page, "window.sfumatoChart.all.measures[0].label === 'reidentification-risk'")
    photograph(page, "explore-axes")
    page.reload()
    drawn(page)
    assert page.evaluate("window.sfumatoChart.all.measures[0].label") == "reidentification-risk"
    page.get_by_role("link", name="Look at the release").click()
    page.wait_for_url(f"**/releases/{identity}")


def test_figures_that_were_changed_by_hand_are_named_and_computed_again(
    page: Any, entered: Callable[..., str], photograph: Any, folder: Path
) -> None:
    path = folder / "people.toml"
    path.write_text(
        PROJECT + '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [2, 5, 20] } }\n'
    )
    project = Project.load(path)
    with Store(project.store_path) as store:
        explore(project, store, seed=3, workers=1)
    identity = change_figure(path)
    entered()
    assert f"general-loss of candidate {identity}" in page.locator("#changed-rows").inner_text()
    photograph(page, "explore-changed-rows")
    page.get_by_role("button", name="Explore what is new").click()
    page.locator("#computed-again").wait_for()
    page.get_by_text("Explored.").wait_for()
    assert page.locator("#changed-rows").count() == 0
    photograph(page, "explore-computed-again")


def test_front_and_knee_are_those_of_the_library(
    page: Any, entered: Callable[..., str], folder: Path
) -> None:
    made = fill(folder, 400)
    for axes in (
        ("privacy-loss", "general-loss"),
        ("weighted-k", "suppression-loss"),
        ("weighted-k", "privacy-loss"),
    ):
        entered("?" + "&".join(f"axis={axis}" for axis in axes))
        drawn(page)
        frontier = Frontier(tuple(c for c in made if c.id in kept(page)), axes)
        assert sorted(page.evaluate(FRONT)) == sorted(c.id for c in frontier.efficient())
        knee = frontier.knee()
        assert page.evaluate(KNEE) == (knee.id if knee else None)
    four = ("privacy-loss", "weighted-k", "general-loss", "suppression-loss")
    entered("?" + "&".join(f"axis={axis}" for axis in four))
    drawn(page)
    allowed = tuple(c for c in made if c.id in kept(page))
    assert 0 < len(allowed) < len(made)
    assert sorted(page.evaluate(FRONT)) == sorted(c.id for c in Frontier(allowed, four).efficient())
    knee = Frontier(allowed, ("privacy-loss", "general-loss")).knee()
    assert page.evaluate(KNEE) == knee.id, "still that of the project's two measures"
    assert "knee of privacy loss and general loss" in page.locator("#legend").inner_text()


@pytest.mark.thorough("tests/test_frontier.py")
def test_five_thousand_candidates(
    page: Any, entered: Callable[..., str], photograph: Any, folder: Path
) -> None:
    fill(folder, MANY)
    entered()
    until(page, f"window.sfumatoChart?.drawn?.length === {MANY}")
    photograph(page, "explore-many")
    row = page.evaluate("window.sfumatoChart.front[3]")
    page.mouse.move(*place(page, row))
    page.locator("#tip").wait_for()
    x, y = place(page, page.evaluate("window.sfumatoChart.knee"))
    page.mouse.move(x - 90, y - 60)
    page.mouse.down()
    page.mouse.move(x + 60, y + 70, steps=4)
    page.mouse.up()
    until(page, "window.sfumatoChart.zoomed")
    photograph(page, "explore-many-zoomed")
    page.get_by_label("Show").select_option("all")
    page.get_by_text("page 1 of 100").wait_for()
    entered("?view=parallel")
    until(page, f"window.sfumatoChart?.drawn?.length === {MANY}")
    box = page.locator("#canvas").bounding_box()
    x = page.evaluate("window.sfumatoChart.ax(1)")
    page.mouse.move(box["x"] + x, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + x, box["y"] + 200, steps=4)
    page.mouse.up()
    until(page, "window.sfumatoChart.brushes.size === 1")
    photograph(page, "explore-many-parallel")
    page.get_by_text("Narrow down by numbers").click()
    label = page.evaluate("window.sfumatoChart.all.measures[1].title")
    assert page.get_by_label(f"{label}, from").input_value()
    page.get_by_role("button", name="All lines").click()
    assert page.get_by_label(f"{label}, from").input_value() == ""


def test_candidates_that_are_still_being_read_are_asked_for_again(
    page: Any, entered: Callable[..., str], folder: Path
) -> None:
    fill(folder, 40)
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        if len(asked) < 3:
            route.fulfill(status=202, body="<title>Reading</title>", content_type="text/html")
        else:
            route.continue_()

    page.route("**/candidates.json*", answer)
    entered()
    until(page, "window.sfumatoChart?.drawn?.length === 40")
    assert len(asked) == 3


def test_the_chart_is_worked_by_keyboard(page: Any, entered: Callable[..., str], folder: Path) -> None:
    fill(folder, 60)
    entered()
    drawn(page)
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said = page.locator("#said").inner_text()
    assert "efficient" in said
    page.keyboard.press("Enter")
    until(page, "location.search.includes(document.getElementById('details').dataset.id)")
    identity = page.locator("#details").get_attribute("data-id")
    assert page.locator("#point").get_attribute("href").endswith(identity)
    for key in ("+", "+"):
        page.keyboard.press(key)
    until(page, "window.sfumatoChart.zoomed")
    page.keyboard.press("0")
    until(page, "!window.sfumatoChart.zoomed")
    page.keyboard.press("Escape")
    page.locator("#point").wait_for(state="hidden")
    assert page.get_by_role("button", name="mondrian").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="mondrian").press("Enter")
    assert page.get_by_role("button", name="mondrian").get_attribute("aria-pressed") == "false"


def test_limits_are_moved_by_keyboard_and_pointer_and_taken_back(
    page: Any, entered: Callable[..., str], photograph: Any, folder: Path
) -> None:
    fill(folder, 60)
    entered()
    drawn(page)
    before = page.evaluate(FRONT)
    limit = page.get_by_role("slider", name="Limit of general loss")
    assert limit.get_attribute("aria-valuetext") == "no limit"
    limit.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("You are trying these limits out").wait_for()
    assert limit.get_attribute("aria-valuetext").startswith("at most ")
    assert "limit=general-loss" in page.url
    across = page.evaluate(FRONT)
    assert 0 < len(across) < len(before)
    upright = page.get_by_role("slider", name="Limit of privacy loss")
    box, canvas = upright.bounding_box(), page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"], box["y"] + 11)
    page.mouse.down()
    page.mouse.move(box["x"], canvas["y"] + canvas["height"] / 2, steps=5)
    page.mouse.up()
    until(page, "location.search.includes('privacy-loss')")
    until(page, f"window.sfumatoChart.front.length < {len(across)}")
    until(page, "document.querySelectorAll('#limits li').length === 3")
    photograph(page, "explore-limits")
    page.reload()
    drawn(page)
    assert upright.get_attribute("aria-valuetext").startswith("at most ")
    page.get_by_role("link", name="Back to the policy").click()
    until(page, "!location.search.includes('limit')")
    drawn(page)
    assert page.evaluate(FRONT) == before


def test_one_screen_has_policy_frontier_and_the_chosen_release(
    page: Any, entered: Callable[..., str], photograph: Any, folder: Path
) -> None:
    path = folder / "people.toml"
    path.write_text(
        PROJECT
        + '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [2, 5, 7, 12, 20, 40] } }\n'
    )
    project = Project.load(path)
    with Store(project.store_path) as store:
        explore(project, store, seed=3, workers=1)
    for width, height in ((1100, 800), (1280, 800), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        entered()
        drawn(page)
        page.get_by_text("rows that would be published").first.wait_for()
        for part in ("#limits", "#canvas", "#details"):
            box = page.locator(part).bounding_box()
            assert box["y"] >= 0
            assert box["y"] + min(box["height"], 300) <= height
        columns = [page.locator(part).bounding_box()["x"] for part in ("#limits", "#canvas", "#details")]
        assert columns == sorted(set(columns)), "next to each other"
        bottom = page.locator("#legend").bounding_box()
        assert bottom["y"] + bottom["height"] <= height
    assert "class" in page.locator(".rows-part").inner_text()
    assert not page.locator("#pairs table").count()
    page.get_by_role("button", name="Show rows before and after").click()
    page.locator("#pairs table").wait_for()
    words = page.locator("#pairs tbody th, #pairs tbody td:first-child").all_inner_texts()
    assert words[:4] == ["before", "after", "before", "after"]
    assert "/explore" in page.url, "the page stays"
    photograph(page, "explore-release")
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "document.documentElement.scrollWidth <= 390")
    until(page, "document.querySelector('#canvas').clientWidth < 390")


def test_it_shows_a_picture_and_a_list_without_javascript(
    serve: Any, chromium: Any, photograph: Any, folder: Path
) -> None:
    fill(folder, 40)
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(120_000)
    page = context.new_page()
    address = serve(folder)
    page.goto(address)
    page.goto(address.partition("?")[0].rstrip("/") + "/projects/people/explore")
    page.locator(".static-picture").wait_for()
    page.wait_for_load_state("load")
    page.wait_for_load_state("networkidle")
    assert page.locator(".static-picture").bounding_box()["height"] > 200
    page.get_by_label("Show").select_option("all")
    page.locator(".filters").get_by_role("button", name="Show").click()
    page.get_by_role("heading", name="All candidates").wait_for()
    page.locator("table.candidates tbody tr").nth(39).wait_for()
    assert page.locator("table.candidates tbody tr").count() == 40
    page.screenshot(
        path=Path(__file__).parents[2] / "test-artefacts" / "explore-without-scripts.png", full_page=True
    )
    context.close()


@pytest.mark.thorough("tests/workbench/state")
def test_candidates_of_the_command_line_appear_by_themselves(
    page: Any, entered: Callable[..., str], folder: Path
) -> None:
    fill(folder, 40)
    entered()
    drawn(page)
    project = Project.load(folder / "people.toml")
    with Store(project.store_path) as store, store.exclusive():
        page.get_by_text("being explored from elsewhere").wait_for()
        fill(folder, 20, start=40)
        until(page, "window.sfumatoChart.drawn.length === 60")
    page.get_by_text("There is nothing to try yet").wait_for()


@pytest.mark.thorough("tests/workbench/state/test_jobs.py")
def test_nothing_is_lost_when_the_server_is_killed(
    serve: Any, page: Any, gate: Any, entered: Callable[..., str], folder: Path
) -> None:
    (folder / "people.toml").write_text(PROJECT + gated(gate, range(2, 290)))
    gate.let_through(5)
    entered()
    page.get_by_role("button", name="Start exploring").click()
    drawn(page)
    n_drawn = page.evaluate("window.sfumatoChart.drawn.length")
    serve.kill()
    address = serve(folder)
    page.goto(address)
    page.goto(address.partition("?")[0].rstrip("/") + "/projects/people/explore")
    page.locator("#job").wait_for()
    drawn(page)
    assert page.evaluate("window.sfumatoChart.drawn.length") >= n_drawn
    page.get_by_role("button", name="Explore what is new").click()
    page.get_by_text("already known").wait_for()
