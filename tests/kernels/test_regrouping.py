"""Recodings that are counted together have the classes that each has by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Schema, Table
from sfumato.kernels import recoding_classes, recoding_similarity, shared_grouping
from sfumato.searches.evolution.cuts import CutSpace

VALUES = (12, 9, 6, 2)


def table(n: int = 500) -> tuple[CutSpace, Any, Any]:
    """Return a space, the records' units and their sensitive values."""
    rng = np.random.default_rng(3)
    # every value occurs
    units = np.concatenate(
        [
            np.arange(12)[:, np.newaxis] % VALUES,
            np.minimum(rng.binomial(11, 0.3, (n, 4)), np.array(VALUES) - 1),
        ]
    )
    values = rng.integers(0, 5, len(units))
    columns = {f"q{place}": column for place, column in enumerate(units.T)}
    quasi = tuple(Attribute(name, "quasi-identifying") for name in columns)
    made = Table.from_arrow({**columns, "s": [str(value) for value in values]})
    bound = Schema((*quasi, Attribute("s", "sensitive"))).bind(made)
    return CutSpace.of(*bound), units, values


def families(space: CutSpace) -> Any:
    """Return recodings of three families, each with what is one step away, in no order, some twice."""
    rng = np.random.default_rng(4)
    parents = (rng.random((3, space.n_genes)) < 0.3).astype(np.int8)
    genes = np.concatenate([space.neighbours(parent) for parent in parents])
    return np.concatenate([genes, genes[:5]])[rng.permutation(len(genes) + 5)]


def class_sizes(space: CutSpace, units: Any, genes: Any) -> list[int]:
    """Return the sizes of the classes of one recoding, counted by NumPy."""
    firsts = np.concatenate([[0], np.cumsum([n - 1 for n in VALUES])])
    cuts = [genes[first : first + n - 1] for first, n in zip(firsts, VALUES, strict=False)]
    blocks = [
        np.concatenate([[0], np.cumsum(cut)])[column] for cut, column in zip(cuts, units.T, strict=True)
    ]
    return sorted(np.unique(np.stack(blocks), axis=1, return_counts=True)[1].tolist())


@pytest.mark.parametrize("is_shared", [True, False])
def test_every_recoding_has_its_own_classes(is_shared: bool) -> None:
    space, units, _ = table()
    genes = families(space)
    records, recodings = space.rows.records, space.recodings(genes)
    room = shared_grouping.make_room(records, recodings, 0, is_shared)
    seen = []
    shortest = len(records.weights)
    for place in range(len(room.begins)):
        member, n_classes = shared_grouping.visit_group(records, recodings, room, place)
        if member >= 0:
            seen.append(member)
            assert sorted(room.sizes[:n_classes].tolist()) == class_sizes(space, units, genes[member])
            first = room.first[room.founders[:n_classes]]
            assert (np.diff(first) > 0).all()
            counted_from = room.latest_table[0]
            shortest = min(shortest, int(np.diff(room.starts)[counted_from]))
    assert sorted(seen) == list(range(len(genes)))
    assert (shortest < len(records.weights) / 2) == is_shared


def test_together_or_alone_the_figures_are_the_same_to_the_last_bit() -> None:
    space, _, _ = table()
    rows, genes = space.rows, families(space)
    for distinct in (False, True):
        sensitive = rows.sensitive._replace(distinct=distinct)
        together = recoding_classes.suppress_unsafe(
            rows.records, rows.persons, sensitive, space.recodings(genes), 60
        )
        for row, one in zip(together, genes, strict=True):
            alone = recoding_classes.suppress_unsafe(
                rows.records, rows.persons, sensitive, space.recodings(one[np.newaxis]), 60
            )[0]
            assert row[row[:, 0] > 0].tolist() == alone.tolist()


def test_many_sensitive_values_are_counted_like_few() -> None:
    space, _, _ = table()
    rows, recodings = space.rows, space.recodings(families(space))
    few = recoding_classes.suppress_unsafe(rows.records, rows.persons, rows.sensitive, recodings, 60)
    # values that nobody has, so many that they are no longer counted for all recodings together
    owners = np.concatenate([rows.sensitive.owners, np.zeros(100, dtype=np.int64)])
    many = rows.sensitive._replace(n_values=len(owners), owners=owners)
    found = recoding_classes.suppress_unsafe(rows.records, rows.persons, many, recodings, 60)
    np.testing.assert_array_equal(few, found)


def groups_of(blocks: Any) -> tuple[Any, list[tuple[int, int, int]]]:
    n = len(blocks)
    order, begins, ends, depths = np.arange(n), *(np.zeros(2 * n, dtype=np.int64) for _ in range(3))
    first_unit = np.array([0, blocks.shape[1] // 2, blocks.shape[1]])
    recoding_similarity.nest_similar(first_unit, blocks.astype(np.int32), order, begins, ends, depths)
    return order, [
        (int(begin), int(end), int(depth))
        for begin, end, depth in zip(begins, ends, depths, strict=True)
        if begin >= 0
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 17, 70])
def test_groups_are_parted_until_everybody_is_alone(n: int) -> None:
    rng = np.random.default_rng(n)
    blocks = np.cumsum(rng.random((n, 20)) < 0.4, axis=1)
    order, groups = groups_of(blocks)
    assert sorted(order) == list(range(n))
    assert len(groups) == 2 * n - 1
    assert groups[0] == (0, n, 1)
    assert sorted(begin for begin, end, _ in groups if end - begin == 1) == list(range(n))
    assert max(depth for *_, depth in groups) <= 1 + np.log(n) / np.log(5 / 4)
    for place, (begin, end, depth) in enumerate(groups):
        if end - begin > 1:
            first = groups[place + 1]
            second = next(each for each in groups[place + 2 :] if each[2] == depth + 1)
            assert (first[0], first[1], first[2], second[1]) == (begin, second[0], depth + 1, end)


def test_families_are_not_torn_apart() -> None:
    rng = np.random.default_rng(0)
    parents = np.cumsum(rng.random((2, 20)) < 0.5, axis=1)
    blocks = parents[np.arange(40) % 2]
    order, groups = groups_of(blocks)
    begin, end, _ = groups[1]
    assert {int(member) % 2 for member in order[begin:end]} == {int(order[0]) % 2}
    assert end - begin == 20


def test_no_recodings_have_no_groups() -> None:
    assert groups_of(np.zeros((0, 20)))[1] == []
