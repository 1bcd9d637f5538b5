"""Classifiers and regressors that model honest users and adversaries."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

_HOMES = {
    "AdaBoost": "miners.tree_classifiers",
    "DecisionStump": "miners.tree_classifiers",
    "DecisionTree": "miners.tree_classifiers",
    "DependentBayes": "miners.classifiers",
    "ExtraTrees": "miners.tree_classifiers",
    "FoldsDone": "miners.base",
    "GradientBoosting": "miners.tree_classifiers",
    "HuberRegression": "miners.regressors",
    "LinearRegression": "miners.regressors",
    "LinearSVM": "miners.classifiers",
    "LogisticRegression": "miners.classifiers",
    "Majority": "miners.classifiers",
    "MeanNumber": "miners.regressors",
    "Miner": "miners.base",
    "NaiveBayes": "miners.classifiers",
    "NearestNeighbours": "miners.classifiers",
    "NeuralNetwork": "miners.classifiers",
    "OneRule": "miners.classifiers",
    "Predictions": "miners.base",
    "RandomForest": "miners.tree_classifiers",
    "RandomTree": "miners.tree_classifiers",
    "RegressionBoosting": "miners.regressors",
    "RegressionForest": "miners.regressors",
    "RegressionNeighbours": "miners.regressors",
    "RegressionTree": "miners.regressors",
    "RidgeRegression": "miners.regressors",
    "accuracy": "miners.cross_validation",
    "original_view": "miners.cross_validation",
    "predict": "miners.cross_validation",
    "predict_from_all": "miners.cross_validation",
    "true_codes": "miners.labels",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
