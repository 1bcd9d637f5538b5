"""What the miners of a scenario predict from a release, and what their predictions are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

from sfumato import __version__
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.table import Column
from sfumato.measures.scenarios.expressions import Expression, domain_values
from sfumato.measures.scenarios.nearness import (
    Told,
    closeness,
    is_noisy,
    nearer,
    told_numbers,
    told_sets,
    told_values,
    true_column,
)
from sfumato.measures.scenarios.scenario import Adversary, Scenario, User
from sfumato.miners.base import CellsAs, Predictions
from sfumato.miners.cross_validation import fingerprint, predict, predict_from_all
from sfumato.registry import methods
from sfumato.registry.declarations import Attacker
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import exact_cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

FUSED = "all together"
DATA_MINER = Attacker(
    "The data miner", "Trains prediction programs (miners) on the release and applies them to people."
)
_COMMONEST = {"category": "majority", "number": "mean-number"}


@dataclass(frozen=True, eq=False)
class Attempt:
    """The predictions of one adversary for one attribute of every released record.

    Parameters
    ----------
    miner
        The name of the miner, and what it predicted where that is not a value.
    rows, weights
        The released row of each entry, ascending, and its number of records.
    told
        What is predicted, beside the truth.
    codes
        The prediction itself: a code of the original domain, of the released labels, or of the numbers.
    of_labels
        Whether the codes are those of released labels.
    """

    miner: str
    rows: Integers = field(repr=False)
    weights: Integers = field(repr=False)
    told: Told = field(repr=False)
    codes: Codes = field(repr=False)
    of_labels: bool

    @property
    def is_fused(self) -> bool:
        """Whether several miners voted."""
        return self.miner.startswith(FUSED)


@dataclass(frozen=True)
class Attempts:
    """All predictions of the adversaries for one attribute.

    Parameters
    ----------
    every
        One attempt of each miner that came to an end; fused ones last.
    unfinished
        The miners that did not.
    """

    every: tuple[Attempt, ...]
    unfinished: tuple[str, ...]


Mine = Callable[[Release, str, Sequence[str], Scenario], tuple[list[Predictions], list[str]]]
"""How miners predict: returns the predictions of those that came to an end, and the names of the others."""


def predictions(
    release: Release, name: str, miners: Sequence[str], scenario: Scenario
) -> tuple[list[Predictions], list[str]]:
    """Let miners predict an attribute of every released record, each by miners that have not seen it."""
    if release.n_records < 2:
        raise NotApplicable("cross-validation needs at least two released records")
    limits = {"folds": scenario.folds, **_settings(scenario)}
    return ended([predict(release, name, miner, **limits) for miner in miners])


def predictions_of_seen(
    release: Release, name: str, miners: Sequence[str], scenario: Scenario
) -> tuple[list[Predictions], list[str]]:
    """Let miners that have seen the whole release predict an attribute of every record of it."""
    if release.n_records < 2:
        raise NotApplicable("a miner needs at least two released records")
    seen = release.weights
    return ended([predict_from_all(release, name, miner, seen, **_settings(scenario)) for miner in miners])


def _settings(scenario: Scenario) -> dict[str, Any]:
    return {"seed": scenario.seed, "time_limit": scenario.time_limit, "cells": scenario.cells}


def of_adversary(
    release: Release, name: str, miners: Sequence[str], scenario: Scenario
) -> tuple[list[Predictions], list[str]]:
    """Let miners predict as the adversary of a scenario does, trained on the others or on all records."""
    mine = predictions_of_seen if scenario.adversary.trained_on == "all" else predictions
    return mine(release, name, miners, scenario)


def ended(predictions: Sequence[Predictions]) -> tuple[list[Predictions], list[str]]:
    """Return the predictions of the miners that finished, and the names of those that did not."""
    return [prediction for prediction in predictions if prediction.finished], [
        prediction.miner for prediction in predictions if not prediction.finished
    ]


def attack(release: Release, name: str, scenario: Scenario) -> Attempts:
    """Let the adversary's miners predict an attribute of every released record."""
    attempts = attempts_at(release, name, scenario)
    if not attempts.every:
        raise NotApplicable(f"no miner finished for {name!r}; raise time-limit")
    return attempts


def attempts_at(release: Release, name: str, scenario: Scenario, mine: Mine | None = None) -> Attempts:
    """Return the predictions of the adversary's miners for an attribute, if any of them finished."""
    miners = suited(release, name, scenario.adversary.miners)
    informed = with_known(release, [attribute for attribute in scenario.adversary.knows if attribute != name])
    every: list[Attempt] = []
    fused: list[Attempt] = []
    unfinished: dict[str, None] = {}
    for view, of_labels in _ways(informed, name, scenario.adversary):
        finished, lacking = (mine or of_adversary)(view, name, miners, scenario)
        unfinished |= dict.fromkeys(lacking)
        every += [_attempt(release, name, prediction, of_labels) for prediction in finished]
        if scenario.adversary.fusion and len(finished) > 1:
            fused.append(_attempt(release, name, vote(finished), of_labels))
    return Attempts((*every, *fused), tuple(unfinished))


def with_known(release: Release, names: Sequence[str]) -> Release:
    """Return a release as seen by someone who knows the true values of some attributes."""
    if not names or not isinstance(release, LinkedRelease) or release.origin.linked_rows is None:
        return release
    table, rows = release.origin.table, release.origin.linked_rows
    return replace(
        release,
        cells={**release.cells, **{attribute: exact_cells(table[attribute], rows) for attribute in names}},
    )


def commonest(release: Release, name: str, scenario: Scenario) -> Attempt | None:
    """Return the attempt of an adversary who predicts the same for everyone, if it finished."""
    finished, _ = of_adversary(release, name, [_COMMONEST[_kind(release, name)]], scenario)
    return _attempt(release, name, finished[0], False) if finished else None


def suited(release: Release, name: str, miners: Sequence[str]) -> list[str]:
    """Return the miners whose predictions match the type of a released attribute."""
    suited_miners = [miner for miner in miners if suits(release, name, miner)]
    if not suited_miners:
        raise NotApplicable(
            f"no miner of the adversary predicts a {_kind(release, name)}; add one for {name!r}"
        )
    return suited_miners


def suits(release: Release, name: str, miner: str) -> bool:
    """Return whether a miner predicts the type of a released attribute."""
    return bool(methods.build_miner(miner).predicts == _kind(release, name))


def _kind(release: Release, name: str) -> str:
    return "number" if is_noisy(release, name) else "category"


def _ways(release: Release, name: str, adversary: Adversary) -> list[tuple[Release, bool]]:
    """Return the views of the release, each with whether miners predict released labels instead of values."""
    sets = release.cells[name].sets
    is_grouped = release.group_of is not None and name in release.schema.sensitive
    has_sets = sets is not None and not is_grouped and bool((sets.sizes > 1).any())
    ways: list[tuple[Release, bool]] = []
    if not has_sets or adversary.guesses != "released":
        ways.append((release, False))
    if has_sets and adversary.guesses != "values":
        # labels as categories without further meaning
        labels = replace(release.cells[name], domain=(), sets=None)
        ways.append((replace(release.unlinked(), cells={**release.cells, name: labels}), True))
    return ways


class Dealt(Protocol):
    """The settings of cross-validation: those of a scenario, or of a measure of its own."""

    @property
    def folds(self) -> int:
        """The number of parts that the records are divided into."""

    @property
    def seed(self) -> int:
        """The seed of the division."""

    @property
    def cells(self) -> CellsAs:
        """How a generalized cell is presented to a miner."""


def sums_key(
    kind: str, release: Release, names: Sequence[str], miners: Sequence[str], dealt: Dealt, *more: object
) -> list[object] | None:
    """Return everything that sums over records depend on, or ``None`` with a function of the user."""
    if any(callable(part) for part in more):
        return None
    return [
        *(kind, __version__, version("scikit-learn"), fingerprint(release, tuple(release.cells))),
        *(list(names), [methods.describe(methods.build_miner(miner)) for miner in miners]),
        *(dealt.folds, dealt.seed, dealt.cells, *more),
    ]


def vote(predictions: Sequence[Predictions]) -> Predictions:
    """Combine predictions of the same entries: the mean, or the first of the most common categories."""
    stacked = np.stack([prediction.predicted for prediction in predictions])
    if predictions[0].predicts == "number":
        return replace(predictions[0], miner=FUSED, predicted=stacked.mean(axis=0))
    votes = np.stack([(stacked == predicted).sum(axis=0) for predicted in stacked])
    return replace(
        predictions[0], miner=FUSED, predicted=np.take_along_axis(stacked, votes.argmax(0)[None], 0)[0]
    )


def worth_to_user(user: User, predicted: Column, truth: Column, hierarchy: Hierarchy) -> Floats:
    """Return E(predicted, true) of each entry."""
    if user.error == "equal":
        if predicted.domain == truth.domain:
            return (predicted.codes == truth.codes).astype(np.float64)
        return Expression("predicted = true").evaluate({"predicted": predicted, "true": truth})
    if user.error == "distance":
        return closeness(predicted, truth, hierarchy)
    return _judged(user.error, {"predicted": predicted, "true": truth})


def worth_to_adversary(adversary: Adversary, told: Told, released: Told, truth: Column) -> Floats:
    """Return E*(predicted, released, true) of each entry."""
    if adversary.reduction == "exact":
        return exactly(told).astype(np.float64)
    if adversary.reduction == "nearer":
        return nearer(told.distance, released.distance, adversary.c).astype(np.float64)
    if adversary.reduction == "distance":
        blurred = np.isfinite(released.distance) & (released.distance > 0)
        remaining = told.distance / np.where(blurred, released.distance, 1.0)
        return np.where(blurred, np.maximum(1 - remaining, 0.0), 0.0)
    columns = {"predicted": told.column, "released": released.column, "true": truth}
    return _judged(adversary.reduction, columns)


def exactly(told: Told) -> Booleans:
    """Return where the true value itself is stated."""
    return told.distance == 0


def of_user(prediction: Predictions, truth: Column) -> Column:
    """Return predictions as values, one for each entry."""
    if prediction.predicts == "number":
        return told_numbers(np.asarray(prediction.predicted, dtype=np.float64), truth).column
    return Column(prediction.predicted.astype(np.int32), truth.domain, truth.kind)


def common_entries(weights: Sequence[Integers]) -> tuple[Integers, list[Integers]]:
    """Cut several lists of entries about the same records, in the same order, at all their borders.

    Parameters
    ----------
    weights
        The number of records of each entry of each list; all lists have the same total.

    Returns
    -------
    tuple
        The weights of the pieces, and for each list the entry that each piece comes from.

    Examples
    --------
    >>> pieces, (one, other) = common_entries([np.array([2, 2]), np.array([3, 1])])
    >>> pieces.tolist(), one.tolist(), other.tolist()
    ([2, 1, 1], [0, 1, 1], [0, 0, 1])
    """
    ends = [np.cumsum(sizes) for sizes in weights]
    borders = np.unique(np.concatenate(ends))
    return np.diff(borders, prepend=0), [np.searchsorted(end, borders) for end in ends]


def _judged(judgement: str | Callable[..., Any], columns: Mapping[str, Column]) -> Floats:
    if isinstance(judgement, str):
        return Expression(judgement).evaluate(columns)
    values = [domain_values(column)[column.codes] for column in columns.values()]
    return np.asarray(judgement(*values), dtype=np.float64)


def _attempt(release: Release, name: str, prediction: Predictions, of_labels: bool) -> Attempt:
    truth = true_column(release, name).take(prediction.rows)
    codes = prediction.predicted.astype(np.int32)
    if prediction.predicts == "number":
        told = told_numbers(np.asarray(prediction.predicted, dtype=np.float64), truth)
        codes = told.column.codes.astype(np.int32)
    else:
        told = told_sets(release.cells[name], codes, truth) if of_labels else told_values(codes, truth)
    miner = f"{prediction.miner} of released values" if of_labels else prediction.miner
    return Attempt(miner, prediction.rows, prediction.weights, told, codes, of_labels)
