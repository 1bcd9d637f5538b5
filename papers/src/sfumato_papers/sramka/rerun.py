"""Compute the exhibits of Sramka and others 2010 from the explored candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sfumato.miners import accuracy, original_view, predict
from sfumato.results import Measurement
from sfumato_papers.compare_figures import compared_bars
from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Experiment, Exploration, Explorations
from sfumato_papers.paper import Paper
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation
from sfumato_papers.sramka.interpretations import AMBIGUITIES, OF_ANONYMITY, OF_NOISE
from sfumato_papers.sramka.people import table_2
from sfumato_papers.sramka.releases import (
    Releases,
    clustered_releases,
    listed,
    measured,
    method_of,
    miner_of,
    noisy_releases,
    of_method,
    rises,
)

_GAINS = {"A_acc": "nearer-accuracy-gain", "A_know": "nearer-knowledge-gain"}
_QUICK_MINERS = ("naive-bayes", "decision-tree", "majority", "mean-number", "linear-regression")
_SMALL = 5.0
"""A decline in per cent that the paper calls acceptable."""


def exhibits(explorations: Explorations) -> tuple[Exhibit, ...]:
    """Return the paper's tables."""
    clustered, noise = clustered_releases(explorations["sramka-anonymity"]), explorations["sramka-noise"]
    noisy = noisy_releases(noise)
    return (
        _table_1(noise, clustered, noisy),
        table_2(explorations, clustered, noisy),
        _table_3(clustered),
    )


def _table_1(noise: Exploration, clustered: Releases, noisy: Releases) -> Exhibit:
    known, lost = published("sramka", "table-1"), published("sramka", "table-1-declines")
    good = {
        label: measurement
        for label, candidate in (clustered | noisy).items()
        for measurement in [measured(candidate, "good-utility", "A")]
        if measurement
    }
    originals = {
        f"original, {how}": next((good[label] for label in releases if label in good), None)
        for how, releases in (("numbers", noisy), ("categories", clustered))
    }
    cells = [
        # an original has no better side: it neither costs nor protects
        replace(known, better={}).compare(row, miner_of(miner), sums["original"], printed="original")
        for row, measurement in originals.items()
        if measurement
        for miner, sums in measurement.detail["miners"].items()
    ]
    for label, measurement in good.items():
        for miner, sums in measurement.detail["miners"].items():
            name = miner_of(miner)
            series = f"{name}, {method_of(label)}"
            cells.append(known.compare(label, name, sums["released"], series=series))
        series = f"decline, {method_of(label)}"
        cells.append(lost.compare(label, "decline", 100 * (measurement.value or 0.0), series=series))
    declines = {label: 100 * (measurement.value or 0.0) for label, measurement in good.items()}
    return Exhibit(
        "table-1",
        known.title,
        known.source,
        tuple(cells),
        (*_claims_of_declines(declines), forest_claim(good)),
        (
            compared_bars(
                "sramka",
                "table-1-declines",
                "decline",
                declines,
                title="The largest decline of a user's miner",
                name="decline",
                y_label="decline (%)",
            ),
        ),
        notes=(
            f"{noise.table.n_records:,} records; the figures are how many salaries a miner predicts "
            "right that has not seen the record. The decline is that of the miner that loses most, in per "
            "cent. Age and education are categories for k-anonymity and numbers for noise, so that there are "
            "two originals. The forest has the settings of Weka's. In its text the paper gives the largest "
            "decline as 4.86, in the table as 4.68.",
            *_without_noisy(noise, noisy),
            known.why,
            lost.why,
        ),
    )


def _without_noisy(noise: Exploration, noisy: Releases) -> tuple[str, ...]:
    """Return a note on a tree that does not see the attributes with noise at all."""
    if not noisy:
        return ()
    candidate = next(iter(noisy.values()))
    blurred = tuple(candidate.recipe.parameters["ranges"])
    view = original_view(noise.table, noise.schema)
    features = [name for name in view.cells if name not in blurred]
    predictions = predict(view, noise.schema.sensitive[0], "decision-tree", features=features)
    right = accuracy(view, predictions) * noise.table.n_records
    with_noise = {
        label: float(sums["decision-tree"]["released"])
        for label, candidate in noisy.items()
        for good in [measured(candidate, "good-utility", "A")]
        for sums in [good.detail["miners"] if good else {}]
        if "decision-tree" in sums
    }
    return (
        f"A tree that does not see {' and '.join(blurred)} at all predicts {right:,.0f} right; with noise on "
        f"them it is {listed(with_noise, ',.0f')}. Like J48's, a split of the tree on a number must gain "
        "more than naming its place among many costs; the forest's need not, and noise misleads it.",
    )


def _claims_of_declines(declines: Mapping[str, float]) -> tuple[Claim, ...]:
    clustered, noisy = of_method(declines, "k"), of_method(declines, "epsilon")
    return (
        Claim(
            "The larger k, the larger the decline.",
            rises(clustered.values()) if len(clustered) > 1 else None,
            listed(clustered, ".2f"),
            quotation("sramka", "higher-decline"),
        ),
        Claim(
            f"k-anonymity costs the user's miners less than {_SMALL:g} per cent.",
            max(clustered.values()) < _SMALL if clustered else None,
            listed(clustered, ".2f"),
            quotation("sramka", "acceptable-decline"),
        ),
        Claim(
            "For the user's miners noise is the better alternative: its largest decline is the smaller one.",
            max(noisy.values()) < max(clustered.values()) if clustered and noisy else None,
            listed(declines, ".2f"),
            quotation("sramka", "better-alternative"),
        ),
        Claim(
            "Under noise less epsilon does not cost more: the decline does not grow from step to step.",
            not rises(noisy.values()) if len(noisy) > 2 else None,
            listed(noisy, ".2f"),
            quotation("sramka", "no-trend"),
        ),
    )


def forest_claim(good: Mapping[str, Measurement]) -> Claim:
    """Judge the sentence about the miner that some releases serve better than the original."""
    sums = {
        label: counts
        for label, utility in good.items()
        if method_of(label) == "k"
        for miner, counts in utility.detail["miners"].items()
        if miner_of(miner) == "random-forest"
    }
    blurred = {label: counts for label, counts in sums.items() if label != "k = 2"}
    return Claim(
        "From k = 10 on the forest does better on the release than on the original.",
        all(counts["released"] > counts["original"] for counts in blurred.values()) if blurred else None,
        ", ".join(
            f"{label}: {counts['released']:,.0f} of {counts['original']:,.0f}"
            for label, counts in sums.items()
        ),
        quotation("sramka", "slightly-higher"),
    )


def _table_3(clustered: Releases) -> Exhibit:
    known = published("sramka", "table-3")
    cells: list[Cell] = []
    raised: dict[str, bool] = {}
    refined: dict[str, dict[str, float]] = {}
    for label, candidate in clustered.items():
        for gain, measure in _GAINS.items():
            measurement = measured(candidate, measure, "A")
            if measurement is None or measurement.baseline is None:
                continue
            added = float(measurement.detail["replaced"])
            for column, ours in ((gain, measurement.baseline), (f"{gain} with predictions", added)):
                cells.append(Cell(label, column, ours, known.figure(label, column), known.tolerance))
            raised[f"{gain} at {label}"] = added > measurement.baseline
            refined.setdefault(gain, {})[label] = measurement.value or 0.0
    lower = [name for name, is_raised in raised.items() if not is_raised]
    return Exhibit(
        "table-3",
        known.title,
        known.source,
        tuple(cells),
        (
            Claim(
                "With nearer predictions of age both gains are larger, for every k.",
                not lower if raised else None,
                f"{len(raised) - len(lower)} of {len(raised)} are"
                + (f" (not {', '.join(lower)})" if lower else ""),
                quotation("sramka", "gains-lower"),
            ),
        ),
        (_gain_chart(cells),),
        notes=(
            "Predictions take the place of the released ages where they are nearer, as in the paper; classes "
            "may also fall together then. Where they are added to them instead, the gains are "
            + "; ".join(f"{gain}: {listed(figures, '.4f')}" for gain, figures in refined.items())
            + ".",
            known.why,
        ),
    )


def _gain_chart(cells: Sequence[Cell]) -> Chart:
    columns = dict.fromkeys(cell.column for cell in cells)
    own = {column: [cell for cell in cells if cell.column == column] for column in columns}
    return Chart(
        "The adversary's gains",
        "release",
        "gain",
        tuple(
            series
            for column, cells_of in own.items()
            for series in (
                Series(column, tuple(c.row for c in cells_of), tuple(c.ours for c in cells_of)),
                Series(
                    column,
                    tuple(c.row for c in cells_of),
                    tuple(c.figure for c in cells_of),
                    published=True,
                ),
            )
        ),
    )


def _fewer(document: Any) -> None:
    """Keep two releases of each method, a few quick miners and three folds."""
    for block in document["candidates"]:
        if "model" in block:
            block["model"]["k-anonymity"]["k"] = [10, 100]
        else:
            block["epsilon"] = [0.5, 0.01]
    for scenario in document["scenarios"].values():
        scenario["folds"] = 3
        miners = scenario["adversary"]["miners"]
        for place in reversed(range(len(miners))):
            if miners[place] not in _QUICK_MINERS:
                del miners[place]


_LEARNED = ("age", "salary")
"""What the adversary and the user want to learn."""

PAPER = Paper(
    "sramka",
    "Sramka, Safavi-Naini, Denzinger and Askari 2010",
    'M. Sramka, R. Safavi-Naini, J. Denzinger, M. Askari, "A practice-oriented framework for measuring '
    'privacy and utility in data sanitization systems", EDBT workshops 2010',
    (
        Experiment("sramka-anonymity", "complete", _fewer, dealt=_LEARNED, switches=OF_ANONYMITY),
        Experiment("sramka-noise", "complete", _fewer, dealt=_LEARNED, switches=OF_NOISE),
    ),
    exhibits,
    doi="10.1145/1754239.1754270",
    ambiguities=AMBIGUITIES,
)
