"""Equal releases: recognised whatever made them, measured once, one candidate with several recipes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato import Recipe, Schema, Table, sanitize
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.results.frontier import Frontier, one_for_each_recipe
from sfumato.results.linked_release import LinkedRelease, without_rows
from sfumato.results.measurement import measure
from sfumato.runtime.errors import StoreError
from sfumato.sanitizers import Anatomy, AsIs, Mondrian
from sfumato.workflow.explore import candidate_workers as workers_module
from sfumato.workflow.explore import release_fingerprint
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.explore.library import explore
from sfumato.workflow.explore.release_fingerprint import fingerprint_of
from sfumato.workflow.explore.stored_results import remade
from sfumato.workflow.store.store import Store

TABLE, SCHEMA = datasets.hospital()
BOUND, BOUND_SCHEMA = SCHEMA.bind(TABLE)
MEASURES = ["k-anonymity", "general-loss"]
SAME = [Mondrian(KAnonymity(4)), Mondrian(KAnonymity(5)), Mondrian(KAnonymity(6))]
"""On this table they all make the same release."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "kept.sqlite") as opened:
        yield opened


def source_of(store: Store) -> str:
    (source,) = store.sources()
    return source


def explored(
    store: Store, candidates: list[Any], measures: list[str] = MEASURES
) -> tuple[Frontier, Progress]:
    heard: list[Progress] = []
    found = explore(
        TABLE, SCHEMA, candidates, measures, store=store, seed=1, progress=heard.append, policy="none"
    )
    return found, heard[-1]


def reordered(release: LinkedRelease, order: Any) -> LinkedRelease:
    return replace(
        release,
        cells={name: cells.take(order) for name, cells in release.cells.items()},
        weights=release.weights[order],
        origin=release.origin.keep(order),
        group_of=None if release.group_of is None else release.group_of[order],
    )


class TestFingerprint:
    @pytest.mark.parametrize("method", [AsIs(), Mondrian(KAnonymity(3)), Anatomy(2)])
    def test_does_not_depend_on_the_order_of_the_rows(self, method: Any) -> None:
        release = sanitize(BOUND, BOUND_SCHEMA, method)
        order = np.random.default_rng(1).permutation(release.n_rows)
        assert fingerprint_of(reordered(release, order)) == fingerprint_of(release)

    @pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
    def test_does_not_depend_on_how_many_rows_are_hashed_together(
        self, monkeypatch: pytest.MonkeyPatch, at_once: int
    ) -> None:
        release = sanitize(BOUND, BOUND_SCHEMA, Mondrian(KAnonymity(3)))
        expected = fingerprint_of(release)
        monkeypatch.setattr(release_fingerprint, "_ROWS_PER_CHUNK", at_once)
        assert fingerprint_of(release) == expected
        assert fingerprint_of(reordered(release, np.arange(release.n_rows)[::-1])) == expected

    def test_does_not_depend_on_the_numbers_of_groups(self) -> None:
        release = sanitize(BOUND, BOUND_SCHEMA, Recipe.of(Anatomy(2), seed=1))
        assert release.group_of is not None
        renamed = replace(release, group_of=release.group_of.max() - release.group_of)
        assert fingerprint_of(renamed) == fingerprint_of(release)

    def test_differs_where_a_cell_a_weight_a_group_or_a_record_does(self) -> None:
        release = sanitize(BOUND, BOUND_SCHEMA, Recipe.of(Anatomy(2), seed=1))
        assert release.group_of is not None
        others = [
            sanitize(BOUND, BOUND_SCHEMA, AsIs()),
            sanitize(BOUND, BOUND_SCHEMA, Mondrian(KAnonymity(2))),
            replace(release, weights=release.weights + 1),
            replace(release, group_of=np.roll(release.group_of, 1)),
            replace(release, form="one-table"),
            without_rows(release, np.arange(release.n_rows) == 0),
        ]
        found = {fingerprint_of(each) for each in (release, *others)}
        assert len(found) == 1 + len(others)

    def test_of_another_role_is_another(self) -> None:
        roles = {a.name: a for a in SCHEMA.attributes}
        name = SCHEMA.quasi_identifiers[0]
        other = Schema(tuple(replace(a, role="insensitive") if a.name == name else a for a in roles.values()))
        first, second = (sanitize(*schema.bind(TABLE)[:2], AsIs()) for schema in (SCHEMA, other))
        assert fingerprint_of(first) != fingerprint_of(second)


class TestStored:
    def test_are_one_candidate_with_all_its_recipes(self, store: Store) -> None:
        found, state = explored(store, [*SAME, AsIs()])
        assert len(found.candidates) == 2
        assert (state.done, state.equal) == (4, 2)
        (one,) = [c for c in found.candidates if c.also]
        assert {str(way.recipe) for way in one.ways} == {"mondrian k=4", "mondrian k=5", "mondrian k=6"}

    def test_have_the_measurements_that_each_would_have_alone(self, store: Store) -> None:
        found, _ = explored(store, list(SAME))
        for candidate in one_for_each_recipe(found.candidates):
            alone = explore(TABLE, SCHEMA, [candidate.recipe], MEASURES, seed=1, policy="none")
            assert alone.candidates[0].measurements == candidate.measurements

    def test_are_measured_once(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        taken: list[str] = []

        def counted(release: LinkedRelease, measures: Any) -> Any:
            taken.append(str(release.recipe))
            return measure(release, measures)

        monkeypatch.setattr(workers_module, "measure", counted)
        explored(store, list(SAME))
        assert len(taken) == len(MEASURES)

    def test_are_not_made_again_by_a_second_run(self, store: Store) -> None:
        explored(store, list(SAME))
        _, state = explored(store, list(SAME))
        assert (state.done, state.known) == (0, 3)

    def test_are_measured_further_once(self, store: Store) -> None:
        explored(store, list(SAME))
        found, state = explored(store, list(SAME), [*MEASURES, "weighted-k"])
        assert state.done == 1
        assert found.candidates[0].value("weighted-k") is not None
        assert explored(store, list(SAME), [*MEASURES, "weighted-k"])[1].done == 0

    def test_are_measured_further_when_only_another_recipe_is_still_tried(self, store: Store) -> None:
        found, _ = explored(store, list(SAME))
        alias = found.candidates[0].also[0].recipe
        again, state = explored(store, [alias], [*MEASURES, "weighted-k"])
        assert state.done == 1
        assert len(again.candidates) == 1
        assert again.candidates[0].value("weighted-k") is not None

    def test_are_found_by_the_id_of_any_recipe(self, store: Store) -> None:
        found, _ = explored(store, list(SAME))
        (one,) = found.candidates
        for way in one.ways:
            assert store.find(way.id, source_of(store)).id == one.id
        release = remade(store.find(one.also[0].id, source_of(store)), BOUND, BOUND_SCHEMA)
        assert fingerprint_of(release) == fingerprint_of(sanitize(BOUND, BOUND_SCHEMA, one.also[0].recipe))

    def test_show_nothing_of_the_release_in_the_store(self, store: Store) -> None:
        explored(store, list(SAME))
        kept = store._connection.execute("select release from candidate").fetchall()
        plain = fingerprint_of(sanitize(BOUND, BOUND_SCHEMA, SAME[0]))
        assert kept
        assert plain not in {release for (release,) in kept}

    def test_are_heard_of_by_who_reads_only_what_is_new(self, store: Store) -> None:
        explored(store, SAME[:1])
        mark = store.mark()
        explored(store, list(SAME))
        (one,) = store.candidates(source_of(store), since=mark)
        assert len(one.also) == 2


@dataclass(frozen=True)
class Shifting:
    """Release everything; the second version leaves out as many rows as it is told."""

    dropped: int = 0

    version: ClassVar[int] = 1

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        release = AsIs().sanitize(table, schema, rng)
        return without_rows(release, np.arange(release.n_rows) < (self.version - 1) * self.dropped)


@pytest.fixture
def shifting() -> Iterator[None]:
    methods.registered("sanitizer")
    methods.register(Shifting)
    yield
    methods._registered["sanitizer"].pop("shifting")


@pytest.mark.usefixtures("shifting")
def test_a_new_version_that_makes_them_different_parts_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates = [Shifting(1), Shifting(2), Shifting(3)]
    assert len(explored(store, candidates)[0].candidates) == 1
    monkeypatch.setattr(Shifting, "version", 2)
    found, _ = explored(store, candidates)
    assert len(found.candidates) == 3
    assert not any(candidate.also for candidate in found.candidates)


def test_an_id_that_nobody_has_is_refused(store: Store) -> None:
    explored(store, list(SAME))
    with pytest.raises(StoreError, match="no candidate with an id beginning 'zzz'"):
        store.find("zzz", source_of(store))
