"""Labels: what a miner may know of the target, and no more."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.unknown_rows import with_unknown_rows

from sfumato import Intervals, Schema, Table, sanitize
from sfumato.data.schema import Attribute
from sfumato.miners import learning_task as posing
from sfumato.miners.base import Predicts
from sfumato.miners.folds import held_out
from sfumato.miners.labels import Label, labels_of
from sfumato.miners.learning_task import pose
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import DataError
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Laplace, SuppressSensitive

Bound = tuple[Table, Schema]


def patients() -> Bound:
    table = Table.from_arrow({"age": [20, 21, 29, 35, 35, 35], "illness": ["x", "y", "y", "z", "x", "x"]})
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((10,))),
            Attribute("illness", "sensitive"),
        )
    )
    return schema.bind(table)


def told(
    release: LinkedRelease, target: str, predicts: Predicts = "category", label: Label = "released"
) -> list[dict[float, float]]:
    """Return for each row the share of each value that its label may be."""
    labels = labels_of(release, target, predicts, label, 0)
    shares, behind = labels.shares, labels.numbers
    rows: list[dict[float, float]] = []
    for kind in labels.kind_of:
        entries = range(shares.starts[kind], shares.starts[kind + 1])
        values = shares.values if behind is None else behind[shares.values]
        rows.append({values[entry].item(): shares.shares[entry].item() for entry in entries})
    return rows


def test_an_exact_value_is_its_own_label() -> None:
    table, schema = patients()
    release = sanitize(table, schema, AsIs())
    assert told(release, "illness") == [{code: 1} for code in release.cells["illness"].codes.tolist()]


def test_a_released_set_is_a_label_of_every_value_in_it() -> None:
    release = sanitize(*patients(), FullDomain({"age": 1}, KAnonymity(1)))
    assert told(release, "age")[0] == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    assert told(release, "age")[-1] == {3: 1}
    assert told(release, "age", label="true") == [{code: 1} for code in (0, 1, 2, 3, 3)]


def test_a_withheld_value_may_be_any() -> None:
    release = sanitize(*patients(), SuppressSensitive())
    assert told(release, "illness")[0] == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})


def test_the_values_of_a_group_are_labels_with_their_shares() -> None:
    release = sanitize(*patients(), Anatomy(2))
    assert release.group_of is not None
    for row, shares in enumerate(told(release, "illness")):
        mates = np.flatnonzero(release.group_of == release.group_of[row])
        counts: Counter[int] = Counter()
        for mate in mates:
            counts[int(release.cells["illness"].codes[mate])] += int(release.weights[mate])
        assert shares == pytest.approx({code: count / counts.total() for code, count in counts.items()})


def test_a_number_is_the_middle_of_its_interval() -> None:
    release = sanitize(*patients(), FullDomain({"age": 1}, KAnonymity(1)))
    assert told(release, "age", "number") == [{24.5: 1}] * 3 + [{35: 1}] * 2
    assert told(release, "age", "number", "true") == [{age: 1} for age in (20, 21, 29, 35, 35)]


def test_a_missing_number_is_no_label() -> None:
    table = Table.from_arrow({"age": [20, None], "sex": ["f", "m"]})
    release = sanitize(table, Schema.of(age="insensitive", sex="sensitive"), AsIs())
    assert told(release, "age", "number") == [{20: 1}, {}]


def test_a_noisy_number_is_a_label_as_it_is_or_the_nearest_value_that_occurs() -> None:
    table, schema = patients()
    release = sanitize(table, schema.with_assumed_public_part(table), Laplace(5.0, rounded=False))
    noisy = [float(release.cells["age"].domain[code]) for code in release.cells["age"].codes]
    assert told(release, "age", "number") == [{value: 1} for value in noisy]
    ages = np.array(table["age"].domain, dtype=float)
    nearest = [int(np.abs(ages - value).argmin()) for value in noisy]
    assert told(release, "age") == [{code: 1} for code in nearest]


def test_true_labels_need_the_original() -> None:
    release = with_unknown_rows(sanitize(*patients(), SuppressSensitive()))
    with pytest.raises(DataError, match="true values of 'illness' are not known"):
        labels_of(release, "illness", "category", "true", 0)


def weights_by_example(release: LinkedRelease, seed: int = 0) -> dict[tuple[int, int], float]:
    labels = labels_of(release, "illness", "category", "released", seed)
    held = held_out(release.weights, labels.likeliest, 2, 0)
    task, pattern_of = pose(release, ["age"], "columns", labels, held)
    assert task.requested.sum(axis=1).min() >= 1
    assert len(pattern_of) == release.n_rows
    found = dict.fromkeys(zip(task.pattern.tolist(), task.label.tolist(), strict=True), 0.0)
    assert len(found) == len(task.pattern)
    for example, weight in zip(found, task.held.sum(axis=1), strict=True):
        found[example] += weight
    return found


def test_the_examples_carry_the_weight_of_all_records() -> None:
    release = sanitize(*patients(), Anatomy(2))
    assert sum(weights_by_example(release).values()) == pytest.approx(release.n_records)


def test_too_many_examples_are_thinned_out_by_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.from_arrow({"age": list(range(400)), "illness": ["x", "x", "x", "y"] * 100})
    release = sanitize(table, Schema.of(age="quasi-identifying", illness="sensitive"), SuppressSensitive())
    assert len(weights_by_example(release)) == 800
    monkeypatch.setattr(posing, "MOST_EXAMPLES", 500)
    drawn = weights_by_example(release)
    assert len(drawn) == 400
    assert sum(drawn.values()) == pytest.approx(400)
    share = sum(weight for (_, value), weight in drawn.items() if value == 0) / 400
    assert share == pytest.approx(0.5, abs=0.1)
    assert drawn == weights_by_example(release)
    assert drawn != weights_by_example(release, seed=1)
