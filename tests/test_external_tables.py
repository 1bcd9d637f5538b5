"""External tables, small: by the defaults alone from the file to the verified folder.

The whole corpus, public tables too, goes the same way by ``python benchmarks/external_tables.py``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sfumato.interfaces.cli import run
from sfumato.interfaces.workbench.routes.ask import STANDING

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SIZES = {"clinic": 240, "survey": 150, "customers": 240, "log": 300, "ten": 10}
Run = Callable[..., tuple[int, str, str]]


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


messy = loaded("messy")
TABLES = {table.name: table for table in messy.TABLES}


@pytest.fixture
def sfumato(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def facts(answer: tuple[int, str, str]) -> dict[str, Any]:
    code, out, errors = answer
    assert code == 0, errors
    return json.loads(out)


def ratings(n_people: int = 500, n_titles: int = 2000) -> str:
    """Write who rated which film: thousands of titles without a hierarchy, a few that begin like numbers."""
    rng = np.random.default_rng(7)
    heads = ("Night", "Love", "Return", "Zoo", "Moon", "How to", "Old", "Dark", "3:10", "Island")
    lines = ["row,movieId,title,year,userId,rating"]
    for person in range(n_people):
        for film in (n_titles * rng.random(6) ** 2).astype(int).tolist():
            head = heads[film % 10] if film % 10 != 8 or film % 70 == 8 else "Giant"
            title = f"{head} {chr(65 + film % 26)}{film}"
            stars = rng.integers(1, 11) / 2
            lines.append(f"{len(lines)},{7 * film},{title},{1950 + film % 70},{person + 1},{stars}")
    return "\n".join(lines) + "\n"


@pytest.mark.thorough("the first of the other tables")
# on a slow machine a method may be given up for taking a third of the budget, which is what the budget is
# for, and where kernels are compiled first fewer candidates are made: both ends and one between come soon
@pytest.mark.filterwarnings("default::sfumato.registry.plugin_errors.MethodFails")
def test_thousands_of_titles_end_in_a_frontier_and_a_short_verified_file(
    tmp_path: Path, sfumato: Run
) -> None:
    data, project, folder = (tmp_path / f"ratings{ending}" for ending in (".csv", ".toml", "-out"))
    data.write_text(ratings())

    guessed = facts(sfumato("new", data, "--json"))
    roles = {each["name"]: each["role"] for each in guessed["attributes"]}
    assert roles["title"] == "quasi-identifying"
    assert (roles["movieId"], roles["userId"]) == ("withheld", "identifying")
    assert 'person = "userId"' in project.read_text()

    assert sfumato("explore", project, "--budget", "20s", "--workers", 1, "--seed", 1)[0] == 0
    frontier = facts(sfumato("frontier", project, "--json"))
    efficient = [each for each in frontier["candidates"] if each["efficient"]]
    assert len(efficient) >= 3

    mondrian = next(each["id"] for each in frontier["candidates"] if each["sanitizer"] == "mondrian")
    assert sfumato("publish", mondrian, folder, "-P", project)[0] == 0
    assert sfumato("verify", folder)[0] == 0
    (published,) = folder.glob("*.csv")
    assert published.stat().st_size < 3 * data.stat().st_size


@pytest.mark.thorough("its first table", but=1)
@pytest.mark.parametrize("name", SIZES)
def test_the_defaults_take_an_external_table_to_a_verified_folder(
    name: str, tmp_path: Path, sfumato: Run
) -> None:
    data, project, folder = (tmp_path / f"{name}{ending}" for ending in (".csv", ".toml", "-out"))
    data.write_bytes(TABLES[name].of_size(SIZES[name]).content())

    guessed = facts(sfumato("new", data, "--json"))
    roles = {each["name"]: each["role"] for each in guessed["attributes"]}
    assert TABLES[name].truth.wrong(roles) == {}

    assert sfumato("explore", project, "--budget", "none", "--workers", 1, "--seed", 1)[0] == 0
    frontier = facts(sfumato("frontier", project, "--json"))
    efficient = [each for each in frontier["candidates"] if each["efficient"]]
    assert len(efficient) >= 5

    for question in STANDING:
        code, _, errors = sfumato("ask", question, "-P", project)
        # 3: no release keeps all limits, which is an answer too
        assert code in (0, 3), errors

    knee = next(each["id"] for each in sorted(efficient, key=lambda each: not each["knee"]))
    assert sfumato("publish", knee, folder, "-P", project)[0] == 0
    assert sfumato("verify", folder)[0] == 0


@pytest.mark.parametrize("table", messy.TABLES, ids=lambda table: table.name)
def test_a_generated_table_is_the_same_for_the_same_seed_and_holds_what_its_truth_names(table: Any) -> None:
    small = table.of_size(20)
    assert small.content() == small.content()
    assert small.content(1) != small.content(2)
    lines = small.text().splitlines()
    assert len(lines) == 21
    separator = max(";,\t", key=lines[0].count)
    columns = [head.strip('"') for head in lines[0].split(separator)]
    truth = table.truth
    named = [*truth.hidden, *truth.quasi, *truth.sensitive, *truth.guarded]
    assert truth.n_columns == len(set(named)) == len(named)
    assert set(named) <= set(columns)


def test_a_role_is_wrong_where_the_truth_forbids_it() -> None:
    truth = messy.Truth(hidden=("number",), quasi=("age",), sensitive=("illness",), guarded=("town",))
    right = {"number": "withheld", "age": "quasi-identifying", "illness": "sensitive", "town": "sensitive"}
    assert truth.wrong(right) == {}
    wrong = {
        "number": "quasi-identifying",
        "age": "sensitive",
        "illness": "insensitive",
        "town": "insensitive",
    }
    assert truth.wrong(wrong) == wrong
    assert truth.wrong({**right, "number": "identifying"}) == {}
    del right["age"]
    assert truth.wrong(right) == {"age": "not there"}
