"""Measures: one number about one release, on the side of privacy or of utility."""

from sfumato.measures.adversary import (
    AccuracyGain,
    DisclosureQuotient,
    InformationGain,
    KnowledgeGain,
    PrivacyLoss,
)
from sfumato.measures.attacks.attack_risk import AttackRisk
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.attacks.singling_out import SinglingOut
from sfumato.measures.auxiliary import AuxiliaryGain
from sfumato.measures.aware.border_gain import BorderGain
from sfumato.measures.aware.de_finetti import DeFinettiGain
from sfumato.measures.aware.downcoding import Downcoding
from sfumato.measures.aware.downcoding_gain import DowncodingGain
from sfumato.measures.aware.minimality import MinimalityRisk
from sfumato.measures.base import LevelReached, Measure, Measurement, measure, worst_value
from sfumato.measures.composition import CompositionK, CompositionLoss
from sfumato.measures.contribution import QuasiIdentifierContribution
from sfumato.measures.fidelity.association import CorrelationDifference
from sfumato.measures.fidelity.k_marginal import KMarginal
from sfumato.measures.fidelity.learned import Propensity, TransferLoss
from sfumato.measures.fidelity.regression import RegressionLoss
from sfumato.measures.guarantees import Epsilon, PrivacyDelta
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
from sfumato.measures.worst_group import WorstGroupLoss, WorstGroupRisk

__all__ = [
    "AccuracyGain",
    "AntiUtility",
    "AttackRisk",
    "AuxiliaryGain",
    "AverageClassSize",
    "BorderGain",
    "CompositionK",
    "CompositionLoss",
    "CorrelationDifference",
    "DeFinettiGain",
    "Discernibility",
    "DisclosureQuotient",
    "Downcoding",
    "DowncodingGain",
    "Epsilon",
    "GeneralLoss",
    "GoodUtility",
    "HouseholdRisk",
    "IndividualRisk",
    "Inference",
    "InformationGain",
    "JournalistRisk",
    "KLDivergence",
    "KMap",
    "KMarginal",
    "KnowledgeGain",
    "LevelReached",
    "Linkability",
    "MInvariance",
    "MarketerRisk",
    "Measure",
    "Measurement",
    "Membership",
    "MinimalityRisk",
    "NearerAccuracyGain",
    "NearerKnowledgeGain",
    "PopulationUniqueness",
    "Precision",
    "PrivacyDelta",
    "PrivacyLoss",
    "Propensity",
    "QuasiIdentifierContribution",
    "QueryError",
    "RegressionLoss",
    "ReidentificationRisk",
    "SinglingOut",
    "SizeCount",
    "SuppressionLoss",
    "TotalLoss",
    "TraceRisk",
    "TransferLoss",
    "UtilityLoss",
    "WeightedK",
    "WorkloadUtility",
    "WorstGroupLoss",
    "WorstGroupRisk",
    "class_sizes",
    "measure",
    "worst_value",
]
