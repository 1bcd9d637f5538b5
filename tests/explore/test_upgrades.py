"""After an upgrade: what changed is computed again, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import Recipe, Schema, Table
from sfumato.measures import GeneralLoss
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.results import LinkedRelease
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier, one_for_each_recipe
from sfumato.sanitizers import AsIs, Mondrian
from sfumato.searches import Lattice
from sfumato.workflow.explore import candidate_workers
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.explore.library import explore

TABLE, SCHEMA = datasets.hospital()
MEASURES = ["k-anonymity", "general-loss"]
CANDIDATES = [AsIs(), Mondrian(KAnonymity(2)), Mondrian(KAnonymity(3)), Mondrian(KAnonymity(99))]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "kept.sqlite"


@pytest.fixture(autouse=True)
def no_two_take_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every candidate take another time, so that one that is made again is told by its own."""
    times = itertools.count(1)
    monkeypatch.setattr(candidate_workers._Stopwatch, "whole", property(lambda _: float(next(times))))


def explored(store: Path, candidates: list[Any], measures: list[Any] = MEASURES) -> tuple[Frontier, Progress]:
    heard: list[Progress] = []
    found = explore(
        TABLE, SCHEMA, candidates, measures, store=store, seed=1, progress=heard.append, policy="none"
    )
    return found, heard[-1]


def seconds(found: Frontier) -> dict[str, float]:
    return {str(c.recipe): c.seconds for c in (*found.candidates, *found.infeasible)}


def again(before: Frontier, after: Frontier) -> set[str]:
    """Return what was computed again: it took another time."""
    return {recipe for recipe, taken in seconds(after).items() if seconds(before).get(recipe) != taken}


def test_without_a_change_nothing_is_computed(store: Path) -> None:
    first, _ = explored(store, CANDIDATES)
    second, state = explored(store, CANDIDATES)
    assert (again(first, second), state.total) == (set(), 0)


def test_a_new_version_of_a_sanitizer_makes_its_candidates_anew(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = explored(store, CANDIDATES, [*MEASURES, "weighted-k"])
    monkeypatch.setattr(Mondrian, "version", 2, raising=False)
    second, state = explored(store, CANDIDATES)
    assert again(first, second) == {"mondrian k=2", "mondrian k=3", "mondrian k=99"}
    assert state.known == 1
    assert {c.id for c in second.candidates} == {c.id for c in first.candidates}
    measured = {str(c.recipe): {m.measure for m in c.measurements} for c in second.candidates}
    assert measured["mondrian k=2"] == set(MEASURES), "what the earlier version had measured is gone"
    assert measured["as-is"] == {*MEASURES, "weighted-k"}
    assert explored(store, CANDIDATES)[1].total == 0, "and only once"


def test_a_new_version_of_a_model_makes_the_candidates_that_use_it_anew_and_measures_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = explored(store, CANDIDATES)
    monkeypatch.setattr(KAnonymity, "version", 2, raising=False)
    second, _ = explored(store, CANDIDATES)
    assert again(first, second) == {"as-is", "mondrian k=2", "mondrian k=3", "mondrian k=99"}


def test_a_new_version_of_a_measure_is_measured_again_and_no_other(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explored(store, CANDIDATES)
    taken: list[str] = []
    monkeypatch.setattr(GeneralLoss, "version", 99)
    for cls in (GeneralLoss, methods.look_up("measure", "weighted-k")):

        def told(self: Any, release: Any, measure: Any = cls.measure) -> Any:
            taken.append(self.name)
            return measure(self, release)

        monkeypatch.setattr(cls, "measure", told)
    _, state = explored(store, CANDIDATES)
    assert (state.done, set(taken)) == (3, {"general-loss"})
    assert explored(store, CANDIDATES)[1].total == 0


def test_a_new_version_of_a_search_searches_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    propose = Lattice.propose

    def listed(self: Lattice, *given: Any) -> Any:
        searched.append(1)
        return propose(self, *given)

    monkeypatch.setattr(Lattice, "propose", listed)
    for version, times in ((1, 1), (1, 1), (2, 2), (2, 2)):
        monkeypatch.setattr(Lattice, "version", version, raising=False)
        explored(store, [Lattice(KAnonymity(3))])
        assert len(searched) == times


def test_kept_sums_are_those_of_the_versions_of_today(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.workflow.store.store import Store

    explored(store, CANDIDATES)
    with Store(store) as opened:
        opened.keep_sums("key", 5)
    explored(store, CANDIDATES)
    with Store(store) as opened:
        assert opened.sums("key") == 5
    monkeypatch.setattr(GeneralLoss, "version", 99)
    explored(store, CANDIDATES)
    with Store(store) as opened:
        assert opened.sums("key") is None


@pytest.fixture
def upgrade() -> Iterator[Any]:
    """Register the sanitizer ``probe`` with these parameters and defaults, in the place of the one before."""

    def sanitize(self: Any, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        return AsIs().sanitize(table, schema, rng)

    def registered(**defaults: int) -> type[Any]:
        fields = {"__annotations__": dict.fromkeys(defaults, int), **defaults}
        facts = {"__module__": __name__, "__qualname__": "Probe", "sanitize": sanitize}
        return methods.register(dataclass(frozen=True)(type("Probe", (), {**fields, **facts})))

    methods.registered("sanitizer")
    yield registered
    methods._registered["sanitizer"].pop("probe", None)


def by_strength(found: Frontier) -> dict[Any, Candidate]:
    return {c.recipe.parameters.get("strength"): c for c in one_for_each_recipe(found.candidates)}


def test_a_new_parameter_with_a_default_changes_no_id_and_computes_nothing(store: Path, upgrade: Any) -> None:
    probe = upgrade(strength=1)
    first, _ = explored(store, [probe(), probe(strength=2)])
    probe = upgrade(strength=1, colour=0)
    second, state = explored(store, [probe(), probe(strength=2)])
    assert state.total == 0
    assert [c.id for c in second.candidates] == [c.id for c in first.candidates]
    third, state = explored(store, [probe(), probe(strength=2)], [*MEASURES, "weighted-k"])
    assert {len(c.measurements) for c in third.candidates} == {3}, "what was measured is kept"
    assert explored(store, [probe(colour=1)])[1].done == 1


def test_a_default_that_changes_does_not_pass_one_release_off_as_another(store: Path, upgrade: Any) -> None:
    probe = upgrade(strength=1)
    explored(store, [probe(), probe(strength=3)])
    probe = upgrade(strength=2)
    found, state = explored(store, [probe(), probe(strength=1), probe(strength=3)])
    assert (state.done, state.known) == (2, 1)
    assert by_strength(found).keys() == {1, 2, 3}
    assert len({c.id for c in one_for_each_recipe(found.candidates)}) == 3


def test_the_key_of_a_recipe_leaves_out_what_is_at_its_default() -> None:
    written = Recipe.of(Mondrian(KAnonymity(5)))
    assert written.key == Recipe("mondrian").key
    assert written.key == Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}}).key
    models = [{"t-closeness": {"t": 0.1}}, {"t-closeness": {"t": 0.1, "distance": "js"}}]
    assert len({Recipe("mondrian", {"model": model}).key for model in models}) == 2
    assert Recipe("gone", {"a": 1}).key != Recipe("gone", {"a": 2}).key
