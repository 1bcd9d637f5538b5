"""The named classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.miners.base import Encoding
from sfumato.miners.estimator_spec import Classifier, EstimatorSpec
from sfumato.registry.declarations import Above, AtLeast, AtMost
from sfumato.registry.methods import register


@register
@dataclass(frozen=True)
class Majority(Classifier):
    """Always the commonest value: what can be said without looking at any attribute (ZeroR).

    Examples
    --------
    >>> Majority().predicts
    'category'
    """

    spec: ClassVar = EstimatorSpec("sklearn.dummy.DummyClassifier", fixed={"strategy": "prior"})


@register
@dataclass(frozen=True)
class OneRule(Classifier):
    """The one attribute that alone tells the target best, numbers in ten bins (OneR).

    References
    ----------
    R. C. Holte, "Very simple classification rules perform well on most commonly used datasets", 1993.

    Examples
    --------
    >>> OneRule().encoding
    'codes'
    """

    encoding: ClassVar[Encoding] = "codes"
    spec: ClassVar = EstimatorSpec("sfumato.miners.simple_estimators.BestRule")


@register
@dataclass(frozen=True)
class NaiveBayes(Classifier):
    """Naive Bayes: the attributes are independent once the target is known; numbers in ten bins.

    Parameters
    ----------
    smoothing
        How many records of each value are added to those seen.

    Examples
    --------
    >>> NaiveBayes().encoding
    'bins'
    """

    smoothing: Annotated[float, Above(0), AtMost(1e9)] = 1.0

    encoding: ClassVar[Encoding] = "bins"
    spec: ClassVar = EstimatorSpec("sklearn.naive_bayes.MultinomialNB", {"alpha": "smoothing"})


@register
@dataclass(frozen=True)
class DependentBayes(Classifier):
    """Bayes with one dependence: every attribute may depend on the target and one other (AODE).

    Parameters
    ----------
    smoothing
        With how many records of the average kind each estimate is mixed.

    References
    ----------
    G. I. Webb, J. R. Boughton, Z. Wang, "Not so naive Bayes: aggregating one-dependence estimators", 2005.

    Examples
    --------
    >>> DependentBayes(smoothing=2).smoothing
    2
    """

    smoothing: Annotated[float, Above(0), AtMost(1e9)] = 1.0

    encoding: ClassVar[Encoding] = "bins"
    spec: ClassVar = EstimatorSpec(
        "sfumato.miners.simple_estimators.OneDependence", {"smoothing": "smoothing"}
    )


@register
@dataclass(frozen=True)
class LogisticRegression(Classifier):
    """Logistic regression with a quadratic penalty.

    Parameters
    ----------
    c
        The inverse strength of the penalty.

    Examples
    --------
    >>> LogisticRegression().c
    1.0
    """

    c: Annotated[float, AtLeast(1e-6), AtMost(1e6)] = 1.0

    spec: ClassVar = EstimatorSpec(
        "sklearn.linear_model.LogisticRegression", {"C": "c"}, {"max_iter": 200}, "MinMaxScaler"
    )


@register
@dataclass(frozen=True)
class LinearSVM(Classifier):
    """A linear support vector machine, one for each value against all others.

    Parameters
    ----------
    c
        The inverse strength of the penalty.

    Examples
    --------
    >>> LinearSVM().predicts
    'category'
    """

    c: Annotated[float, AtLeast(1e-6), AtMost(1e6)] = 1.0

    spec: ClassVar = EstimatorSpec(
        "sklearn.svm.LinearSVC", {"C": "c"}, {"dual": False, "tol": 1e-3}, "MinMaxScaler"
    )


@register
@dataclass(frozen=True)
class NearestNeighbours(Classifier):
    """The commonest value among the nearest records, all columns brought to the same range.

    Parameters
    ----------
    k
        How many records vote.

    Examples
    --------
    >>> NearestNeighbours(k=5).k
    5
    """

    k: Annotated[int, Above(0), AtMost(1_000_000)] = 15

    spec: ClassVar = EstimatorSpec(
        "sfumato.miners.simple_estimators.Neighbours", {"k": "k"}, {"averages": False}
    )


@register
@dataclass(frozen=True)
class NeuralNetwork(Classifier):
    """A neural network with one hidden layer (multilayer perceptron).

    Parameters
    ----------
    hidden
        The number of hidden units.
    epochs
        How often it sees the records.

    Examples
    --------
    >>> NeuralNetwork().hidden
    32
    """

    hidden: Annotated[int, Above(0), AtMost(10_000)] = 32
    epochs: Annotated[int, Above(0), AtMost(10_000)] = 20

    spec: ClassVar = EstimatorSpec(
        "sklearn.neural_network.MLPClassifier",
        {"hidden_layer_sizes": "hidden", "max_iter": "epochs"},
        scaled="MinMaxScaler",
    )
