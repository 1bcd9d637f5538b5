"""Jobs: an exploration in a process of its own is started, paused, cancelled, and survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.interfaces.workbench.state import jobs as jobs_module
from sfumato.interfaces.workbench.state.jobs import Job, Jobs, Report
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import one_for_each_recipe
from sfumato.runtime.errors import UserError
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store, is_being_explored

from ..conftest import PATIENCE, PROJECT, until


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.end()


def stored(path: Path) -> tuple[Candidate, ...]:
    project = Project.load(path)
    if not project.store_path.exists():
        return ()
    with Store(project.store_path) as store:
        return one_for_each_recipe(store.candidates(source_of(*project.read())))


def written(folder: Path, text: str = PROJECT) -> Path:
    path = folder / "people.toml"
    path.write_text(text)
    return path


def many(gate: Any) -> str:
    """Return a project of many candidates, each of which waits at a gate."""
    return (
        PROJECT.partition("[[candidates]]")[0]
        + f'[[candidates]]\nsanitizer = "gated"\ngate = "{gate.folder}"\nk = {list(range(1, 400))}\n'
    )


def searching(gate: Any) -> str:
    """Return a project with a search that waits at a gate after its first generations."""
    return PROJECT + f'\n[[candidates]]\nsearch = "gated-evolution"\ngate = "{gate.folder}"\n'


def test_an_exploration_runs_to_its_end(jobs: Jobs, folder: Path) -> None:
    path = written(folder)
    report = jobs.start(path, workers=1).wait(PATIENCE)
    assert report.state == "done"
    assert report.progress is not None
    assert (report.progress.done, report.progress.total) == (2, 2)
    assert len(stored(path)) == 2
    again = jobs.start(path).wait(PATIENCE)
    assert again.progress is not None
    assert (again.state, again.progress.known) == ("done", 2)


@pytest.mark.thorough("a cancelled one")
def test_a_paused_exploration_goes_on_where_it_stopped(jobs: Jobs, folder: Path, gate: Any) -> None:
    path = written(folder, many(gate))
    job = jobs.start(path, workers=1)
    gate.let_through(4)
    until(lambda: job.report.progress and job.report.progress.done > 3)
    job.pause()
    until(lambda: gate.let_through(1) or not job.report.at_work)
    assert job.report.state == "paused"
    before = len(stored(path))
    assert 3 < before < 399
    job = jobs.start(path, workers=1)
    until(lambda: job.report.progress and job.report.progress.total)
    assert job.report.progress is not None
    assert job.report.progress.known == before


def test_a_cancelled_exploration_ends_at_once_and_keeps_what_is_stored(
    jobs: Jobs, folder: Path, gate: Any
) -> None:
    path = written(folder, many(gate))
    job = jobs.start(path, workers=2)
    gate.let_through(3)
    until(lambda: len(stored(path)) == 3)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"
    assert len(stored(path)) == 3
    assert not is_being_explored(Project.load(path).store_path)


def test_a_search_says_how_far_it_has_come_and_can_be_cancelled(jobs: Jobs, folder: Path, gate: Any) -> None:
    job = jobs.start(written(folder, searching(gate)), workers=1)
    until(lambda: job.report.progress and "generation" in job.report.progress.now)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"


@pytest.mark.thorough("the other search that is cancelled")
def test_a_search_can_be_cancelled_where_the_server_ignores_interrupts(
    jobs: Jobs, folder: Path, gate: Any
) -> None:
    # as one that was started with nohup
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        job = jobs.start(written(folder, searching(gate)), workers=1)
    finally:
        signal.signal(signal.SIGINT, usual)
    until(lambda: job.report.progress and "generation" in job.report.progress.now)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"


def test_only_one_at_a_time(jobs: Jobs, folder: Path, gate: Any) -> None:
    path = written(folder, many(gate))
    jobs.start(path, workers=1)
    with pytest.raises(UserError, match="being explored already"):
        jobs.start(path, workers=1)


def test_a_crash_is_said_and_harms_nothing(jobs: Jobs, folder: Path, gate: Any) -> None:
    path = written(folder, many(gate))
    job = jobs.start(path, workers=1)
    gate.let_through(3)
    until(lambda: len(stored(path)) == 3)
    os.kill(job._child.pid, signal.SIGKILL)
    report = job.wait(PATIENCE)
    assert report.state == "failed"
    assert "What was stored is kept" in report.problem
    assert len(stored(path)) == 3
    job = jobs.start(path, workers=1)
    until(lambda: job.report.progress)


def test_what_the_library_refuses_is_said_in_its_words(jobs: Jobs, folder: Path) -> None:
    path = written(folder, PROJECT.partition("[[candidates]]")[0])
    report = jobs.start(path).wait(PATIENCE)
    assert report.state == "failed"
    assert "no candidates; add a [[candidates]] block" in report.problem


def test_an_exploration_of_the_command_line_is_noticed(jobs: Jobs, folder: Path) -> None:
    path = written(folder)
    place = Project.load(path).store_path
    assert not is_being_explored(place)
    with Store(place) as store, store.exclusive():
        assert is_being_explored(place)
        report = jobs.start(path).wait(PATIENCE)
        assert report.state == "failed"
        assert "another `sfumato explore` is at work" in report.problem
    assert not is_being_explored(place)


def test_asking_whether_somebody_explores_hinders_nobody(folder: Path) -> None:
    place = Project.load(written(folder)).store_path
    with Store(place) as store:
        for _ in range(20):
            with store.exclusive():
                assert is_being_explored(place)
            assert not is_being_explored(place)


SERVER = """
import sys
from pathlib import Path
from sfumato.interfaces.workbench.state.jobs import Jobs
if __name__ == "__main__":
    jobs = Jobs()
    job = jobs.start(Path(sys.argv[1]), workers=2)
    print(job._child.pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_end_of_the_server_is_the_end_of_the_exploration(
    folder: Path, how: signal.Signals, gate: Any
) -> None:
    path = written(folder, many(gate))
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(path)], **pipes)
    try:
        server.stdout.readline()
        gate.let_through(3)
        until(lambda: len(stored(path)) == 3)
        server.send_signal(how)
        server.wait(PATIENCE)
        until(lambda: not is_being_explored(Project.load(path).store_path))
    finally:
        server.kill()
        server.communicate()
    gate.open()
    time.sleep(1)  # whatever lived on would store more now
    assert len(stored(path)) == 3


def test_a_report_says_what_is_left_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module.time, "monotonic", lambda: 100.0)  # type: ignore[attr-defined]
    report = Report("running", Progress(2, 6, 0, 0, 10.0, within=50.0), since=98.0)
    assert report.within == 48.0
    assert Report("running", Progress(2, 6, 0, 0, 10.0), since=98.0).within is None
    assert report.elapsed == 12.0
    assert Report("done", Progress(6, 6, 0, 0, 10.0), since=90.0).elapsed == 10.0
    assert Report("running").within is None


def test_pausing_what_has_ended_changes_nothing(jobs: Jobs, folder: Path) -> None:
    job: Job = jobs.start(written(folder), workers=1)
    job.wait(PATIENCE)
    job.pause()
    job.cancel()
    assert job.report.state == "done"
