"""Kinds of value: what a column asks of them, shown by addresses that are ordered as numbers."""

from __future__ import annotations

import ipaddress
import itertools
import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Intervals, Schema, Table, sanitize
from sfumato.data.hierarchy import Flat
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, kind_named, kind_names, register_kind
from sfumato.data.table import Column
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.results.label_parsing import Spellings, interval_ends
from sfumato.results.manifest import intervals_at_values
from sfumato.results.released_column import block_cells, range_cells
from sfumato.runtime.errors import HierarchyError, ParameterError, SchemaError
from sfumato.sanitizers import FullDomain, LocalRecoding, Mondrian


def read_address(written: str) -> str | None:
    try:
        return str(ipaddress.IPv4Address(written))
    except ValueError:
        return None


def number_of(address: str) -> int:
    return int(ipaddress.IPv4Address(address))


def address_at(place: int) -> str:
    return str(ipaddress.IPv4Address(min(max(place, 0), 2**32 - 1)))


ADDRESS = Kind("ipv4", read_address, number_of, address_at, plural="addresses")
RANK = Kind("rank", lambda written: written if written in tuple("ABCDE") else None, "ABCDE".index)
ADDRESSES = ("9.0.0.1", "10.0.0.2", "10.0.0.10", "10.0.0.200", "10.0.1.7", "192.168.0.1")


@pytest.fixture
def known() -> Iterator[None]:
    register_kind(ADDRESS)
    yield
    methods._instances[Kind].pop("ipv4")


def bound() -> tuple[Table, Schema]:
    attributes = (
        Attribute("from", "quasi-identifying", "ipv4", Intervals((256, 2**16))),
        Attribute("to", "sensitive", "ipv4"),
    )
    texts = [*ADDRESSES[::-1], *ADDRESSES]
    return Schema(attributes).bind(Table.from_arrow({"from": texts, "to": texts[::-1]}))


def test_the_kinds_that_need_no_plug_in_come_first() -> None:
    assert kind_names()[:2] == ("numeric", "categorical")
    assert kind_named("numeric") is NUMERIC
    assert Column(np.array([0]), ("a",)).kind is CATEGORICAL


def test_a_name_that_no_kind_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="no kind 'numerical'; did you mean 'numeric'"):
        kind_named("numerical")
    with pytest.raises(SchemaError, match=r"no kind 'number'; did you mean 'numeric'.*categorical"):
        Attribute("age", "sensitive", "number")


@pytest.mark.parametrize("name", ["numeric", "Week", "iso week", ""])
def test_a_kind_needs_a_name_of_its_own_in_kebab_case(name: str) -> None:
    with pytest.raises(TypeError, match=r"^the (name of a kind of value is in|kind name 'numeric' is taken)"):
        register_kind(Kind(name, read_address, number_of))
    assert kind_named("numeric") is NUMERIC


def test_a_kind_without_an_order_is_refused() -> None:
    with pytest.raises(SchemaError, match="values without an order are categories"):
        register_kind(Kind("colour", read_address))
    assert "colour" not in kind_names()


def test_a_kind_reaches_another_process() -> None:
    assert pickle.loads(pickle.dumps(ADDRESS)) == ADDRESS
    assert ADDRESS != NUMERIC


@pytest.mark.usefixtures("known")
def test_values_are_in_the_order_of_their_kind() -> None:
    table, schema = bound()
    assert table["from"].domain == ADDRESSES
    assert table["from"].kind == schema.kind("from") == schema.hierarchy("from").kind == ADDRESS
    assert table["from"].numbers is not None
    assert table["from"].numbers.tolist() == [number_of(each) for each in ADDRESSES]


@pytest.mark.usefixtures("known")
def test_texts_that_mean_one_value_become_one() -> None:
    records = Table.from_arrow({"size": ["b", "B", "a", None]})
    upper = Kind("upper", str.upper, ord)
    register_kind(upper)
    table, _ = Schema((Attribute("size", "sensitive", "upper"),)).bind(records)
    methods._instances[Kind].pop("upper")
    assert table["size"].domain == ("A", "B", None)
    assert table.weights.tolist() == [2, 1, 1]


@pytest.mark.usefixtures("known")
def test_a_value_of_another_kind_is_counted_and_not_shown() -> None:
    records = Table.from_arrow({"from": ["10.0.0.1", "10.0.0.999"]})
    with pytest.raises(
        SchemaError, match="'from' is ipv4, but 1 of its 2 distinct values are not addresses"
    ) as said:
        Schema((Attribute("from", "sensitive", "ipv4"),)).bind(records)
    assert "999" not in str(said.value)


def test_intervals_are_aligned_and_printed_by_their_values() -> None:
    built = Intervals((256, 2**16)).build(ADDRESSES, ADDRESS)
    assert built.labels[1] == (
        "9.0.0.0 to 9.0.0.255",
        "10.0.0.0 to 10.0.0.255",
        "10.0.1.0 to 10.0.1.255",
        "192.168.0.0 to 192.168.0.255",
    )
    assert Intervals((1,)).build(ADDRESSES, ADDRESS).labels[1] == ADDRESSES
    with pytest.raises(HierarchyError, match="intervals need numbers"):
        Intervals((2,)).build(("A", "B"), RANK)


@pytest.mark.parametrize(("kind", "domain"), [(ADDRESS, ADDRESSES), (RANK, tuple("ABCDE"))])
def test_every_range_is_read_as_it_is_meant(kind: Kind, domain: tuple[str, ...]) -> None:
    for values in (domain, (*domain, None)):
        hierarchy = Flat().build(values, kind)
        column = Column(np.arange(len(values)), values, kind)
        pairs = list(itertools.combinations_with_replacement(range(len(values)), 2))
        low, high = np.array(pairs).T
        cells = range_cells(column, hierarchy, low, high)
        meanings = Spellings(column, hierarchy).read(cells.labels).meanings
        assert cells.sets is not None
        for code, meaning in enumerate(meanings):
            if cells.labels[code] == "*":
                continue
            assert meaning is not None
            assert meaning.codes.tolist() == cells.sets.of(code).tolist()
            assert meaning.leaves == cells.sets.sizes[code]


@pytest.mark.usefixtures("known")
def test_intervals_that_no_hierarchy_names_are_told_to_end_at_values() -> None:
    table, schema = bound()
    tight = sanitize(table, schema, Mondrian(KAnonymity(3), borders="tight"), seed=1)
    assert intervals_at_values(tight) == ("from",)
    assert intervals_at_values(sanitize(table, schema, Mondrian(KAnonymity(3)), seed=1)) == ()
    assert intervals_at_values(sanitize(table, schema, FullDomain({"from": 1}, KAnonymity(1)))) == ()


def test_blocks_at_the_ends_are_open() -> None:
    column = Column(np.arange(5), tuple("ABCDE"), RANK)
    cells = block_cells(column, Flat().build(column.domain, RANK), np.array([0, 0, 1, 1, 2]), np.arange(5))
    assert cells.labels == ("<=B", "C to D", "E")
    assert interval_ends("<=B", RANK) == ((-np.inf, True), (1, True))
    assert interval_ends(">=D", RANK) == ((3, True), (np.inf, True))
    assert interval_ends(">=X", RANK) is interval_ends("B", NUMERIC) is None


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    "method",
    [
        Mondrian(KAnonymity(3)),
        Mondrian(KAnonymity(3), borders="grid"),
        LocalRecoding(KAnonymity(3)),
        FullDomain({"from": 1}, KAnonymity(1)),
    ],
)
def test_every_original_lies_in_its_released_interval(method: object) -> None:
    table, schema = bound()
    release = sanitize(table, schema, method, seed=1)  # type: ignore[arg-type]
    shown = [release.cells["from"].labels[code] for code in release.cells["from"].codes]
    for label, row in zip(shown, release.origin.rows, strict=True):
        value = table["from"].domain[table["from"].codes[row]]
        first, _, last = (label or "").partition(" to ")
        if label != "*":
            assert number_of(first) <= number_of(str(value)) <= number_of(last or first)


@pytest.mark.usefixtures("known")
def test_values_are_given_back_as_their_kind_has_them() -> None:
    counts = Kind("ipv4", read_address, number_of, to_arrow=lambda values: pa.array(map(number_of, values)))
    column = Column(np.array([1, 0, 2]), (*ADDRESSES[:2], None), counts)
    arrow = Table({"from": column}, np.ones(3, dtype=np.int64)).to_arrow()
    assert arrow["from"].to_pylist() == [number_of(ADDRESSES[1]), number_of(ADDRESSES[0]), None]
    table, schema = bound()
    assert str(sanitize(table, schema, Mondrian(KAnonymity(1))).to_arrow()["to"].type) == "string"


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50), st.sampled_from([0.5, 2.25]))))
def test_numbers_stand_where_they_are(values: list[int | float | None]) -> None:
    domain = NUMERIC.sorted(values)
    numbers = NUMERIC.numbers(domain)
    assert numbers is not None
    present = sorted({value for value in values if value is not None})
    assert numbers[~np.isnan(numbers)].tolist() == present
    assert len(domain) == len(present) + (None in values)
