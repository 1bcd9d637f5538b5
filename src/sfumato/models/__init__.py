"""Privacy models: each gives one score for each class, and never searches."""

from sfumato.models.anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.base import Conjunction, PrivacyModel, all_of
from sfumato.models.belief_change import BetaLikeness, DeltaDisclosure
from sfumato.models.closeness import TCloseness
from sfumato.models.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.models.suppression_order import SafetyOrder

__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "Conjunction",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "PrivacyModel",
    "ProbabilisticDiversity",
    "RecursiveDiversity",
    "SafetyOrder",
    "TCloseness",
    "all_of",
]
