# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.sanitizers.base import Sanitizer, sanitize
from sfumato.sanitizers.bucketize.bucketization import Anatomy, Bucketize
from sfumato.sanitizers.generalize.cell_suppression import CellSuppression
from sfumato.sanitizers.generalize.cut import Cut
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.sanitizers.generalize.k_member import Clustering
from sfumato.sanitizers.generalize.local_recoding import LocalRecoding
from sfumato.sanitizers.generalize.mondrian import Mondrian
from sfumato.sanitizers.perturb.date_shift import DateShift
from sfumato.sanitizers.perturb.microaggregation import Microaggregation
from sfumato.sanitizers.perturb.noise import Laplace
from sfumato.sanitizers.perturb.pram import PRAM
from sfumato.sanitizers.perturb.rank_swapping import RankSwapping
from sfumato.sanitizers.perturb.sampling import Sampling
from sfumato.sanitizers.perturb.top_coding import TopCoding
from sfumato.sanitizers.synthesize.aim import AIM
from sfumato.sanitizers.synthesize.cart_synthesis import CartSynthesis
from sfumato.sanitizers.synthesize.mst import MST
from sfumato.sanitizers.trivial import AsIs, SuppressQuasiIdentifiers, SuppressSensitive

_HOMES: dict[str, str]
__all__ = [
    "AIM",
    "MST",
    "PRAM",
    "Anatomy",
    "AsIs",
    "Bucketize",
    "CartSynthesis",
    "CellSuppression",
    "Clustering",
    "Cut",
    "DateShift",
    "FullDomain",
    "Laplace",
    "LocalRecoding",
    "Microaggregation",
    "Mondrian",
    "RankSwapping",
    "Sampling",
    "Sanitizer",
    "SuppressQuasiIdentifiers",
    "SuppressSensitive",
    "TopCoding",
    "sanitize",
]
