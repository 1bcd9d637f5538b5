"""t-closeness, and two or three properties at once, as objectives of the evolution.

R. Dewri and others, 2011, section 8: "Real valued parametrization of t makes the t-closeness model an
interesting subsequent candidate"; "what trade-offs are generated when looking for the existence of two, or
more, privacy properties simultaneously".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import moocore
import numpy as np

import sfumato as sf
from questions.markdown import percent, table
from sfumato.searches.evolution.closeness_problems import ClosenessProblem
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.problems import Problem, PublisherProblem
from sfumato_papers.exhibits import Chart, Series
from sfumato_papers.pictures import chart_svg

ETA = 0.1
SETTINGS = Settings(60, 40)
SEEDS = (1, 2, 3)
K, T = (1, 5, 10, 20, 50), (0.4, 0.3, 0.2, 0.15, 0.1)
_CHECKED = 20
"""So many recipes of each front are made and measured."""
_REFERENCE = (0.0, 1.0, 1.0)
"""k of 0, t of 1 and a loss of 1: what every solution is better than."""


def study(cache: Path) -> dict[str, Any]:
    """Search for the fronts of Adult, and see what one problem's front is worth by the others' objectives."""
    bound = _bound()
    found = {name: [_front(bound, name, seed) for seed in SEEDS] for name in _problems(bound)}
    return {
        "records": bound[0].n_records,
        "eta": ETA,
        "evaluations": SETTINGS.population * SETTINGS.generations,
        "fronts": {name: [len(each["rows"]) for each in every] for name, every in found.items()},
        "checked": {name: sum(each["checked"] for each in every) for name, every in found.items()},
        "untrue": {name: sum(each["untrue"] for each in every) for name, every in found.items()},
        "hypervolume": {name: [_volume(each["rows"]) for each in every] for name, every in found.items()},
        "cheapest": {
            name: {f"{k} {t}": _cheapest([each["rows"] for each in every], k, t) for k in K for t in T}
            for name, every in found.items()
        },
        "curves": {
            str(k): _curve([row for each in found["k-t-safety"] for row in each["rows"] if row[0] >= k])
            for k in K
        },
    }


def _bound() -> tuple[sf.Table, sf.Schema]:
    table, schema = sf.datasets.adult("train")
    return schema.bind(table)


def _problems(bound: tuple[sf.Table, sf.Schema]) -> dict[str, Problem]:
    space = CutSpace.of(*bound)
    whole = ClosenessProblem.whole_of(*bound, "equal")
    return {
        "suppression": PublisherProblem(space, "suppression", ETA),
        "t-closeness": ClosenessProblem(space, whole, "t-closeness", ETA),
        "k-t-safety": ClosenessProblem(space, whole, "k-t-safety", ETA),
        "k-l-t-safety": ClosenessProblem(space, whole, "k-l-t-safety", ETA),
    }


def _front(bound: tuple[sf.Table, sf.Schema], name: str, seed: int) -> dict[str, Any]:
    """Return (k, t, total loss, l) of what was found, all measured by the models where t is not known."""
    problem = _problems(bound)[name]
    judge = evolve(problem.space, problem, SETTINGS, seed=seed)  # type: ignore[attr-defined]
    front = improve(judge, _CHECKED, budget=SETTINGS.population * SETTINGS.generations // 2)
    made = [
        _measured(bound, problem, genes, traits)
        for genes, traits in zip(front.genes, front.traits, strict=True)
    ]
    claimed = [_claimed(problem, traits, bound[0].n_records) for traits in front.traits]
    untrue = sum(not _same(one, other) for one, other in zip(made, claimed, strict=True))
    whole = [_claimed(problem, traits, bound[0].n_records) for traits in judge.archive.traits]
    return {"rows": made if name == "suppression" else whole, "checked": len(made), "untrue": untrue}


def _measured(bound: tuple[sf.Table, sf.Schema], problem: Problem, genes: Any, traits: Any) -> list[float]:
    release = sf.sanitize(*bound, problem.recipe(genes, traits))
    asked = ["k-anonymity", "t-closeness", "total-loss", "probabilistic-diversity"]
    return [float(each.value or 0.0) for each in sf.measure(release, asked)]


def _claimed(problem: Problem, traits: Any, n_records: int) -> list[float]:
    known = dict(zip(problem.traits, traits.tolist(), strict=True))
    loss = known["general-loss"] + known["suppressed"] / n_records
    return [known["k"], known.get("t", np.nan), loss, known["l"]]


def _same(measured: Sequence[float], claimed: Sequence[float]) -> bool:
    """Return whether k, t and the loss are as claimed; where t was no objective, nothing is claimed of it."""
    return bool(
        np.allclose(measured[:3], np.where(np.isnan(claimed[:3]), measured[:3], claimed[:3]), atol=1e-9)
    )


def _volume(rows: Sequence[Sequence[float]]) -> float:
    """Return the hypervolume in k, t and total loss, k counted by its logarithm."""
    points = np.array([[-np.log2(max(k, 1.0)) / 15, t, loss] for k, t, loss, _ in rows])
    return float(moocore.hypervolume(points, ref=_REFERENCE))


def _cheapest(fronts: Sequence[Sequence[Sequence[float]]], k: int, t: float) -> float | None:
    """Return the least loss of a release with this k and t over all seeds."""
    fit = [loss for rows in fronts for size, far, loss, _ in rows if size >= k and far <= t]
    return min(fit, default=None)


def _curve(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the points (t, loss) that no other beats."""
    points = np.unique(np.array([[t, loss] for _, t, loss, _ in rows]).round(6), axis=0)
    return points[moocore.is_nondominated(points)].tolist()


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Write what each k and t cost, and what the fronts are worth."""
    found = results["adult"]
    cheapest = found["cheapest"]
    rows = [(f"t ≤ {t:g}", *(percent(cheapest["k-t-safety"][f"{k} {t}"]) for k in K)) for t in T]
    fronts = [
        (
            f"`{name}`",
            f"{min(sizes)} to {max(sizes)}",
            f"{found['untrue'][name]} of {found['checked'][name]}",
            f"{min(found['hypervolume'][name]):.3f} to {max(found['hypervolume'][name]):.3f}",
            percent(cheapest[name]["10 0.2"]),
        )
        for name, sizes in found["fronts"].items()
    ]
    return {
        "properties-answer": _answer(found),
        "properties": table(["total loss", *(f"k ≥ {k}" for k in K)], rows),
        "properties-fronts": table(
            [
                "problem",
                "solutions",
                "not as claimed",
                "hypervolume in k, t and loss",
                "k ≥ 10 and t ≤ 0.2 cost",
            ],
            fronts,
        ),
    }


def _answer(found: Mapping[str, Any]) -> str:
    cheapest = found["cheapest"]
    far, loose, both = (
        percent(cheapest[problem][limits])
        for problem, limits in (
            ("t-closeness", "1 0.2"),
            ("k-t-safety", "10 0.4"),
            ("k-t-safety", "10 0.2"),
        )
    )
    return (
        f"On Adult ({found['records']:,} records, six quasi-identifiers, occupation sensitive, at most "
        f"{found['eta']:.0%} suppressed; {len(SEEDS)} seeds of {found['evaluations']:,} evaluations, the "
        f"best of them) k ≥ 10 costs {loose} of the information with t ≤ 0.4, and {both} with t ≤ 0.2; "
        f"t ≤ 0.2 alone costs {far}. The losses below are of the problem `k-t-safety`."
    )


def pictures(results: Mapping[str, Any]) -> dict[str, str]:
    """Draw the loss against t for each k."""
    found = results["adult"]
    series = tuple(
        Series(f"k ≥ {k}", *zip(*sorted(map(tuple, curve)), strict=True))
        for k, curve in found["curves"].items()
    )
    chart = Chart("What t costs, alone and together with k", "t", "total loss", series)
    return {"open-questions-properties": chart_svg(chart)}
