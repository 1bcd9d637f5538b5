"""The named classifiers. Scikit-learn is imported when an estimator is made, not before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.miners.base import Encoding, Predicts
from sfumato.registry import register


def check_positive(name: str, number: float) -> None:
    """Raise `ParameterError` when a parameter is not above 0."""
    if not number > 0:
        raise ParameterError(f"{name} must be above 0, not {number:g}")


@register
@dataclass(frozen=True)
class Majority:
    """Always the commonest value: what can be said without looking at any attribute (ZeroR).

    Examples
    --------
    >>> Majority().predicts
    'category'
    """

    predicts: ClassVar[Predicts] = "category"

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="prior")


@register
@dataclass(frozen=True)
class OneRule:
    """The one attribute that alone tells the target best, numbers in ten bins (OneR).

    References
    ----------
    R. C. Holte, "Very simple classification rules perform well on most commonly used datasets", 1993.

    Examples
    --------
    >>> OneRule().encoding
    'codes'
    """

    predicts: ClassVar[Predicts] = "category"
    encoding: ClassVar[Encoding] = "codes"

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sfumato.miners.simple import BestRule

        return BestRule()


@register
@dataclass(frozen=True)
class NaiveBayes:
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

    smoothing: float = 1.0

    predicts: ClassVar[Predicts] = "category"
    encoding: ClassVar[Encoding] = "bins"

    def __post_init__(self) -> None:
        check_positive("smoothing", self.smoothing)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.naive_bayes import MultinomialNB

        return MultinomialNB(alpha=self.smoothing)


@register
@dataclass(frozen=True)
class DependentBayes:
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

    smoothing: float = 1.0

    predicts: ClassVar[Predicts] = "category"
    encoding: ClassVar[Encoding] = "bins"

    def __post_init__(self) -> None:
        check_positive("smoothing", self.smoothing)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sfumato.miners import simple

        return simple.DependentBayes(self.smoothing)


@register
@dataclass(frozen=True)
class LogisticRegression:
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

    c: float = 1.0

    predicts: ClassVar[Predicts] = "category"

    def __post_init__(self) -> None:
        check_positive("c", self.c)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.linear_model import LogisticRegression as Logistic
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler

        return make_pipeline(MinMaxScaler(), Logistic(C=self.c, max_iter=200, random_state=seed))


@register
@dataclass(frozen=True)
class LinearSVM:
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

    c: float = 1.0

    predicts: ClassVar[Predicts] = "category"

    def __post_init__(self) -> None:
        check_positive("c", self.c)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler
        from sklearn.svm import LinearSVC

        return make_pipeline(MinMaxScaler(), LinearSVC(C=self.c, dual=False, tol=1e-3, random_state=seed))


@register
@dataclass(frozen=True)
class NearestNeighbours:
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

    k: int = 15

    predicts: ClassVar[Predicts] = "category"

    def __post_init__(self) -> None:
        check_positive("k", self.k)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sfumato.miners.simple import Neighbours

        return Neighbours(self.k, averages=False)


@register
@dataclass(frozen=True)
class NeuralNetwork:
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

    hidden: int = 32
    epochs: int = 20

    predicts: ClassVar[Predicts] = "category"

    def __post_init__(self) -> None:
        check_positive("hidden", self.hidden)
        check_positive("epochs", self.epochs)

    def estimator(self, seed: int) -> Any:
        """Return the estimator."""
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler

        network = MLPClassifier((self.hidden,), max_iter=self.epochs, random_state=seed)
        return make_pipeline(MinMaxScaler(), network)
