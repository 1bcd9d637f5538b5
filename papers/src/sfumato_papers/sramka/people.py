"""Compute table 2 of Sramka and others 2010: how many people an adversary's miners come nearer to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.results import Measurement
from sfumato_papers.compare_figures import printed_series
from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.experiments import Exploration, Explorations
from sfumato_papers.published import published
from sfumato_papers.quotations import quotation
from sfumato_papers.sramka.interpretations import DRAWN
from sfumato_papers.sramka.releases import (
    Releases,
    epsilon_of,
    listed,
    measured,
    method_of,
    miner_of,
    of_method,
    rises,
)

_SCENARIOS = ("A", "B", "C")
_SAME_OF_EVERYBODY = {"ZeroR": "mean-number"}
"""The paper's miner that says the same of everybody, and ours."""
_SELECTED = {DRAWN: "drawn at random", "celebrities=average": "of 38 or 39 years"}
_HARDLY = 0.1
"""A tenth: what the number of people may change by while the noise changes fiftyfold, and hardly matter."""

_Bad = Mapping[tuple[str, str], Measurement]
"""The anti-utility of each release in each scenario."""


def table_2(explorations: Explorations, clustered: Releases, noisy: Releases) -> Exhibit:
    """Return table 2 of the paper.

    Parameters
    ----------
    explorations
        The explorations, with their interpretation of the paper.
    clustered, noisy
        The releases by both methods.
    """
    known = published("sramka", "table-2")
    bad: _Bad = {
        (label, scenario): measurement
        for label, candidate in (clustered | noisy).items()
        for scenario in _SCENARIOS
        for measurement in [measured(candidate, "anti-utility", scenario)]
        if measurement
    }
    bad = _of_drawn(bad) if explorations.uses(DRAWN) else bad
    return Exhibit(
        "table-2",
        known.title,
        known.source,
        tuple(
            cell
            for (label, scenario), measurement in bad.items()
            for cell in _people_cells(label, scenario, measurement)
        ),
        _claims_of_people(bad),
        tuple(_people_chart(releases, bad) for releases in (clustered, noisy)),
        notes=(
            *_notes_of_people(explorations, bad, clustered),
            *_expected(explorations["sramka-noise"], bad, noisy),
            known.why,
        ),
    )


def _of_drawn(bad: _Bad) -> _Bad:
    """Put into scenario C what may be expected of people drawn at random: their share of everybody."""
    share = _figure("data", "selected", "count") / _figure("data", "records", "count")
    drawn = {
        (label, "C"): replace(
            measurement,
            detail={
                **measurement.detail,
                **{key: share * measurement.detail[key] for key in ("worst-sum", "average-sum")},
                "miners": {miner: share * gained for miner, gained in measurement.detail["miners"].items()},
            },
        )
        for (label, scenario), measurement in bad.items()
        if scenario == "A"
    }
    return {**bad, **drawn}


def _figure(exhibit: str, row: str, column: str) -> float:
    return float((published("sramka", exhibit).figure(row, column) or "0").replace(",", ""))


def _people_cells(label: str, scenario: str, measurement: Measurement) -> list[Cell]:
    known = published("sramka", "table-2" if method_of(label) == "k" else "table-2-noise")
    known = known if scenario == "A" else replace(known, tolerance=0.0)
    cells = [
        known.compare(
            label,
            f"{scenario} {which}",
            float(measurement.detail[f"{which}-sum"]),
            series=f"{scenario} {which}, {method_of(label)}",
        )
        for which in ("average", "worst")
    ]
    # if we have the paper's worst miner, its figure is known, and ours is compared with it as well
    theirs = _worst_published(label, scenario)
    sums = {miner_of(miner): float(gained) for miner, gained in measurement.detail["miners"].items()}
    if _SAME_OF_EVERYBODY.get(theirs) in sums:
        worst, ours = cells[-1], sums[_SAME_OF_EVERYBODY[theirs]]
        column = f"{scenario} {theirs}"
        cells.append(replace(worst, column=column, ours=ours, series=f"{column}, noise", is_repeated=True))
    return cells


def _worst_published(label: str, scenario: str) -> str:
    """Return the paper's worst miner."""
    return published("sramka", "table-2-miners").figure(label, scenario) or "none"


def _claims_of_people(bad: _Bad) -> tuple[Claim, ...]:
    worst = {key: float(measurement.detail["worst-sum"]) for key, measurement in bad.items()}
    by_scenario = {
        scenario: {label: count for (label, own), count in worst.items() if own == scenario}
        for scenario in _SCENARIOS
    }
    split = {
        name: (of_method(counts, "k"), of_method(counts, "epsilon")) for name, counts in by_scenario.items()
    }
    complete = all(clustered and noisy for clustered, noisy in split.values())
    several = all(len(clustered) > 1 for clustered, _ in split.values())
    exact, exact_noise = split["B"]
    return (
        Claim(
            "In all three scenarios k-anonymity tells an adversary less than noise does.",
            all(max(c.values()) < min(n.values()) for c, n in split.values()) if complete else None,
            "; ".join(
                f"{name}: at most {max(c.values()):,.0f} against at least {min(n.values()):,.0f}"
                for name, (c, n) in split.items()
                if c and n
            ),
            quotation("sramka", "anonymity-better"),
        ),
        Claim(
            "The larger k, the fewer people the adversary comes nearer to.",
            all(rises([-count for count in split[name][0].values()]) for name in "AC") if several else None,
            "; ".join(f"{name}: {listed(split[name][0], ',.0f')}" for name in "AC"),
            quotation("sramka", "expected-trend"),
        ),
        Claim(
            "Under k-anonymity no age is predicted exactly.",
            max(exact.values()) == 0 if exact else None,
            listed(exact, ",.0f"),
            quotation("sramka", "no-exact-disclosures"),
        ),
        Claim(
            "The smaller epsilon, the fewer ages are predicted exactly.",
            rises([-count for count in exact_noise.values()]) if len(exact_noise) > 1 else None,
            listed(exact_noise, ",.0f"),
            quotation("sramka", "fewer-exact"),
        ),
        _epsilon_claim({name: split[name][1] for name in "AC"}),
        _worst_claim(bad),
    )


def _epsilon_claim(noisy: Mapping[str, Mapping[str, float]]) -> Claim:
    """Judge that the amount of noise hardly changes about how many people something is learned."""
    several = all(len(counts) > 1 and min(counts.values()) > 0 for counts in noisy.values())
    changes = {name: max(c.values()) / min(c.values()) - 1 for name, c in noisy.items()} if several else {}
    return Claim(
        "In A and C epsilon hardly matters: while the noise grows fiftyfold, the people that the adversary "
        "comes nearer to change by less than a tenth.",
        max(changes.values()) < _HARDLY if several else None,
        "; ".join(f"{name}: {changes[name]:.1%} ({listed(noisy[name], ',.0f')})" for name in changes),
        quotation("sramka", "regardless"),
    )


def _worst_claim(bad: _Bad) -> Claim:
    """Judge that under noise it is worst, or nearly so, to say the same of everybody."""
    ours = {
        f"{scenario}, {label}": miner_of(measurement.detail["worst-miner"])
        for (label, scenario), measurement in bad.items()
        if method_of(label) == "epsilon" and _worst_published(label, scenario) in _SAME_OF_EVERYBODY
    }
    same = [place for place, miner in ours.items() if miner in _SAME_OF_EVERYBODY.values()]
    return Claim(
        "Under noise the worst miner of A and C is the one that says the same of everybody (ZeroR).",
        len(same) == len(ours) if ours else None,
        f"{len(same)} of {len(ours)}; " + ", ".join(f"{place}: {miner}" for place, miner in ours.items()),
        quotation("sramka", "worst-miner"),
    )


def _people_chart(releases: Releases, bad: _Bad) -> Chart:
    """Draw scenario A miner by miner, and the paper's worst miner next to them."""
    labels = tuple(label for label in releases if (label, "A") in bad)
    sums = {label: {miner_of(m): s for m, s in bad[label, "A"].detail["miners"].items()} for label in labels}
    miners = dict.fromkeys(miner for sums_of in sums.values() for miner in sums_of)
    method = method_of(labels[0]) if labels else ""
    key = "table-2" if method == "k" else "table-2-noise"
    return Chart(
        f"Scenario A, {'k-anonymity' if method == 'k' else 'noise'}: people that each miner comes nearer to",
        "release",
        "people",
        (
            *(Series(miner, labels, tuple(sums[label].get(miner) for label in labels)) for miner in miners),
            printed_series("sramka", key, "worst", labels, "A worst"),
        ),
    )


def _notes_of_people(explorations: Explorations, bad: _Bad, clustered: Releases) -> tuple[str, ...]:
    who = next((words for switch, words in _SELECTED.items() if explorations.uses(switch)), None)
    certain = {
        label: float(bad[label, "B"].detail["told-anyway"]) for label in clustered if (label, "B") in bad
    }
    people = next((m.detail["worst-sum"] / m.value for (_, s), m in bad.items() if s == "C" and m.value), 0)
    few, all_of_them = (published("sramka", "table-2").figure("k = 2", f"{name} worst") for name in "CA")
    return (
        f"{_worst_miners(bad)} Ours are not Weka's, and those that need minutes for each release (logistic "
        "regression, support vectors, boosted trees and forests for numbers) were left out.",
        *_directions([bad[label, "A"] for label in clustered if (label, "A") in bad]),
        "The paper says that ages became intervals, the shortest of 5 years, and predicts none exactly under "
        f"k-anonymity. So many people's age is told here before any mining: {listed(certain, '.1%')}.",
        f"C: {people:,.0f} people {who or 'with a graduate degree and a high salary'}. The paper selects "
        f"five per cent and does not say whom; they cannot have been drawn at random, since {few} of the "
        f"{all_of_them} nearer predictions at k = 2 fell on them.",
    )


def _worst_miners(bad: _Bad) -> str:
    of_scenario = {
        name: ", ".join(
            f"{label} {miner_of(m.detail['worst-miner'])} ({_worst_published(label, name)})"
            for (label, s), m in bad.items()
            if s == name
        )
        for name in _SCENARIOS
    }
    named = "; ".join(f"in {name}: {miner}" for name, miner in of_scenario.items() if miner)
    return f"The worst miners, the paper's in brackets, are {named}."


def _directions(weak_to_strong: Sequence[Measurement]) -> tuple[str, ...]:
    """Say which miners come nearer to more people as k grows, and which to fewer."""
    if len(weak_to_strong) < 2:
        return ()
    first, last = (measurement.detail["miners"] for measurement in (weak_to_strong[0], weak_to_strong[-1]))
    more = [miner_of(miner) for miner in first if last.get(miner, 0) > first[miner]]
    fewer = [miner_of(miner) for miner in first if last.get(miner, 0) < first[miner]]
    return (
        "Under k-anonymity the miners predict released intervals, as in the paper. From the smallest to "
        f"the largest k fewer people fall to {', '.join(fewer) or 'no miner'}, as in the paper, and more to "
        f"{', '.join(more) or 'no miner'}. Who says one interval of nearly everybody need not learn "
        "anything: where the released ones are wide, that is often nearer.",
    )


def _expected(noise: Exploration, bad: _Bad, noisy: Releases) -> tuple[str, ...]:
    """Say how often one age for everybody can be nearer than a noisy one, by the density of the noise."""
    column, weights = noise.table["age"], noise.table.weights
    ages = np.array(column.domain, dtype=np.float64)[column.codes]
    far = np.abs(ages - np.unique(ages)[:, np.newaxis])
    counts, ours = {}, {}
    for label, candidate in noisy.items():
        width = candidate.recipe.parameters.get("ranges", {}).get("age", float(np.ptp(ages)))
        counts[label] = float((np.exp(-far * epsilon_of(candidate) / width) @ weights).max())
        sums = bad[label, "A"].detail["miners"] if (label, "A") in bad else {}
        if "mean-number" in sums:
            ours[label] = float(sums["mean-number"])
    if not ours:
        return ()
    known = {
        label: float(published("sramka", "table-2-noise").figure(label, "A worst") or 0) for label in counts
    }
    is_whole = f"{weights.sum():,}" == published("sramka", "data").figure("records", "count")
    above = {
        label: count
        for label, count in known.items()
        if is_whole and count > counts[label] + _sampling(counts[label], weights)
    }
    more = f" Above that the paper has {listed(above, ',.0f')}." if above else ""
    return (
        "Who says one age of everybody is nearer wherever the noise is larger than the distance of that age "
        "from the true one; by the density of the noise this can be expected, for the best such age, of "
        f"{listed(counts, ',.0f')} people.{more} An adversary knows only the mean of the noisy ages, which "
        "may be far off where epsilon is small; who says that comes nearer to "
        f"{listed(ours, ',.0f')} people.",
    )


def _sampling(count: float, weights: NDArray[np.integer[Any]]) -> float:
    """Return how far a count may lie above its expectation: three standard deviations."""
    n_people = float(weights.sum())
    return 3 * math.sqrt(count * max(1 - count / n_people, 0.0))
