"""Next month's file, by mouse: from a published release to the folder of the new records."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.cli import run
from sfumato.verification.documents import read_manifest
from sfumato.workflow.publish.verify import verify

PROJECT = """
policy.recipient = "none"
[data]
path = "january.csv"
[attributes]
age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 20, 40] } }
town = { role = "quasi-identifying" }
illness = { role = "sensitive" }
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [5, 20] } }
[measure]
privacy = ["privacy-loss"]
utility = ["general-loss"]
[publication]
formats = ["dta", "sav"]
partition-by = "town"
"""


def month(place: Path, seed: int) -> Path:
    rng = random.Random(seed)
    with place.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "town", "illness"])
        for _ in range(600):
            town = rng.choice(["Rome", "Oslo", "Bonn"])
            rows.writerow([rng.randint(20, 69), town, rng.choice(["flu", "gout", "cold"])])
    return place


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """A project in whose folder January is published."""
    month(tmp_path / "january.csv", 1)
    project = tmp_path / "hospital.toml"
    project.write_text(PROJECT, encoding="utf-8")
    assert run(["explore", str(project), "--seed", "1", "--workers", "1"]) == 0
    return project


def test_new_records_get_the_recoding_of_a_published_release(
    serve: Any, page: Any, photograph: Any, hospital: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    february = month(tmp_path_factory.mktemp("downloads") / "february.csv", 2)
    page.goto(serve(hospital))
    page.get_by_role("navigation").get_by_role("link", name="Explore", exact=True).click()
    page.get_by_role("link", name="Mondrian k=20").first.click()
    page.get_by_role("link", name="Decide and publish").click()
    page.get_by_text("data/town=…").wait_for()
    page.get_by_label("Reason").fill("The first month.")
    page.get_by_label("Decided by").fill("A. Steward")
    page.get_by_label("Folder").fill("january")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Verified.").wait_for()
    photograph(page, "next-month-1-published")

    page.get_by_role("link", name="Next month's file").click()
    page.get_by_text("There is no other data file in this folder yet.").wait_for()
    page.get_by_label("The new file is not in this folder yet?").set_input_files(february)
    page.get_by_role("button", name="Load the file").click()
    page.get_by_role("heading", name="What is checked").wait_for()
    assert page.get_by_label("New records", exact=True).input_value() == "february.csv"
    page.get_by_label("Reason").fill("The second month.")
    page.get_by_label("Decided by").fill("A. Steward")
    page.get_by_label("Most records to suppress").fill("0%")
    photograph(page, "next-month-2-form")
    page.get_by_role("button", name="Apply and publish").click()
    page.get_by_text("Nothing was published.").wait_for()
    page.get_by_role("alert").get_by_text("would have to be suppressed").wait_for()
    photograph(page, "next-month-3-refused")
    assert not (hospital.parent / "february").exists()

    assert page.get_by_label("Reason").input_value() == "The second month."
    page.get_by_label("Most records to suppress").fill("40%")
    page.get_by_role("button", name="Apply and publish").click()
    page.get_by_text("Verified.").wait_for()
    page.get_by_text("of 600 records are published.").wait_for()
    photograph(page, "next-month-4-applied")
    published = hospital.parent / "february"
    assert verify(published).holds
    manifest = read_manifest(published)
    assert "composition-k" in {figure.measure for figure in manifest.unverified.figures}
    assert (manifest.partition_by, sorted(manifest.formats)) == ("town", ["dta", "sav"])
