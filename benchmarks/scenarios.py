"""Scenarios: what miners find out about the people of a release, and about people who were left out of it.

    python benchmarks/scenarios.py [RECORDS]

Adult, the 45,222 complete records (or so many of them, for a quicker look), eight quasi-identifiers, salary
sensitive; exact predictions of age and of salary, a fifth of the people in the control group. The figures of
Sramka et al. 2010 beside ours: `sfumato reproduce sramka`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from sfumato import Release, Table, measure, sanitize
from sfumato.measures import Adversary, AntiUtility, Scenario
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.sanitizers import AsIs, Clustering, Laplace

NAMES = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
OF_CATEGORIES = ("naive-bayes", "decision-tree", "nearest-neighbours")
OF_NUMBERS = ("linear-regression", "regression-tree")
ADVERSARIES = {
    "age": Adversary(("age",), reduction="exact", miners=(*OF_CATEGORIES, *OF_NUMBERS)),
    "salary": Adversary(
        ("salary",), reduction="exact", miners=("naive-bayes", "decision-tree", "random-forest")
    ),
}


def ways() -> dict[str, Any]:
    clustered = {f"clustering k={k}": Clustering(KAnonymity(k)) for k in (2, 10, 50, 100)}
    noisy = {f"laplace epsilon={e}": Laplace(e, ranges={"age": 82}) for e in (0.5, 0.05)}
    return {"as is": AsIs(), **clustered, **noisy}


def report(name: str, release: Release) -> None:
    for attacked, adversary in ADVERSARIES.items():
        began = time.perf_counter()
        (bad,) = measure(release, [AntiUtility(Scenario(adversary=adversary, control=0.2))])
        found = bad.detail
        radius = (found["beyond-control-high"] - found["beyond-control-low"]) / 2
        print(
            f"{name:<22} {attacked:<7} members {found['members']:6.1%} control {found['control']:6.1%} "
            f"beyond {100 * found['beyond-control']:5.1f} ± {100 * radius:.1f}  {found['control-miner']:<20} "
            f"{time.perf_counter() - began:4.0f} s",
            flush=True,
        )


def main() -> None:
    table, schema = datasets.adult(quasi_identifiers=NAMES, sensitive=("salary",))
    if len(sys.argv) > 1:
        chosen = np.random.default_rng(0).permutation(45_222)[: int(sys.argv[1])]
        table = Table.from_arrow(table.to_arrow().take(chosen))
    bound = schema.bind(table)
    for name, how in ways().items():
        report(name, sanitize(*bound, how))


if __name__ == "__main__":
    main()
