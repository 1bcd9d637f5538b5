"""What every registered measure must do, whatever it is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import Adversary, Measurement, Scenario, User
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import build_measure
from sfumato.results.release import Release
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    FullDomain,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of

Bound = tuple[Table, Schema]
Taken = tuple[str, list[tuple[LinkedRelease, list[Measurement]]]]

MEASURES = methods.registered("measure")
NAMES = [*MEASURES, *methods.registered("model")]
# A forest in ten folds for every release of every example would show nothing more than these few miners do;
# the measures as they are by default are asked once, where they declare their facts.
FEW = ("naive-bayes", "decision-tree", "linear-regression", "regression-tree")
SCENARIO = Scenario(user=User(miners=FEW[:2]), adversary=Adversary(miners=FEW), folds=3)
LOSSES = ("general-loss", "suppression-loss", "total-loss")


def releases(bound: Bound) -> list[LinkedRelease]:
    table, schema = bound
    k = min(2, table.n_records)
    ways: list[Any] = [
        AsIs(),
        SuppressQuasiIdentifiers(),
        SuppressSensitive(),
        Mondrian(KAnonymity(k)),
        Mondrian(KAnonymity(table.n_records)),
    ]
    made = [sanitize(table, schema, how) for how in ways]
    generalized = dict.fromkeys(schema.quasi_identifiers, 1)
    if _some_class_reaches(table, schema, generalized, k):
        made.append(sanitize(table, schema, FullDomain(generalized, KAnonymity(k), suppression=1.0)))
    return made


def _some_class_reaches(table: Table, schema: Schema, levels: dict[str, int], k: int) -> bool:
    release = sanitize(table, schema, FullDomain(levels, KAnonymity(1)))
    return bool(release.classes.sizes.max() >= k)


def cheap(name: str) -> Any:
    """Return the measure, with few miners if it has a scenario."""
    cls = MEASURES.get(name)
    return cls(scenario=SCENARIO) if cls and "scenario" in methods.parameters_of(cls) else name


@pytest.fixture(scope="module")
def made(example: Bound) -> list[LinkedRelease]:
    """The releases of an example, made once: nothing in them can be changed."""
    return releases(example)


@pytest.fixture(scope="module", params=NAMES)
def taken(request: pytest.FixtureRequest, made: list[LinkedRelease]) -> Taken:
    """What a measure says of each of them the first time."""
    return request.param, [(release, measure(release, [cheap(request.param)])) for release in made]


def check_measurement(taken: Measurement, name: str, release: Release) -> None:
    assert taken.measure == name
    assert taken.axis in ("privacy", "utility")
    assert taken.better in ("lower", "higher")
    assert taken.attribute is None or taken.attribute in release.schema.sensitive
    numbers = [taken.value, taken.baseline, *(taken.interval or ()), *taken.detail.values()]
    assert not any(isinstance(number, (float, np.floating)) and math.isnan(number) for number in numbers)
    if taken.value is None:
        assert taken.detail["reason"]
    if taken.interval is not None and taken.value is not None:
        assert taken.interval[0] <= taken.interval[1]
    assert Measurement.from_dict(json.loads(json.dumps(taken.to_dict()))) == taken


def test_a_measurement_is_a_number_or_says_why_not_and_survives_json(taken: Taken) -> None:
    name, said = taken
    for release, measurements in said:
        assert measurements
        for measurement in measurements:
            check_measurement(measurement, name, release)


def test_measuring_twice_gives_the_same(taken: Taken) -> None:
    name, said = taken
    for release, measurements in said:
        assert measure(release, [cheap(name)]) == measurements


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_declares_its_facts(name: str, hospital: Bound) -> None:
    cls = MEASURES[name]
    assert cls.axis in ("privacy", "utility")
    assert cls.better in ("lower", "higher")
    assert cls.needs in ("release", "original", "records")
    assert cls().name == name
    for taken in measure(sanitize(*hospital, AsIs()), [name]):
        assert (taken.axis, taken.better) == (cls.axis, cls.better)


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_that_speaks_of_sensitive_attributes_speaks_of_each(name: str, hospital: Bound) -> None:
    table, schema = hospital
    both = Schema(tuple(a if a.name != "sex" else type(a)("sex", "sensitive") for a in schema.attributes))
    spoken_of = {taken.attribute for taken in measure(sanitize(table, both, AsIs()), [cheap(name)])}
    assert spoken_of in ({None}, {"sex", "diagnosis"})


@pytest.mark.parametrize("name", NAMES)
def test_a_release_without_sensitive_attributes_can_be_measured_or_the_reason_is_given(name: str) -> None:
    table = Table.from_arrow({"age": [1, 1, 2, 3], "sex": ["f", "f", "m", "m"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", sex="quasi-identifying"), AsIs())
    for taken in measure(release, [name]):
        check_measurement(taken, name, release)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_without_quasi_identifiers_can_be_measured_or_the_reason_is_given(name: str) -> None:
    table = Table.from_arrow({"age": [1, 1, 2, 3], "sex": ["f", "f", "m", "m"]})
    release = sanitize(table, Schema.of(age="insensitive", sex="sensitive"), AsIs())
    for taken in measure(release, [name]):
        check_measurement(taken, name, release)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_that_does_not_know_its_rows_can_be_measured_or_the_reason_is_given(
    name: str, made: list[LinkedRelease]
) -> None:
    for release in made:
        for forgetful in (with_unknown_rows(release), release.unlinked()):
            for taken in measure(forgetful, [cheap(name)]):
                check_measurement(taken, name, forgetful)


@pytest.mark.parametrize("name", [name for name in NAMES if build_measure(name).requires == "release"])
def test_what_needs_only_the_release_is_the_same_from_the_published_tables(
    name: str, made: list[LinkedRelease], example: Bound
) -> None:
    whole = [release for release in made if not release.n_suppressed]
    for release in [*whole, *exchanged(example)]:
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        for published, owned in zip(measure(seen, [name]), measure(release, [name]), strict=True):
            assert (published.attribute, published.applicable) == (owned.attribute, owned.applicable)
            if owned.applicable:
                assert published.value == pytest.approx(owned.value, abs=1e-12)
                assert_alike(published.detail, owned.detail)


def exchanged(bound: Bound) -> list[LinkedRelease]:
    """Return a release with groups, where the sensitive values suffice for two in a group."""
    try:
        return [sanitize(*bound, Anatomy(2))]
    except Infeasible:
        return []


def assert_alike(one: Any, other: Any) -> None:
    if isinstance(one, Mapping):
        assert one.keys() == other.keys()
        for key in one:
            assert_alike(one[key], other[key])
    else:
        assert one == (pytest.approx(other, abs=1e-12) if isinstance(other, float) else other)


def values(releases: list[LinkedRelease], name: str) -> list[float]:
    """Return the values of a measure for the releases that it applies to."""
    taken = [measurement for release in releases for measurement in measure(release, [name])]
    return [measurement.value for measurement in taken if measurement.value is not None]


@pytest.mark.parametrize("name", LOSSES)
@given(data=st.data())
@settings(max_examples=25)
def test_losses_are_in_their_range(
    name: str, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    assert all(0 <= value <= 1 + 1e-12 for value in values(releases(data.draw(tiny_tables)), name))


@pytest.mark.parametrize(
    "name",
    [name for name, cls in MEASURES.items() if name.endswith("-loss") and cls.axis == "utility"],
)
@given(data=st.data())
@settings(max_examples=25)
def test_publishing_as_is_loses_nothing(
    name: str, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    lost = values([sanitize(*data.draw(tiny_tables), AsIs())], name)
    # a measure of sensitive attributes speaks of each, and of none where nothing differs between people
    silent = ("utility-loss", "regression-loss", "transfer-loss", "worst-group-loss")
    assert set(lost) == {0} or (name in silent and not lost)


@pytest.mark.parametrize("name", ["general-loss", "total-loss"])
@given(data=st.data())
@settings(max_examples=25)
def test_suppressing_everything_loses_most(
    name: str, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables)
    (everything,) = values([sanitize(*bound, SuppressQuasiIdentifiers())], name)
    others = [release for release in releases(bound) if not release.n_suppressed]
    assert all(value <= everything + 1e-12 for value in values(others, name))
    schema = bound[1]
    weights = {name: schema[name].weight for name in schema.quasi_identifiers}
    one_valued = [name for name in weights if schema.hierarchy(name).n_leaves == 1]
    if sum(weights.values()) > sum(weights[name] for name in one_valued) == 0:
        assert everything == pytest.approx(1, abs=1e-12)


def test_withholding_all_quasi_identifiers_tells_an_adversary_nothing(example: Bound) -> None:
    release = sanitize(*example, SuppressQuasiIdentifiers())
    gains = ["privacy-loss", "knowledge-gain", "accuracy-gain", "information-gain", "disclosure-quotient"]
    taken: list[Any] = measure(release, gains)
    assert [measurement.value for measurement in taken] == [0.0] * len(taken)
