"""New records with a kept recoding: against looking at every class, and by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import (
    Attribute,
    Hierarchy,
    Intervals,
    Prefixes,
    Schema,
    Table,
    freeze,
    read_release,
    sanitize,
)
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.label_parsing import interval_ends
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.recode_records import NO_CLASS, take
from sfumato.runtime.errors import SchemaError, UserError
from sfumato.sanitizers import (
    PRAM,
    Anatomy,
    CartSynthesis,
    CellSuppression,
    Clustering,
    Cut,
    FullDomain,
    Laplace,
    LocalRecoding,
    Mondrian,
    Sanitizer,
    SuppressQuasiIdentifiers,
)
from sfumato.workflow.external import untrue_cells

REGIONS = Hierarchy.nested({"north": ["a", "b", "c"], "south": ["d", "e"]})
SCHEMA = Schema(
    (
        Attribute("name", "identifying"),
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 20))),
        Attribute("zip", "quasi-identifying", hierarchy=Prefixes((2, 1))),
        Attribute("region", "quasi-identifying", hierarchy=REGIONS),
        Attribute("size", "quasi-identifying", "numeric"),
        Attribute("disease", "sensitive"),
        Attribute("ward", "insensitive"),
    )
)
BY_CLASSES: list[Sanitizer] = [
    Mondrian(KAnonymity(4)),
    Clustering(KAnonymity(4)),
    LocalRecoding(KAnonymity(4)),
    CellSuppression(KAnonymity(4), suppression=0.5),
]
BY_VALUES: list[Sanitizer] = [
    FullDomain({"age": 1, "zip": 1, "region": 1, "size": 1}, KAnonymity(2), suppression=0.9),
    FullDomain({"age": 2, "zip": 2, "region": 0, "size": 0}, KAnonymity(1)),
    SuppressQuasiIdentifiers(),
]


def _records(seed: int, n: int = 120, *, regions: str = "abde", ages: int = 60, sizes: int = 9) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"p{number}" for number in range(n)],
            "age": rng.integers(20, ages, n),
            "zip": [f"{code}" for code in rng.choice([101, 102, 121, 122, 201, 223], n)],
            "region": rng.choice(list(regions), n),
            "size": rng.integers(1, sizes, n),
            "disease": rng.choice(["flu", "gout", "asthma"], n),
            "ward": rng.choice(["x", "y"], n),
        }
    )


def _stands_for(label: str, value: Any, name: str) -> bool:
    """Say by hand what a label means, for the few shapes that occur here."""
    written = str(value)
    if label in ("*", written):
        return True
    if label.startswith("{"):
        return any(_stands_for(part, value, name) for part in label[1:-1].split(", "))
    if name == "region":
        return label in ("north", "south") and (written in "abc") == (label == "north")
    ends = interval_ends(label)
    if ends is not None and name in ("age", "size"):
        (low, closed), (high, closed_too) = ends
        return (low <= value if closed else low < value) and (value <= high if closed_too else value < high)
    return name == "zip" and label.endswith("*") and written.startswith(label[:-1])


def _released_rows(release: LinkedRelease) -> list[tuple[str | None, ...]]:
    """Return the labels of the quasi-identifiers of each original row that is released."""
    names = release.schema.quasi_identifiers
    return list(
        zip(*([release.cells[n].labels[c] for c in release.cells[n].codes] for n in names), strict=True)
    )


@pytest.mark.parametrize("how", BY_CLASSES, ids=lambda how: type(how).__name__)
def test_a_record_goes_to_the_class_that_loses_least_of_those_that_contain_it(how: Sanitizer) -> None:
    recoding = freeze(sanitize(_records(1), SCHEMA, how, seed=1))
    taken = take(recoding, _records(2, sizes=12))
    names, release = SCHEMA.quasi_identifiers, taken.release
    losses = {name: dict(zip(v.labels, v.losses, strict=True)) for name, v in recoding.values.items()}
    labels = [
        tuple(recoding.values[name].labels[code] for name, code in zip(names, row, strict=True))
        for row in recoding.classes
    ]
    found = dict(zip(release.origin.rows.tolist(), _released_rows(release), strict=True))
    n_without = 0
    for row in range(release.origin.table.n_rows):
        values = {n: release.origin.table[n].domain[release.origin.table[n].codes[row]] for n in names}
        takes = [
            each
            for each in labels
            if all(_stands_for(str(lab), values[n], n) for n, lab in zip(names, each, strict=True))
        ]
        best = min(
            takes,
            key=lambda e: (round(sum(losses[n][x] for n, x in zip(names, e, strict=True)), 12), e),
            default=None,
        )
        assert found.get(row) == best
        n_without += int(release.origin.table.weights[row]) if best is None else 0
    assert taken.n_withheld == n_without == release.n_original - release.n_records
    assert 0 < n_without < release.n_original or isinstance(how, CellSuppression)


@pytest.mark.parametrize("how", [*BY_CLASSES, *BY_VALUES], ids=lambda how: type(how).__name__)
def test_every_released_value_contains_the_own_value_of_its_record(how: Sanitizer) -> None:
    recoding = freeze(sanitize(_records(1), SCHEMA, how, seed=1))
    release = take(recoding, _records(3, regions="abcde", ages=99, sizes=14)).release
    assert release.n_records > 0
    assert not any(untrue_cells(release).values())
    assert set(release.cells) == set(SCHEMA.released)


@pytest.mark.parametrize("how", [*BY_CLASSES, *BY_VALUES], ids=lambda how: type(how).__name__)
def test_the_records_that_a_release_was_made_of_are_all_taken_again(how: Sanitizer) -> None:
    first = sanitize(_records(1), SCHEMA, how, seed=1)
    again = take(freeze(first), first.origin.table).release
    assert again.n_records >= first.n_records
    if not isinstance(how, (Clustering, LocalRecoding, CellSuppression)):  # whose classes overlap
        assert {*_released_rows(first)} == {*_released_rows(again)} or isinstance(how, FullDomain)


@pytest.mark.parametrize("how", [*BY_CLASSES, *BY_VALUES], ids=lambda how: type(how).__name__)
def test_what_a_file_of_the_release_says_is_enough(how: Sanitizer) -> None:
    """The recoding that is read from the written labels takes new records as the kept one does."""
    first = sanitize(_records(1), SCHEMA, how, seed=1)
    file = first.to_arrow(typed=False)
    read = read_release(file, _records(1), SCHEMA)
    known = take(freeze(first), _records(2))
    from_file = take(freeze(replaced_recipe(read, first)), _records(2))
    assert Counter(_written(known.release)) == Counter(_written(from_file.release))
    assert known.withheld == from_file.withheld


def replaced_recipe(read: LinkedRelease, first: LinkedRelease) -> LinkedRelease:
    from dataclasses import replace

    return replace(read, recipe=first.recipe)


def _written(release: LinkedRelease) -> list[tuple[Any, ...]]:
    rows = release.to_arrow(typed=False)
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def test_a_level_places_what_its_hierarchy_has_and_withholds_the_rest() -> None:
    how = FullDomain({"age": 1, "zip": 1, "region": 1, "size": 0}, KAnonymity(1))
    recoding = freeze(sanitize(_records(1), SCHEMA, how))
    new = {
        "name": ["1", "2", "3", "4", "5"],
        "age": [97, 31, 31, 31, None],
        "zip": ["991", "101", "101", "101", "101"],
        "region": ["a", "c", "z", "a", "a"],
        "size": [2, 2, 2, 77, 2],
        "disease": ["plague"] * 5,
        "ward": ["x", "y", "x", "y", "z"],
    }
    taken = take(recoding, new)
    assert sorted(_written(taken.release), key=str) == [
        ("[30, 40)", "10*", "north", "2", "plague", "y"),
        ("[90, 100)", "99*", "north", "2", "plague", "x"),
        (None, "10*", "north", "2", "plague", "z"),
    ]
    assert taken.withheld == {"region": 1, "size": 1}


def test_blocks_take_what_their_labels_say_and_nothing_between() -> None:
    table = {"age": [20, 20, 25, 25, 40, 40, 41, 41], "sick": ["y", "n"] * 4}
    schema = Schema((Attribute("age", "quasi-identifying", "numeric"), Attribute("sick", "sensitive")))
    release = sanitize(table, schema, Cut({"age": "010"}, KAnonymity(2)))
    assert {*release.cells["age"].labels} == {"<26", ">=40"}
    taken = take(freeze(release), {"age": [3, 25, 30, 99], "sick": ["y"] * 4})
    assert sorted(_written(taken.release)) == [("<26", "y"), ("<26", "y"), (">=40", "y")]
    assert taken.withheld == {"age": 1}


def test_records_whose_values_no_class_has_together_are_counted_apart() -> None:
    table, schema = datasets.hospital()
    recoding = freeze(sanitize(table, schema, Mondrian(KAnonymity(3))))
    new = {"name": ["A"], "zip": ["14850"], "age": [22], "sex": ["Male"], "diagnosis": ["Flu"]}
    assert take(recoding, new).withheld == {NO_CLASS: 1}


def test_an_attribute_below_its_lowest_level_stays_there() -> None:
    attributes = tuple(
        Attribute(a.name, a.role, a.kind, a.hierarchy, lowest_level=1 if a.name == "age" else 0)
        for a in SCHEMA.attributes
    )
    recoding = freeze(sanitize(_records(1), Schema(attributes), Mondrian(KAnonymity(4))))
    release = take(recoding, _records(2)).release
    assert not any(untrue_cells(release).values())
    ends = [interval_ends(label or "") for label in release.cells["age"].labels if label != "*"]
    assert ends
    assert all(end is not None and end[0][0] % 10 == end[1][0] % 10 == 0 for end in ends)


@pytest.mark.parametrize(
    "how", [Anatomy(2), Laplace(1.0), PRAM(), CartSynthesis()], ids=lambda how: type(how).__name__
)
def test_buckets_noise_and_records_that_are_made_up_cannot_be_kept(how: Sanitizer) -> None:
    records = Table.from_arrow(_records(1))
    release = sanitize(records, SCHEMA.with_assumed_public_part(records), how)
    with pytest.raises(UserError, match="sanitize the new records by themselves"):
        freeze(release)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda new: new.drop_columns(["zip"]), "no column 'zip'"),
        (lambda new: new.append_column("iq", [[1] * new.num_rows]), "column 'iq' of the data has no role"),
        (lambda new: new.slice(0, 0), "no records"),
    ],
)
def test_a_file_with_other_columns_is_refused(change: Any, says: str) -> None:
    recoding = freeze(sanitize(_records(1), SCHEMA, Mondrian(KAnonymity(4))))
    with pytest.raises((SchemaError, UserError), match=says):
        take(recoding, change(_records(2)))


def test_the_order_of_new_records_does_not_matter() -> None:
    recoding = freeze(sanitize(_records(1), SCHEMA, Mondrian(KAnonymity(4))))
    new = _records(2)
    turned = new.take(list(reversed(range(new.num_rows))))
    one, other = take(recoding, new).release, take(recoding, turned).release
    assert Counter(_written(one)) == Counter(_written(other))


def test_the_same_value_is_released_alike_whoever_else_is_new() -> None:
    """The recoding is fixed: what a record is given does not depend on the other new records."""
    recoding = freeze(sanitize(_records(1), SCHEMA, LocalRecoding(KAnonymity(4)), seed=3))
    new = _records(2, n=40)
    whole = Counter(_written(take(recoding, new).release))
    alone = [_written(take(recoding, new.slice(place, 1)).release) for place in range(new.num_rows)]
    assert whole == Counter(itertools.chain(*alone))
