"""Which distance should privacy loss use? The same releases, ranked by each of them.

N. Li and T. Li, 2009, section 4.1: "Studying which distance measure one should choose is beyond the scope".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from scipy.stats import kendalltau

import sfumato as sf
from questions import grid
from questions.markdown import table
from questions.tables import Studied
from sfumato import Candidate
from sfumato_papers.conclusions import Viewpoint, claims_under
from sfumato_papers.exhibits import Chart, Series
from sfumato_papers.experiments import Exploration
from sfumato_papers.pictures import chart_svg

NAMES = {
    "js": "Jensen-Shannon",
    "equal": "total variation",
    "ordered": "ordered EMD",
    "hierarchical": "hierarchical EMD",
    "kl": "KL",
    "hellinger": "Hellinger",
}
ON_ADULT = ("js", "equal", "hierarchical", "kl", "hellinger")
ELSEWHERE = ("equal", "natural", "kl", "hellinger")
_K, _L, _DELTA = [10, 50, 200, 1000, 5000], [2, 3, 4, 5], [1.0, 1.5, 2.0, 3.0]
_T = {"js": [0.025, 0.05, 0.1, 0.2], "equal": [0.1, 0.2, 0.3, 0.4], "hierarchical": [0.075, 0.15, 0.225, 0.3]}
TRIED: tuple[dict[str, Any], ...] = (
    {"sanitizer": "as-is"},
    {"sanitizer": "suppress-quasi-identifiers"},
    {"sanitizer": "suppress-sensitive"},
    {"sanitizer": "mondrian", "model": {"k-anonymity": {"k": _K}}},
    {"sanitizer": "mondrian", "model": {"probabilistic-diversity": {"l": _L}}},
    {"sanitizer": "mondrian", "model": {"delta-disclosure": {"delta": _DELTA}}},
    *(
        {"sanitizer": how, "model": {"t-closeness": {"t": t, "distance": distance}}}
        for distance, t in _T.items()
        for how in ("mondrian", "bucketize")
    ),
)


def study(cache: Path) -> dict[str, Any]:
    """Compare the rankings on Adult."""
    return _adult(cache)


def study_of(studied: Studied, cache: Path) -> dict[str, Any]:
    """Compare the rankings on a public table."""
    return _compared(grid.explored(studied, cache).candidates, ("js", *ELSEWHERE))


def _adult(cache: Path) -> dict[str, Any]:
    bound = sf.datasets.adult("train")
    measures = [
        *(sf.measures.PrivacyLoss(distance=each) for each in ON_ADULT),
        "disclosure-quotient",
        "utility-loss",
    ]
    store = cache / "stores" / "adult-distances.sqlite"
    store.parent.mkdir(parents=True, exist_ok=True)
    made = sf.explore(*bound, TRIED, measures, store=store, seed=1, policy="none").candidates
    return {
        "records": bound[0].n_records,
        **_compared(made, ON_ADULT),
        "models": {each: _efficient_models(made, each) for each in ON_ADULT},
        "t-closeness best": {each: _closeness(made, each) for each in ON_ADULT},
        "reverse KL infinite": sum(c.value("disclosure-quotient") == float("inf") for c in made),
        "points": {
            each: [[c.value(label(each)), c.value("utility-loss")] for c in _front(made, each)]
            for each in ON_ADULT
        },
    }


def label(distance: str) -> str:
    """Return the label of privacy loss by a distance."""
    return sf.measures.PrivacyLoss(distance=distance).label  # type: ignore[arg-type]


def _front(made: Sequence[Candidate], distance: str) -> tuple[Candidate, ...]:
    return sf.Frontier(tuple(made), (label(distance), "utility-loss")).efficient()


def _compared(made: Sequence[Candidate], distances: Sequence[str]) -> dict[str, Any]:
    """Return Kendall's tau of every two rankings, and what becomes of the efficient releases of the first."""
    values = {each: [c.value(label(each)) for c in made] for each in distances}
    fronts = {each: {str(c.recipe) for c in _front(made, each)} for each in distances}
    knees = {each: sf.Frontier(tuple(made), (label(each), "utility-loss")).knee() for each in distances}
    first = distances[0]
    return {
        "releases": len(made),
        "tau": {
            f"{one} {other}": float(kendalltau(values[one], values[other]).statistic)
            for one, other in combinations(distances, 2)
        },
        "efficient": {each: len(front) for each, front in fronts.items()},
        "shared": {each: len(front & fronts[first]) for each, front in fronts.items()},
        "knee": {each: None if knee is None else str(knee.recipe) for each, knee in knees.items()},
    }


def _efficient_models(made: Sequence[Candidate], distance: str) -> dict[str, int]:
    """Count the efficient releases by the model that they keep; t-closeness by its own distance."""
    counted: Counter[str] = Counter()
    for candidate in _front(made, distance):
        for name, given in candidate.recipe.parameters.get("model", {}).items():
            counted[f"{name} {given['distance']}" if "distance" in given else name] += 1
    return dict(sorted(counted.items()))


def _closeness(made: Sequence[Candidate], distance: str) -> bool | None:
    """Return whether t-closeness serves best of k, l, t and delta, by the distance that is measured."""
    own = [c for c in made if _own_distance(c) in (None, distance if distance in _T else "js")]
    view = Viewpoint("", "", "", label(distance), "utility-loss")
    return claims_under(view, Exploration(None, tuple(own)))[1].holds  # type: ignore[arg-type]


def _own_distance(candidate: Candidate) -> str | None:
    found = candidate.recipe.parameters.get("model", {}).get("t-closeness", {})
    return found.get("distance")


def tables(found: Mapping[str, Any]) -> dict[str, str]:
    """Write what was found."""
    adult = found["adult"]
    taus = {frozenset(key.split()): value for key, value in adult["tau"].items()}
    rows = [
        (NAMES[one], *("1" if one == other else f"{taus[frozenset((one, other))]:.2f}" for other in ON_ADULT))
        for one in ON_ADULT
    ]
    fronts = [
        (
            NAMES[each],
            adult["efficient"][each],
            adult["shared"][each],
            f"`{adult['knee'][each]}`",
            {True: "yes", False: "no", None: "open"}[adult["t-closeness best"][each]],
        )
        for each in ON_ADULT
    ]
    elsewhere = [
        (
            name,
            *(f"{one['tau'][f'js {each}']:.2f}" for each in ELSEWHERE),
            one["efficient"]["js"],
            *(one["shared"][each] for each in ELSEWHERE),
        )
        for name, one in found["tables"].items()
    ]
    words = [NAMES.get(each, "natural EMD") for each in ELSEWHERE]
    return {
        "distance-answer": _answer(found),
        "distance-tau": table(["Kendall's tau", *(NAMES[each] for each in ON_ADULT)], rows),
        "distance-fronts": table(
            [
                "distance",
                "efficient",
                "of these efficient by Jensen-Shannon",
                "knee",
                "t-closeness serves best",
            ],
            fronts,
        ),
        "distance-tables": table(
            [
                "table",
                *(f"tau {each}" for each in words),
                "efficient",
                *(f"still by {each}" for each in words),
            ],
            elsewhere,
        ),
    }


def _answer(found: Mapping[str, Any]) -> str:
    adult = found["adult"]
    taus = adult["tau"].values()
    others = [one["tau"][f"js {each}"] for one in found["tables"].values() for each in ELSEWHERE]
    same = sum(knee == adult["knee"]["js"] for knee in adult["knee"].values())
    return (
        f"Of {adult['releases']} releases of Adult ({adult['records']:,} records) the rankings by any two of "
        f"the five distances have a Kendall's tau of {min(taus):.2f} to {max(taus):.2f}; {same} of the five "
        "have the knee of Jensen-Shannon. On the other tables, tau with Jensen-Shannon is "
        f"{min(others):.2f} to {max(others):.2f}. KL in its other direction is infinite for "
        f"{adult['reverse KL infinite']} of the {adult['releases']} releases."
    )


def pictures(found: Mapping[str, Any]) -> dict[str, str]:
    """Draw the fronts of Adult, each privacy loss as a share of its largest."""
    series = []
    for each, points in found["adult"]["points"].items():
        most = max(x for x, _ in points)
        x, y = zip(*sorted((x / most, y) for x, y in points), strict=True)
        series.append(Series(NAMES[each], x, y))
    chart = Chart(
        "The efficient releases of Adult by five distances",
        "privacy loss, as a share of the largest on the front",
        "utility loss",
        tuple(series),
    )
    return {"open-questions-distance": chart_svg(chart)}
