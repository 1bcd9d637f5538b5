"""Miners on Adult: the published accuracies of J48, and every registered miner with its seconds.

    python benchmarks/miners.py [--workers N] [--table-2]

45,222 records and the nine attributes of Brickell & Shmatikov 2008, table 1; 10-fold cross-validation,
single-threaded fits. Classifiers learn the marital status, regressors the age. Seconds are wall-clock
seconds for all ten folds, the start of the process included in the first.
"""

from __future__ import annotations

import sys

import numpy as np

from sfumato import Release, Schema, Table
from sfumato.miners import accuracy, original_view, predict, true_codes
from sfumato.reading import datasets
from sfumato.registry import methods

SUPPRESSED = ("age", "sex", "race")
PUBLISHED = {
    "workclass": (74.8618, 74.6672),
    "education": (41.6899, 41.1658),
    "marital-status": (69.3623, 58.5777),
    "occupation": (32.2387, 30.0363),
    "native-country": (91.7960, 91.6147),
    "salary": (82.7916, 82.4311),
}
NAMES = (*SUPPRESSED, *PUBLISHED)


def census() -> Release:
    roles = {name: "quasi-identifying" if name in SUPPRESSED else "insensitive" for name in NAMES}
    return original_view(Table.from_arrow(datasets.adult_records("complete", NAMES)), Schema.of(roles))  # type: ignore[arg-type]


def table_2(view: Release, workers: int) -> None:
    print(f"{'decision-tree':16} {'intact':>8} {'ours':>8} {'s':>6} {'supp.':>8} {'ours':>8} {'s':>6}")
    for target, published in PUBLISHED.items():
        line = f"{target:16}"
        for share, features in zip(published, (None, tuple(PUBLISHED)), strict=True):
            found = predict(view, target, "decision-tree", features=features, workers=workers)
            line += f" {share:8.2f} {100 * accuracy(view, found):8.2f} {found.seconds:6.1f}"
        print(line, flush=True)


def every_miner(view: Release, workers: int) -> None:
    for name, cls in methods.registered("miner").items():
        target = "marital-status" if cls.predicts == "category" else "age"
        found = predict(view, target, name, workers=workers)
        if not found.finished:
            print(f"{name:24} not finished: {found.trouble}", flush=True)
        elif cls.predicts == "category":
            print(
                f"{name:24} accuracy {100 * accuracy(view, found):6.2f}% {found.seconds:7.1f} s", flush=True
            )
        else:
            true = np.array(found.domain, dtype=float)[true_codes(view, target)[found.rows]]
            error = float(np.average(np.abs(true - found.predicted), weights=found.weights))
            print(f"{name:24} mean error {error:5.2f} {found.seconds:7.1f} s", flush=True)


def main(arguments: list[str]) -> None:
    workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 1
    view = census()
    table_2(view, workers)
    if "--table-2" not in arguments:
        every_miner(view, workers)


if __name__ == "__main__":
    main(sys.argv[1:])
