"""An explored project in the folder, small enough to be made anew for every test."""

from __future__ import annotations

import csv
import io
import shutil
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

from sfumato.reading import datasets
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

PATIENTS = """\
[publication]
title = "Admissions <2026>"
purpose = "Research on falls."
recipients = "Anybody."
safeguards = "None."
steward = "S. Teward"
review-by = 2028-01-31

[data]
path = "patients.csv"

[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }

[attributes.sex]
role = "quasi-identifying"

[attributes.zip]
role = "quasi-identifying"
kind = "categorical"
hierarchy = { prefixes = [3, 2] }

[attributes.diagnosis]
role = "sensitive"

[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "suppress-quasi-identifiers"

[[candidates]]
sanitizer = "suppress-sensitive"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3, 1000] } }

[[candidates]]
sanitizer = "anatomy"
l = 2

[measure]
privacy = ["privacy-loss", "k-anonymity", "reidentification-risk", "weighted-k", "accuracy-gain"]
utility = ["utility-loss", "general-loss", "suppression-loss", "total-loss", "query-error"]

[policy]
recipient = "none"
reidentification-risk = { at-most = 0.5 }
"""


def patients(folder: Path) -> Path:
    """Write the twelve patients of the documentation and explore releases of them."""
    table, _ = datasets.hospital()
    rows = [list(row.values()) for row in table.to_arrow().to_pylist()]
    write_csv(folder / "patients.csv", list(table.names), rows)
    return explored(folder / "patients.toml", PATIENTS)


def explored(path: Path, written: str) -> Path:
    """Write a project file and make all its candidates."""
    path.write_text(written, encoding="utf-8")
    project = Project.load(path)
    with Store(project.store_path) as store:
        explore(project, store, seed=11, workers=1)
    return path


def candidates(path: Path) -> dict[str, Candidate]:
    """Return the candidates of a project by sanitizer, the last of each with its k where it has one.

    A release that several recipes make stands under each of them.
    """
    project = Project.load(path)
    with Store(project.store_path) as store:
        found = store.candidates(source_of(*project.read()))
    return {_called(way.recipe): candidate for candidate in found for way in candidate.ways}


def copied(folder: Path, target: Path) -> Path:
    """Copy a folder with everything in it."""
    shutil.copytree(folder, target)
    return target


def write_csv(path: Path, head: list[str], rows: list[list[object]]) -> None:
    """Write a table as text."""
    written = io.StringIO()
    csv.writer(written).writerows([head, *rows])
    path.write_text(written.getvalue(), encoding="utf-8")


class Seen(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.pieces: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        """The text with single blanks."""
        return " ".join(" ".join(self.pieces).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of one kind."""
        return [attributes for found, attributes in self.elements if found == tag]

    @property
    def links(self) -> list[str]:
        """Every address that the page leads to."""
        return [each["href"] for each in self.all("a") if "href" in each]


def harmless(page: str) -> Seen:
    """Check that nothing of the data became markup, a script, a style or an address."""
    seen = Seen(page)
    assert all(
        set(script) <= {"src", "defer"} and script["src"].startswith("/static/")
        for script in seen.all("script")
    )
    every = [(name, value) for _, attributes in seen.elements for name, value in attributes.items()]
    assert [name for name, _ in every if name.startswith("on") or name == "style"] == []
    addresses = [value for name, value in every if name in ("href", "src", "action", "formaction")]
    assert all(value.startswith(("/", "#", "?")) and not value.startswith("//") for value in addresses)
    assert "49" not in [piece.strip() for piece in seen.pieces]
    return seen


def _called(recipe: Recipe) -> str:
    k = (recipe.parameters.get("model") or {}).get("k-anonymity", {}).get("k")
    return recipe.sanitizer + (f"-{k}" if k else "")


def change_figure(project: Path) -> str:
    """Change one measured figure in the store of a project by hand; return the candidate's id."""
    store = Project.load(project).store_path
    with closing(sqlite3.connect(store)) as other, other:
        number, identity = other.execute(
            "select max(rowid), candidate from measurement where asked like '%general-loss%'"
        ).fetchone()
        other.execute("update measurement set facts = replace(facts, '0.', '0.9') where rowid = ?", (number,))
        assert other.execute("select changes()").fetchone() == (1,)
    return str(identity)
