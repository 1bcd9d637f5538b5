"""Measures: one number about one release, on the side of privacy or of utility."""

from sfumato.measures.adversary import AccuracyGain, KnowledgeGain, PrivacyLoss
from sfumato.measures.base import LevelReached, Measure, Measurement, measure, worst_value
from sfumato.measures.loss import Discernibility, GeneralLoss, SuppressionLoss, TotalLoss
from sfumato.measures.reidentification import ReidentificationRisk, WeightedK

__all__ = [
    "AccuracyGain",
    "Discernibility",
    "GeneralLoss",
    "KnowledgeGain",
    "LevelReached",
    "Measure",
    "Measurement",
    "PrivacyLoss",
    "ReidentificationRisk",
    "SuppressionLoss",
    "TotalLoss",
    "WeightedK",
    "measure",
    "worst_value",
]
