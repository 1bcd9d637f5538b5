"""The page for contributors: what it says of the code's places is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
KINDS = (
    "a privacy model",
    "a sanitizer",
    "a measure with parameters",
    "a miner",
    "a search",
    "a claim that readers can check",
    "a file format",
    "a column of the frontier",
    "an option of publishing",
    "a key of the project file",
    "a command",
    "a page of the workbench",
    "a way to write an interval or a set",
    "a kind of value",
    "a place where the data lives (an engine)",
    "another reading of a paper",
    "a sentence of a paper to put to the test",
)


def rows(title: str) -> dict[str, str]:
    """Return the rows of the table in a section, by their first cell."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {first.strip(): second.strip() for first, second in lines[2:]}


def places(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_change_that_people_ask_for_is_in_the_table() -> None:
    assert tuple(rows("I want to …")) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_touches_at_most_three_source_files_that_are_there(kind: str) -> None:
    named = places(rows("I want to …")[kind])
    assert 1 <= len(named) <= 4
    # two files of the same sort are an either-or
    assert len(named) <= 3 or " or `" in rows("I want to …")[kind]
    for place in named:
        home = ROOT if place.startswith("papers/") else ROOT / "src" / "sfumato"
        assert (home / place).is_file(), place
