"""Privacy models: each gives one score for each class, and never searches."""

from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import Conjunction, PrivacyModel, all_of
from sfumato.models.closeness import TCloseness
from sfumato.models.diversity import ProbabilisticDiversity

__all__ = ["Conjunction", "KAnonymity", "PrivacyModel", "ProbabilisticDiversity", "TCloseness", "all_of"]
