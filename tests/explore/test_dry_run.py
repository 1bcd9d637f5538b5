"""A dry run counts what an exploration would do, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.reading.datasets.demo_project import write_demo
from sfumato.workflow.explore.dry_run import dry_run
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import IN_MEMORY, Store

CANDIDATES = """
[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [5, 50] } }
"""
SEARCH = '[[candidates]]\nsearch = "lattice"\n'
MEASURES = '[measure]\nprivacy = ["privacy-loss"]\nutility = ["general-loss"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path = write_demo(tmp_path)
    path.write_text(path.read_text().split("[[candidates]]")[0] + CANDIDATES + SEARCH + MEASURES)
    return Project.load(path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_counts_what_would_be_made(project: Project) -> None:
    before = contents(project.path.parent)
    with Store(IN_MEMORY) as store:
        found = dry_run(project, store, workers=2)
    assert (found.n_open, found.n_known, found.n_searches) == (3, 0, 1)
    assert found.memory > 10_000_000
    assert contents(project.path.parent) == before, "nothing is written"


def test_of_what_was_explored_is_nothing(project: Project) -> None:
    with Store(project.store_path) as store:
        explore(project, store, workers=1)
        found = dry_run(project, store, workers=1)
    assert (found.n_open, found.n_searches) == (0, 0)
    assert found.n_known > 3


def test_counts_what_a_quick_search_proposes(project: Project) -> None:
    text = project.path.read_text()
    project.path.write_text(text.replace(SEARCH, '[[candidates]]\nsearch = "suited"\n'))
    with Store(IN_MEMORY) as store:
        found = dry_run(Project.load(project.path), store, workers=2)
    assert found.n_searches == 0
    assert found.n_open > 20
