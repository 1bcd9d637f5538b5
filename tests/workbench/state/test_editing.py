"""Edits of the project file keep everything else, are checked first, and never overwrite a change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.workbench.state.project_edits import Changed, edit, read_text, set_attribute
from sfumato.runtime.errors import ProjectError, SchemaError
from sfumato.workflow.project.project_file import Project

from ..conftest import PROJECT


def set_role(name: str, role: str) -> Any:
    return lambda document: set_attribute(document, name, "role", role)


def test_an_edit_changes_one_word_and_nothing_else(folder: Path) -> None:
    path = folder / "people.toml"
    edit(path, read_text(path).version, set_role("sex", "insensitive"))
    before, after = PROJECT.splitlines(), path.read_text().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [('role = "quasi-identifying"', 'role = "insensitive"')]


def test_an_edit_that_changes_nothing_leaves_the_same_bytes(folder: Path) -> None:
    path = folder / "people.toml"
    raw = path.read_bytes()
    edit(path, read_text(path).version, set_role("sex", "quasi-identifying"))
    assert path.read_bytes() == raw


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_way_a_file_is_saved_stays(folder: Path, mark: bytes, newline: str) -> None:
    path = folder / "people.toml"
    path.write_bytes(mark + PROJECT.replace("\n", newline).encode())
    edit(path, read_text(path).version, set_role("sex", "insensitive"))
    wanted = PROJECT.replace(
        '[attributes.sex]\nrole = "quasi-identifying"', '[attributes.sex]\nrole = "insensitive"'
    )
    assert path.read_bytes() == mark + wanted.replace("\n", newline).encode()


def test_a_hierarchy_is_written_in_one_line_and_taken_away_again(folder: Path) -> None:
    path = folder / "people.toml"

    def to(value: Any) -> Any:
        return lambda document: set_attribute(document, "age", "hierarchy", value)

    edit(path, read_text(path).version, to({"intervals": [10, 20]}))
    assert "hierarchy = {intervals = [10, 20]}" in path.read_text().replace("{ ", "{").replace(" }", "}")
    edit(path, read_text(path).version, to(None))
    assert Project.load(path).schema["age"].hierarchy is None


def test_attributes_written_in_any_style_can_be_edited(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    styles = (
        '[data]\npath = "d.csv"\n[attributes]\nage = { role = "sensitive" } # here\n',
        '[data]\npath = "d.csv"\n[attributes]\nage.role = "sensitive" # here\n',
        'attributes.age.role = "sensitive" # here\ndata.path = "d.csv"\n',
        '[attributes.age]\nrole = "sensitive" # here\n[data]\npath = "d"\n[attributes.x]\nrole="sensitive"\n',
    )
    for style in styles:
        path.write_text(style)
        edit(path, read_text(path).version, set_role("age", "insensitive"))
        assert path.read_text() == style.replace('"sensitive" ', '"insensitive" ')


def test_a_change_made_elsewhere_is_not_overwritten(folder: Path) -> None:
    path = folder / "people.toml"
    version = read_text(path).version
    path.write_text(PROJECT + "# added by hand\n")
    with pytest.raises(Changed, match="changed elsewhere"):
        edit(path, version, set_role("sex", "insensitive"))
    assert path.read_text() == PROJECT + "# added by hand\n"


def test_a_change_made_during_the_check_is_not_overwritten(folder: Path) -> None:
    path = folder / "people.toml"

    def meanwhile(project: Project) -> None:
        path.write_text(PROJECT + "# added by hand\n")

    with pytest.raises(Changed):
        edit(path, read_text(path).version, set_role("sex", "insensitive"), meanwhile)
    assert path.read_text() == PROJECT + "# added by hand\n"


def test_what_is_no_project_is_never_written(folder: Path) -> None:
    path = folder / "people.toml"
    with pytest.raises(ProjectError, match="role"):
        edit(path, read_text(path).version, set_role("sex", "nonsense"))
    assert path.read_text() == PROJECT


def test_what_the_check_refuses_is_never_written(folder: Path) -> None:
    path = folder / "people.toml"

    def refuse(project: Project) -> None:
        raise SchemaError("no")

    with pytest.raises(SchemaError):
        edit(path, read_text(path).version, set_role("sex", "insensitive"), refuse)
    assert path.read_text() == PROJECT
    assert sorted(os.listdir(folder)) == ["people.csv", "people.toml"]


def test_a_file_that_is_not_text_is_said_in_one_line(folder: Path) -> None:
    path = folder / "people.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ProjectError, match="UTF-8"):
        read_text(path)
