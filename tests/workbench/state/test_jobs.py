"""Jobs: an exploration in a process of its own is started, paused, cancelled, and survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sfumato.errors import UserError
from sfumato.exploring.run import Progress
from sfumato.frontier import Candidate, one_for_each_recipe
from sfumato.project.file import Project
from sfumato.store.base import Store, is_being_explored
from sfumato.store.provenance import source_of
from sfumato.workbench.state import jobs as jobs_module
from sfumato.workbench.state.jobs import Job, Jobs, Report

from ..conftest import PROJECT

# as long as other tests wait: on a busy machine the first generation of a search takes its time
PATIENCE = 300.0
MANY = PROJECT.replace("k = [2, 3]", f"k = {list(range(1, 400))}")
# told after every tenth of its generations: soon for the first time, and long before the last
SLOW = PROJECT + '\n[[try]]\nsearch = "evolution"\npopulation = 300\ngenerations = 200\n'


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.end()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.2)


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
def test_a_paused_exploration_goes_on_where_it_stopped(jobs: Jobs, folder: Path) -> None:
    path = written(folder, MANY)
    job = jobs.start(path, workers=1)
    until(lambda: job.report.progress and job.report.progress.done > 3)
    job.pause()
    assert job.wait(PATIENCE).state == "paused"
    before = len(stored(path))
    assert 3 < before < 399
    job = jobs.start(path, workers=1)
    until(lambda: job.report.progress and job.report.progress.total)
    assert job.report.progress is not None
    assert job.report.progress.known == before


def test_a_cancelled_exploration_ends_at_once_and_keeps_what_is_stored(jobs: Jobs, folder: Path) -> None:
    path = written(folder, MANY)
    job = jobs.start(path, workers=2)
    until(lambda: len(stored(path)) > 2)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"
    assert len(stored(path)) > 2
    assert not is_being_explored(Project.load(path).store_path)


def test_a_search_says_how_far_it_has_come_and_can_be_cancelled(jobs: Jobs, folder: Path) -> None:
    job = jobs.start(written(folder, SLOW), workers=1)
    until(lambda: job.report.progress and "generation" in job.report.progress.now)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"


@pytest.mark.thorough("the other search that is cancelled")
def test_a_search_can_be_cancelled_where_the_server_ignores_interrupts(jobs: Jobs, folder: Path) -> None:
    # as one that was started with nohup
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        job = jobs.start(written(folder, SLOW), workers=1)
    finally:
        signal.signal(signal.SIGINT, usual)
    until(lambda: job.report.progress and "generation" in job.report.progress.now)
    job.cancel()
    assert job.wait(PATIENCE).state == "cancelled"


def test_only_one_at_a_time(jobs: Jobs, folder: Path) -> None:
    path = written(folder, MANY)
    jobs.start(path, workers=1)
    with pytest.raises(UserError, match="being explored already"):
        jobs.start(path, workers=1)


def test_a_crash_is_said_and_harms_nothing(jobs: Jobs, folder: Path) -> None:
    path = written(folder, MANY)
    job = jobs.start(path, workers=1)
    until(lambda: len(stored(path)) > 2)
    os.kill(job._child.pid, signal.SIGKILL)
    report = job.wait(PATIENCE)
    assert report.state == "failed"
    assert "What was stored is kept" in report.said
    assert len(stored(path)) > 2
    job = jobs.start(path, workers=1)
    until(lambda: job.report.progress)


def test_what_the_library_refuses_is_said_in_its_words(jobs: Jobs, folder: Path) -> None:
    path = written(folder, PROJECT.partition("[[try]]")[0])
    report = jobs.start(path).wait(PATIENCE)
    assert report.state == "failed"
    assert "nothing to try; add a [[try]] block" in report.said


def test_an_exploration_of_the_command_line_is_noticed(jobs: Jobs, folder: Path) -> None:
    path = written(folder)
    place = Project.load(path).store_path
    assert not is_being_explored(place)
    with Store(place) as store, store.exclusive():
        assert is_being_explored(place)
        report = jobs.start(path).wait(PATIENCE)
        assert report.state == "failed"
        assert "another `sfumato explore` is at work" in report.said
    assert not is_being_explored(place)


def test_asking_whether_somebody_explores_hinders_nobody(folder: Path) -> None:
    place = Project.load(written(folder)).store_path
    with Store(place) as store:
        for _ in range(20):
            with store.exclusive():
                assert is_being_explored(place)
            assert not is_being_explored(place)


SERVER = """
import sys, time
from pathlib import Path
from sfumato.workbench.state.jobs import Jobs
if __name__ == "__main__":
    jobs = Jobs()
    job = jobs.start(Path(sys.argv[1]), workers=2)
    print(job._child.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_end_of_the_server_is_the_end_of_the_exploration(folder: Path, how: signal.Signals) -> None:
    path = written(folder, MANY)
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        until(lambda: len(stored(path)) > 2)
        server.send_signal(how)
        server.wait(PATIENCE)
        until(lambda: not is_being_explored(Project.load(path).store_path))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    kept = len(stored(path))
    assert kept > 2
    time.sleep(1)
    assert len(stored(path)) == kept


def test_a_report_estimates_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module.time, "monotonic", lambda: 100.0)  # type: ignore[attr-defined]
    report = Report("running", Progress(2, 6, 0, 0, 10.0, remaining=20.0), since=98.0)
    assert report.remaining == 18.0
    assert report.within is None
    assert Report("running", Progress(2, 6, 0, 0, 10.0, within=50.0), since=98.0).within == 48.0
    assert report.elapsed == 12.0
    assert Report("done", Progress(6, 6, 0, 0, 10.0), since=90.0).elapsed == 10.0
    assert Report("running").remaining is None


def test_pausing_what_has_ended_changes_nothing(jobs: Jobs, folder: Path) -> None:
    job: Job = jobs.start(written(folder), workers=1)
    job.wait(PATIENCE)
    job.pause()
    job.cancel()
    assert job.report.state == "done"
