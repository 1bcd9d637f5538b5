"""Types that reach users: a type checker sees the real class behind every public name."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "sfumato" / "__init__.pyi"

USED = """\
import sfumato as sf

table, schema = sf.datasets.hospital()
candidates = [sf.sanitizers.Mondrian(sf.models.KAnonymity(k)) for k in (2, 3)]
release = sf.sanitize(table, schema, candidates[0])
reveal_type(sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
reveal_type(sf.miners.DecisionTree())
reveal_type(sf.read("people.csv"))
reveal_type(release)
reveal_type(release.plot())
reveal_type(sf.measure(release, ["privacy-loss", sf.measures.TotalLoss()])[0].value)
reveal_type(sf.inspect(table, schema).risk)
reveal_type(sf.compare(release, release))
reveal_type(sf.explore(table, schema, candidates, ["privacy-loss", sf.measures.TotalLoss()]))
reveal_type(sf.publish(release, "published"))
reveal_type(sf.verify("published").holds)
"""
REVEALED = [
    "Mondrian",
    "DecisionTree",
    "Table",
    "LinkedRelease",
    "Picture",
    "float | None",
    "RiskAsItStands | None",
    "Comparison",
    "Frontier",
    "Decision",
    "bool",
]
WRONG = """\
import sfumato as sf

sf.Mondrain()
sf.read(17)
sf.measure("release", ["privacy-loss"])
"""


def found_by_mypy(place: Path) -> tuple[list[str], list[int]]:
    """Return the revealed types and the lines with errors; the cache of `make lint` is used again."""
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--no-pretty", str(place)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    revealed = re.findall(r'Revealed type is "(.+)"', said)
    return [re.sub(r"[\w.]+\.", "", each) for each in revealed], lines_in(r":(\d+): error:", said)


def found_by_pyright(place: Path) -> tuple[list[str], list[int]]:
    settings = {"include": [place.name], "extraPaths": [str(ROOT / "src")]}
    (place.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(place.parent)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return re.findall(r'Type of ".+" is "(.+)"', said), lines_in(r":(\d+):\d+ - error:", said)


def lines_in(pattern: str, said: str) -> list[int]:
    return sorted({int(line) for line in re.findall(pattern, said)})


CHECKERS = {"mypy": found_by_mypy, "pyright": found_by_pyright}


def found_by(checker: str, place: Path) -> tuple[list[str], list[int]]:
    if not importlib.util.find_spec(checker):
        pytest.skip(f"{checker} is not installed")
    return CHECKERS[checker](place)


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_type_checker_sees_the_class_behind_every_name(checker: str, tmp_path: Path) -> None:
    place = tmp_path / "used.py"
    place.write_text(USED)
    assert found_by(checker, place) == (REVEALED, [])


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_type_checker_refuses_a_misspelt_name_and_what_is_no_table(checker: str, tmp_path: Path) -> None:
    place = tmp_path / "wrong.py"
    place.write_text(WRONG)
    assert found_by(checker, place)[1] == [3, 4, 5]


def test_the_stub_is_what_would_be_generated_now() -> None:
    command = [sys.executable, "tools/public_names.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_stub_has_every_public_name_from_the_module_that_the_package_takes_it_from() -> None:
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert {*homes, "__version__"} == set(sfumato.__all__)
    for name, home in homes.items():
        assert getattr(importlib.import_module(home), name) is getattr(sfumato, name)
