"""Name candidates by their recipes, and add the id where two names would be equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sfumato.results import formatting
from sfumato.results.candidate import Candidate


def names_of(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return the name of each candidate by its id, no two alike."""
    short = {candidate.id: formatting.recipe_name(candidate.recipe) for candidate in candidates}
    n_called = Counter(short.values())
    return {own: name if n_called[name] == 1 else f"{name} ({own})" for own, name in short.items()}
