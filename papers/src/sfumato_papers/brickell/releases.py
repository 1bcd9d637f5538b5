"""List the releases of Brickell and Shmatikov 2008 in the paper's order, with their measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sfumato import Candidate
from sfumato.results import Measurement
from sfumato_papers.experiments import Exploration

INTACT, SUPPRESSED = "intact", "suppressed"
_ACCURACY = "accuracy-of-"
# How the limit of each model is called, and whether a large one is strict; in the order of the paper's table.
_MODELS = {
    "k-anonymity": ("k", 1),
    "recursive-diversity": ("l", 1),
    "t-closeness": ("t", -1),
    "delta-disclosure": ("delta", -1),
}


@dataclass(frozen=True)
class Row:
    """One release of an exhibit.

    Parameters
    ----------
    label
        What the paper calls it, as ``k = 10``.
    candidate
        The release; where the model cannot hold, the trivial one without quasi-identifiers.
    is_substitute
        Whether it stands for a release that cannot be made.
    """

    label: str
    candidate: Candidate
    is_substitute: bool = False

    @property
    def is_sanitized(self) -> bool:
        """Whether it is neither the table as it is nor a trivial release."""
        return self.label not in (INTACT, SUPPRESSED) and not self.is_substitute

    def gain(self, measure: str) -> float | None:
        """Return what the adversary gains."""
        return self.candidate.value(measure)

    def workload(self, target: str) -> Measurement | None:
        """Return what researchers gain who learn an attribute."""
        return workload(self.candidate, target)


def workload(candidate: Candidate, target: str) -> Measurement | None:
    """Return the gain of researchers who learn an attribute from a release, if it was measured."""
    utilities = [
        m
        for m in candidate.measurements
        if m.measure == "workload-utility" and m.parameters.get("target") == target and m.value is not None
    ]
    return utilities[-1] if utilities else None


def accuracies(utility: Measurement) -> dict[str, float]:
    """Return the accuracy of each miner on a release, in per cent; a miner's own parameters left out."""
    return {
        name.removeprefix(_ACCURACY).split()[0]: 100 * share
        for name, share in utility.detail.items()
        if name.startswith(_ACCURACY)
    }


def rows(explored: Exploration, target: str) -> list[Row]:
    """Return the releases in the paper's order: intact, each model from weak to strict, suppressed."""
    intact, suppressed = explored.find("as-is"), explored.find("suppress-quasi-identifiers")
    latest = {
        label_of(c): c
        for c in explored.candidates
        if c.recipe.sanitizer == "mondrian" and c.recipe.parameters.get("target", "") == target
    }
    between = [
        Row(label, substitute, is_substitute=substitute is not candidate)
        for label, candidate in sorted(latest.items(), key=lambda pair: _place(pair[1]))
        for substitute in [candidate if candidate.infeasible is None else suppressed]
        if substitute is not None
    ]
    first = [Row(INTACT, intact)] if intact else []
    return [*first, *between, *([Row(SUPPRESSED, suppressed)] if suppressed else [])]


def _limit(candidate: Candidate) -> tuple[str, str, float]:
    """Return the model of a release, the name of its limit and the limit."""
    ((model, given),) = candidate.recipe.parameters["model"].items()
    name, _ = _MODELS[model]
    return model, name, float(given[name])


def label_of(candidate: Candidate) -> str:
    """Return what the paper calls a release: the limit of its model."""
    _, name, limit = _limit(candidate)
    return f"{name} = {limit:g}"


def _place(candidate: Candidate) -> tuple[int, float]:
    model, _, limit = _limit(candidate)
    return list(_MODELS).index(model), _MODELS[model][1] * limit


def without(labels: list[str]) -> str:
    """Return the releases that are exceptions, in words."""
    return f" (not with {', '.join(labels)})" if labels else ""


def listed(figures: Mapping[str, float], form: str) -> str:
    """Return figures with their names, in a line."""
    return ", ".join(f"{name}{':' * ('=' in name)} {figure:{form}}" for name, figure in figures.items())


def substitution_notes(explored: Exploration, shown: Iterable[Row]) -> tuple[str, ...]:
    """Return a note about the releases that cannot be made, if there are any."""
    labels = [row.label for row in shown if row.is_substitute]
    if not labels:
        return ()
    n_values = len(explored.table[explored.schema.sensitive[0]].domain)
    return (
        f"{', '.join(labels)}: cannot hold, not even in one class of all records ({n_values} sensitive "
        "values). A trivial release is all that is left, and its figures stand here, as in table 3.",
    )
