"""A newcomer's probe: what somebody else's package registers is met everywhere, in its own words."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import command, install, python

PEOPLE = """\
name,age,sex,zip,diagnosis
Ann,31,f,01307,flu
Bob,42,m,01309,flu
Cid,57,m,01307,asthma
Dot,31,f,02110,asthma
Eve,64,f,02139,flu
Fay,45,m,02139,gout
Gus,33,m,01309,gout
Hal,58,m,02110,flu
"""

ATTRIBUTES = """\
[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [10, 20, 40] }

[attributes.sex]
role = "quasi-identifying"

[attributes.zip]
role = "quasi-identifying"
kind = "categorical"
hierarchy = { prefixes = [3, 2] }

[attributes.diagnosis]
role = "sensitive"
"""

PROJECT = f"""\
policy.recipient = "none"
[data]
path = "people.csv"

{ATTRIBUTES}
[[candidates]]
sanitizer = "even-levels"
level = [1, 2, 3]

[[candidates]]
search = "up-the-stairs"
storeys = 1

[[candidates]]
search = "lattice"
model = {{ odds-limit = {{ odds = 2.0 }} }}

[measure]
privacy = [{{ neighbour-risk = {{ few = 2, street = "street.csv" }} }}, "odds-limit"]
utility = ["general-loss", {{ workload-utility = {{ miners = ["nearest-gossip"], folds = 2 }} }}]
"""


def begun(folder: Path, project: str) -> Path:
    """Write a project into a folder."""
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "people.toml").write_text(project, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def explored(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that tries and measures what the plug-in brings, explored."""
    folder = begun(tmp_path_factory.mktemp("project"), PROJECT)
    done = command("explore", "--workers", "1", "--seed", "3", plugged=installed, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "plug-in" not in done.stderr
    return folder


def asked(*arguments: str, plugged: Path, cwd: Path) -> Any:
    done = command(*arguments, "--json", plugged=plugged, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text_of(page: str) -> str:
    """Return what a reader sees of a page, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_everything_is_listed_in_its_own_words(installed: Path, tmp_path: Path) -> None:
    listed = {
        (entry["kind"], entry["name"]): entry["summary"]
        for entry in asked("methods", plugged=installed, cwd=tmp_path)["methods"]
    }
    assert listed["sanitizer", "even-levels"] == "Generalise all quasi-identifiers alike."
    assert listed["model", "odds-limit"].startswith("Nobody can bet on a sensitive value")
    assert listed["measure", "neighbour-risk"] == "The share of the records that look like few others."
    assert listed["miner", "nearest-gossip"].startswith("Says of everybody")
    assert listed["search", "up-the-stairs"].startswith("Try one storey after the other")


def test_without_the_plug_in_nothing_of_it_is_there(tmp_path: Path) -> None:
    listed = asked("methods", plugged=tmp_path, cwd=tmp_path)["methods"]
    assert "even-levels" not in {entry["name"] for entry in listed}


def test_it_is_tried_searched_measured_and_mined_with(installed: Path, explored: Path) -> None:
    found = asked("frontier", "--all", plugged=installed, cwd=explored)["candidates"]
    assert {one["sanitizer"] for one in found} == {"even-levels", "full-domain"}
    # the search adds the ground floor
    levels = [one["parameters"]["level"] for one in found if one["sanitizer"] == "even-levels"]
    assert sorted(levels) == [0, 1, 2, 3]
    (best,) = [one for one in found if one["sanitizer"] == "full-domain"]
    measured = {m["measure"]: m for m in best["measurements"]}
    assert measured["odds-limit"]["value"] <= 2.0
    assert measured["workload-utility"]["detail"]["miner"] == "nearest-gossip"
    assert 0 <= measured["neighbour-risk"]["value"] <= 1


def test_its_files_are_looked_for_beside_the_project_file(
    installed: Path, explored: Path, tmp_path: Path
) -> None:
    code = "import sys; from sfumato import Project; print(Project.load(sys.argv[1]).privacy[0])"
    done = python("-c", code, str(explored / "people.toml"), plugged=installed, cwd=tmp_path)
    assert str({"few": 2, "street": str(explored / "street.csv")}) in done.stdout


def test_the_report_tells_it_in_its_own_words(installed: Path, explored: Path) -> None:
    first = asked("frontier", plugged=installed, cwd=explored)["candidates"][0]
    done = command("show", first["id"], "--report", "owner.html", plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    told = text_of((explored / "owner.html").read_text(encoding="utf-8"))
    for words in (
        "over-the-fence risk",
        "The share of the records whose class is so small that a neighbour would know them all.",
        "0%: everybody is one of many.",
        "size of the loneliest class",
        "The neighbour Lives next door, sees who comes and goes, and can tell a few people apart.",
        "betting odds",
        "a bookmaker would take a bet",
        "All quasi-identifiers climb to the same storey of their hierarchies.",
    ):
        assert words in told, words


VISIT = """
import json, sys
from pathlib import Path
from starlette.testclient import TestClient
from sfumato.interfaces.workbench.server import application

client = TestClient(
    application(Path.cwd(), token="token"),
    base_url="http://127.0.0.1:8765",
    headers={"Sec-Fetch-Site": "same-origin"},
)
client.get("/?token=token")
answers = {name: client.get(f"/projects/people/explore/plan{name}") for name in sys.argv[1:]}
print(json.dumps({name: answer.text for name, answer in answers.items() if answer.status_code == 200}))
"""
PLAN, SANITIZER, SEARCH, MODELS, MEASURES = (
    "",
    "/new?sanitizer=even-levels",
    "/new?search=up-the-stairs",
    "/new?sanitizer=mondrian",
    "/new?search=lattice-front",
)


@pytest.fixture(scope="module")
def pages(installed: Path, explored: Path) -> dict[str, str]:
    """Pages of the workbench, by their addresses."""
    addresses = (PLAN, SANITIZER, SEARCH, MODELS, MEASURES)
    done = python("-c", VISIT, *addresses, plugged=installed, cwd=explored)
    assert done.returncode == 0, done.stderr
    shown: dict[str, str] = json.loads(done.stdout)
    assert set(shown) == set(addresses)
    return shown


def offered(page: str, key: str) -> list[str]:
    """Return what an input offers."""
    (listed,) = re.findall(rf'<datalist id="{re.escape(key)}-offered">(.*?)</datalist>', page)
    return re.findall(r'value="([^"]*)"', listed)


def test_the_workbench_shows_it_in_its_own_words(pages: dict[str, str]) -> None:
    told = text_of(pages[PLAN])
    for words in (
        "All quasi-identifiers climb to the same storey of their hierarchies.",
        "Try one storey after the other, from the ground floor up.",
        "over-the-fence risk",
        "a neighbour would know them all",
        "betting odds",
        "The largest class that is small.",
    ):
        assert words in told, words


def test_the_forms_of_the_workbench_have_its_parameters(pages: dict[str, str]) -> None:
    assert "climb to the same storey" in pages[SANITIZER]
    assert 'name="p.level"' in pages[SANITIZER]
    assert "The level of all of them, or the highest that an attribute has." in pages[SANITIZER]
    assert 'name="p.storeys"' in pages[SEARCH]
    assert "How many are tried." in pages[SEARCH]
    assert 'value="odds-limit"' in pages[MODELS]
    assert 'name="p.model.odds-limit.odds"' in pages[MODELS]
    assert {"neighbour-risk", "odds-limit"} <= set(offered(pages[MEASURES], "p.privacy"))


# ------------------------------------------------------------------------------------ broken plug-ins

BROKEN = {
    "raises": ("raise ValueError('Ann is 31')", "it raises ValueError"),
    "invalid": (
        "from sfumato import register\n@register\nclass Nothing: ...",
        "Nothing must be a dataclass with one of sanitize, scores, measure, propose, estimator",
    ),
    "taken": (
        "from dataclasses import dataclass\nfrom sfumato import register\n"
        "@register\n@dataclass(frozen=True)\nclass AsIs:\n    def sanitize(self, table, schema, rng): ...",
        "the sanitizer name 'as-is' is taken by sfumato.sanitizers.trivial.AsIs",
    ),
}


def written(folder: Path, name: str, source: str) -> Path:
    """Write a distribution with one module."""
    folder.mkdir()
    (folder / f"broken_{name}.py").write_text(source, encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "broken-{name}"\nversion = "1.0"\n'
        f'[project.entry-points."sfumato.plugins"]\n{name} = "broken_{name}"\n'
        f'[tool.hatch.build.targets.wheel]\nonly-include = ["broken_{name}.py"]\n',
        encoding="utf-8",
    )
    return folder


@pytest.mark.thorough("tests/test_registry.py")
def test_broken_plug_ins_are_named_in_a_line_each_and_every_command_goes_on(tmp_path: Path) -> None:
    target = install(Path(__file__).parent / "package", tmp_path / "installed")
    for name, (source, _) in BROKEN.items():
        install(written(tmp_path / name, name, source), target)
    said = [
        f"sfumato: the plug-in '{name}' of broken-{name} is skipped: {reason}; repair or uninstall it"
        for name, (_, reason) in BROKEN.items()
    ]
    begun(tmp_path, PROJECT.partition("[measure]")[0])
    # two workers load the plug-ins as well
    for arguments in (["explore", "--workers", "2"], ["frontier"], ["methods"]):
        done = command(*arguments, "--json", plugged=target, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stderr.splitlines() if "candidates" not in line]
        assert sorted(lines) == sorted(said)
        found = json.loads(done.stdout)
    assert "even-levels" in {entry["name"] for entry in found["methods"]}
