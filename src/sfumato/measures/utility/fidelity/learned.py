"""What a learner makes of a release: whether it can tell it from the original, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.kernels.row_groups import number_rows
from sfumato.measures.utility.fidelity.base import FidelityMeasure, TargetMeasure
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.registry.declarations import Detail, Seed, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Floats, Integers

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

_LEAST_LEAF = 50
_SHARE_OF_RECORDS = 200
_PARTS = 3


@register
@dataclass(frozen=True)
class Propensity(FidelityMeasure):
    """How well a decision tree distinguishes released records from original ones: the standardized pMSE.

    The records of both tables are divided into three parts. A tree learns on two of them which records are
    released, and gives each record of the third the probability p of being released; c is the share of
    released records, and in p - c the share among the records that the tree learned from. The value is mean
    (p - c)² / (c · (1 - c)): 0 if the tables are indistinguishable, 1 if every record is recognized. Records
    that both tables have equally often are in the same parts in both, so that the division alone makes no
    difference. One value is drawn from each released set.

    Parameters
    ----------
    seed
        The seed for the division, and for drawing values from sets.

    References
    ----------
    M. Woo et al., "Global measures of data utility for microdata masked for disclosure limitation", 2009;
    J. Snoke et al., "General and specific utility measures for synthetic data", 2018.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> Propensity().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    seed: Seed = 0

    needs_extra: ClassVar[str | None] = "learning"
    words: ClassVar[Words] = Words(
        "propensity score",
        "How well a decision tree tells released records from original ones (pMSE, divided by the most that "
        "it can be).",
        "0%: the release looks like the original; 100%: every record is told.",
        "0% to 100%",
        "share",
        sentence="a decision tree tells released records from original ones to {}",
        ends=("a decision tree cannot tell the release from the original", "it tells every record apart"),
    )
    version: ClassVar[int] = 2  # equal records of both tables are in the same parts

    @property
    def fewest_attributes(self) -> int:
        """One is enough to differ."""
        return 1

    def compared(self, release: Release, true: SingleValues, released: SingleValues) -> Iterator[Measurement]:
        """Yield the score."""
        if min(true.n_records, released.n_records) < _PARTS:
            raise NotApplicable(f"it divides the records of both tables into {_PARTS} parts, and has too few")
        names = tuple(true.codes)
        known = np.concatenate([_features(true, names), _features(released, names)])
        is_released = np.repeat([0.0, 1.0], [true.n_records, released.n_records])
        share = released.n_records / len(is_released)
        value = float((self._told(known, is_released) ** 2).mean() / (share * (1 - share)))
        yield self.measurement(min(1.0, value))

    def _told(self, known: Floats, is_released: Floats) -> Floats:
        """Return how much likelier each record is to be released, to a tree that has not seen it."""
        likelier = np.empty(len(known))
        parts = _parts(known, is_released, self.seed)
        for part in range(_PARTS):
            seen, held = parts != part, parts == part
            least = max(_LEAST_LEAF, int(seen.sum()) // _SHARE_OF_RECORDS)
            tree = _tree(known[seen], is_released[seen], least, self.seed)
            likelier[held] = tree.predict_proba(known[held])[:, 1] - is_released[seen].mean()
        return likelier


@register
@dataclass(frozen=True)
class TransferLoss(TargetMeasure):
    """How much accuracy a tree loses on the original if it learned from the release instead.

    A decision tree learns the target from the released records and predicts it for the original ones; the
    value is its loss of accuracy compared with a tree that learned from the original in the same way. The
    baseline is the loss of always guessing the most common value. One value is drawn from each released set.

    Parameters
    ----------
    target
        The attribute to predict; by default each sensitive attribute.
    seed
        The seed for drawing values from sets.

    References
    ----------
    C. Esteban et al., "Real-valued (medical) time series generation with recurrent conditional GANs",
    2017, section 4.2 (train on synthetic, test on real).

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> TransferLoss().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    needs_extra: ClassVar[str | None] = "learning"
    words: ClassVar[Words] = Words(
        "transfer loss",
        "How much less often a decision tree that learned from the release is right about the original than "
        "one that learned from the original itself.",
        "0%: one learns as much from the release.",
        "-100% to 100%",
        "share",
        sentence="a decision tree that learns from the release is right less often, by {}",
        baseline="always guessing the commonest value",
        details={"accuracy": Detail("right, learned from the release")},
        ends=("learning from the release works as well", "nothing is learned from it"),
    )

    def of_target(
        self, release: Release, true: SingleValues, released: SingleValues, target: str
    ) -> Measurement:
        """Return the loss for one target."""
        names = [name for name in true.codes if name != target]
        features, answer = _features(true, names), true.codes[target]
        least = max(1, min(_LEAST_LEAF, true.n_records // _SHARE_OF_RECORDS))
        right = {
            side: float(
                (_tree(_features(by, names), by.codes[target], least, 0).predict(features) == answer).mean()
            )
            for side, by in (("original", true), ("release", released))
        }
        blind = float((answer == np.bincount(answer).argmax()).mean())
        return self.measurement(
            right["original"] - right["release"],
            attribute=target if target in release.schema.sensitive else None,
            baseline=right["original"] - blind,
            detail={"accuracy": right["release"], "maximum": right["original"]},
        )


def _parts(known: Floats, is_released: Floats, seed: int) -> Integers:
    """Divide the records of both tables into parts of equal size, with matching records in the same part."""
    columns = [np.unique(column, return_inverse=True)[1] for column in known.T]
    kind_of, n_kinds = number_rows(columns, [int(column.max()) + 1 for column in columns], len(known))
    of_table = [np.flatnonzero(is_released == side) for side in (0, 1)]
    true, released = (np.bincount(kind_of[rows], minlength=n_kinds) for rows in of_table)
    place = np.empty(n_kinds, np.int64)
    place[np.lexsort((np.random.default_rng(seed).random(n_kinds), true != released))] = np.arange(n_kinds)
    parts = np.empty(len(known), np.int64)
    for rows in of_table:
        parts[rows[np.argsort(place[kind_of[rows]])]] = np.arange(len(rows)) % _PARTS
    return parts


def _features(records: SingleValues, names: Sequence[str]) -> Floats:
    """Return the features of a tree: numbers unchanged, categories as codes."""
    columns = [
        records.numbers[name] if name in records.numbers else records.codes[name].astype(np.float64)
        for name in names
    ]
    return np.column_stack(columns)


def _tree(known: Floats, answer: Floats | Codes, least: int, seed: int) -> DecisionTreeClassifier:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=least, random_state=seed).fit(known, answer)
