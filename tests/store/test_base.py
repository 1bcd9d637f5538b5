"""The store: what is written stays, nobody else reads it, and it holds no record's value."""

from __future__ import annotations

import math
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.measurement import Measurement
from sfumato.runtime.errors import StoreError
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import ChangedRows, Store

SECRET = "SECRETVALUE"
NUMBER = 987654321
NOBODY = 65534

LOSS = Measurement("general-loss", 0.25, "utility", "lower", detail={"per": {"age": 0.5}})
RISK = Measurement(
    "privacy-loss",
    0.5,
    "privacy",
    "lower",
    "diagnosis",
    interval=(0.4, math.inf),
    baseline=0.1,
    detail={"mean": 0.2},
)
INFINITE = Measurement(
    "delta-disclosure", math.inf, "privacy", "lower", "diagnosis", detail={"worst": math.inf}
)
UNFIT = Measurement("precision", None, "utility", "higher", detail={"reason": "noise has no hierarchy"})
TAKEN = {"general-loss": [LOSS], "privacy-loss": [RISK], "delta-disclosure": [INFINITE], "precision": [UNFIT]}


def made(identity: str, *measurements: Measurement, k: int = 5, infeasible: str | None = None) -> Candidate:
    recipe = Recipe("mondrian", {"model": {"k-anonymity": {"k": k}}}, seed=2**62 + 1)
    return Candidate(identity, recipe, measurements, infeasible, seconds=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


def reopened(store: Store) -> Store:
    store.close()
    return Store(store.path)


def read_everything(path: Path) -> None:
    with Store(path) as store:
        store.candidates("source")
        store.measured()
        store.infeasible()
        store.seed()
        store.decisions()


def one_line(caught: pytest.ExceptionInfo[StoreError], path: Path) -> str:
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert str(path.parent) not in message
    return message


@contextmanager
def without_permission(folder: Path) -> Iterator[None]:
    """Let this process write to a folder no more; the superuser must become somebody else for that."""
    folder.chmod(0o500)
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)
        folder.chmod(0o700)


class TestCandidates:
    def test_survive_closing_and_reopening(self, store: Store) -> None:
        candidate = made("a1", LOSS, RISK, INFINITE, UNFIT)
        store.save(candidate, "source", TAKEN)
        with reopened(store) as again:
            assert again.candidates("source") == (candidate,)

    def test_keep_infinity_and_what_does_not_apply(self, store: Store) -> None:
        store.save(made("a1"), "source", {"delta-disclosure": [INFINITE], "precision": [UNFIT]})
        with reopened(store) as again:
            infinite, unfit = again.candidates("source")[0].measurements
        assert infinite.value == math.inf
        assert infinite.detail == {"worst": math.inf}
        assert unfit.value is None
        assert not unfit.applicable
        assert unfit.detail["reason"] == "noise has no hierarchy"

    def test_saved_twice_keep_the_measurements_of_both_times(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        store.save(made("a1", RISK), "source", {"privacy-loss": [RISK]})
        (candidate,) = store.candidates("source")
        assert candidate.measurements == (LOSS, RISK)
        assert store.measured() == {"a1": {"general-loss", "privacy-loss"}}

    def test_measured_again_have_the_new_value_once(self, store: Store) -> None:
        again = Measurement("general-loss", 0.75, "utility", "lower")
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        store.save(made("a1", again), "source", {"general-loss": [again]})
        assert store.candidates("source")[0].measurements == (again,)

    def test_keep_one_measurement_for_each_sensitive_attribute(self, store: Store) -> None:
        both = [
            Measurement("privacy-loss", v, "privacy", "lower", name) for v, name in ((0.1, "a"), (0.2, "b"))
        ]
        store.save(made("a1", *both), "source", {"privacy-loss": both})
        assert store.candidates("source")[0].measurements == tuple(both)

    def test_come_in_the_order_of_making(self, store: Store) -> None:
        for identity in ("c3", "a1", "b2"):
            store.save(made(identity), "source", {})
        store.save(made("c3", LOSS), "source", {"general-loss": [LOSS]})
        assert [c.id for c in store.candidates("source")] == ["c3", "a1", "b2"]

    def test_of_another_source_are_not_shown(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        store.save(made("b2", RISK), "other", {"privacy-loss": [RISK]})
        assert [c.id for c in store.candidates("source")] == ["a1"]
        assert [c.id for c in store.candidates("other")] == ["b2"]
        assert store.candidates("third") == ()

    def test_that_could_not_be_made_keep_the_reason(self, store: Store) -> None:
        store.save(made("a1", infeasible="too few records"), "source", {})
        store.save(made("b2"), "source", {})
        with reopened(store) as again:
            assert again.infeasible() == {"a1"}
            assert [c.infeasible for c in again.candidates("source")] == ["too few records", None]

    def test_are_in_the_file_as_soon_as_they_are_saved(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        with Store(store.path) as reader:
            assert reader.candidates("source") == store.candidates("source")


class TestFind:
    @pytest.fixture(autouse=True)
    def _filled(self, store: Store) -> None:
        for identity in ("3f9a0000", "3f9b0000", "77777777"):
            store.save(made(identity), "source", {})
        store.save(made("88888888"), "other", {})

    @pytest.mark.parametrize("prefix", ["7", "77777777", "3f9a"])
    def test_takes_the_only_one_that_begins_so(self, store: Store, prefix: str) -> None:
        assert store.find(prefix, "source").id.startswith(prefix)

    @pytest.mark.parametrize(
        ("prefix", "problem"),
        [
            ("5", "no candidate with an id beginning '5'"),
            ("3f9", "2 candidates with an id beginning '3f9'"),
            ("", "3 candidates with an id beginning ''"),
            ("777777777", "no candidate"),
            ("%", "no candidate"),
        ],
    )
    def test_refuses_none_and_several(self, store: Store, prefix: str, problem: str) -> None:
        with pytest.raises(StoreError) as caught:
            store.find(prefix, "source")
        assert str(caught.value).startswith(problem)
        assert "`sfumato frontier --all` lists them" in str(caught.value)

    def test_says_when_it_was_made_from_other_data(self, store: Store) -> None:
        with pytest.raises(StoreError, match="candidate 88888888 was made from other data") as caught:
            store.find("8", "source")
        assert "run `sfumato explore`" in str(caught.value)


class TestSeed:
    def test_is_drawn_once_and_kept(self, store: Store) -> None:
        seed = store.seed()
        assert store.seed() == seed
        with reopened(store) as again:
            assert again.seed() == seed

    def test_differs_between_stores(self, tmp_path: Path) -> None:
        seeds = set()
        for name in "abcd":
            with Store(tmp_path / f"{name}.sqlite") as store:
                seeds.add(store.seed())
        assert len(seeds) == 4

    @pytest.mark.parametrize("wanted", [0, 7, 2**63, 2**80])
    def test_may_be_given_and_is_then_kept(self, store: Store, wanted: int) -> None:
        assert store.seed(wanted) == wanted
        with reopened(store) as again:
            assert again.seed() == again.seed(wanted) == wanted

    def test_that_contradicts_is_refused_without_telling_the_kept_one(self, store: Store) -> None:
        store.seed(123456789)
        with pytest.raises(StoreError) as caught:
            store.seed(5)
        message = one_line(caught, store.path)
        assert "another seed" in message
        assert "123456789" not in message
        assert store.seed() == 123456789


class TestDecisions:
    def test_are_kept_in_order(self, store: Store) -> None:
        first = Decision(
            "3f9a", "the knee", "A. Steward", "2026-01-01T00:00:00+00:00", ("k-anonymity at least 5",)
        )
        second = Decision("77ab")
        store.record(first, "published")
        store.record(second, "published again")
        with reopened(store) as again:
            assert again.decisions() == [first, second]
            assert again.folders() == ["published", "published again"]


class TestFile:
    def test_is_for_the_owner_alone(self, store: Store) -> None:
        store.seed()
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        files = [file for file in store.path.parent.iterdir() if file.stat().st_size]
        assert store.path in files
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}

    def test_stands_alone_once_it_is_closed(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        store.close()
        assert os.listdir(store.path.parent) == [store.path.name]

    def test_that_is_missing_is_not_made_by_a_reader(self, path: Path) -> None:
        with pytest.raises(StoreError) as caught:
            Store(path, create=False)
        assert "run `sfumato explore` first" in one_line(caught, path)
        assert not path.exists()

    def test_that_is_empty_is_a_new_store(self, path: Path) -> None:
        path.touch()
        with Store(path, create=False) as store:
            assert store.candidates("source") == ()

    @given(st.binary(min_size=1, max_size=5000))
    @settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_of_random_bytes_is_refused_and_left_alone(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "move it away or mend it" in one_line(caught, path)
        assert path.read_bytes() == content

    @pytest.mark.parametrize("part", range(8))
    def test_that_is_damaged_inside_is_refused_in_one_line(self, store: Store, part: int) -> None:
        for place in range(60):
            store.save(made(f"{place:08}", LOSS, RISK, k=place + 1), "source", TAKEN)
        store.seed()
        store.close()
        content = bytearray(store.path.read_bytes())
        step = (len(content) - 100) // 8
        begin = 100 + part * step
        content[begin : begin + step] = random.Random(part).randbytes(step)
        store.path.write_bytes(content)
        with pytest.raises(StoreError) as caught:
            read_everything(store.path)
        assert "the store" in one_line(caught, store.path)

    @pytest.mark.parametrize(
        "change",
        [
            "update measurement set facts = '{'",
            "update measurement set facts = '{}'",
            "update measurement set facts = '5'",
            "update candidate set recipe = 'SECRETVALUE'",
            "update candidate set recipe = cast(x'ff5345435245545641' as text)",
        ],
    )
    def test_with_changed_content_is_read_without_it(self, store: Store, change: str) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        with closing(sqlite3.connect(store.path)) as other, other:
            other.execute(change)
        with pytest.warns(ChangedRows) as warned:
            found = store.candidates("source")
        assert [each.measurements for each in found] == ([()] if "measurement" in change else [])
        assert "SECRET" not in str(warned[0].message)

    def test_without_one_of_its_tables_is_refused(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        with closing(sqlite3.connect(store.path)) as other, other:
            other.execute("drop table measurement")
        with pytest.raises(StoreError, match="cannot read the store"):
            store.candidates("source")

    def test_with_a_changed_seed_or_decision_is_refused(self, store: Store) -> None:
        store.seed()
        store.record(Decision("a1"), "published")
        other = sqlite3.connect(store.path)
        other.execute("update fact set value = 'x'")
        other.execute("update decision set facts = '{\"colour\": 5}'")
        other.commit()
        other.close()
        for read in (store.seed, store.decisions):
            with pytest.raises(StoreError, match="cannot read the store"):
                read()

    def test_of_another_program_is_refused(self, path: Path) -> None:
        other = sqlite3.connect(path)
        other.execute("create table candidate (name text)")
        other.commit()
        other.close()
        with pytest.raises(StoreError, match="cannot open the store"):
            Store(path)
        other = sqlite3.connect(path)
        assert other.execute("select name from sqlite_master").fetchall() == [("candidate",)], "left alone"
        other.close()

    def test_of_another_program_with_tables_of_its_own_is_refused_and_left_alone(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("create table customer (name text)")
            other.commit()
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "it belongs to another program" in one_line(caught, path)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("select name from sqlite_master").fetchall() == [("customer",)]

    @pytest.mark.filterwarnings("ignore::sfumato.workflow.store.store.ChangedRows")
    @pytest.mark.parametrize("trial", range(40))
    def test_with_flipped_bits_or_cut_off_is_read_or_refused_in_one_line(
        self, store: Store, trial: int
    ) -> None:
        for place in range(20):
            store.save(made(f"{place:08}", LOSS, RISK, k=place + 1), "source", TAKEN)
        store.seed()
        store.close()
        chance, content = random.Random(trial), bytearray(store.path.read_bytes())
        for _ in range(1 if trial % 2 else 40):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        store.path.write_bytes(content[: chance.randrange(len(content))] if trial % 4 == 0 else content)
        said = ""
        try:
            with Store(store.path) as opened:
                found = opened.candidates("source")
                # whatever is read is what was stored
                every = [m for each in TAKEN.values() for m in each]
                assert all(m in every for each in found for m in each.measurements)
                opened.find("00000003", "source")
                opened.save(made("b2", LOSS), "source", {"general-loss": [LOSS]})
        except StoreError as error:
            said = str(error)
        assert "\n" not in said
        assert not said or "; " in said, "the remedy is named"

    def test_whose_own_description_is_no_text_is_refused(self, store: Store) -> None:
        store.seed()
        store.close()
        content = store.path.read_bytes()
        store.path.write_bytes(content.replace(b"candidate (\n", b"candidat\xef (\n"))
        with pytest.raises(StoreError) as caught:
            Store(store.path)
        assert "move it away or mend it" in one_line(caught, store.path)

    def test_that_somebody_else_writes_to_is_waited_for_and_then_told(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        store._connection.execute("pragma busy_timeout = 50")
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            other.execute("begin immediate")
            with pytest.raises(StoreError) as caught:
                store.save(made("b2", LOSS), "source", {"general-loss": [LOSS]})
        assert one_line(caught, store.path) == (
            "cannot write the store people.sqlite: database is locked; another program holds it; "
            "wait for it or end it; nothing stored was lost"
        )
        assert [c.id for c in store.candidates("source")] == ["a1"]

    @pytest.mark.parametrize("target", ["missing", "empty", "missing/missing"])
    def test_is_not_created_through_a_link(self, path: Path, tmp_path: Path, target: str) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "empty").touch()
        path.symlink_to(elsewhere / target)
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "there is a link in its place; remove it" in one_line(caught, path)
        assert [(place.name, place.stat().st_size) for place in elsewhere.iterdir()] == [("empty", 0)]

    def test_that_exists_is_reached_through_a_link(self, store: Store, tmp_path: Path) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        (tmp_path / "link.sqlite").symlink_to(store.path)
        with Store(tmp_path / "link.sqlite") as linked:
            assert linked.candidates("source") == store.candidates("source")

    @pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
    def test_beside_which_a_link_lies_in_the_place_of_sqlite_s_own_files_is_refused(
        self, path: Path, tmp_path: Path, end: str
    ) -> None:
        (tmp_path / "victim").write_text("kept")
        Path(f"{path}{end}").symlink_to(tmp_path / "victim")
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert f"people.sqlite{end} is a link" in one_line(caught, path)
        assert (tmp_path / "victim").read_text() == "kept"

    def test_whose_lock_is_a_link_is_refused(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / ".people.sqlite.lock").symlink_to(tmp_path / "made")
        with pytest.raises(StoreError, match="is a link; remove it"), store.exclusive():
            pass
        assert not (tmp_path / "made").exists()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
    def test_in_the_place_of_a_pipe_is_refused(self, path: Path) -> None:
        os.mkfifo(path)
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "it is not a regular file" in one_line(caught, path)

    def test_in_a_missing_folder_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "missing" / "people.sqlite"
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "No such file" in one_line(caught, path)

    def test_that_only_lacks_a_place_to_write_is_not_called_damaged(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connect = sqlite3.connect

        def read_only(place: Path, **given: object) -> sqlite3.Connection:
            connection = connect(place, **given)  # type: ignore[call-overload]
            connection.execute("pragma query_only = on")
            return connection

        path.touch()
        monkeypatch.setattr(sqlite3, "connect", read_only)
        with pytest.raises(StoreError) as caught:
            Store(path, create=False)
        assert "it is not damaged" in one_line(caught, path)

    def test_in_the_place_of_a_folder_is_refused(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(StoreError) as caught:
            Store(path)
        assert "cannot open the store" in one_line(caught, path)

    def test_in_a_folder_without_permission_is_refused(self, path: Path) -> None:
        with without_permission(path.parent), pytest.raises(StoreError) as caught:
            Store(path)
        assert "Permission denied" in one_line(caught, path)
        assert not path.exists()


class TestFullDisk:
    @staticmethod
    def fill(store: Store) -> None:
        pages = store._connection.execute("pragma page_count").fetchone()[0]
        store._connection.execute(f"pragma max_page_count = {pages}")

    def test_is_said_in_one_line_and_loses_nothing(self, store: Store) -> None:
        store.save(made("a1", LOSS), "source", {"general-loss": [LOSS]})
        self.fill(store)
        large = Measurement("privacy-loss", 0.5, "privacy", "lower", detail={"note": "x" * 100_000})
        with pytest.raises(StoreError) as caught:
            store.save(made("b2", large), "source", {"privacy-loss": [large]})
        assert one_line(caught, store.path) == (
            "cannot write the store people.sqlite: database or disk is full; "
            "make room on the disk, or let the folder be written; nothing stored was lost"
        )
        assert [c.id for c in store.candidates("source")] == ["a1"]
        with reopened(store) as again:
            assert [c.id for c in again.candidates("source")] == ["a1"]
            again.save(made("b2", large), "source", {"privacy-loss": [large]})
            assert len(again.candidates("source")) == 2

    def test_loses_no_decision_and_no_seed_half(self, store: Store) -> None:
        seed = store.seed()
        self.fill(store)
        with pytest.raises(StoreError):
            store.record(Decision("a1", why="x" * 100_000), "published")
        assert store.decisions() == []
        assert store.seed() == seed


class TestExclusive:
    HOLD = (
        "import sys; from pathlib import Path; from sfumato.workflow.store.store import Store\n"
        "with Store(Path(sys.argv[1])) as store, store.exclusive():\n"
        "    print('held', flush=True); sys.stdin.read()"
    )

    def test_a_second_holder_is_refused_at_once(self, store: Store) -> None:
        with store.exclusive(), Store(store.path) as second:
            with pytest.raises(StoreError) as caught, second.exclusive():
                pass
            assert "another `sfumato explore` is at work" in one_line(caught, store.path)
        with second.exclusive():
            pass

    def test_is_given_back_after_an_error(self, store: Store) -> None:
        with pytest.raises(KeyboardInterrupt), store.exclusive():
            raise KeyboardInterrupt
        with store.exclusive():
            pass

    def test_does_not_keep_others_from_reading(self, store: Store) -> None:
        store.save(made("a1"), "source", {})
        with store.exclusive(), Store(store.path, create=False) as reader:
            assert len(reader.candidates("source")) == 1

    def test_is_lifted_when_the_holder_is_killed(self, store: Store) -> None:
        command = [sys.executable, "-c", self.HOLD, str(store.path)]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(StoreError, match="at work"), store.exclusive():
                pass
            holder.send_signal(signal.SIGKILL)
        with store.exclusive():
            pass

    def test_says_so_when_the_lock_cannot_be_taken_for_another_reason(self, store: Store) -> None:
        place = store.path.with_name(f".{store.path.name}.lock")
        place.write_bytes(b"this is not a database" * 100)
        with pytest.raises(StoreError) as caught, store.exclusive():
            pass
        assert "at work" not in one_line(caught, store.path)
        assert f"cannot lock the store people.sqlite by {place.name}" in str(caught.value)

    def test_on_a_full_disk_asks_for_room_and_not_for_a_file_to_be_removed(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorname, full.sqlite_errorcode = "SQLITE_FULL", sqlite3.SQLITE_FULL

        def refuse(*_: object, **__: object) -> None:
            raise full

        monkeypatch.setattr(sqlite3, "connect", refuse)
        with pytest.raises(StoreError) as caught, store.exclusive():
            pass
        said = one_line(caught, store.path)
        assert "make room on the disk" in said
        assert "remove" not in said

    def test_in_a_folder_without_permission_is_refused(self, store: Store) -> None:
        with without_permission(store.path.parent), pytest.raises(StoreError) as caught, store.exclusive():
            pass
        assert "cannot lock the store" in one_line(caught, store.path)


def test_holds_no_value_of_any_record(tmp_path: Path) -> None:
    rows = [f"{SECRET}-name-{n},{NUMBER + n},{SECRET}-zip-{n % 4},{SECRET}-ill-{n % 3}" for n in range(24)]
    (tmp_path / "people.csv").write_text("name,age,zip,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "zip.csv").write_text(
        "".join(f"{SECRET}-zip-{n};{SECRET}-area-{n % 2};*\n" for n in range(4))
    )
    (tmp_path / "people.toml").write_text(
        """
        data.path = "people.csv"
        attributes.name.role = "identifying"
        attributes.age = { role = "quasi-identifying", kind = "numeric", hierarchy = { intervals = [10] } }
        attributes.zip = { role = "quasi-identifying", hierarchy = { csv = "zip.csv" } }
        attributes.ill.role = "sensitive"
        policy.reidentification-risk = { at-most = 0.5 }
        [[candidates]]
        sanitizer = "as-is"
        [[candidates]]
        sanitizer = "mondrian"
        model = { k-anonymity = { k = [2, 5, 100] }, probabilistic-diversity = { l = [1, 2, 50] } }
        [[candidates]]
        sanitizer = "full-domain"
        levels = { age = [0, 1, 2], zip = [0, 1, 2] }
        model = { k-anonymity = { k = 3 } }
        """
    )
    project = Project.load(tmp_path / "people.toml")
    with Store(project.store_path) as store:
        state = explore(project, store, workers=1)
        assert state.infeasible > 0
        store.record(Decision("a1", "the knee", "A. Steward"), "published")
        files = sorted(file for file in tmp_path.iterdir() if ".sqlite" in file.name)
        content = b"".join(file.read_bytes() for file in files)
    assert f"{project.store_path.name}-wal" in [file.name for file in files]
    content += project.store_path.read_bytes()
    assert b"mondrian" in content
    for hidden in (SECRET, *(str(NUMBER + n) for n in range(24))):
        assert hidden.encode() not in content
        assert hidden.encode("utf-16-le") not in content


def test_who_reads_during_an_exploration_sees_no_candidate_without_its_measurements(path):
    writing = threading.Event()

    def write() -> None:
        with Store(path) as store:
            number = 0
            while not writing.is_set():
                store.save(made(f"c{number}"), "source", {"general-loss": [LOSS]})
                number += 1

    Store(path).close()
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Store(path) as store:
            seen = [store.candidates("source")]
            while len(seen[-1]) < 100:
                seen.append(store.candidates("source"))
    finally:
        writing.set()
        writer.join()
    assert all(candidate.measurements for each in seen for candidate in each)
