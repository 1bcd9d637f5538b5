"""Sanitizers: the anonymization methods, each of which turns a bound table into a release."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

_HOMES = {
    "AIM": "sanitizers.synthesize.aim",
    "Anatomy": "sanitizers.bucketize.bucketization",
    "AsIs": "sanitizers.trivial",
    "Bucketize": "sanitizers.bucketize.bucketization",
    "CartSynthesis": "sanitizers.synthesize.cart_synthesis",
    "CellSuppression": "sanitizers.generalize.cell_suppression",
    "Clustering": "sanitizers.generalize.k_member",
    "Cut": "sanitizers.generalize.cut",
    "DateShift": "sanitizers.perturb.date_shift",
    "FullDomain": "sanitizers.generalize.full_domain",
    "Laplace": "sanitizers.perturb.noise",
    "LocalRecoding": "sanitizers.generalize.local_recoding",
    "MST": "sanitizers.synthesize.mst",
    "Microaggregation": "sanitizers.perturb.microaggregation",
    "Mondrian": "sanitizers.generalize.mondrian",
    "PRAM": "sanitizers.perturb.pram",
    "RankSwapping": "sanitizers.perturb.rank_swapping",
    "Sampling": "sanitizers.perturb.sampling",
    "Sanitizer": "sanitizers.base",
    "SuppressQuasiIdentifiers": "sanitizers.trivial",
    "SuppressSensitive": "sanitizers.trivial",
    "TopCoding": "sanitizers.perturb.top_coding",
    "sanitize": "sanitizers.base",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
