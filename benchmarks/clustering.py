"""Clustering beside Mondrian: CPU seconds after compilation, and the general loss of the release.

    python benchmarks/clustering.py [--large]

Adult is the 45,222 complete records with six quasi-identifiers. The made-up table has six of 10 to 1,000
values: every record is different, so that nothing is gained by counting equal ones.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from sfumato import (
    KAnonymity,
    Mondrian,
    ProbabilisticDiversity,
    Schema,
    Table,
    TCloseness,
    datasets,
    measure,
    sanitize,
)
from sfumato.sanitizers import Clustering

Bound = tuple[Table, Schema]

MODELS = {
    "k=5": KAnonymity(5),
    "k=10": KAnonymity(10),
    "k=50": KAnonymity(50),
    "k=5 l=3": KAnonymity(5) & ProbabilisticDiversity(3),
    "k=5 t=0.2": KAnonymity(5) & TCloseness(0.2),
    "k=5 js=0.1": KAnonymity(5) & TCloseness(0.1, "js"),
}


def made_up(n_records: int) -> Bound:
    rng = np.random.default_rng(0)
    n_values = {"a": 10, "b": 20, "c": 50, "d": 100, "e": 100, "f": 1_000}
    columns = {name: rng.integers(0, n, n_records) for name, n in n_values.items()}
    columns["s"] = rng.integers(0, 14, n_records)
    roles = {**dict.fromkeys(n_values, "quasi-identifying"), "s": "sensitive"}
    return Schema.of(roles).bind(Table.from_arrow(columns))  # type: ignore[arg-type]


def show(title: str, bound: Bound, model: str) -> None:
    """Print the seconds, the classes and the loss of both sanitizers."""
    for how in (Clustering(MODELS[model]), Mondrian(MODELS[model])):
        began = time.process_time()
        release = sanitize(*bound, how)
        taken = time.process_time() - began
        (loss,) = measure(release, ["general-loss"])
        print(
            f"{title:>8} {bound[0].n_records:>10,}  {model:<11} {type(how).__name__:<10} {taken:8.2f} "
            f"{release.classes.n_classes:>8,} {loss.value:13.4f}"
        )


def main(large: bool) -> None:
    adult = datasets.adult()
    bound = adult[1].bind(adult[0])
    for model in MODELS.values():
        for how in (Clustering(model), Mondrian(model)):
            sanitize(*bound, how)
    heads = f"{'table':>8} {'records':>10}  {'model':<11} {'sanitizer':<10} {'CPU s':>8} {'classes':>8}"
    print(f"{heads}  general loss")
    for name in MODELS:
        show("Adult", bound, name)
    for n_records in (30_000, 100_000, *([300_000] if large else [])):
        show("made up", made_up(n_records), "k=5")


if __name__ == "__main__":
    main("--large" in sys.argv[1:])
