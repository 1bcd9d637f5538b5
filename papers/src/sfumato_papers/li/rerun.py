"""Compute the exhibits of Li and Li 2009 from the explored candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato import Attribute, Candidate, Frontier, Schema, Table, sanitize
from sfumato.models import TCloseness
from sfumato.sanitizers import AsIs
from sfumato_papers.compare_figures import NOT_COMPUTED, cell, exhibit, not_empty
from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Experiment, Exploration, Explorations
from sfumato_papers.li.curves import (
    DELTA,
    PRIVACY,
    SMALLEST_DELTA,
    STRICT_DELTA,
    UTILITY,
    Absent,
    Curve,
    K,
    L,
    Point,
    T,
    beats_all,
    bucketization_wins,
    curves,
    drawn_points,
    lies_below,
    pairs_of,
    requirement_of,
    series_of,
    wins,
)
from sfumato_papers.li.interpretations import AMBIGUITIES, OF_LOSSES, OF_QUERIES, STRICT_ABSENCE
from sfumato_papers.li.queries import figure_3a, figure_3b, figure_3c
from sfumato_papers.paper import Paper
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation

BETTER_ESTIMATE = "utility-loss reconstruction=maximum-entropy"
_QUICK = (0, 2, 5, 7)
"""Which of the eight parameters of a requirement a quick look keeps."""
_QUICK_QUERIES = 200


def exhibits(explorations: Explorations) -> tuple[Exhibit, ...]:
    """Return the paper's exhibits."""
    explored = explorations["li"]
    absent: Absent = "violates" if explorations.uses(STRICT_ABSENCE) else "ignored"
    generalized = curves(explored.made, "mondrian", absent)
    bucketized = curves(explored.made, "bucketize", absent)
    queried = curves(explorations["li-queries"].made, "bucketize", absent)
    return (
        _data(explored),
        _distribution(explored),
        _interpretation(explored, generalized),
        _figure_2a(generalized),
        _figure_2b(generalized, bucketized),
        _frontier(explored, generalized),
        figure_3a(queried),
        figure_3b(queried[T]),
        figure_3c(queried[T]),
    )


def _data(explored: Exploration) -> Exhibit:
    table = explored.table
    counts = {"records": table.n_records, **{name: len(c.domain) for name, c in table.columns.items()}}
    cells = [cell("li", "table-1", name, "count", n, series=name) for name, n in counts.items()]
    return exhibit("li", "table-1", cells)


def _shares(explored: Exploration) -> dict[str, float]:
    """Return the share of the records that each sensitive value has, the most frequent first."""
    (name,) = explored.schema.sensitive
    column = explored.table[name]
    counts = np.bincount(column.codes, weights=explored.table.weights, minlength=len(column.domain))
    order = np.argsort(-counts, kind="stable")
    return {str(column.domain[code]): float(counts[code] / counts.sum()) for code in order}


def _distribution(explored: Exploration) -> Exhibit:
    key = "distribution"
    return exhibit(
        "li", key, [cell("li", key, name, "share", share) for name, share in _shares(explored).items()]
    )


def revealed_losses(explored: Exploration) -> dict[str, float]:
    """Return the privacy loss of a person whose sensitive value is revealed, for each value."""
    (name,) = explored.schema.sensitive
    column = explored.table[name]
    values = [str(column.domain[code]) for code in np.repeat(column.codes, explored.table.weights)]
    known = Table.from_arrow({"known": values, name: values})
    schema = Schema((Attribute("known", "quasi-identifying"), Attribute(name, "sensitive")))
    release = sanitize(known, schema, AsIs())
    losses = TCloseness(distance="js").scores(release.groups)
    counts = release.groups.sensitive[name]
    labels = release.cells[name].labels
    return {str(labels[value]): float(loss) for value, loss in zip(counts.values, losses, strict=True)}


def _value(candidate: Candidate | None, measure: str) -> float | None:
    return None if candidate is None else candidate.value(measure)


def _interpretation(explored: Exploration, generalized: Mapping[str, Curve]) -> Exhibit:
    key = "interpretation"
    losses = revealed_losses(explored)
    ordered = list(_shares(explored))
    trivial, whole = explored.find("suppress-quasi-identifiers"), explored.find("as-is")
    values = [
        (f"{ordered[-1]} is revealed", "privacy loss", losses[ordered[-1]]),
        (f"{ordered[0]} is revealed", "privacy loss", losses[ordered[0]]),
        ("all quasi-identifiers removed", "utility loss", _value(trivial, UTILITY)),
        ("all quasi-identifiers removed", "privacy loss", _value(trivial, PRIVACY)),
        ("the original", "utility loss", _value(whole, UTILITY)),
        ("the original", "privacy loss", _value(whole, PRIVACY)),
    ]
    all_losses = [p.value(PRIVACY) for points in generalized.values() for p in points]
    weakest = generalized[L][:2]
    above = [p.value(PRIVACY) > losses[ordered[0]] for p in weakest]
    claims = (
        Claim(
            "No privacy loss is greater than that of the least frequent occupation revealed.",
            max(all_losses) <= max(losses.values()) if all_losses else None,
            f"the largest of {len(all_losses)} releases is {max(all_losses):.3f}"
            if all_losses
            else NOT_COMPUTED,
            quotation("li", "not-greater"),
        ),
        Claim(
            "A privacy loss above that of the most frequent occupation revealed does not mean that anybody's "
            "is: both weakest l-diverse releases have one.",
            all(above) if len(generalized[L]) == _FULL else None,
            "; ".join(f"{p.label}: {p.value(PRIVACY):.3f}" for p in weakest),
            quotation("li", "not-revealed"),
        ),
    )
    return exhibit("li", key, [cell("li", key, *value) for value in values], claims=claims)


def _published_point(name: str, row: str) -> Series:
    x, y = (published("li", f"figure-2a{part}").figure(row, column) for part, column in _LOSSES.items())
    return Series(name, (float(x or "nan"),), (float(y or "nan"),), published=True)


_LOSSES = {"": "privacy loss", "-utility": "utility loss"}
"""The data file keeps the figures of the two losses apart, because their tolerances differ."""


def _loss_cells(row: str, point: Point, printed: str) -> list[Cell]:
    """Return both losses of a release next to the published ones of a row."""
    cells = []
    for (part, column), measure in zip(_LOSSES.items(), (PRIVACY, UTILITY), strict=True):
        known = published("li", f"figure-2a{part}")
        cells.append(known.compare(row, column, point.value(measure), printed=printed))
    return cells


def _figure_2a(generalized: Mapping[str, Curve]) -> Exhibit:
    drawn = {name: drawn_points(generalized[name]) for name in (K, L, T, DELTA)}
    points = [p for curve in drawn.values() for p in curve]
    cells = [cell for p in points for cell in _loss_cells(p.label, p, p.label)]
    holds, words = beats_all(T, drawn, UTILITY)
    frontier = Frontier(tuple(p.candidate for p in points), (PRIVACY, UTILITY))
    efficient = set(frontier.efficient())
    chosen = drawn[T][:3]
    small = [p for name in (DELTA, STRICT_DELTA) for p in generalized[name] if p.limit < SMALLEST_DELTA]
    claims = (
        Claim(
            "t-closeness does better than the other three requirements.",
            holds,
            f"its curve runs {words}",
            quotation("li", "closeness-better"),
        ),
        Claim(
            "The three strictest t are good choices: nothing drawn beats them.",
            all(p.candidate in efficient for p in chosen) if len(drawn[T]) == _FULL else None,
            "; ".join(f"{p.label}: {'efficient' if p.candidate in efficient else 'beaten'}" for p in chosen),
            quotation("li", "good-choices"),
        ),
        _bounded([p.value(UTILITY) for p in points]),
        Claim(
            "With delta below 1 mondrian finds a single class, so that nothing is lost of privacy.",
            all(p.value(PRIVACY) == 0 for p in small) if small else None,
            "; ".join(f"{p.label}, {p.requirement}: privacy loss {p.value(PRIVACY):.3f}" for p in small),
            quotation("li", "single-class"),
        ),
    )
    series = [series_of(name, curve, UTILITY) for name, curve in drawn.items()]
    series.append(series_of(STRICT_DELTA, generalized[STRICT_DELTA], UTILITY))
    series.append(series_of("t-closeness, better estimate", drawn[T], BETTER_ESTIMATE))
    series.append(_published_point(K, "k = 5000"))
    charts = (_chart("figure-2a", "Varied privacy requirements", series),)
    return exhibit("li", "figure-2a", cells, claims=claims, charts=charts, notes=_notes_2a(generalized))


def _chart(key: str, title: str, series: Sequence[Series]) -> Chart:
    """Draw both losses in the axes of a Figure."""
    return Chart(title, "privacy loss", "utility loss", not_empty(series), ends=published("li", key).ends)


def _bounded(losses: Sequence[float]) -> Claim:
    known = published("li", "figure-2a-utility").figures
    every, many = (float(known[row]["below"]) for row in ("all releases", "many releases"))
    n_below = {bound: sum(loss < bound for loss in losses) for bound in (every, many)}
    return Claim(
        f"The utility loss is below {every:g} in all cases and below {many:g} in many.",
        n_below[every] == len(losses) and n_below[many] >= len(losses) / 4 if losses else None,
        f"{n_below[every]} of {len(losses)} below {every:g}, {n_below[many]} below {many:g}; the largest is "
        f"{max(losses, default=np.nan):.4f}",
        quotation("li", "bounded"),
    )


_FULL = 8
"""The number of parameters of each requirement in the paper."""


def _notes_2a(generalized: Mapping[str, Curve]) -> tuple[str, ...]:
    ranges = {
        name: (min(p.value(PRIVACY) for p in points), max(p.value(PRIVACY) for p in points))
        for name, drawn in generalized.items()
        for points in [drawn_points(drawn)]
        if points
    }
    notes = [
        "Ours: mondrian in its strict form, categories cut along their hierarchies; populations of at least "
        "five per cent of the records; the uniform estimate of the paper.",
    ]
    if DELTA in ranges and STRICT_DELTA in ranges:
        words = {name: f"{low:.2f} to {high:.2f}" for name, (low, high) in ranges.items()}
        notes.append(
            f"Semantic privacy spans a privacy loss of {words[DELTA]}; with absent values read otherwise "
            f"(drawn next to it) {words[STRICT_DELTA]}, and t-closeness runs {_against_strict(generalized)}."
        )
    if any(not np.isnan(p.value(BETTER_ESTIMATE)) for p in generalized[T]):
        notes.append(
            "'Better estimate' reads the same releases by maximum entropy instead of evenly, which the paper "
            "proposes as future work."
        )
    return tuple(notes)


def _against_strict(generalized: Mapping[str, Curve]) -> str:
    """Say how t-closeness compares with semantic privacy where every value must be present."""
    points = drawn_points(generalized[STRICT_DELTA])
    below, compared = lies_below(generalized[T], points, UTILITY)
    return f"below {below} of the {compared} points (of {len(points)}) that can be compared with it"


def _figure_2b(generalized: Mapping[str, Curve], bucketized: Mapping[str, Curve]) -> Exhibit:
    key, pairs = "figure-2b", pairs_of(generalized, bucketized)
    cells = [
        cell("li", key, one.label, column, point.value(measure))
        for one, other in pairs
        for column, point, measure in (
            ("privacy loss", one, PRIVACY),
            ("generalization", one, UTILITY),
            ("bucketization", other, UTILITY),
        )
    ]
    same = sum(abs(one.value(PRIVACY) - other.value(PRIVACY)) < 1e-9 for one, other in pairs)
    ratios = [one.value(UTILITY) / other.value(UTILITY) for one, other in pairs if other.value(UTILITY) > 0]
    claims = (
        Claim(
            "Bucketization keeps (substantially) more utility than generalization, where only attribute "
            "disclosure counts.",
            bucketization_wins(pairs),
            f"it loses less in {wins(pairs)} pairs; in the median generalization loses "
            f"{np.median(ratios):.2f} times as much; both have the same privacy loss in {same} of them"
            if ratios
            else NOT_COMPUTED,
            quotation("li", "bucketization"),
        ),
    )
    series = [
        series_of(f"{method} ({name})", curve[name], UTILITY)
        for name in (L, T)
        for method, curve in (("generalization", generalized), ("bucketization", bucketized))
    ]
    series.append(series_of("bucketization (t-closeness), better estimate", bucketized[T], BETTER_ESTIMATE))
    charts = (_chart(key, "Varied anonymization methods", series),)
    return exhibit("li", key, cells, claims=claims, charts=charts)


def _frontier(explored: Exploration, generalized: Mapping[str, Curve]) -> Exhibit:
    frontier = Frontier(explored.made, (PRIVACY, UTILITY))
    efficient, knee = frontier.efficient(), frontier.knee()
    methods: dict[str, int] = {}
    for candidate in efficient:
        need = requirement_of(candidate.recipe)
        name = f"{candidate.recipe.sanitizer}, {need[0]}" if need else candidate.recipe.sanitizer
        methods[name] = methods.get(name, 0) + 1
    lines = generalized[T]
    above = [p for p in lines if frontier.dominated_by(p.candidate)]
    claims = (
        Claim(
            "The efficient frontier lies below the t-closeness line of Figure 2(a).",
            len(above) == len(lines) if lines else None,
            f"{len(above)} of {len(lines)} generalizations with t-closeness are beaten by another release; "
            f"of {len(frontier.comparable)} releases {len(efficient)} are efficient"
            + (f", the knee is {knee.recipe}" if knee else ""),
            quotation("li", "frontier-below"),
        ),
    )
    cells = [Cell(name, "efficient releases", n) for name, n in methods.items()]

    def points(name: str, some: Iterable[Candidate]) -> Series:
        pairs = [(c.value(PRIVACY), c.value(UTILITY)) for c in some]
        known = sorted((x, y) for x, y in pairs if x is not None and y is not None)
        return Series(name, tuple(x for x, _ in known), tuple(y for _, y in known))

    chosen = set(efficient)
    series = [
        points(
            f"{method}, efficient" if is_efficient else method,
            (
                c
                for c in frontier.comparable
                if c.recipe.sanitizer == method and (c in chosen) == is_efficient
            ),
        )
        for is_efficient in (False, True)
        for method in dict.fromkeys(c.recipe.sanitizer for c in frontier.comparable)
    ]
    chart = Chart(
        "All releases, and the efficient ones",
        "privacy loss",
        "utility loss",
        not_empty(series),
        shape="points",
    )
    return exhibit("li", "frontier", cells, claims=claims, charts=(chart,))


def _reduce(document: Any) -> None:
    """Keep half of the parameters, fewer queries, and the paper's own estimate of them."""
    for block in document["candidates"]:
        _thin(block.get("model", {}))
        sizes = block.get("smallest-group")
        if sizes is not None:
            block["smallest-group"] = [sizes[place] for place in _QUICK]
    utility = document["measure"]["utility"]
    for place in reversed(range(len(utility))):
        if isinstance(utility[place], str):
            continue
        if "maximum-entropy" in str(utility[place]):
            del utility[place]
        elif "query-error" in utility[place]:
            utility[place]["query-error"]["queries"] = _QUICK_QUERIES


def _thin(model: Any) -> None:
    for parameters in model.values():
        for name, values in list(parameters.items()):
            if isinstance(values, list) and len(values) > len(_QUICK):
                parameters[name] = [values[place - len(_QUICK) * 2] for place in _QUICK]


PAPER = Paper(
    "li",
    "Li and Li 2009",
    'T. Li, N. Li, "On the tradeoff between privacy and utility in data publishing", KDD 2009',
    (
        Experiment("li", "complete", _reduce, by_chance=False, dealt=("occupation",), switches=OF_LOSSES),
        Experiment("li-queries", "complete", _reduce, dealt=("occupation",), switches=OF_QUERIES),
    ),
    exhibits,
    doi="10.1145/1557019.1557079",
    ambiguities=AMBIGUITIES,
)
