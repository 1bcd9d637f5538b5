"""The state of a workbench: built once, its parts made once, and nothing shared with another workbench."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request

from sfumato.interfaces.workbench.server import application
from sfumato.interfaces.workbench.state.state import State, state_of

from ..conftest import TOKEN


def state_behind(app: Starlette) -> State:
    return state_of(Request({"type": "http", "app": app}))


def test_every_request_finds_the_one_state_that_was_built_with_the_application(folder: Path) -> None:
    app = application(folder, token=TOKEN, upload_bytes=7)
    state = state_behind(app)
    assert state_behind(app) is state
    assert (state.projects.folder, state.upload_bytes) == (folder.resolve(), 7)
    assert not state.is_complete.is_set()


def test_requests_at_the_same_time_get_the_same_candidates(folder: Path) -> None:
    state = State.of(folder, 0)
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: state.sheets, range(32)))
    assert len({id(sheets) for sheets in made}) == 1


def test_two_workbenches_share_nothing(folder: Path) -> None:
    one, other = (state_behind(application(folder, token=TOKEN)) for _ in range(2))
    for part in ("projects", "tasks", "jobs", "sheets", "findings", "is_complete"):
        assert getattr(one, part) is not getattr(other, part), part
