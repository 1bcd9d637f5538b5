"""The whole way of a data steward, from a file to a published folder that verifies, without a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.csv as arrow_csv
import pytest

from sfumato.reading.datasets import adult_records
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.verify import verify
from sfumato.workflow.store.store import Store

from .waiting import until

KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex")


@pytest.fixture(scope="module")
def adult_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded example as a person would have it: seven columns of 45,222 people."""
    path = tmp_path_factory.mktemp("downloads") / "adult.csv"
    arrow_csv.write_csv(adult_records("complete").select([*KNOWN, "occupation"]), path)
    return path


def go(page: Any, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()


def plan(page: Any) -> None:
    """Choose a small grid: the two trivial releases and a few of Mondrian."""
    go(page, "Explore")
    page.get_by_role("link", name="Change the plan").click()
    page.get_by_role("button", name="Save the policy").wait_for()
    while page.get_by_role("button", name=re.compile("^Remove ")).count():
        before = page.get_by_role("button", name=re.compile("^Remove ")).count()
        page.get_by_role("button", name=re.compile("^Remove ")).first.click()
        until(page, f"document.querySelectorAll('.blocks > li').length === {before - 1}")
    for method, parameters in (
        ("as-is", {}),
        ("suppress-quasi-identifiers", {}),
        ("mondrian", {"k": "5, 20, 100, 1000"}),
    ):
        methods = page.locator("#more-methods")
        if methods.get_attribute("open") is None:
            methods.locator("summary").first.click()
        page.get_by_role("link", name=method, exact=True).click()
        for name, value in parameters.items():
            page.get_by_role("textbox", name=name, exact=True).fill(value)
        page.get_by_role("button", name="Try it").click()
        page.get_by_role("heading", name="The plan").wait_for()
    page.get_by_label("the public at least 11 people look alike").check()
    page.get_by_role("button", name="Save the policy").click()
    page.get_by_text("The policy is saved").wait_for()


def test_from_a_file_to_a_published_folder(
    serve: Any, page: Any, photograph: Any, adult_csv: Path, tmp_path: Path
) -> None:
    # the file and the roles
    page.goto(serve(tmp_path))
    page.get_by_label("Drop a file here, or choose one").set_input_files(adult_csv)
    page.get_by_role("button", name="Load the file").click()
    page.get_by_role("heading", name="What the attributes are").wait_for()
    for name in KNOWN:
        page.get_by_label(f"Role of {name}").select_option("quasi-identifying")
    page.get_by_label("Role of occupation").select_option("sensitive")
    page.get_by_role("button", name="Confirm roles").click()
    page.get_by_text("The roles are saved in the project file.").wait_for()

    # exploring
    plan(page)
    go(page, "Explore")
    page.locator("select[name=budget]").select_option("none")
    page.get_by_role("button", name=re.compile("Start exploring|Explore what is new")).click()
    page.get_by_text("Explored.").wait_for()
    until(page, "window.sfumatoChart?.drawn?.length === 6")
    photograph(page, "journey-1-frontier")

    # one release
    page.get_by_role("link", name=re.compile("Mondrian k=100$")).first.click()
    page.get_by_role("heading", name="What would be published").wait_for()
    for heading in (
        "Class sizes",
        "Where the privacy loss comes from",
        "Which groups of people can",
    ):
        page.get_by_role("heading", name=heading).wait_for()
    page.get_by_text("of 45,222 rows of data.csv").wait_for()
    identity = page.url.rpartition("/")[2]
    photograph(page, "journey-2-release")
    page.get_by_role("link", name="Look at records before and after…").click()
    show = page.get_by_role("button", name="Show eight records before and after")
    show.wait_for()
    assert not page.get_by_role("table").count()
    show.click()
    page.get_by_role("table").get_by_role("row").nth(16).wait_for()
    assert page.get_by_role("table").get_by_role("row").count() == 17
    page.get_by_role("link", name="Back to the release").click()

    # comparing three
    page.get_by_role("link", name=re.compile("^Compare")).last.click()
    others = {"First": identity, "Second": "k=20 ", "Third": "k=1,000 "}
    for place, other in others.items():
        select = page.get_by_label(re.compile(f"^{place} release"))
        option = select.locator("option", has_text=other).first
        select.select_option(value=option.get_attribute("value"))
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="Every measure").wait_for()
    page.get_by_text("are worse off in").nth(2).wait_for()
    photograph(page, "journey-3-compare")

    # asking, with the keyboard
    go(page, "Ask")
    box = page.get_by_label("Question")
    box.focus()
    page.keyboard.type("max ")
    page.get_by_role("option", name=re.compile("^k-anonymity")).wait_for()
    page.keyboard.type("weigh")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert box.input_value() == "max weighted-k "
    page.keyboard.type("where loss <= 40% nd suppression <= 10%")
    page.keyboard.press("Enter")
    page.locator(".pointed mark").wait_for()
    assert page.locator(".pointed mark").inner_text() == "nd"
    photograph(page, "journey-4-misread")
    page.get_by_label("Question").fill("max weighted-k where loss <= 40% and suppression <= 10%")
    page.keyboard.press("Enter")
    page.get_by_text("What the limits cost, each by itself").wait_for()
    assert "q=max" in page.url
    photograph(page, "journey-5-ask")
    page.get_by_role("link", name=re.compile("What is a good k")).click()
    page.wait_for_url("**suppression**")
    page.get_by_role("link", name="Look at it").click()
    page.wait_for_url("**/releases/*")
    identity = page.url.rpartition("/")[2]

    # deciding
    page.get_by_role("link", name="Decide and publish").click()
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Say why this release: a reviewer will ask.").first.wait_for()
    page.get_by_label("Reason").fill("The largest k for a quarter of the information.")
    page.get_by_label("Decided by").fill("A. Steward")
    page.get_by_label("Folder").fill("../for the public")
    photograph(page, "journey-6-decide")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Verified.").wait_for()
    photograph(page, "journey-7-published")
    assert page.url.endswith("/published/for~20the~20public")
    folder = tmp_path / "for the public"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "certificate.json",
        "data.csv",
        "data.parquet",
        "datapackage.json",
        "manifest.json",
        "report.html",
    ]
    assert all(check.holds for check in verify(folder))
    project = Project.load(tmp_path / "adult.toml")
    with Store(project.store_path) as store:
        assert [(each.candidate, each.by) for each in store.decisions()] == [(identity, "A. Steward")]

    # the report
    page.get_by_role("link", name="Read the report").click()
    page.get_by_text("The largest k for a quarter of the information.").wait_for()
    page.get_by_role("heading", name="Limits of the claim").wait_for()
    photograph(page, "journey-8-report")


@pytest.fixture
def patients(tmp_path: Path) -> str:
    """A small project with one candidate that its policy refuses, and the candidate's identity."""
    from sfumato.reading import datasets
    from sfumato.workflow.explore.explore_project import explore

    arrow_csv.write_csv(datasets.hospital()[0].to_arrow(), tmp_path / "patients.csv")
    (tmp_path / "patients.toml").write_text(
        '[data]\npath = "patients.csv"\n[attributes.name]\nrole = "identifying"\n'
        '[attributes.age]\nrole = "quasi-identifying"\n[attributes.sex]\nrole = "quasi-identifying"\n'
        '[attributes.zip]\nrole = "quasi-identifying"\n[attributes.diagnosis]\nrole = "sensitive"\n'
        '[[candidates]]\nsanitizer = "as-is"\n[policy]\nrecipient = "none"\n'
        "reidentification-risk = { at-most = 0.09 }\n"
    )
    project = Project.load(tmp_path / "patients.toml")
    with Store(project.store_path) as store:
        explore(project, store, workers=1)
        (identity,) = store.measured()
    return identity


def test_who_types_before_the_script_came_is_helped_when_it_comes(
    serve: Any, page: Any, patients: str, tmp_path: Path
) -> None:
    address = serve(tmp_path)
    page.goto(address)
    held: list[Any] = []
    page.route("**/ask.js*", lambda route: held.append(route))
    page.goto(f"{address.partition('?')[0].rstrip('/')}/projects/patients/ask", wait_until="commit")
    page.get_by_label("Question").focus()
    page.keyboard.type("max ")
    until(page, lambda: held)
    assert page.get_by_role("option").count() == 0
    held[0].continue_()
    page.get_by_role("option", name=re.compile("^k-anonymity")).wait_for()


def test_against_the_policy_nothing_is_published(
    serve: Any, page: Any, photograph: Any, patients: str, tmp_path: Path
) -> None:
    address = serve(tmp_path)
    page.goto(address)
    page.goto(f"{address.partition('?')[0].rstrip('/')}/projects/patients/decide/{patients}")
    page.get_by_text("This release may not be published.").wait_for()
    assert page.get_by_role("button", name="Publish").count() == 0
    photograph(page, "decide-forbidden")
