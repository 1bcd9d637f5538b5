"""Evolution: CPU seconds of the four problems at full budget, and their points beside the published ones.

    python benchmarks/evolution.py [--exact]

Adult is the 30,162 complete records of the training file with the nine attributes of Dewri et al. 2011:
age, education, race, sex and salary cut anywhere (age between intervals of five years), workclass,
marital-status, occupation and native-country along their hierarchies. In the problem of (k, l)-safety
occupation is sensitive and not generalized. The paper's hierarchies are not published, so that its points
are a neighbourhood and not a target. ``--exact`` also compares with the exact front of full-domain
recodings. Compilation is not counted.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from exact_front import compare_with_exact

from sfumato.reading import datasets
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Judge, Settings, evolve, improve
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import PublisherProblem

ATTRIBUTES = (
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
FREE = ("education", "race")
MOST = 30
K, L, _, LOSS, SUPPRESSED, D1, D2 = range(7)


def space(sensitive: tuple[str, ...] = ()) -> CutSpace:
    named = tuple(name for name in ATTRIBUTES if name not in sensitive)
    table, schema = datasets.adult("train", quasi_identifiers=named, sensitive=sensitive)
    return CutSpace.of(*schema.bind(table), free=FREE)


def run(problem: PublisherProblem, population: int, generations: int = 250) -> tuple[Judge, float, float]:
    """Return what was found and the CPU seconds of the search and of the improvement."""
    settings = Settings(population, generations)
    began = time.process_time()
    judge = evolve(problem.space, problem, settings)
    searched = time.process_time()
    improve(judge, MOST, budget=population * generations // 2)
    return judge, searched - began, time.process_time() - searched


def losses(front: Archive, n_records: int) -> np.ndarray[Any, Any]:
    return front.traits[:, LOSS] + front.traits[:, SUPPRESSED] / n_records


def weighted_k_at(front: Archive, loss: float) -> float:
    allowed = front.objectives[front.objectives[:, 1] <= loss]
    return float(-allowed[:, 0].min())


def loss_of(
    front: Archive, n_records: int, k: int, diversity: int = 0, columns: tuple[int, int] = (K, L)
) -> str:
    enough = (front.traits[:, columns[0]] >= k) & (front.traits[:, columns[1]] >= diversity)
    return f"{losses(front, n_records)[enough].min():.1%}" if enough.any() else "not found"


def report(title: str, judge: Judge, searched: float, improved: float) -> float:
    asked, evaluated = judge.n_asked, judge.n_evaluated
    print(
        f"{title}: {searched:.1f} s search, {improved:.1f} s improvement, {len(judge.archive):,} solutions, "
        f"{evaluated:,} of {asked:,} evaluated ({1 - evaluated / asked:.0%} known), "
        f"{evaluated / (searched + improved):,.0f} evaluations/s"
    )
    return searched + improved


def main() -> None:
    cuts, safe = space(), space(("occupation",))
    for name in ("zero-suppression", "suppression", "any-suppression"):
        run(PublisherProblem(cuts, name), 8, 2)  # type: ignore[arg-type]
    for guarantee in (True, False):
        run(PublisherProblem(safe, "k-l-safety", guarantee=guarantee), 8, 2)
    n = cuts.rows.n_records
    total = 0.0

    judge, *times = run(PublisherProblem(cuts, "zero-suppression"), 200)
    total += report("zero-suppression", judge, *times)
    for loss in (0.20, 0.22, 0.25):
        published = " (published 2528)" if loss == 0.22 else ""
        print(f"  weighted-k {weighted_k_at(judge.archive, loss):,.0f} at {loss:.0%}{published}")

    judge, *_ = run(PublisherProblem(safe, "zero-suppression"), 200)
    print(f"  weighted-k {weighted_k_at(judge.archive, 0.22):,.0f} at 22% with occupation left out")

    judge, *times = run(PublisherProblem(cuts, "suppression", eta=0.1), 200)
    total += report("suppression, eta 10%", judge, *times)
    for k, published in ((5, ""), (14, " (published 25%)"), (36, " (published 26%)")):
        print(f"  k = {k} at {loss_of(judge.archive, n, k)}{published}")

    judge, *times = run(PublisherProblem(cuts, "any-suppression"), 500)
    total += report("any-suppression", judge, *times)
    near = judge.archive.take(judge.archive.objectives[:, 1] <= 0.35)
    near = near.take(near.objectives[:, 0] <= -5000)
    least = f"{near.objectives[:, 2].min():.1%}" if len(near) else "not found"
    print(f"  k of 5000 and more with GL up to 35%: SL {least} (published 17%)")

    for guarantee in (True, False):
        judge, *times = run(PublisherProblem(safe, "k-l-safety", eta=0.1, guarantee=guarantee), 500)
        seconds = report(f"k-l-safety, guarantee = {str(guarantee).lower()}", judge, *times)
        total += seconds if guarantee else 0.0
        for k, diversity, published in (
            (20, 4, "20%"),
            (20, 5, "21%"),
            (22, 3, "21%"),
            (18, 6, "21%"),
            (15, 7, "30%"),
        ):
            found = loss_of(judge.archive, n, k, diversity)
            formula = loss_of(judge.archive, n, k, diversity, (D1, D2))
            beside = "" if guarantee else f"; by the formula {formula}"
            print(f"  ({k}, {diversity})-safe at {found}{beside} (published {published})")
        if not guarantee:
            traits = judge.archive.traits[losses(judge.archive, n) <= 0.3]
            claims = traits[traits[:, D2] >= 2]
            true = claims[:, L] >= claims[:, D2]
            print(
                f"  of {len(claims)} pairs (d1, d2) with d2 of 2 and more and a loss up to 30% {true.sum()} "
                f"are true; l is 1 in {(claims[:, L] == 1).sum()}"
            )
    print(f"four problems: {total:.1f} CPU seconds")

    if "--exact" in sys.argv:
        table, schema = datasets.adult("train", quasi_identifiers=ATTRIBUTES, sensitive=())
        for privacy in ("weighted-k", "k-anonymity"):
            found = compare_with_exact(table, schema, privacy, free=FREE)  # type: ignore[arg-type]
            print(
                f"{privacy} against general loss: exact {found.exact:.4f}, evolution over the lattice "
                f"{found.closeness:.2%} of it, cuts {found.gain:.2f} times"
            )


if __name__ == "__main__":
    main()
