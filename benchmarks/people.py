"""People, not rows: what every method keeps for people, and what counting them costs.

python benchmarks/people.py                 8,000 visits of 3,400 patients
python benchmarks/people.py --visits 80000 --patients 34000

Each method is asked for k = 20 twice: told whose the visits are, and not told. How many people the smallest
class has is counted by plain Python from the released labels. Then mondrian, the profile of the lattice and
the measures are timed both ways, CPU seconds after a first run that compiles.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sfumato import Attribute, Intervals, Prefixes, Schema, Table, measure, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.results import LinkedRelease
from sfumato.runtime.errors import SfumatoError
from sfumato.sanitizers import (
    Anatomy,
    Bucketize,
    CellSuppression,
    Clustering,
    Cut,
    FullDomain,
    LocalRecoding,
    Mondrian,
)
from sfumato.searches.lattice.optimum import optimal_node
from sfumato.searches.lattice.profile import profile

K = 20
ILLNESSES = [f"{letter}{number}" for letter in "EIJFMCKG" for number in (10, 20, 30)]
ATTRIBUTES = (
    Attribute("patient", "identifying"),
    Attribute("birth", "quasi-identifying", hierarchy=Intervals((5, 10, 20))),
    Attribute("sex", "quasi-identifying"),
    Attribute("zip", "quasi-identifying", hierarchy=Prefixes((4, 3, 2))),
    Attribute("admitted", "quasi-identifying", hierarchy=Intervals((7, 28, 84))),
    Attribute("ward", "quasi-identifying"),
    Attribute("diagnosis", "sensitive"),
)
BY_PEOPLE, BY_ROWS = Schema(ATTRIBUTES, person="patient"), Schema(ATTRIBUTES)
MEASURES = ("reidentification-risk", "weighted-k", "k-anonymity", "privacy-loss", "knowledge-gain")
MEASURES += ("accuracy-gain", "t-closeness", "probabilistic-diversity", "total-loss", "discernibility")


def clinic(n_visits: int, n_patients: int, seed: int = 15) -> dict[str, list[Any]]:
    """Draw visits: a few patients come often, most once or twice, and return with the same illness."""
    rng = random.Random(seed)
    patients = [
        (
            number,
            rng.randrange(1930, 2015),
            rng.choice("fm"),
            f"{rng.randrange(1000, 1400):05}",
            rng.choice(ILLNESSES),
        )
        for number in range(n_patients)
    ]
    weights = [rng.paretovariate(1.5) for _ in patients]
    come = [*patients, *rng.choices(patients, weights, k=n_visits - n_patients)]
    rows: dict[str, list[Any]] = {attribute.name: [] for attribute in ATTRIBUTES}
    for patient, birth, sex, code, illness in come:
        visit = (patient, birth, sex, code, rng.randrange(365), rng.choice("ABCDE"))
        for name, value in zip(
            rows, (*visit, illness if rng.random() < 0.7 else rng.choice(ILLNESSES)), strict=True
        ):
            rows[name].append(value)
    return rows


def methods(schema: Schema, table: Table) -> dict[str, Any]:
    """Return every method with a model, asked for 20 in a class; those without one promise nothing."""
    k, diverse = KAnonymity(K), ProbabilisticDiversity(3)
    best = optimal_node(table, schema, k, suppression=0.2, budget=20).levels
    cuts = {name: "0" * (len(table[name].domain) - 1) for name in schema.quasi_identifiers}
    return {
        "mondrian": Mondrian(k),
        "mondrian, relaxed": Mondrian(k, "relaxed"),
        "clustering": Clustering(k),
        "local-recoding": LocalRecoding(k, effort=2),
        "full-domain (optimum)": FullDomain(best, k, 0.2),
        "cut": Cut(cuts, k, 0.2),
        "cell-suppression": CellSuppression(k, 0.2),
        "bucketize, groups of 20": Bucketize(diverse, smallest_group=K),
        "anatomy, l = 3": Anatomy(3),
    }


def fewest_people(release: LinkedRelease, whose: dict[int, list[int]]) -> int:
    """Count the people of the smallest class, or group, from what would be published and who is behind it."""
    people: dict[Any, set[int]] = defaultdict(set)
    cells = [release.cells[name] for name in release.schema.quasi_identifiers]
    for row in range(release.n_rows):
        key: Any = tuple(each.labels[each.codes[row]] for each in cells)
        if release.group_of is not None:
            key = int(release.group_of[row])
        people[key].update(whose[int(release.origin.rows[row])])
    return min(map(len, people.values()))


def whose(table: Table, rows: dict[str, list[Any]]) -> dict[int, list[int]]:
    """Return the patients behind each row of a bound table: one, or all who have these values."""
    if table.person_of is not None:
        return {row: [int(person)] for row, person in enumerate(table.person_of)}
    names = [name for name in rows if name != "patient"]
    patients: dict[Any, list[int]] = defaultdict(list)
    for place, patient in enumerate(rows["patient"]):
        patients[tuple(str(rows[name][place]) for name in names)].append(patient)
    return {
        row: patients[tuple(str(table[name].domain[table[name].codes[row]]) for name in names)]
        for row in range(table.n_rows)
    }


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the best of three runs, after one that compiles."""
    work()
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--visits", type=int, default=8_000)
    options.add_argument("--patients", type=int, default=3_400)
    chosen = options.parse_args()
    rows = clinic(chosen.visits, chosen.patients)
    original = Table.from_arrow(rows)
    people, plain = BY_PEOPLE.bind(original), BY_ROWS.bind(original)
    print(f"{chosen.visits:,} visits of {people[0].n_people:,} patients\n")
    print(
        "| method | people in the smallest class, people counted | the same, rows counted | true risk then |"
    )
    print("|---|---:|---:|---:|")
    for name in methods(people[1], people[0]):
        fewest = []
        for table, schema in (people, plain):
            try:
                release = sanitize(table, schema, methods(schema, table)[name], seed=1)
                fewest.append(fewest_people(release, whose(table, rows)))
            except SfumatoError as error:
                fewest.append(str(error)[:60])
        risk = f"{1 / fewest[1]:.1%}" if isinstance(fewest[1], int) else ""
        print(f"| {name} | {fewest[0]} | {fewest[1]} | {risk} |", flush=True)
    print("\n| what | people counted (CPU s) | rows counted | ratio |\n|---|---:|---:|---:|")
    k = Mondrian(KAnonymity(K))
    releases = [sanitize(*both, k, seed=1) for both in (people, plain)]
    work: dict[str, list[Callable[[], Any]]] = {
        "mondrian k = 20": [lambda b=b: sanitize(*b, k, seed=1) for b in (people, plain)],
        "lattice profile": [lambda b=b: profile(*b) for b in (people, plain)],
        "the same, sizes only": [lambda b=b: profile(*b, sensitive=()) for b in (people, plain)],
        f"{len(MEASURES)} measures": [lambda r=r: measure(anew(r), MEASURES) for r in releases],
    }
    for name, (by_people, by_rows) in work.items():
        one, other = seconds(by_people), seconds(by_rows)
        print(f"| {name} | {one:.3f} | {other:.3f} | {one / other:.2f} |", flush=True)


def anew(release: LinkedRelease) -> LinkedRelease:
    """Return the same release with nothing remembered."""
    return replace(release, origin=replace(release.origin))


if __name__ == "__main__":
    main()
