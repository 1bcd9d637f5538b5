"""What is shipped, and what the repository promises about itself."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel without the network and unpack it."""
    built, unpacked = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("unpacked")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (archive,) = built.glob("*.whl")
    zipfile.ZipFile(archive).extractall(unpacked)
    return unpacked


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


def test_the_checks_run_what_the_readme_says() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
