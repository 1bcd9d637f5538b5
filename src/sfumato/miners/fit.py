"""Fitting estimators, in the process of its own that `runner` gives them."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any

import numpy as np

from sfumato.miners.base import Miner
from sfumato.miners.learning_task import LearningTask
from sfumato.runtime.arrays import Floats
from sfumato.runtime.messages import Packed
from sfumato.runtime.processes import ParentProcess


def answer_folds(parent: ParentProcess) -> None:
    """Take learning tasks, and answer for each fold that is asked about what is predicted in it."""
    task: LearningTask | None = None
    with suppress(EOFError):
        while True:
            question = parent.receive()
            if isinstance(question, LearningTask):
                task = question
            else:
                parent.send(_answered(task, *question))


def _answered(task: LearningTask | None, packed: Packed, seed: int, fold: int) -> Floats | str:
    """Return the predictions of a fold, or the kind of the error: its text could show a value."""
    try:
        assert task is not None
        return fit_fold(packed.unpacked(), task, seed, fold)
    except Exception as error:
        return type(error).__name__


def fit_fold(miner: Miner, task: LearningTask, seed: int, fold: int) -> Floats:
    """Train on all examples outside a fold and predict the patterns inside it."""
    weights = task.held.sum(axis=1) - task.held[:, fold]
    used = weights > 1e-9
    features, labels = task.patterns[task.pattern[used]], task.label[used]
    asked = task.patterns[task.asked[:, fold]]
    if not used.any():
        raise ValueError("no record has a label")
    if not features.shape[1] or (labels == labels[0]).all():
        return np.full(len(asked), _constant(miner, labels, weights[used]), dtype=np.float64)
    estimator = fitted(miner.estimator(seed), features, labels, weights[used])
    return np.asarray(estimator.predict(asked), dtype=np.float64).reshape(len(asked))


def _constant(miner: Miner, labels: Any, weights: Floats) -> float:
    if miner.predicts == "number":
        return float(np.average(labels, weights=weights))
    return int(np.bincount(labels, weights).argmax())


def fitted(estimator: Any, features: Floats, labels: Any, weights: Floats) -> Any:
    """Fit with weights; an estimator that knows none gets every example as often as it occurs."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1] if steps else ("", estimator)
    if "sample_weight" in inspect.signature(last[1].fit).parameters:
        name = f"{last[0]}__sample_weight" if steps else "sample_weight"
        return estimator.fit(features, labels, **{name: weights})
    times = np.maximum(np.rint(weights), 1).astype(np.int64)
    return estimator.fit(features.repeat(times, axis=0), labels.repeat(times))
