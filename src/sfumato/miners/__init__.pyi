# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.miners.base import FoldsDone, Miner, Predictions
from sfumato.miners.classifiers import (
    DependentBayes,
    LinearSVM,
    LogisticRegression,
    Majority,
    NaiveBayes,
    NearestNeighbours,
    NeuralNetwork,
    OneRule,
)
from sfumato.miners.cross_validation import accuracy, original_view, predict, predict_from_all
from sfumato.miners.labels import true_codes
from sfumato.miners.regressors import (
    HuberRegression,
    LinearRegression,
    MeanNumber,
    RegressionBoosting,
    RegressionForest,
    RegressionNeighbours,
    RegressionTree,
    RidgeRegression,
)
from sfumato.miners.tree_classifiers import (
    AdaBoost,
    DecisionStump,
    DecisionTree,
    ExtraTrees,
    GradientBoosting,
    RandomForest,
    RandomTree,
)

_HOMES: dict[str, str]
__all__ = [
    "AdaBoost",
    "DecisionStump",
    "DecisionTree",
    "DependentBayes",
    "ExtraTrees",
    "FoldsDone",
    "GradientBoosting",
    "HuberRegression",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "Majority",
    "MeanNumber",
    "Miner",
    "NaiveBayes",
    "NearestNeighbours",
    "NeuralNetwork",
    "OneRule",
    "Predictions",
    "RandomForest",
    "RandomTree",
    "RegressionBoosting",
    "RegressionForest",
    "RegressionNeighbours",
    "RegressionTree",
    "RidgeRegression",
    "accuracy",
    "original_view",
    "predict",
    "predict_from_all",
    "true_codes",
]
