"""The order in which records are written: every one is as likely, also where it is drawn in parts."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.bucketize.bucketization import Anatomy
from sfumato.sanitizers.generalize.mondrian import Mondrian

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")


def test_every_order_is_as_likely() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 4], "ill": ["a", "a", "a", "a"]})
    release = sanitize(table, SCHEMA, Mondrian(KAnonymity(1)))
    n_draws = 6_000
    drawn = Counter(
        tuple(np.concatenate([order.rows for order in release.orders(n_at_once=1)]).tolist())
        for _ in range(n_draws)
    )
    assert set(drawn) <= set(permutations(range(4)))
    expected = n_draws / 24
    chi_square = sum((drawn[each] - expected) ** 2 / expected for each in permutations(range(4)))
    # with 23 degrees of freedom it lies above 100 once in 10^11 times
    assert chi_square < 100


def test_parts_hold_every_record_once_and_are_about_as_large_as_asked() -> None:
    generator = np.random.default_rng(1)
    table = Table.from_arrow({"age": generator.integers(0, 50, 20_000), "ill": ["a"] * 20_000})
    release = sanitize(table, SCHEMA, Mondrian(KAnonymity(2)))
    parts = [order.rows for order in release.orders(n_at_once=1_000)]
    assert len(parts) == 32
    assert max(map(len, parts)) < 1_000
    assert np.bincount(np.concatenate(parts)).tolist() == release.weights.tolist()


def test_a_pseudonym_is_one_person_s_in_all_parts() -> None:
    people = np.repeat(np.arange(300), 3)
    ages = np.random.default_rng(2).integers(0, 40, 900)
    schema = Schema(
        (
            Attribute("who", "identifying"),
            Attribute("age", "quasi-identifying"),
            Attribute("ill", "sensitive"),
        ),
        person="who",
        pseudonym=True,
    )
    table = Table.from_arrow({"who": people, "age": ages, "ill": ["a"] * 900})
    release = sanitize(table, schema, Mondrian(KAnonymity(2)))
    told = Counter(
        (int(release.people.person_of[row]), int(pseudonym))
        for order in release.orders(n_at_once=50)
        for row, pseudonym in zip(order.rows, order.people, strict=True)
    )
    assert sum(told.values()) == 900
    assert len(told) == 300 == len({pseudonym for _, pseudonym in told})


@pytest.mark.parametrize("n_at_once", [1, 100])
def test_groups_are_drawn_at_once(n_at_once: int) -> None:
    table = Table.from_arrow({"age": list(range(12)), "ill": ["a", "b", "c"] * 4})
    release = sanitize(table, SCHEMA, Anatomy(2))
    (order,) = release.orders(n_at_once=n_at_once)
    assert sorted(order.rows.tolist()) == list(range(12))
