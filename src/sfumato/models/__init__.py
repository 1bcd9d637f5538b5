"""Privacy models: each scores the equivalence classes of a release and never searches."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

_HOMES = {
    "AlphaKAnonymity": "models.anonymity",
    "BetaLikeness": "models.belief_change",
    "ConfidenceBound": "models.diversity",
    "Conjunction": "models.base",
    "DeltaDisclosure": "models.belief_change",
    "DistinctDiversity": "models.diversity",
    "EntropyDiversity": "models.diversity",
    "KAnonymity": "models.anonymity",
    "PrivacyModel": "models.base",
    "ProbabilisticDiversity": "models.diversity",
    "RecursiveDiversity": "models.diversity",
    "SafetyOrder": "models.suppression_order",
    "TCloseness": "models.closeness",
    "all_of": "models.base",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
