"""What every registered sanitizer must do, whatever it is."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Recipe, Schema, Table, sanitize
from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import text
from sfumato.models import KAnonymity, PrivacyModel, ProbabilisticDiversity, TCloseness
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible, MethodFailed, UserError

Bound = tuple[Table, Schema]
Records = list[dict[str, Any]]

SANITIZERS = methods.registered("sanitizer")
NEEDS_DATES = {"date-shift"}
"""What has nothing to do in a table without dates, and says so."""


def models(n_records: int) -> Iterator[PrivacyModel]:
    yield KAnonymity(1)
    yield KAnonymity(2)
    yield KAnonymity(n_records)
    yield ProbabilisticDiversity(2)
    yield TCloseness(0.3)
    yield TCloseness(0.1, "js")
    yield KAnonymity(2) & ProbabilisticDiversity(1.5) & TCloseness(0.5)
    yield from (cls() for cls in methods.registered("model").values())


def variants(name: str, bound: Bound) -> list[Any]:
    """Return the sanitizer with its defaults, several models and levels, and leave to suppress, each once."""
    return list({repr(how): how for how in _variants(name, bound)}.values())


def _variants(name: str, bound: Bound) -> Iterator[Any]:
    table, schema = bound[1].bind(bound[0])
    plain = SANITIZERS[name]()
    fields = {field.name for field in dataclasses.fields(plain)}
    yield plain
    several = [plain, *choices(plain)]
    if "levels" in fields:
        tops = {name: schema.hierarchy(name).height for name in schema.quasi_identifiers}
        several += [
            dataclasses.replace(plain, levels=dict.fromkeys(tops, 1)),
            dataclasses.replace(plain, levels=tops),
        ]
    if "cuts" in fields:
        whole = {name: "0" * (len(table[name].domain) - 1) for name in schema.quasi_identifiers}
        several.append(dataclasses.replace(plain, cuts=whole))
    if "l" in fields:
        several.append(dataclasses.replace(plain, l=2))
    if "suppression" in fields:
        several += [dataclasses.replace(how, suppression=1.0) for how in several]
    if "model" in fields:
        several = [
            dataclasses.replace(how, model=model) for how in several for model in models(table.n_records)
        ]
    yield from several


def choices(plain: Any) -> Iterator[Any]:
    """Yield the sanitizer with every other value of every choice that it offers."""
    hints = get_type_hints(type(plain))
    for field in dataclasses.fields(plain):
        if get_origin(hints[field.name]) is Literal:
            others = set(get_args(hints[field.name])) - {getattr(plain, field.name)}
            yield from (dataclasses.replace(plain, **{field.name: value}) for value in sorted(others))


def attempt(bound: Bound, how: Any, seed: int = 0) -> LinkedRelease | None:
    """Return the release, or nothing when the sanitizer says in one line why there is none.

    A method that crashes or returns what cannot be used has said nothing: that is a fault.
    """
    reason = ""
    try:
        return sanitize(*bound, how, seed=seed)
    except MethodFailed:
        raise
    except (Infeasible, UserError) as error:
        reason = str(error)
    assert reason
    assert "\n" not in reason
    return None


def releases(name: str, bound: Bound) -> list[tuple[Any, LinkedRelease]]:
    tried = [(how, attempt(bound, how)) for how in variants(name, bound)]
    return [(how, release) for how, release in tried if release is not None]


@dataclasses.dataclass(frozen=True)
class Made:
    """All releases of an example by one sanitizer, and the example as it was before."""

    bound: Bound
    codes: dict[str, np.ndarray[Any, Any]]
    weights: np.ndarray[Any, Any]
    shape: str
    name: str
    releases: list[tuple[Any, LinkedRelease]]


@pytest.fixture(scope="module", params=SANITIZERS)
def made(request: pytest.FixtureRequest, example: Bound) -> Made:
    """Make the releases once; nothing in them can be changed, so that all checks look at the same ones."""
    table, schema = example
    codes = {column: table[column].codes.copy() for column in table.names}
    weights, shape = table.weights.copy(), schema.fingerprint
    return Made(example, codes, weights, shape, request.param, releases(request.param, example))


def seeded(release: LinkedRelease) -> list[Any]:
    """Return what depends on the seed alone: noise, and the order of what is written, come from elsewhere."""
    cells = [(cell.labels, cell.codes.tolist()) for cell in release.cells.values() if cell.sets is not None]
    groups = None if release.group_of is None else release.group_of.tolist()
    return [cells, release.weights.tolist(), groups, release.form, release.notes]


def check_the_recipe_survives_json_and_makes_the_same_release(
    how: Any, release: LinkedRelease, bound: Bound
) -> None:
    recipe = release.recipe
    assert recipe is not None
    read = Recipe.from_json(recipe.to_json())
    assert read == recipe
    assert (read.build(), read.seed) == (how, 0)
    assert read.key == recipe.key == read.normalized().key
    if release.type != "synthetic" or getattr(how, "repeatable", True):
        assert seeded(sanitize(*bound, read)) == seeded(release)


def check_arrays_are_read_only(how: Any, release: LinkedRelease, bound: Bound) -> None:
    arrays = [
        release.weights,
        release.origin.linked_rows,
        release.group_of,
        *(cells.codes for cells in release.cells.values()),
    ]
    assert not any(array.flags.writeable for array in arrays if array is not None)


def check_sets_contain_the_original_values(how: Any, release: LinkedRelease, bound: Bound) -> None:
    if release.type != "people":
        return
    for name, cells in release.cells.items():
        if cells.sets is None or is_permuted(release, name):
            continue
        starts, members = cells.sets.starts.tolist(), cells.sets.members.tolist()
        sets = [{cells.domain[member] for member in members[a:b]} for a, b in itertools.pairwise(starts)]
        column = bound[0][name]
        for row, code in zip(release.origin.rows.tolist(), cells.codes.tolist(), strict=True):
            assert column.domain[column.codes[row]] in sets[code]


def check_no_value_is_below_its_lowest_level(how: Any, release: LinkedRelease, bound: Bound) -> None:
    for name in release.schema.quasi_identifiers:
        cells, lowest = release.cells[name], bound[1][name].lowest_level
        hierarchy = bound[1].hierarchy(name)
        assert cells.sets is not None or not lowest
        if cells.sets is None or not lowest:
            continue
        nodes = hierarchy.node_of[lowest].tolist()
        starts, members = cells.sets.starts.tolist(), cells.sets.members.tolist()
        for code in set(cells.codes.tolist()):
            covered = {nodes[member] for member in members[starts[code] : starts[code + 1]]}
            assert sum(node in covered for node in nodes) == starts[code + 1] - starts[code]
            assert cells.sets.sizes[code] >= sum(hierarchy.sizes[lowest][node] for node in covered) or (
                release.origin.table[name].kind == NUMERIC
            )
            finer = {label for labels in hierarchy.labels[:lowest] for label in labels}
            allowed = {label for labels in hierarchy.labels[lowest:] for label in labels}
            assert cells.labels[code] not in finer - allowed


def is_permuted(release: LinkedRelease, name: str) -> bool:
    return release.group_of is not None and release.schema[name].role == "sensitive"


def check_a_group_has_the_sensitive_values_of_its_records(
    how: Any, release: LinkedRelease, bound: Bound
) -> None:
    if release.group_of is None or release.origin.linked_rows is None:
        return
    for name in release.schema.sensitive:
        cells, column = release.cells[name], bound[0][name]
        written: Counter[Any] = Counter()
        original: Counter[Any] = Counter()
        for place, group in enumerate(release.group_of.tolist()):
            weight = int(release.weights[place])
            written[group, cells.labels[cells.codes[place]]] += weight
            original[group, text(column.domain[column.codes[release.origin.rows[place]]])] += weight
        assert written == original


def check_what_is_written_is_what_the_labels_say(how: Any, release: LinkedRelease, bound: Bound) -> None:
    # where sensitive values are told for groups, which of them stands beside which record is drawn anew
    grouped = set(release.schema.sensitive) if release.group_of is not None else set()
    written = release.to_arrow()
    for names in (set(release.cells) - grouped, grouped):
        cells = [release.cells[name] for name in sorted(names)]
        labels = [[cell.labels[code] for code in cell.codes] for cell in cells]
        expected: Counter[tuple[Any, ...]] = Counter()
        for row, weight in zip(zip(*labels, strict=True), release.weights.tolist(), strict=bool(cells)):
            expected[row] += weight
        records = written.select(sorted(names)).to_pylist() if names else []
        assert Counter(tuple(text(value) for value in record.values()) for record in records) == expected


def check_the_release_is_of_the_kind_that_the_method_declares(
    how: Any, release: LinkedRelease, bound: Bound
) -> None:
    assert release.type == getattr(type(how), "release_type", "people")
    if release.type == "synthetic":
        assert release.notes, "what is promised of synthetic records, or that nothing is"


def check_no_identifying_attribute_is_released(how: Any, release: LinkedRelease, bound: Bound) -> None:
    identifying = set(bound[1].identifying)
    names = release.to_arrow().column_names
    assert not identifying & {*release.cells, *names}
    groups = () if release.group_of is None else (release.group_column,)
    assert tuple(names) == (*bound[1].released, *groups)


def check_no_record_is_invented(how: Any, release: LinkedRelease, bound: Bound) -> None:
    table, _ = bound
    assert release.n_original == table.n_records
    assert release.to_arrow().num_rows == release.n_records
    if release.type == "synthetic":
        assert release.origin.linked_rows is None
        assert release.n_suppressed == 0
        return
    assert release.n_records == table.n_records - release.n_suppressed
    assert ((release.kept >= 0) & (release.kept <= table.weights)).all()
    assert release.kept.sum() == release.n_records


def check_the_model_holds(how: Any, release: LinkedRelease, bound: Bound) -> None:
    model = getattr(how, "model", None)
    if model is None:
        return
    assert holds(release, model)
    everybody = bound[0].to_arrow().to_pylist()
    for part in model.parts:
        grouped = part.guards == "attribute" and release.group_of is not None
        classes = classes_by_hand(release, (release.group_column,) if grouped else bound[1].quasi_identifiers)
        assert part.keeps_limit(counted_by_hand(classes, everybody, bound[1].sensitive)).all()
        by_hand = BY_HAND.get(type(part))
        if by_hand is not None:
            assert all(by_hand(part, members, everybody, bound[1].sensitive) for members in classes)


def check_who_ignores_sensitive_values_releases_the_same_whoever_has_them(
    how: Any, release: LinkedRelease, bound: Bound
) -> None:
    model = getattr(how, "model", None)
    of_sizes = model is None or all(part.guards == "identity" for part in model.parts)
    if not (of_sizes and getattr(how, "ignores_sensitive", False)):
        return
    written, schema = bound[0].to_arrow(), Schema(bound[1].attributes)
    values = {name: written[name].to_pylist() for name in schema.sensitive}
    exchanged = written
    for name, column in values.items():
        moved = pa.array(column[1:] + column[:1], written.schema.field(name).type)
        exchanged = exchanged.set_column(written.schema.get_field_index(name), name, moved)
    before, after = (attempt((Table.from_arrow(records), schema), how) for records in (written, exchanged))
    assert (before is None) == (after is None)
    assert before is None or after is None or released_rows(before) == released_rows(after)


def released_rows(release: LinkedRelease) -> Counter[tuple[Any, ...]]:
    rows = release.to_arrow(typed=False).select(list(release.schema.quasi_identifiers)).to_pylist()
    return Counter(tuple(row.values()) for row in rows)


CHECKS = [
    check_the_recipe_survives_json_and_makes_the_same_release,
    check_arrays_are_read_only,
    check_sets_contain_the_original_values,
    check_no_value_is_below_its_lowest_level,
    check_a_group_has_the_sensitive_values_of_its_records,
    check_what_is_written_is_what_the_labels_say,
    check_the_release_is_of_the_kind_that_the_method_declares,
    check_no_identifying_attribute_is_released,
    check_no_record_is_invented,
    check_the_model_holds,
    check_who_ignores_sensitive_values_releases_the_same_whoever_has_them,
]


def classes_by_hand(release: LinkedRelease, names: tuple[str, ...]) -> list[Records]:
    classes: dict[tuple[Any, ...], Records] = {}
    for record in release.to_arrow().to_pylist():
        classes.setdefault(tuple(record[name] for name in names), []).append(record)
    return list(classes.values())


def counted_by_hand(classes: list[Records], everybody: Records, names: tuple[str, ...]) -> EquivalenceClasses:
    """Count the classes again from the written records alone, for models without an oracle here."""
    class_of = np.repeat(np.arange(len(classes)), [len(members) for members in classes])
    sensitive = {}
    for name in names:
        values = list(dict.fromkeys(record[name] for record in everybody))
        codes = np.array(
            [values.index(record[name]) for members in classes for record in members], dtype=np.int32
        )
        counts = Counter(record[name] for record in everybody)
        sensitive[name] = codes, np.array([counts[value] / len(everybody) for value in values])
    return count_classes(class_of, len(classes), np.ones(len(class_of), dtype=np.int64), sensitive)


def shares(records: Records, name: str) -> dict[Any, float]:
    counts = Counter(record[name] for record in records)
    return {value: count / len(records) for value, count in counts.items()}


def large_enough(model: KAnonymity, members: Records, everybody: Records, sensitive: tuple[str, ...]) -> bool:
    return len(members) >= model.k


def diverse(model: Any, members: Records, everybody: Records, sensitive: tuple[str, ...]) -> bool:
    return all(max(shares(members, name).values()) <= 1 / model.l + 1e-9 for name in sensitive)


def close(model: TCloseness, members: Records, everybody: Records, sensitive: tuple[str, ...]) -> bool:
    distance = {"equal": variation, "js": divergence}[model.distance]
    return all(
        distance(shares(members, name), shares(everybody, name)) <= model.t + 1e-9 for name in sensitive
    )


def variation(p: dict[Any, float], q: dict[Any, float]) -> float:
    return sum(abs(p.get(value, 0) - q.get(value, 0)) for value in p.keys() | q.keys()) / 2


def divergence(p: dict[Any, float], q: dict[Any, float]) -> float:
    middle = {value: (p.get(value, 0) + q.get(value, 0)) / 2 for value in p.keys() | q.keys()}
    return sum(
        share * math.log(share / middle[value]) / 2
        for side in (p, q)
        for value, share in side.items()
        if share
    )


BY_HAND: dict[type[Any], Callable[..., bool]] = {
    KAnonymity: large_enough,
    ProbabilisticDiversity: diverse,
    TCloseness: close,
}


@pytest.mark.parametrize("check", CHECKS)
def test_every_release_of_the_examples(check: Callable[..., None], made: Made) -> None:
    for how, release in made.releases:
        check(how, release, made.bound)


@pytest.mark.parametrize("name", SANITIZERS)
@given(data=st.data())
@settings(max_examples=40)
def test_every_release_of_a_random_table(
    name: str,
    tiny_tables: st.SearchStrategy[Bound],
    floored_tables: st.SearchStrategy[Bound],
    data: st.DataObject,
) -> None:
    bound = data.draw(tiny_tables | floored_tables)
    how = data.draw(st.sampled_from(variants(name, bound)))
    release = attempt(bound, how)
    if release is not None:
        for check in CHECKS:
            check(how, release, bound)


def test_the_inputs_are_untouched(made: Made) -> None:
    table, schema = made.bound
    assert not any(array.flags.writeable for array in (table.weights, *(table[c].codes for c in table.names)))
    assert all((table[column].codes == made.codes[column]).all() for column in table.names)
    assert (table.weights == made.weights).all()
    assert schema.fingerprint == made.shape


def test_another_seed_gives_the_rows_another_order(made: Made, hospital: Bound) -> None:
    for how, release in made.releases if made.bound is hospital else ():
        order = release.to_arrow().to_pylist()
        others = (sanitize(*hospital, how, seed=seed).to_arrow().to_pylist() for seed in range(1, 5))
        alone = release.classes.n_classes * len(hospital[1].sensitive) == 1
        assert alone or any(other != order for other in others)


@pytest.mark.parametrize("name", SANITIZERS)
def test_no_name_of_a_person_is_in_a_release(name: str) -> None:
    people = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay"]
    table = Table.from_arrow({"who": people, "age": [1, 1, 1, 2, 2, 2], "ill": list("xyzxyz")})
    schema = Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
    found = releases(name, (table, schema.with_assumed_public_part(table)))
    assert found or name in NEEDS_DATES
    for _, release in found:
        assert not set(people) & {
            value for record in release.to_arrow().to_pylist() for value in record.values()
        }


@pytest.mark.parametrize("name", SANITIZERS)
def test_the_order_of_the_written_records_tells_nothing(name: str) -> None:
    lines = list(range(8))
    town = ["2026-11-16" if name in NEEDS_DATES else "x"] * 8
    columns = {"line": lines, "age": [1, 2] * 4, "zip": town, "ill": list("abcdabcd")}
    schema = Schema.of(line="insensitive", age="quasi-identifying", zip="quasi-identifying", ill="sensitive")
    table = Table.from_arrow(columns)
    bound = schema.with_assumed_public_part(table).bind(table)
    tried = ((how, attempt(bound, how)) for how in variants(name, bound))
    working, made = next((how, release) for how, release in tried if release is not None)
    if made.type == "synthetic":
        return  # nobody's records are in nobody's place
    for how in (working, *choices(working)):
        in_place = 0
        for seed in range(30):
            release = sanitize(*bound, how, seed=seed)
            # each writing draws its order anew, so that a release is good for several
            for written in (release.to_arrow()["line"].to_pylist() for _ in range(5)):
                in_place += sum(was == now for was, now in zip(lines, written, strict=False))
        # of a shuffled list one record in the mean stays where it was; of one shuffled twice alike, two
        share = len(written) / len(lines)
        assert 0.6 * share < in_place / 150 < 1.4 * share


def test_every_sanitizer_is_tried_with_something_that_works(made: Made, hospital: Bound) -> None:
    if made.bound is hospital and made.name not in NEEDS_DATES:
        has_model = hasattr(made.releases[0][0], "model")
        assert len(made.releases) >= (3 if has_model else 1)
