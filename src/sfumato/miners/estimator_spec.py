"""Declare the estimator of each miner, and the parameters passed to it.

The estimator is imported only when it is built, because scikit-learn takes long to load.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Literal

from sfumato.miners.base import Predicts
from sfumato.registry.methods import check_bounds

_SEED_NAMES = ("random_state", "seed")


@dataclass(frozen=True)
class EstimatorSpec:
    """The estimator of a miner; one that takes a seed gets it.

    Parameters
    ----------
    of
        The class of the estimator, with its module.
    given
        The parameters of the estimator that are parameters of the miner, by the name in the estimator.
    fixed
        Its other parameters; one may be an estimator itself.
    scaled
        The scaler of scikit-learn for all columns.

    Examples
    --------
    >>> EstimatorSpec("sklearn.tree.DecisionTreeClassifier", fixed={"max_depth": 1}).estimator(None, seed=3)
    DecisionTreeClassifier(max_depth=1, random_state=3)
    """

    of: str
    given: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    scaled: Literal["", "MinMaxScaler", "StandardScaler"] = ""

    def estimator(self, miner: Any, seed: int) -> Any:
        """Return a new estimator with the parameters of a miner."""
        module, _, class_name = self.of.rpartition(".")
        cls = getattr(import_module(module), class_name)
        seeds = {name: seed for name in _SEED_NAMES if name in inspect.signature(cls).parameters}
        given = {there: getattr(miner, here) for there, here in self.given.items()}
        fixed = {
            there: value.estimator(miner, seed) if isinstance(value, EstimatorSpec) else value
            for there, value in self.fixed.items()
        }
        estimator = cls(**given, **fixed, **seeds)
        if not self.scaled:
            return estimator
        from sklearn import preprocessing
        from sklearn.pipeline import make_pipeline

        return make_pipeline(getattr(preprocessing, self.scaled)(), estimator)


class _Declared:
    spec: ClassVar[EstimatorSpec]
    needs_extra: ClassVar[str | None] = "learning"

    def __post_init__(self) -> None:
        check_bounds(self)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        return self.spec.estimator(self, seed)


class Classifier(_Declared):
    """A miner that predicts a category, by the estimator in ``spec``."""

    predicts: ClassVar[Predicts] = "category"


class Regressor(_Declared):
    """A miner that predicts a number, by the estimator in ``spec``."""

    predicts: ClassVar[Predicts] = "number"
