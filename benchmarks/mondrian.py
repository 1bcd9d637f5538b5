"""Mondrian: CPU seconds after compilation, and how they grow with the number of records.

    python benchmarks/mondrian.py [--large]

Adult is the 30,162 complete records of the training file with six quasi-identifiers. The made-up table
has eight quasi-identifiers of 100 values and a sensitive attribute of 20: every record is different, so
that nothing is gained by counting equal ones.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

from sfumato import Schema, Table
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.models import KAnonymity, PrivacyModel, ProbabilisticDiversity, TCloseness
from sfumato.reading import datasets
from sfumato.sanitizers.generalize.mondrian import Variant, partition

MODELS = {
    "k=10": KAnonymity(10),
    "k=10 l=3": KAnonymity(10) & ProbabilisticDiversity(3),
    "k=10 t=0.2": KAnonymity(10) & TCloseness(0.2),
    "k=10 js=0.1": KAnonymity(10) & TCloseness(0.1, "js"),
}


def made_up(n_records: int) -> tuple[Table, Schema]:
    rng = np.random.default_rng(0)
    columns = {
        f"q{i}": Column(rng.integers(0, 100, n_records).astype(np.int32), tuple(range(100)), NUMERIC)
        for i in range(8)
    }
    values = tuple(str(value) for value in range(20))
    columns["s"] = Column(rng.integers(0, 20, n_records).astype(np.int32), values)
    roles = {**{f"q{i}": "quasi-identifying" for i in range(8)}, "s": "sensitive"}
    return Schema.of(roles).bind(Table(columns, np.ones(n_records, dtype=np.int64)))  # type: ignore[arg-type]


def seconds(
    table: Table, schema: Schema, model: PrivacyModel, variant: Variant, repeats: int
) -> tuple[float, int]:
    """Return the median CPU seconds and the number of parts."""
    rng = np.random.default_rng(0)
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        parts = partition(table, schema, model, variant, rng)
        taken.append(time.process_time() - began)
    return sorted(taken)[repeats // 2], len(parts.low)


def main(large: bool) -> None:
    adult = datasets.adult("train")
    bound = adult[1].bind(adult[0])
    for model in MODELS.values():
        partition(*made_up(1000), model, "strict", np.random.default_rng(0))
        partition(*bound, model, "strict", np.random.default_rng(0))
    print(f"{'table':>12} {'records':>10}  {'model':<12} {'variant':<8} {'CPU s':>8} {'parts':>8}")
    for name, model in MODELS.items():
        for variant in ("strict", "relaxed"):
            taken, parts = seconds(*bound, model, variant, 7)
            print(f"{'Adult':>12} {bound[0].n_records:>10,}  {name:<12} {variant:<8} {taken:8.4f} {parts:8,}")
    before: tuple[int, float] | None = None
    for n_records in (30_000, 300_000, *([3_000_000] if large else [])):
        table, schema = made_up(n_records)
        taken, parts = seconds(table, schema, MODELS["k=10"], "strict", 3)
        growth = (
            ""
            if before is None
            else f"  exponent {math.log(taken / before[1]) / math.log(n_records / before[0]):.2f}"
        )
        print(f"{'made up':>12} {n_records:>10,}  {'k=10':<12} {'strict':<8} {taken:8.4f} {parts:8,}{growth}")
        before = (n_records, taken)


if __name__ == "__main__":
    main("--large" in sys.argv[1:])
