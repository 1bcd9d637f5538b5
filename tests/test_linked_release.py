"""A release is what would be published; its owner's link to the original is an object of its own."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Intervals, Schema, datasets, sanitize
from sfumato.data.table import Column, Table
from sfumato.models import KAnonymity
from sfumato.registry.recipe import Recipe
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, link, linked, origin_of, without_rows
from sfumato.results.measurement import measure
from sfumato.results.origin import Earlier, Origin, PersonNames
from sfumato.results.release import Release
from sfumato.sanitizers import MST, Anatomy, Mondrian, Sanitizer
from sfumato.workflow.explore import candidate_workers
from sfumato.workflow.explore.original_workers import done_by_worker

HELD = {"origin", "original", "rows", "linked_rows", "earlier", "person_names"}
SECRET = "secret"

PEOPLE = Table.from_arrow(
    {
        "person": ["ann", "bob", "cem", "dag", "eva", "fay", "ann", "gus"],
        "weight": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "home": [1, 1, 2, 2, 3, 3, 1, 4],
        "age": [20, 21, 22, 30, 31, 32, 20, 97],
        "ill": ["flu", "gout", "flu", "gout", "flu", "gout", "gout", SECRET],
    }
)
SCHEMA = Schema(
    (
        Attribute("person", "identifying"),
        Attribute("age", "quasi-identifying", "numeric", Intervals((10, 50))),
        Attribute("ill", "sensitive"),
    ),
    person="person",
    survey_weight="weight",
    household="home",
)

METHODS: list[Sanitizer] = [Mondrian(KAnonymity(3)), Anatomy(2), MST(1.0)]


def _linked(how: Sanitizer = METHODS[0]) -> LinkedRelease:
    """Make a release with everything that an owner can know, and let it cache what it computes."""
    schema = SCHEMA if not isinstance(how, MST) else Schema(SCHEMA.attributes)
    table = PEOPLE if not isinstance(how, MST) else PEOPLE.select([a.name for a in SCHEMA.attributes])
    if isinstance(how, MST):
        schema = schema.with_assumed_public_part(table)
    earlier = sanitize(table, schema, how, seed=2)
    release = sanitize(table, schema, how, seed=1).with_earlier(earlier)
    measure(
        release, ["k-anonymity", "privacy-loss", "reidentification-risk", "utility-loss", "composition-k"]
    )
    _ = release.classes, release.groups, release.people, release.survey_weights, release.n_people
    return release


def _reachable(start: object) -> Iterator[Any]:
    """Yield every object that can be reached from one, apart from code."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (type, ModuleType, FunctionType, BuiltinFunctionType)):
            continue
        seen.add(id(thing))
        yield thing
        # the collector does not follow the memory that an array is a view of
        waiting += [thing.base] if isinstance(thing, np.ndarray) else gc.get_referents(thing)


def _tells_of_original(release: Release, owned: LinkedRelease) -> list[str]:
    """Name everything that a release reaches and only its owner may have."""
    private = (LinkedRelease, Origin, Earlier, PersonNames, Table, Column)
    # the weights of a row are published, and a release may have those of the table
    memory = [
        array
        for array in _reachable(owned.origin)
        if isinstance(array, np.ndarray) and array is not owned.weights and array.size
    ]
    told = []
    for thing in _reachable(release):
        if isinstance(thing, private):
            told.append(type(thing).__name__)
        if isinstance(thing, np.ndarray) and any(np.may_share_memory(thing, array) for array in memory):
            told.append(f"memory of the original: {thing[:3]}")
    return told


def test_a_release_has_no_field_for_the_original() -> None:
    assert not HELD & {field.name for field in fields(Release)}


def test_the_walk_finds_the_original_of_an_owner() -> None:
    release = _linked()
    assert {"Origin", "Table", "Column"} <= set(_tells_of_original(release, release))


@pytest.mark.parametrize("how", METHODS, ids=lambda how: type(how).__name__)
@pytest.mark.parametrize(
    "given_away",
    [
        LinkedRelease.published,
        LinkedRelease.unlinked,
        copy.copy,
        copy.deepcopy,
        lambda release: pickle.loads(pickle.dumps(release)),
    ],
    ids=["published", "unlinked", "copied", "deeply copied", "pickled"],
)
def test_nobody_but_the_owner_can_reach_the_original(
    given_away: Callable[[LinkedRelease], Release], how: Sanitizer
) -> None:
    owned = _linked(how)
    release = given_away(owned)
    assert type(release) is Release
    assert _tells_of_original(release, owned) == []
    # nor do figures that were computed from it come along
    assert set(release.__dict__) == {field.name for field in fields(Release)}
    assert release.to_arrow().num_rows == owned.n_records
    assert release.people is None
    assert release.survey_weights is None


def test_a_pickle_does_not_hold_the_names_of_people_or_anything_that_is_only_in_the_original() -> None:
    written = pickle.dumps(_linked())
    assert not any(f"{name}".encode() in written for name in ("ann", "gus"))


@pytest.mark.parametrize("how", METHODS[:2], ids=lambda how: type(how).__name__)
def test_what_is_published_holds_no_original_value_that_is_suppressed_or_generalized(how: Sanitizer) -> None:
    release = _linked(how)
    ill = release.cells["ill"]
    kept = without_rows(release, ill.codes == ill.labels.index(SECRET))
    published = kept.published()
    assert SECRET.encode() not in pickle.dumps(published)
    assert all(cells.domain == () and cells.sets is None for cells in published.cells.values())
    assert all(attribute.hierarchy is None for attribute in published.schema.attributes)
    assert published.schema.given is None


def test_the_seed_stays_with_the_owner() -> None:
    release = _linked()
    published = release.published()
    assert release.recipe is not None
    assert published.recipe is not None
    assert (release.recipe.seed, published.recipe.seed) == (1, None)
    assert published.recipe.parameters == release.recipe.parameters


def test_readers_get_the_noisy_number_of_original_records() -> None:
    release = _linked(METHODS[2])
    assert release.reported_original is not None
    assert release.published().n_original == release.reported_original


def test_what_a_sanitizer_returns_is_linked_to_the_original() -> None:
    release = sanitize(*datasets.hospital(), METHODS[0], seed=1)
    table, _ = datasets.hospital()
    assert release.origin.table.n_records == table.n_records
    assert len(release.origin.rows) == release.n_rows


def test_an_unlinked_release_refuses_what_needs_the_original() -> None:
    release = sanitize(*datasets.hospital(), METHODS[0], seed=1).unlinked()
    for needs_original in (origin_of, linked):
        with pytest.raises(NotApplicable, match="read from files alone"):
            needs_original(release)
    (loss,) = measure(release, ["query-error"])
    assert not loss.applicable


def test_a_link_can_be_taken_off_and_put_back() -> None:
    release = _linked()
    again = link(release.unlinked(), release.origin)
    assert np.array_equal(again.kept, release.kept)
    assert again.n_original_people == release.n_original_people == 7


def test_a_worker_sends_back_no_original_and_the_release_is_linked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[Any] = []

    def noted(*work: Any) -> Any:
        sent.append(done_by_worker(*work))
        return sent[-1]

    monkeypatch.setattr(candidate_workers, "uses_plugin", lambda *_: True)
    monkeypatch.setattr(candidate_workers, "done_by_worker", noted)
    recipe, asked = Recipe.of(METHODS[0], seed=1), ["k-anonymity", "query-error"]
    release, measurements = candidate_workers.made_and_measured(PEOPLE, SCHEMA, recipe, asked)
    ((received, _, _),) = sent
    assert type(received) is Release
    here = sanitize(PEOPLE, SCHEMA, recipe)
    assert release.origin.table.fingerprint == here.origin.table.fingerprint
    assert release.origin.rows.tolist() == here.origin.rows.tolist()
    assert [m.value for m in measure(release, asked)] == [m.value for m in measurements]
