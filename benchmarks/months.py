"""Three months of a hospital's register: the recoding of the first kept, and the naive new release beside it.

python benchmarks/months.py                        20,000 patients a month
python benchmarks/months.py --patients 100000

The register is generated from a seed: everybody who is treated in a month, with birth year, sex, place and
diagnosis. One in ten leaves each month and others come; nobody's birth year, sex or place changes. January is
released by each method with k = 20. February and March are released twice: with January's recoding (`apply`),
and by running the same recipe anew. For both it is counted how many people are left who share a person's
classes in all releases so far, by the column that tells whose a record is.

With --folders DIR the months are also published there, each verified.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato import (
    Attribute,
    Intervals,
    Prefixes,
    Release,
    Schema,
    apply,
    freeze,
    measure,
    publish,
    sanitize,
    verify,
)
from sfumato.data.table import Table
from sfumato.models import KAnonymity
from sfumato.results.linked_people import match_people, person_names
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.origin import Earlier
from sfumato.sanitizers import Clustering, FullDomain, LocalRecoding, Mondrian, Sanitizer
from sfumato.workflow.apply.published_folders import parent_facts

K = 20
LEAVE = 0.1
DIAGNOSES = [f"{letter}{number}" for letter in "EIJFMCKG" for number in (10, 20, 30)]
SCHEMA = Schema(
    (
        Attribute("patient", "identifying"),
        Attribute("birth", "quasi-identifying", "numeric", Intervals((5, 10, 20, 40))),
        Attribute("sex", "quasi-identifying"),
        Attribute("zip", "quasi-identifying", hierarchy=Prefixes((4, 3, 2))),
        Attribute("diagnosis", "sensitive"),
    ),
    person="patient",
)
METHODS: dict[str, Sanitizer] = {
    "mondrian": Mondrian(KAnonymity(K)),
    "clustering": Clustering(KAnonymity(K)),
    "local-recoding": LocalRecoding(KAnonymity(K)),
    "full-domain": FullDomain({"birth": 2, "sex": 0, "zip": 2}, KAnonymity(K), suppression=0.1),
}

Person = tuple[str, int, str, str, str]


def somebody(rng: random.Random, number: int) -> Person:
    """Draw a person: more of the young and the old, more in some places than in others."""
    birth = round(rng.triangular(1930, 2025, rng.choice([1950, 1995])))
    place = f"{rng.choice([10, 10, 10, 12, 13, 20])}{rng.randrange(0, 300, 7):03}"
    return f"P{number}", birth, rng.choice("fm"), place, rng.choice(DIAGNOSES)


def months(n_patients: int, n_months: int, seed: int = 7) -> list[Table]:
    """Return the register of some months in a row."""
    rng = random.Random(seed)
    here = [somebody(rng, number) for number in range(n_patients)]
    found, known = [], n_patients
    for _ in range(n_months):
        found.append(register(here))
        stay = [each for each in here if rng.random() >= LEAVE]
        here = stay + [somebody(rng, known + number) for number in range(n_patients - len(stay))]
        known += n_patients
    return found


def register(people: Iterable[Person]) -> Table:
    """Return the table of some people."""
    columns = zip(*people, strict=True)
    names = [attribute.name for attribute in SCHEMA.attributes]
    return Table.from_arrow(dict(zip(names, map(list, columns), strict=True)))


def laid_beside(
    release: LinkedRelease, table: Table, earlier: list[tuple[LinkedRelease, Table]]
) -> LinkedRelease:
    """Return a release that knows who of it is who of the earlier ones."""
    releases = [release, *(before for before, _ in earlier)]
    tables = [table, *(records for _, records in earlier)]
    names = {
        place: named
        for place, (made, records) in enumerate(zip(releases, tables, strict=True))
        if (named := person_names(records, made.origin.table, SCHEMA)) is not None
    }
    now, *then = match_people(releases, names)
    known = [Earlier(before, (now, people)) for (before, _), people in zip(earlier, then, strict=True)]
    return release.with_earlier(*known)


def told(release: Release) -> str:
    """Say what somebody learns who has this release and the earlier ones."""
    k, loss, alone = measure(release, [{"composition-k": {"k": K // 2}}, "composition-loss", "privacy-loss"])
    assert k.value is not None
    assert loss.value is not None
    assert alone.value is not None
    return (
        f"k alone {release.classes.people.min():3}, together {k.value:3.0f}; below {K // 2}: "
        f"{k.detail['share-below-k']:6.1%}; loss alone {alone.value:.2f}, together {loss.value:.2f}; "
        f"left out {release.n_suppressed / release.n_original:5.1%}"
    )


def by_method(name: str, how: Sanitizer, tables: list[Table]) -> list[LinkedRelease]:
    """Release all months with the first one's recoding and anew, and tell both; return the former."""
    first = sanitize(tables[0], SCHEMA, how, seed=1)
    print(
        f"{name}: January has {first.classes.n_classes:,} classes, "
        f"the smallest of {first.classes.sizes.min()}"
    )
    recoding = freeze(first, tables[0])
    kept, anew = [(first, tables[0])], [(first, tables[0])]
    for month, table in zip(("February", "March"), tables[1:], strict=True):
        began = time.process_time()
        release = apply(recoding, table, limit=1.0, earlier=[before for before, _ in kept[1:]])
        seconds = time.process_time() - began
        print(f"  {month:8} kept  {told(laid_beside(release, table, kept))}; {seconds:.1f} s of CPU")
        again = sanitize(table, SCHEMA, how, seed=1)
        print(f"  {month:8} anew  {told(laid_beside(again, table, anew))}")
        kept.append((release, table))
        anew.append((again, table))
    return [release for release, _ in kept]


def publish_all(releases: list[LinkedRelease], folder: Path) -> None:
    """Publish the months, the later ones as children of the first, and verify every folder."""
    folder.mkdir(parents=True, exist_ok=True)
    places = [folder / month for month in ("january", "february", "march")]
    for number, (place, release) in enumerate(zip(places, releases, strict=True)):
        parent = parent_facts(None, places[0], places[1:number]) if number else None
        publish(release, place, why="an example", parent=parent, policy="none", allow_singling_out=True)
        print(f"{place.name}: {verify(place)!r}")


def speed(n_records: int = 1_000_000) -> None:
    """Time the matching alone: a million different records and thousands of classes."""
    rng = np.random.default_rng(3)

    def drawn(n: int) -> Table:
        return Table.from_arrow(
            {
                "patient": np.arange(n),
                "birth": rng.integers(1930, 2025, n),
                "sex": rng.choice(["f", "m"], n),
                "zip": [f"{code:05}" for code in rng.integers(10000, 14000, n)],
                "diagnosis": rng.choice(DIAGNOSES, n),
            }
        )

    first = sanitize(drawn(200_000), replace(SCHEMA, person=None), Mondrian(KAnonymity(K)))
    recoding, new = freeze(first), drawn(n_records)
    apply(recoding, drawn(n_records // 4), limit=1.0)
    began, wall = time.process_time(), time.perf_counter()
    release = apply(recoding, new, limit=1.0)
    seconds, waited = time.process_time() - began, time.perf_counter() - wall
    print(
        f"{n_records:,} records, {len(recoding.classes):,} classes: {seconds:.1f} s of CPU, {waited:.1f} s; "
        f"{release.n_suppressed / n_records:.1%} left out"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=20_000)
    parser.add_argument("--folders", type=Path)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed()
    else:
        every = months(given.patients, 3)
        for method, sanitizer in METHODS.items():
            made = by_method(method, sanitizer, every)
            if given.folders and method == "mondrian":
                publish_all(made, given.folders)
