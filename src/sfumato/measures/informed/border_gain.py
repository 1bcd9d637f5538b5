"""What intervals and sets reveal if they end at the extreme records of their class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.measures.informed.informed_reader import RecipeReaderMeasure
from sfumato.registry.declarations import Detail, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.results.released_column import ValueSets
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

# An interval of two values tells no more by its ends than that it has two.
_FEWEST = 3


@register
@dataclass(frozen=True)
class BorderGain(RecipeReaderMeasure):
    """How much more often records are at an end of their interval than the table suggests.

    The smallest interval (or set of neighbours) around the values of a class ends at two of them, so that
    an informed attacker knows that both ends occur in every class. For each quasi-identifier,
    among the released values that stand for at least three original ones, the value is the share of the
    records at the first or the last of them, less the share that the whole table has there; the largest
    over the quasi-identifiers. The detail names that attribute, has both shares and the mean over
    all attributes (each as many times as it has such records), and for the attribute named the share of
    right guesses of an informed attacker and of one who does not know it: with q the shares of the table
    inside the interval, m the records of the class and both ends certain to occur, a record lies at the
    first with a chance in proportion to q_first (1 - (1 - q_last)^(m-1)). Below 0 the ends are rarer than
    in the table. It also has the share of right guesses of who has seen half of the records, and guesses of
    the others the place in the interval that was the commonest in intervals of as many values: where the ends
    are no longer likelier, the middle may be.

    References
    ----------
    That a method which loses as little as it can tells by it what there was to lose: R. Wong, A. Fu, K. Wang,
    J. Pei, "Minimality attack in privacy preserving data publishing", 2007.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, ["border-gain"])[0].value
    0.0
    """

    words: ClassVar[Words] = Words(
        "border gain",
        "How much oftener people lie at an end of the interval (or set) that is released for them than they "
        "would if the interval said nothing but that they are in it.",
        "0%: the ends tell nothing. 17%: of 100 people in intervals of three values or more 17 more than "
        "expected lie at an end, and whoever guesses an end is right so much oftener.",
        "-100% to 100%; below 0% the ends are rarer than in the whole table",
        "share",
        sentence="people lie at an end of their released interval more often than expected by {} of all",
        baseline="share expected at an end",
        details={
            "attribute": Detail("attribute that tells most"),
            "at-an-end": Detail("share at an end"),
            "mean": Detail("mean over the attributes"),
            "right-guesses": Detail("right guesses of the informed attacker"),
            "right-guesses-uninformed": Detail("right guesses of an attacker who is not informed"),
            "right-guesses-by-place": Detail("right guesses from the commonest place alone"),
            "right-guesses-evenly": Detail("right guesses if all places were alike"),
            "gain": Detail("gain for each attribute"),
            "share-wide": Detail("records in intervals of three values or more"),
        },
        ends=("ends of intervals reveal nothing", "everybody is at an end"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the gain of the attribute that reveals most."""
        ends = {name: _Ends.of(release, name) for name in release.schema.quasi_identifiers}
        known = {name: of_attribute for name, of_attribute in ends.items() if of_attribute is not None}
        if not known:
            raise NotApplicable("no released quasi-identifier is known to stand for sets of original values")
        judged = {
            name: of_attribute for name, of_attribute in known.items() if len(of_attribute.weights)
        } or known
        gains = {name: of_attribute.gain for name, of_attribute in judged.items()}
        worst = max(gains, key=gains.__getitem__)
        n_wide = {name: int(of_attribute.weights.sum()) for name, of_attribute in judged.items()}
        mean = sum(gains[name] * n for name, n in n_wide.items()) / max(sum(n_wide.values()), 1)
        informed, uninformed = judged[worst].right_guesses()
        by_place, evenly = judged[worst].by_place()
        detail: dict[str, Any] = {
            "attribute": worst,
            "at-an-end": judged[worst].at_an_end,
            "mean": mean,
            "right-guesses": informed,
            "right-guesses-uninformed": uninformed,
            "right-guesses-by-place": by_place,
            "right-guesses-evenly": evenly,
            "share-wide": n_wide[worst] / release.n_records,
            "gain": gains,
        }
        return (self.measurement(gains[worst], baseline=judged[worst].expected, detail=detail),)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The records of an attribute whose released value stands for at least three original ones.

    Parameters
    ----------
    values, released
        The original value and the released value of each row.
    weights, class_sizes
        Its records, and those of its class.
    first, last, between
        For each released value the first and the last original value that it stands for, and the commonest of
        the others.
    shares
        The shares of these three in the whole table, among the values of the released one.
    """

    values: Codes
    released: Codes
    weights: Integers
    class_sizes: Integers
    first: Codes
    last: Codes
    between: Codes
    shares: Floats

    @classmethod
    def of(cls, release: Release, name: str) -> _Ends | None:
        """Return them, or ``None`` if it is unknown what a released value stands for."""
        cells = release.cells[name]
        if cells.sets is None or not isinstance(release, LinkedRelease) or not len(cells.sets.sizes):
            return None
        original, rows = release.origin.table, release.origin.linked_rows
        if rows is None:
            return None
        column = original[name]
        counts = np.bincount(column.codes, original.weights, len(column.domain))
        first, last, between = _ends(cells.sets, counts)
        within = np.add.reduceat(counts[cells.sets.members], cells.sets.starts[:-1])
        three = np.stack([first, last, between])
        shares = np.divide(counts[three], within, out=np.zeros(three.shape), where=within > 0)
        wide = np.flatnonzero((np.diff(cells.sets.starts) >= _FEWEST)[cells.codes])
        return cls(
            column.codes[rows[wide]],
            cells.codes[wide],
            release.weights[wide],
            release.classes.sizes[release.classes.class_of[wide]],
            first,
            last,
            between,
            shares,
        )

    def _share(self, which: Booleans | Floats) -> float:
        return float(self.weights @ which) / max(int(self.weights.sum()), 1)

    @property
    def at_an_end(self) -> float:
        """The share of the records at an end."""
        first, last = self.first[self.released], self.last[self.released]
        return self._share((self.values == first) | (self.values == last))

    @property
    def expected(self) -> float:
        """The share of the records at an end if they were distributed as in the whole table."""
        return self._share((self.shares[0] + self.shares[1])[self.released])

    @property
    def gain(self) -> float:
        """How much more often records are at an end."""
        return round(self.at_an_end - self.expected, 12)

    def right_guesses(self) -> tuple[float, float]:
        """Return the share of right guesses of an informed attacker, and of one who is not."""
        prior = self.shares[:, self.released]
        posterior = with_both_ends(prior[0], prior[1], prior[2], self.class_sizes)
        guesses = np.stack([self.first, self.last, self.between])[:, self.released]
        informed, uninformed = (
            self._share(guesses[believed.argmax(axis=0), np.arange(len(self.values))] == self.values)
            for believed in (posterior, prior)
        )
        return informed, uninformed

    def by_place(self) -> tuple[float, float]:
        """Return the share of right guesses by position, each half learned from the other, and by chance."""
        if not len(self.values):
            return 0.0, 0.0
        place, width = (
            (values - self.first[self.released]).astype(np.int64)
            for values in (self.values, self.last[self.released] + 1)
        )
        widest = int(width.max()) + 1
        second, cell = np.arange(len(place)) % 2, width * widest + place
        right = np.zeros(len(place), dtype=np.bool_)
        for half in (0, 1):
            seen = np.bincount(cell[second != half], self.weights[second != half], widest**2)
            commonest = seen.reshape(widest, widest).argmax(axis=1)
            right |= (second == half) & (commonest[width] == place)
        return self._share(right), self._share(1 / width)


def with_both_ends(first: Floats, last: Floats, between: Floats, n_records: Integers) -> Floats:
    """Return relative probabilities of three values of a record if the first two occur in its class.

    Parameters
    ----------
    first, last, between
        The prior shares of the first, the last and another value of the interval.
    n_records
        How many records the class has.

    Examples
    --------
    >>> third = np.full(1, 1 / 3)
    >>> with_both_ends(third, third, third, np.array([3])).ravel().round(3).tolist()
    [0.185, 0.185, 0.074]
    """
    others = n_records - 1
    no_first, no_last = (1 - first) ** others, (1 - last) ** others
    neither = (1 - first - last) ** others
    return np.stack(
        [first * (1 - no_last), last * (1 - no_first), between * (1 - no_first - no_last + neither)]
    )


def _ends(sets: ValueSets, counts: Integers | Floats) -> tuple[Codes, Codes, Codes]:
    """Return for each released value its first, its last, and the most common value in between."""
    stretches = list(zip(sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True))
    ordered = [np.sort(sets.members[start:end]) for start, end in stretches]
    inner = [codes[1:-1] if len(codes) >= _FEWEST else codes for codes in ordered]
    between = [codes[counts[codes].argmax()] for codes in inner]
    return np.array([e[0] for e in ordered]), np.array([e[-1] for e in ordered]), np.array(between)
