"""Compute figures 1 to 4 of Brickell and Shmatikov 2008: the adversary's and the researcher's gain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sfumato.results import Measurement
from sfumato_papers.brickell.releases import (
    INTACT,
    Row,
    accuracies,
    listed,
    rows,
    substitution_notes,
    without,
    workload,
)
from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Exploration
from sfumato_papers.published import published
from sfumato_papers.quotations import Quotation, quotation

_TRIVIAL = "trivial release"
_NOT_BETTER = (
    "No sanitized release serves the researcher better than the table without its sensitive attribute."
)
_MODEST = 0.5
_DESTROYED = 0.1

_Gains = Mapping[str, Mapping[str, float]]
"""By release, what the adversary and each miner gain, in points."""


def learning_the_same(key: str, explored: Exploration, cut_for: str) -> Exhibit:
    """Return Figure 1 or 2: researcher and adversary learn the sensitive attribute."""
    known = published("brickell", key)
    target = explored.schema.sensitive[0]
    shown = rows(explored, cut_for)
    gains = _gains(shown, target)
    base = next((utility.baseline for row in shown for utility in [row.workload(target)] if utility), None)
    figure = known.figure(_TRIVIAL, "decision-tree")
    cells = [_adversary_cell(key, explored)]
    if base is not None:
        cells.append(Cell(_TRIVIAL, "decision-tree", 100 * base, figure, known.tolerance))
    return Exhibit(
        key,
        known.title,
        known.source,
        (*cells, *_gain_cells(shown, gains)),
        (
            _adversary_ahead(shown, gains, quotation("brickell", "adversary-ahead")),
            _nothing_gained(
                "Without the quasi-identifiers the researcher learns the sensitive attribute just as well as "
                "from any sanitized release.",
                shown,
                target,
                quotation("brickell", "just-as-well"),
            ),
            *_privacy_destroys(shown, gains, target),
        ),
        (_chart(known.title, shown, gains),),
        notes=(_methods(shown, cut_for), *substitution_notes(explored, shown), known.why),
    )


def learning_another(key: str, explored: Exploration, target: str) -> Exhibit:
    """Return Figure 3 or 4: the researcher learns an attribute that is neither known nor sensitive."""
    known = published("brickell", key)
    shown = rows(explored, target)
    gains = _gains(shown, target)
    return Exhibit(
        key,
        known.title,
        known.source,
        (*_baseline_cells(key, explored, shown, target), *_gain_cells(shown, gains)),
        (
            _adversary_ahead(shown, gains, quotation("brickell", "more-than-offset")),
            *(
                [_nothing_gained(_NOT_BETTER, shown, target, quotation("brickell", "below-trivial"))]
                if key == "figure-4"
                else []
            ),
            *_privacy_destroys(shown, gains, target),
        ),
        (_chart(known.title, shown, gains),),
        notes=(
            _methods(shown, target),
            "A miner's gain is its accuracy less that of the best miner on the better trivial release, as in "
            "the paper: a weak miner begins below 0. Releases were cut with a view to what the researcher "
            "learns, the records to be predicted included, which may flatter them; so, it seems, were those "
            "of the paper.",
            *_at_medians(explored, target),
            *substitution_notes(explored, shown),
            known.why,
        ),
    )


def _at_medians(explored: Exploration, target: str) -> tuple[str, ...]:
    """Say what the gains are where the records were cut without a view to what the researcher learns."""
    gains = _gains([row for row in rows(explored, "") if row.is_sanitized], target)
    each_gain = (
        f"{label}: adversary {gain['adversary']:.2f}, researcher {_best(gain):.2f}"
        for label, gain in gains.items()
    )
    return (f"Gains with cuts at medians instead: {'; '.join(each_gain)}.",) if gains else ()


def _baseline_cells(key: str, explored: Exploration, shown: list[Row], target: str) -> list[Cell]:
    known = published("brickell", key)
    # the adversary's baseline is that of Figure 1 or 2 once more
    cells = [replace(_adversary_cell(key, explored), is_repeated=True)]
    blind = explored.find("suppress-sensitive")
    utility = workload(blind, target) if blind else None
    for miner, share in (accuracies(utility) if utility else {}).items():
        cells.append(Cell(_TRIVIAL, miner, share, known.figure(_TRIVIAL, miner), known.tolerance))
    whole = next((row.workload(target) for row in shown if row.label == INTACT), None)
    if whole is not None:
        best = 100 * float(whole.detail["accuracy"])
        figure = known.figure("table as it is", "best")
        cells.append(Cell("table as it is", "best", best, figure, known.tolerance))
    return cells


def _adversary_cell(key: str, explored: Exploration) -> Cell:
    """Return how often an adversary is right who knows only how common each sensitive value is."""
    column = explored.table[explored.schema.sensitive[0]]
    counts = [0] * len(column.domain)
    for code, weight in zip(column.codes.tolist(), explored.table.weights.tolist(), strict=True):
        counts[code] += weight
    share = 100 * max(counts) / explored.table.n_records
    return Cell(_TRIVIAL, "adversary", share, published("brickell", key).figure(_TRIVIAL, "adversary"))


def _gains(shown: Iterable[Row], target: str) -> _Gains:
    gains: dict[str, dict[str, float]] = {}
    for row in shown:
        adversary, utility = row.gain("accuracy-gain"), row.workload(target)
        if adversary is not None and utility is not None:
            base = 100 * (utility.baseline or 0.0)
            miners = {miner: share - base for miner, share in accuracies(utility).items()}
            gains[row.label] = {"adversary": 100 * adversary, **miners}
    return gains


def _gain_cells(shown: Iterable[Row], gains: _Gains) -> list[Cell]:
    return [
        Cell(f"gain, {row.label}", who, gain)
        for row in shown
        for who, gain in gains.get(row.label, {}).items()
    ]


def _chart(title: str, shown: Iterable[Row], gains: _Gains) -> Chart:
    labels = [row.label for row in shown if row.label in gains]
    names = dict.fromkeys(who for gain in gains.values() for who in gain)
    return Chart(
        title,
        "release",
        "gain in accuracy (points)",
        tuple(Series(who, tuple(labels), tuple(gains[label].get(who) for label in labels)) for who in names),
        "bars",
    )


def _adversary_ahead(shown: Iterable[Row], gains: _Gains, words: Quotation) -> Claim:
    ahead, behind = _split(shown, gains, lambda gain: gain["adversary"] > _best(gain))
    leads = {label: gains[label]["adversary"] - _best(gains[label]) for label in (*ahead, *behind)}
    least = min(leads, key=lambda label: leads[label], default="")
    smallest = f"; the smallest lead is {leads[least]:.2f} points at {least}" if leads else ""
    return Claim(
        "Every sanitized release helps the adversary (much) more than the researcher.",
        not behind if leads else None,
        f"So it is in {len(ahead)} of {len(leads)} releases{without(behind)}{smallest}",
        words,
    )


def _nothing_gained(text: str, shown: Iterable[Row], target: str, words: Quotation) -> Claim:
    """Judge by the intervals: a gain that a second sample could turn into a loss is none."""
    utilities = {
        row.label: utility
        for row in shown
        if row.is_sanitized
        for utility in [row.workload(target)]
        if utility
    }
    some = [label for label, utility in utilities.items() if _is_sure(utility)]
    most = max(utilities.items(), key=lambda pair: pair[1].value or 0.0, default=None)
    largest = "" if most is None else f"; the largest gain is {_with_interval(most[1])} at {most[0]}"
    return Claim(
        text,
        not some if utilities else None,
        f"So it is in {len(utilities) - len(some)} of {len(utilities)} releases{without(some)}{largest}",
        words,
    )


def _privacy_destroys(shown: Sequence[Row], gains: _Gains, target: str) -> tuple[Claim, ...]:
    """Judge the paper's conclusion by the releases that halve what the adversary gains.

    Where the table as it is gives the researcher nothing, nothing can be destroyed.
    """
    text = "Even modest privacy costs nearly all utility: whatever halves the adversary's gain leaves the "
    text += f"researcher less than {_DESTROYED:.0%} of what the table as it is would give."
    words = quotation("brickell", "modest-privacy")
    utility = next((row.workload(target) for row in shown if row.label == INTACT), None)
    if utility is None or INTACT not in gains:
        return (Claim(text, None, "The table as it is was not measured.", words),)
    if not _is_sure(utility):
        return (
            Claim(text, None, f"The table as it is gains {_with_interval(utility)}", words, is_moot=True),
        )
    whole = gains[INTACT]
    modest = [
        row.label
        for row in shown
        if row.is_sanitized
        and row.label in gains
        and gains[row.label]["adversary"] <= _MODEST * whole["adversary"]
    ]
    remaining = {label: max(_best(gains[label]), 0.0) / _best(whole) for label in modest}
    holds = all(share < _DESTROYED for share in remaining.values()) if remaining else None
    what_is_left = listed(remaining, ".0%") or "no release halves the adversary's"
    return (Claim(text, holds, f"Left of the researcher's gain: {what_is_left}", words),)


def _is_sure(utility: Measurement) -> bool:
    """Whether a gain is above 0 with 95% confidence."""
    return utility.interval is not None and utility.interval[0] > 0


def _with_interval(utility: Measurement) -> str:
    low, high = utility.interval or (0.0, 0.0)
    return f"{100 * (utility.value or 0.0):+.2f} points ({100 * low:+.2f} to {100 * high:+.2f})"


def _split(
    shown: Iterable[Row], gains: _Gains, test: Callable[[Mapping[str, float]], bool]
) -> tuple[list[str], list[str]]:
    """Return the sanitized releases that pass a test, and those that do not."""
    labels = [row.label for row in shown if row.is_sanitized and row.label in gains]
    return [x for x in labels if test(gains[x])], [x for x in labels if not test(gains[x])]


def _best(gains: Mapping[str, float]) -> float:
    return max(gain for who, gain in gains.items() if who != "adversary")


def _methods(shown: Iterable[Row], cut_for: str) -> str:
    folds = {
        m.parameters.get("folds", 10)
        for row in shown
        for m in row.candidate.measurements
        if m.measure == "workload-utility"
    }
    return (
        f"Releases by workload-aware mondrian that keeps what explains {cut_for}; gains in points of "
        f"accuracy, {' or '.join(map(str, sorted(folds)))} folds. The paper draws its bars without figures, "
        "so that ours stand alone; the limits are those of table 3, except for l in Marital, which has fewer "
        "sensitive values."
    )
