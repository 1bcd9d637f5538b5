"""Compute the exhibits of Dewri and others 2011 from the explored candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity
from sfumato.sanitizers import FullDomain
from sfumato_papers.compare_figures import NOT_COMPUTED, cell, exhibit, found_or_open
from sfumato_papers.dewri.interpretations import AMBIGUITIES, any_age, distinct_diversity, eight_columns
from sfumato_papers.dewri.populations import initial_populations
from sfumato_papers.dewri.questions import questions
from sfumato_papers.dewri.safety import figure_10, figure_11
from sfumato_papers.dewri.solutions import (
    ANY,
    ZERO,
    Solution,
    cheapest,
    flattest,
    front,
    growth,
    points,
    solutions,
    some,
    within,
)
from sfumato_papers.exhibits import Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Experiment, Exploration, Explorations
from sfumato_papers.paper import Paper
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation
from sfumato_papers.ranks import rank_correlation

# The seven people of table 1, and the levels of age and marital status by which table 2 recodes them.
_AGES = (15, 17, 20, 26, 28, 30, 30)
_STATUSES = (
    "Never Married",
    "Never Married",
    "Civ-Spouse",
    "AF-Spouse",
    "AF-Spouse",
    "Civ-Spouse",
    "AF-Spouse",
)
_AGE_LEVELS = {"T1": 2, "T2": 1}
_STATUS_LEVEL = 1

_LARGE_GROUP, _LARGEST_GROUP = 100, 1000
_LOW_LOSS = 5.0
"""In per cent: where the paper's first inset is drawn, nearly nothing is lost."""
_WINDOWS = (float("inf"), 1000.0, 100.0)
"""Up to which k the plots of figure 7 go, each a magnification of the one before."""
_FLAT = 5.0
"""A stretch is flat that covers so many times as much of the range of k as of that of the loss."""
_QUICK = {"population": 40, "generations": 20, "most": 40}
_QUICK_NOTE = (
    "A quick look searches with a smaller population and for fewer generations than the paper: its solutions "
    "lose more than they must, and what it does not find stays open."
)


def exhibits(explorations: Explorations) -> tuple[Exhibit, ...]:
    """Return the paper's exhibits."""
    whole, safety = explorations["dewri"], explorations["dewri-safety"]
    searched: tuple[Exhibit, ...] = (
        _figure_6(whole),
        _figure_7(whole, quick=explorations.quick),
        _figure_8(whole),
        _figure_9(whole),
        figure_10(safety, quick=explorations.quick),
        figure_11(safety, quick=explorations.quick),
        questions(whole, safety, quick=explorations.quick),
    )
    if explorations.quick:
        searched = tuple(replace(exhibit, notes=(*exhibit.notes, _QUICK_NOTE)) for exhibit in searched)
    return (_data(whole), _table_2(), *searched)


def _data(explored: Exploration) -> Exhibit:
    return exhibit("dewri", "data", [cell("dewri", "data", "records", "count", explored.table.n_records)])


def _seven_people(status: Literal["quasi-identifying", "sensitive"]) -> tuple[Table, Schema]:
    """Return table 1 with its hierarchies."""
    table = Table.from_arrow({"age": list(_AGES), "marital-status": list(_STATUSES)})
    ages = [
        [str(a), f"{a // 10}0-{a // 10}9", "10-19" if a < 20 else "20-39", "*"] for a in sorted(set(_AGES))
    ]
    statuses = {"Not Married": ["Never Married"], "Married": ["Civ-Spouse", "AF-Spouse"]}
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "categorical", Hierarchy.of_rows(ages)),
            Attribute("marital-status", status, hierarchy=Hierarchy.nested(statuses)),
        )
    )
    return table, schema


def _table_2() -> Exhibit:
    """Return the worked example; marital status is sensitive where its diversity is asked for."""
    cells = []
    for name, level in _AGE_LEVELS.items():
        levels = {"age": level, "marital-status": _STATUS_LEVEL}
        release = sanitize(*_seven_people("quasi-identifying"), FullDomain(levels, KAnonymity(1)))
        guarded = sanitize(*_seven_people("sensitive"), FullDomain({"age": level}, KAnonymity(1)))
        measurements = [
            *measure(release, ["k-anonymity", "weighted-k"]),
            *measure(guarded, ["probabilistic-diversity"]),
        ]
        for column, measurement in zip(("k", "weighted-k", "l"), measurements, strict=True):
            ours = (
                np.floor(measurement.value)
                if column == "l" and measurement.value is not None
                else measurement.value
            )
            cells.append(cell("dewri", "table-2", name, column, ours))
    first, second = (c.ours for c in cells if c.column == "weighted-k")
    claims = (
        Claim(
            "T1 protects the average person better than T2, though both are 2-anonymous.",
            first > second if first is not None and second is not None else None,
            f"weighted-k {first:.3f} and {second:.3f}",
            quotation("dewri", "better-potential"),
        ),
    )
    return exhibit("dewri", "table-2", cells, claims=claims, of_adult=False)


def _figure_6(whole: Exploration) -> Exhibit:
    key, solved = "figure-6", solutions(whole, ZERO)
    ((row, printed),) = published("dewri", key).figures.items()
    limit = float(row.split("%")[0])
    answer, low = (_most_weighted(within(solved, loss)) for loss in (limit, _LOW_LOSS))
    cells = [] if answer is None else [cell("dewri", key, row, "weighted-k", answer.weighted_k)]
    shown = {"at little loss": low, "at the paper's loss": answer}
    sizes = {name: _class_sizes(whole, chosen) for name, chosen in shown.items() if chosen is not None}
    charts = (
        Chart(
            "Weighted-k against general loss",
            "weighted-k",
            "general loss in per cent",
            (
                points("solutions", solved, lambda s: s.weighted_k, lambda s: s.general),
                Series("the paper's answer", (float(printed["weighted-k"]),), (limit,), published=True),
            ),
            shape="points",
        ),
        Chart(
            "Records in groups of at most so many",
            "size of the group",
            "share of the records in per cent",
            tuple(_cumulated(name, chosen) for name, chosen in sizes.items()),
            log_x=True,
        ),
    )
    steps = [(loss, _most_weighted(within(solved, loss))) for loss in (20, 22, 25)]
    words = [f"{s.weighted_k:,.0f} at {loss}%" for loss, s in steps if s is not None]
    notes = [f"Weighted-k {', '.join(words)}."] if words else []
    return exhibit("dewri", key, cells, claims=_size_claims(sizes), charts=charts, notes=notes)


def _most_weighted(solved: Sequence[Solution]) -> Solution | None:
    return max(solved, key=lambda s: s.weighted_k, default=None)


def _class_sizes(explored: Exploration, solution: Solution) -> np.ndarray:
    return np.sort(explored.release(solution.candidate).classes.sizes)


def _cumulated(name: str, sizes: np.ndarray) -> Series:
    size, first = np.unique(sizes, return_index=True)
    ends = np.append(first[1:], len(sizes)) - 1
    shares = 100 * np.cumsum(sizes)[ends] / sizes.sum()
    return Series(name, tuple(map(float, size)), tuple(map(float, shares)))


def _size_claims(sizes: dict[str, Any]) -> list[Claim]:
    def share(name: str, kept: Any) -> float | None:
        return float(sizes[name][kept(sizes[name])].sum() / sizes[name].sum()) if name in sizes else None

    large = share("at the paper's loss", lambda size: size >= _LARGE_GROUP)
    largest = share("at the paper's loss", lambda size: size >= _LARGEST_GROUP)
    small = share("at little loss", lambda size: size < _LARGE_GROUP)
    return [
        Claim(
            "At the loss of the paper's answer most of the records are in large groups.",
            large > 0.5 if large is not None else None,
            f"{large:.0%} in groups of at least {_LARGE_GROUP}, {largest:.0%} of at least {_LARGEST_GROUP:,}"
            if large is not None
            else NOT_COMPUTED,
            quotation("dewri", "big-groups"),
        ),
        Claim(
            "Low losses are only had where most records are in small groups.",
            small > 0.5 if small is not None else None,
            f"{small:.0%} in groups below {_LARGE_GROUP} at {_LOW_LOSS:.0f}% loss"
            if small is not None
            else NOT_COMPUTED,
            quotation("dewri", "low-losses"),
        ),
    ]


def _figure_7(whole: Exploration, *, quick: bool) -> Exhibit:
    key, column = "figure-7", "least loss in per cent"
    by_limit = {f"up to {eta:.0%} suppressed": solutions(whole, some(eta)) for eta in (0.1, 0.01)}
    main = by_limit["up to 10% suppressed"]
    wanted = {row: int(row.split()[-1]) for row in published("dewri", key).figures}
    solved = {row: cheapest(main, lambda s, k=k: s.k >= k) for row, k in wanted.items()}  # type: ignore[misc]
    cells = [cell("dewri", key, row, column, s.loss) for row, s in solved.items() if s is not None]
    claims = tuple(
        Claim(
            f"At every magnification there are flat stretches, {name} (flat: a tenth of the plot's k or more "
            f"and {_FLAT:g} times as much of it as of the plot's loss).",
            *_flat_everywhere(limited, quick=quick),
            quotation("dewri", key_of_words),
        )
        for (name, limited), key_of_words in zip(
            by_limit.items(), ("flat-regions", "similar-trends"), strict=True
        )
    )
    printed = Series(
        "the paper's answers",
        tuple(float(k) for k in wanted.values()),
        tuple(float(published("dewri", key).figure(row, column) or "nan") for row in wanted),
        published=True,
    )
    charts = tuple(
        Chart(
            title,
            "k",
            "loss in per cent",
            (
                *(
                    points(n, [s for s in limited if s.k <= end], lambda s: s.k, lambda s: s.loss)
                    for n, limited in by_limit.items()
                ),
                printed,
            ),
            shape="points",
        )
        for end in _WINDOWS
        for title in ["k against loss" if end == np.inf else f"k up to {end:,.0f}"]
    )
    return exhibit("dewri", key, cells, claims=claims, charts=charts)


def _flat_everywhere(solved: Sequence[Solution], *, quick: bool) -> tuple[bool | None, str]:
    """Return whether the front has a flat stretch in every plot, and where the flattest are."""
    best = front([s for s in solved if s.k >= 2], lambda s: s.k)
    plots = [[s for s in best if s.k <= end] for end in _WINDOWS]
    if min(map(len, plots)) < 3:
        return None, NOT_COMPUTED
    stretches = [flattest(plot) for plot in plots]
    words = [
        f"k from {a.k:,.0f} to {b.k:,.0f} for {b.loss - a.loss:.1f} points of loss ({ratio:.1f} times)"
        for ratio, a, b in stretches
    ]
    words.append(f"within a single point of loss k grows at most {growth(best, 1.0):.2f} times")
    is_flat = all(ratio >= _FLAT for ratio, _, _ in stretches)
    return found_or_open(is_flat, quick=quick), "; ".join(words)


_TRIPLE = {
    "k": lambda s: s.k,
    "general loss": lambda s: s.general,
    "suppression loss": lambda s: s.suppression,
}


def _figure_8(whole: Exploration) -> Exhibit:
    solved = solutions(whole, ANY)

    def falls(name: str) -> tuple[bool | None, str]:
        columns = [[_TRIPLE[axis](s) for s in solved] for axis in (name, "suppression loss")]
        correlation = rank_correlation(*columns)
        if correlation is None:
            return None, NOT_COMPUTED
        return correlation < 0, f"rank correlation {correlation:.2f} over {len(solved)} solutions"

    claims = (
        Claim(
            "The more is generalized, the less is suppressed.",
            *falls("general loss"),
            quotation("dewri", "less-suppressed"),
        ),
        Claim("The larger k, the less is suppressed.", *falls("k"), quotation("dewri", "larger-k")),
    )
    pairs = (("general loss", "suppression loss"), ("k", "suppression loss"), ("k", "general loss"))
    charts = tuple(
        Chart(
            f"{y} against {x}",
            x if x == "k" else f"{x} in per cent",
            f"{y} in per cent",
            (points("solutions", solved, _TRIPLE[x], _TRIPLE[y]),),
            shape="points",
            log_x=x == "k",
        )
        for x, y in pairs
    )
    notes = (
        "k is the smallest group that stays: every group below the weighted-k of the whole table was "
        "suppressed.",
    )
    return exhibit("dewri", "figure-8", charts=charts, claims=claims, notes=notes)


def _figure_9(whole: Exploration) -> Exhibit:
    row, general, suppression = "nearest solution", "general loss in per cent", "suppression loss in per cent"
    known, known_k = published("dewri", "figure-9"), published("dewri", "figure-9-k")
    target = [
        float(f or "nan")
        for f in (known_k.figure(row, "k"), known.figure(row, general), known.figure(row, suppression))
    ]
    solved = [s for s in solutions(whole, ANY) if s.suppression <= 20]

    def distance(s: Solution) -> float:
        """Return the largest distance of a solution from the target, in tolerances."""
        k, generalized, suppressed = target
        return max(
            abs(s.k - k) / known_k.tolerance,
            abs(s.general - generalized) / known.tolerance,
            abs(s.suppression - suppressed) / known.tolerance,
        )

    nearest = min(solved, key=distance, default=None)
    cells = (
        []
        if nearest is None
        else [
            cell("dewri", "figure-9-k", row, "k", nearest.k),
            cell("dewri", "figure-9", row, general, nearest.general),
            cell("dewri", "figure-9", row, suppression, nearest.suppression),
        ]
    )
    near = [s for s in solved if distance(s) <= 1]
    cells.append(cell("dewri", "figure-9-count", "around it", "solutions", len(near)))
    others = [s for s in solutions(whole, ANY) if s.general <= 30]
    charts = (
        _figure_9_chart(
            "At most 20% suppressed",
            solved,
            Series("around here", (target[0],), (target[1],), published=True),
        ),
        _figure_9_chart("General loss of at most 30%", others),
    )
    notes = (
        f"{len(solved)} solutions have at most 20% suppressed. Of a larger front the search keeps solutions "
        "that lie far apart, so that others may lie nearer to the paper's.",
    )
    return exhibit("dewri", "figure-9", cells, charts=charts, notes=notes)


def _figure_9_chart(title: str, solved: Sequence[Solution], *also: Series) -> Chart:
    series = (points("solutions", solved, _TRIPLE["k"], _TRIPLE["general loss"]), *also)
    return Chart(title, "k", "general loss in per cent", series, shape="points", log_x=True)


def _reduce(document: Any) -> None:
    """Search with smaller populations, for fewer generations and solutions."""
    for block in document["candidates"]:
        for name, value in _QUICK.items():
            block[name] = value


_ATTRIBUTES = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary",
)
"""Nobody learns anything in the first three problems: their control is a table without any relation."""

PAPER = Paper(
    "dewri",
    "Dewri, Ray, Ray and Whitley 2011",
    'R. Dewri, I. Ray, I. Ray, D. Whitley, "Exploring privacy versus data quality trade-offs in '
    'anonymization techniques using multi-objective optimization", Journal of Computer Security, 2011',
    (
        Experiment(
            "dewri",
            "train",
            _reduce,
            dealt=_ATTRIBUTES,
            switches={"columns=eight": eight_columns, "ages=years": any_age},
        ),
        Experiment(
            "dewri-safety",
            "train",
            _reduce,
            dealt=("occupation",),
            switches={"diversity=distinct": distinct_diversity, "ages=years": any_age},
        ),
    ),
    exhibits,
    doi="10.3233/JCS-2011-0428",
    ambiguities=AMBIGUITIES,
    over_seeds=initial_populations,
)
