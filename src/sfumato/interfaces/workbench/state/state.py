"""Hold everything that the application remembers between requests, in one object."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request

from sfumato.interfaces.workbench.state.jobs import Jobs
from sfumato.interfaces.workbench.state.projects import Projects
from sfumato.interfaces.workbench.state.tasks import BackgroundTasks

if TYPE_CHECKING:
    from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrices
    from sfumato.interfaces.workbench.state.current_frontier import Findings


@dataclass(frozen=True)
class State:
    """What the pages of one workbench share.

    Parameters
    ----------
    projects
        The projects of the folder.
    tasks
        The work that is done in threads, and its last results.
    upload_bytes
        How large a file may be that is dropped on the page.
    jobs
        The explorations that this workbench started.
    findings
        What was explored of each project, by its file.
    is_complete
        Set when the pages that are heavy to import are served too.
    completing
        Held while they are brought in.
    """

    projects: Projects
    tasks: BackgroundTasks
    upload_bytes: int
    jobs: Jobs = field(default_factory=Jobs)
    findings: dict[Path, Findings] = field(default_factory=dict)
    is_complete: threading.Event = field(default_factory=threading.Event)
    completing: threading.Lock = field(default_factory=threading.Lock)
    _making: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, folder: Path, upload_bytes: int) -> State:
        """Return the state of a workbench that just started in a folder."""
        tasks = BackgroundTasks()
        return cls(Projects(folder, tasks), tasks, upload_bytes)

    @property
    def sheets(self) -> CandidateMatrices:
        """The candidates that earlier requests read; importing them is slow."""
        with self._making:
            return self._sheets

    @cached_property
    def _sheets(self) -> CandidateMatrices:
        from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrices

        return CandidateMatrices()

    def attach(self, app: Starlette) -> None:
        """Make this state available to the requests of an application."""
        app.state.workbench = self


def state_of(request: Request) -> State:
    """Return the state of the workbench that received a request."""
    state: State = request.app.state.workbench
    return state
