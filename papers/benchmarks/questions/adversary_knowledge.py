"""Adversaries who know more than the release, and users who want several attributes.

M. Sramka and others, 2010, section 2: "We leave the challenging question of considering the effect of
(auxiliary) information from other sources on privacy of data for future work."
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import sfumato as sf
from questions.markdown import percent, table

RECORDS = 3_000
SEEDS = (0, 1, 2)
KNOWN: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "age and sex": ("age", "sex"),
    "age, sex, marital status": ("age", "sex", "marital-status"),
    "all six": ("age", "workclass", "education", "marital-status", "race", "sex"),
}
WANTED: dict[str, tuple[str, ...]] = {
    "salary": ("salary",),
    "marital status": ("marital-status",),
    "education": ("education",),
    "salary and marital status": ("salary", "marital-status"),
    "all three": ("salary", "marital-status", "education"),
}
RELEASES: dict[str, sf.sanitizers.Sanitizer] = {
    "as-is": sf.sanitizers.AsIs(),
    "mondrian k=10": sf.sanitizers.Mondrian(sf.models.KAnonymity(10)),
    "mondrian k=100": sf.sanitizers.Mondrian(sf.models.KAnonymity(100)),
    "mondrian t=0.1": sf.sanitizers.Mondrian(sf.models.TCloseness(0.1, "js")),
    "bucketize l=3": sf.sanitizers.Bucketize(sf.models.ProbabilisticDiversity(3)),
    "suppress-quasi-identifiers": sf.sanitizers.SuppressQuasiIdentifiers(),
}
MINERS = ("naive-bayes", "decision-tree")


def study(cache: Path) -> dict[str, Any]:
    """Attack occupation with more and more knowledge, and predict more and more attributes."""
    table, schema = _sample()
    made = {name: sf.sanitize(table, schema, how, seed=1) for name, how in RELEASES.items()}
    return {
        "records": table.n_records,
        "gained": {
            name: {known: _gained(each, KNOWN[known]) for known in KNOWN} for name, each in made.items()
        },
        "declined": {
            name: {wanted: _declined(each, WANTED[wanted]) for wanted in WANTED}
            for name, each in made.items()
        },
    }


def _sample() -> tuple[sf.Table, sf.Schema]:
    names = KNOWN["all six"]
    _, schema = sf.datasets.adult("train", quasi_identifiers=names)
    records = sf.datasets.adult_records("train", (*names, "occupation", "salary"))
    rows = np.random.default_rng(1).choice(len(records), RECORDS, replace=False)
    attributes = (*(schema[name] for name in (*names, "occupation")), sf.Attribute("salary", "insensitive"))
    return sf.Table.from_arrow(records.take(np.sort(rows))), sf.Schema(attributes)


def _gained(release: sf.Release, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the share of the people whose occupation is predicted, and what saying the same of all gives."""
    found = []
    for seed in SEEDS:
        attack = sf.measures.Adversary(
            ("occupation",), miners=MINERS, knows=known, guesses="values", fusion=False
        )
        scenario = sf.measures.Scenario("known", adversary=attack, folds=3, seed=seed, control=0)
        found += sf.measure(release, [sf.measures.AntiUtility(scenario)])
    return {"shares": [each.value for each in found], "baseline": found[0].baseline}


def _declined(release: sf.Release, wanted: tuple[str, ...]) -> list[float | None]:
    """Return how much less the user's miners achieve than on the original, with every seed."""
    found = []
    for seed in SEEDS:
        user = sf.measures.User(wanted, miners=MINERS)
        found += sf.measure(
            release, [sf.measures.GoodUtility(sf.measures.Scenario("wanted", user, folds=3, seed=seed))]
        )
    return [each.value for each in found]


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Write what is gained with what is known, and what is lost of what is wanted."""
    found = results["adult"]
    gained = [
        (f"`{name}`", *(_spread([100 * each for each in one[known]["shares"]]) for known in KNOWN))
        for name, one in found["gained"].items()
    ]
    declined = [
        (f"`{name}`", *(_spread([100 * each for each in one[wanted]]) for wanted in WANTED))
        for name, one in found["declined"].items()
    ]
    base = next(iter(found["gained"].values()))["nothing"]["baseline"]
    return {
        "adversary-knowledge-answer": _answer(found),
        "adversary-knowledge": table([f"right, % (the same said of all: {percent(base)})", *KNOWN], gained),
        "users-of-several-attributes": table(["decline, %", *WANTED], declined),
    }


def _answer(found: Mapping[str, Any]) -> str:
    def right(release: str, known: str) -> float:
        return 100 * median(found["gained"][release][known]["shares"])

    release, least = "mondrian k=100", "suppress-quasi-identifiers"
    return (
        f"Under `{release}` miners are right about {right(release, 'nothing'):.1f}% of the people, "
        f"{right(release, 'age and sex'):.1f}% with age and sex, {right(release, 'all six'):.1f}% with all "
        f"six attributes; with the table as it is {right('as-is', 'nothing'):.1f}%. Under `{least}` it is "
        f"{right(least, 'nothing'):.1f}%, and {right(least, 'all six'):.1f}% for somebody who knows all six."
    )


def _spread(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def pictures(results: Mapping[str, Any]) -> dict[str, str]:
    """Two tables say it all."""
    return {}
