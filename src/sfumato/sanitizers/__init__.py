"""Sanitizers: each turns a bound table into a release."""

from sfumato.sanitizers.aim import AIM
from sfumato.sanitizers.base import Sanitizer, sanitize
from sfumato.sanitizers.bucketization import Anatomy, Bucketize
from sfumato.sanitizers.cart_synthesis import CartSynthesis
from sfumato.sanitizers.cell_suppression import CellSuppression
from sfumato.sanitizers.clustering import Clustering
from sfumato.sanitizers.cut import Cut
from sfumato.sanitizers.date_shift import DateShift
from sfumato.sanitizers.full_domain import FullDomain
from sfumato.sanitizers.local_recoding import LocalRecoding
from sfumato.sanitizers.microaggregation import Microaggregation
from sfumato.sanitizers.mondrian import Mondrian
from sfumato.sanitizers.mst import MST
from sfumato.sanitizers.noise import Laplace
from sfumato.sanitizers.pram import PRAM
from sfumato.sanitizers.rank_swapping import RankSwapping
from sfumato.sanitizers.sampling import Sampling
from sfumato.sanitizers.top_coding import TopCoding
from sfumato.sanitizers.trivial import AsIs, SuppressQuasiIdentifiers, SuppressSensitive

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
