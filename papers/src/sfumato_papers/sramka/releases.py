"""List the releases of Sramka and others 2010, with their measurements in each scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from sfumato import Candidate
from sfumato.results import Measurement
from sfumato_papers.experiments import Exploration

Releases = dict[str, Candidate]
"""The releases of one method by their label, the weakest protection first."""


def clustered_releases(explored: Exploration) -> Releases:
    """Return the releases by clustering, small k first."""
    own = [c for c in explored.made if c.recipe.sanitizer == "clustering"]
    by_k = {int(c.recipe.parameters["model"]["k-anonymity"]["k"]): c for c in own}
    return {f"k = {k}": by_k[k] for k in sorted(by_k)}


def noisy_releases(explored: Exploration) -> Releases:
    """Return the releases with noise, little noise first."""
    by_epsilon = {epsilon_of(c): c for c in explored.made if c.recipe.sanitizer == "seeded-laplace"}
    return {f"epsilon = {e:g}": by_epsilon[e] for e in sorted(by_epsilon, reverse=True)}


def epsilon_of(candidate: Candidate) -> float:
    """Return how strong the noise of a release is."""
    return float(candidate.recipe.parameters["epsilon"])


def measured(candidate: Candidate, measure: str, scenario: str) -> Measurement | None:
    """Return what was measured of a release in a scenario, if it was."""
    measurements = [
        m
        for m in candidate.measurements
        if m.measure == measure and m.parameters.get("scenario") == scenario and m.value is not None
    ]
    return measurements[-1] if measurements else None


def miner_of(name: str) -> str:
    """Return the name of a miner without its parameters and what it predicted."""
    return name.split()[0]


def method_of(label: str) -> str:
    """Return the letter or word before the equals sign: how a release was made."""
    return label.split()[0]


def of_method(figures: Mapping[str, float], method: str) -> dict[str, float]:
    """Return the figures of the releases by one method."""
    return {label: figure for label, figure in figures.items() if method_of(label) == method}


def rises(figures: Iterable[float]) -> bool:
    """Return whether each figure is larger than the one before."""
    return all(one < other for one, other in pairwise(figures))


def listed(figures: Mapping[str, float], form: str) -> str:
    """Return figures with their labels, in a line."""
    return ", ".join(f"{label}{':' * ('=' in label)} {figure:{form}}" for label, figure in figures.items())
