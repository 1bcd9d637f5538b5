"""Jobs: an exploration in a process of its own, so that the pages never wait for it.

The process calls the same `explore` on the same store as the command line. It listens on its standard input:
``pause`` ends it after the next candidate that is stored. When the server ends, in whatever way, so does
the process. What it stored stays stored.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from sfumato.errors import UserError

if TYPE_CHECKING:
    from sfumato.exploring.run import Progress

JobState = Literal["running", "pausing", "paused", "cancelled", "done", "failed"]
_PATIENCE = 5.0
_CRASHED = (
    "The exploration ended unexpectedly, perhaps for lack of memory. What was stored is kept: go on, with "
    "fewer processes if it happens again."
)


@dataclass(frozen=True)
class Report:
    """How a job stands.

    Parameters
    ----------
    state
        Whether it runs, and if not, how it ended.
    progress
        How far it has come, as soon as it has said so.
    since
        When it said so, by the monotonic clock.
    said
        What went wrong, if so.
    """

    state: JobState
    progress: Progress | None = None
    since: float = 0.0
    said: str = ""

    @property
    def at_work(self) -> bool:
        """Whether the process still runs."""
        return self.state in ("running", "pausing")

    @property
    def elapsed(self) -> float:
        """Seconds since the candidates were begun, as of now."""
        if self.progress is None:
            return 0.0
        return self.progress.elapsed + (time.monotonic() - self.since if self.at_work else 0.0)

    @property
    def remaining(self) -> float | None:
        """The seconds that are left, estimated, as of now."""
        return self._still(self.progress.remaining if self.progress is not None else None)

    @property
    def within(self) -> float | None:
        """The seconds that are left of the budget, as of now."""
        return self._still(self.progress.within if self.progress is not None else None)

    def _still(self, left: float | None) -> float | None:
        if left is None or not self.at_work:
            return None
        return max(left - (time.monotonic() - self.since), 0.0)


class Job:
    """One exploration at work."""

    def __init__(self, project: Path, workers: int | None, budget: float | None = None) -> None:
        self.workers, self.budget = workers, budget
        self._lock = threading.Lock()
        self._report = Report("running")
        self._ended: JobState | None = None
        given = [str(project), str(workers or 0), repr(budget or 0.0)]
        command = [sys.executable, "-m", "sfumato.workbench.state.jobs", *given]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # what libraries write there might show a value
            stderr=subprocess.DEVNULL,
            # Ctrl-C at the terminal is the server's business
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def report(self) -> Report:
        """How it stands now."""
        with self._lock:
            return self._report

    def pause(self) -> None:
        """End it after the next candidate that is stored, or when a search next reports."""
        with self._lock:
            if self._report.state != "running":
                return
            self._ended = "paused"
            self._report = replace(self._report, state="pausing")
        self._tell("pause")

    def cancel(self) -> None:
        """End it at once; what is not stored is lost."""
        with self._lock:
            if not self._report.at_work:
                return
            self._ended = "cancelled"
            self._report = replace(self._report, state="pausing")
        self._tell("cancel")
        killing = threading.Timer(_PATIENCE, self._process.kill)
        killing.daemon = True
        killing.start()

    def wait(self, seconds: float | None = None) -> Report:
        """Wait until it has ended."""
        self._listener.join(seconds)
        return self.report

    def _tell(self, word: str) -> None:
        # it may have ended by itself
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        """Take in what the process says until it ends."""
        from sfumato.exploring.run import Progress

        last: dict[str, Any] = {}
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                last = json.loads(line)
            except ValueError:
                continue
            if "done" in last:
                with self._lock:
                    self._report = replace(self._report, progress=Progress(**last), since=time.monotonic())
        self._process.wait()
        with self._lock:
            self._report = replace(self._report, **self._ending(last))
        self._process.stdout.close()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _ending(self, last: dict[str, Any]) -> dict[str, Any]:
        if last.get("end") == "done":
            return {"state": "done"}
        if self._ended is not None:
            return {"state": self._ended}
        return {"state": "failed", "said": last.get("said") or _CRASHED}


class Jobs:
    """The explorations of the workbench, at most one for each project."""

    def __init__(self) -> None:
        self._jobs: dict[Path, Job] = {}
        self._lock = threading.Lock()

    def start(self, project: Path, workers: int | None = None, budget: float | None = None) -> Job:
        """Start an exploration, or go on with it, for so many seconds if there is a budget."""
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
            job.wait(2 * _PATIENCE)


class _Paused(BaseException):
    """Raised between two candidates."""


def _work(
    project: Path,
    workers: int | None,
    budget: float | None,
    words: IO[str],
    say: Callable[[dict[str, Any]], None],
) -> None:
    """Explore a project, and obey what is said while it runs."""
    from sfumato.exploring.run import explore
    from sfumato.project.file import Project
    from sfumato.store.base import Store

    paused = threading.Event()
    threading.Thread(target=_obey, args=(words, paused), daemon=True).start()

    def progress(state: Progress) -> None:
        say(asdict(state))
        if paused.is_set():
            raise _Paused

    described = Project.load(project)
    if not described.data_path.is_file():
        described.read()
    with Store(described.store_path) as store:
        explore(described, store, workers=workers, budget=budget, progress=progress)


def _obey(words: IO[str], paused: threading.Event) -> None:
    """Do what the server says, and end with it."""
    for word in words:
        if word.strip() == "pause":
            paused.set()
        else:
            break
    _thread.interrupt_main()
    # a compiled kernel hears nothing; the workers end with this process, and what is stored is stored
    time.sleep(_PATIENCE / 2)
    os._exit(1)


def main(arguments: list[str]) -> int:
    """Explore, and say on the standard output how far it has come."""
    from sfumato.errors import SfumatoError

    # what the server was started with, as by nohup, may ignore what ends an exploration
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out, sys.stdout = sys.stdout, sys.stderr

    def say(facts: dict[str, Any]) -> None:
        out.write(json.dumps(facts) + "\n")
        out.flush()

    project, workers, budget = Path(arguments[0]), int(arguments[1]) or None, float(arguments[2]) or None
    try:
        _work(project, workers, budget, sys.stdin, say)
    except (KeyboardInterrupt, _Paused, BrokenPipeError):
        return 130
    except SfumatoError as error:
        say({"end": "failed", "said": " ".join(str(error).split())})
        return 1
    say({"end": "done"})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
