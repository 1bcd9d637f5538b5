"""Make and measure the releases of a public table that three of the studies share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sfumato as sf
from questions.tables import Studied

SEEDS = (0, 1, 2)
"""The seeds of the folds in which a researcher's classifier is judged."""
DISTANCES = ("js", "equal", "natural", "kl", "hellinger")
K, L, T, DELTA = (5, 20, 100, 400), (1.5, 2.0, 2.5, 3.0), (0.02, 0.05, 0.1, 0.2), (0.5, 1.0, 1.5, 2.0)
_JS = {"distance": "js"}
TRIED: tuple[dict[str, Any], ...] = (
    {"sanitizer": "as-is"},
    {"sanitizer": "suppress-quasi-identifiers"},
    {"sanitizer": "suppress-sensitive"},
    {"sanitizer": "mondrian", "model": {"k-anonymity": {"k": list(K)}}},
    {"sanitizer": "mondrian", "model": {"probabilistic-diversity": {"l": list(L)}}},
    {"sanitizer": "mondrian", "model": {"t-closeness": {"t": list(T), **_JS}}},
    {"sanitizer": "mondrian", "model": {"delta-disclosure": {"delta": list(DELTA)}}},
    {"sanitizer": "bucketize", "model": {"probabilistic-diversity": {"l": list(L)}}},
    {"sanitizer": "bucketize", "model": {"t-closeness": {"t": list(T), **_JS}}},
    {"sanitizer": "local-recoding", "effort": 1, "model": {"k-anonymity": {"k": [5, 20]}}},
    {
        "sanitizer": "local-recoding",
        "effort": 1,
        "model": {"k-anonymity": {"k": 5}, "t-closeness": {"t": [0.05, 0.1], **_JS}},
    },
)
"""The trivial releases, and three ways to protect the table under k, l, t and delta."""


def workload(target: str, seed: int) -> sf.measures.WorkloadUtility:
    """Return the gain of a researcher who wants to predict one attribute."""
    return sf.measures.WorkloadUtility(target, ("decision-tree",), folds=3, seed=seed)


def distances() -> list[sf.measures.PrivacyLoss]:
    """Return privacy loss by every distance that needs no tree."""
    return [sf.measures.PrivacyLoss(distance=each) for each in DISTANCES]


def explored(studied: Studied, cache: Path, *, is_control: bool = False) -> sf.Frontier:
    """Make and measure all releases of a table, or what is left of it.

    A control is measured with one seed.
    """
    seeds = SEEDS[:1] if is_control else SEEDS
    measures = [
        *distances(),
        "disclosure-quotient",
        "accuracy-gain",
        "utility-loss",
        sf.measures.QueryError(queries=300, seed=1),
        *(workload(target, seed) for target in studied.targets for seed in seeds),
    ]
    store = cache / "stores" / f"{studied.name}{'-control' if is_control else ''}.sqlite"
    store.parent.mkdir(parents=True, exist_ok=True)
    table = studied.table(cache, is_control=is_control)
    return sf.explore(table, studied.schema, TRIED, measures, store=store, seed=1, policy="none")
