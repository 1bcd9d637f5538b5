"""The named regressors: miners that predict a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.miners.base import Predicts
from sfumato.miners.classifiers import check_positive
from sfumato.registry import register


def _scaled(regressor: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), regressor)


@register
@dataclass(frozen=True)
class MeanNumber:
    """Always the mean: what can be said without looking at any attribute.

    Examples
    --------
    >>> MeanNumber().predicts
    'number'
    """

    predicts: ClassVar[Predicts] = "number"

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.dummy import DummyRegressor

        return DummyRegressor(strategy="mean")


@register
@dataclass(frozen=True)
class LinearRegression:
    """Least squares.

    Examples
    --------
    >>> LinearRegression().predicts
    'number'
    """

    predicts: ClassVar[Predicts] = "number"

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.linear_model import LinearRegression as Linear

        return _scaled(Linear())


@register
@dataclass(frozen=True)
class RidgeRegression:
    """Least squares with a quadratic penalty.

    Parameters
    ----------
    penalty
        The strength of the penalty.

    Examples
    --------
    >>> RidgeRegression().penalty
    1.0
    """

    penalty: float = 1.0

    predicts: ClassVar[Predicts] = "number"

    def __post_init__(self) -> None:
        check_positive("penalty", self.penalty)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.linear_model import Ridge

        return _scaled(Ridge(alpha=self.penalty, random_state=seed))


@register
@dataclass(frozen=True)
class HuberRegression:
    """Linear regression in which large errors count less.

    References
    ----------
    P. J. Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> HuberRegression().predicts
    'number'
    """

    predicts: ClassVar[Predicts] = "number"

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.linear_model import HuberRegressor

        return _scaled(HuberRegressor(max_iter=500))


@register
@dataclass(frozen=True)
class RegressionTree:
    """A regression tree whose leaves hold a share of the records.

    Parameters
    ----------
    smallest
        The fewest patterns of a leaf.

    Examples
    --------
    >>> RegressionTree().smallest
    20
    """

    smallest: int = 20

    predicts: ClassVar[Predicts] = "number"

    def __post_init__(self) -> None:
        check_positive("smallest", self.smallest)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(min_samples_leaf=self.smallest, random_state=seed)


@register
@dataclass(frozen=True)
class RegressionForest:
    """Many regression trees, each grown on a random sample of the records; their mean.

    Parameters
    ----------
    trees
        How many trees.

    References
    ----------
    L. Breiman, "Random forests", 2001.

    Examples
    --------
    >>> RegressionForest().trees
    50
    """

    trees: int = 50

    predicts: ClassVar[Predicts] = "number"

    def __post_init__(self) -> None:
        check_positive("trees", self.trees)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(self.trees, min_samples_leaf=5, max_features=1 / 3, random_state=seed)


@register
@dataclass(frozen=True)
class RegressionBoosting:
    """Small regression trees, each correcting the errors of those before.

    Parameters
    ----------
    rounds
        How many trees.

    References
    ----------
    J. H. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> RegressionBoosting().rounds
    100
    """

    rounds: int = 100

    predicts: ClassVar[Predicts] = "number"

    def __post_init__(self) -> None:
        check_positive("rounds", self.rounds)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=self.rounds, early_stopping=False, random_state=seed)


@register
@dataclass(frozen=True)
class RegressionNeighbours:
    """The mean of the nearest records, all columns brought to the same range.

    Parameters
    ----------
    k
        How many records count.

    Examples
    --------
    >>> RegressionNeighbours().k
    15
    """

    k: int = 15

    predicts: ClassVar[Predicts] = "number"

    def __post_init__(self) -> None:
        check_positive("k", self.k)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sfumato.miners.simple import Neighbours

        return Neighbours(self.k, averages=True)
