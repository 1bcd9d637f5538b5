"""Compute every measure that a publication may claim again, from the published cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sfumato.verification.documents import Claimed
from sfumato.verification.levels import (
    DISTANCES,
    MODELS,
    KnownModel,
    entropies,
    jensen_shannon,
    largest_quotients,
    relative_entropies,
    total_variations,
)
from sfumato.verification.published_view import Floats, PublicView, SensitiveValues
from sfumato.verification.written_tables import Integers, number_rows

NOT_COMPUTABLE = (TypeError, ValueError, KeyError, ArithmeticError)
"""What a measure raises if its parameters are none that it can be computed with."""
# A figure this near to a threshold may lie on either side of it.
_TIE = 1e-12
_MAX_COLUMNS_IN_EVERY_ORDER = 8
_MAX_SAMPLED_ORDERS = 100_000
# How many standard errors the interval of a sampled figure reaches to either side.
_STANDARD_ERRORS = 2.1


@dataclass(frozen=True)
class WithinRange:
    """A figure that rounding leaves open: any number from low to high is right."""

    low: float
    high: float


@dataclass(frozen=True)
class OneOf:
    """A name that a tie leaves open."""

    names: frozenset[str]


@dataclass(frozen=True)
class Recomputed:
    """The value of one measure computed from the published cells, per sensitive attribute if it has any."""

    value: float | None
    attribute: str | None = None
    baseline: float | None = None
    interval: tuple[float, float] | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownMeasure:
    """The facts about a measure.

    Its side, which values are better, its parameters, how it is computed, and the types of release it judges.
    """

    axis: Literal["privacy", "utility"]
    better: Literal["lower", "higher"]
    parameters: frozenset[str]
    compute: Callable[[PublicView, Mapping[str, Any]], list[Recomputed]]
    judges: tuple[str, ...] = ("people",)


class DoesNotApply(Exception):
    """Raised if a measure does not apply to a release; the message is the reason."""


_NO_CLASSES = {
    "perturbed": "it takes released values for true ones, and values were changed",
    "synthetic": "it takes each record for a person's, and the records are made up",
}


def recompute(measure: KnownMeasure, view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    """Return the values from the published cells, or why the measure does not apply."""
    try:
        with np.errstate(divide="raise", invalid="raise"):
            return measure.compute(view, parameters)
    except DoesNotApply as reason:
        return [Recomputed(None, detail={"reason": str(reason)})]


def recompute_claim(
    measure: KnownMeasure, view: PublicView, parameters: Mapping[str, Any]
) -> list[Recomputed]:
    """Return what may be claimed of this type of release: nothing of classes if rows are no people."""
    if view.type not in measure.judges:
        return [Recomputed(None, detail={"reason": _NO_CLASSES[view.type]})]
    return recompute(measure, view, parameters)


def value_of_attribute(view: PublicView, claim: Claimed, attribute: str) -> float | None:
    """Return a claimed figure for one sensitive attribute alone; ``None`` if it cannot be computed."""
    alone = tuple(values for values in view.sensitive if values.name == attribute)
    try:
        results = recompute_claim(MEASURES[claim.measure], replace(view, sensitive=alone), claim.parameters)
    except NOT_COMPUTABLE:
        return None
    return results[0].value if len(results) == 1 else None


# Measures of the classes


def _risk(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    uniques = int((view.sizes == 1).sum())
    detail = {**_at_risk(view.sizes, 1.0, parameters["threshold"]), "uniques": uniques}
    return [Recomputed(1 / int(view.sizes.min()), detail=detail)]


def _journalist(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    scale = _scale(view, parameters)
    if parameters["population-size"] is None:
        raise DoesNotApply("no population is given; give population, population-size, or survey weights")
    smallest = int(view.sizes.min()) * scale
    detail = {**_at_risk(view.sizes, scale, parameters["threshold"]), "smallest": smallest}
    return [Recomputed(1 / smallest, detail=detail)]


def _marketer(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    matched = len(view.sizes) / _scale(view, parameters)
    return [Recomputed(matched / view.n_records, detail={"matched": matched})]


def _scale(view: PublicView, parameters: Mapping[str, Any]) -> float:
    """Return how many people of the population each record represents."""
    size = parameters["population-size"]
    if parameters["population"] is not None:
        raise ValueError("a population that is not published")
    if size is not None and size < view.n_original:
        raise ValueError("a population that is smaller than the table")
    return 1.0 if size is None else size / view.n_original


def _at_risk(sizes: Integers, scale: float, threshold: float) -> dict[str, Any]:
    return {
        "average": len(sizes) / scale / int(sizes.sum()),
        "share-at-risk": _share_above(1 / (sizes * scale), sizes, threshold),
    }


def _share_above(figures: Floats, sizes: Integers, threshold: float) -> WithinRange:
    """Return the share of records whose figure is above a threshold, with ties on either side."""
    total = int(sizes.sum())
    least = int(sizes[figures > threshold + _TIE].sum())
    most = int(sizes[figures > threshold - _TIE].sum())
    return WithinRange(least / total, most / total)


def _percentile(figures: Floats | Integers, sizes: Integers, percent: int) -> float:
    """Return the smallest figure that at least this percentage of the records do not exceed."""
    ascending = np.argsort(figures)
    reached = np.cumsum(sizes[ascending])
    return float(figures[ascending[int((100 * reached >= percent * reached[-1]).argmax())]])


def _weighted_k(view: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    sizes = view.sizes
    percentiles = {f"percentile-{p}": _percentile(sizes, sizes, p) for p in (5, 25, 50, 75, 95)}
    detail = {
        "classes": len(sizes),
        "smallest": float(sizes.min()),
        **percentiles,
        "largest": float(sizes.max()),
    }
    return [Recomputed(_squared(sizes) / view.n_records, detail=detail)]


def _squared(sizes: Integers) -> int:
    """Return Σ |E|²."""
    return int((sizes * sizes).sum())


def _suppression(view: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    detail = {"suppressed": view.n_suppressed, "records": view.n_original}
    return [Recomputed(view.n_suppressed / view.n_original, detail=detail)]


def _discernibility(view: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    _require_sensitive_values(view)
    return [Recomputed(float(_squared(view.sizes) + view.n_original * view.n_suppressed))]


def _average_class(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    _require_sensitive_values(view)
    n_classes = len(view.sizes)
    return [Recomputed(view.n_records / n_classes / parameters["k"], detail={"classes": n_classes})]


def _require_sensitive_values(view: PublicView) -> None:
    if view.has_groups:
        raise DoesNotApply(
            "sensitive values are exchanged within groups, and a loss of quasi-identifiers would not "
            "count that"
        )
    for attribute in view.sensitive:
        if attribute.is_withheld:
            raise DoesNotApply(
                f"{attribute.name!r} is withheld, and a loss of quasi-identifiers would not count that"
            )


# Measures of a sensitive attribute over the groups


def _per_attribute(
    compute: Callable[[SensitiveValues, Mapping[str, Any]], Recomputed],
) -> Callable[[PublicView, Mapping[str, Any]], list[Recomputed]]:
    def compute_all(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
        if not view.sensitive:
            raise DoesNotApply("the release has no sensitive attribute")
        return [compute(attribute, parameters) for attribute in view.sensitive]

    return compute_all


def _mean(figures: Floats, sizes: Integers) -> float:
    return math.fsum(figures * sizes) / int(sizes.sum())


def _privacy_loss(attribute: SensitiveValues, parameters: Mapping[str, Any]) -> Recomputed:
    losses, sizes = DISTANCES[parameters["distance"]](attribute), attribute.sizes
    detail = {
        "mean": _mean(losses, sizes),
        "percentile-95": _percentile(losses, sizes, 95),
        "share-at-risk": _share_above(losses, sizes, parameters["threshold"]),
    }
    return Recomputed(float(losses.max()), attribute.name, detail=detail)


def _knowledge_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    distances = total_variations(attribute)
    detail = {"worst": float(distances.max())}
    return Recomputed(_mean(distances, attribute.sizes), attribute.name, detail=detail)


def _accuracy_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    accuracy = int(attribute.largest(attribute.counts).sum()) / attribute.n_records
    baseline = float(attribute.prior.max())
    return Recomputed(accuracy - baseline, attribute.name, baseline=baseline, detail={"accuracy": accuracy})


def _quotient(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    largest = float(largest_quotients(attribute).max())
    # records of groups in which some value does not occur
    n_ruled_out = int(attribute.sizes[attribute.n_different < len(attribute.values)].sum())
    detail = {"largest-finite": largest, "share-ruled-out": n_ruled_out / attribute.n_records}
    return Recomputed(math.inf if n_ruled_out else largest, attribute.name, detail=detail)


def _information_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    sizes = attribute.sizes
    overall = max(-math.fsum(attribute.prior * np.log(attribute.prior)), 0.0)
    detail = {"entropy": overall, "remaining-entropy": _mean(entropies(attribute), sizes)}
    return Recomputed(_mean(relative_entropies(attribute), sizes), attribute.name, detail=detail)


# The contribution of each quasi-identifier to the average risk


def _contribution(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
    """Compute the Shapley value of each quasi-identifier for the number of classes."""
    names, codes = view.names, view.classes
    if not names:
        raise DoesNotApply("the release has no quasi-identifier")
    n_classes_of = {frozenset[int](): 1}
    rounds = [
        _mean_of([_added_classes(codes, order, n_classes_of) for order in orders])
        for orders in _orders(len(names), parameters["permutations"])
    ]
    parts = [part / view.n_records for part in _mean_of(rounds)]
    largest = max(parts)
    first = frozenset(name for name, part in zip(names, parts, strict=True) if part > largest - _TIE)
    interval = None
    if len(names) > _MAX_COLUMNS_IN_EVERY_ORDER:
        sampled = [means[parts.index(largest)] for means in rounds]
        mean = math.fsum(sampled) / len(sampled)
        variance = math.fsum((figure - mean) ** 2 for figure in sampled) / (len(sampled) - 1)
        reach = _STANDARD_ERRORS * math.sqrt(variance / len(sampled)) / view.n_records
        interval = (largest - reach, largest + reach)
    detail = {
        "coarsen-first": OneOf(first),
        "average": len(view.sizes) / view.n_records,
        "contribution": dict(zip(names, parts, strict=True)),
        **_without_each(view),
    }
    return [Recomputed(largest, interval=interval, detail=detail)]


def _orders(n_columns: int, n_sampled: int) -> Iterator[Sequence[Sequence[int]]]:
    """Yield every order if there are few columns, else rounds of random orders with all their rotations."""
    if n_sampled < 1:
        raise ValueError("no order at all")
    if n_columns <= _MAX_COLUMNS_IN_EVERY_ORDER:
        yield list(itertools.permutations(range(n_columns)))
        return
    if n_sampled > _MAX_SAMPLED_ORDERS:
        raise ValueError("so many orders that the check would never end")
    rng = np.random.default_rng(0)
    for _ in range(max(n_sampled // n_columns, 2)):
        order = rng.permutation(n_columns).tolist()
        yield [order[-shift:] + order[:-shift] for shift in range(n_columns)]


def _added_classes(
    codes: Sequence[Integers], order: Sequence[int], n_classes_of: dict[frozenset[int], int]
) -> list[int]:
    """Return how many classes each column adds to those before it, reusing earlier counts."""
    prefixes = [frozenset(order[:length]) for length in range(len(order) + 1)]
    if not all(columns in n_classes_of for columns in prefixes):
        class_of = np.zeros(len(codes[0]), dtype=np.int64)
        for column, columns in zip(order, prefixes[1:], strict=True):
            pairs = class_of * (int(codes[column].max()) + 1) + codes[column]
            class_of = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
            n_classes_of[columns] = int(class_of.max()) + 1
    added = [n_classes_of[after] - n_classes_of[before] for before, after in itertools.pairwise(prefixes)]
    return [n for _, n in sorted(zip(order, added, strict=True))]


def _mean_of(rows: Sequence[Sequence[float]]) -> list[float]:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def _without_each(view: PublicView) -> dict[str, dict[str, float]]:
    """Return the average risk and the privacy loss, worst and mean, if one quasi-identifier is withheld."""
    risks, worst, mean = {}, {}, {}
    for column, name in enumerate(view.names):
        others = [codes for number, codes in enumerate(view.classes) if number != column]
        merged, n_merged = number_rows(others, len(view.sizes))
        risks[name] = n_merged / view.n_records
        if view.sensitive and not view.has_groups:
            coarser = [
                attribute.counted_by(merged, np.arange(len(attribute.values)), attribute.values)
                for attribute in view.sensitive
            ]
            losses = [(jensen_shannon(attribute), attribute.sizes) for attribute in coarser]
            worst[name] = max(float(figures.max()) for figures, _ in losses)
            mean[name] = max(_mean(figures, sizes) for figures, sizes in losses)
    results = {"average-without": risks, "privacy-loss-without": worst, "mean-privacy-loss-without": mean}
    return {key: figures for key, figures in results.items() if figures}


# All measures


def _level_of(model: KnownModel) -> KnownMeasure:
    def compute(view: PublicView, parameters: Mapping[str, Any]) -> list[Recomputed]:
        if model.level is not MODELS["k-anonymity"].level and not view.sensitive:
            raise DoesNotApply("the release has no sensitive attribute")
        others = {name: value for name, value in parameters.items() if name != model.limit}
        return [Recomputed(model.level(view, parameters), detail=others)]

    return KnownMeasure("privacy", model.better, model.parameters, compute)


def _privacy(*parameters: str, better: Literal["lower", "higher"] = "lower") -> Callable[..., KnownMeasure]:
    return lambda compute: KnownMeasure("privacy", better, frozenset(parameters), compute)


MEASURES: dict[str, KnownMeasure] = {
    **{name: _level_of(model) for name, model in MODELS.items()},
    "reidentification-risk": _privacy("threshold")(_risk),
    "journalist-risk": _privacy("population", "population-size", "threshold")(_journalist),
    "marketer-risk": _privacy("population", "population-size")(_marketer),
    "weighted-k": _privacy(better="higher")(_weighted_k),
    "quasi-identifier-contribution": _privacy("permutations")(_contribution),
    "privacy-loss": _privacy("threshold", "distance")(_per_attribute(_privacy_loss)),
    "knowledge-gain": _privacy()(_per_attribute(_knowledge_gain)),
    "accuracy-gain": _privacy()(_per_attribute(_accuracy_gain)),
    "disclosure-quotient": _privacy()(_per_attribute(_quotient)),
    "information-gain": _privacy()(_per_attribute(_information_gain)),
    "suppression-loss": KnownMeasure("utility", "lower", frozenset(), _suppression, ("people", "perturbed")),
    "discernibility": KnownMeasure("utility", "lower", frozenset(), _discernibility),
    "average-class-size": KnownMeasure("utility", "lower", frozenset({"k"}), _average_class),
}


def known_measure(name: str, parameters: Mapping[str, Any]) -> KnownMeasure | None:
    """Return what is known of a measure: nothing if it, or the distance that it takes, is a plug-in's."""
    known, distance = MEASURES.get(name), parameters.get("distance")
    if known is not None and "distance" in known.parameters and isinstance(distance, str):
        return known if distance in DISTANCES else None
    return known
