"""Run slow work in threads, once for each key, and keep the last few results.

A page that needs an unfinished result shows a loading page instead, which asks again by itself: see
:class:`StillReading`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

from starlette.requests import Request

_PATIENCE = 1.0
_KEPT = 2

Key = tuple[Any, ...]
"""What identifies a work; it begins with the kind of work, and the last few of each kind are kept."""
Result = TypeVar("Result")


class StillReading(Exception):
    """Raised for an unfinished result; the loading page describes the work and asks again."""

    def __init__(
        self, name: str, doing: str = "Reading", message: str = "Large tables take a while."
    ) -> None:
        super().__init__(name)
        self.name = name
        self.doing = doing
        self.message = message


class BackgroundTasks:
    """All tasks that were started, finished or not."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def begin(self, key: Key, make: Callable[[], Result], *, alone: bool = True) -> Future[Result]:
        """Run a task once for each key: in a thread of its own, or right here unless ``alone``."""
        with self._lock:
            if key in self._tasks:
                self._tasks.move_to_end(key)
                return self._tasks[key]
            future: Future[Result] = Future()
            self._tasks[key] = future
            done = [old for old, work in self._tasks.items() if work.done() and old[0] == key[0]]
            for old in done[: max(len(done) - _KEPT, 0)]:
                del self._tasks[old]
        if alone:
            threading.Thread(target=self._run, args=(future, make), daemon=True).start()
        else:
            _finish(future, make)
        return future

    def begin_again(self, key: Key, make: Callable[[], Result]) -> Future[Result]:
        """Run a task once more, unless it is still running."""
        with self._lock:
            if key in self._tasks and self._tasks[key].done():
                del self._tasks[key]
        return self.begin(key, make)

    def find(self, key: Key) -> Future[Any] | None:
        """Return the task of this key if it was started."""
        with self._lock:
            return self._tasks.get(key)

    def forget(self, key: Key) -> None:
        """Forget a result, so that it is computed again."""
        with self._lock:
            self._tasks.pop(key, None)

    def _run(self, future: Future[Any], make: Callable[[], Any]) -> None:
        with self._one_at_a_time:
            _finish(future, make)


def wait_for(request: Request, future: Future[Result], name: str, **words: str) -> Result:
    """Wait for a result: only a moment for a page, which then says so, and to the end for a change."""
    try:
        return future.result(_PATIENCE if request.method in ("GET", "HEAD") else None)
    except NotYet:
        raise StillReading(name, **words) from None


def _finish(future: Future[Result], make: Callable[[], Result]) -> None:
    try:
        future.set_result(make())
    except BaseException as error:
        future.set_exception(error)
