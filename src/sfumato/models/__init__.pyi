# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.models.anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.base import Conjunction, PrivacyModel, all_of
from sfumato.models.belief_change import BetaLikeness, DeltaDisclosure
from sfumato.models.closeness import TCloseness
from sfumato.models.diversity import (
    ConfidenceBound,
    DistinctDiversity,
    EntropyDiversity,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.models.suppression_order import SafetyOrder

_HOMES: dict[str, str]
__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "ConfidenceBound",
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
