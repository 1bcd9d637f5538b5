"""Predict each released record with a miner that was trained without it.

And what it predicts when it has, to compare with.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.miners.base import CellsAs, Encoding, Listener, Miner, Predictions
from sfumato.miners.fit_processes import run
from sfumato.miners.folds import held_out
from sfumato.miners.labels import Label, labels_of, target_domain, true_codes
from sfumato.miners.learning_task import LearningTask, pose
from sfumato.registry import methods
from sfumato.results.release import LinkedRelease, Release, released
from sfumato.runtime.arrays import Integers
from sfumato.runtime.caching import Memory
from sfumato.runtime.errors import DataError, ParameterError, suggestion

_known: Memory[Predictions] = Memory(128)


def original_view(table: Table, schema: Schema) -> LinkedRelease:
    """Return the original as a release of itself: what a miner learns from it is the most there is.

    Examples
    --------
    >>> from sfumato import datasets
    >>> original_view(*datasets.hospital()).n_records
    12
    """
    bound_table, bound_schema = schema.bind(table)
    return released(bound_table, bound_schema, {})


def predict(
    release: Release,
    target: str,
    miner: str | Miner,
    *,
    folds: int = 10,
    seed: int = 0,
    time_limit: float = 600.0,
    label: Label = "released",
    features: Sequence[str] | None = None,
    cells: CellsAs = "shares",
    workers: int = 1,
    progress: Listener | None = None,
) -> Predictions:
    """Predict an attribute of every released record from its other released values.

    Parameters
    ----------
    release
        What would be published; `original_view` makes one of the original.
    target
        The attribute to predict.
    miner
        A miner, its name, or its name with parameters: ``random-forest trees=10``.
    folds
        In how many parts the records are divided: each part is predicted from all others.
    seed
        Decides on the parts and on the miner's random choices.
    time_limit
        Seconds after which the miner is given up, for all folds together.
    label
        What the miner is trained on: the ``released`` values of the target, as anybody could, or the
        ``true`` ones, as only the owner can.
    features
        The attributes to predict from; by default all released ones but the target.
    cells
        What a generalised cell is to the miner: ``shares`` of the values that it may stand for, or one of
        the released ``labels``, which have nothing in common with each other.
    workers
        How many processes share the folds.
    progress
        Called after every fold.

    Examples
    --------
    >>> from sfumato import datasets
    >>> found = predict(original_view(*datasets.hospital()), "diagnosis", "majority", folds=3)
    >>> found.finished, found.n_records
    (True, 12)
    """
    chosen = _chosen(miner)
    names = _features(release, target, features)
    _check(release, target, chosen, folds, cells)
    key = (fingerprint(release, (*names, target)), names, target, label, repr(chosen), folds, seed, cells)
    known = _known.recall(key)
    if known is not None:
        return known
    began = time.perf_counter()
    task, held, pattern_of = _posed(release, target, chosen, names, label, folds, seed, cells)
    answers, trouble = run(chosen, task, seed, time_limit, workers, progress)
    rows, fold = np.nonzero(held) if trouble is None else (np.empty(0, np.int64),) * 2
    found = Predictions(
        target=target,
        miner=methods.label_of(chosen),
        predicts=chosen.predicts,
        domain=target_domain(release, target),
        rows=rows,
        weights=held[rows, fold],
        predicted=answers[pattern_of[rows], fold],
        folds=held.shape[1],
        seconds=time.perf_counter() - began,
        trouble=trouble,
    )
    if found.finished:
        _known.keep(key, found)
    return found


def predict_from_all(
    release: Release,
    target: str,
    miner: str | Miner,
    trained: Integers,
    *,
    seed: int = 0,
    time_limit: float = 600.0,
    cells: CellsAs = "shares",
) -> Predictions:
    """Predict an attribute of every released row by a miner that has seen all records that it may.

    Parameters
    ----------
    release, target, miner
        As for `predict`.
    trained
        The number of records of each row that the miner is trained on; rows with none are only predicted.
    seed, time_limit, cells
        As for `predict`.

    Examples
    --------
    >>> from sfumato import datasets
    >>> view = original_view(*datasets.hospital())
    >>> predict_from_all(view, "diagnosis", "random-tree", view.weights).n_records
    12
    """
    chosen = _chosen(miner)
    names = _features(release, target, None)
    _check(release, target, chosen, 2, cells)
    shown = fingerprint(release, (*names, target))
    key = ("all", shown, target, repr(chosen), trained.tobytes(), seed, cells)
    known = _known.recall(key)
    if known is not None:
        return known
    began = time.perf_counter()
    labels = labels_of(release, target, chosen.predicts, "released", seed)
    # nothing is left out of the first fold's training, and the second one asks for nothing
    held = np.column_stack([np.zeros_like(trained), trained])
    task, pattern_of = pose(release, names, _encoding(chosen), labels, held, cells)
    task = replace(task, asked=np.tile([True, False], (len(task.patterns), 1)))
    answers, trouble = run(chosen, task, seed, time_limit, 1, None)
    rows = np.arange(release.n_rows) if trouble is None else np.empty(0, np.int64)
    found = Predictions(
        target=target,
        miner=methods.label_of(chosen),
        predicts=chosen.predicts,
        domain=target_domain(release, target),
        rows=rows,
        weights=release.weights[rows],
        predicted=answers[pattern_of[rows], 0],
        folds=1,
        seconds=time.perf_counter() - began,
        trouble=trouble,
    )
    if found.finished:
        _known.keep(key, found)
    return found


def accuracy(release: Release, found: Predictions) -> float:
    """Return the share of the released records whose predicted value is the true one.

    Examples
    --------
    >>> from sfumato import datasets
    >>> view = original_view(*datasets.hospital())
    >>> 0 <= accuracy(view, predict(view, "diagnosis", "majority", folds=3)) <= 1
    True
    """
    return found.share(found.predicted == true_codes(release, found.target)[found.rows])


def fingerprint(release: Release, names: Sequence[str]) -> str:
    """Return a hash of the released cells of these attributes, and of the true values behind them."""
    digest = hashlib.sha256()
    for name in names:
        cells = release.cells[name]
        digest.update(repr((name, release.schema[name].kind, cells.labels, cells.domain)).encode())
        digest.update(cells.codes.tobytes())
        if cells.sets is not None:
            digest.update(cells.sets.starts.tobytes() + cells.sets.members.tobytes())
    origin = release.origin if isinstance(release, LinkedRelease) else None
    rows = None if origin is None else origin.linked_rows
    for array in (release.weights, rows, release.group_of):
        digest.update(b"-" if array is None else array.tobytes())
    digest.update(("" if origin is None else origin.table.fingerprint).encode())
    return digest.hexdigest()


def forget() -> None:
    """Forget all predictions."""
    _known.forget()


def _features(release: Release, target: str, features: Sequence[str] | None) -> tuple[str, ...]:
    for name in (target, *(features or ())):
        if name not in release.cells:
            hint = suggestion(name, release.cells) or f"; it has {', '.join(release.cells)}"
            raise ParameterError(f"the release has no attribute {name!r}{hint}")
    return tuple(name for name in (release.cells if features is None else features) if name != target)


def _check(release: Release, target: str, miner: Miner, folds: int, cells: str) -> None:
    if cells not in get_args(CellsAs):
        raise ParameterError(f"cells cannot be {cells!r}; allowed are {', '.join(get_args(CellsAs))}")
    if folds < 2:
        raise ParameterError(f"folds must be at least 2, not {folds}")
    if release.n_records < 2:
        raise DataError("cross-validation needs at least two records; release more")
    kind = release.schema.kind(target)
    if miner.predicts == "number" and not kind.is_number:
        raise ParameterError(
            f"{methods.name_of(type(miner))} predicts numbers, but {target!r} is {kind.name}; "
            "choose a miner that predicts a category"
        )


def _posed(
    release: Release,
    target: str,
    miner: Miner,
    names: tuple[str, ...],
    label: Label,
    folds: int,
    seed: int,
    cells: CellsAs,
) -> tuple[LearningTask, Integers, Integers]:
    labels = labels_of(release, target, miner.predicts, label, seed)
    strata = labels.likeliest if labels.numbers is None else np.zeros(release.n_rows, dtype=np.int64)
    held = held_out(release.weights, strata, min(folds, release.n_records), seed)
    task, pattern_of = pose(release, names, _encoding(miner), labels, held, cells)
    return task, held, pattern_of


def _chosen(miner: str | Miner) -> Miner:
    chosen: Miner = methods.build_miner(miner) if isinstance(miner, str) else miner
    return chosen


def _encoding(miner: Miner) -> Encoding:
    encoding: Encoding = getattr(miner, "encoding", "columns")
    return encoding
