"""What is shipped, and what the repository promises about itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sfumato"
MAKEFILE = (ROOT / "Makefile").read_text()


def build(source: Path, target: Path, umask: int = -1) -> dict[str, Path]:
    """Build the wheel and the source archive of a folder without the network; return each by its ending."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, umask=umask)
    assert done.returncode == 0, done.stderr
    return {path.suffix: path for path in target.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(built[".whl"]).extractall(unpacked)
    return unpacked


def copied(paths: list[Path], target: Path) -> None:
    """Copy files of the repository with other dates, other permissions and in another order."""
    for path in sorted(paths, reverse=True):
        place = target / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        place.chmod(0o600)
        os.utime(place, (1_000_000_000, 1_000_000_000))


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has permissions to differ in")
def test_the_same_files_built_elsewhere_give_the_same_bytes(built: dict[str, Path], tmp_path: Path) -> None:
    tops = [".gitignore", "pyproject.toml", "README.md", "LICENSE", *shipped()]
    found = [path for top in tops for path in [ROOT / top, *(ROOT / top).rglob("*")]]
    copied([path for path in found if path.is_file() and "__pycache__" not in path.parts], tmp_path / "copy")
    again = build(tmp_path / "copy", tmp_path / "again", umask=0o077)
    assert set(built) == {".whl", ".gz"}
    assert {kind: path.read_bytes() == built[kind].read_bytes() for kind, path in again.items()} == {
        ".whl": True,
        ".gz": True,
    }


def shipped() -> list[str]:
    """Return what the source archive holds of the repository, as pyproject.toml says."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return facts["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


def package_files(pattern: str) -> list[Path]:
    """List the package's files, relative to the folder that holds it, without caches."""
    found = [path.relative_to(PACKAGE.parent) for path in PACKAGE.glob(pattern) if path.is_file()]
    return [path for path in found if not any(part.startswith((".", "__pycache__")) for part in path.parts)]


@pytest.mark.parametrize(
    "path", ["py.typed", "datasets/adult.parquet", "datasets/ATTRIBUTION.md", "datasets/hospital.csv"]
)
def test_the_wheel_holds_the_embedded_example_and_the_type_marker(wheel: Path, path: str) -> None:
    assert (wheel / "sfumato" / path).is_file()


def test_the_wheel_holds_the_hierarchies(wheel: Path) -> None:
    hierarchies = package_files("datasets/hierarchies/**/*.csv")
    assert hierarchies
    assert [path for path in hierarchies if not (wheel / path).is_file()] == []


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    assert [path for path in package_files("**/*") if not (wheel / path).is_file()] == []


def test_the_wheel_holds_the_licence_and_nothing_beside_the_package(wheel: Path) -> None:
    metadata = f"sfumato-{sfumato.__version__}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {"sfumato", metadata}
    assert (wheel / metadata / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert not list(wheel.rglob("test_*.py"))


def requirements(pyproject: dict[str, Any]) -> Iterator[str]:
    """Yield every requirement, whoever it is for."""
    yield from pyproject["build-system"]["requires"]
    yield from pyproject["project"]["dependencies"]
    for extra in pyproject["project"].get("optional-dependencies", {}).values():
        yield from extra
    for group in pyproject["dependency-groups"].values():
        yield from (entry for entry in group if isinstance(entry, str))


def test_no_dependency_has_an_upper_pin() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    versions = {requirement: requirement.partition(";")[0] for requirement in requirements(pyproject)}
    assert [requirement for requirement, version in versions.items() if re.search("<|==|~=", version)] == []


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert not any("\t" in line for line in lines)
    top = dict(line.split(":", 1) for line in lines if line and line[0] not in " -#")
    assert {"cff-version", "message", "title", "authors"} <= set(top)
    assert top["cff-version"].strip() == "1.2.0"
    assert top["version"].strip() == sfumato.__version__


def test_the_checks_run_what_the_readme_says_and_nothing_else() -> None:
    run = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in run if re.match(r"make|python|pytest|\.venv", line)] == [
        "make test",
        "make evidence",
    ]
    assert "export CI=true" in run
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def recipe(target: str) -> list[str]:
    """Return the commands of a target of the Makefile, without the folder of the virtual environment."""
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert lines
    plain = lines[1].replace("$(BIN)", ".venv/bin").replace(" $(THOROUGH)", "")
    return [line.strip() for line in plain.splitlines()]


def test_every_target_that_is_for_people_is_in_the_help() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    told = re.findall(r"^([a-z]+):.*## ", MAKEFILE, re.MULTILINE)
    assert {*phony.split()} - {*told} == {"python", "browser", "server"}
    assert {"test", "quick", "coverage", "lint", "format"} <= {*told}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_what_the_pages_say_of_make_can_be_made(page: str) -> None:
    pages = [ROOT / page] if (ROOT / page).is_file() else [*(ROOT / page).rglob("*.md")]
    asked = {target for path in pages for target in re.findall(r"`?make ([a-z]+)\b[`\n ]", code_of(path))}
    assert asked <= set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))


def code_of(page: Path) -> str:
    """Return what stands in code on a page."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", page.read_text("utf-8"), re.DOTALL))


def test_a_commit_is_checked_like_the_whole() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"entry: (.*)", hooks) == recipe("lint")
    assert set(re.findall(r"(?:repo|language): (.*)", hooks)) == {"local", "system"}


def test_the_tests_take_nothing_away_from_lint_that_runs_beside_them(tmp_path: Path) -> None:
    """Whichever of the two fails, and whichever ends first, `make test` fails."""
    asked = "\n".join(recipe("test"))
    for linted, tested in ((0, 0), (1, 0), (0, 1), (1, 1)):
        (tmp_path / "make").write_text(f"#!/bin/sh\nsleep 0.1\nexit {linted}\n")
        (tmp_path / "python").write_text(f"#!/bin/sh\nexit {tested}\n")
        for name in ("make", "python"):
            (tmp_path / name).chmod(0o755)
        script = asked.lstrip("@").replace(".venv/bin/python", "python").replace("$$", "$")
        environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", script], env=environment, check=False)
        assert (done.returncode != 0) == bool(linted or tested)


def test_the_tests_that_are_begun_with_are_there() -> None:
    conftest = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^LONGEST = \(\n((?:    .*\n)+)\)", conftest, re.MULTILINE)
    names = re.findall(r'"(.+)"', listed)
    assert names
    assert [name for name in names if not (ROOT / "tests" / name).is_file()] == []


@pytest.mark.parametrize("variable", ["QUICK", "REACHED"])
def test_the_tests_that_the_makefile_names_are_there(variable: str) -> None:
    (listed,) = re.findall(rf"^{variable} := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert all(list(ROOT.glob(pattern)) for pattern in listed.replace("\\", "").split())


def test_the_stated_versions_of_python_begin_where_the_requirement_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line]
    assert project["requires-python"] == f">={stated[0]}"
    assert stated == [f"3.{minor}" for minor in range(11, 11 + len(stated))]
