"""A differentially private folder tells nothing of the original but what its guarantee covers."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import (
    Attribute,
    Intervals,
    Limit,
    PublicValues,
    Schema,
    Table,
    explore,
    publish,
    sanitize,
    verify,
)
from sfumato.models import KAnonymity
from sfumato.registry.recipe import Recipe
from sfumato.sanitizers import MST, Laplace, Mondrian
from sfumato.verification.folder import PROFILES

SCHEMA = Schema(
    (
        Attribute("who", "identifying"),
        Attribute(
            "age",
            "quasi-identifying",
            "numeric",
            Intervals((10, 20)),
            public=PublicValues(whole=True, bounds=(0, 100)),
        ),
        Attribute(
            "town", "quasi-identifying", "categorical", public=PublicValues(domain=("A", "B", "C", "D"))
        ),
        Attribute("ill", "sensitive", "categorical"),
    ),
    people_at_most=10_000,
)
HOW = MST(epsilon=4.0, n_records=300)
# What a person may have that nobody else has: a rare value, an extreme one, and none at all.
NEIGHBOURS: dict[str, dict[str, Any]] = {
    "nobody": {},
    "a rare value": {"age": 41, "town": "D", "ill": "quinsy"},
    "an extreme age": {"age": 99, "town": "A", "ill": "flu"},
    "a missing value": {"age": None, "town": "A", "ill": None},
    "a town that is not declared": {"age": 40, "town": "Z", "ill": "flu"},
}


def people(other: dict[str, Any]) -> Table:
    """Return 1,500 people, and one more if somebody else is named."""
    rng = np.random.default_rng(3)
    ages, towns = 20 + rng.integers(0, 50, 1_500), np.array(list("ABC"))[rng.integers(0, 3, 1_500)]
    ills = np.array(["flu", "cold", "gout"])[rng.integers(0, 3, 1_500)]
    columns: dict[str, list[Any]] = {"age": ages.tolist(), "town": towns.tolist(), "ill": ills.tolist()}
    for name in columns if other else ():
        columns[name].append(other[name])
    return Table.from_arrow({"who": [f"p{row}" for row in range(len(columns["age"]))], **columns})


def published(folder: Path, other: dict[str, Any]) -> Path:
    """Explore with measures of the original, set limits on them, and publish the private candidate."""
    table, measures = people(other), ["epsilon", "utility-loss", "privacy-delta", "kl-divergence"]
    # more ways are tried of one table than of the other
    more = [Recipe.of(Mondrian(KAnonymity(k))) for k in ((5, 10) if other else (5,))]
    frontier = explore(table, SCHEMA, [Recipe.of(HOW), *more], measures=measures, workers=1, policy="none")
    policy = {"epsilon": Limit(at_most=5), "utility-loss": Limit(at_most=1)}
    recipe = next(each.recipe for each in frontier.candidates if each.recipe.sanitizer == "mst")
    release = sanitize(table, SCHEMA, recipe)
    publish(release, folder, measures, policy=policy, evidence=frontier, profiles=PROFILES)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("neighbours")
    return {name: published(place / name.replace(" ", "-"), other) for name, other in NEIGHBOURS.items()}


def stated(folder: Path) -> dict[str, Any]:
    """Return the manifest without released cells, checksums, dates and ids."""
    facts: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    del facts["files"], facts["decision"]["when"], facts["decision"]["candidate"]
    del facts["layout"]["n_original"], facts["unverified"]["name"]
    for attribute in facts["unverified"]["attributes"]:
        del attribute["exact"]
    return facts


def wording(page: Path) -> list[str]:
    """Return the sentences of a page without figures of the cells, checksums, dates and ids."""
    text = re.sub(r"<style>.*?</style>", "", page.read_text("utf-8"), flags=re.DOTALL)
    computed = r"/cells/|/files/|/layout/n_original|/decision/(?:when|candidate)|gaps|class-sizes"
    text = re.sub(rf'<span[^>]*data-claim="(?:{computed})[^>]*>[^<]*</span>', "…", text)
    lines = [line.strip() for line in re.sub("<[^>]*>", "\n", text).splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize("other", [name for name in NEIGHBOURS if name != "nobody"])
def test_folders_of_neighbouring_tables_say_the_same(other: str, folders: dict[str, Path]) -> None:
    one, another = folders["nobody"], folders[other]
    assert stated(one) == stated(another)
    for page in sorted(one.glob("*.html")):
        assert wording(page) == wording(another / page.name), page.name
    plain = [
        re.sub(r"about [\d,]+ records", "", (each / "README.md").read_text("utf-8"))
        for each in (one, another)
    ]
    assert plain[0] == plain[1]


def test_everything_verifies_and_only_what_is_promised_is_told(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        assert verify(folder).holds
        facts = json.loads((folder / "manifest.json").read_text("utf-8"))
        assert {figure["measure"] for figure in facts["unverified"]["figures"]} == {
            "epsilon",
            "privacy-delta",
        }
        assert set(facts["policy"]) == {"epsilon"}
        assert facts["unverified"]["guarantee"]["people_at_most"] == 10_000
        assert facts["unverified"]["guarantee"]["public"]["age"]["bounds"] == [0, 100]


def test_no_value_that_was_not_released_is_in_any_file(folders: dict[str, Path]) -> None:
    written = {
        value
        for line in (folders["a rare value"] / "data.csv").read_text("utf-8").splitlines()
        for value in line.split(",")
    }
    assert "quinsy" not in written
    for place in folders["a rare value"].iterdir():
        assert b"quinsy" not in place.read_bytes()


def test_the_sentence_about_a_person_follows_from_epsilon(folders: dict[str, Path]) -> None:
    page = re.sub("<[^>]*>", "", (folders["nobody"] / "report.html").read_text("utf-8"))
    # e^4 / (1 + e^4)
    assert "the release makes it at most 98.2% likely, but for delta" in page
    assert "The publisher chose method and epsilon after looking at figures of the original" in page


def add_figure(facts: dict[str, Any]) -> None:
    band = {"low": 0.1, "high": 0.2}
    figure = {"measure": "utility-loss", "parameters": {}, "attribute": None, "axis": "utility"}
    facts["unverified"]["figures"].append(
        {**figure, "better": "lower", "band": band, "worst": True, "met": None}
    )


def set_risk(facts: dict[str, Any]) -> None:
    facts["unverified"]["initial"] = {name: {"low": 0.5, "high": 1.0} for name in ("worst", "average")}


def call_whole(facts: dict[str, Any]) -> None:
    facts["unverified"]["guarantee"]["public"]["age"]["whole"] = False


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a band": (add_figure, "utility-loss is told, which is computed from the original"),
    "the risk of the original": (set_risk, "the risk of the original is told, which is computed"),
    "candidates": (lambda facts: facts["unverified"]["tried"].update(mst=3), "what else was tried is told"),
    "efficiency": (
        lambda facts: facts["unverified"].update(efficient=True),
        "whether it is efficient is told",
    ),
    "people": (
        lambda facts: facts["unverified"].update(people={"original": 9, "released": 9, "alone": 0}),
        "the number of people is told",
    ),
    "wholeness": (call_whole, "all numbers of 'age' are called whole, which is not declared public"),
    "no guarantee": (
        lambda facts: facts["unverified"].pop("guarantee"),
        "mst is differentially private, and no guarantee is stated",
    ),
    "another epsilon": (
        lambda facts: facts["unverified"]["guarantee"].update(epsilon=0.1),
        "the guarantee has another epsilon than the recipe",
    ),
    "another public part": (
        lambda facts: facts["unverified"]["guarantee"]["public"].pop("town"),
        "the public part is not that of the published attributes",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_figure_of_the_original_is_found(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    change, problem = FORGERIES[name]
    shutil.copytree(folders["nobody"], tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    change(facts)
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(facts), encoding="utf-8")
    assert any(problem in check.problem for check in verify(tmp_path / "out"))


def test_noise_of_single_values_makes_no_guarantee_of_the_folder(tmp_path: Path) -> None:
    publish(
        sanitize(people({}), SCHEMA, Laplace(1.0)), tmp_path / "out", policy="none", allow_singling_out=True
    )
    assert verify(tmp_path / "out").holds
    facts = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert "guarantee" not in facts["unverified"]
