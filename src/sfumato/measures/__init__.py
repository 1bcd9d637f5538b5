"""Measures: one number about one release, on the side of privacy or of utility."""

from sfumato.measures.adversary import (
    AccuracyGain,
    DisclosureQuotient,
    InformationGain,
    KnowledgeGain,
    PrivacyLoss,
)
from sfumato.measures.base import LevelReached, Measure, Measurement, measure, worst_value
from sfumato.measures.contribution import QuasiIdentifierContribution
from sfumato.measures.loss import (
    AverageClassSize,
    Discernibility,
    GeneralLoss,
    Precision,
    SuppressionLoss,
    TotalLoss,
)
from sfumato.measures.reidentification import (
    JournalistRisk,
    MarketerRisk,
    ReidentificationRisk,
    SizeCount,
    WeightedK,
    class_sizes,
)
from sfumato.measures.research import KLDivergence, QueryError, UtilityLoss

__all__ = [
    "AccuracyGain",
    "AverageClassSize",
    "Discernibility",
    "DisclosureQuotient",
    "GeneralLoss",
    "InformationGain",
    "JournalistRisk",
    "KLDivergence",
    "KnowledgeGain",
    "LevelReached",
    "MarketerRisk",
    "Measure",
    "Measurement",
    "Precision",
    "PrivacyLoss",
    "QuasiIdentifierContribution",
    "QueryError",
    "ReidentificationRisk",
    "SizeCount",
    "SuppressionLoss",
    "TotalLoss",
    "UtilityLoss",
    "WeightedK",
    "class_sizes",
    "measure",
    "worst_value",
]
