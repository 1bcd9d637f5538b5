"""Levels: how far a publication keeps each privacy model, value by value as the definitions write them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.verifying.records import PublicView, SensitiveValues, Value

# Equal distributions that are computed in two ways may differ in the last digits.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class KnownModel:
    """What is known of a privacy model.

    Parameters
    ----------
    limit
        The parameter that holds the limit.
    better
        Whether higher or lower levels are safer.
    parameters
        All parameters that it takes.
    level
        Computes the level that is reached.
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
        """Return whether a level keeps a limit; one that is off in its last digits is a tie."""
        spare = level - limit if self.better == "higher" else limit - level
        tie = _ROUNDING * max(1.0, abs(limit)) if math.isfinite(limit) else 0.0
        return spare > tie if self.strict else spare >= -tie


def smallest_class(seen: PublicView, _: Mapping[str, Any]) -> float:
    """k-anonymity: the size of the smallest class."""
    return float(min(seen.sizes))


def _over_groups(
    better: Literal["lower", "higher"],
    score: Callable[[Counter[Value], SensitiveValues, Mapping[str, Any]], float],
) -> Callable[[PublicView, Mapping[str, Any]], float]:
    """Return the least safe score over all groups and sensitive attributes."""
    worst = min if better == "higher" else max

    def level(seen: PublicView, given: Mapping[str, Any]) -> float:
        return worst(
            score(group, attribute, given) for attribute in seen.sensitive for group in attribute.groups
        )

    return level


def _shares(group: Counter[Value]) -> dict[Value, float]:
    size = group.total()
    return {value: count / size for value, count in group.items()}


def _distinct(group: Counter[Value], _: SensitiveValues, __: Mapping[str, Any]) -> float:
    return float(len(group))


def _probabilistic(group: Counter[Value], _: SensitiveValues, __: Mapping[str, Any]) -> float:
    return group.total() / max(group.values())


def _entropy(group: Counter[Value], _: SensitiveValues, __: Mapping[str, Any]) -> float:
    return math.exp(max(-math.fsum(p * math.log(p) for p in _shares(group).values()), 0.0))


def _recursive(group: Counter[Value], _: SensitiveValues, given: Mapping[str, Any]) -> float:
    counts = sorted(group.values(), reverse=True)
    start = int(given["l"])
    if start == 1:
        return 0.0
    rare = sum(counts[start - 1 :])
    return counts[0] / rare if rare else math.inf


def _alpha(group: Counter[Value], _: SensitiveValues, given: Mapping[str, Any]) -> float:
    own = given["alphas"]
    alpha = given.get("alpha", 1.0)
    # a missing value is named by an empty text
    return max(
        share * (alpha / own[value or ""] if (value or "") in own else 1.0)
        for value, share in _shares(group).items()
    )


def _safety_order(group: Counter[Value], _: SensitiveValues, given: Mapping[str, Any]) -> float:
    size = group.total()
    diversity, wanted = size // max(group.values()), given["d2"]
    if given["prefer"] == "l":
        return size - 0.5 if diversity < wanted else float(size)
    return 0.0 if diversity < wanted else math.inf if diversity > wanted else float(size)


def _beta(group: Counter[Value], attribute: SensitiveValues, given: Mapping[str, Any]) -> float:
    gains = []
    for value, share in _shares(group).items():
        prior = attribute.prior[value]
        gain = share / prior - 1
        broken = given["variant"] == "enhanced" and gain > -math.log(prior) + _ROUNDING
        gains.append(math.inf if broken and gain > _ROUNDING else gain if gain > _ROUNDING else 0.0)
    return max(gains)


def _delta(group: Counter[Value], attribute: SensitiveValues, given: Mapping[str, Any]) -> float:
    if given["absent"] == "violates" and len(group) < len(attribute.prior):
        return math.inf
    return largest_quotient(group, attribute) / math.log(given["base"])


def largest_quotient(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return the largest |log(p(E, s) / p(T, s))| over the values that occur in a group."""
    largest = max(abs(math.log(share / attribute.prior[value])) for value, share in _shares(group).items())
    return largest if largest > _ROUNDING else 0.0


def total_variation(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return ½ Σ_s |p(E, s) - p(T, s)|."""
    shares = _shares(group)
    apart = math.fsum(abs(shares.get(value, 0.0) - prior) for value, prior in attribute.prior.items()) / 2
    return apart if apart > _ROUNDING else 0.0


def jensen_shannon(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return ½ KL(p(E, ·), M) + ½ KL(p(T, ·), M), M the mean of both distributions."""
    shares = _shares(group)
    terms = []
    for value, prior in attribute.prior.items():
        share = shares.get(value, 0.0)
        middle = (share + prior) / 2
        terms += [p * math.log(p / middle) / 2 for p in (share, prior) if p > 0]
    return max(math.fsum(terms), 0.0)


def relative_entropy(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return KL(p(E, ·), p(T, ·))."""
    terms = (share * math.log(share / attribute.prior[value]) for value, share in _shares(group).items())
    return max(math.fsum(terms), 0.0)


def _ordered(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return the earth mover's distance of values in a row: Σ |cumulated difference| / (m - 1)."""
    values = attribute.ordered
    if len(values) < 2:
        return 0.0
    shares, carried, moved = _shares(group), 0.0, []
    for value in values:
        carried += shares.get(value, 0.0) - attribute.prior[value]
        moved.append(abs(carried))
    return math.fsum(moved) / (len(values) - 1)


def _hierarchical(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return the earth mover's distance in a tree: the mean over its levels of the nodes' total variation."""
    distances = []
    for nodes in attribute.levels:
        difference: Counter[Value] = Counter()
        for value, share in _shares(group).items():
            difference[nodes[value]] += share  # type: ignore[assignment]
        for value, prior in attribute.prior.items():
            difference[nodes[value]] -= prior  # type: ignore[assignment]
        distances.append(math.fsum(abs(each) for each in difference.values()) / 2)
    return math.fsum(distances) / len(distances)


def _natural(group: Counter[Value], attribute: SensitiveValues) -> float:
    """Return the distance along the numbers where the values are numbers, else total variation."""
    numeric = attribute.facts.kind == "numeric"
    return _ordered(group, attribute) if numeric else total_variation(group, attribute)


_DISTANCES: dict[str, Callable[[Counter[Value], SensitiveValues], float]] = {
    "equal": total_variation,
    "js": jensen_shannon,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
    "natural": _natural,
}


def _closeness(group: Counter[Value], attribute: SensitiveValues, given: Mapping[str, Any]) -> float:
    return _DISTANCES[given["distance"]](group, attribute)


MODELS: dict[str, KnownModel] = {
    "k-anonymity": KnownModel("k", "higher", frozenset({"k"}), smallest_class),
    "alpha-k-anonymity": KnownModel(
        "alpha", "lower", frozenset({"alpha", "k", "alphas"}), _over_groups("lower", _alpha)
    ),
    "distinct-diversity": KnownModel("l", "higher", frozenset({"l"}), _over_groups("higher", _distinct)),
    "probabilistic-diversity": KnownModel(
        "l", "higher", frozenset({"l"}), _over_groups("higher", _probabilistic)
    ),
    "entropy-diversity": KnownModel("l", "higher", frozenset({"l"}), _over_groups("higher", _entropy)),
    "recursive-diversity": KnownModel(
        "c", "lower", frozenset({"c", "l"}), _over_groups("lower", _recursive), strict=True
    ),
    "safety-order": KnownModel(
        "d1", "higher", frozenset({"d1", "d2", "prefer"}), _over_groups("higher", _safety_order)
    ),
    "t-closeness": KnownModel(
        "t", "lower", frozenset({"t", "distance"}), _over_groups("lower", _closeness), by_prior=True
    ),
    "beta-likeness": KnownModel(
        "beta", "lower", frozenset({"beta", "variant"}), _over_groups("lower", _beta), by_prior=True
    ),
    "delta-disclosure": KnownModel(
        "delta",
        "lower",
        frozenset({"delta", "base", "absent"}),
        _over_groups("lower", _delta),
        strict=True,
        by_prior=True,
    ),
}
