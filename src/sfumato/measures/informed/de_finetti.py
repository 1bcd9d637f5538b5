"""The deFinetti attack: learn from the groups themselves who has which of a group's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.kernels.row_groups import value_counts
from sfumato.measures.informed.informed_reader import RECIPE_READER
from sfumato.registry.declarations import AtLeast, AtMost, Attacker, Detail, Needs, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import SensitiveMeasure
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Floats, Integers

# Rows and columns of a group's table are made to add up in turn so many times; few are needed.
_BALANCINGS = 20


@register
@dataclass(frozen=True)
class DeFinettiGain(SensitiveMeasure):
    """How much more often an adversary who learns from the groups guesses right.

    If the sensitive values of a group are published separately from its records, every assignment seems
    equally likely (random worlds). But all groups together show which values go with which quasi-identifiers.
    The adversary fits a naive Bayes model, P(value) and P(attribute | value), to the groups alone. Starting
    from even shares in each group, the model is estimated from the shares and the shares from the model in
    turn, while each group keeps its counts (an expected matching, by iterative proportional fitting). The
    value is the share of right guesses of the most likely value, less the baseline: those of the most common
    value of each group. If the records of a group look alike, as when classes are the groups, there is
    nothing to learn, and the value is 0.

    Parameters
    ----------
    rounds
        How many times the model and the shares are estimated in turn.

    References
    ----------
    D. Kifer, "Attacks on privacy and deFinetti's theorem", 2009.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> measure(release, ["de-finetti-gain"])[0].value
    0.0
    """

    rounds: Annotated[int, AtLeast(1), AtMost(10_000)] = 20

    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = RECIPE_READER
    is_attack: ClassVar[bool] = True
    words: ClassVar[Words] = Words(
        "deFinetti gain",
        "How much oftener an adversary guesses a person's sensitive value right who has learned from all "
        "groups which values go with which quasi-identifiers, than one who takes the members of a group for "
        "equal.",
        "0%: the groups teach nothing about their members. 10%: of 100 guesses 10 more are right.",
        "-100% to 100%; below 0% what was learned misleads",
        "share",
        sentence="who learns from the groups guesses sensitive values right more often by {} of all guesses",
        baseline="right guesses from the counts of each group",
        details={"accuracy": Detail("right guesses of who learns from the groups")},
        ends=("the groups teach nothing", "every further guess is right"),
    )

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the share of right guesses beyond those from the counts."""
        if not isinstance(release, LinkedRelease) or release.origin.linked_rows is None:
            raise NotApplicable("it is not known whose each sensitive value is")
        name = next(name for name, counts in release.groups.sensitive.items() if counts is sensitive)
        own, n_values = release.own_values(name), len(sensitive.prior)
        baseline = float(sensitive.largest(sensitive.counts).sum()) / release.n_records
        if release.group_of is None or release.people is not None:
            return 0.0, {"baseline": baseline, "detail": {"accuracy": baseline}}
        dealt = _Dealt.of(release, own, n_values)
        features = [release.cells[attribute].codes for attribute in release.schema.quasi_identifiers]
        shares = dealt.learned(features, n_values, self.rounds)
        guesses = dealt.guesses(shares)
        accuracy = float(release.weights @ (guesses == own)) / release.n_records
        return accuracy - baseline, {"baseline": baseline, "detail": {"accuracy": accuracy}}


@dataclass(frozen=True, eq=False)
class _Dealt:
    """Every pair of a released row and a value of its group: the possible assignments.

    Parameters
    ----------
    row_of, entry_of
        The row of each pair, those of a row one after another, and its entry among the counts of all groups.
    first
        The first pair of each row.
    weights
        The records of each row.
    values, counts
        The value of each entry and how many records of the group have it.
    """

    row_of: Integers
    entry_of: Integers
    first: Integers
    weights: Integers
    values: Codes
    counts: Integers

    @classmethod
    def of(cls, release: Release, own: Codes, n_values: int) -> _Dealt:
        """List the pairs of a release."""
        groups = release.groups
        starts, values, counts = value_counts(
            groups.class_of, groups.n_classes, own, n_values, release.weights
        )
        n_pairs = np.diff(starts)[groups.class_of]
        first = np.cumsum(n_pairs) - n_pairs
        row_of = np.repeat(np.arange(release.n_rows), n_pairs)
        entry_of = np.arange(len(row_of)) + np.repeat(starts[groups.class_of] - first, n_pairs)
        return cls(row_of, entry_of, first, release.weights, values, counts)

    def learned(self, features: list[Codes], n_values: int, rounds: int) -> Floats:
        """Return for each pair how many of the row's records the adversary expects to have the value."""
        value_of = self.values[self.entry_of].astype(np.int64)
        shares = self.balanced(np.ones(len(self.row_of)))
        for _ in range(rounds):
            logs = np.zeros(len(self.row_of))
            for codes in features:
                logs += self._log_likelihood(codes[self.row_of], value_of, n_values, shares)
            largest = np.maximum.reduceat(logs, self.first)
            shares = self.balanced(np.exp(logs - largest[self.row_of]))
        return shares

    def _log_likelihood(self, codes: Codes, value_of: Integers, n_values: int, shares: Floats) -> Floats:
        """Return for each pair the logarithm of P(attribute | value), every combination counted once more."""
        n_codes = int(codes.max()) + 1
        cell_of = value_of * n_codes + codes
        counted = np.bincount(cell_of, shares, n_values * n_codes).reshape(n_values, n_codes) + 1
        likelihood = counted / counted.sum(axis=1, keepdims=True)
        return np.log(likelihood).ravel()[cell_of]

    def balanced(self, odds: Floats) -> Floats:
        """Scale odds so that rows add up to their records, and values to their counts in each group."""
        shares = np.maximum(odds, 1e-12)
        for _ in range(_BALANCINGS):
            of_entry = np.bincount(self.entry_of, shares, len(self.counts))
            shares = shares * (self.counts / of_entry)[self.entry_of]
            of_row = np.add.reduceat(shares, self.first)
            shares = shares * (self.weights / of_row)[self.row_of]
        return shares

    def guesses(self, shares: Floats) -> Codes:
        """Return for each row its most likely value; ties go to the value with most records in the group."""
        by_row = np.lexsort((-self.counts[self.entry_of], -shares.round(9), self.row_of))
        return self.values[self.entry_of[by_row[self.first]]]
