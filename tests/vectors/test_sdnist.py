"""SDNist's k-marginal scores of the same files: ours are the same."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FOUND: dict[str, float] = json.loads((FOLDER / "sdnist.json").read_text("utf-8"))["found"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    place = FOLDER.parents[1] / "benchmarks" / "sdnist_judge.py"
    spec = importlib.util.spec_from_file_location("sdnist_judge", place)
    assert spec is not None
    assert spec.loader is not None
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    folder = tmp_path_factory.mktemp("files")
    judge.write_files(folder)
    found: dict[str, float] = judge.ours(folder)
    return found


@pytest.mark.parametrize("name", FOUND)
def test_the_score_is_that_of_sdnist(name: str, ours: dict[str, float]) -> None:
    assert ours[name] == pytest.approx(FOUND[name], abs=1e-6)
