"""The store's layout: files of earlier versions are brought up to date at once, later ones refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sfumato import GeneralLoss
from sfumato.errors import StoreError
from sfumato.exploring.run import explore
from sfumato.frontier import Candidate
from sfumato.project.file import Project
from sfumato.store.base import Store
from sfumato.store.layout import LAYOUT
from sfumato.store.provenance import source_of

DATA = Path(__file__).parent / "data"
PUBLISHED = {"unkeyed": "a2ee108769", "keyed": "d2a36b4163"}


@pytest.fixture(params=PUBLISHED)
def kind(request: pytest.FixtureRequest) -> str:
    """Whether the ids of the old store were plain hashes or keyed ones; both stores are real ones."""
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path, kind: str) -> Project:
    """A project with a store that an earlier version filled: five candidates, one of them published."""
    for name in ("people.csv", "people.toml"):
        shutil.copy(DATA / name, tmp_path)
    with closing(sqlite3.connect(tmp_path / "people.sqlite")) as old:
        old.executescript((DATA / f"store-{kind}.sql").read_text())
    return Project.load(tmp_path / "people.toml")


def rows(path: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


def everything(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def stored(project: Project, store: Store) -> tuple[Candidate, ...]:
    return store.candidates(source_of(*project.read()))


class TestOldStore:
    def test_keeps_every_candidate_with_all_that_was_measured(self, project: Project) -> None:
        before = rows(
            project.store_path, "select recipe, infeasible, seconds, made from candidate order by rowid"
        )
        facts = rows(project.store_path, "select facts from measurement order by rowid")
        with Store(project.store_path) as store:
            found = stored(project, store)
            assert [str(c.recipe) for c in found] == [
                "mondrian k=2",
                "full-domain k=3 t=0.5 levels={age:3,sex:1,zip:1}",
                "mondrian k=3",
                "mondrian k=5",
                "mondrian k=100",
            ]
            assert [len(c.measurements) for c in found] == [3, 3, 3, 3, 0]
        after = rows(
            project.store_path, "select recipe, infeasible, seconds, made from candidate order by rowid"
        )
        assert after == before
        assert rows(project.store_path, "select facts from measurement order by rowid") == facts

    def test_has_nothing_to_be_computed_again(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(GeneralLoss, "version", 1)  # as when the store was written
        with Store(project.store_path) as store:
            state = explore(project, store, workers=1)
        assert (state.done, state.known) == (0, 5)

    def test_has_the_names_of_today(self, project: Project) -> None:
        with Store(project.store_path) as store:
            source = source_of(*project.read())
            for candidate in stored(project, store):
                assert store.identity(candidate.recipe, source) == candidate.id

    def test_finds_what_was_published_by_the_name_that_it_had_then(self, project: Project, kind: str) -> None:
        with Store(project.store_path) as store:
            (decision,) = store.decisions()
            assert decision.candidate == PUBLISHED[kind]
            found = store.find(decision.candidate, source_of(*project.read()))
            assert str(found.recipe) == "mondrian k=3"
            assert found.id != decision.candidate

    def test_keeps_its_seed(self, project: Project) -> None:
        with Store(project.store_path) as store:
            assert store.seed() == 1

    def test_is_brought_up_to_date_once(self, project: Project) -> None:
        Store(project.store_path).close()
        once = everything(project.store_path)
        Store(project.store_path).close()
        assert everything(project.store_path) == once
        assert rows(project.store_path, "pragma user_version") == [(LAYOUT,)]

    def test_that_cannot_be_understood_is_left_as_it_was(self, project: Project) -> None:
        with closing(sqlite3.connect(project.store_path)) as old:
            old.execute("update candidate set recipe = 'SECRETVALUE' where rowid = 4")
            old.commit()
        before = everything(project.store_path)
        with pytest.raises(
            StoreError, match=r"cannot open the store people\.sqlite: what it holds"
        ) as caught:
            Store(project.store_path)
        assert "SECRET" not in str(caught.value)
        assert everything(project.store_path) == before

    def test_may_hold_candidates_and_measures_of_methods_that_are_gone(self, project: Project) -> None:
        with closing(sqlite3.connect(project.store_path)) as old:
            gone = json.dumps({"sanitizer": "gone", "parameters": {"a": 1}, "seed": 1})
            old.execute("update candidate set recipe = ? where rowid = 4", (gone,))
            old.execute("""update measurement set asked = '"gone"' where asked = '"general-loss"'""")
            old.commit()
        with Store(project.store_path) as store:
            assert stored(project, store)[3].recipe.sanitizer == "gone"
            assert '"gone"' in store.measured()[stored(project, store)[0].id]

    def test_keeps_one_of_two_candidates_that_are_the_same_today(self, project: Project) -> None:
        with closing(sqlite3.connect(project.store_path)) as old:
            (recipe, source) = old.execute("select recipe, source from candidate where rowid = 1").fetchone()
            shorter = json.loads(recipe)
            del shorter["parameters"]["variant"]
            old.execute(
                "insert into candidate values ('twin', ?, ?, null, 1.0, '')", (source, json.dumps(shorter))
            )
            old.execute("""insert into measurement values ('twin', '"general-loss"', 0, '{}')""")
            old.execute("""insert into measurement values ('twin', '"precision"', 0, '{}')""")
            old.commit()
        with Store(project.store_path) as store:
            assert len(store.measured()) == 4
        assert len(rows(project.store_path, "select id from candidate")) == 5


@pytest.mark.parametrize("kind", ["keyed"], indirect=True)
def test_a_store_of_a_later_version_is_refused_with_advice_and_left_alone(project: Project) -> None:
    Store(project.store_path).close()
    with closing(sqlite3.connect(project.store_path)) as later:
        later.execute(f"pragma user_version = {LAYOUT + 1}")
    before = everything(project.store_path)
    with pytest.raises(StoreError) as caught:
        Store(project.store_path)
    assert str(caught.value) == (
        "the store people.sqlite was written by a later version of sfumato; "
        "upgrade sfumato, or move the store away and explore again"
    )
    assert everything(project.store_path) == before


def test_a_new_store_has_the_layout_of_today(tmp_path: Path) -> None:
    Store(tmp_path / "new.sqlite").close()
    assert rows(tmp_path / "new.sqlite", "pragma user_version") == [(LAYOUT,)]


class TestStoreOfTheLayoutBefore:
    """A store that sfumato filled before it recognised equal releases and noted what methods cost."""

    @pytest.fixture
    def before(self, tmp_path: Path) -> Project:
        for name in ("people.csv", "people.toml"):
            shutil.copy(DATA / name, tmp_path)
        with closing(sqlite3.connect(tmp_path / "people.sqlite")) as old:
            old.executescript((DATA / "store-layout-1.sql").read_text())
        return Project.load(tmp_path / "people.toml")

    def test_keeps_its_candidates_and_has_nothing_to_be_computed_again(self, before: Project) -> None:
        ids = rows(before.store_path, "select id from candidate order by rowid")
        with Store(before.store_path) as store:
            found = stored(before, store)
            state = explore(before, store, workers=1)
            assert [(candidate.id,) for candidate in found] == ids
            assert [candidate.also for candidate in found] == [()] * 5
            assert store.explored_after(source_of(*before.read())) == {c.id: 0.0 for c in found}
        assert (state.done, state.known) == (0, 5)
        assert rows(before.store_path, "pragma user_version") == [(LAYOUT,)]

    def test_learns_what_is_equal_when_it_is_measured_further(self, before: Project) -> None:
        text = before.path.read_text()
        more = '[[try]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = 4 } }\n'
        before.path.write_text(text.replace("[measure]", more + "[measure]"))
        project = Project.load(before.path)
        with Store(project.store_path) as store:
            assert explore(project, store, workers=1).done == 1
            project.path.write_text(
                project.path.read_text().replace('["general-loss"]', '["general-loss", "weighted-k"]')
            )
            explore(Project.load(project.path), store, workers=1)
            found = stored(project, store)
        assert all(c.value("weighted-k") is not None for c in found if c.infeasible is None)
        assert len(found) + sum(len(c.also) for c in found) == 6
