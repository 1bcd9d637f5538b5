"""The interface of a miner, and its predictions for the released records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from sfumato.data.kinds import Value
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields

Predicts = Literal["category", "number"]
Encoding = Literal["columns", "bins", "codes"]
"""The form of the attributes that a miner needs: see `sfumato.miners.encoding`."""
CellsAs = Literal["shares", "labels"]
"""How a miner sees a generalized cell: as ``shares`` of the values in its set, or as a ``label`` without a
meaning, like a program that reads the released file and knows no hierarchy."""


@runtime_checkable
class Miner(Protocol):
    """A frozen dataclass that builds an estimator with the interface of scikit-learn.

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
    """The progress of a cross-validation.

    Parameters
    ----------
    miner
        The name of the miner.
    done, folds
        The number of finished folds, and of all folds.
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
    """The predictions of a miner for every released record.

    A released row stands for several records, which may be in different folds: entry ``i`` is about
    ``weights[i]`` records of the released row ``rows[i]``. The weights of a row's entries add up to the
    row's weight.

    Parameters
    ----------
    target
        The attribute.
    miner
        The name of the miner.
    predicts
        Whether ``predicted`` holds codes (``category``) or numbers (``number``).
    domain
        The values behind the codes: those of the original, if it is known.
    rows, weights
        The released row of each entry, and its number of records.
    predicted
        For each entry the code of the predicted value in the domain, or the predicted number.
    folds
        The number of folds: fewer than requested if there are fewer records.
    seconds
        The duration.
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

    def share(self, marked: Booleans) -> float:
        """Return the share of the records whose entries are marked."""
        return int(self.weights[marked].sum()) / self.n_records
