"""The page of the open questions says what the results say, and the studies count as they say."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("open_questions")


def test_the_page_says_what_was_found(command: Any) -> None:
    page = command.PAGE.read_text("utf-8")
    results = json.loads(command.RESULTS.read_text("utf-8"))
    assert command.filled(page, results) == page, (
        "stale; run python papers/benchmarks/open_questions.py --page"
    )


def test_every_picture_of_a_question_is_on_the_page(command: Any) -> None:
    drawn = {place.name for place in command.DOCS.glob("open-questions-*.svg")}
    assert drawn == set(re.findall(r"\((open-questions-[\w-]+\.svg)\)", command.PAGE.read_text("utf-8")))


def test_numbers_are_cut_into_quarters_of_the_records_and_equal_ones_stay_together(command: Any) -> None:
    from questions.tables import quarters  # type: ignore[import-not-found]

    assert quarters(np.array([5, 1, 2, 4, 3, 8, 7, 6])).to_pylist() == [3, 1, 1, 2, 2, 4, 4, 3]
    assert quarters(np.array([0, 0, 0, 0, 0, 9])).to_pylist() == [1, 1, 1, 1, 1, 4]


def test_a_release_beats_a_trivial_one_only_where_every_interval_does(command: Any) -> None:
    study = command.STUDIES["gain-over-trivial"]

    def learned(low: float, adversary: float) -> dict[str, Any]:
        release = {"release": "a", "sanitizer": "mondrian", "gains": [0.1, 0.2, 0.3], "low": low}
        whole = {"release": "as-is", "sanitizer": "as-is", "gains": [0.4], "low": 0.3, "adversary": 0.3}
        return {"as-is": whole, "releases": [{**release, "adversary": adversary}]}

    found = {"t": {"x": learned(0.01, 0.15), "y": learned(0.01, 0.25), "z": learned(-0.01, 0.1)}}
    totals = study.counted(found)
    assert (totals["pairs"], totals["beats"], totals["modestly"]) == (3, 2, 1)
    assert totals["more than the adversary"] == 1
