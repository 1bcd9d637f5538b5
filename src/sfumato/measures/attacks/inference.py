"""Inference attack: predict a person's sensitive value from the release and other known attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sfumato.kernels.nearest_records import nearest_rows, nearest_votes
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure, AttackTried, attempted
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.record_distances import (
    Compared,
    SeenRelease,
    known_attributes,
    people_column,
    places_among,
    sight,
)
from sfumato.miners.cross_validation import predict_from_all
from sfumato.miners.labels import labels_of, target_domain
from sfumato.registry import methods
from sfumato.registry.declarations import Attacker, AttributeName, Guards, MinerName, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats, Integers

_TOLERANCE = 0.05
"""A number is guessed right when it is off by this share of it, as in Anonymeter."""
_NEAREST, _LIKELIEST = "a nearest record", "likeliest among the nearest records"


@register
@dataclass(frozen=True)
class Inference(AttackMeasure):
    """How often a sensitive value is guessed right from the release, beyond people outside the data.

    There are three kinds of attackers. One takes a released record that is nearest to what is known of the
    person. One takes the most likely value among all nearest records. Data miners are trained on the release
    and predict from the nearest record. A set that holds a known value is at distance 0. The value is (r - c)
    / (1 - c) for the best attacker, where r is the share of right guesses about people in the data and c
    about people outside. The best attacker is selected and evaluated on different people. A guess of a number
    is right if it is off by 5% at most.

    Parameters
    ----------
    known, control, people, seed
        As in `singling-out`.
    attribute
        The attribute to guess; by default each sensitive attribute.
    miners
        The data miners to try, each on attributes of the type that it predicts.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023; M. Sramka et
    al., "A practice-oriented framework for measuring privacy and utility in data sanitization systems",
    2010, for the miners.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, [Inference(miners=())])[0].interval[0]
    0.0
    """

    attribute: AttributeName | None = None
    miners: tuple[MinerName, ...] = ("naive-bayes", "random-tree", "regression-tree")

    guards: ClassVar[Guards] = "attribute"
    against: ClassVar[Attacker] = Attacker(
        "The guesser",
        "Knows some attributes of people and guesses a sensitive one, by the records that are most alike or "
        "by data miners; how well the same guesses fit people who are not in the data is not counted.",
    )
    words: ClassVar[Words] = Words(
        "inference",
        "How often a sensitive value of a person is guessed right from the release, beyond what is guessed "
        "right of people who are not in the data.",
        "0%: that a person is in the data gives nothing away about that person. 100%: every guess is right.",
        CUT_OFF,
        "share",
        sentence="a sensitive value is guessed from the release with a risk of {}",
        details=ATTACK_DETAILS,
        ends=("no value is guessed better than without the release", "every value is guessed"),
    )

    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return the success for each sensitive attribute."""
        release = setting.release
        names = [name for name in release.schema.sensitive if name in release.cells]
        if self.attribute is not None:
            names = list(known_attributes(release, (self.attribute,)))
        if not names:
            raise NotApplicable("no attribute is sensitive; give the attribute to guess")
        for name in names:
            known = known_attributes(release, self.known, name)
            spoken_of = name if name in release.schema.sensitive else None
            yield self.worst_measurement(
                setting, self.attempts(setting, name, known), ", ".join(known), spoken_of
            )

    def attempts(self, setting: Setting, name: str, known: tuple[str, ...]) -> Iterator[AttackTried]:
        """Yield the attempt of each attacker at an attribute."""
        secret, seen = _Secret.of(setting.release, name), sight(setting.release, known)
        everybody = [listed for listed in (setting.inside, setting.outside) if listed is not None]
        truths = [secret.truth(listed) for listed in everybody]
        commonest = secret.right(np.full(len(truths[0]), secret.commonest(setting.inside)), truths[0])
        for attacker, guesses in self._guesses(seen, secret, everybody):
            right = [secret.right(guess, truth) for guess, truth in zip(guesses, truths, strict=True)]
            yield attempted(attacker, setting, right[0], right[1] if len(right) > 1 else None, commonest)

    def _guesses(
        self, seen: SeenRelease, secret: _Secret, everybody: list[Listed]
    ) -> Iterator[tuple[str, list[Floats]]]:
        """Yield each attacker with their guesses about each list of people, as positions in the domain."""
        rng = np.random.default_rng([self.seed, 3])
        voted = [_voted(seen, secret, listed, rng) for listed in everybody]
        yield _NEAREST, [secret.values[drawn] for drawn, _ in voted]
        yield _LIKELIEST, [secret.values[likeliest] for _, likeliest in voted]
        suited = [miner for miner in self.miners if methods.build_miner(miner).predicts == secret.predicts]
        if not suited or seen.release.n_records < 2:
            return
        shown = [_shown(seen, listed) for listed in everybody]
        view = replace(
            seen.release,
            cells={
                attribute: seen.release.cells[attribute]
                for attribute in (*(known.name for known in seen.attributes), secret.compared.name)
            },
        )
        for miner in suited:
            prediction = predict_from_all(view, secret.compared.name, miner, view.weights, seed=self.seed)
            if prediction.finished:
                predicted = secret.named(prediction.predicted)
                yield miner, [predicted[rows] for rows in shown]


@dataclass(frozen=True, eq=False)
class _Secret:
    """An attribute under attack.

    Parameters
    ----------
    compared
        Its released values.
    release
        What is attacked.
    values
        What stands for each value of the original: the number, or its place among the values.
    """

    compared: Compared
    release: Release = field(repr=False)
    values: Floats = field(repr=False)

    @classmethod
    def of(cls, release: Release, name: str) -> _Secret:
        compared = Compared(name, release.schema, release.cells[name])
        domain = target_domain(release, name)
        if not compared.kind.is_number:
            return cls(compared, release, np.arange(len(domain), dtype=np.float64))
        return cls(compared, release, compared.numbers(domain))

    @property
    def is_numeric(self) -> bool:
        return self.compared.kind.is_number

    @property
    def predicts(self) -> str:
        return "number" if self.is_numeric else "category"

    def named(self, predicted: Integers | Floats) -> Floats:
        """Return a miner's predictions: numbers unchanged, categories as positions."""
        return np.asarray(predicted, dtype=np.float64)

    def truth(self, listed: Listed) -> Floats:
        """Return each person's true value, NaN if it occurs nowhere."""
        column = people_column(listed.table, self.compared.name)
        if self.is_numeric:
            return self.compared.numbers(column.domain)[column.codes[listed.rows]]
        domain = target_domain(self.release, self.compared.name)
        return places_among(domain, column)[column.codes[listed.rows]]

    def commonest(self, listed: Listed) -> float:
        """Return the most common value among all people in the data."""
        column = listed.table[self.compared.name]
        counts = np.bincount(column.codes, listed.table.weights, len(column.domain))
        return float(self.values[int(counts.argmax())])

    def right(self, guesses: Floats, truth: Floats) -> Booleans:
        """Return which guesses are right; a missing value is guessed right as missing."""
        if not self.is_numeric:
            return guesses == truth
        near = np.abs(guesses - truth) <= _TOLERANCE * np.abs(truth)
        return near | (np.isnan(guesses) & np.isnan(truth))


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """For each box of a release the expected number of records with each value, as a sparse table."""

    starts: Integers
    values: Integers
    weights: Floats


def _beliefs(seen: SeenRelease, secret: _Secret) -> _Beliefs:
    release, boxes = seen.release, seen.boxes
    labels = labels_of(release, secret.compared.name, "category", "released", 0)
    shares = labels.shares
    n_kinds, n_values, n_boxes = len(shares.starts) - 1, len(secret.values), len(boxes.rows)
    # rows of the same box and kind are counted before they are spread over the values
    pair, n_pairs = number_rows([boxes.box_of, labels.kind_of], [n_boxes, n_kinds], release.n_rows)
    one = first_row_of_group(pair, n_pairs)
    counts, kind = sum_by_group(pair, n_pairs, release.weights), labels.kind_of[one]
    sizes = np.diff(shares.starts)[kind]
    entry = np.repeat(shares.starts[kind] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    key = np.repeat(boxes.box_of[one], sizes) * n_values + shares.values[entry]
    keys, place = np.unique(key, return_inverse=True)
    weights: Floats = np.bincount(place, np.repeat(counts, sizes) * shares.shares[entry], len(keys)).astype(
        np.float64
    )
    return _Beliefs(np.searchsorted(keys // n_values, np.arange(n_boxes + 1)), keys % n_values, weights)


def _voted(
    seen: SeenRelease, secret: _Secret, listed: Listed, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return for each person the value of one nearest record, and the most likely value among all of them."""
    beliefs, boxes = _beliefs(seen, secret), seen.boxes
    drawn, likeliest = np.empty((2, len(listed.rows)), dtype=np.int64)
    for some, far in seen.far(listed):
        votes = nearest_votes(
            far, boxes.rows, beliefs.starts, beliefs.values, beliefs.weights, len(secret.values)
        )
        reached = np.cumsum(votes, axis=1)
        point = rng.random(len(votes)) * reached[:, -1]
        drawn[some] = (reached <= point[:, None]).sum(axis=1).clip(max=votes.shape[1] - 1)
        likeliest[some] = votes.round(9).argmax(axis=1)
    return drawn, likeliest


def _shown(seen: SeenRelease, listed: Listed) -> Integers:
    """Return for each person the nearest released row, the most specific one of several."""
    boxes = seen.boxes
    order = np.argsort(seen.volumes[boxes.first], kind="stable")
    rows = np.ascontiguousarray(boxes.rows[order])
    nearest = np.empty(len(listed.rows), dtype=np.int64)
    for some, far in seen.far(listed):
        nearest[some] = boxes.first[order[nearest_rows(far, rows)[1]]]
    return nearest
