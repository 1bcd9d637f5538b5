"""The level to which a publication keeps each privacy model, computed from all its groups.

A level is the least safe score over all groups and sensitive attributes. The scores follow the formulas of
docs/definitions.md and share no code with `sfumato.models`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.verification.published_view import Floats, PublicView, SensitiveValues

# Equal distributions that are computed in two ways may differ in the last digits.
_ROUNDING = 1e-12
# How many cells of groups and values are compared at a time: this bounds memory.
_CELLS = 1 << 20
_WORST = {"lower": np.max, "higher": np.min}


@dataclass(frozen=True)
class KnownModel:
    """The facts about a privacy model.

    Parameters
    ----------
    limit
        The parameter that holds the limit.
    better
        Whether higher or lower levels are safer.
    parameters
        All parameters that it takes.
    level
        The function that computes the level.
    strict
        Whether a level exactly at the limit fails.
    by_prior
        Whether the level depends on the distribution in the whole table.
    """

    limit: str
    better: Literal["lower", "higher"]
    parameters: frozenset[str]
    level: Callable[[PublicView, Mapping[str, Any]], float]
    strict: bool = False
    by_prior: bool = False

    def keeps(self, level: float, limit: float) -> bool:
        """Return whether a level keeps a limit; values equal up to rounding count as a tie."""
        spare = level - limit if self.better == "higher" else limit - level
        tie = _ROUNDING * max(1.0, abs(limit)) if math.isfinite(limit) else 0.0
        return spare > tie if self.strict else spare >= -tie


def smallest_class(view: PublicView, _: Mapping[str, Any]) -> float:
    """k-anonymity: the size of the smallest class."""
    return float(view.sizes.min())


def _probabilistic(attribute: SensitiveValues, _: Mapping[str, Any]) -> Floats:
    return attribute.sizes / attribute.largest(attribute.counts)


def _largest_confidence(attribute: SensitiveValues, given: Mapping[str, Any]) -> Floats:
    counted = np.where(attribute.priors > given.get("common", 0.9), 0.0, attribute.shares)
    return np.where(attribute.n_different == 1, 1.0, attribute.largest(counted))


def entropies(attribute: SensitiveValues) -> Floats:
    """Return -Σ_s p(E, s) log p(E, s) of each group."""
    shares = attribute.shares
    return np.maximum(-attribute.total(shares * np.log(shares)), 0.0)


def _recursive(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    start = parameters["l"]
    if type(start) is not int or start < 1:
        raise ValueError("a group has no value before its first")
    if start == 1:
        return np.zeros(len(attribute.sizes))
    frequent_first = attribute.counts[np.lexsort((-attribute.counts, attribute.group_of))]
    rank = np.arange(len(frequent_first)) - attribute.starts[attribute.group_of]
    rare = attribute.total(np.where(rank >= start - 1, frequent_first, 0))
    commonest = attribute.largest(attribute.counts)
    return np.where(rare > 0, commonest / np.maximum(rare, 1), math.inf)


def _alpha(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    alpha, alphas = parameters.get("alpha", 1.0), parameters["alphas"]
    if not all(0 < limit <= 1 for limit in alphas.values()):
        raise ValueError("an alpha that is no share")
    # a missing value is named by an empty text
    factors = [alpha / alphas[value or ""] if (value or "") in alphas else 1.0 for value in attribute.values]
    return attribute.largest(attribute.shares * np.array(factors)[attribute.value_of])


def _safety_order(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    sizes, wanted = attribute.sizes, parameters["d2"]
    by_name = {
        "distinct": attribute.n_different,
        "probabilistic": sizes // attribute.largest(attribute.counts),
    }
    diversity = by_name[parameters["diversity"]]
    orders = {
        "l": np.where(diversity < wanted, sizes - 0.5, sizes),
        "k": np.where(diversity < wanted, 0.0, np.where(diversity > wanted, math.inf, sizes)),
    }
    return orders[parameters["prefer"]]


def _beta(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    gains = attribute.shares / attribute.priors - 1
    if {"basic": False, "enhanced": True}[parameters["variant"]]:
        gains = np.where(gains > -np.log(attribute.priors) + _ROUNDING, math.inf, gains)
    return attribute.largest(np.where(gains > _ROUNDING, gains, 0.0))


def _delta(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    if parameters["base"] < 1:
        raise ValueError("logarithms that fall")
    quotients = largest_quotients(attribute) / math.log(parameters["base"])
    if {"ignored": False, "violates": True}[parameters["absent"]]:
        return np.where(attribute.n_different < len(attribute.values), math.inf, quotients)
    return quotients


def largest_quotients(attribute: SensitiveValues) -> Floats:
    """Return the largest |log(p(E, s) / p(T, s))| over the values that occur in each group."""
    largest = attribute.largest(np.abs(np.log(attribute.shares / attribute.priors)))
    return np.where(largest > _ROUNDING, largest, 0.0)


def _absent(attribute: SensitiveValues) -> Floats:
    """Return the share among all records of the values that do not occur in a group."""
    return 1 - attribute.total(attribute.priors)


def total_variations(attribute: SensitiveValues) -> Floats:
    """Return ½ Σ_s |p(E, s) - p(T, s)| of each group."""
    distances = (attribute.total(np.abs(attribute.shares - attribute.priors)) + _absent(attribute)) / 2
    return np.where(distances > _ROUNDING, distances, 0.0)


def jensen_shannon(attribute: SensitiveValues) -> Floats:
    """Return ½ KL(p(E, ·), M) + ½ KL(p(T, ·), M) of each group, M the mean of both distributions."""
    shares, priors = attribute.shares, attribute.priors
    middle = (shares + priors) / 2
    of_values = shares * np.log(shares / middle) + priors * np.log(priors / middle)
    # M of a value that does not occur is half of the prior
    return np.maximum(attribute.total(of_values) + _absent(attribute) * math.log(2), 0.0) / 2


def relative_entropies(attribute: SensitiveValues) -> Floats:
    """Return KL(p(E, ·), p(T, ·)) of each group."""
    shares = attribute.shares
    return np.maximum(attribute.total(shares * np.log(shares / attribute.priors)), 0.0)


def _hellinger(attribute: SensitiveValues) -> Floats:
    """Return √(½ Σ_s (√p(E, s) - √p(T, s))²) of each group."""
    shares, priors = attribute.shares, attribute.priors
    # a difference of roots is that of the squares over their sum
    roots = (shares - priors) / (np.sqrt(shares) + np.sqrt(priors))
    absent = np.where(_absent(attribute) > _ROUNDING, _absent(attribute), 0.0)
    return np.sqrt((attribute.total(roots**2) + absent) / 2)


def _ordered(attribute: SensitiveValues) -> Floats:
    """Return the earth mover's distance of values in a row: Σ |cumulated difference| / (m - 1)."""
    values = attribute.ordered
    n_groups, n_values = len(attribute.sizes), len(values)
    if n_values < 2:
        return np.zeros(n_groups)
    place = {value: rank for rank, value in enumerate(values)}
    rank_of = np.array([place[value] for value in attribute.values])
    prior = np.zeros(n_values)
    prior[rank_of] = attribute.prior
    moved = []
    step = max(_CELLS // n_values, 1)
    for first in range(0, n_groups, step):
        some = slice(*np.searchsorted(attribute.group_of, [first, first + step]))
        difference = np.tile(-prior, (min(step, n_groups - first), 1))
        difference[attribute.group_of[some] - first, rank_of[attribute.value_of[some]]] += attribute.shares[
            some
        ]
        moved.append(np.abs(np.cumsum(difference, axis=1)).sum(axis=1))
    return np.concatenate(moved) / (n_values - 1)


def _hierarchical(attribute: SensitiveValues) -> Floats:
    """Return the earth mover's distance in a tree: the mean over its levels of the nodes' total variation."""
    groups = np.arange(len(attribute.sizes))
    distances = []
    for above in attribute.levels:
        nodes = tuple(dict.fromkeys(above[value] for value in attribute.values))
        node_of = np.array([nodes.index(above[value]) for value in attribute.values])
        distances.append(total_variations(attribute.counted_by(groups, node_of, nodes)))
    return np.mean(distances, axis=0)


def _natural(attribute: SensitiveValues) -> Floats:
    """Return the distance along the order of numbers or of a further kind; of categories total variation."""
    kind, is_listed = attribute.facts.kind, attribute.facts.hierarchy is not None
    is_ordered = kind == "numeric" or (kind not in (None, "categorical") and is_listed)
    return _ordered(attribute) if is_ordered else total_variations(attribute)


def _closeness(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Floats:
    return DISTANCES[parameters["distance"]](attribute)


DISTANCES: dict[str, Callable[[SensitiveValues], Floats]] = {
    "equal": total_variations,
    "js": jensen_shannon,
    "kl": relative_entropies,
    "hellinger": _hellinger,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
    "natural": _natural,
}


def _model(
    limit: str,
    better: Literal["lower", "higher"],
    scores: Callable[[SensitiveValues, Mapping[str, Any]], Any],
    *others: str,
    **facts: bool,
) -> KnownModel:
    """Return a model whose level is its least safe score over all groups and sensitive attributes."""
    worst = _WORST[better]

    def level(view: PublicView, parameters: Mapping[str, Any]) -> float:
        return float(worst([worst(scores(attribute, parameters)) for attribute in view.sensitive]))

    return KnownModel(limit, better, frozenset({limit, *others}), level, **facts)


MODELS: dict[str, KnownModel] = {
    "k-anonymity": KnownModel("k", "higher", frozenset({"k"}), smallest_class),
    "alpha-k-anonymity": _model("alpha", "lower", _alpha, "k", "alphas"),
    "distinct-diversity": _model("l", "higher", lambda attribute, _: attribute.n_different),
    "probabilistic-diversity": _model("l", "higher", _probabilistic),
    "entropy-diversity": _model("l", "higher", lambda attribute, _: np.exp(entropies(attribute))),
    "recursive-diversity": _model("c", "lower", _recursive, "l", strict=True),
    "safety-order": _model("d1", "higher", _safety_order, "d2", "prefer", "diversity"),
    "confidence-bound": _model("share", "lower", _largest_confidence, "common", by_prior=True),
    "t-closeness": _model("t", "lower", _closeness, "distance", by_prior=True),
    "beta-likeness": _model("beta", "lower", _beta, "variant", by_prior=True),
    "delta-disclosure": _model("delta", "lower", _delta, "base", "absent", strict=True, by_prior=True),
}
