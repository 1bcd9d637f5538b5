"""What a miner is, and what it leaves behind: one prediction for every released record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from sfumato.data.table import Value
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields

Predicts = Literal["category", "number"]
Encoding = Literal["columns", "bins", "codes"]
"""How a miner wants the attributes: see `sfumato.miners.encoding`."""
CellsAs = Literal["shares", "labels"]
"""What a generalised cell is to a miner: ``shares`` of the values in its set, or a ``label`` that stands for
nothing but itself, as a program sees it that reads the released file and knows no hierarchy."""


@runtime_checkable
class Miner(Protocol):
    """A frozen dataclass that makes an estimator in the way of scikit-learn.

    Attributes
    ----------
    predicts
        ``category`` for a classifier, ``number`` for a regressor.

    A miner may also declare ``encoding``; without one it gets ``columns``.
    """

    predicts: ClassVar[Predicts]

    def estimator(self, seed: int) -> Any:
        """Return an estimator with ``fit(features, labels, sample_weight=…)`` and ``predict(features)``."""


@dataclass(frozen=True)
class FoldsDone:
    """How far a cross-validation has come.

    Parameters
    ----------
    miner
        The name of the miner.
    done, folds
        The folds that are finished, and all of them.
    seconds
        Seconds since its start.
    """

    miner: str
    done: int
    folds: int
    seconds: float


Listener = Callable[[FoldsDone], None]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a miner predicted for every released record, always trained without that record.

    A released row stands for several records, and these may lie in different folds: entry ``i`` speaks
    of ``weights[i]`` records of the released row ``rows[i]``. The weights of a row's entries add up to
    the row's weight.

    Parameters
    ----------
    target
        The attribute.
    miner
        The name of the miner.
    predicts
        Whether ``predicted`` holds codes (``category``) or numbers (``number``).
    domain
        The values behind the codes: those of the original where it is known.
    rows, weights
        The released row of each entry, and its number of records.
    predicted
        For each entry the code of the predicted value in the domain, or the predicted number.
    folds
        How many folds there were: fewer than asked for when there are fewer records.
    seconds
        How long it took.
    trouble
        Why there are no predictions: the time limit, or the kind of the estimator's error.
    """

    target: str
    miner: str
    predicts: Predicts
    domain: tuple[Value, ...] = field(repr=False)
    rows: Integers = field(repr=False)
    weights: Integers = field(repr=False)
    predicted: Codes | Floats = field(repr=False)
    folds: int
    seconds: float
    trouble: str | None = None

    def __post_init__(self) -> None:
        predicted = np.int32 if self.predicts == "category" else np.float64
        freeze_fields(self, rows=np.int64, weights=np.int64, predicted=predicted)

    @property
    def finished(self) -> bool:
        """Whether there is a prediction for every record."""
        return self.trouble is None

    @property
    def n_records(self) -> int:
        """The number of records that have a prediction."""
        return int(self.weights.sum())

    def share(self, right: Booleans) -> float:
        """Return the share of the records whose entries are marked."""
        return int(self.weights[right].sum()) / self.n_records
