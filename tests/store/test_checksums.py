"""Checksums: a figure that another program or a fault of the disk changed is never read as true."""

from __future__ import annotations

import random
import re
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.interfaces.cli import run
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import Measurement
from sfumato.runtime.errors import StoreError
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.explore.stored_results import source_now
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import ChangedRows, Store

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "as-is"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 5, 10] } }
[measure]
privacy = ["privacy-loss", "reidentification-risk"]
utility = ["general-loss"]
"""


def edit(path: Path, statement: str, *given: object) -> int:
    """Change a store as another program would, and return how many rows were changed."""
    with closing(sqlite3.connect(path)) as other, other:
        return other.execute(statement, given).rowcount


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store of 40 candidates; half of them are made by a second recipe as well."""
    path, chance = tmp_path / "people.sqlite", random.Random(2)
    with Store(path) as store:
        store.seed(7)
        for number in range(40):
            measured = {
                f'"{name}"': [
                    Measurement(name, chance.random(), "privacy", "lower", each, (0.1, chance.random()))
                    for each in ("illness", "income")
                ]
                for name in ("privacy-loss", "knowledge-gain", "general-loss")
            }
            every = tuple(m for each in measured.values() for m in each)
            candidate = Candidate(f"{number:010}", _recipe(number), every, seconds=chance.random())
            store.save(candidate, "source", measured, release=str(number), explored=chance.random())
            if number % 2:
                twin = Candidate(f"{number:09}b", _recipe(number + 100))
                store.save(twin, "source", {}, release=str(number))
    return path


def _recipe(k: int) -> Recipe:
    return Recipe("mondrian", {"model": {"k-anonymity": {"k": k + 2}}}, seed=7)


def read(path: Path) -> tuple[Candidate, ...]:
    with Store(path) as store:
        return store.candidates("source")


def facts(candidate: Candidate) -> set[str]:
    """Return everything that a candidate says, each statement by itself."""
    return {
        f"{candidate.id} {candidate.recipe.to_json()} {candidate.seconds} {candidate.infeasible}",
        *(f"{candidate.id} {each}" for each in map(repr, candidate.also)),
        *(f"{candidate.id} {each.to_dict()}" for each in candidate.measurements),
    }


def a_changed_digit(path: Path, chance: random.Random) -> Callable[[], object]:
    """Change one digit of one column of one row, and return what changes it back."""
    table = chance.choice(["candidate", "measurement", "measurement", "alias"])
    with closing(sqlite3.connect(path)) as other:
        other.row_factory = sqlite3.Row
        number, *_ = chance.choice(other.execute(f"select rowid from {table}").fetchall())
        row = dict(other.execute(f"select * from {table} where rowid = {number}").fetchone())
    column = chance.choice([name for name, value in row.items() if re.search(r"\d", str(value))])
    # of a stored float, the last of 17 digits may be another one and the number still the same
    written = str(row[column])[: 12 if isinstance(row[column], float) else None]
    place = chance.choice([match.start() for match in re.finditer(r"\d", written)])
    digit = str((int(written[place]) + chance.randint(1, 9)) % 10)
    changed = written[:place] + digit + written[place + 1 :]
    statement = f"update {table} set {column} = ? where rowid = {number}"
    try:
        assert edit(path, statement, changed) == 1
    except sqlite3.IntegrityError:  # two rows cannot have one key
        return a_changed_digit(path, chance)
    return lambda: edit(path, statement, row[column])


def test_of_100_changed_digits_100_are_noticed_and_none_is_read_as_true(filled: Path) -> None:
    true, chance = {each for candidate in read(filled) for each in facts(candidate)}, random.Random(5)
    for number in range(100):
        mend = a_changed_digit(filled, chance)
        with pytest.warns(ChangedRows) as warned:
            found = read(filled)
        assert len(warned) == 1, number
        assert {each for candidate in found for each in facts(candidate)} < true, number
        mend()
    assert {each for candidate in read(filled) for each in facts(candidate)} == true


def test_a_changed_row_is_named_without_what_it_holds(filled: Path) -> None:
    statement = "update measurement set facts = replace(facts, 'illness', 'SECRETVALUE') where rowid = 1"
    assert edit(filled, statement)
    with pytest.warns(ChangedRows) as warned:
        read(filled)
    assert str(warned[0].message) == (
        "people.sqlite: privacy-loss of candidate 0000000000: changed outside of sfumato, left out here; "
        "`sfumato explore` computes them again"
    )


def test_many_changed_rows_are_told_in_one_line(filled: Path) -> None:
    edit(filled, "update measurement set version = version + 1")
    with pytest.warns(ChangedRows) as warned:
        assert all(not candidate.measurements for candidate in read(filled))
    assert len(warned) == 1
    assert " and 117 more: changed" in str(warned[0].message)
    assert "\n" not in str(warned[0].message)


@pytest.mark.parametrize("key", ["candidate", "asked"])
def test_a_changed_key_may_hold_anything_and_is_not_shown(filled: Path, key: str) -> None:
    with closing(sqlite3.connect(filled)) as other, other:
        other.execute(f"update measurement set {key} = 'SECRET VALUE' where rowid = 1")
    with pytest.warns(ChangedRows) as warned:
        read(filled)
    assert "SECRET" not in str(warned[0].message)


def test_a_row_of_another_store_is_not_taken_for_its_own(filled: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "other.sqlite") as other:
        other.save(Candidate("f" * 10, _recipe(3)), "source", {})
    with closing(sqlite3.connect(filled)) as edited, edited:
        edited.execute("attach ? as other", (str(tmp_path / "other.sqlite"),))
        edited.execute("insert into candidate select * from other.candidate")
    with pytest.warns(ChangedRows, match="candidate ffffffffff"):
        assert len(read(filled)) == 40


def test_a_row_without_a_checksum_is_not_sound(filled: Path) -> None:
    edit(filled, "update measurement set checksum = null where rowid = 4")
    with pytest.warns(ChangedRows, match="privacy-loss of candidate 0000000001"):
        read(filled)


def test_a_row_that_is_written_again_has_its_checksum_as_well(tmp_path: Path) -> None:
    candidate = Candidate("f" * 10, _recipe(3))
    with Store(tmp_path / "people.sqlite") as store:
        for _ in range(3):
            store.save(candidate, "source", {})
        assert store.candidates("source") == (candidate,)
        edit(store.path, "update candidate set seconds = 900")
        with pytest.warns(ChangedRows, match="candidate ffffffffff"):
            assert store.candidates("source") == ()


def test_what_searches_and_measures_kept_is_not_taken_when_it_was_changed(tmp_path: Path) -> None:
    with Store(tmp_path / "people.sqlite") as store:
        store.keep_proposals("search", [_recipe(1), _recipe(2)])
        store.keep_sums("key", [1.5])
        store.keep_source("file", "described", "state", "source")
        assert (store.proposals("search"), store.sums("key")) == ([_recipe(1), _recipe(2)], [1.5])
        edit(store.path, "update proposal set recipes = replace(recipes, '3', '9')")
        edit(store.path, "update figure set facts = '[2.5]'")
        edit(store.path, "update reading set source = 'other'")
        assert (store.proposals("search"), store.sums("key")) == ([], None)
        assert store.source_read("file", "described", "state") is None


def test_a_changed_secret_is_refused_by_name(filled: Path) -> None:
    edit(filled, "update fact set value = replace(value, substr(value, 1, 1), 'g') where name = 'secret'")
    with pytest.raises(StoreError, match="the secret in it was changed outside of sfumato; move it away"):
        read(filled)
    edit(filled, "update fact set value = ? where name = 'secret'", "ab" * 32)
    with pytest.raises(StoreError, match="the secret in it was changed outside of sfumato; move it away"):
        read(filled)


def test_a_changed_seed_is_refused_and_no_other_one_is_drawn(filled: Path) -> None:
    edit(filled, "update fact set value = '8' where name = 'seed'")
    with Store(filled) as store, pytest.raises(StoreError, match="the seed in it was changed"):
        store.seed()


class TestProject:
    """A project that was explored, and whose store is changed afterwards."""

    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        chance = random.Random(1)
        rows = [f"{chance.randint(20, 60)},{'UKB'[n % 3]},{chance.choice('abcd')}" for n in range(120)]
        (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
        (tmp_path / "people.toml").write_text(PROJECT)
        project = Project.load(tmp_path / "people.toml")
        with Store(project.store_path) as store:
            explore(project, store, workers=1)
        return project

    @staticmethod
    def figures(project: Project) -> dict[str, list[dict[str, object]]]:
        with Store(project.store_path) as store:
            found = store.candidates(source_now(project, store))
        return {c.id: sorted((m.to_dict() for m in c.measurements), key=str) for c in found}

    @pytest.mark.parametrize(
        ("statement", "n_rows", "n_done"),
        [
            ("update measurement set facts = replace(facts, '0.', '0.9') where rowid % 3 = 0", 4, 4),
            ("update candidate set recipe = replace(recipe, '5', '6') where recipe like '%\"k\": 5%'", 1, 1),
            ("update candidate set id = 'x' || substr(id, 2)", 4, 4),
            ("update candidate set infeasible = 'too few records'", 4, 4),
            ("update candidate set source = 'other'", 4, 4),
        ],
    )
    def test_what_was_changed_is_computed_again(
        self, project: Project, statement: str, n_rows: int, n_done: int
    ) -> None:
        before = self.figures(project)
        assert edit(project.store_path, statement) == n_rows
        with Store(project.store_path) as store, pytest.warns(ChangedRows, match="computed again") as warned:
            state = explore(project, store, workers=1)
        assert len(warned) == 1
        assert state.done == n_done
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert self.figures(project) == before

    @pytest.fixture
    def changed(self, project: Project) -> tuple[str, str]:
        """Change the privacy loss of one candidate; return its id, and the figure that is not true."""
        with closing(sqlite3.connect(project.store_path)) as other, other:
            ((identity, written),) = other.execute(
                "select candidate, facts from measurement where asked like '%privacy-loss%' "
                "and candidate in (select id from candidate where recipe like '%\"k\": 5%')"
            ).fetchall()
            altered = re.sub(r'"value": [0-9.]+', '"value": 0.0123', written)
            assert altered != written
            other.execute("update measurement set facts = ? where facts = ?", (altered, written))
        return identity, "0.0123"

    @pytest.mark.filterwarnings("default::sfumato.workflow.store.store.ChangedRows")
    @pytest.mark.parametrize(
        "command",
        [
            ["frontier", "--all"],
            ["show", "ID"],
            ["ask", "min privacy-loss"],
            ["publish", "ID", "published"],
        ],
    )
    def test_no_command_shows_a_changed_figure(
        self,
        command: list[str],
        project: Project,
        changed: tuple[str, str],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        identity, figure = changed
        monkeypatch.chdir(project.path.parent)
        given = [identity if each == "ID" else each for each in command]
        assert run(given) == 0
        out, err = capsys.readouterr()
        assert figure not in out + err
        assert "1.23%" not in out + err
        (line,) = [line for line in err.splitlines() if "changed" in line]
        assert line == (
            f"sfumato: people.sqlite: privacy-loss of candidate {identity}: changed outside of sfumato, "
            "left out here; `sfumato explore` computes them again"
        )
        for place in Path("published").rglob("*"):
            assert place.is_dir() or figure.encode() not in place.read_bytes()
