"""Find the project that a URL names, and the results of its exploration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from sfumato.interfaces.workbench.state.current_frontier import Findings, findings_in
from sfumato.interfaces.workbench.state.projects import Look, Opened
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import wait_for

if TYPE_CHECKING:
    from sfumato.workflow.project.project_file import Project


def project_file_of(request: Request) -> Path:
    """Return the project file in the address, or raise the page that says there is none."""
    return state_of(request).projects.file_at(request.path_params["project"])


def project_of(request: Request) -> Project:
    """Return the project in the address, without its data."""
    from sfumato.workflow.project.project_file import Project

    return Project.load(project_file_of(request))


def look_of(request: Request) -> Look:
    """Return what could be read of the project, for pages that can also fix it."""
    path = project_file_of(request)
    return wait_for(request, state_of(request).projects.look(path), path.stem)


def opened_of(request: Request) -> Opened:
    """Return the project in the address with its data, or show the error."""
    look = look_of(request)
    if look.opened is None:
        raise look.problem or RuntimeError("neither opened nor refused")
    return look.opened


def findings_of(request: Request) -> tuple[Opened, Findings]:
    """Return the project in the address, and its current results."""
    opened, state = opened_of(request), state_of(request)
    sheet, stamp = state.sheets.of(opened.project.store_path, opened.source)
    return opened, findings_in(opened, sheet, stamp, state.findings)
