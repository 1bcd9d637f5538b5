"""Predict each released record with a miner that was trained without it, or on all records."""

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
from sfumato.miners.learning_task import pose
from sfumato.registry import methods
from sfumato.registry.method_extras import require_extras
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers
from sfumato.runtime.caching import Memory
from sfumato.runtime.errors import DataError, ParameterError, suggestion

_remembered: Memory[Predictions] = Memory(128)


def original_view(table: Table, schema: Schema) -> LinkedRelease:
    """Return the original as a release of itself, from which a miner can learn the most.

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
        The number of parts of the records; each part is predicted from all others.
    seed
        Decides on the parts and on the miner's random choices.
    time_limit
        Seconds for all folds together, after which the miner is stopped.
    label
        What the miner is trained on: the ``released`` values of the target, as anybody could, or the
        ``true`` ones, as only the owner can.
    features
        The attributes to predict from; by default all released ones but the target.
    cells
        How the miner sees a generalized cell: as ``shares`` of the values that it may represent, or as one of
        the released ``labels``, which have nothing in common with each other.
    workers
        How many processes share the folds.
    progress
        Called after every fold.

    Examples
    --------
    >>> from sfumato import datasets
    >>> predictions = predict(original_view(*datasets.hospital()), "diagnosis", "majority", folds=3)
    >>> predictions.finished, predictions.n_records
    (True, 12)
    """
    chosen, names = _checked(release, target, miner, features, folds, cells)
    key = (fingerprint(release, (*names, target)), names, target, label, repr(chosen), folds, seed, cells)
    remembered = _remembered.recall(key)
    if remembered is not None:
        return remembered
    began = time.perf_counter()
    labels = labels_of(release, target, chosen.predicts, label, seed)
    strata = labels.likeliest if labels.numbers is None else np.zeros(release.n_rows, dtype=np.int64)
    held = held_out(release.weights, strata, min(folds, release.n_records), seed)
    task, pattern_of = pose(release, names, _encoding(chosen), labels, held, cells)
    answers, trouble = run(chosen, task, seed, time_limit, workers, progress)
    rows, fold = np.nonzero(held) if trouble is None else (np.empty(0, np.int64),) * 2
    predictions = Predictions(
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
    if predictions.finished:
        _remembered.keep(key, predictions)
    return predictions


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
    """Predict an attribute of every released row by a miner that is trained on all the given records.

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
    chosen, names = _checked(release, target, miner, None, 2, cells)
    key = (
        "all",
        fingerprint(release, (*names, target)),
        target,
        repr(chosen),
        trained.tobytes(),
        seed,
        cells,
    )
    remembered = _remembered.recall(key)
    if remembered is not None:
        return remembered
    began = time.perf_counter()
    labels = labels_of(release, target, chosen.predicts, "released", seed)
    # the first fold holds out nothing, and the second one requests no prediction
    held = np.column_stack([np.zeros_like(trained), trained])
    task, pattern_of = pose(release, names, _encoding(chosen), labels, held, cells)
    task = replace(task, requested=np.tile([True, False], (len(task.patterns), 1)))
    answers, trouble = run(chosen, task, seed, time_limit, 1, None)
    rows = np.arange(release.n_rows) if trouble is None else np.empty(0, np.int64)
    predictions = Predictions(
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
    if predictions.finished:
        _remembered.keep(key, predictions)
    return predictions


def accuracy(release: Release, predictions: Predictions) -> float:
    """Return the share of the released records whose predicted value is the true one.

    Examples
    --------
    >>> from sfumato import datasets
    >>> view = original_view(*datasets.hospital())
    >>> 0 <= accuracy(view, predict(view, "diagnosis", "majority", folds=3)) <= 1
    True
    """
    true = true_codes(release, predictions.target)[predictions.rows]
    return predictions.share(predictions.predicted == true)


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
    _remembered.forget()


def _checked(
    release: Release,
    target: str,
    miner: str | Miner,
    features: Sequence[str] | None,
    folds: int,
    cells: str,
) -> tuple[Miner, tuple[str, ...]]:
    """Return the miner and the attributes to predict from, if the request is valid."""
    chosen: Miner = methods.build_miner(miner) if isinstance(miner, str) else miner
    require_extras(chosen)
    for name in (target, *(features or ())):
        if name not in release.cells:
            hint = suggestion(name, release.cells) or f"; it has {', '.join(release.cells)}"
            raise ParameterError(f"the release has no attribute {name!r}{hint}")
    if cells not in get_args(CellsAs):
        raise ParameterError(f"cells cannot be {cells!r}; allowed are {', '.join(get_args(CellsAs))}")
    if folds < 2:
        raise ParameterError(f"folds must be at least 2, not {folds}")
    if release.n_records < 2:
        raise DataError("cross-validation needs at least two records; release more")
    kind = release.schema.kind(target)
    if chosen.predicts == "number" and not kind.is_number:
        raise ParameterError(
            f"{methods.name_of(type(chosen))} predicts numbers, but {target!r} is {kind.name}; "
            "choose a miner that predicts a category"
        )
    names = release.cells if features is None else features
    return chosen, tuple(name for name in names if name != target)


def _encoding(miner: Miner) -> Encoding:
    encoding: Encoding = getattr(miner, "encoding", "columns")
    return encoding
