"""Fit miners in processes of their own, which can be stopped at a time limit.

A fit may take hours and cannot be interrupted from inside, so it runs in a child process that is killed when
time is up. The child is kept for the next fit, because importing scikit-learn takes seconds.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from sfumato.miners.base import FoldsDone, Listener, Miner
from sfumato.miners.fit import answer_folds
from sfumato.miners.learning_task import LearningTask
from sfumato.registry import methods
from sfumato.runtime.arrays import Floats
from sfumato.runtime.messages import Packed
from sfumato.runtime.processes import Child, Ended, borrowed
from sfumato.runtime.progress import tell

_OUT_OF_TIME = "time limit"
_ENDED = "its process was ended"
# one thread each: several children share the processors, and the results stay the same
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run(
    miner: Miner, task: LearningTask, seed: int, time_limit: float, workers: int, progress: Listener | None
) -> tuple[Floats, str | None]:
    """Return the predictions for each pattern in each fold, and what went wrong, if anything.

    Parameters
    ----------
    time_limit
        Seconds for all folds together; the start of a process is not counted.
    workers
        How many processes share the folds.
    """
    answers = np.zeros(task.requested.shape, dtype=np.float64)
    # a miner of a script or a notebook is sent with its code
    packed = Packed.of(miner)
    name, n_folds, began = methods.label_of(miner), len(task.folds), time.monotonic()
    _tell(name, 1, n_folds)
    with contextlib.closing(_folds(packed, task, seed, time_limit, min(workers, n_folds))) as answered:
        trouble = None
        for done, (fold, answer) in enumerate(answered, start=1):
            if isinstance(answer, str):
                trouble = answer
                continue
            answers[task.requested[:, fold], fold] = answer
            if done < n_folds:
                _tell(name, done + 1, n_folds)
            if progress is not None:
                progress(FoldsDone(name, done, n_folds, time.monotonic() - began))
    return answers, trouble


def _tell(miner: str, fold: int, n_folds: int) -> None:
    tell(f"{miner}, fold {fold} of {n_folds}" if n_folds > 1 else miner)


def _folds(
    packed: Packed, task: LearningTask, seed: int, time_limit: float, workers: int
) -> Generator[tuple[int, Any], None, None]:
    with contextlib.ExitStack() as lent:
        children = [lent.enter_context(borrowed(answer_folds, _SINGLE)) for _ in range(max(workers, 1))]
        deadline = time.monotonic() + time_limit
        for child in children:
            if child.holds != task.key:
                child.holds = task.key
                child.send(task)
        one_by_one = ((fold, _answer(children[0], (packed, seed, fold), deadline)) for fold in task.folds)
        together = _answers_of_several(children, packed, task.folds, seed, deadline)
        with contextlib.closing(together if len(children) > 1 else one_by_one) as answers:
            for fold, answer in answers:
                yield fold, answer
                if isinstance(answer, str):
                    return


def _answer(child: Child, question: tuple[Packed, int, int], deadline: float) -> Any:
    """Return the answer of a child, or what went wrong; a child without an answer in time is ended."""
    child.send(question)
    try:
        return child.receive(deadline - time.monotonic())
    except (TimeoutError, Ended) as trouble:
        child.end()
        return _OUT_OF_TIME if isinstance(trouble, TimeoutError) else _ENDED


def _answers_of_several(
    children: list[Child], packed: Packed, folds: Sequence[int], seed: int, deadline: float
) -> Generator[tuple[int, Any], None, None]:
    free: queue.SimpleQueue[Child] = queue.SimpleQueue()
    for child in children:
        free.put(child)

    def work(fold: int) -> tuple[int, Any]:
        child = free.get()
        try:
            return fold, _answer(child, (packed, seed, fold), deadline)
        finally:
            free.put(child)

    pool = ThreadPoolExecutor(len(children))
    try:
        for future in as_completed([pool.submit(work, fold) for fold in folds]):
            yield future.result()
    except BaseException:
        # nobody waits for the other fits any more, and they may take hours
        for child in children:
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
