"""Method and epsilon follow from a declared error, and from nothing that the records hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sfumato.interfaces.cli import cli
from sfumato.runtime.errors import ProjectError
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

TOML = """
[data]
path = "people.csv"
[dp]
people-at-most = 2000
choose = "before"
error = 0.02
{more}
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = {{ intervals = [10, 20] }}
public = {{ whole = true, bounds = [0, 100] }}
[attributes.ill]
role = "sensitive"
kind = "categorical"
{end}
"""


def project(folder: Path, more: str = "", end: str = "") -> Project:
    return Project.parse(TOML.format(more=more, end=end), folder / "people.toml")


def test_the_recipe_is_known_without_the_records(tmp_path: Path) -> None:
    (search,) = project(tmp_path).searches
    assert not (tmp_path / "people.csv").exists()
    (recipe,) = search.recipes()  # type: ignore[attr-defined]
    assert (recipe.sanitizer, recipe.parameters["epsilon"], recipe.parameters["delta"]) == ("mst", 0.5, 1e-6)


def test_a_smaller_error_takes_a_larger_epsilon_and_an_impossible_one_is_refused(tmp_path: Path) -> None:
    text = TOML.format(more="", end="")
    (search,) = Project.parse(text.replace("0.02", "0.005"), tmp_path / "people.toml").searches
    (recipe,) = search.recipes()  # type: ignore[attr-defined]
    assert recipe.parameters["epsilon"] == 2.0
    with pytest.raises(ProjectError, match=r"dp\.error: no epsilon up to 10 keeps 0\.0005 of 2,000 people"):
        Project.parse(text.replace("0.02", "0.0005"), tmp_path / "people.toml")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ('[[candidates]]\nsanitizer = "mst"', r'dp\.choose: "before" allows no \[\[candidates\]\]'),
        (
            "[policy]\nrecipient = 'none'\nutility-loss = { at-most = 0.1 }",
            r"policy\.utility-loss: .* no figure of the original",
        ),
    ],
)
def test_what_needs_the_original_is_refused(tmp_path: Path, end: str, said: str) -> None:
    with pytest.raises(ProjectError, match=said):
        project(tmp_path, end=end)


def test_the_noise_of_a_count_keeps_the_declared_error(tmp_path: Path) -> None:
    from sfumato.sanitizers.synthesize.noisy_counts import rho_of, with_noise

    rho = rho_of(0.5, 0.5e-6) / 3 / 3
    noise = with_noise(np.zeros(4_000, dtype=np.int64), rho, 1)
    assert noise.std() <= 0.02 * 2_000
    assert noise.std() > 0.02 * 2_000 / 3


def test_the_folder_and_the_warning_say_when_the_choice_was_made(tmp_path: Path) -> None:
    rows = [f"{20 + row % 60},{'flu' if row % 3 else 'cold'}" for row in range(1_500)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *rows, ""]), encoding="utf-8")
    place = tmp_path / "people.toml"
    place.write_text(
        TOML.format(more="", end="[policy]\nrecipient = 'none'\nepsilon = { at-most = 1 }"), encoding="utf-8"
    )
    run = CliRunner()
    assert run.invoke(cli, ["explore", str(place), "--workers", "1"]).exit_code == 0
    described = Project.load(place)
    with Store(described.store_path) as store:
        (identity,) = [each.id for each in store.candidates(source_of(*described.read()))]
    done = run.invoke(cli, ["publish", identity, str(tmp_path / "out"), "-P", str(place)])
    assert done.exit_code == 0, done.output
    assert "You chose this release by figures" not in done.output
    facts = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert facts["unverified"]["guarantee"]["chosen"] == "before"
    assert "bounds of error that were declared in advance" in (tmp_path / "out" / "report.html").read_text(
        "utf-8"
    )
