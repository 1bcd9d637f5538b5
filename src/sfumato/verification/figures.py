"""Compute every measure that a publication may claim again, from the published cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

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
from sfumato.verification.written_tables import Integers, numbered

# A figure this near to a threshold may lie on either side of it.
_TIE = 1e-12
_MOST_EXACT = 8
_MOST_SAMPLED = 100_000
_REACH = 2.1


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


def computed(measure: KnownMeasure, seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    """Return the values from the published cells, or why the measure does not apply."""
    try:
        with np.errstate(divide="raise", invalid="raise"):
            return measure.compute(seen, given)
    except DoesNotApply as reason:
        return [Recomputed(None, detail={"reason": str(reason)})]


_REASONS = {
    "perturbed": "it takes released values for true ones, and values were changed",
    "synthetic": "it takes each record for a person's, and the records are made up",
}


def claimable(measure: KnownMeasure, seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    """Return what may be claimed of this type of release: nothing of classes where rows are no people."""
    if seen.type not in measure.judges:
        return [Recomputed(None, detail={"reason": _REASONS[seen.type]})]
    return computed(measure, seen, given)


# What classes tell


def _risk(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    uniques = int((seen.sizes == 1).sum())
    detail = {**_at_risk(seen.sizes, 1.0, given["threshold"]), "uniques": uniques}
    return [Recomputed(1 / int(seen.sizes.min()), detail=detail)]


def _journalist(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    scale = _scale(seen, given)
    if given["population-size"] is None:
        raise DoesNotApply("no population is given; give population, population-size, or survey weights")
    smallest = int(seen.sizes.min()) * scale
    detail = {**_at_risk(seen.sizes, scale, given["threshold"]), "smallest": smallest}
    return [Recomputed(1 / smallest, detail=detail)]


def _marketer(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    matched = len(seen.sizes) / _scale(seen, given)
    return [Recomputed(matched / seen.n_records, detail={"matched": matched})]


def _scale(seen: PublicView, given: Mapping[str, Any]) -> float:
    """Return how many people of the population each record represents."""
    size = given["population-size"]
    if given["population"] is not None:
        raise ValueError("a population that is not published")
    if size is not None and size < seen.n_original:
        raise ValueError("a population that is smaller than the table")
    return 1.0 if size is None else size / seen.n_original


def _at_risk(sizes: Integers, scale: float, threshold: float) -> dict[str, Any]:
    return {
        "average": len(sizes) / scale / int(sizes.sum()),
        "share-at-risk": _share_above(1 / (sizes * scale), sizes, threshold),
    }


def _share_above(figures: Floats, sizes: Integers, threshold: float) -> WithinRange:
    """Return the share of records whose figure is above a threshold, with ties on either side."""
    total = int(sizes.sum())
    surely = int(sizes[figures > threshold + _TIE].sum())
    perhaps = int(sizes[figures > threshold - _TIE].sum())
    return WithinRange(surely / total, perhaps / total)


def _percentile(figures: Floats | Integers, sizes: Integers, percent: int) -> float:
    """Return the smallest figure that at least this percentage of the records do not exceed."""
    ascending = np.argsort(figures)
    reached = np.cumsum(sizes[ascending])
    return float(figures[ascending[int((100 * reached >= percent * reached[-1]).argmax())]])


def _weighted_k(seen: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    sizes = seen.sizes
    percentiles = {f"percentile-{p}": _percentile(sizes, sizes, p) for p in (5, 25, 50, 75, 95)}
    detail = {
        "classes": len(sizes),
        "smallest": float(sizes.min()),
        **percentiles,
        "largest": float(sizes.max()),
    }
    return [Recomputed(_squared(sizes) / seen.n_records, detail=detail)]


def _squared(sizes: Integers) -> int:
    """Return Σ |E|²."""
    return int((sizes * sizes).sum())


def _suppression(seen: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    detail = {"suppressed": seen.n_suppressed, "records": seen.n_original}
    return [Recomputed(seen.n_suppressed / seen.n_original, detail=detail)]


def _discernibility(seen: PublicView, _: Mapping[str, Any]) -> list[Recomputed]:
    _require_sensitive_values(seen)
    return [Recomputed(float(_squared(seen.sizes) + seen.n_original * seen.n_suppressed))]


def _average_class(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    _require_sensitive_values(seen)
    n_classes = len(seen.sizes)
    return [Recomputed(seen.n_records / n_classes / given["k"], detail={"classes": n_classes})]


def _require_sensitive_values(seen: PublicView) -> None:
    if seen.has_groups:
        raise DoesNotApply(
            "sensitive values are exchanged within groups, and a loss of quasi-identifiers would not "
            "count that"
        )
    for attribute in seen.sensitive:
        if attribute.is_withheld:
            raise DoesNotApply(
                f"{attribute.name!r} is withheld, and a loss of quasi-identifiers would not count that"
            )


# What groups tell of a sensitive attribute


def _of_each(
    compute: Callable[[SensitiveValues, Mapping[str, Any]], Recomputed],
) -> Callable[[PublicView, Mapping[str, Any]], list[Recomputed]]:
    def all_of_them(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
        if not seen.sensitive:
            raise DoesNotApply("the release has no sensitive attribute")
        return [compute(attribute, given) for attribute in seen.sensitive]

    return all_of_them


def _mean(figures: Floats, sizes: Integers) -> float:
    return math.fsum(figures * sizes) / int(sizes.sum())


def _privacy_loss(attribute: SensitiveValues, given: Mapping[str, Any]) -> Recomputed:
    losses, sizes = DISTANCES[given["distance"]](attribute), attribute.sizes
    detail = {
        "mean": _mean(losses, sizes),
        "percentile-95": _percentile(losses, sizes, 95),
        "share-at-risk": _share_above(losses, sizes, given["threshold"]),
    }
    return Recomputed(float(losses.max()), attribute.name, detail=detail)


def _knowledge_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    apart = total_variations(attribute)
    detail = {"worst": float(apart.max())}
    return Recomputed(_mean(apart, attribute.sizes), attribute.name, detail=detail)


def _accuracy_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    right = int(attribute.largest(attribute.counts).sum()) / attribute.n_records
    without = float(attribute.prior.max())
    return Recomputed(right - without, attribute.name, baseline=without, detail={"accuracy": right})


def _quotient(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    largest = float(largest_quotients(attribute).max())
    lacking = int(attribute.sizes[attribute.n_different < len(attribute.values)].sum())
    detail = {"largest-finite": largest, "share-ruled-out": lacking / attribute.n_records}
    return Recomputed(math.inf if lacking else largest, attribute.name, detail=detail)


def _information_gain(attribute: SensitiveValues, _: Mapping[str, Any]) -> Recomputed:
    gains, left, sizes = relative_entropies(attribute), entropies(attribute), attribute.sizes
    overall = max(-math.fsum(attribute.prior * np.log(attribute.prior)), 0.0)
    detail = {"entropy": overall, "remaining-entropy": _mean(left, sizes)}
    return Recomputed(_mean(gains, sizes), attribute.name, detail=detail)


# What each quasi-identifier adds to the average risk


def _contribution(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
    names, codes = seen.names, seen.classes
    if not names:
        raise DoesNotApply("the release has no quasi-identifier")
    known = {frozenset[int](): 1}
    orders = _orders(len(names), given["permutations"])
    rounds = [_mean_of([_added(codes, order, known) for order in each]) for each in orders]
    parts = [part / seen.n_records for part in _mean_of(rounds)]
    largest = max(parts)
    first = frozenset(name for name, part in zip(names, parts, strict=True) if part > largest - _TIE)
    interval = None
    if len(names) > _MOST_EXACT:
        place = parts.index(largest)
        reach = _REACH * _standard_error([each[place] for each in rounds]) / seen.n_records
        interval = (largest - reach, largest + reach)
    detail = {
        "coarsen-first": OneOf(first),
        "average": len(seen.sizes) / seen.n_records,
        "contribution": dict(zip(names, parts, strict=True)),
        **_if_withheld(seen),
    }
    return [Recomputed(largest, interval=interval, detail=detail)]


def _orders(n_columns: int, n_sampled: int) -> Iterator[Sequence[Sequence[int]]]:
    """Yield every order if there are few columns, else rounds of random orders with all their rotations."""
    if n_sampled < 1:
        raise ValueError("no order at all")
    if n_columns <= _MOST_EXACT:
        yield list(itertools.permutations(range(n_columns)))
        return
    if n_sampled > _MOST_SAMPLED:
        raise ValueError("so many orders that the check would never end")
    rng = np.random.default_rng(0)
    for _ in range(max(n_sampled // n_columns, 2)):
        order = rng.permutation(n_columns).tolist()
        yield [order[-shift:] + order[:-shift] for shift in range(n_columns)]


def _added(codes: Sequence[Integers], order: Sequence[int], known: dict[frozenset[int], int]) -> list[int]:
    """Return how many classes each column adds to those before it, reusing earlier counts."""
    sets = [frozenset(order[:place]) for place in range(len(order) + 1)]
    if not all(each in known for each in sets):
        numbered = np.zeros(len(codes[0]), dtype=np.int64)
        for place, after in zip(order, sets[1:], strict=True):
            pairs = numbered * (int(codes[place].max()) + 1) + codes[place]
            numbered = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
            known[after] = int(numbered.max()) + 1
    gained = [known[after] - known[before] for before, after in itertools.pairwise(sets)]
    return [gain for _, gain in sorted(zip(order, gained, strict=True))]


def _mean_of(rows: Sequence[Sequence[float]]) -> list[float]:
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def _standard_error(figures: Sequence[float]) -> float:
    mean = math.fsum(figures) / len(figures)
    variance = math.fsum((figure - mean) ** 2 for figure in figures) / (len(figures) - 1)
    return math.sqrt(variance / len(figures))


def _if_withheld(seen: PublicView) -> dict[str, dict[str, float]]:
    """Return the average risk and the privacy loss, worst and mean, when one quasi-identifier is withheld."""
    risks, worst, mean = {}, {}, {}
    for place, name in enumerate(seen.names):
        others = [codes for at, codes in enumerate(seen.classes) if at != place]
        merged, n_merged = numbered(others, len(seen.sizes))
        risks[name] = n_merged / seen.n_records
        if seen.sensitive and not seen.has_groups:
            together = [
                attribute.counted_by(merged, np.arange(len(attribute.values)), attribute.values)
                for attribute in seen.sensitive
            ]
            losses = [(jensen_shannon(attribute), attribute.sizes) for attribute in together]
            worst[name] = max(float(each.max()) for each, _ in losses)
            mean[name] = max(_mean(each, sizes) for each, sizes in losses)
    found = {"average-without": risks, "privacy-loss-without": worst, "mean-privacy-loss-without": mean}
    return {key: figures for key, figures in found.items() if figures}


# What is known


def _level_of(model: KnownModel) -> KnownMeasure:
    """Return the level of a model as a measure."""

    def compute(seen: PublicView, given: Mapping[str, Any]) -> list[Recomputed]:
        if model.level is not MODELS["k-anonymity"].level and not seen.sensitive:
            raise DoesNotApply("the release has no sensitive attribute")
        fixed = {name: value for name, value in given.items() if name != model.limit}
        return [Recomputed(model.level(seen, given), detail=fixed)]

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
    "privacy-loss": _privacy("threshold", "distance")(_of_each(_privacy_loss)),
    "knowledge-gain": _privacy()(_of_each(_knowledge_gain)),
    "accuracy-gain": _privacy()(_of_each(_accuracy_gain)),
    "disclosure-quotient": _privacy()(_of_each(_quotient)),
    "information-gain": _privacy()(_of_each(_information_gain)),
    "suppression-loss": KnownMeasure("utility", "lower", frozenset(), _suppression, ("people", "perturbed")),
    "discernibility": KnownMeasure("utility", "lower", frozenset(), _discernibility),
    "average-class-size": KnownMeasure("utility", "lower", frozenset({"k"}), _average_class),
}
