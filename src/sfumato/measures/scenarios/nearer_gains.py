"""Gains of an adversary who adds a miner's nearer predictions to the release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.equivalence_classes import count_classes
from sfumato.data.table import Table, text
from sfumato.kernels.row_groups import number_rows
from sfumato.measures.disclosure.adversary import AccuracyGain, KnowledgeGain
from sfumato.measures.scenarios.good_utility import ScenarioMeasure
from sfumato.measures.scenarios.nearness import nearer, released_as
from sfumato.measures.scenarios.predictions import DATA_MINER, Attempt, attack, common_entries
from sfumato.measures.scenarios.scenario import Scenario, weights_of
from sfumato.registry.declarations import Attacker, Axis, Better, Detail, Guards, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement, SensitiveMeasure
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats, Integers


class _NearerGain(ScenarioMeasure):
    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    against: ClassVar[Attacker] = DATA_MINER
    version: ClassVar[int] = 2  # nobody comes nearer to a value that is shown as it is
    gain: ClassVar[SensitiveMeasure]

    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return for each sensitive attribute the gain over the release with nearer predictions."""
        names = [name for name in scenario.adversary.attributes if name in release.schema.quasi_identifiers]
        if not names:
            raise NotApplicable("the scenario attacks no quasi-identifier, so no class would change")
        if not release.groups.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        of_row = weights_of(scenario.adversary.weights, table)[rows]
        hits = [_hits(release, name, scenario, of_row) for name in names]
        weights, entries = common_entries([hit.attempt.weights for hit in hits])
        at = hits[0].attempt.rows[entries[0]]
        near = [hit.near[entry] for hit, entry in zip(hits, entries, strict=True)]
        codes = [hit.codes[entry] for hit, entry in zip(hits, entries, strict=True)]
        refined = [release.groups.class_of[at], *codes]
        sizes = [release.groups.n_classes, *(hit.n_codes for hit in hits)]
        replaced, labels = _with_predictions(release, at, dict(zip(names, codes, strict=True)), hits)
        share = int(weights[np.logical_or.reduce(near)].sum()) / release.n_records
        seen = {"miner": ", ".join(hit.attempt.miner for hit in hits), "nearer": share}
        for name, before in release.groups.sensitive.items():
            known, swapped = (
                self._gained(release, name, at, weights, columns, cardinalities)
                for columns, cardinalities in ((refined, sizes), (replaced, labels))
            )
            baseline, _ = self.gain.of_counts(before, release)
            yield self.measurement(
                known, attribute=name, baseline=baseline, detail={**seen, "replaced": swapped}
            )

    def _gained(
        self,
        release: Release,
        name: str,
        rows: Integers,
        weights: Integers,
        columns: list[Integers],
        cardinalities: list[int],
    ) -> float:
        """Return the gain when records that are equal in these columns cannot be told apart."""
        class_of, n_classes = number_rows(columns, cardinalities, len(rows))
        prior = release.groups.sensitive[name].prior
        codes = release.cells[name].codes[rows]
        people = None if release.people is None else release.people.take(rows)
        classes = count_classes(class_of, n_classes, weights, {name: (codes, prior)}, people=people)
        value, _ = self.gain.of_counts(classes.sensitive[name], release)
        return value


@dataclass(frozen=True, eq=False)
class _Hits:
    """The worst miner's predictions: for each entry a code above 0 where it is nearer, else 0."""

    attempt: Attempt
    near: Booleans
    codes: Integers
    n_codes: int


def _hits(release: Release, name: str, scenario: Scenario, of_row: Floats) -> _Hits:
    released = released_as(release, name)
    c = scenario.adversary.c
    tried = [
        (attempt, nearer(attempt.told.distance, released.distance[attempt.rows], c))
        for attempt in attack(release, name, scenario).every
    ]
    attempt, near = max(tried, key=lambda pair: float((pair[0].weights * of_row[pair[0].rows]) @ pair[1]))
    codes = np.where(near, attempt.codes.astype(np.int64) + 1, 0)
    return _Hits(attempt, near, codes, int(attempt.codes.max()) + 2)


def _with_predictions(
    release: Release, rows: Integers, codes: Mapping[str, Integers], hits: Sequence[_Hits]
) -> tuple[list[Integers], list[int]]:
    """Return the quasi-identifiers with nearer predictions in the place of released values."""
    columns: list[Integers] = []
    cardinalities = []
    by_name = dict(zip(codes, hits, strict=True))
    for name in release.schema.quasi_identifiers:
        cells = release.cells[name]
        column = cells.codes[rows].astype(np.int64)
        n_codes = len(cells.labels)
        if name in codes:
            label = _label_codes(release, name, by_name[name])
            column = np.where(codes[name] > 0, label[codes[name]], column)
            n_codes = max(n_codes, int(label.max()) + 1)
        columns.append(column)
        cardinalities.append(n_codes)
    if release.group_of is not None:
        return [release.groups.class_of[rows]], [release.groups.n_classes]
    return columns, cardinalities


def _label_codes(release: Release, name: str, hits: _Hits) -> Integers:
    """Return for each code of a nearer prediction that of the released label that reads the same."""
    labels = release.cells[name].labels
    if hits.attempt.of_labels:
        return np.arange(-1, hits.n_codes - 1)
    place = {label: code for code, label in enumerate(labels)}
    values = hits.attempt.told.column.domain[: hits.n_codes - 1]
    return np.array([-1, *(place.setdefault(text(value), len(place)) for value in values)])


@register
@dataclass(frozen=True)
class NearerKnowledgeGain(_NearerGain):
    """The adversary's knowledge gain after adding nearer predictions to the release.

    The worst miner's nearer predictions of the attacked quasi-identifiers split the classes further;
    then `knowledge-gain` is measured again. It is never below the baseline, the gain without
    predictions. The detail has the figure when predictions replace the released values instead, as
    in the paper: then classes may also fall together.

    Parameters
    ----------
    scenario
        What the adversary attacks: the name of a scenario of the project file, or a `Scenario` with
        at least one attacked quasi-identifier.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 3.

    Examples
    --------
    >>> NearerKnowledgeGain().gain.name
    'knowledge-gain'
    """

    gain: ClassVar[SensitiveMeasure] = KnowledgeGain()
    words: ClassVar[Words] = Words(
        "knowledge gain with nearer predictions",
        "How far the sensitive values of a person's class lie from those of the whole table on average, when "
        "the classes are split further by a miner's nearer predictions.",
        "At the baseline: the predictions add nothing.",
        "0 to 1",
        baseline="without predictions",
        details={
            "replaced": Detail("if predictions replace released values"),
        },
        ends=("beliefs stay as they were", "everybody's value is certain"),
    )


@register
@dataclass(frozen=True)
class NearerAccuracyGain(_NearerGain):
    """How much more often an adversary guesses right after adding nearer predictions to the release.

    As `nearer-knowledge-gain`, with `accuracy-gain` measured again.

    Parameters
    ----------
    scenario
        What the adversary attacks: the name of a scenario of the project file, or a `Scenario` with
        at least one attacked quasi-identifier.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 3.

    Examples
    --------
    >>> NearerAccuracyGain().gain.name
    'accuracy-gain'
    """

    gain: ClassVar[SensitiveMeasure] = AccuracyGain()
    words: ClassVar[Words] = Words(
        "accuracy gain with nearer predictions",
        "How much more often an adversary guesses the sensitive value of a person right than without the "
        "release, when the classes are split further by a miner's nearer predictions.",
        "At the baseline: the predictions add nothing.",
        "0% to 100%",
        "share",
        baseline="without predictions",
        details={
            "replaced": Detail("if predictions replace released values"),
        },
        ends=("no guess is right more often", "every guess is right because of the release"),
    )
