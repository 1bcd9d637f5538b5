"""A release is the same whichever engine read the records, for every method."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.reading import datasets
from sfumato.reading.sources import source_at
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError, ProjectError
from sfumato.sanitizers.base import sanitize
from sfumato.workflow.engines.base import engine_named
from sfumato.workflow.project.project_file import Project

Bound = tuple[Table, Schema]
ENGINES = ("memory", "duckdb")
"""Those that are always installed for the tests; tests/spark has the other one."""
SANITIZERS = methods.registered("sanitizer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the first records of Adult into three Parquet files."""
    place = tmp_path_factory.mktemp("adult")
    records = datasets.adult_records(columns=("age", "sex", "race", "education", "occupation"))
    for part in range(3):
        pq.write_table(records.slice(part * 400, 400), place / f"{part}.parquet", row_group_size=100)
    return place


@pytest.fixture(scope="module")
def read(folder: Path) -> dict[str, Bound]:
    names = ("age", "sex", "race", "education")
    _, schema = datasets.adult(quasi_identifiers=names)
    schema = Schema(tuple(schema[name] for name in (*names, "occupation")))
    return {engine: schema.bind(engine_named(engine).reduce(source_at(folder), schema)) for engine in ENGINES}


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize(
    "name", [name for name, how in SANITIZERS.items() if vars(how).get("repeatable", True)]
)
def test_a_release_has_the_same_cells(read: dict[str, Bound], engine: str, name: str) -> None:
    leave = {"suppression": 1.0} if "suppression" in methods.parameters_of(SANITIZERS[name]) else {}
    one, other = (sanitize(*read[each], SANITIZERS[name](**leave), seed=7) for each in ("memory", engine))
    assert one.weights.tolist() == other.weights.tolist()
    for attribute, cells in one.cells.items():
        assert cells.labels == other.cells[attribute].labels
        assert cells.codes.tolist() == other.cells[attribute].codes.tolist()


def test_the_project_file_names_the_engine(tmp_path: Path, folder: Path) -> None:
    text = f"""
        [data]
        path = "{folder}"
        engine = "ENGINE"
        [attributes]
        age = {{ role = "quasi-identifying", kind = "numeric" }}
        sex = {{ role = "quasi-identifying" }}
        race = {{ role = "withheld" }}
        education = {{ role = "identifying" }}
        occupation = {{ role = "sensitive" }}
        [[candidates]]
        sanitizer = "mondrian"
    """
    found = [
        Project.parse(text.replace("ENGINE", name), tmp_path / "people.toml").read()[0] for name in ENGINES
    ]
    assert len({table.fingerprint for table in found}) == 1
    assert found[0].n_records == 1_200
    with pytest.raises(ProjectError, match=r"data\.engine: cannot be 'duckbd'; did you mean 'duckdb'"):
        Project.parse(text.replace("ENGINE", "duckbd"), tmp_path / "people.toml")


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ParameterError, match="no engine 'memry'; did you mean 'memory'"):
        engine_named("memry")
