"""The distribution holds what the papers need, and sfumato's holds nothing of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import sfumato_papers

HERE = Path(__file__).parents[1]
ROOT = HERE.parent


def names_in_wheel(source: Path, target: Path) -> dict[str, bytes]:
    """Build a wheel without the network and return its files."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (place,) = target.iterdir()
    with zipfile.ZipFile(place) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return names_in_wheel(HERE, tmp_path_factory.mktemp("papers"))


def package_files() -> set[str]:
    found = [path for path in (HERE / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(HERE / "src").as_posix() for path in found}


def test_the_wheel_holds_every_file_of_the_package_the_licence_and_nothing_else(
    wheel: dict[str, bytes],
) -> None:
    facts = f"sfumato_papers-{sfumato_papers.__version__}.dist-info/"
    assert {name for name in wheel if not name.startswith(facts)} == package_files()
    assert any(name.endswith("projects/sramka-noise.toml") for name in wheel)
    assert wheel[f"{facts}licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_of_sfumato_holds_nothing_of_the_papers(tmp_path: Path) -> None:
    names = names_in_wheel(ROOT, tmp_path)
    assert [name for name in names if "reproduc" in name or "papers" in name] == []


def test_what_is_installed_names_what_the_project_does() -> None:
    asked = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    installed = metadata.distribution("sfumato-papers").entry_points
    assert {(each.group, each.name, each.value) for each in installed} == {
        (group, name, value) for group, entries in asked.items() for name, value in entries.items()
    }
    assert all(each.load() for each in installed)
