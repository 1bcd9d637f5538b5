"""The named classifiers that are trees or made of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, get_args

from sfumato.miners.estimator_spec import Classifier, EstimatorSpec
from sfumato.miners.forest import Features
from sfumato.registry.declarations import Above, AtLeast, AtMost
from sfumato.registry.methods import register
from sfumato.runtime.errors import ParameterError


@register
@dataclass(frozen=True)
class DecisionTree(Classifier):
    """A decision tree in the way of C4.5: grown by entropy, pruned by its pessimistic estimate of errors.

    It differs from Weka's J48: splits have two branches, on a value against all others or on a number;
    the best one has the largest gain in information, not the largest gain ratio; subtrees are replaced
    by leaves but not raised; missing values are a value of their own. As there, a split must gain more
    than the choice of its place among many is worth, so that noise does not make branches.

    Parameters
    ----------
    confidence
        The confidence of the estimate; lower prunes more.
    smallest
        The fewest records of a leaf.

    References
    ----------
    J. R. Quinlan, "C4.5: programs for machine learning", 1993; "Improved use of continuous attributes in
    C4.5", 1996.

    Examples
    --------
    >>> DecisionTree().confidence
    0.25
    """

    confidence: Annotated[float, AtLeast(1e-9), AtMost(0.5)] = 0.25
    smallest: Annotated[int, Above(0), AtMost(1_000_000_000)] = 2

    spec: ClassVar = EstimatorSpec(
        "sfumato.miners.c45_tree.PrunedTree", {"confidence": "confidence", "smallest": "smallest"}
    )


@register
@dataclass(frozen=True)
class DecisionStump(Classifier):
    """A decision tree with a single split.

    Examples
    --------
    >>> DecisionStump().predicts
    'category'
    """

    spec: ClassVar = EstimatorSpec(
        "sklearn.tree.DecisionTreeClassifier", fixed={"criterion": "entropy", "max_depth": 1}
    )


@register
@dataclass(frozen=True)
class RandomTree(Classifier):
    """A decision tree that looks at a few random columns for each split and is not pruned.

    Examples
    --------
    >>> RandomTree().predicts
    'category'
    """

    spec: ClassVar = EstimatorSpec(
        "sklearn.tree.DecisionTreeClassifier", fixed={"criterion": "entropy", "max_features": "log2"}
    )


@register
@dataclass(frozen=True)
class RandomForest(Classifier):
    """Many random trees, each grown on records that are drawn at random; they vote.

    Weka's forest of the years of the papers is ``random-forest trees=10 smallest-leaf=1 features=log2``.

    Parameters
    ----------
    trees
        How many trees.
    smallest_leaf
        The fewest records of a leaf; 1 is no limit.
    features
        How many of the M columns, drawn at random, are looked at for each split: the ``root`` of M, or
        ``log2`` of M and one more.

    References
    ----------
    L. Breiman, "Random forests", 2001.

    Examples
    --------
    >>> RandomForest(trees=10).smallest_leaf
    2
    """

    trees: Annotated[int, Above(0), AtMost(10_000)] = 50
    smallest_leaf: Annotated[int, Above(0), AtMost(1_000_000_000)] = 2
    features: Features = "root"

    spec: ClassVar = EstimatorSpec(
        "sfumato.miners.forest.Forest",
        {"trees": "trees", "smallest_leaf": "smallest_leaf", "features": "features"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features not in get_args(Features):
            raise ParameterError(f"features cannot be {self.features!r}; allowed are root, log2")


@register
@dataclass(frozen=True)
class ExtraTrees(Classifier):
    """Many trees with random splits; they vote.

    Parameters
    ----------
    trees
        How many trees.

    References
    ----------
    P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", 2006.

    Examples
    --------
    >>> ExtraTrees().trees
    50
    """

    trees: Annotated[int, Above(0), AtMost(10_000)] = 50

    spec: ClassVar = EstimatorSpec(
        "sklearn.ensemble.ExtraTreesClassifier", {"n_estimators": "trees"}, {"min_samples_leaf": 2}
    )


@register
@dataclass(frozen=True)
class GradientBoosting(Classifier):
    """Small trees, each correcting the errors of those before.

    Parameters
    ----------
    rounds
        How many trees for each value.

    References
    ----------
    J. H. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> GradientBoosting().rounds
    50
    """

    rounds: Annotated[int, Above(0), AtMost(10_000)] = 50

    spec: ClassVar = EstimatorSpec(
        "sklearn.ensemble.HistGradientBoostingClassifier", {"max_iter": "rounds"}, {"early_stopping": False}
    )


@register
@dataclass(frozen=True)
class AdaBoost(Classifier):
    """Small trees, each trained mostly on the records that those before got wrong; they vote.

    Parameters
    ----------
    rounds
        How many trees.

    References
    ----------
    Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning", 1997.

    Examples
    --------
    >>> AdaBoost().rounds
    30
    """

    rounds: Annotated[int, Above(0), AtMost(10_000)] = 30

    spec: ClassVar = EstimatorSpec(
        "sklearn.ensemble.AdaBoostClassifier",
        {"n_estimators": "rounds"},
        {"estimator": EstimatorSpec("sklearn.tree.DecisionTreeClassifier", fixed={"max_depth": 3})},
    )
