"""What pages call a candidate: by its recipe, and never two of them alike."""

from __future__ import annotations

from sfumato.interfaces.workbench.views.candidate_names import names_of
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate


def test_two_that_would_look_alike_are_told_apart_by_their_ids() -> None:
    alike = {"model": {"k-anonymity": {"k": 5}}}
    made = [
        Candidate("aaaa", Recipe("mondrian", alike, 1), ()),
        Candidate("bbbb", Recipe("mondrian", alike, 2), ()),
        Candidate("cccc", Recipe("as-is"), ()),
    ]
    assert names_of(made) == {"aaaa": "Mondrian k=5 (aaaa)", "bbbb": "Mondrian k=5 (bbbb)", "cccc": "As is"}
