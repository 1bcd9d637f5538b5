"""A recoding that was learned on a sample is given to all records, and the model holds for all of them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sfumato.data.schema import Schema
from sfumato.models.anonymity import KAnonymity
from sfumato.reading import datasets
from sfumato.reading.sources import source_at
from sfumato.results.learned_recoding import enforced
from sfumato.results.recode_records import take
from sfumato.results.recoding import Recoding, freeze
from sfumato.results.release import Release
from sfumato.runtime.errors import PolicyNotMet, ProjectError, UserError
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.sanitizers.generalize.mondrian import Mondrian
from sfumato.workflow.engines import duckdb
from sfumato.workflow.engines.base import engine_named
from sfumato.workflow.project.project_file import Project

NAMES = ("age", "sex", "race", "education")
LEVELS = {"age": 2, "sex": 0, "race": 1, "education": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 6,000 records of Adult into three Parquet files."""
    place = tmp_path_factory.mktemp("adult") / "parts"
    place.mkdir()
    records = datasets.adult_records(columns=(*NAMES, "occupation"))
    for part in range(3):
        pq.write_table(records.slice(part * 2_000, 2_000), place / f"{part}.parquet")
    return place


@pytest.fixture(scope="module")
def schema() -> Schema:
    _, described = datasets.adult(quasi_identifiers=NAMES)
    return Schema(tuple(described[name] for name in (*NAMES, "occupation")))


def learned(folder: Path, schema: Schema, how: Any, share: float) -> Recoding:
    sample = duckdb.ENGINE.reduce(source_at(folder), schema, share=share)
    return freeze(sanitize(sample, schema, how, seed=1))


def told(release: Release) -> Counter[tuple[str | None, ...]]:
    """Count the released records, every cell as it is written."""
    return Counter(map(tuple, zip(*release.to_arrow(typed=False).to_pydict().values(), strict=True)))


def test_a_share_is_about_as_large_as_asked_and_always_the_same(folder: Path) -> None:
    one, again = (duckdb.ENGINE.reduce(source_at(folder), share=0.2) for _ in range(2))
    assert one.fingerprint == again.fingerprint
    # 6,000 records with a chance of 0.2: a standard deviation of 31
    assert abs(one.n_records - 1_200) < 160


def test_all_records_get_what_the_recoding_would_give_them_one_by_one(folder: Path, schema: Schema) -> None:
    recoding = learned(folder, schema, FullDomain(LEVELS, KAnonymity(5), suppression=1.0), 0.2)
    source = source_at(folder)
    whole = engine_named("memory").reduce(source, schema)
    tables = [engine_named(name).apply(source, recoding) for name in ("memory", "duckdb")]
    assert tables[0].fingerprint == tables[1].fingerprint
    assert tables[0].n_records == whole.n_records
    assert tables[0].n_rows < whole.n_rows / 2
    expected, found = take(recoding, whole), take(recoding, tables[0])
    assert told(found.release) == told(expected.release)
    assert found.withheld == expected.withheld


def test_the_model_holds_for_all_records(folder: Path, schema: Schema) -> None:
    recoding = learned(folder, schema, FullDomain(LEVELS, KAnonymity(5), suppression=0.5), 0.1)
    release = enforced(recoding, duckdb.ENGINE.apply(source_at(folder), recoding))
    classes: Counter[tuple[str | None, ...]] = Counter()
    for row, count in told(release).items():
        classes[row[:-1]] += count
    assert min(classes.values()) >= 5
    assert release.n_original == 6_000
    assert release.n_records == sum(classes.values()) > 3_000


def test_too_many_that_must_be_left_out_are_refused(folder: Path, schema: Schema) -> None:
    fine = dict.fromkeys(NAMES, 0)
    recoding = learned(folder, schema, FullDomain(fine, KAnonymity(20), suppression=0.99), 0.5)
    with pytest.raises(PolicyNotMet, match=r"of all 6,000 records would have to be suppressed"):
        enforced(freeze_with(recoding, 0.01), duckdb.ENGINE.apply(source_at(folder), recoding))


def freeze_with(recoding: Recoding, suppression: float) -> Recoding:
    """Return the recoding of a recipe that allows fewer records to be left out."""
    from dataclasses import replace

    parameters = {**recoding.recipe.parameters, "suppression": suppression}
    return replace(
        recoding, release=replace(recoding.release, recipe=replace(recoding.recipe, parameters=parameters))
    )


def test_a_recoding_of_classes_is_refused(folder: Path, schema: Schema) -> None:
    recoding = learned(folder, schema, Mondrian(KAnonymity(5)), 0.2)
    for engine in ("memory", "duckdb"):
        with pytest.raises(UserError, match="mondrian recodes classes, not values"):
            engine_named(engine).apply(source_at(folder), recoding)


PROJECT = """
    policy.recipient = "none"
    [data]
    path = "FOLDER"
    engine = "duckdb"
    sample = 0.3
    [attributes]
    age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10, 20, 40] } }
    sex = { role = "quasi-identifying" }
    race = { role = "withheld" }
    education = { role = "withheld" }
    occupation = { role = "sensitive" }
    [[candidates]]
    sanitizer = "full-domain"
    levels = { age = 2, sex = 0 }
    suppression = 0.1
    model = { k-anonymity = { k = 7 } }
"""


def test_a_project_learns_on_a_sample_and_publishes_all(folder: Path, tmp_path: Path) -> None:
    from sfumato.workflow.explore.explore_project import explore
    from sfumato.workflow.explore.stored_results import frontier_of
    from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
    from sfumato.workflow.publish.publish import publish_candidate
    from sfumato.workflow.publish.verify import verify
    from sfumato.workflow.store.store import Store

    project = Project.parse(PROJECT.replace("FOLDER", str(folder)), tmp_path / "adult.toml")
    with Store(project.store_path) as store:
        explore(project, store, workers=1)
        table, schema = project.read()
        assert table.n_records < 2_200
        frontier, _ = frontier_of(project, store, table, schema)
        (candidate,) = frontier.candidates
    request = PublicationRequest(tmp_path / "out", evidence=Evidence(frontier), allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    assert verify(tmp_path / "out")
    with (tmp_path / "out" / "data.csv").open(newline="") as file:
        rows = [(row["age"], row["sex"]) for row in csv.DictReader(file)]
    assert len(rows) > 5_400
    assert min(Counter(rows).values()) >= 7


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sample = 0.3", "sample = 3.0", "data.sample: must be a share between 0 and 1"),
        ('engine = "duckdb"', "", 'data.sample: only engine = "duckdb" learns on a sample'),
    ],
)
def test_what_cannot_be_is_refused_by_the_project_file(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=said):
        Project.parse(PROJECT.replace(old, new), tmp_path / "adult.toml")
