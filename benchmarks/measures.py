"""Measures: CPU seconds after compilation, the first release of a table and the next.

    python benchmarks/measures.py

Adult is the 45,222 complete records with six quasi-identifiers and occupation sensitive. What a measure
finds out about the table alone (populations, queries, true counts) it finds out once: *first* is with it,
*next* without. The second table shows both ways to read a release, the third what is measured of a sample
with survey weights and households.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.data.table import Membership
from sfumato.measures import KLDivergence, QueryError, UtilityLoss
from sfumato.measures.utility.estimation.subpopulations import large_populations
from sfumato.models import KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.results.measurement import build_measure
from sfumato.runtime import caching
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    CellSuppression,
    FullDomain,
    Mondrian,
    SuppressQuasiIdentifiers,
)

REPEATS = 5
LEVELS = {"age": 2, "workclass": 1, "education": 2, "marital-status": 1, "race": 1}
WAYS: dict[str, Any] = {
    "as-is": AsIs(),
    "suppress-quasi-identifiers": SuppressQuasiIdentifiers(),
    "full-domain k=5": FullDomain(LEVELS, KAnonymity(5), suppression=0.1),
    "mondrian k=5": Mondrian(KAnonymity(5)),
    "mondrian k=10": Mondrian(KAnonymity(10)),
    "mondrian relaxed k=10": Mondrian(KAnonymity(10), variant="relaxed"),
    "mondrian k=50": Mondrian(KAnonymity(50)),
    "mondrian k=10 l=3": Mondrian(KAnonymity(10) & ProbabilisticDiversity(3)),
    "mondrian k=10 t=0.2": Mondrian(KAnonymity(10) & TCloseness(0.2)),
    "mondrian js=0.1": Mondrian(TCloseness(0.1, "js")),
    "cell-suppression k=5": CellSuppression(KAnonymity(5)),
    "bucketize l=3": Bucketize(ProbabilisticDiversity(3)),
    "bucketize js=0.1": Bucketize(TCloseness(0.1, "js")),
    "anatomy l=3": Anatomy(3),
}


def seconds(what: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    """Return the median CPU seconds."""
    taken = []
    for _ in range(REPEATS):
        before()
        began = time.process_time()
        what()
        taken.append(time.process_time() - began)
    return sorted(taken)[REPEATS // 2]


def every_measure(release: Release) -> None:
    print(f"{'measure':<40} {'first s':>8} {'next s':>8}")
    wanted = [
        *methods.registered("measure"),
        {"utility-loss": {"reconstruction": "maximum-entropy"}},
        {"query-error": {"reconstruction": "maximum-entropy"}},
        {"kl-divergence": {"reconstruction": "maximum-entropy"}},
        {"utility-loss": {"minimum-support": 0.001}},
    ]
    for each in wanted:
        asked = build_measure(each)
        measure(release, [asked])
        first = seconds(lambda asked=asked: measure(release, [asked]), caching.forget)  # type: ignore[misc]
        after = seconds(lambda asked=asked: measure(release, [asked]))  # type: ignore[misc]
        print(f"{asked.label:<40} {first:8.4f} {after:8.4f}")


def both_readings(releases: dict[str, Release]) -> None:
    print(
        f"\n{'release':<28} {'utility-loss':^19} {'query-error':^19} {'kl-divergence':^19}\n"
        f"{'':<28} {'uniform':>9} {'entropy':>9} {'uniform':>9} {'entropy':>9} {'uniform':>9} {'entropy':>9}"
    )
    for name, release in releases.items():
        found = [
            measure(release, [measured(reconstruction=how)])[0].value
            for measured in (UtilityLoss, QueryError, KLDivergence)
            for how in ("uniform", "maximum-entropy")
        ]
        print(f"{name:<28} " + " ".join(f"{value:9.5f}" for value in found))


def of_a_sample(table: Table, schema: Schema) -> None:
    """Print what risks against a population cost, each record standing for about 100 people."""
    rng = np.random.default_rng(0)
    sample = replace(
        table,
        survey_weights=table.weights * rng.lognormal(4.5, 0.5, table.n_rows),
        households=Membership(
            np.repeat(np.arange(table.n_rows), table.weights), np.arange(table.n_records) // 3
        ),
    )
    names = ("journalist-risk", "k-map", "marketer-risk", "individual-risk", "population-uniqueness")
    print(f"\n{'of a sample':<28} {'as-is s':>9} {'k=5 s':>9} {'as-is':>9} {'k=5':>9}")
    releases = [sanitize(sample, schema, WAYS[name]) for name in ("as-is", "mondrian k=5")]
    for name in (*names, "household-risk"):
        found = [measure(release, [name])[0].value for release in releases]
        times = [seconds(lambda of=of, name=name: measure(of, [name])) for of in releases]  # type: ignore[misc]
        print(f"{name:<28} " + " ".join(f"{value:9.4f}" for value in [*times, *found]))


def main() -> None:
    table, schema = datasets.adult()
    table, schema = schema.bind(table)
    releases = {name: sanitize(table, schema, how) for name, how in WAYS.items()}
    every_measure(releases["mondrian k=5"])
    for support in (0.05, 0.01, 0.001):
        taken = seconds(
            lambda support=support: large_populations(table, schema, support),  # type: ignore[misc]
            caching.forget,
        )
        print(
            f"{len(large_populations(table, schema, support)):,} populations of {support:.1%}: {taken:.3f} s"
        )
    both_readings(releases)
    of_a_sample(table, schema)


if __name__ == "__main__":
    main()
