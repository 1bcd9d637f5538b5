"""Records that a method can count with noise, and look at in no other way.

Every count spends from one budget of zero-concentrated differential privacy (rho) and one of delta; a count
beyond them is refused. So the guarantee of a method follows from the budget that it was given, whatever the
method does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers.opendp import opendp_with_mbi
from sfumato.sanitizers.synthesize.noisy_counts import (
    frequent_with_noise,
    noisy_largest,
    variance_of,
    with_noise,
)
from sfumato.sanitizers.synthesize.tree_model import Counted, Edge

_STANDS_OUT = 2.0
"""A declared value is kept if its noisy count is so many standard deviations above 0."""
_SLACK = 1e-9
"""Parts of a budget add up to it but for rounding."""


class PrivateRecords:
    """The records of a table behind noise: attributes by their place, values by their keys.

    Parameters
    ----------
    keys
        For each attribute the key of each record.
    is_public
        For each attribute and key whether the key is declared: known to everyone, whether it occurs or not.
    rho, delta
        The budget; delta pays for the set of keys that occur.
    sensitivity
        How many records one person may have.

    Attributes
    ----------
    total
        The noisy number of records, at least 1.
    known
        For each attribute that was counted the keys that enough people have; -1 alone where there is none.
    counted
        For each of them how many records have each of these keys.
    """

    def __init__(
        self,
        keys: Sequence[Integers],
        is_public: Sequence[Sequence[bool]],
        rho: float,
        delta: float,
        sensitivity: int,
    ) -> None:
        self.__keys, self.__is_public = tuple(keys), tuple(is_public)
        self.__places: dict[int, Integers] = {}
        self.__scores: dict[Edge, int] = {}
        self.n_attributes, self.sensitivity = len(keys), sensitivity
        self.rho, self.delta = rho, delta
        self.unspent_rho, self.unspent_delta = rho, delta
        self.total = 1.0
        self.known: dict[int, Integers] = {}
        self.counted: dict[int, Counted] = {}

    def _spend(self, rho: float, delta: float = 0.0) -> None:
        self.unspent_rho -= rho
        self.unspent_delta -= delta
        if self.unspent_rho < -_SLACK * self.rho or self.unspent_delta < -_SLACK * self.delta:
            raise ParameterError("a count would spend more than is left of epsilon and delta; ask for less")

    def count_records(self, rho: float) -> float:
        """Count all records, with noise."""
        self._spend(rho)
        counts = np.array([len(self.__keys[0])])
        self.total = max(float(with_noise(counts, rho, self.sensitivity)[0]), 1.0)
        return self.total

    def count_values(self, place: int, rho: float, delta: float) -> Counted:
        """Count the values of an attribute: the declared ones, and others that enough people have.

        Two counts share one budget: a record has a declared value or another one, never both.
        """
        self._spend(rho, delta)
        keys, is_public = self.__keys[place], np.array(self.__is_public[place], dtype=np.bool_)
        counts = np.bincount(keys, minlength=len(is_public))
        public = np.flatnonzero(is_public)
        values, noisy = frequent_with_noise(np.where(is_public, 0, counts), rho, delta, self.sensitivity)
        variance = variance_of(rho, self.sensitivity)
        if len(public):
            declared = with_noise(counts[public], rho, self.sensitivity)
            stands_out = declared >= _STANDS_OUT * np.sqrt(variance)
            values = np.append(values, public[stands_out])
            noisy = np.append(noisy, declared[stands_out])
        order = np.argsort(values)
        known: Integers = values[order] if len(values) else np.array([-1])
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        self.__places[place] = np.where(known[at] == keys, at, -1)
        self.known[place] = known
        self.counted[place] = Counted(noisy[order] if len(values) else np.ones(1), variance)
        return self.counted[place]

    def count_pairs(self, one: int, other: int, rho: float) -> Counted:
        """Count the pairs of known values of two attributes, with noise."""
        self._spend(rho)
        noisy = with_noise(self._pair_counts(one, other), rho, self.sensitivity)
        return Counted(noisy, variance_of(rho, self.sensitivity))

    def furthest_pair(self, pairs: Sequence[Edge], rho: float) -> Edge:
        """Choose, with noise, the pair of attributes that is furthest from independence.

        The score is the number of records by which the pairs of values differ from independence. What
        independence gives comes from noisy counts alone and is rounded, so that one record more or less
        changes a score by at most 1.
        """
        self._spend(rho)
        for one, other in pairs:
            if (one, other) not in self.__scores:
                counts = self._pair_counts(one, other)
                self.__scores[one, other] = int(np.abs(counts - self._independent(one, other)).sum())
        return pairs[noisy_largest([self.__scores[pair] for pair in pairs], rho, self.sensitivity)]

    def compositor(self, places: Sequence[int], rho: float) -> Any:
        """Return OpenDP's context on the known values of these attributes; undisclosed values are null."""
        import polars

        self._spend(rho)
        dp = opendp_with_mbi()
        columns = {f"attribute-{place}": polars.Series(self.__places[place]) for place in places}
        return dp.Context.compositor(
            data=polars.LazyFrame(columns).with_columns(polars.all().replace(-1, None)),
            privacy_unit=dp.unit_of(contributions=self.sensitivity),
            privacy_loss=(dp.zero_concentrated_divergence(), rho),
            split_evenly_over=1,
        )

    def _independent(self, one: int, other: int) -> Integers:
        shares: list[Floats] = []
        for place in (one, other):
            counts = np.maximum(self.counted[place].counts, 0.0)
            shares.append(counts / max(counts.sum(), 1.0))
        return np.rint(self.total * np.outer(*shares)).astype(np.int64)

    def _pair_counts(self, one: int, other: int) -> Integers:
        n_one, n_other = len(self.known[one]), len(self.known[other])
        of_one, of_other = self.__places[one], self.__places[other]
        both = (of_one >= 0) & (of_other >= 0)
        counts = np.bincount(of_one[both] * n_other + of_other[both], minlength=n_one * n_other)
        return counts.reshape(n_one, n_other)
