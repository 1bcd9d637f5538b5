"""What any sanitizer writes is read back as what it was in memory: classes, sets, losses, figures."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table, measure, read_release, sanitize
from sfumato.models import KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import build_measure
from sfumato.runtime.errors import SfumatoError
from sfumato.workflow.publish.data_files import write_release

Bound = tuple[Table, Schema]

SANITIZERS = methods.registered("sanitizer")
# a file does not tell which record is which, and some measures draw people or values in the order of the rows
SILENT_ABOUT_HOSPITAL = ("date-shift", "mst")
"""Of the first nothing can be told; the second releases declared values, which the original does not tell."""
DRAWING = (
    "sfumato.measures.attacks",
    "sfumato.measures.utility.fidelity",
    "sfumato.measures.utility.workload",
)
BY_RECORD = ("sfumato.measures.grouped", *DRAWING)
MEASURES = [
    name
    for name in (*methods.registered("measure"), *methods.registered("model"))
    if (each := build_measure(name)).requires != "records" and not type(each).__module__.startswith(BY_RECORD)
]


def variants(name: str, bound: Bound) -> Iterator[Any]:
    """Yield the sanitizer with its defaults, with every choice, with models, levels, cuts and suppression."""
    table, schema = bound
    plain = SANITIZERS[name]()
    fields = {field.name for field in dataclasses.fields(plain)}
    several = [plain, *choices(plain)]
    if "levels" in fields:
        for level in (1, 2):
            levels = {q: min(level, schema.hierarchy(q).height) for q in schema.quasi_identifiers}
            several.append(dataclasses.replace(plain, levels=levels))
    if "cuts" in fields:
        for bits in ("0", "1", "01", "001"):
            sizes = {q: len(table[q].domain) - 1 for q in schema.quasi_identifiers}
            cuts = {q: (bits * size)[:size] for q, size in sizes.items()}
            several.append(dataclasses.replace(plain, cuts=cuts, free=tuple(cuts)))
    if "l" in fields:
        several.append(dataclasses.replace(plain, l=2))
    if "suppression" in fields:
        several += [dataclasses.replace(how, suppression=0.6) for how in several]
    if "model" in fields:
        models = (KAnonymity(2), ProbabilisticDiversity(2), KAnonymity(3) & TCloseness(0.5))
        several += [dataclasses.replace(how, model=model) for how in several for model in models]
    yield from several


def choices(plain: Any) -> Iterator[Any]:
    hints = get_type_hints(type(plain))
    for field in dataclasses.fields(plain):
        if get_origin(hints[field.name]) is Literal:
            for value in get_args(hints[field.name]):
                yield dataclasses.replace(plain, **{field.name: value})


def releases(name: str, bound: Bound) -> Iterator[LinkedRelease]:
    yield from made(variants(name, bound), bound)


def made(several: Iterable[Any], bound: Bound) -> Iterator[LinkedRelease]:
    for how in several:
        try:
            # a file does not tell the recipe, which some measures ask
            yield dataclasses.replace(sanitize(*bound, how), recipe=None)
        except SfumatoError:
            continue


def read_again(release: LinkedRelease, bound: Bound, suffix: str) -> LinkedRelease:
    with tempfile.TemporaryDirectory() as folder:
        files = write_release(release, Path(folder, f"release{suffix}"))
        sensitive = files[1] if len(files) > 1 else None
        read = read_release(files[0], *bound, sensitive=sensitive, release_type=release.type)
    # only a published folder tells that records are a sample
    return dataclasses.replace(read, sampled=release.sampled)


def classes_of(release: LinkedRelease) -> Counter[Any]:
    """Return each class by what is written in it, with its number of records."""
    found: Counter[Any] = Counter()
    columns = [release.cells[name] for name in release.schema.quasi_identifiers]
    for row, weight in enumerate(release.weights.tolist()):
        found[tuple(cells.labels[cells.codes[row]] for cells in columns)] += weight
    return found


def groups_of(release: LinkedRelease) -> Counter[Any]:
    """Return how often each collection of sensitive values is that of a group."""
    groups: dict[int, Counter[Any]] = {}
    columns = [release.cells[name] for name in release.schema.sensitive]
    for row, weight in enumerate(release.weights.tolist()):
        values = tuple(cells.labels[cells.codes[row]] for cells in columns)
        groups.setdefault(int(release.groups.class_of[row]), Counter())[values] += weight
    return Counter(frozenset(values.items()) for values in groups.values())


def meanings_of(release: LinkedRelease, name: str) -> dict[Any, Any]:
    """Return for each label that occurs its original values and its loss."""
    cells = release.cells[name]
    if cells.sets is None:
        return dict.fromkeys({cells.labels[code] for code in cells.codes.tolist()})
    starts, losses = cells.sets.starts.tolist(), cells.sets.losses.tolist()
    return {
        cells.labels[code]: (
            frozenset(cells.domain[member] for member in cells.sets.members[starts[code] : starts[code + 1]]),
            losses[code],
        )
        for code in set(cells.codes.tolist())
    }


def is_same(one: Any, other: Any) -> bool:
    """Return whether two pieces of plain data are equal up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def figures_of(release: LinkedRelease) -> dict[str, Any]:
    return {name: [each.to_dict() for each in measure(release, [asked])] for name, asked in ASKED.items()}


def asked(name: str) -> Any:
    """Return a measure; a few queries tell as much as its thousand, most of which a tiny table refuses."""
    return build_measure({"query-error": {"queries": 25}} if name == "query-error" else name)


ASKED = {name: asked(name) for name in MEASURES}


def check_same(release: LinkedRelease, *several: LinkedRelease) -> None:
    figures = figures_of(release)
    for again in several:
        assert again.n_records == release.n_records
        assert again.n_suppressed == release.n_suppressed
        assert again.form == release.form
        assert classes_of(again) == classes_of(release)
        assert groups_of(again) == groups_of(release)
        for name in release.schema.released:
            assert meanings_of(again, name) == meanings_of(release, name), name
        for name, taken in figures_of(again).items():
            assert is_same(figures[name], taken), name


@pytest.mark.parametrize("name", SANITIZERS)
def test_hospital_is_read_back_as_it_was(name: str, hospital: Bound) -> None:
    found = [each for each in releases(name, hospital) if each.type == "people" or can_be_told(each)]
    assert found or name in SILENT_ABOUT_HOSPITAL
    for release in found if name not in SILENT_ABOUT_HOSPITAL else []:
        check_same(release, *(read_again(release, hospital, suffix) for suffix in (".csv", ".parquet")))


@pytest.fixture(scope="module")
def some_of_adult(adult: Bound) -> Bound:
    table, schema = adult
    return schema.bind(table.take(np.arange(0, table.n_rows, 150)))


@pytest.mark.thorough("the tables drawn at random")
@pytest.mark.parametrize("name", SANITIZERS)
def test_a_part_of_adult_is_read_back_as_it_was(name: str, some_of_adult: Bound) -> None:
    for release in releases(name, some_of_adult):
        if release.type != "people" and not can_be_told(release):
            continue
        check_same(release, read_again(release, some_of_adult, ".csv"))


def can_be_told(release: LinkedRelease) -> bool:
    """Return whether the labels alone tell what was meant.

    They do not where a node is called like a value that lies elsewhere, and where noisy numbers are by
    chance numbers of the original.
    """
    for name, cells in release.cells.items():
        hierarchy = release.schema.hierarchy(name)
        if cells.sets is None and set(cells.domain) <= set(release.origin.table[name].domain):
            return False
        found: dict[Any, Any] = {}
        for level, labels in enumerate(hierarchy.labels):
            for node, label in enumerate(labels):
                values = np.flatnonzero(hierarchy.node_of[level] == node).tolist()
                covers = values, int(hierarchy.sizes[level][node])
                if found.setdefault(label, covers) != covers:
                    return False
    return True


@pytest.mark.parametrize("name", SANITIZERS)
@given(data=st.data())
@settings(max_examples=25)  # of each sanitizer: all are written and read by the same functions
def test_a_random_table_is_read_back_as_it_was(
    name: str,
    tiny_tables: st.SearchStrategy[Bound],
    floored_tables: st.SearchStrategy[Bound],
    data: st.DataObject,
) -> None:
    bound = data.draw(tiny_tables | floored_tables)
    several = list(variants(name, bound))
    first = data.draw(st.sampled_from(range(len(several))))
    suffix = data.draw(st.sampled_from([".csv", ".parquet", ".feather"]))
    # most ways are too much for a tiny table: the first one counts that gives a release
    for release in made([*several[first:], *several[:first]], bound):
        if can_be_told(release):
            check_same(release, read_again(release, bound, suffix))
        return
