"""Compute figure 3 of Li and Li 2009: the error of count queries against the privacy loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato_papers.compare_figures import NOT_COMPUTED, exhibit, not_empty
from sfumato_papers.exhibits import Chart, Claim, Exhibit
from sfumato_papers.li.curves import (
    DELTA,
    UTILITY,
    Curve,
    K,
    L,
    Point,
    T,
    beats_all,
    drawn_points,
    point_cells,
    series_of,
)
from sfumato_papers.published import published
from sfumato_papers.quotations import Quotation, quotation
from sfumato_papers.ranks import rank_correlation

_SELECTIVITIES = (0.03, 0.05, 0.07, 0.1)
_DIMENSIONS = (2, 3, 4, 5)
_DEFAULTS = {"dimensions": 2, "selectivity": 0.05, "reconstruction": "uniform"}


def label_of(points: Iterable[Point], **parameters: Any) -> str:
    """Return the label of the query error with these parameters, however many queries there were.

    Where nothing of the kind was measured the label is empty, which no measurement has.
    """
    wanted = {"dimensions": 4, "selectivity": 0.05, "reconstruction": "uniform", **parameters}
    for point in points:
        for m in point.candidate.measurements:
            given = {name: m.parameters.get(name, default) for name, default in _DEFAULTS.items()}
            if m.measure == "query-error" and given == wanted:
                return m.label
    return ""


def figure_3a(bucketized: Mapping[str, Curve]) -> Exhibit:
    """Return the error for the four requirements."""
    key = "figure-3a"
    drawn = {name: drawn_points(bucketized[name]) for name in (K, L, T, DELTA)}
    points = [p for curve in drawn.values() for p in curve]
    queries, better = label_of(points), label_of(points, reconstruction="maximum-entropy")
    holds, words = beats_all(T, drawn, queries)
    agreement = rank_correlation([p.value(UTILITY) for p in points], [p.value(queries) for p in points])
    claims = (
        Claim(
            "The error of queries shows the pattern of the utility loss.",
            agreement > 0.8 if agreement is not None else None,
            f"rank correlation of the two over {len(points)} bucketizations: "
            + (f"{agreement:.2f}" if agreement is not None else "not computed"),
            quotation("li", "similar-pattern"),
        ),
        Claim("t-closeness does best here too.", holds, f"its curve runs {words}"),
        _within_axis(key, [p.value(queries) for p in points]),
    )
    series = [series_of(name, curve, queries, 100) for name, curve in drawn.items()]
    series.append(series_of("t-closeness, better estimate", drawn[T], better, 100))
    chart = Chart(
        "Varied privacy requirements (bucketization, qd = 4, sel = 0.05)",
        "privacy loss",
        "average relative error in per cent",
        not_empty(series),
        ends=published("li", key).ends,
    )
    cells = point_cells(key, points, {"error in per cent": queries}, 100)
    return exhibit("li", key, cells, claims=claims, charts=(chart,))


def _within_axis(key: str, errors: Sequence[float]) -> Claim:
    end = float(published("li", key).figures["axis"]["end in per cent"])
    known = [100 * error for error in errors if not np.isnan(error)]
    return Claim(
        f"All errors lie within the paper's axis, which ends at {end:g} per cent.",
        max(known) <= end if known else None,
        f"from {min(known):.1f} to {max(known):.1f} per cent" if known else NOT_COMPUTED,
    )


def figure_3b(points: Curve) -> Exhibit:
    """Return the error for other selectivities: t-closeness."""
    measures = {f"sel = {sel:g}": label_of(points, selectivity=sel) for sel in _SELECTIVITIES}
    return _varied(
        "figure-3b", points, measures, "a larger selectivity", quotation("li", "larger-selectivity")
    )


def figure_3c(points: Curve) -> Exhibit:
    """Return the error for other numbers of attributes: t-closeness."""
    measures = {f"qd = {number}": label_of(points, dimensions=number) for number in _DIMENSIONS}
    return _varied(
        "figure-3c", points, measures, "more attributes in the query", quotation("li", "more-dimensions")
    )


def _varied(key: str, points: Curve, measures: Mapping[str, str], more: str, words: Quotation) -> Exhibit:
    claims = (
        Claim(f"Queries are answered more exactly with {more}.", *_falls(points, measures), words),
        _within_axis(key, [p.value(measure) for p in points for measure in measures.values()]),
    )
    chart = Chart(
        published("li", key).title,
        "privacy loss",
        "average relative error in per cent",
        tuple(series_of(name, points, measure, 100) for name, measure in measures.items()),
        ends=published("li", key).ends,
    )
    return exhibit("li", key, point_cells(key, points, measures, 100), claims=claims, charts=(chart,))


def _falls(points: Curve, measures: Mapping[str, str]) -> tuple[bool | None, str]:
    """Return whether the error falls from measure to measure: in the mean, and nowhere rises for certain."""
    errors = np.array([[_with_interval(p, measure) for measure in measures.values()] for p in points])
    if not errors.size or np.isnan(errors).any():
        return None, NOT_COMPUTED
    low, error, high = np.moveaxis(errors, 2, 0)
    means, falls = error.mean(axis=0), np.diff(error, axis=1) < 0
    rises = low[:, 1:] > high[:, :-1]
    words = ", ".join(f"{name}: {100 * mean:.1f}" for name, mean in zip(measures, means, strict=True))
    return (
        bool((np.diff(means) < 0).all() and not rises.any()),
        f"mean errors in per cent {words}; from step to step the error falls {falls.sum()} of {falls.size} "
        f"times, and rises {rises.sum()} times by more than the 95 per cent intervals allow",
    )


def _with_interval(point: Point, measure: str) -> tuple[float, float, float]:
    """Return an error between the ends of its confidence interval."""
    value = point.value(measure)
    intervals = [m.interval for m in point.candidate.measurements if m.label == measure]
    low, high = (intervals[0] if intervals else None) or (value, value)
    return low, value, high
