"""Scenarios: the setting of Sramka et al. 2010 on Adult, published figures beside ours.

    python benchmarks/scenarios.py [RECORDS]

The 45,222 complete records (or so many of them, for a quicker look), eight quasi-identifiers, salary
sensitive. The honest user classifies salary with naive Bayes, a C4.5-like tree and a random forest like
Weka's; the adversary attacks age: A all nearer predictions, B exact ones, C nearer ones of five per cent of
the people. B has a control group.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato import (
    Adversary,
    AntiUtility,
    AsIs,
    Clustering,
    GoodUtility,
    KAnonymity,
    Laplace,
    NearerAccuracyGain,
    NearerKnowledgeGain,
    Release,
    Scenario,
    Table,
    User,
    datasets,
    measure,
    sanitize,
)

NAMES = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
FOREST = "random-forest trees=10 smallest-leaf=1 features=log2"
USERS = {"naive-bayes": 36_972, "decision-tree": 37_609, FOREST: 36_172}
RESEARCHER = Scenario(user=User("salary", miners=tuple(USERS)))
DECLINES = {"k=2": 1.24, "k=10": 1.86, "k=50": 2.90, "k=100": 4.68, "epsilon=0.5": 1.87, "epsilon=0.05": 1.68}
WORST = {
    "k=2": (630, 0, 389),
    "k=10": (322, 0, 199),
    "k=50": (185, 0, 121),
    "k=100": (77, 0, 57),
    "epsilon=0.5": (44_383, 1_341, 2_242),
    "epsilon=0.05": (44_741, 780, 2_261),
}
GAINS = {
    "k=2": (0.1084, 0.1124, 0.2763, 0.2775),
    "k=10": (0.0861, 0.0898, 0.2329, 0.2357),
    "k=50": (0.0658, 0.0667, 0.2053, 0.2063),
    "k=100": (0.0541, 0.0546, 0.1913, 0.1919),
}
MINERS = (
    "naive-bayes",
    "decision-tree",
    "nearest-neighbours",
    "one-rule",
    "linear-regression",
    "regression-tree",
)


def celebrities(table: Table) -> Any:
    """Give weight 1 to one row in twenty, by a fixed draw."""
    return (np.random.default_rng(5).random(table.n_rows) < 0.05).astype(np.float64)


def ways() -> dict[str, Any]:
    clustered = {f"k={k}": Clustering(KAnonymity(k)) for k in (2, 10, 50, 100)}
    return clustered | {f"epsilon={e}": Laplace(e, ranges={"age": 82}) for e in (0.5, 0.05)}


def adversaries() -> dict[str, Adversary]:
    return {
        "A": Adversary(("age",), reduction="nearer", miners=MINERS, guesses="released"),
        "B": Adversary(("age",), reduction="exact", miners=MINERS),
        "C": Adversary(("age",), celebrities, "nearer", miners=MINERS, guesses="released"),
    }


def seconds(what: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    found = what()
    return found, time.perf_counter() - began


def report(name: str, release: Release) -> None:
    (good,), taken = seconds(lambda: measure(release, [GoodUtility(RESEARCHER)]))
    sums = " ".join(f"{miner} {each['released']:,.0f}" for miner, each in good.detail["miners"].items())
    print(f"{name:<13} decline {good.value:7.2%} (paper {DECLINES.get(name, 0):.2f}%)  {sums}  {taken:.0f} s")
    for place, (letter, adversary) in enumerate(adversaries().items()):
        scenario = Scenario(adversary=adversary, control=0.2 if letter == "B" else 0.0)
        (bad,), taken = seconds(lambda s=scenario: measure(release, [AntiUtility(s)]))  # type: ignore[misc]
        paper = WORST.get(name, (0, 0, 0))[place]
        print(
            f"{'':<13} {letter} worst {bad.detail['worst-sum']:9,.0f} (paper {paper:,}) average "
            f"{bad.detail['average-sum']:9,.1f} {bad.detail['worst-miner']}  {taken:.0f} s"
        )
        if "control" in bad.detail:
            members, strangers = bad.detail["members"], bad.detail["control"]
            print(f"{'':<13}   members {members:.2%} strangers {strangers:.2%} {bad.detail['control-miner']}")
    if name in GAINS:
        scenario = Scenario(adversary=adversaries()["A"])
        acc, know = measure(release, [NearerAccuracyGain(scenario), NearerKnowledgeGain(scenario)])
        print(
            f"{'':<13} A_acc {acc.baseline:.4f} -> {acc.value:.4f} (replaced {acc.detail['replaced']:.4f}) "
            f"A_know {know.baseline:.4f} -> {know.value:.4f} (replaced {know.detail['replaced']:.4f}); "
            f"paper {GAINS[name]}",
            flush=True,
        )


def main() -> None:
    table, schema = datasets.adult(quasi_identifiers=NAMES, sensitive=("salary",))
    if len(sys.argv) > 1:
        table = Table.from_arrow(
            table.to_arrow().take(np.random.default_rng(0).permutation(45_222)[: int(sys.argv[1])])
        )
    table, schema = schema.bind(table)
    (original,) = measure(sanitize(table, schema, AsIs()), [GoodUtility(RESEARCHER)])
    for miner, each in original.detail["miners"].items():
        print(f"original      {miner:<55} {each['original']:9,.0f} (paper {USERS[miner]:,})", flush=True)
    for name, how in ways().items():
        release, taken = seconds(lambda how=how: sanitize(table, schema, how))  # type: ignore[misc]
        print(f"{name:<13} made in {taken:.0f} s", flush=True)
        report(name, release)


if __name__ == "__main__":
    main()
