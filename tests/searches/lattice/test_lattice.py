"""The lattice's classes and losses against the releases that full-domain recoding makes."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table, measure
from sfumato.data.equivalence_classes import count_classes
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Attribute
from sfumato.models import KAnonymity
from sfumato.runtime.errors import SchemaError
from sfumato.sanitizers import FullDomain
from sfumato.searches.lattice import lattice
from sfumato.searches.lattice.lattice import GeneralizationLattice

Bound = tuple[Table, Schema]


def some_levels(data: st.DataObject, of: GeneralizationLattice) -> tuple[int, ...]:
    return tuple(data.draw(st.integers(0, height)) for height in of.heights)


def released(bound: Bound, levels: tuple[int, ...]) -> Any:
    chosen = dict(zip(bound[1].quasi_identifiers, levels, strict=True))
    return FullDomain(chosen, KAnonymity(1)).sanitize(*bound, np.random.default_rng(0))


@given(data=st.data())
def test_the_classes_of_a_node_are_those_of_its_release(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables)
    of = GeneralizationLattice.of(*bound, bound[1].sensitive)
    levels = some_levels(data, of)
    class_of, n_classes = of.classes(levels)
    sizes = np.bincount(class_of, of.weights).astype(np.int64)
    classes = released(bound, levels).classes
    assert n_classes == classes.n_classes
    assert sorted(sizes.tolist()) == sorted(classes.sizes.tolist())
    ours = of.counted(class_of, sizes)
    for name, counts in classes.sensitive.items():
        assert Counter(histograms(ours.sensitive[name])) == Counter(histograms(counts))
        assert ours.sensitive[name].prior.tolist() == counts.prior.tolist()


def histograms(counts: Any) -> list[tuple[Any, ...]]:
    """Return for each class its values with their counts."""
    ends = itertools.pairwise(counts.starts.tolist())
    return [
        tuple(zip(counts.values[a:b].tolist(), counts.counts[a:b].tolist(), strict=True)) for a, b in ends
    ]


@given(data=st.data())
def test_losses_add_up_to_general_loss(tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
    bound = data.draw(tiny_tables)
    of = GeneralizationLattice.of(*bound, ())
    levels = some_levels(data, of)
    (expected,) = measure(released(bound, levels), ["general-loss"])
    by_level = of.level_losses(of.value_counts)[of.numbers(levels)].sum()
    by_row = of.row_losses(levels, np.arange(len(of.weights))) @ of.weights / of.n_records
    assert (by_level, by_row) == pytest.approx((expected.value, expected.value), abs=1e-12)


@given(data=st.data())
@settings(max_examples=30)
def test_groups_of_rows_are_counted_like_classes_are(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables)
    of = GeneralizationLattice.of(*bound, bound[1].sensitive)
    class_of, n_classes = of.classes((0,) * len(of.names))
    left_out = np.array(data.draw(st.lists(st.booleans(), min_size=n_classes, max_size=n_classes)))
    group = np.where(left_out, -1, np.cumsum(~left_out) - 1)[class_of]
    rows = group >= 0
    sizes = np.bincount(class_of, of.weights)[~left_out].astype(np.int64)
    facts = of.everybody.sensitive
    sensitive = {name: (codes[rows], facts[name].prior) for name, codes in of.sensitive.items()}
    expected = count_classes(group[rows], len(sizes), of.weights[rows], sensitive)
    found = of.counted(group, sizes)
    assert found.class_of.tolist() == expected.class_of.tolist()
    assert found.sizes.tolist() == expected.sizes.tolist()
    for name in bound[1].sensitive:
        assert histograms(found.sensitive[name]) == histograms(expected.sensitive[name])


@given(data=st.data())
@settings(max_examples=30)
def test_keys_of_several_words_give_the_same_classes(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables)
    of = GeneralizationLattice.of(*bound, ())
    levels = some_levels(data, of)
    class_of, n_classes = of.classes(levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_LARGEST_KEY", 3)
        again, n_again = of.classes(levels)
    assert n_again == n_classes
    assert len(set(zip(class_of.tolist(), again.tolist(), strict=True))) == n_classes


def test_the_lattice_knows_its_size_and_its_records(hospital: Bound) -> None:
    of = GeneralizationLattice.of(*hospital, ("diagnosis",))
    assert (of.names, of.heights, of.size, of.n_records) == (("zip", "age", "sex"), (3, 3, 1), 32, 12)
    assert all(of.nested)
    assert of.value_counts.sum() == 3 * 12


def test_two_nodes_with_one_label_are_one_node_and_the_lattice_says_that_it_is_not_nested() -> None:
    rows = [["x", "", "n"], ["y", "b", "m"], ["z", "b", "m"]]
    table = Table.from_arrow({"a": ["x", "y", "z", None]})
    schema = Schema((Attribute("a", "quasi-identifying", hierarchy=Hierarchy.of_rows(rows)),))
    of = GeneralizationLattice.of(*schema.bind(table), ())
    assert of.n_nodes == (4, 2, 3, 1)
    assert of.nested == (True, True, False, True)


def test_a_table_without_quasi_identifiers_has_no_lattice() -> None:
    schema = Schema.of(a="sensitive")
    with pytest.raises(SchemaError, match="quasi-identifying"):
        GeneralizationLattice.of(*schema.bind(Table.from_arrow({"a": [1, 2]})), ("a",))
