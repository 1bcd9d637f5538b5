"""The golden folders: what earlier versions published is verified by this one, as it was written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.golden import GOLDEN, PUBLIC_KEY, RELEASES

import sfumato as sf
from sfumato.verification.documents import FORMAT, READERS

FOLDERS = sorted(place.parent for place in GOLDEN.glob("*/*/manifest.json"))
ROOT = Path(__file__).parents[2]


def named(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def test_every_format_has_a_golden_folder_of_every_type_of_release() -> None:
    formats = {place.name for place in GOLDEN.iterdir() if place.is_dir()}
    assert formats == {f"format-{number}" for number in READERS}
    assert {folder.name for folder in FOLDERS if folder.parent.name == f"format-{FORMAT}"} == set(RELEASES)


def test_the_golden_folders_are_small() -> None:
    sizes = [place.stat().st_size for place in GOLDEN.rglob("*") if place.is_file()]
    assert sum(sizes) < 1_500_000 * len(READERS)


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
@pytest.mark.parametrize("version", ["0.2.1", "999.0"])
def test_a_folder_of_another_version_is_verified(
    folder: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sav" in json.loads((folder / "manifest.json").read_text("utf-8")).get("formats", {}):
        pytest.importorskip("pyreadstat")
    # whatever version wrote it, to this one it is another: its wording may have changed since
    monkeypatch.setattr(sf, "__version__", version)
    key = folder.parent / PUBLIC_KEY if folder.name == "signed" else None
    found = sf.verify(folder, key=key)
    assert [(check.what, check.problem) for check in found if not check.holds] == []
    assert found.exit_code == 0
    assert [check.what for check in found if "wording around the claims" in check.what]


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_a_folder_of_this_version_is_verified_to_the_byte(folder: Path) -> None:
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    if facts["sfumato"] != sf.__version__:
        pytest.skip("another version wrote it")
    if "sav" in facts.get("formats", {}):
        pytest.importorskip("pyreadstat")
    key = folder.parent / PUBLIC_KEY if folder.name == "signed" else None
    checks = sf.verify(folder, key=key)
    # pages reworded under the same number would be called forged: give this version the next number first
    assert [(check.what, check.problem) for check in checks if not check.holds] == []
    assert not [check.what for check in checks if "wording around the claims" in check.what]


@pytest.mark.parametrize("name", RELEASES)
def test_the_tool_still_publishes_folders_that_verify(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "statistics":
        pytest.importorskip("pyreadstat")
    RELEASES[name](tmp_path / name)
    assert sf.verify(tmp_path / name).holds
    monkeypatch.setattr(sf, "__version__", "999.0")
    assert sf.verify(tmp_path / name).holds


FRESH = os.environ.get("SFUMATO_FRESH_FOLDERS", "")
"""Where `make evidence` has put folders that this version published with the newest versions of
everything."""


@pytest.mark.skipif(not FRESH, reason="only `make evidence` publishes with other dependencies")
@pytest.mark.parametrize("name", RELEASES)
def test_a_folder_of_this_version_is_verified_to_the_byte_with_other_dependencies(name: str) -> None:
    found = sf.verify(Path(FRESH, name))
    assert [(check.what, check.problem) for check in found if not check.holds] == []
    assert not [check.what for check in found if "wording around the claims" in check.what]


def verified_by_a_build(version: str, folder: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Verify a folder by a copy of the library that has another version number."""
    source = place / "build"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    facts = source / "sfumato" / "__init__.py"
    text = facts.read_text("utf-8")
    assert f'__version__ = "{sf.__version__}"' in text
    facts.write_text(text.replace(f'__version__ = "{sf.__version__}"', f'__version__ = "{version}"'), "utf-8")
    return subprocess.run(
        [sys.executable, "-P", "-m", "sfumato", "verify", str(folder)],
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_a_build_with_another_version_number_verifies_what_this_one_publishes(tmp_path: Path) -> None:
    RELEASES["suppressed"](tmp_path / "out")
    done = verified_by_a_build("7.1.0", tmp_path / "out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        f"sfumato {sf.__version__} wrote the wording around the claims, which was not compared" in done.stdout
    )


def test_this_build_verifies_what_one_with_another_version_number_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sf, "__version__", "7.1.0")
        RELEASES["suppressed"](tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["sfumato"] == "7.1.0"
    assert sf.verify(tmp_path / "out").holds
    (tmp_path / "out" / "report.html").write_text("<!DOCTYPE html>\n", "utf-8")
    assert not sf.verify(tmp_path / "out").holds
