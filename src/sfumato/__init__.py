"""sfumato: find, compare, choose and publish a privacy-preserving release of a table about people."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# The public names and the module that each lives in. They are imported when they are first used, so
# that `import sfumato` (and with it the command line) costs next to nothing.
_HOME = {
    "AccuracyGain": "measures",
    "AdaBoost": "miners",
    "Adversary": "measures.scenario.scenario",
    "AlphaKAnonymity": "models",
    "Anatomy": "sanitizers",
    "Answer": "choosing.answer",
    "AntiUtility": "measures",
    "AsIs": "sanitizers",
    "Attribute": "schema",
    "AuxiliaryGain": "measures",
    "AverageClassSize": "measures",
    "BetaLikeness": "models",
    "Bucketize": "sanitizers",
    "Candidate": "frontier",
    "CellSuppression": "sanitizers",
    "Check": "publishing.verify",
    "Clustering": "sanitizers",
    "Comparison": "choosing.comparison",
    "Cut": "sanitizers",
    "Dates": "hierarchy",
    "Decision": "decision",
    "DecisionStump": "miners",
    "DecisionTree": "miners",
    "DeltaDisclosure": "models",
    "DependentBayes": "miners",
    "Discernibility": "measures",
    "DisclosureQuotient": "measures",
    "DistinctDiversity": "models",
    "EntropyDiversity": "models",
    "EquivalenceClasses": "classes",
    "Evidence": "publishing.publish",
    "Evolution": "search",
    "Expression": "measures.scenario.expressions",
    "ExtraTrees": "miners",
    "Frontier": "frontier",
    "FullDomain": "sanitizers",
    "GeneralLoss": "measures",
    "GoodUtility": "measures",
    "GradientBoosting": "miners",
    "Hierarchy": "hierarchy",
    "HuberRegression": "miners",
    "InformationGain": "measures",
    "Inspection": "exploring.inspection",
    "Intervals": "hierarchy",
    "JournalistRisk": "measures",
    "KAnonymity": "models",
    "KLDivergence": "measures",
    "KnowledgeGain": "measures",
    "Laplace": "sanitizers",
    "Lattice": "search",
    "LatticeFront": "search",
    "Limit": "frontier",
    "LinearRegression": "miners",
    "LinearSVM": "miners",
    "LocalRecoding": "sanitizers",
    "LogisticRegression": "miners",
    "Majority": "miners",
    "MarketerRisk": "measures",
    "MeanNumber": "miners",
    "Measure": "measures",
    "Measurement": "measures",
    "Mondrian": "sanitizers",
    "NaiveBayes": "miners",
    "NearerAccuracyGain": "measures",
    "NearerKnowledgeGain": "measures",
    "NearestNeighbours": "miners",
    "NeuralNetwork": "miners",
    "OneRule": "miners",
    "Picture": "report.picture",
    "Precision": "measures",
    "Prefixes": "hierarchy",
    "PrivacyLoss": "measures",
    "PrivacyModel": "models",
    "ProbabilisticDiversity": "models",
    "Project": "project.file",
    "Publication": "project.file",
    "QuasiIdentifierContribution": "measures",
    "QueryError": "measures",
    "RandomForest": "miners",
    "RandomTree": "miners",
    "Recipe": "recipe",
    "RecursiveDiversity": "models",
    "RegressionBoosting": "miners",
    "RegressionForest": "miners",
    "RegressionNeighbours": "miners",
    "RegressionTree": "miners",
    "ReidentificationRisk": "measures",
    "Release": "release",
    "RidgeRegression": "miners",
    "SafetyOrder": "models",
    "Scenario": "measures.scenario.scenario",
    "Schema": "schema",
    "Store": "store",
    "SuppressQuasiIdentifiers": "sanitizers",
    "SuppressSensitive": "sanitizers",
    "SuppressionLoss": "measures",
    "Sweep": "search",
    "TCloseness": "models",
    "Table": "table",
    "TotalLoss": "measures",
    "User": "measures.scenario.scenario",
    "UtilityLoss": "measures",
    "Verification": "publishing.verify",
    "WeightedK": "measures",
    "WorkloadUtility": "measures",
    "ask": "choosing.answer",
    "compare": "choosing.comparison",
    "explore": "exploring.library",
    "inspect": "exploring.inspection",
    "measure": "measures",
    "publish": "publishing.publish",
    "read": "reading.read",
    "read_release": "external",
    "register": "registry",
    "sanitize": "sanitizers",
    "verify": "publishing.verify",
}
_ROOMS = frozenset({"datasets", "errors"})

__all__ = sorted([*_HOME, *_ROOMS, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"sfumato.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    return getattr(import_module(f"sfumato.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
