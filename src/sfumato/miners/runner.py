"""Runner: fits in processes of their own, which can be given up without a trace.

A fit may take hours and cannot be interrupted from inside. So it runs in a child process that is kept
for the next fit, because importing scikit-learn takes seconds, and killed when time is up. A child
ignores Ctrl-C, which is its parent's business, and ends by itself as soon as its parent has ended.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from sfumato import registry
from sfumato.arrays import Floats
from sfumato.miners.base import FoldsDone, Listener, Miner
from sfumato.miners.child import COMMAND
from sfumato.miners.learning_task import LearningTask
from sfumato.progress import tell

_START_LIMIT = 300.0
_OUT_OF_TIME = "time limit"
_ENDED = "its process was ended"
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class _Child:
    """One process that fits, and what it was told last."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.task = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # one thread each: several children share the processors, and the results stay the same
            env={**os.environ, **dict.fromkeys(_SINGLE, "1"), "PYTHONPATH": _places()},
        )
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while True:
                self.answers.put(pickle.load(self.process.stdout))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.answers.put(None)

    def tell(self, question: object) -> None:
        """Send a question; if the child has ended, waiting for the answer will say so."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            pickle.dump(question, self.process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()

    def answer(self, seconds: float) -> Any:
        """Return the next answer: predictions, or the trouble in words."""
        try:
            found = self.answers.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return _OUT_OF_TIME
        if found is None:
            self.answers.put(None)
            return _ENDED
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def _places() -> str:
    """Return where modules are found: a child must find what its parent has found."""
    return os.pathsep.join(place for place in sys.path if place)


_idle: list[_Child] = []
_lock = threading.Lock()


@contextlib.contextmanager
def _borrowed() -> Iterator[_Child]:
    """Lend a child that waits for work; one that does not answer any more is ended."""
    child = _waiting() or _started()
    try:
        yield child
    except BaseException:
        child.end()
        raise
    if child.process.poll() is not None:
        child.end()
        return
    with _lock:
        _idle.append(child)


def _waiting() -> _Child | None:
    with _lock:
        while _idle:
            child = _idle.pop()
            # a child of the process that this one was forked from is not ours to ask, nor to end
            if child.owner != os.getpid():
                continue
            if child.process.poll() is None:
                return child
            child.end()
    return None


def _started() -> _Child:
    child = _Child()
    try:
        child.answer(_START_LIMIT)
    except BaseException:
        child.end()
        raise
    return child


@atexit.register
def end_children() -> None:
    """End the processes that wait for work."""
    with _lock:
        for child in _idle:
            if child.owner == os.getpid():
                child.end()
        _idle.clear()


def run(
    miner: Miner, task: LearningTask, seed: int, time_limit: float, workers: int, progress: Listener | None
) -> tuple[Floats, str | None]:
    """Return what the miner predicts for each pattern in each fold, and what went wrong, if anything.

    Parameters
    ----------
    time_limit
        Seconds for all folds together; the start of a process is not counted.
    workers
        How many processes share the folds.
    """
    answers = np.zeros(task.asked.shape, dtype=np.float64)
    pickled = _pickled(miner)
    name, n_folds, began = registry.label_of(miner), len(task.folds), time.monotonic()
    _tell(name, 1, n_folds)
    with contextlib.closing(_folds(pickled, task, seed, time_limit, min(workers, n_folds))) as found:
        trouble = None
        for done, (fold, answer) in enumerate(found, start=1):
            if isinstance(answer, str):
                trouble = answer
                continue
            answers[task.asked[:, fold], fold] = answer
            if done < n_folds:
                _tell(name, done + 1, n_folds)
            if progress is not None:
                progress(FoldsDone(name, done, n_folds, time.monotonic() - began))
    return answers, trouble


def _tell(miner: str, fold: int, n_folds: int) -> None:
    """Say which fold is at work."""
    tell(f"{miner}, fold {fold} of {n_folds}" if n_folds > 1 else miner)


def _pickled(miner: Miner) -> bytes:
    """Return a miner for another process; one of a script or a notebook travels with its code."""
    import cloudpickle

    return bytes(cloudpickle.dumps(miner))


def _folds(
    pickled: bytes, task: LearningTask, seed: int, time_limit: float, workers: int
) -> Generator[tuple[int, Any], None, None]:
    with contextlib.ExitStack() as lent:
        children = [lent.enter_context(_borrowed()) for _ in range(max(workers, 1))]
        deadline = time.monotonic() + time_limit
        for child in children:
            if child.task != task.key:
                child.task = task.key
                child.tell(task)
        work = _shared if len(children) > 1 else _in_turn
        with contextlib.closing(work(children, pickled, task.folds, seed, deadline)) as answers:
            for fold, answer in answers:
                yield fold, answer
                if isinstance(answer, str):
                    return


def _asked(child: _Child, question: tuple[bytes, int, int], deadline: float) -> Any:
    """Return the answer of a child; one that has none in time is ended."""
    child.tell((sys.path, *question))
    answer = child.answer(deadline - time.monotonic())
    if isinstance(answer, str) and answer in (_OUT_OF_TIME, _ENDED):
        child.end()
    return answer


def _in_turn(
    children: list[_Child], pickled: bytes, folds: Sequence[int], seed: int, deadline: float
) -> Generator[tuple[int, Any], None, None]:
    """Let one child take all folds."""
    for fold in folds:
        yield fold, _asked(children[0], (pickled, seed, fold), deadline)


def _shared(
    children: list[_Child], pickled: bytes, folds: Sequence[int], seed: int, deadline: float
) -> Generator[tuple[int, Any], None, None]:
    """Let several children take the folds in turn."""
    free: queue.SimpleQueue[_Child] = queue.SimpleQueue()
    for child in children:
        free.put(child)

    def work(fold: int) -> tuple[int, Any]:
        child = free.get()
        try:
            return fold, _asked(child, (pickled, seed, fold), deadline)
        finally:
            free.put(child)

    pool = ThreadPoolExecutor(len(children))
    try:
        for future in as_completed([pool.submit(work, fold) for fold in folds]):
            yield future.result()
    except BaseException:
        for child in children:
            child.process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
