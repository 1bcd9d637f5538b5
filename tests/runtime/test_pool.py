"""What one piece of work may use, the clock standing still while kernels compile, and what a worker sees."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sfumato.runtime import machine, pool
from sfumato.runtime.errors import UserError
from sfumato.runtime.pool import UNLIMITED, Limits, Lost, run_in_workers

# as a plug-in might: each function is a piece of work that a worker is given by its name
WORK = """
import os, signal, subprocess, sys
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def prepared(reporter):
    yield lambda piece: globals()[piece](reporter)


def surroundings(reporter):
    return os.environ.get("SFUMATO_SEEN"), str(Path.cwd())


def prints(reporter):
    print("noise")
    return "done"


def talks(reporter):
    reporter.say("halfway")
    return "done"


def raises(reporter):
    raise ValueError("a secret value")


def refuses(reporter):
    from sfumato.runtime.errors import UserError
    raise UserError("name the column")


def crashes(reporter):
    reporter.is_at("the method")
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(reporter):
    os._exit(3)


def leaves_a_child(reporter):
    # it holds this process's pipes open, as a daemon does that a library starts
    if os.fork() == 0:
        import time
        time.sleep(20)
        os._exit(0)
    os._exit(3)


def unpicklable(reporter):
    return lambda: None


def works(reporter):
    return os.getpid()
"""


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pool, "time", clock)
    monkeypatch.setattr(machine, "can_be_watched", lambda: False)
    return clock


class NoProcess:
    """Stands for a child whose clock is looked at, and who is never spoken to."""

    def __init__(self) -> None:
        self.is_killed = self.has_ended = False

    def send(self, message: object) -> None:
        pass

    def kill(self) -> None:
        self.is_killed = True


@pytest.fixture
def worker(clock: Clock) -> Any:
    """One that began just now; `stopped` says why it was stopped."""
    worker = pool._Worker(NoProcess())  # type: ignore[arg-type]
    worker.give("work")
    return worker


def looked_at(worker: Any) -> str:
    pool._stop_beyond([worker], Limits(seconds=10.0))
    assert worker.child.is_killed == bool(worker.stopped)
    return str(worker.stopped)


def test_who_takes_too_long_is_stopped(clock: Clock, worker: Any) -> None:
    clock.now += 10.0
    assert looked_at(worker) == ""
    clock.now += 0.1
    assert looked_at(worker).startswith("it took longer than 10 seconds")


def test_the_time_of_compiling_is_not_counted(clock: Clock, worker: Any) -> None:
    clock.now += 4.0
    worker._pause(True)
    clock.now += 60.0
    assert looked_at(worker) == "", "it may take as long as it does"
    worker._pause(False)
    clock.now += 5.9
    assert looked_at(worker) == "", "ten seconds of work are not over yet"
    clock.now += 0.2
    assert looked_at(worker) != ""


def test_it_may_be_compiled_more_than_once(clock: Clock, worker: Any) -> None:
    for _ in range(3):
        worker._pause(True)
        clock.now += 30.0
        worker._pause(False)
        clock.now += 3.0
    assert looked_at(worker) == ""
    clock.now += 1.1
    assert looked_at(worker) != ""


def test_one_that_was_stopped_just_when_it_had_finished_is_given_nothing_more(worker: Any) -> None:
    """It is about to end; what it were given would be lost for a reason that is not its own."""
    worker.is_ready = True
    worker.stop("it took longer than 10 seconds")
    assert list(worker.take_in(pool._Report("did", "result"), b"", print)) == [("work", "result")]
    assert not worker.is_idle


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of pieces of work, in a folder of its own on the path."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "pieces_of_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(folder))
    yield import_module("pieces_of_work")
    del sys.modules["pieces_of_work"]


WAYS = pytest.mark.parametrize("way", ["forked", "started"])
"""Forked from a template, as on Linux, or each started from the beginning, as elsewhere."""


def results(work: Any, way: str, *pieces: str, n_workers: int = 1, **options: Any) -> list[Any]:
    preload = "sfumato.runtime.pool" if way == "forked" else ""
    found = run_in_workers(work.prepared, iter(pieces), n_workers, UNLIMITED, preload=preload, **options)
    by_piece = dict(found)
    return [by_piece[piece] for piece in pieces]


@WAYS
def test_a_worker_has_the_surroundings_of_the_moment_at_which_it_starts(
    work: Any, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not those of the first one, though all are forked from the same process."""
    assert results(work, way, "surroundings") == [(None, os.getcwd())]
    monkeypatch.setenv("SFUMATO_SEEN", "yes")
    monkeypatch.chdir(tmp_path)
    assert results(work, way, "surroundings") == [("yes", str(tmp_path))]


@WAYS
def test_a_worker_starts_where_the_current_folder_has_disappeared(
    work: Any, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert results(work, way, "talks") == ["done"]


@WAYS
def test_what_a_worker_says_is_heard_and_what_it_prints_is_no_answer(
    work: Any, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    heard: list[str] = []
    assert results(work, way, "prints", "talks", listener=heard.append) == ["done", "done"]
    assert heard == ["halfway"]
    assert capfd.readouterr().out == ""


@WAYS
def test_a_worker_that_dies_loses_only_its_own_piece_of_work(work: Any, way: str) -> None:
    crashed, ended, raised, odd, worked = results(
        work, way, "crashes", "exits", "raises", "unpicklable", "works", n_workers=2
    )
    assert crashed.reason == (
        "the method was given up: its process crashed (signal 11); leave the method out or repair it"
    )
    assert ended.reason == "its process ended by itself, with code 3; leave the method out or repair it"
    assert raised == Lost("it raises ValueError")
    assert odd.reason.startswith("it raises ")
    assert worked != os.getpid()


@pytest.mark.skipif(not machine.can_be_watched(), reason="looks at processes through /proc")
def test_a_worker_that_dies_is_noticed_though_something_that_it_started_lives_on(work: Any) -> None:
    (ended,) = results(work, "started", "leaves_a_child")
    assert ended.reason.startswith("its process ended by itself, with code 3")


@WAYS
def test_what_sfumato_raises_on_purpose_is_raised_here(work: Any, way: str) -> None:
    with pytest.raises(UserError, match="name the column"):
        results(work, way, "refuses")


def test_one_template_serves_one_exploration_after_the_other(work: Any) -> None:
    from sfumato.runtime import processes

    results(work, "forked", "works")
    first = processes._template
    assert results(work, "forked", "works") != results(work, "forked", "works")
    assert processes._template is first
    assert first is not None
    first._process.kill()
    first._process.wait()
    assert results(work, "forked", "talks") == ["done"], "another one takes its place"
