"""The kernels of the evolution against counting by hand: every trait of every recoding."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Schema, Table
from sfumato.kernels import recoding_classes
from sfumato.searches.evolution.cuts import CutSpace

Bits = tuple[tuple[int, ...], ...]
VALUES = (4, 3, 2)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[Bits], int]:
    """Draw records of three quasi-identifiers and one sensitive value, some cuts, and a limit."""
    record = st.tuples(*(st.integers(0, n - 1) for n in VALUES), st.integers(0, 3))
    records = draw(st.lists(record, min_size=1, max_size=25))
    bits = st.tuples(*(st.tuples(*(st.integers(0, 1) for _ in range(n - 1))) for n in VALUES))
    cuts = draw(st.lists(bits, min_size=1, max_size=4))
    # every value occurs, so that the bits are as long as they look
    whole = [(*(place % n for n in VALUES), 0) for place in range(max(VALUES))]
    every = [*whole, *records]
    return every, cuts, draw(st.integers(0, len(every) - 1))


def space_of(records: list[tuple[int, ...]]) -> CutSpace:
    columns = {f"q{place}": [record[place] for record in records] for place in range(len(VALUES))}
    table = Table.from_arrow({**columns, "s": [str(record[-1]) for record in records]})
    quasi = tuple(Attribute(name, "quasi-identifying") for name in columns)
    table, schema = Schema((*quasi, Attribute("s", "sensitive"))).bind(table)
    return CutSpace.of(table, schema)


def block(bits: tuple[int, ...], value: int) -> tuple[int, int]:
    low = high = value
    while low > 0 and not bits[low - 1]:
        low -= 1
    while high < len(bits) and not bits[high]:
        high += 1
    return low, high


class ByHand:
    """The classes of one cut, counted with dictionaries."""

    def __init__(self, records: list[tuple[int, ...]], cut: Bits) -> None:
        members: dict[Any, list[int]] = defaultdict(list)
        for record in records:
            members[tuple(block(bits, value) for bits, value in zip(cut, record, strict=False))].append(
                record[-1]
            )
        self.n = len(records)
        self.classes = [
            (len(values), len(values) // max(Counter(values).values()), self._loss(key), values)
            for key, values in members.items()
        ]

    @staticmethod
    def _loss(key: tuple[tuple[int, int], ...]) -> float:
        return sum((high - low) / (n - 1) for (low, high), n in zip(key, VALUES, strict=True)) / len(VALUES)

    def traits(self, kept: list[Any]) -> tuple[float, ...]:
        sizes = [size for size, *_ in kept]
        return (
            min(sizes),
            min(diversity for _, diversity, *_ in kept),
            sum(size**2 for size in sizes) / sum(sizes),
            sum(size * loss for size, _, loss, _ in kept) / self.n,
            self.n - sum(sizes),
        )

    def gone(self, kept: list[Any]) -> int:
        return self.n - sum(size for size, *_ in kept)

    def larger_than(self, k: int) -> list[Any]:
        return [one for one in self.classes if one[0] >= k]


def genes_of(cuts: list[Bits]) -> np.ndarray[Any, Any]:
    return np.array([[bit for bits in cut for bit in bits] for cut in cuts])


def close(found: Any, wanted: tuple[float, ...], first: int = 0) -> None:
    np.testing.assert_allclose(found[first : first + len(wanted)], wanted, atol=1e-12)


@given(case=cases())
@settings(max_examples=60)
def test_without_suppression_everything_is_counted(case: Any) -> None:
    records, cuts, _ = case
    space = space_of(records)
    traits = recoding_classes.keep_all(
        space.rows.records, space.rows.persons, space.recodings(genes_of(cuts))
    )
    for found, cut in zip(traits[:, 0], cuts, strict=True):
        hand = ByHand(records, cut)
        k, _, weighted, loss, gone = hand.traits(hand.classes)
        close(found, (k, 0, weighted, loss, gone, weighted))


@given(case=cases())
@settings(max_examples=60)
def test_the_largest_k_within_the_limit_is_taken(case: Any) -> None:
    records, cuts, limit = case
    space = space_of(records)
    traits = recoding_classes.suppress_small(
        space.rows.records, space.rows.persons, space.recodings(genes_of(cuts)), limit
    )
    for found, cut in zip(traits[:, 0], cuts, strict=True):
        hand = ByHand(records, cut)
        largest = max(
            k for k in range(1, hand.n + 1) if hand.larger_than(k) and hand.gone(hand.larger_than(k)) <= limit
        )
        k, _, weighted, loss, gone = hand.traits(hand.larger_than(largest))
        close(found, (k, 0, weighted, loss, gone, k))


@given(case=cases())
@settings(max_examples=60)
def test_classes_below_weighted_k_are_suppressed(case: Any) -> None:
    records, cuts, _ = case
    space = space_of(records)
    traits = recoding_classes.suppress_below_average(
        space.rows.records, space.rows.persons, space.recodings(genes_of(cuts))
    )
    for found, cut in zip(traits[:, 0], cuts, strict=True):
        hand = ByHand(records, cut)
        squares = sum(size**2 for size, *_ in hand.classes)
        k, _, weighted, loss, gone = hand.traits([one for one in hand.classes if one[0] * hand.n >= squares])
        close(found, (k, 0, weighted, loss, gone, squares / hand.n))


def safe_pairs(hand: ByHand, limit: int) -> Iterator[tuple[float, ...]]:
    for l in range(1, 5):  # noqa: E741
        for k in range(hand.n, 0, -1):
            kept = [one for one in hand.classes if one[0] >= k and one[1] >= l]
            if kept and hand.gone(kept) <= limit:
                yield hand.traits(kept)
                break


@given(case=cases())
@settings(max_examples=100)
def test_every_pair_of_k_and_l_is_found_and_none_that_does_not_hold(case: Any) -> None:
    records, cuts, limit = case
    space = space_of(records)
    rows = space.rows
    traits = recoding_classes.suppress_unsafe(
        rows.records, rows.persons, rows.sensitive, space.recodings(genes_of(cuts)), limit
    )
    for found, cut in zip(traits, cuts, strict=True):
        hand = ByHand(records, cut)
        used = found[found[:, 0] > 0]
        wanted = {tuple(np.round(pair, 9)) for pair in safe_pairs(hand, limit)}
        assert {tuple(np.round(row[:5], 9)) for row in used} == wanted
        np.testing.assert_array_equal(used[:, :2], used[:, 5:])


@pytest.mark.parametrize("sizes_first", [True, False])
@given(case=cases())
@settings(max_examples=100)
def test_the_order_of_the_paper_is_followed(sizes_first: bool, case: Any) -> None:
    records, cuts, limit = case
    space = space_of(records)
    rows = space.rows
    traits = recoding_classes.suppress_in_order(
        rows.records, rows.persons, rows.sensitive, space.recodings(genes_of(cuts)), limit, sizes_first
    )
    for found, cut in zip(traits[:, 0], cuts, strict=True):
        hand = ByHand(records, cut)

        def place(one: Any) -> tuple[int, int]:
            return (one[0], one[1]) if sizes_first else (one[1], one[0])

        for pair in sorted({place(one) for one in hand.classes}):
            if sum(one[0] for one in hand.classes if place(one) <= pair) > limit:
                break
        kept = [one for one in hand.classes if place(one) >= pair]
        close(found, (*hand.traits(kept), *(pair if sizes_first else pair[::-1])))


def test_keys_beyond_64_bits_and_large_tables_are_counted_alike() -> None:
    rng = np.random.default_rng(0)
    n_attributes, n = 14, 3000
    columns = {f"q{place}": rng.integers(0, 60, n) for place in range(n_attributes)}
    table = Table.from_arrow(columns)
    table, schema = Schema.of(dict.fromkeys(columns, "quasi-identifying")).bind(table)
    space = CutSpace.of(table, schema)
    genes = space.sample(rng, 12)
    genes[2:5] = 1
    genes[3, :-200] = 0
    blocks = space.recodings(genes).blocks
    traits = recoding_classes.keep_all(space.rows.records, space.rows.persons, space.recodings(genes))
    for found, block_of in zip(traits[:, 0], blocks, strict=True):
        keys = Counter(
            tuple(block_of[60 * place + columns[f"q{place}"][row]] for place in range(n_attributes))
            for row in range(n)
        )
        sizes = np.array(list(keys.values()))
        assert found[0] == sizes.min()
        assert found[2] == pytest.approx((sizes**2).sum() / n)


def test_large_classes_are_sorted_where_small_ones_are_counted() -> None:
    sizes = [3, 3, 600, 600, 700, 2000]
    values = [place for place, size in enumerate(sizes) for _ in range(size)]
    table, schema = Schema.of(q="quasi-identifying").bind(Table.from_arrow({"q": values}))
    space = CutSpace.of(table, schema)
    apart = space.recodings(np.ones((1, 5), dtype=np.int64))
    for limit in (0, 2, 3, 5, 6, 605, 1205, 1206, 1905, 1906, 3905):
        found = recoding_classes.suppress_small(space.rows.records, space.rows.persons, apart, limit)[0, 0]
        gone = [size for size in sizes if sum(s for s in sizes if s <= size) <= limit]
        assert found[4] == sum(gone)
        assert found[0] == min(size for size in sizes if size not in gone)
