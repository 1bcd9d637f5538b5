"""Anonymeter's risks of the same files: ours agree within the intervals of both."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
FOUND: dict[str, dict[str, Any]] = json.loads((FOLDER / "anonymeter.json").read_text("utf-8"))["found"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    place = FOLDER.parents[1] / "benchmarks" / "anonymeter_judge.py"
    spec = importlib.util.spec_from_file_location("anonymeter_judge", place)
    assert spec is not None
    assert spec.loader is not None
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    folder = tmp_path_factory.mktemp("files")
    judge.write_files(folder)
    found: dict[str, dict[str, Any]] = judge.ours(folder)
    return found


@pytest.mark.thorough("its first attack", but=2)
@pytest.mark.parametrize("name", FOUND)
def test_the_risk_is_within_the_interval_that_anonymeter_gives(
    name: str, ours: dict[str, dict[str, Any]]
) -> None:
    low, high = FOUND[name]["interval"]
    assert low - 0.002 <= ours[name]["risk"] <= high + 0.002


@pytest.mark.parametrize("name", FOUND)
def test_outsiders_are_attacked_as_often_with_success(name: str, ours: dict[str, dict[str, Any]]) -> None:
    assert ours[name]["control"] == pytest.approx(FOUND[name]["control"], abs=0.05)
