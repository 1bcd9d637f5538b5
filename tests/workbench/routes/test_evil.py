"""Names, labels and values that contain HTML, scripts, quotes, paths and formulas are text everywhere."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.addresses import slug
from sfumato.workflow.project.project_file import Project

from ..conftest import field

EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'; drop table people; --",
    "../../etc/passwd",
    "..",
    ".",
    '=HYPERLINK("http://evil.example")',
    "{{ 7 * 7 }}{% raw %}",
    "a/b?c#d&e=f",
    "%2e%2e%2f",
    "javascript:alert(1)",
    "größe ‮ drehen",
    "a`b${1}",
]


class Seen(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def harmless(page: str) -> Seen:
    """Check that no evil text became markup, and return what was seen."""
    seen = Seen()
    seen.feed(page)
    assert seen.tags.count("script") == (1 if "html" in seen.tags else 0)
    assert [name for name, _ in seen.attributes if name.startswith("on") or name == "style"] == []
    addresses = [value for name, value in seen.attributes if name in ("href", "src", "action")]
    assert all(value.startswith(("/", "#", "?")) and not value.startswith("//") for value in addresses)
    assert "alert(1)" not in "".join(addresses)
    assert "49" not in [text.strip() for text in seen.text]
    return seen


@pytest.fixture
def evil_folder(folder: Path) -> Path:
    """A table whose names are evil, and whose values are."""
    rows = [EVIL, EVIL[1:] + EVIL[:1], EVIL[2:] + EVIL[:2]] * 3
    written = io.StringIO()
    csv.writer(written).writerows([EVIL, *rows])
    (folder / "evil.csv").write_text(written.getvalue(), encoding="utf-8")
    return folder


def begun(guest: TestClient, ready: Callable[..., Any], file: str) -> Any:
    return ready(guest.post("/projects", data={"file": slug(file)}).headers["location"])


@pytest.fixture
def page(evil_folder: Path, guest: TestClient, ready: Callable[..., Any]) -> str:
    """The data page of the evil table, every attribute quasi-identifying."""
    text = begun(guest, ready, "evil.csv").text
    chosen = {f"role-{slug(name)}": "quasi-identifying" for name in EVIL}
    assert (
        guest.post("/projects/evil/data", data={"version": field(text, "version"), **chosen}).status_code
        == 303
    )
    shown: str = ready("/projects/evil/data").text
    return shown


def test_evil_columns_are_shown_as_text(page: str) -> None:
    seen = harmless(page)
    for name in EVIL:
        assert name in seen.text


@pytest.mark.parametrize("name", EVIL)
def test_every_evil_column_has_a_page_and_an_editable_tree(
    page: str, evil_folder: Path, guest: TestClient, ready: Callable[..., Any], name: str
) -> None:
    here = f"/projects/evil/data/{slug(name)}"
    text = ready(here).text
    seen = harmless(text)
    assert name in seen.text
    nodes = [
        value
        for attribute, value in seen.attributes
        if attribute == "value" and re.fullmatch(r"0\.\d", value)
    ]
    sent = {"version": field(text, "version"), "tree": field(text, "tree"), "action": "merge"}
    label = f"{name} & <b>more</b>"
    assert guest.post(f"{here}/tree", data={**sent, "node": nodes[:2], "label": label}).status_code == 303
    assert label in harmless(ready(here).text).text
    assert {path.parent for path in evil_folder.rglob("*.edited.csv")} == {evil_folder / "hierarchies"}
    edited: Any = Project.load(evil_folder / "evil.toml").schema[name].hierarchy
    assert " ".join(label.split()) in edited.labels[1]


def test_an_evil_file_name_is_shown_as_text(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    for name in ("<b>bold<.csv", "a'b\"c.csv", "$(x) ; y.csv"):
        (folder / name).write_text("age,sex\n1,f\n2,m\n")
        assert name in harmless(guest.get("/").text).text
        assert name in harmless(begun(guest, ready, name).text).text


def test_an_evil_title_is_shown_as_text(folder: Path, ready: Callable[..., Any]) -> None:
    title = "<script>alert(1)</script>"
    path = folder / "people.toml"
    path.write_text(f"{path.read_text()}\n[publication]\ntitle = '{title}'\n")
    for address in ("/", "/projects/people/data"):
        assert title in harmless(ready(address).text).text


@pytest.mark.parametrize(
    "address", ["/<script>alert(1)</script>", "/projects/<img src=x>/data", "/?x=<script>"]
)
def test_an_evil_address_is_not_repeated(ready: Callable[..., Any], address: str) -> None:
    harmless(ready(address).text)


def test_slugs_are_one_part_of_a_path_and_differ() -> None:
    slugs = [slug(name) for name in EVIL]
    assert len(set(slugs)) == len(EVIL)
    assert not any(set(each) & set("/\\.?#%&<>\"' ") for each in slugs)
