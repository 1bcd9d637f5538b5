"""Measures: one number about one release, on the side of privacy or of utility."""

from sfumato.measures.adversary import (
    AccuracyGain,
    DisclosureQuotient,
    InformationGain,
    KnowledgeGain,
    PrivacyLoss,
)
from sfumato.measures.auxiliary import AuxiliaryGain
from sfumato.measures.aware.border_gain import BorderGain
from sfumato.measures.aware.de_finetti import DeFinettiGain
from sfumato.measures.aware.downcoding import Downcoding
from sfumato.measures.aware.minimality import MinimalityRisk
from sfumato.measures.base import LevelReached, Measure, Measurement, measure, worst_value
from sfumato.measures.composition import CompositionK, CompositionLoss
from sfumato.measures.contribution import QuasiIdentifierContribution
from sfumato.measures.households import HouseholdRisk
from sfumato.measures.invariance import MInvariance
from sfumato.measures.loss import (
    AverageClassSize,
    Discernibility,
    GeneralLoss,
    Precision,
    SuppressionLoss,
    TotalLoss,
)
from sfumato.measures.population import IndividualRisk, PopulationUniqueness
from sfumato.measures.reidentification import (
    JournalistRisk,
    KMap,
    MarketerRisk,
    ReidentificationRisk,
    SizeCount,
    WeightedK,
    class_sizes,
)
from sfumato.measures.research import KLDivergence, QueryError, UtilityLoss
from sfumato.measures.scenario.anti_utility import AntiUtility
from sfumato.measures.scenario.good_utility import GoodUtility
from sfumato.measures.scenario.nearer_gains import NearerAccuracyGain, NearerKnowledgeGain
from sfumato.measures.traces import TraceRisk
from sfumato.measures.workload import WorkloadUtility

__all__ = [
    "AccuracyGain",
    "AntiUtility",
    "AuxiliaryGain",
    "AverageClassSize",
    "BorderGain",
    "CompositionK",
    "CompositionLoss",
    "DeFinettiGain",
    "Discernibility",
    "DisclosureQuotient",
    "Downcoding",
    "GeneralLoss",
    "GoodUtility",
    "HouseholdRisk",
    "IndividualRisk",
    "InformationGain",
    "JournalistRisk",
    "KLDivergence",
    "KMap",
    "KnowledgeGain",
    "LevelReached",
    "MInvariance",
    "MarketerRisk",
    "Measure",
    "Measurement",
    "MinimalityRisk",
    "NearerAccuracyGain",
    "NearerKnowledgeGain",
    "PopulationUniqueness",
    "Precision",
    "PrivacyLoss",
    "QuasiIdentifierContribution",
    "QueryError",
    "ReidentificationRisk",
    "SizeCount",
    "SuppressionLoss",
    "TotalLoss",
    "TraceRisk",
    "UtilityLoss",
    "WeightedK",
    "WorkloadUtility",
    "class_sizes",
    "measure",
    "worst_value",
]
