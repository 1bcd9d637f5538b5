"""A German clinic's way in the browser, from its export to a verified folder, without touching TOML."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.workbench.routes.ask import STANDING
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.verify import verify

MESSY = Path(__file__).parents[2] / "benchmarks" / "messy.py"
# exploring what suits a table takes a while where others use the machine too
EXPLORING = 480_000
ENDED = re.compile(r"Explored\.|Paused\.|The time is up\.")
ENOUGH = """() => {
  const all = window.sfumatoChart?.all;
  return Boolean(all) && all.ids.length >= 10 && all.broken.filter((words) => !words).length >= 4;
}"""


@pytest.fixture
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits to a clinic: semicolons, decimal commas, thousands points, ``k.A.`` among dates, ICD codes."""
    spec = importlib.util.spec_from_file_location("messy", MESSY)
    assert spec is not None
    assert spec.loader is not None
    messy = importlib.util.module_from_spec(spec)
    sys.modules["messy"] = messy
    spec.loader.exec_module(messy)
    clinic = next(table for table in messy.TABLES if table.name == "clinic").of_size(300)
    path = tmp_path_factory.mktemp("downloads") / "Klinik.csv"
    path.write_bytes(clinic.content())
    return path


def go(page: Any, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()


def say_how_the_file_is_written(page: Any, photograph: Any) -> None:
    page.get_by_role("link", name="How the file is written").click()
    page.get_by_role("heading", name="Missing values").wait_for()
    marks = page.get_by_label("Marks for a missing value")
    assert marks.input_value() == "k.A."
    assert page.get_by_label("Decimal mark").input_value() == ","
    assert page.get_by_label("Mark between thousands").input_value() == "."
    day = page.get_by_label("Aufnahmedatum")
    assert day.locator("option:checked").inner_text() == "31.12.2024"
    photograph(page, "clinic-1-file")

    # what cannot be is said beside its field, and nothing is lost
    page.get_by_label("Mark between thousands").select_option(",")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("This is the decimal mark already").wait_for()
    page.get_by_label("Mark between thousands").select_option(".")
    page.get_by_label("Marks for a missing value").fill("k.A.\nunbekannt")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The file is read as you said.").wait_for()


def look_at_rows(page: Any) -> None:
    page.get_by_role("link", name="Look at a few rows…").click()
    page.get_by_role("button", name="Show eight records").click()
    page.get_by_role("table").get_by_role("row").nth(8).wait_for()
    shown = page.get_by_role("table").inner_text()
    assert not any(name in shown for name in ("Müller", "Nowak", "Name", "Patienten-Nr"))
    page.get_by_role("link", name="Back to the data").click()


def wait_for_some_candidates(page: Any) -> None:
    """Wait until there is something to choose from, and leave the rest for another day."""
    for _ in range(EXPLORING // 500):
        if page.evaluate(ENOUGH) or page.get_by_text(ENDED).count():
            break
        page.wait_for_timeout(500)
    page.evaluate("document.getElementById('pause')?.click()")  # it may end by itself at any moment
    page.get_by_text(ENDED).first.wait_for()


def ask_everything(page: Any, photograph: Any) -> None:
    """Ask the four standing questions: each has an answer, or says how far each limit is from one."""
    go(page, "Ask")
    for number in range(len(STANDING)):
        page.locator(".standing a").nth(number).click()
        page.wait_for_url("**q=**")
        page.locator("h2#answer").wait_for()
        assert page.locator(".error").count() == 0
        assert page.get_by_text("not measured").count() == 0
        assert not re.search(r"\d\.\d{6,}", page.locator("main").inner_text())
        if number == 0:
            photograph(page, "clinic-4-ask")


@pytest.mark.thorough("tests/browser/test_journey.py")
def test_the_clinics_journey(serve: Any, page: Any, photograph: Any, export: Path, tmp_path: Path) -> None:
    # the file and the roles
    page.goto(serve(tmp_path))
    page.get_by_label("Drop a file here, or choose one").set_input_files(export)
    page.get_by_role("button", name="Load the file").click()
    page.get_by_role("heading", name="What the attributes are").wait_for()
    page.get_by_label("Role of Station").select_option("insensitive")
    page.get_by_role("button", name="Confirm roles").click()
    page.get_by_text("The roles are saved in the project file.").wait_for()
    say_how_the_file_is_written(page, photograph)
    assert page.get_by_label("Role of Station").input_value() == "insensitive"
    assert page.get_by_label("Role of Name").input_value() == "identifying"
    photograph(page, "clinic-2-data")
    look_at_rows(page)
    project = Project.load(tmp_path / "Klinik.toml")
    assert project.data.missing_values == ["k.A.", "unbekannt"]

    # a policy, then exploring
    go(page, "Explore")
    page.get_by_role("link", name="Change the plan").click()
    page.get_by_label("at least 3 look alike").check()
    page.get_by_role("button", name="Save the policy").click()
    page.get_by_text("The policy is saved").wait_for()
    go(page, "Explore")
    page.get_by_role("button", name="Start exploring").click()
    wait_for_some_candidates(page)
    photograph(page, "clinic-3-explore")
    page.get_by_role("link", name="Several measures").click()
    page.locator("#narrow").wait_for()
    photograph(page, "clinic-3-parallel")

    ask_everything(page, photograph)

    # a release that meets the policy, and the decision for it
    go(page, "Explore")
    page.get_by_label("Policy", exact=True).select_option("met")
    page.wait_for_url("**policy=met**")
    page.locator("#candidates tbody th a", has_text="k=").first.click()
    page.get_by_role("heading", name="What would be published").wait_for()
    photograph(page, "clinic-5-release")
    page.get_by_role("link", name="Decide and publish").click()
    page.get_by_label("Reason").fill("Enough for the register of diagnoses.")
    page.get_by_label("Decided by").fill("Dr. A. Steward")
    page.get_by_label("Folder").fill("Register")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Verified.").wait_for()
    photograph(page, "clinic-6-published")
    assert all(check.holds for check in verify(tmp_path / "Register"))
    released = (tmp_path / "Register" / "data.csv").read_text(encoding="utf-8")
    assert not any(name in released for name in ("Müller", "Patienten-Nr", "Fallnummer"))
    go(page, "Report")
    page.get_by_role("link", name="Register", exact=True).wait_for()
    photograph(page, "clinic-7-report")
