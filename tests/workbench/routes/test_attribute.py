"""The attribute page: the tree and its edits, as routes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.data.hierarchy import Hierarchy, Intervals, Prefixes
from sfumato.workflow.project.project_file import Project

from ..conftest import PROJECT, field

HERE = "/projects/people/data"


def source(folder: Path, name: str) -> Any:
    return Project.load(folder / "people.toml").schema[name].hierarchy


def send(guest: TestClient, page: str, name: str, what: str, **fields: Any) -> Any:
    return guest.post(f"{HERE}/{name}/{what}", data={"version": field(page, "version"), **fields})


def rearranged(guest: TestClient, page: str, name: str, action: str, **fields: Any) -> Any:
    return send(guest, page, name, "tree", tree=field(page, "tree"), action=action, **fields)


def box(page: str, label: str) -> str:
    """Return the node behind the box that chooses a label."""
    found = re.search(
        rf'name="node" value="([\d.]+)" id="[^"]*" aria-label="Choose {re.escape(label)}"', page
    )
    assert found, label
    return found[1]


def test_the_tree_shows_nodes_with_counts(ready: Callable[..., Any]) -> None:
    page = ready(f"{HERE}/age").text
    assert "[40, 60)" in page
    assert re.search(r"\[40, 60\)</bdi> <span class=\"soft\">3 values · 3 records", page)


def test_interval_widths_are_changed(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    page = ready(f"{HERE}/age").text
    assert send(guest, page, "age", "hierarchy", how="intervals", intervals="10; 30").status_code == 303
    assert source(folder, "age") == Intervals((10, 30))
    assert "[30, 60)" in ready(f"{HERE}/age").text
    assert "# known to neighbours" in (folder / "people.toml").read_text()


@pytest.mark.parametrize(
    ("name", "fields", "wanted"),
    [
        ("zip", {"how": "prefixes", "prefixes": "4 3"}, Prefixes((4, 3))),
        ("zip", {"how": "none"}, None),
        ("age", {"how": "prefixes", "prefixes": "1"}, Prefixes((1,))),
        ("age", {"how": "intervals", "intervals": "[0.5, 2.5]"}, Intervals((0.5, 2.5))),
    ],
)
def test_a_way_to_generalize_is_written(
    folder: Path, guest: TestClient, ready: Callable[..., Any], name: str, fields: dict[str, str], wanted: Any
) -> None:
    response = send(guest, ready(f"{HERE}/{name}").text, name, "hierarchy", **fields)
    assert response.status_code == 303
    assert source(folder, name) == wanted


@pytest.mark.parametrize(
    "fields",
    [
        {"how": "intervals", "intervals": ""},
        {"how": "intervals", "intervals": "5, 7"},
        {"how": "intervals", "intervals": "five"},
        {"how": "intervals", "intervals": "0"},
        {"how": "intervals", "intervals": "nan"},
        {"how": "intervals", "intervals": "inf"},
        {"how": "intervals", "intervals": "1e400"},
        {"how": "prefixes", "prefixes": "2, 3"},
        {"how": "prefixes", "prefixes": "-1"},
        {"how": "dates", "units": "month"},
        {"how": "dates"},
        {"how": "file", "csv": "../people.csv"},
        {"how": "file", "csv": "people.toml"},
    ],
)
def test_what_cannot_generalize_is_refused_and_not_written(
    folder: Path, guest: TestClient, ready: Callable[..., Any], fields: dict[str, str]
) -> None:
    response = send(guest, ready(f"{HERE}/age").text, "age", "hierarchy", **fields)
    assert response.status_code == 422
    assert "<h1>" in response.text
    assert (folder / "people.toml").read_text() == PROJECT


def test_values_are_merged_into_a_file_that_the_project_names(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    page = ready(f"{HERE}/diagnosis").text
    nodes = [box(page, "flu"), box(page, "asthma")]
    assert rearranged(guest, page, "diagnosis", "merge", node=nodes, label="lungs").status_code == 303
    assert 'csv = "hierarchies/diagnosis.edited.csv"' in (folder / "people.toml").read_text()
    assert (
        folder / "hierarchies" / "diagnosis.edited.csv"
    ).read_text() == "flu;lungs;*\nasthma;lungs;*\ngout;gout;*\n"
    page = ready(f"{HERE}/diagnosis").text
    assert re.search(r"lungs</bdi> <span class=\"soft\">2 values · 5 records", page)


def test_a_tree_is_edited_again_and_again(folder: Path, guest: TestClient, ready: Callable[..., Any]) -> None:
    here = f"{HERE}/diagnosis"
    page = ready(here).text
    rearranged(guest, page, "diagnosis", "merge", node=[box(page, "flu"), box(page, "asthma")], label="lungs")
    page = ready(here).text
    rearranged(guest, page, "diagnosis", "rename", node=[box(page, "lungs")], label="breath")
    page = ready(here).text
    target = re.search(r'<option value="([\d.]+)">breath', page)
    assert target
    rearranged(guest, page, "diagnosis", "move", node=[box(page, "gout")], target=target[1])
    assert source(folder, "diagnosis").rows() == [
        ["flu", "breath", "*"],
        ["asthma", "breath", "*"],
        ["gout", "breath", "*"],
    ]
    page = ready(here).text
    rearranged(guest, page, "diagnosis", "dissolve", node=[box(page, "breath")])
    assert source(folder, "diagnosis").height == 1
    assert [path.name for path in (folder / "hierarchies").iterdir()] == ["diagnosis.edited.csv"]


def test_a_file_that_a_human_brought_is_left_as_it_is(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    own = "flu;lungs;*\nasthma;lungs;*\ngout;joints;*\nplague;lungs;*\n"
    (folder / "own.csv").write_text(own)
    written = PROJECT.replace('role = "sensitive"', 'role = "sensitive"\nhierarchy = { csv = "own.csv" }')
    (folder / "people.toml").write_text(written)
    page = ready(f"{HERE}/diagnosis").text
    assert "1 of the values do not occur" in page
    rearranged(guest, page, "diagnosis", "rename", node=[box(page, "lungs")], label="breath")
    assert (folder / "own.csv").read_text() == own
    edited = (folder / "hierarchies" / "diagnosis.edited.csv").read_text()
    assert "plague;breath;*" in edited


def test_a_tree_that_changed_meanwhile_is_not_overwritten(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    page = ready(f"{HERE}/diagnosis").text
    nodes = [box(page, "flu"), box(page, "asthma")]
    rearranged(guest, page, "diagnosis", "merge", node=nodes, label="lungs")
    fresh = ready(f"{HERE}/diagnosis").text
    (folder / "hierarchies" / "diagnosis.edited.csv").write_text("flu;a;*\nasthma;b;*\ngout;b;*\n")
    response = rearranged(guest, fresh, "diagnosis", "rename", node=[box(fresh, "lungs")], label="breath")
    assert response.status_code == 409
    assert (folder / "hierarchies" / "diagnosis.edited.csv").read_text() == "flu;a;*\nasthma;b;*\ngout;b;*\n"


def test_edits_that_make_no_sense_are_refused(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    page = ready(f"{HERE}/diagnosis").text
    flu = box(page, "flu")
    for action, fields in (
        ("merge", {"node": [flu], "label": "x"}),
        ("merge", {"label": "x"}),
        ("rename", {"node": [flu], "label": "x"}),
        ("rename", {"node": [flu, "0.1"], "label": "x"}),
        ("move", {"node": [flu], "target": "9.9"}),
        ("explode", {"node": [flu]}),
        ("merge", {"node": [flu, "0.77"], "label": "x"}),
    ):
        assert rearranged(guest, page, "diagnosis", action, **fields).status_code == 422
    assert (folder / "people.toml").read_text() == PROJECT
    assert not (folder / "hierarchies").exists()


def test_a_hierarchy_is_exported_and_imported(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    exported = ready(f"{HERE}/zip/hierarchy.csv")
    assert exported.headers["content-type"].startswith("text/csv")
    assert "attachment" in exported.headers["content-disposition"]
    rows = [line.split(";") for line in exported.text.splitlines()]
    assert rows[0] == ["01307", "013*", "01*", "*"]
    page = ready(f"{HERE}/zip").text
    response = guest.post(
        f"{HERE}/zip/import",
        data={"version": field(page, "version"), "separator": "semicolon"},
        files={"file": ("../../anything.csv", exported.content)},
    )
    assert response.status_code == 303
    assert Hierarchy.read(folder / "hierarchies" / "zip.csv").rows() == rows
    assert 'csv = "hierarchies/zip.csv"' in (folder / "people.toml").read_text()
    assert ready(f"{HERE}/zip/hierarchy.csv").text == exported.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "No file was chosen"),
        (b"flu;lungs;*\n", "not in the hierarchy"),
        (b"flu;lungs;*\nasthma;*\n", "levels"),
        (b"\xff\xfe", "UTF-8"),
        (b"flu;a;*\nflu;b;*\n", "two rows"),
        (b"flu;a;x;*\nasthma;a;y;*\ngout;b;x;*\n", "more than one parent"),
    ],
)
def test_an_import_that_does_not_fit_is_refused(
    folder: Path, guest: TestClient, ready: Callable[..., Any], content: bytes, said: str
) -> None:
    page = ready(f"{HERE}/diagnosis").text
    sent = {"version": field(page, "version")}
    response = guest.post(f"{HERE}/diagnosis/import", data=sent, files={"file": ("h.csv", content)})
    assert response.status_code == 422
    assert said in response.text
    assert (folder / "people.toml").read_text() == PROJECT
    assert not (folder / "hierarchies").exists()


def test_no_hierarchy_is_written_through_a_link_that_leads_outside(
    folder: Path, guest: TestClient, ready: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (folder / "hierarchies").symlink_to(outside)
    page = ready(f"{HERE}/diagnosis").text
    nodes = [box(page, "flu"), box(page, "asthma")]
    assert rearranged(guest, page, "diagnosis", "merge", node=nodes, label="x").status_code == 422
    assert list(outside.iterdir()) == []


def test_an_identifying_attribute_has_no_hierarchy(guest: TestClient, ready: Callable[..., Any]) -> None:
    assert "needs no hierarchy" in ready(f"{HERE}/name").text
    assert ready(f"{HERE}/name/hierarchy.csv").status_code == 404
    version = field(ready(f"{HERE}/age").text, "version")
    assert guest.post(f"{HERE}/name/hierarchy", data={"version": version, "how": "none"}).status_code == 404


def test_a_large_tree_is_shown_in_parts(folder: Path, ready: Callable[..., Any]) -> None:
    rows = "\n".join(f"{number:05},x" for number in range(1000, 3500))
    (folder / "large.csv").write_text(f"zip,sex\n{rows}\n")
    (folder / "large.toml").write_text(
        '[data]\npath = "large.csv"\n[attributes.zip]\nrole = "quasi-identifying"\n'
        '[attributes.sex]\nrole = "sensitive"\n'
    )
    here = "/projects/large/data/zip"
    page = ready(here).text
    assert page.count('name="node"') == 200
    assert "1 to 200 of 2,500" in page
    second = ready(f"{here}?node=1.0&from=200").text
    assert "201 to 400 of 2,500" in second
    assert "01200" in second
    for odd in ("?node=9.9", "?node=x"):
        assert ready(here + odd).status_code == 422
    assert ready(f"{here}?from=99999999999999").status_code == 200


def lowest(folder: Path, name: str) -> int:
    return Project.load(folder / "people.toml").schema[name].lowest_level


def test_the_lowest_level_is_chosen_and_forgotten(
    folder: Path, guest: TestClient, ready: Callable[..., Any]
) -> None:
    page = ready(f"{HERE}/age").text
    assert '<option value="0" selected>the value itself</option>' in page
    assert re.search(r'<option value="1">level 1, such as \[\d+, \d+\)</option>', page)
    assert send(guest, page, "age", "lowest", lowest="1").status_code == 303
    assert lowest(folder, "age") == 1
    page = ready(f"{HERE}/age").text
    assert re.search(r'<option value="1" selected>level 1', page)
    for wrong in ("9", "x", ""):
        answer = send(guest, page, "age", "lowest", lowest=wrong)
        assert answer.status_code == 422
        assert "level" in answer.text
        assert lowest(folder, "age") == 1
    # what somebody wrote by hand is shown, also where nothing would be left
    assert send(guest, page, "age", "lowest", lowest="4").status_code == 303
    page = ready(f"{HERE}/age").text
    assert '<option value="4" selected>level 4, such as *</option>' in page
    assert send(guest, page, "age", "lowest", lowest="0").status_code == 303
    assert '<option value="4"' not in ready(f"{HERE}/age").text
    assert "lowest-level" not in (folder / "people.toml").read_text()
