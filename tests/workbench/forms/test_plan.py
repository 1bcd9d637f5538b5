"""The plan: blocks, measures and policy are written to the project file, and everything else stays."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import tomlkit

from sfumato.interfaces.workbench.forms.plan_form import (
    CandidatesBlock,
    put_block,
    put_measures,
    put_policy,
    remove_block,
)

CANDIDATES = """
# the first
[[candidates]]  # as it stands
sanitizer = "as-is"

# the second
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }  # small

# a search
[[candidates]]
search = "lattice"
suppression = 0.1
"""


def changed(text: str, change: Callable[[Any], None]) -> str:
    document = tomlkit.parse(text)
    change(document)
    return tomlkit.dumps(document)


def test_a_changed_block_keeps_its_neighbours_and_comments() -> None:
    block = CandidatesBlock(
        2, "sanitizer", "mondrian", {"model": {"k-anonymity": {"k": 7}}, "variant": "relaxed"}
    )
    text = changed(CANDIDATES, lambda document: put_block(document, block))
    for comment in ("# the first", "# as it stands", "# the second", "# a search", "# small"):
        assert comment in text
    assert "model = { k-anonymity = { k = 7 } }" in text
    assert tomllib.loads(text)["candidates"][1] == {
        "sanitizer": "mondrian",
        "model": {"k-anonymity": {"k": 7}},
        "variant": "relaxed",
    }


def test_an_unchanged_block_is_left_as_it_is() -> None:
    block = CandidatesBlock(2, "sanitizer", "mondrian", {"model": {"k-anonymity": {"k": [2, 3]}}})
    assert changed(CANDIDATES, lambda document: put_block(document, block)) == CANDIDATES


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_removed_block_leaves_the_comments_of_the_others(number: int) -> None:
    text = changed(CANDIDATES, lambda document: remove_block(document, number))
    left = [block for i, block in enumerate(tomllib.loads(CANDIDATES)["candidates"], start=1) if i != number]
    assert tomllib.loads(text)["candidates"] == left
    assert [c for c in ("# the first", "# the second", "# a search") if c not in text] == []


def test_the_last_block_can_be_removed_and_one_added() -> None:
    only = '[data]\npath = "x.csv"\n\n[[candidates]]\nsanitizer = "as-is"\n# behind\n\n[policy]\nx = 1\n'
    empty = changed(only, lambda document: remove_block(document, 1))
    assert "candidates" not in tomllib.loads(empty)
    again = changed(empty, lambda document: put_block(document, CandidatesBlock(1, "search", "lattice", {})))
    assert tomllib.loads(again)["candidates"] == [{"search": "lattice"}]


def test_a_new_block_comes_behind_the_last() -> None:
    block = CandidatesBlock(4, "sanitizer", "anatomy", {"l": [2, 4]})
    text = changed(CANDIDATES + "\n[policy]\nx = 1\n", lambda document: put_block(document, block))
    read = tomllib.loads(text)
    assert read["candidates"][3] == {"sanitizer": "anatomy", "l": [2, 4]}
    assert read["policy"] == {"x": 1}
    assert "l = [2, 4]" in text


def test_measures_and_policy_are_only_written_where_they_change() -> None:
    text = '[measure]\nprivacy = ["a"] # why\nutility = ["b"]\n\n[policy]\nx = { at-most = 1 } # so\n'
    same = changed(text, lambda document: put_measures(document, {"privacy": ["a"], "utility": ["b"]}))
    assert same == text
    other = changed(text, lambda document: put_measures(document, {"privacy": ["a"], "utility": ["c", "b"]}))
    assert "# why" in other
    assert tomllib.loads(other)["measure"]["utility"] == ["c", "b"]
    assert changed(text, lambda document: put_policy(document, {"x": {"at-most": 1}})) == text
    gone = changed(text, lambda document: put_policy(document, {"recipient": "contract"}))
    assert tomllib.loads(gone)["policy"] == {"recipient": "contract"}


def test_long_lists_are_said_shortly() -> None:
    block = CandidatesBlock(
        1, "sanitizer", "mondrian", {"model": {"k-anonymity": {"k": list(range(2, 120))}}}
    )
    assert block.words == "mondrian with k-anonymity (k = 2, 3, 4, …, 119)"
    assert block.n_candidates == 118
