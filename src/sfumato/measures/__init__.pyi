# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.data.equivalence_classes import EquivalenceClasses
from sfumato.measures.attacks.attack_risk import AttackRisk
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.attacks.singling_out import SinglingOut
from sfumato.measures.disclosure.adversary import (
    AccuracyGain,
    DisclosureQuotient,
    InformationGain,
    KnowledgeGain,
    PrivacyLoss,
)
from sfumato.measures.disclosure.auxiliary import AuxiliaryGain
from sfumato.measures.disclosure.composition import CompositionK, CompositionLoss
from sfumato.measures.disclosure.dp_guarantee import Epsilon, PrivacyDelta
from sfumato.measures.disclosure.m_invariance import MInvariance
from sfumato.measures.grouped import Grouped, WorstGroupLoss, WorstGroupRisk, measure_by
from sfumato.measures.identity.attribute_contribution import QuasiIdentifierContribution
from sfumato.measures.identity.household_risk import HouseholdRisk
from sfumato.measures.identity.population_risk import IndividualRisk, PopulationUniqueness
from sfumato.measures.identity.reidentification import (
    JournalistRisk,
    KMap,
    MarketerRisk,
    ReidentificationRisk,
    SizeCount,
    WeightedK,
    class_sizes,
)
from sfumato.measures.identity.trace_risk import TraceRisk
from sfumato.measures.informed.border_gain import BorderGain
from sfumato.measures.informed.de_finetti import DeFinettiGain
from sfumato.measures.informed.downcoding import Downcoding
from sfumato.measures.informed.downcoding_gain import DowncodingGain
from sfumato.measures.informed.minimality import MinimalityRisk
from sfumato.measures.scenarios.anti_utility import AntiUtility
from sfumato.measures.scenarios.expressions import Expression
from sfumato.measures.scenarios.good_utility import GoodUtility
from sfumato.measures.scenarios.nearer_gains import NearerAccuracyGain, NearerKnowledgeGain
from sfumato.measures.scenarios.scenario import Adversary, Scenario, User
from sfumato.measures.utility.fidelity.association import CorrelationDifference
from sfumato.measures.utility.fidelity.k_marginal import KMarginal
from sfumato.measures.utility.fidelity.learned import Propensity, TransferLoss
from sfumato.measures.utility.fidelity.regression import RegressionLoss
from sfumato.measures.utility.information_loss import (
    AverageClassSize,
    Discernibility,
    GeneralLoss,
    Precision,
    SuppressionLoss,
    TotalLoss,
)
from sfumato.measures.utility.query_utility import KLDivergence, QueryError, UtilityLoss
from sfumato.measures.utility.workload import WorkloadUtility
from sfumato.results.measurement import LevelReached, Measure, Measurement, measure, worst_value

_HOMES: dict[str, str]
__all__ = [
    "AccuracyGain",
    "Adversary",
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
    "EquivalenceClasses",
    "Expression",
    "GeneralLoss",
    "GoodUtility",
    "Grouped",
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
    "Scenario",
    "SinglingOut",
    "SizeCount",
    "SuppressionLoss",
    "TotalLoss",
    "TraceRisk",
    "TransferLoss",
    "User",
    "UtilityLoss",
    "WeightedK",
    "WorkloadUtility",
    "WorstGroupLoss",
    "WorstGroupRisk",
    "class_sizes",
    "measure",
    "measure_by",
    "worst_value",
]
