"""Projects are read once, in a thread of their own, and again when a file changes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sfumato.interfaces.workbench.state import tasks
from sfumato.interfaces.workbench.state.projects import Projects
from sfumato.interfaces.workbench.state.tasks import BackgroundTasks
from sfumato.workflow.project.project_file import Project

from ..conftest import PROJECT

HERE = "/projects/people/data"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, patience: float) -> threading.Event:
    """Let reading wait until the gate is opened."""
    gate = threading.Event()
    read = Project.table

    def slow(self: Project, path: Path | None = None) -> Any:
        assert gate.wait(patience)
        return read(self, path)

    monkeypatch.setattr(Project, "table", slow)
    monkeypatch.setattr(tasks, "_PATIENCE", 0.05)
    return gate


def test_pages_answer_while_a_table_is_read(
    guest: TestClient, gate: threading.Event, ready: Callable[..., Any]
) -> None:
    response = guest.get(HERE)
    assert response.status_code == 202
    assert "Reading <code>people</code>" in response.text
    assert 'data-poll="600" data-until-ready' in response.text
    assert '<noscript><meta http-equiv="refresh"' in response.text
    assert guest.get("/").status_code == 200
    assert guest.get("/nowhere").status_code == 404
    gate.set()
    assert "What the attributes are" in ready(HERE).text


def test_a_sentence_is_kept_for_the_page_that_is_read(
    guest: TestClient, gate: threading.Event, ready: Callable[..., Any]
) -> None:
    guest.cookies.set("sfumato-message", r'"\"It is so.\""', domain="127.0.0.1", path="/")
    assert "It is so." not in guest.get(HERE).text
    gate.set()
    assert "It is so." not in ready(HERE, headers={"Sfumato-Fragment": "ready"}).text
    assert '<p class="notice good">It is so.</p>' in ready(HERE).text


def test_a_table_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    reads: list[Path] = []
    read = Project.table

    def counted(self: Project, path: Path | None = None) -> Any:
        reads.append(self.data_path)
        return read(self, path)

    monkeypatch.setattr(Project, "table", counted)
    projects, path = Projects(folder, BackgroundTasks()), folder / "people.toml"
    first = projects.look(path).result(patience)
    assert projects.look(path).result(patience) is first
    path.write_text(PROJECT.replace("[5, 10, 20]", "[10, 20]"))
    second = projects.look(path).result(patience)
    assert second.version != first.version
    assert second.records is first.records
    assert len(reads) == 1
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "Gus,70,m,02139,gout\n")
    assert projects.look(path).result(patience).records.table.n_records == 7
    assert len(reads) == 2


def test_a_hierarchy_file_that_changes_is_read_again(folder: Path, patience: float) -> None:
    (folder / "sex.csv").write_text("f;any;*\nm;any;*\n")
    path = folder / "people.toml"
    path.write_text(PROJECT.replace("[attributes.sex]", '[attributes.sex]\nhierarchy = { csv = "sex.csv" }'))
    projects = Projects(folder, BackgroundTasks())
    look = projects.look(path).result(patience)
    assert look.opened
    assert "any" in look.opened.schema.hierarchy("sex").labels[1]
    (folder / "sex.csv").write_text("f;person;*\nm;person;*\n")
    look = projects.look(path).result(patience)
    assert look.opened
    assert "person" in look.opened.schema.hierarchy("sex").labels[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_is_not_waited_for(folder: Path, ready: Callable[..., Any]) -> None:
    (folder / "people.csv").unlink()
    os.mkfifo(folder / "people.csv")
    assert "is not a plain file" in ready("/projects/people/data").text


def test_only_the_last_few_are_kept(folder: Path, patience: float) -> None:
    begun = BackgroundTasks()
    projects, path = Projects(folder, begun), folder / "people.toml"
    for width in range(1, 9):
        path.write_text(PROJECT.replace("[5, 10, 20]", f"[{width}]"))
        projects.look(path).result(patience)
    assert sum(key[0] == "look" for key in begun._tasks) <= tasks._KEPT + 1


def test_the_first_page_needs_nothing_heavy(folder: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from sfumato.interfaces.workbench.server import application
from sfumato.interfaces.workbench.routes.folder import folder
from starlette.requests import Request
app = application(Path({str(folder)!r}), token="x")
scope = {{"type": "http", "app": app, "method": "GET", "path": "/", "headers": [], "query_string": b"",
          "path_params": {{}}, "server": ("127.0.0.1", 80), "scheme": "http"}}
assert b"people" in folder(Request(scope)).body
heavy = {{"numba", "pyarrow", "matplotlib", "sklearn", "plotly", "scipy", "polars"}}
sys.exit(", ".join(heavy & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
