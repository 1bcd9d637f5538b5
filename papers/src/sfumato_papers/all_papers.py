"""Compare the methods of all four papers on one frontier, and test the conclusions under each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sfumato_papers.conclusions import ALMOST_NOTHING, Viewpoint, claims_under, worth_its_risk
from sfumato_papers.exhibits import Cell, Exhibit
from sfumato_papers.experiments import Experiment, Exploration, Explorations
from sfumato_papers.paper import Paper


def _views(explored: Exploration) -> tuple[Viewpoint, ...]:
    every = {m.label: m for candidate in explored.made for m in candidate.measurements}
    gains = {
        target: next(
            (
                label
                for label, m in every.items()
                if m.measure == "workload-utility" and m.parameters.get("target") == target
            ),
            "workload-utility",
        )
        for target in ("salary", "occupation")
    }
    return (
        Viewpoint(
            "losses",
            "Privacy loss against utility loss (Li and Li)",
            "by Li and Li's losses",
            "privacy-loss",
            "utility-loss",
        ),
        Viewpoint(
            "gains-salary",
            "The adversary's gain against the researcher's, who studies salary (Brickell and Shmatikov)",
            "by gains, salary studied",
            "accuracy-gain",
            gains["salary"],
        ),
        Viewpoint(
            "gains-occupation",
            "The same when the researcher studies what the adversary is after, occupation",
            "by gains, occupation studied",
            "accuracy-gain",
            gains["occupation"],
        ),
    )


def _exhibits(explorations: Explorations) -> tuple[Exhibit, ...]:
    explored = explorations["all-papers"]
    views = _views(explored)
    conclusions = Exhibit(
        "conclusions",
        "Which conclusions depend on the measure",
        "The conclusions of three papers, each put to both pairs of measures",
        claims=(
            *(claim for view in views for claim in claims_under(view, explored)),
            worth_its_risk(views, explored),
        ),
        notes=(
            "Modest privacy is read as halving what the adversary learns from the table as it is, and almost "
            f"complete destruction as less than {ALMOST_NOTHING:.0%} of the way from the better trivial "
            "release, without quasi-identifiers or without the sensitive attribute, to the table as it is.",
            "The measures of privacy here let the adversary know the released quasi-identifiers of a person. "
            "Nobody knows a noisy age, so they overstate what noise gives away; what miners make of noise "
            "is compared with k-anonymity in the tables of Sramka and others.",
        ),
    )
    return (*(_one_frontier(view, explored) for view in views), conclusions)


def _one_frontier(view: Viewpoint, explored: Exploration) -> Exhibit:
    frontier = view.frontier(explored.made)
    tried = Counter(candidate.recipe.sanitizer for candidate in frontier.comparable)
    efficient = Counter(candidate.recipe.sanitizer for candidate in frontier.efficient())
    reach = frontier.reach()
    columns: dict[str, Mapping[str, float]] = {
        "releases": tried,
        "efficient": efficient,
        "share of the front's area reached alone": reach,
    }
    cells = tuple(
        Cell(name, column, values.get(name, 0)) for name in tried for column, values in columns.items()
    )
    apart = sorted({candidate.recipe.sanitizer for candidate in frontier.apart})
    return Exhibit(
        view.key,
        view.title,
        f"{len(frontier.comparable)} releases of {explored.table.n_records:,} records, by all methods",
        cells,
        frontiers=(frontier.plot().svg,),
        notes=(
            (f"Not comparable here, because a measure does not apply to a noisy number: {', '.join(apart)}.",)
            if apart
            else ()
        ),
    )


_FEWER: dict[str, dict[str, list[float]]] = {
    "k-anonymity": {"k": [10, 100, 1000]},
    "probabilistic-diversity": {"l": [3, 5]},
    "t-closeness": {"t": [0.025, 0.1]},
    "delta-disclosure": {"delta": [1.5]},
}


def _reduce(document: Any) -> None:
    """Take fewer values of each parameter, fewer folds and a shorter search."""
    for block in document["candidates"]:
        for model, parameters in block.get("model", {}).items():
            for name, values in _FEWER[model].items():
                if isinstance(parameters[name], list):
                    parameters[name] = values
        if block.get("search") == "evolution":
            block |= {"population": 60, "generations": 60, "most": 6}
        if block.get("sanitizer") in ("seeded-laplace", "anatomy"):
            name = "epsilon" if block["sanitizer"] == "seeded-laplace" else "l"
            block[name] = block[name][-1:]
        if block.get("sanitizer") == "local-recoding":
            block["effort"] = 1
    for measure in document["measure"]["utility"]:
        if isinstance(measure, dict):
            measure["workload-utility"]["folds"] = 3


PAPER = Paper(
    "all-papers",
    "All methods on one frontier",
    "What the papers could not show: every method measured by every paper's measures, on the same table.",
    (Experiment("all-papers", "complete", _reduce, dealt=("occupation", "salary")),),
    _exhibits,
)
