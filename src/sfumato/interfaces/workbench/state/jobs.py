"""Run explorations, each in a process of its own, so that pages never wait for them.

The process calls the same `explore` on the same store as the command line. It listens to the server:
``pause`` ends it after the next candidate is stored. When the server ends, however it ends, so does the
process, and everything it stored is kept.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sfumato.runtime.errors import SfumatoError, UserError
from sfumato.runtime.processes import PATIENCE, Ended, ParentProcess, start

if TYPE_CHECKING:
    from sfumato.workflow.explore.explore_project import Progress

JobState = Literal["running", "pausing", "paused", "cancelled", "done", "failed"]
_CRASHED = (
    "The exploration ended unexpectedly, perhaps for lack of memory. What was stored is kept: go on, with "
    "fewer processes if it happens again."
)


@dataclass(frozen=True)
class Report:
    """The state of a job.

    Parameters
    ----------
    state
        Whether it runs, and if not, how it ended.
    progress
        How far it has come, as soon as it reports that.
    since
        When it reported, by the monotonic clock.
    problem
        What went wrong, if anything did.
    changed_rows
        The stored figures that were changed outside of sfumato, and so are computed again.
    """

    state: JobState
    progress: Progress | None = None
    since: float = 0.0
    problem: str = ""
    changed_rows: str = ""

    @property
    def at_work(self) -> bool:
        """Whether the process is still running."""
        return self.state in ("running", "pausing")

    @property
    def elapsed(self) -> float:
        """Seconds since the candidates were started."""
        if self.progress is None:
            return 0.0
        return self.progress.elapsed + (time.monotonic() - self.since if self.at_work else 0.0)

    @property
    def within(self) -> float | None:
        """The seconds that remain of the budget."""
        if self.progress is None or self.progress.within is None or not self.at_work:
            return None
        return max(self.progress.within - (time.monotonic() - self.since), 0.0)


@dataclass(frozen=True)
class _End:
    """How an exploration ended that was neither paused nor cancelled."""

    is_done: bool
    problem: str = ""


@dataclass(frozen=True)
class _ChangedRows:
    """The stored figures that were changed outside of sfumato."""

    rows: str


class Job:
    """One running exploration."""

    def __init__(self, project: Path, workers: int | None, budget: float | None = None) -> None:
        self.workers, self.budget = workers, budget
        self._lock = threading.Lock()
        self._report = Report("running")
        self._ended: JobState | None = None
        self._child = start(explore_for_pages, new_session=True)
        self._child.send((project, workers, budget))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def report(self) -> Report:
        """Return its current state."""
        with self._lock:
            return self._report

    def pause(self) -> None:
        """End it after the next candidate is stored, or when a search next reports."""
        with self._lock:
            if self._report.state != "running":
                return
            self._ended = "paused"
            self._report = replace(self._report, state="pausing")
        self._child.send("pause")

    def cancel(self) -> None:
        """End it at once; unfinished work is lost."""
        with self._lock:
            if not self._report.at_work:
                return
            self._ended = "cancelled"
            self._report = replace(self._report, state="pausing")
        self._child.send("cancel")
        killing = threading.Timer(PATIENCE, self._child.kill)
        killing.daemon = True
        killing.start()

    def wait(self, seconds: float | None = None) -> Report:
        """Wait until it has ended."""
        self._listener.join(seconds)
        return self.report

    def _listen(self) -> None:
        from sfumato.workflow.explore.explore_project import Progress

        end: _End | None = None
        while True:
            try:
                message = self._child.receive()
            except (Ended, UserError):
                break
            if isinstance(message, _End):
                end = message
                continue
            with self._lock:
                if isinstance(message, Progress):
                    self._report = replace(self._report, progress=message, since=time.monotonic())
                elif isinstance(message, _ChangedRows):
                    self._report = replace(self._report, changed_rows=message.rows)
        self._child.end(PATIENCE)
        with self._lock:
            if end is not None and end.is_done:
                self._report = replace(self._report, state="done")
            elif self._ended is not None:
                self._report = replace(self._report, state=self._ended)
            else:
                problem = _CRASHED if end is None else end.problem
                self._report = replace(self._report, state="failed", problem=problem)


class Jobs:
    """The explorations of the workbench, at most one for each project."""

    def __init__(self) -> None:
        self._jobs: dict[Path, Job] = {}
        self._lock = threading.Lock()

    def start(self, project: Path, workers: int | None = None, budget: float | None = None) -> Job:
        """Start or continue an exploration, with a time limit if there is a budget."""
        with self._lock:
            known = self._jobs.get(project)
            if known is not None and known.report.at_work:
                raise UserError(f"{project.name} is being explored already; wait for it or cancel it")
            self._jobs[project] = Job(project, workers, budget)
            return self._jobs[project]

    def of(self, project: Path) -> Job | None:
        """Return the last exploration of a project."""
        with self._lock:
            return self._jobs.get(project)

    def end(self) -> None:
        """End all of them."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(2 * PATIENCE)


def explore_for_pages(parent: ParentProcess) -> None:
    """Explore a project, obey the server, and report the progress."""
    # whatever started the server, such as nohup, may ignore the signal that ends an exploration
    signal.signal(signal.SIGINT, signal.default_int_handler)
    paused = threading.Event()
    try:
        project, workers, budget = parent.receive()
        parent.when_left(lambda: None)
        threading.Thread(target=_obey, args=(parent, paused), daemon=True).start()
        _explore(project, workers, budget, paused, parent.send)
    except (KeyboardInterrupt, BrokenPipeError):
        return
    except SfumatoError as error:
        parent.send(_End(False, " ".join(str(error).split())))
    else:
        if not paused.is_set():
            parent.send(_End(True))


def _explore(
    project_file: Path,
    workers: int | None,
    budget: float | None,
    paused: threading.Event,
    send: Callable[[object], None],
) -> None:
    from sfumato.workflow.explore.explore_project import explore
    from sfumato.workflow.project.project_file import Project
    from sfumato.workflow.store.store import Store

    project = Project.load(project_file)
    if not project.data_path.is_file():
        project.read()
    with Store(project.store_path) as store:
        reported = ""

        def report_changed_rows() -> None:
            nonlocal reported
            if store.changed_rows != reported:
                reported = store.changed_rows
                send(_ChangedRows(reported))

        def progress(state: Progress) -> None:
            report_changed_rows()
            send(state)

        explore(project, store, workers=workers, budget=budget, progress=progress, stop=paused.is_set)
        report_changed_rows()


def _obey(parent: ParentProcess, paused: threading.Event) -> None:
    """Follow the server's commands, and end with it."""
    try:
        while parent.receive() == "pause":
            paused.set()
    except EOFError:  # the server has gone
        pass
    _thread.interrupt_main()
    # a compiled kernel hears nothing; the workers end with this process, and what is stored is stored
    time.sleep(PATIENCE / 2)
    os._exit(1)
