"""What decision trees tell of records: beside scikit-learn's own cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import Propensity, TransferLoss
from sfumato.measures.utility.fidelity import learned
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.results.inapplicable import NotApplicable
from sfumato.sanitizers import AsIs

SCHEMA = Schema.of(x="quasi-identifying", town="quasi-identifying", ill="sensitive")
RELEASE = sanitize(
    Table.from_arrow({"x": [1, 2, 3], "town": ["A", "B", "A"], "ill": ["u", "u", "v"]}), SCHEMA, AsIs()
)


def records(x: Any, town: Any, ill: Any = None) -> SingleValues:
    """Return records with a number, whose codes say nothing, and one or two categories."""
    codes = {"x": np.zeros(len(x), dtype=np.int32), "town": np.asarray(town)}
    if ill is not None:
        codes["ill"] = np.asarray(ill)
    return SingleValues(codes, {"x": np.asarray(x, dtype=np.float64)}, {})


def propensity(true: SingleValues, made: SingleValues, seed: int = 0) -> float:
    (found,) = Propensity(seed).compared(RELEASE, true, made)
    assert found.value is not None
    return found.value


def together(true: SingleValues, made: SingleValues) -> tuple[Any, Any]:
    """Return the features of all records, and which are released."""
    rows = [
        [*row] for each in (true, made) for row in zip(each.numbers["x"], each.codes["town"], strict=True)
    ]
    return np.array(rows, dtype=np.float64), np.array([0.0] * true.n_records + [1.0] * made.n_records)


def by_scikit_learn(true: SingleValues, made: SingleValues, least: int, seed: int) -> float:
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    known, is_made = together(true, made)
    parts = learned._parts(known, is_made, seed)
    assert set(parts.tolist()) == {0, 1, 2}
    tree = DecisionTreeClassifier(min_samples_leaf=least, random_state=seed)
    told = cross_val_predict(tree, known, is_made, cv=PredefinedSplit(parts), method="predict_proba")[:, 1]
    others = np.array([is_made[parts != part].mean() for part in range(3)])
    share = is_made.mean()
    return float(np.mean((told - others[parts]) ** 2) / (share * (1 - share)))


@pytest.mark.parametrize(("n_true", "n_made", "least", "seed"), [(301, 150, 50, 0), (9_900, 6_001, 53, 4)])
def test_propensity_is_what_a_tree_says_of_records_that_it_has_not_seen(
    n_true: int, n_made: int, least: int, seed: int
) -> None:
    # of 15,901 records 10,600 or 10,601 are learned from: a leaf has one in 200 of them
    rng = np.random.default_rng(1)
    true = records(rng.normal(size=n_true), rng.integers(0, 3, n_true))
    made = records(rng.normal(size=n_made) + 0.5, rng.integers(0, 4, n_made))
    expected = by_scikit_learn(true, made, least, seed)
    assert 0.02 < expected < 0.5
    assert propensity(true, made, seed) == pytest.approx(expected)


def test_propensity_is_0_where_the_parts_alone_differ() -> None:
    # neither 1000 nor 500 records can be divided by three: the tree answers with the share of its own part
    many, few = (records([1.0] * n, [0] * n) for n in (1000, 500))
    for pair in ((many, many), (many, few), (few, many)):
        assert propensity(*pair) == 0
    # a difference of one in a hundred is more than that
    other = records([1.0] * 1000, [0] * 490 + [1] * 510)
    same = records([1.0] * 1000, [0] * 500 + [1] * 500)
    expected = by_scikit_learn(same, other, 50, 0)
    assert 1e-6 < expected < 5e-4
    assert propensity(same, other) == pytest.approx(expected)


@pytest.mark.parametrize("n_records", [3, 4, 7, 100, 250])
def test_a_table_that_is_released_as_it_is_cannot_be_told_whatever_its_size_and_order(n_records: int) -> None:
    rng = np.random.default_rng(n_records)
    x, town = rng.normal(size=n_records), rng.integers(0, 3, n_records)
    # a missing number is one more value
    x[::3] = np.nan
    order = rng.permutation(n_records)
    for seed in range(3):
        assert propensity(records(x, town), records(x[order], town[order]), seed) == 0


def test_one_attribute_that_differs_is_enough_and_seed_0_draws_where_nobody_says_otherwise() -> None:
    schema = Schema.of(x="quasi-identifying")
    some, none = (sanitize(Table.from_arrow({"x": x}), schema, AsIs()) for x in ([1, 2, 1], [1, 1, 1]))
    (found,) = measure(some, ["propensity"])
    assert (found.value, Propensity().seed) == (0.0, 0)
    (found,) = measure(none, ["propensity"])
    assert found.detail["reason"].startswith("it compares 1 attributes or more, and 0 differ")


class TestParts:
    """Which part of three the records of each table are in."""

    def parts(self, true: SingleValues, made: SingleValues, seed: int = 0) -> tuple[Any, Any]:
        found = learned._parts(*together(true, made), seed)
        return found[: true.n_records], found[true.n_records :]

    @pytest.mark.parametrize(("n_true", "n_made"), [(3, 3), (10, 5), (100, 61)])
    def test_each_has_a_third_of_each_table(self, n_true: int, n_made: int) -> None:
        rng = np.random.default_rng(n_true)
        pair = [records(rng.integers(0, 9, n), rng.integers(0, 2, n)) for n in (n_true, n_made)]
        for found in self.parts(pair[0], pair[1]):
            sizes = np.bincount(found, minlength=3)
            assert len(sizes) == 3
            assert sizes.max() - sizes.min() <= 1

    def test_who_is_in_both_tables_as_often_is_in_the_same_parts(self) -> None:
        """Twenty records are in both, ten of them twice; one more is in one table five times, in one once."""
        both = [*range(20), *range(10)]
        true, made = [99] * 5 + both, [99, *both[::-1]]
        for seed in range(5):
            found = self.parts(records(true, [0] * 35), records(made, [0] * 31), seed)
            where = [
                sorted(zip(values, parts.tolist(), strict=True))
                for values, parts in zip((true, made), found, strict=True)
            ]
            assert where[0][:30] == where[1][:30]

    def test_the_seed_decides_who_is_together(self) -> None:
        table = records(range(30), [0] * 30)
        drawn = [self.parts(table, table, seed)[0].tolist() for seed in (0, 0, 1)]
        assert drawn[0] == drawn[1] != drawn[2]


def test_propensity_is_1_where_every_record_is_told() -> None:
    # rounding would make it a little more
    assert propensity(records([0.0] * 75, [0] * 75), records([1.0] * 76, [0] * 76)) == 1


def test_propensity_asks_for_a_record_in_each_part() -> None:
    three, two = records([1.0, 1, 1], [0, 0, 0]), records([1.0, 1], [0, 0])
    assert propensity(three, three) == 0
    for pair in ((three, two), (two, three)):
        with pytest.raises(NotApplicable, match="into 3 parts, and has too few"):
            propensity(*pair)


@pytest.mark.parametrize(("n_records", "least"), [(12, 1), (599, 2), (20_000, 50)])
def test_transfer_loss_is_the_difference_in_accuracy_about_the_original(n_records: int, least: int) -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(n_records)
    true, made = (
        records(rng.permutation(n_records), rng.integers(0, 2, n_records), rng.integers(0, 3, n_records))
        for _ in range(2)
    )
    asked = np.column_stack([true.numbers["x"], true.codes["town"]])
    right = []
    for each in (true, made):
        tree = DecisionTreeClassifier(min_samples_leaf=least, random_state=0)
        tree.fit(np.column_stack([each.numbers["x"], each.codes["town"]]), each.codes["ill"])
        right.append(float(np.mean(tree.predict(asked) == true.codes["ill"])))
    found = TransferLoss().of_target(RELEASE, true, made, "ill")
    assert found.detail == {"accuracy": right[1], "maximum": right[0]}
    assert found.value == pytest.approx(right[0] - right[1])
    commonest = max(np.mean(true.codes["ill"] == value) for value in range(3))
    assert found.baseline == pytest.approx(right[0] - commonest)
    assert found.attribute == "ill"
    assert TransferLoss().of_target(RELEASE, true, made, "town").attribute is None


def test_of_columns_that_say_the_same_seed_0_decides_which_one_transfers() -> None:
    from sklearn.tree import DecisionTreeClassifier

    # all columns of the release tell the answer; in the original each is right about another share of it
    ill, names = np.array([0, 1] * 8), [f"column {place}" for place in range(8)]
    alike = dict.fromkeys(names, ill)
    apart = {name: np.where(np.arange(16) < 2 * place, ill, 1 - ill) for place, name in enumerate(names)}
    tree = DecisionTreeClassifier(random_state=0).fit(np.column_stack([*alike.values()]), ill)
    expected = np.mean(tree.predict(np.column_stack([*apart.values()])) == ill)
    made, true = (SingleValues({**columns, "ill": ill}, {}, {}) for columns in (alike, apart))
    for seed in (0, 5):
        assert TransferLoss(seed=seed).of_target(RELEASE, true, made, "ill").detail["accuracy"] == expected


@pytest.mark.parametrize(("least", "seed"), [(1, 7), (3, 0)])
def test_a_tree_has_the_leaves_and_the_seed_that_it_is_asked_for(least: int, seed: int) -> None:
    answer = np.array([0, 1, 0, 1, 0, 1])
    tree = learned._tree(np.arange(12.0).reshape(6, 2), answer, least, seed)
    assert tree.random_state == seed
    # every second answer is another: leaves of one tell them all, and three records no leaf apart
    in_leaf = np.bincount(tree.apply(np.arange(12.0).reshape(6, 2)))
    assert in_leaf[in_leaf > 0].min() >= least
    assert (tree.predict(np.arange(12.0).reshape(6, 2)) == answer).all() == (least == 1)
