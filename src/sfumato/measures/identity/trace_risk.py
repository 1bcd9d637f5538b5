"""Trace risk: how well an adversary finds a person of whom they know several records."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from sfumato.data.table import People
from sfumato.kernels.people_counts import count_candidates
from sfumato.kernels.row_groups import rows_by_group
from sfumato.registry.declarations import Attacker, Detail, Needs, RecordCount, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import IdentityMeasure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers

# Up to so many choices of known records all are looked at; where there are more, so many are drawn.
_MOST_CHOICES = 20_000
# A figure from a sample is told with 95% confidence.
_REACH = 1.96
_TOLD = (1, 2, 3)


@register
@dataclass(frozen=True)
class TraceRisk(IdentityMeasure):
    """How well a person is found, on average, by someone who knows several of their records.

    Each known record leads to a class. A candidate has a record in all these classes, and in each at least as
    many as are known there; the chance is 1 / candidates. This is the chance of an adversary who knows who
    else is in which class, which is more than most adversaries know. Classes that protect one record do not
    protect several. The detail has the chance with 1, 2, 3 and with all records known, and the share of
    people who are unique when all are known. If pseudonyms show which records belong together, only people
    with exactly the same records are candidates when all are known.

    Parameters
    ----------
    known
        The largest number of known records of a person; all of them by default.

    References
    ----------
    Y.-A. de Montjoye et al., "Unique in the crowd: the privacy bounds of human mobility", 2013, for the
    question; M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data",
    2008, for knowledge of m items.

    Examples
    --------
    >>> TraceRisk(known=2).name
    'trace-risk'
    """

    known: RecordCount | None = None

    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = Attacker(
        "The neighbour",
        "Knows several records of one person, such as all visits, and compares who could have all of them.",
    )
    words: ClassVar[Words] = Words(
        "trace risk",
        "The chance of finding a person of whom several records are known (all of them, unless said "
        "otherwise), on average over the people: one over those who have a record in every one of these "
        "classes.",
        "5%: everybody has 19 others with records in the same classes. 100%: everybody's records together "
        "point at them.",
        "above 0% to 100%",
        "share",
        sentence="somebody who knows a person's records finds that person with a chance of {} on average",
        details={
            **{f"known-{n}": Detail(f"with {n} record{'s' if n > 1 else ''} known") for n in _TOLD},
            "known-all": Detail("with all records known"),
            "worst": Detail("with all records known, for the person who is found best"),
            "share-alone": Detail("people whom their records single out"),
        },
        ends=("nobody is found by several records", "everybody is found"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the mean chance over the people with a released record."""
        if release.people is None:
            raise NotApplicable("nobody is known to have several records; name the column that tells people")
        traces = _Traces.of(release, release.people)
        chances = {f"known-{n}": traces.chances(n)[0] for n in _TOLD}
        exact = traces.alike() if release.schema.pseudonym else traces.chances(None)[2]
        everything = float((1 / exact).mean())
        detail = {
            **chances,
            "known-all": everything,
            "worst": 1 / int(exact.min()),
            "share-alone": float((exact == 1).mean()),
        }
        value, reach, _ = (everything, 0.0, exact) if self.known is None else traces.chances(self.known)
        interval = (max(value - reach, 0.0), min(value + reach, 1.0)) if reach else None
        return (self.measurement(value, interval=interval, detail=detail),)


@dataclass(frozen=True)
class _Traces:
    """How many records each person has in each class.

    Parameters
    ----------
    starts, people, n_records
        The people of each class, ascending, and how many records each has there.
    trace_starts, classes, n_own
        The classes of each person, and how many records there.
    """

    starts: Integers
    people: Integers
    n_records: Integers
    trace_starts: Integers
    classes: Integers
    n_own: Integers

    @classmethod
    def of(cls, release: Release, everybody: People) -> _Traces:
        class_of, n_classes = release.classes.class_of, release.classes.n_classes
        pair_of = class_of * everybody.n_people + everybody.person_of
        pairs, entry = np.unique(pair_of, return_inverse=True)
        n_records = np.bincount(entry, release.weights).astype(np.int64)
        classes, people = np.divmod(pairs, everybody.n_people)
        starts = np.searchsorted(classes, np.arange(n_classes + 1))
        present, person = np.unique(people, return_inverse=True)
        order, trace_starts = rows_by_group(person, len(present))
        return cls(starts, people, n_records, trace_starts, classes[order], n_records[order])

    def alike(self) -> Integers:
        """Return for each person how many have exactly the same records, as pseudonyms show."""
        traces = [
            (self.classes[own].tobytes(), self.n_own[own].tobytes())
            for own in map(slice, self.trace_starts, self.trace_starts[1:])
        ]
        n_alike = Counter(traces)
        return np.array([n_alike[trace] for trace in traces])

    def chances(self, known: int | None) -> tuple[float, float, Integers]:
        """Return the mean chance with this many known records, its sampling error, and all candidates."""
        who, query_starts, classes, n_known = self._queries(known)
        candidates = count_candidates(
            self.starts, self.people, self.n_records, query_starts, classes, n_known
        )
        n_queries = np.bincount(who)
        is_queried = n_queries > 0
        means: Floats = np.bincount(who, 1 / candidates)[is_queried] / n_queries[is_queried]
        reach = 0.0
        if known is not None and self._is_sampled(known):
            reach = _REACH * float(means.std(ddof=1)) / math.sqrt(len(means))
        return float(means.mean()), reach, candidates

    def _is_sampled(self, known: int) -> bool:
        lengths, n_people = np.unique(np.add.reduceat(self.n_own, self.trace_starts[:-1]), return_counts=True)
        n_choices = (math.comb(length, min(known, length)) for length in lengths.tolist())
        return (
            sum(n * choices for n, choices in zip(n_people.tolist(), n_choices, strict=True)) > _MOST_CHOICES
        )

    def _queries(self, known: int | None) -> tuple[Integers, Integers, Integers, Integers]:
        """Return the person of each query, the offsets of its classes, the classes and the records."""
        if known is None:
            who = np.arange(len(self.trace_starts) - 1)
            return who, self.trace_starts, self.classes, self.n_own
        chosen = self._drawn(known) if self._is_sampled(known) else self._all(known)
        who_of: list[int] = []
        classes: list[int] = []
        n_known: list[int] = []
        starts = [0]
        for person, places in chosen:
            counts = Counter(places)
            who_of.append(person)
            classes += counts.keys()
            n_known += counts.values()
            starts.append(len(classes))
        return np.array(who_of), np.array(starts), np.array(classes), np.array(n_known)

    def _records(self, person: int) -> Integers:
        own = slice(self.trace_starts[person], self.trace_starts[person + 1])
        return np.repeat(self.classes[own], self.n_own[own])

    def _all(self, known: int) -> list[tuple[int, list[int]]]:
        chosen = []
        for person in range(len(self.trace_starts) - 1):
            records = self._records(person).tolist()
            chosen += [(person, list(choice)) for choice in combinations(records, min(known, len(records)))]
        return chosen

    def _drawn(self, known: int) -> list[tuple[int, list[int]]]:
        """Draw people, and some records of each; the same ones every time."""
        rng = np.random.default_rng(0)
        n_people = len(self.trace_starts) - 1
        drawn = rng.permutation(n_people)[:_MOST_CHOICES]
        chosen = []
        for person in drawn.tolist():
            records = self._records(person)
            places = rng.permutation(len(records))[:known]
            chosen.append((person, records[places].tolist()))
        return chosen
