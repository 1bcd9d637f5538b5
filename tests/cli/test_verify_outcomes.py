"""`sfumato verify` ends in one of three ways: verified, something is wrong, cannot tell."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tools.golden import GOLDEN

import sfumato as sf

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # as a later version sees it, so that today's wording does not matter
    monkeypatch.setattr(sf, "__version__", "999.0")
    shutil.copytree(GOLDEN / "format-3" / "suppressed", tmp_path / "out")
    return tmp_path / "out"


def test_a_folder_of_another_version_is_verified(sfumato: Run, folder: Path) -> None:
    code, out, err = sfumato("verify", folder)
    assert (code, err) == (0, "")
    (said,) = [line for line in out.splitlines() if "wording around the claims" in line]
    assert said.startswith("unverified  sfumato ")
    code, out, _ = sfumato("verify", folder, "--json")
    facts = json.loads(out)
    assert (code, facts["verified"], facts["outcome"]) == (0, True, "verified")


def test_a_changed_folder_is_wrong(sfumato: Run, folder: Path) -> None:
    (folder / "README.md").write_text("Nobody is at risk.\n", "utf-8")
    code, out, err = sfumato("verify", folder)
    assert (code, "FAIL" in out, err.count("\n")) == (2, True, 1)
    code, out, _ = sfumato("verify", folder, "--json")
    assert (code, json.loads(out)["verified"], json.loads(out)["outcome"]) == (2, False, "wrong")


def test_of_a_format_newer_than_this_program_it_cannot_tell(sfumato: Run, folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 99, "sfumato": "1000.2", "new": 1}', "utf-8")
    code, out, err = sfumato("verify", folder)
    assert code == 4
    assert out.startswith("cannot tell")
    assert err.count("\n") == 1
    assert "verify it with sfumato 1000.2 or a later version" in err
    code, out, err = sfumato("verify", folder, "--json")
    facts = json.loads(out)
    assert (code, facts["verified"], facts["outcome"]) == (4, False, "cannot tell")
    assert [check["undecided"] for check in facts["checks"]] == [True]
    assert json.loads(err)["exit-code"] == 4


def test_other_commands_say_so_too(sfumato: Run, folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 99, "sfumato": "1000.2"}', "utf-8")
    code, _, err = sfumato("query", folder, "count")
    assert (code, err.count("\n")) == (4, 1)
    assert "has format 99" in err


def test_a_folder_from_before_the_first_release_is_refused(sfumato: Run, folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 2, "sfumato": "0.1.0"}', "utf-8")
    code, _, err = sfumato("verify", folder)
    assert (code, err.count("\n")) == (2, 1)
    assert "has format 2, from before sfumato 0.2.0" in err
