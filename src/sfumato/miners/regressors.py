"""Regressors: miners that predict a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.miners.estimator_spec import EstimatorSpec, Regressor
from sfumato.registry.declarations import Above, AtMost
from sfumato.registry.methods import register


@register
@dataclass(frozen=True)
class MeanNumber(Regressor):
    """Always the mean: what can be said without looking at any attribute.

    Examples
    --------
    >>> MeanNumber().predicts
    'number'
    """

    spec: ClassVar = EstimatorSpec("sklearn.dummy.DummyRegressor", fixed={"strategy": "mean"})


@register
@dataclass(frozen=True)
class LinearRegression(Regressor):
    """Least squares.

    Examples
    --------
    >>> LinearRegression().predicts
    'number'
    """

    spec: ClassVar = EstimatorSpec("sklearn.linear_model.LinearRegression", scaled="StandardScaler")


@register
@dataclass(frozen=True)
class RidgeRegression(Regressor):
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

    penalty: Annotated[float, Above(0), AtMost(1e9)] = 1.0

    spec: ClassVar = EstimatorSpec(
        "sklearn.linear_model.Ridge", {"alpha": "penalty"}, scaled="StandardScaler"
    )


@register
@dataclass(frozen=True)
class HuberRegression(Regressor):
    """Linear regression in which large errors count less.

    References
    ----------
    P. J. Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> HuberRegression().predicts
    'number'
    """

    spec: ClassVar = EstimatorSpec(
        "sklearn.linear_model.HuberRegressor", fixed={"max_iter": 500}, scaled="StandardScaler"
    )


@register
@dataclass(frozen=True)
class RegressionTree(Regressor):
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

    smallest: Annotated[int, Above(0), AtMost(1_000_000_000)] = 20

    spec: ClassVar = EstimatorSpec("sklearn.tree.DecisionTreeRegressor", {"min_samples_leaf": "smallest"})


@register
@dataclass(frozen=True)
class RegressionForest(Regressor):
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

    trees: Annotated[int, Above(0), AtMost(10_000)] = 50

    spec: ClassVar = EstimatorSpec(
        "sklearn.ensemble.RandomForestRegressor",
        {"n_estimators": "trees"},
        {"min_samples_leaf": 5, "max_features": 1 / 3},
    )


@register
@dataclass(frozen=True)
class RegressionBoosting(Regressor):
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

    rounds: Annotated[int, Above(0), AtMost(10_000)] = 100

    spec: ClassVar = EstimatorSpec(
        "sklearn.ensemble.HistGradientBoostingRegressor", {"max_iter": "rounds"}, {"early_stopping": False}
    )


@register
@dataclass(frozen=True)
class RegressionNeighbours(Regressor):
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

    k: Annotated[int, Above(0), AtMost(1_000_000)] = 15

    spec: ClassVar = EstimatorSpec(
        "sfumato.miners.simple_estimators.Neighbours", {"k": "k"}, {"averages": True}
    )
