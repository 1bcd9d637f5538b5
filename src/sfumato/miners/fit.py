"""Fit estimators, in a child process of `fit_processes`."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any

import numpy as np

from sfumato.miners.base import Miner
from sfumato.miners.learning_task import LearningTask
from sfumato.runtime.arrays import Floats
from sfumato.runtime.processes import ParentProcess


def answer_folds(parent: ParentProcess) -> None:
    """Receive learning tasks, and send the predictions of each fold that the parent asks for."""
    task: LearningTask | None = None
    with suppress(EOFError):
        while True:
            message = parent.receive()
            if isinstance(message, LearningTask):
                task = message
                continue
            packed, seed, fold = message
            try:
                assert task is not None
                answer: Floats | str = fit_fold(packed.unpacked(), task, seed, fold)
            except Exception as error:
                # only the kind of the error: its text could show a value
                answer = type(error).__name__
            parent.send(answer)


def fit_fold(miner: Miner, task: LearningTask, seed: int, fold: int) -> Floats:
    """Train on all examples outside a fold and predict the patterns inside it."""
    weights = task.held.sum(axis=1) - task.held[:, fold]
    used = weights > 1e-9
    features, labels = task.patterns[task.pattern[used]], task.label[used]
    patterns = task.patterns[task.requested[:, fold]]
    if not used.any():
        raise ValueError("no record has a label")
    if not features.shape[1] or (labels == labels[0]).all():
        constant = (
            np.average(labels, weights=weights[used])
            if miner.predicts == "number"
            else np.bincount(labels, weights[used]).argmax()
        )
        return np.full(len(patterns), constant, dtype=np.float64)
    estimator = fitted(miner.estimator(seed), features, labels, weights[used])
    return np.asarray(estimator.predict(patterns), dtype=np.float64).reshape(len(patterns))


def fitted(estimator: Any, features: Floats, labels: Any, weights: Floats) -> Any:
    """Fit with weights; an estimator without weights gets every example as often as it occurs."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1] if steps else ("", estimator)
    if "sample_weight" in inspect.signature(last[1].fit).parameters:
        name = f"{last[0]}__sample_weight" if steps else "sample_weight"
        return estimator.fit(features, labels, **{name: weights})
    times = np.maximum(np.rint(weights), 1).astype(np.int64)
    return estimator.fit(features.repeat(times, axis=0), labels.repeat(times))
