"""Compute the exhibits of Brickell and Shmatikov 2008 from the explored candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sfumato_papers.brickell.artificial import artificial
from sfumato_papers.brickell.gains import learning_another, learning_the_same
from sfumato_papers.brickell.interpretations import AMBIGUITIES, MARITAL, kept_for
from sfumato_papers.brickell.releases import INTACT, listed, rows, substitution_notes, without, workload
from sfumato_papers.compare_figures import cell, compared_bars, exhibit
from sfumato_papers.exhibits import Cell, Claim, Exhibit
from sfumato_papers.experiments import Experiment, Exploration, Explorations
from sfumato_papers.paper import Paper
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation

_GAINS = ("accuracy-gain", "knowledge-gain")
_QUICK = {"k": [100], "l": [2], "t": [0.2], "delta": [1.0]}
_LEARNED = ("marital-status", "occupation", "salary")
"""What somebody wants to learn in one of the exhibits."""
_DESTROYED = 0.1
_BARELY = 0.8


def exhibits(explorations: Explorations) -> tuple[Exhibit, ...]:
    """Return the paper's exhibits."""
    marital, occupation = explorations["brickell-marital"], explorations["brickell-occupation"]
    return (
        _table_1(explorations["brickell-attributes"]),
        _table_2(explorations["brickell-attributes"]),
        learning_the_same("figure-1", marital, "salary"),
        learning_the_same("figure-2", occupation, MARITAL),
        learning_another("figure-3", marital, "salary"),
        learning_another("figure-4", occupation, MARITAL),
        _table_3(occupation, explorations["brickell-partitions"], kept_for(explorations)),
        artificial(),
    )


def _table_1(explored: Exploration) -> Exhibit:
    counts = {name: len(explored.table[name].domain) for name in published("brickell", "table-1").figures}
    return exhibit(
        "brickell", "table-1", [cell("brickell", "table-1", name, "values", n) for name, n in counts.items()]
    )


def _table_2(explored: Exploration) -> Exhibit:
    known = published("brickell", "table-2")
    whole = explored.find("as-is")
    utilities = {name: workload(whole, name) if whole else None for name in known.figures}
    cells = [
        Cell(name, column, 100 * share, known.figure(name, column), known.tolerance)
        for name, measurement in utilities.items()
        if measurement is not None
        for column, share in (
            ("intact", measurement.detail["accuracy"]),
            ("suppressed", measurement.baseline or 0.0),
        )
    ]
    drops = {
        name: 100 * (measurement.value or 0.0)
        for name, measurement in utilities.items()
        if measurement is not None
    }
    steepest = max(drops, key=lambda name: drops[name]) if drops else ""
    others = [drop for name, drop in drops.items() if name != steepest]
    claim = Claim(
        "Only the marital status is learned much worse without age, sex and race.",
        steepest == "marital-status" and drops[steepest] > 2 * max(others) if others else None,
        "Points lost: " + listed(drops, ".2f"),
        quotation("brickell", "only-marital"),
    )
    return Exhibit(
        "table-2",
        known.title,
        known.source,
        tuple(cells),
        (claim,),
        notes=(
            f"{explored.table.n_records:,} records, nine attributes. Accuracy in per cent of a tree in the "
            "way of C4.5, each record predicted by a tree that has not seen it.",
            known.why,
        ),
    )


def _table_3(explored: Exploration, partitions: Exploration, target: str) -> Exhibit:
    known = published("brickell", "table-3")
    others = {row.label: row for row in rows(partitions, target)}
    shown = [others.get(row.label, row) for row in rows(explored, MARITAL)]
    cells = [
        known.compare(row.label, measure, row.gain(measure))
        for row in shown
        for measure in _GAINS
        if row.gain(measure) is not None
    ]
    learned = {row.label: gain for row in shown for gain in [row.gain("knowledge-gain")] if gain is not None}
    return Exhibit(
        "table-3",
        known.title,
        known.source,
        tuple(cells),
        (_barely_changes(learned), _diversity_is_trivial(learned), _same_order(cells)),
        (
            compared_bars(
                "brickell",
                "table-3",
                "knowledge-gain",
                learned,
                title="Occupation: the adversary's knowledge gain",
                name="A_know",
                y_label="A_know",
            ),
        ),
        notes=(*substitution_notes(explored, shown), known.why),
    )


def _barely_changes(learned: Mapping[str, float]) -> Claim:
    remaining = {
        label: gain / learned[INTACT]
        for label, gain in learned.items()
        if label.startswith("k") and learned.get(INTACT)
    }
    return Claim(
        "k-anonymity hardly lowers what the adversary learns, even for a large k "
        f"(at least {_BARELY:.0%} remain).",
        min(remaining.values()) >= _BARELY if remaining else None,
        "Of A_know of the table as it is remains: " + listed(remaining, ".0%"),
        quotation("brickell", "barely-changes"),
    )


def _diversity_is_trivial(learned: Mapping[str, float]) -> Claim:
    diverse = {label: gain for label, gain in learned.items() if label.startswith("l")}
    whole = learned.get(INTACT)
    low = [label for label, gain in diverse.items() if whole and gain <= _DESTROYED * whole]
    return Claim(
        f"l-diversity limits what the adversary learns substantially (to {_DESTROYED:.0%}) only where it "
        "suppresses the quasi-identifiers.",
        all(diverse[label] == 0 for label in low) if low else None,
        "A_know: " + listed(diverse, ".4f"),
        quotation("brickell", "complete-suppression"),
    )


def _same_order(cells: Sequence[Cell]) -> Claim:
    """Judge whether the rows of k and of l stand in the paper's order of size."""
    pairs = [
        pair
        for measure in _GAINS
        for letter in "kl"
        for pair in pairwise(c for c in cells if c.column == measure and c.row.startswith(letter))
    ]
    wrong = [f"{one.row} and {other.row}" for one, other in pairs if not _same_way(one, other)]
    return Claim(
        "The rows of k and those of l stand in the paper's order of size.",
        not wrong if pairs else None,
        f"{len(pairs) - len(wrong)} of {len(pairs)} neighbours" + without(wrong),
    )


def _same_way(one: Cell, other: Cell) -> bool:
    """Return whether two of our figures differ in the direction of the published ones."""
    ours = (one.ours or 0.0) - (other.ours or 0.0)
    return ours * ((one.figure or 0.0) - (other.figure or 0.0)) > 0


def _fewer(document: Any) -> None:
    """Keep one limit of each model, and divide the records in three parts only."""
    for block in document["candidates"]:
        for given in block.get("model", {}).values():
            for name, values in _QUICK.items():
                if name in given:
                    given[name] = values
    for entry in document["measure"]["utility"]:
        if "workload-utility" in entry:
            entry["workload-utility"]["folds"] = 3


def _fewer_attributes(document: Any) -> None:
    """Learn only the attributes that the exhibits are about, and divide the records in three parts only."""
    utility = document["measure"]["utility"]
    for place in reversed(range(len(utility))):
        if utility[place]["workload-utility"]["target"] not in ("marital-status", "occupation"):
            del utility[place]
        else:
            utility[place]["workload-utility"]["folds"] = 3


PAPER = Paper(
    "brickell",
    "Brickell and Shmatikov 2008",
    'J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data '
    'publishing", KDD 2008',
    (
        Experiment("brickell-attributes", "complete", _fewer_attributes, dealt=_LEARNED),
        Experiment("brickell-marital", "complete", _fewer, dealt=_LEARNED),
        Experiment("brickell-occupation", "complete", _fewer, dealt=_LEARNED),
        Experiment("brickell-partitions", "complete", _fewer, by_chance=False, dealt=_LEARNED),
    ),
    exhibits,
    doi="10.1145/1401890.1401904",
    ambiguities=AMBIGUITIES,
)
