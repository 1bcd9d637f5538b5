"""Tests of CART synthesis: values come from the right leaves, dependences stay, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import CartSynthesis
from sfumato.sanitizers.synthesize.cart_synthesis import draw_rows, smoothed

SCHEMA = Schema.of(town="quasi-identifying", age="quasi-identifying", job="sensitive")


def drawn_table(n: int = 2_000) -> Table:
    rng = np.random.default_rng(0)
    town = rng.integers(0, 3, n)
    job = (town + (rng.random(n) < 0.2)) % 3
    age = 20 + 20 * town + rng.integers(0, 15, n)
    return Table.from_arrow(
        {
            "town": np.array(list("ABC"))[town].tolist(),
            "age": age.tolist(),
            "job": np.array(list("xyz"))[job].tolist(),
        }
    )


def test_a_row_is_drawn_from_the_wanted_leaf_as_often_as_it_has_records() -> None:
    weights, leaf_of = np.array([1, 3, 2, 4]), np.array([5, 2, 5, 2])
    wanted = np.repeat([2, 5], 6_000)
    rows = draw_rows(weights, leaf_of, wanted, np.random.default_rng(0))
    assert (leaf_of[rows] == wanted).all()
    shares = np.bincount(rows, minlength=4) / 6_000
    assert shares == pytest.approx([1 / 3, 3 / 7, 2 / 3, 4 / 7], abs=0.03)


def test_pairs_that_do_not_occur_are_not_made_up_when_leaves_are_pure() -> None:
    table = drawn_table()
    release = sanitize(table, SCHEMA, CartSynthesis(("town", "job"), min_leaf=1), seed=0)
    made, true = (
        {(r["town"], r["job"]) for r in each.to_pylist()} for each in (release.to_arrow(), table.to_arrow())
    )
    assert made <= true
    assert len(made) == 6


def test_in_one_leaf_attributes_are_independent() -> None:
    release = sanitize(drawn_table(), SCHEMA, CartSynthesis(min_leaf=2_000, n_records=9_000), seed=0)
    made = release.to_arrow().to_pandas()
    assert release.n_records == 9_000
    counts = made.groupby(["town", "job"]).size().unstack().to_numpy()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / 9_000
    assert ((counts - expected) ** 2 / expected).sum() < 25


def test_small_leaves_keep_what_large_ones_lose() -> None:
    losses = [
        measure(sanitize(drawn_table(), SCHEMA, CartSynthesis(min_leaf=leaf), seed=0), ["utility-loss"])[
            0
        ].value
        for leaf in (5, 500, 2_000)
    ]
    assert losses == sorted(losses)
    assert losses[2] > 10 * losses[0]


def test_smoothed_numbers_are_near_those_of_donors_and_within_what_occurs() -> None:
    column = Column(np.array([0, 1, 2, 3]), (10, 40, 90, None), NUMERIC)
    donors = np.tile([0, 1, 2, 3], 500)
    near = smoothed(column, donors, np.random.default_rng(0))
    assert np.isnan(near[3::4]).all()
    known = near[~np.isnan(near)]
    assert known.min() >= 10
    assert known.max() <= 90
    assert (known == np.rint(known)).all()
    assert len(np.unique(known)) > 20
    assert near[1::4].mean() == pytest.approx(40, abs=1)
    release = sanitize(drawn_table(), SCHEMA, CartSynthesis(smoothing=True), seed=0)
    assert release.cells["age"].sets is None


def test_it_promises_nothing_and_says_so() -> None:
    (note,) = sanitize(drawn_table(100), SCHEMA, CartSynthesis(), seed=0).notes
    assert "No formal guarantee" in note
    assert not hasattr(CartSynthesis(), "guarantee")


def test_an_attribute_with_more_values_than_a_tree_can_tell_apart_is_divided_in_order() -> None:
    zips = [f"{number:05}" for number in range(300)]
    table = Table.from_arrow({"half": ["low"] * 150 + ["high"] * 150, "zip": zips})
    schema = Schema.of(half="quasi-identifying", zip="quasi-identifying")
    made = (
        sanitize(table, schema, CartSynthesis(("half", "zip"), min_leaf=100), seed=0).to_arrow().to_pylist()
    )
    assert all((record["zip"] < "00150") == (record["half"] == "low") for record in made)


def test_parameters_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ParameterError, match="min-leaf"):
        CartSynthesis(min_leaf=0)
    with pytest.raises(ParameterError, match="n-records"):
        CartSynthesis(n_records=-1)
    with pytest.raises(ParameterError, match="did you mean 'town'"):
        sanitize(drawn_table(10), SCHEMA, CartSynthesis(("twon",)))
