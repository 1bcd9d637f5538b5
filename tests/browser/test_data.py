"""From a file to confirmed roles and a tree, in the browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.csv as arrow_csv
import pytest

from sfumato.reading.datasets import FOLDER, adult_records
from sfumato.workflow.project.project_file import Project


@pytest.fixture(scope="module")
def adult_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every twentieth record of the embedded example as a person would have it."""
    path = tmp_path_factory.mktemp("downloads") / "adult.csv"
    records = adult_records("complete")
    arrow_csv.write_csv(records.take(list(range(0, len(records), 20))), path)
    return path


def load(page: Any, address: str, file: Path) -> None:
    page.goto(address)
    page.get_by_label("Drop a file here, or choose one").set_input_files(file)
    page.get_by_role("button", name="Load the file").click()
    page.get_by_role("heading", name="What the attributes are").wait_for()


def test_a_file_is_loaded_and_its_roles_confirmed(
    serve: Any, page: Any, photograph: Any, adult_csv: Path, tmp_path: Path
) -> None:
    page.goto(serve(tmp_path))
    photograph(page, "first-page")
    load(page, page.url, adult_csv)
    assert page.url.endswith("/projects/adult/data")
    assert (tmp_path / "adult.csv").read_bytes() == adult_csv.read_bytes()
    photograph(page, "data")
    page.get_by_label("Role of occupation").select_option("sensitive")
    for name in ("fnlwgt", "capital-gain", "capital-loss", "salary"):
        page.get_by_label(f"Role of {name}").select_option("insensitive")
    page.get_by_role("button", name="Confirm roles").click()
    page.get_by_text("The roles are saved in the project file.").wait_for()
    schema = Project.load(tmp_path / "adult.toml").schema
    assert schema.sensitive == ("occupation",)
    assert set(schema.insensitive) == {"fnlwgt", "capital-gain", "capital-loss", "salary"}
    assert page.get_by_label("Role of occupation").input_value() == "sensitive"


def test_an_interval_width_is_changed_and_the_tree_shows_it(
    serve: Any, page: Any, photograph: Any, adult_csv: Path, tmp_path: Path
) -> None:
    load(page, serve(tmp_path), adult_csv)
    page.get_by_role("link", name="Hierarchy of age").click()
    page.get_by_label("Widths").fill("10, 30")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The hierarchy is saved in the project file.").wait_for()
    tree = page.get_by_role("region", name="Tree", exact=True)
    tree.get_by_text("[30, 60)").wait_for()
    tree.get_by_text("[30, 40)").wait_for()
    page.get_by_label("The most exact level that may be released").select_option("level 1, such as [30, 40)")
    page.get_by_role("button", name="Set the lowest level").click()
    page.get_by_text("The lowest level is saved in the project file.").wait_for()
    assert "lowest-level = 1" in (tmp_path / "adult.toml").read_text()
    photograph(page, "intervals")
    page.get_by_label("Widths").fill("10, 25")
    page.get_by_role("button", name="Save").click()
    page.get_by_text(re.compile("is not a multiple of")).wait_for()
    assert "intervals = [10, 30]" in (tmp_path / "adult.toml").read_text()


def test_a_tree_is_made_by_hand_with_the_keyboard_alone(
    serve: Any, page: Any, photograph: Any, adult_csv: Path, tmp_path: Path
) -> None:
    load(page, serve(tmp_path), adult_csv)
    page.get_by_role("link", name="Hierarchy of workclass").press("Enter")
    for value in ("Federal-gov", "Local-gov", "State-gov"):
        page.get_by_label(f"Choose {value}").press("Space")
    page.get_by_label("Name", exact=True).fill("Government")
    page.get_by_role("button", name="Merge into one").press("Enter")
    page.get_by_text("The changed tree is saved.").wait_for()
    tree = page.get_by_role("region", name="Tree", exact=True)
    tree.get_by_text("Government").wait_for()
    assert "State-gov;Government;*" in (tmp_path / "hierarchies" / "workclass.edited.csv").read_text()
    photograph(page, "tree")


def test_a_hierarchy_of_arx_is_imported_and_exported(
    serve: Any, page: Any, adult_csv: Path, tmp_path: Path
) -> None:
    load(page, serve(tmp_path), adult_csv)
    page.get_by_role("link", name="Hierarchy of education", exact=True).click()
    source = FOLDER / "hierarchies" / "adult" / "education.csv"
    page.get_by_label("CSV file").set_input_files(source)
    page.get_by_role("button", name="Import").click()
    page.get_by_text("The hierarchy has been imported.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    exported = Path(download.value.path()).read_text(encoding="utf-8")
    assert sorted(exported.split()) == sorted(source.read_text(encoding="utf-8").split())


def test_it_works_without_javascript(serve: Any, chromium: Any, adult_csv: Path, tmp_path: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(120_000)
    page = context.new_page()
    load(page, serve(tmp_path), adult_csv)
    page.get_by_label("Role of occupation").select_option("sensitive")
    page.get_by_role("button", name="Confirm roles").click()
    page.get_by_text("The roles are saved in the project file.").wait_for()
    context.close()
    assert "occupation" in Project.load(tmp_path / "adult.toml").schema.sensitive


def test_another_browser_does_not_get_in(serve: Any, page: Any, chromium: Any, tmp_path: Path) -> None:
    address = serve(tmp_path)
    page.goto(address)
    assert "token" not in page.url
    other = chromium.new_context()
    visitor = other.new_page()
    for tried in (address, page.url):
        assert visitor.goto(tried).status == 403
    other.close()


def test_an_unknown_address_is_a_page(serve: Any, page: Any, photograph: Any, tmp_path: Path) -> None:
    page.goto(serve(tmp_path))
    page.goto(page.url + "projects/nothing/data")
    page.get_by_role("heading", name="Nothing here").wait_for()
    photograph(page, "nothing-here")


@pytest.mark.thorough("tests/workbench/state/test_editing.py")
def test_nothing_that_was_written_is_lost_when_the_server_is_killed(
    serve: Any, page: Any, adult_csv: Path, tmp_path: Path
) -> None:
    load(page, serve(tmp_path), adult_csv)
    page.get_by_label("Role of occupation").select_option("sensitive")
    page.get_by_role("button", name="Confirm roles").click()
    page.get_by_text("The roles are saved in the project file.").wait_for()
    serve.kill()
    page.goto(serve(tmp_path / "adult.toml"))
    page.get_by_role("heading", name="What the attributes are").wait_for()
    assert page.get_by_label("Role of occupation").input_value() == "sensitive"
