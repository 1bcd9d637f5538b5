"""A learning task: training examples in plain arrays, ready to send to another process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from sfumato.kernels.row_groups import number_rows
from sfumato.miners.base import CellsAs, Encoding
from sfumato.miners.encoding import encode
from sfumato.miners.labels import Labels
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats, Integers

MOST_EXAMPLES = 500_000


@dataclass(frozen=True, eq=False)
class LearningTask:
    """Patterns, labelled examples of them, and the examples that each fold holds out.

    Parameters
    ----------
    patterns
        The columns of each pattern.
    pattern, label
        For each example its pattern and its label: a code or a number.
    held
        For each example the weight that lies in each fold.
    requested
        For each pattern the folds that need a prediction of it.
    """

    patterns: Floats
    pattern: Integers
    label: Integers | Floats
    held: Floats
    requested: Booleans

    @property
    def folds(self) -> list[int]:
        """The folds that need predictions."""
        return [int(fold) for fold in np.flatnonzero(self.requested.any(axis=0))]

    @cached_property
    def key(self) -> str:
        """A hash of everything, to send a task only once."""
        digest = hashlib.sha256()
        for field in fields(self):
            array = np.ascontiguousarray(getattr(self, field.name))
            digest.update(str((array.shape, array.dtype)).encode())
            digest.update(array.tobytes())
        return digest.hexdigest()


def pose(
    release: Release,
    names: Sequence[str],
    encoding: Encoding,
    labels: Labels,
    held: Integers,
    cells: CellsAs = "shares",
) -> tuple[LearningTask, Integers]:
    """Return the task of a release, and the pattern of each released row."""
    pattern_of, patterns = encode(release, names, encoding, cells)
    n_kinds = len(labels.shares.starts) - 1
    pair_of, n_pairs = number_rows([pattern_of, labels.kind_of], [len(patterns), n_kinds], release.n_rows)
    pattern, kind = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    pattern[pair_of], kind[pair_of] = pattern_of, labels.kind_of
    pair, value, share = _examples(labels, kind)
    weight = _summed(held, pair_of, n_pairs)[pair] * share[:, None]
    example_of, n_examples = number_rows(
        [pattern[pair], value], [len(patterns), int(value.max(initial=0)) + 1], len(pair)
    )
    own_pattern, own_value = np.empty(n_examples, np.int64), np.empty(n_examples, np.int64)
    own_pattern[example_of], own_value[example_of] = pattern[pair], value
    task = LearningTask(
        patterns=patterns.astype(np.float32),
        pattern=own_pattern,
        label=own_value if labels.numbers is None else labels.numbers[own_value],
        held=_summed(weight, example_of, n_examples),
        requested=_summed(held, pattern_of, len(patterns)) > 0,
    )
    return task, pattern_of


def _examples(labels: Labels, kind: Integers) -> tuple[Integers, Integers, Floats]:
    """Return pair, value and share of every example; of too many, values are drawn by their shares."""
    shares = labels.shares
    sizes = np.diff(shares.starts)[kind]
    if sizes.sum() <= MOST_EXAMPLES:
        pair = np.repeat(np.arange(len(kind)), sizes)
        entry = np.repeat(shares.starts[kind] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(pair))
        return pair, shares.values[entry], shares.shares[entry]
    n_draws = max(MOST_EXAMPLES // len(kind), 1)
    ends = np.cumsum(shares.shares)
    before = np.append(0.0, ends)
    rng = np.random.default_rng(labels.seed)
    low, high = before[shares.starts[kind]], before[shares.starts[kind + 1]]
    pair = np.flatnonzero(sizes > 0).repeat(n_draws)
    point = low[pair] + rng.random(len(pair)) * (high - low)[pair]
    entry = np.searchsorted(ends, point, side="right")
    entry = np.clip(entry, shares.starts[kind[pair]], shares.starts[kind[pair] + 1] - 1)
    return pair, shares.values[entry], np.full(len(pair), 1 / n_draws)


def _summed(weights: Integers | Floats, group: Integers, n_groups: int) -> Floats:
    """Add up the lines of each group."""
    columns = [np.bincount(group, column, minlength=n_groups) for column in weights.T]
    return np.column_stack(columns)
