"""What is stored is shown without reading data that has not changed, and never for other data."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.data.schema import Schema
from sfumato.runtime.errors import DataError
from sfumato.workflow.explore import stored_results
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.explore.stored_results import source_now
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

DATA = Path(__file__).parents[1] / "store" / "data"
HEAVY = ("numba", "scipy", "sklearn", "pyarrow", "pandas")
LOOKED_AT = """
import json, sys
from sfumato.interfaces.cli import main
sys.argv = ["sfumato", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code or 0, sorted(set(sys.modules) & {heavy!r})]), file=sys.stderr)
"""


def aged(path: Path, seconds: int = 60) -> None:
    """Make a file look as if it had been written a while ago."""
    then = path.stat().st_mtime_ns - seconds * 10**9
    os.utime(path, ns=(then, then))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name in ("people.csv", "people.toml"):
        shutil.copy(DATA / name, tmp_path)
        aged(tmp_path / name)
    return Project.load(tmp_path / "people.toml")


@pytest.fixture
def store(project: Project) -> Store:
    return Store(project.store_path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List how often data is read."""
    done: list[str] = []
    table = Project.table

    def listed(self: Project, path: Path | None = None, schema: Schema | None = None) -> object:
        done.append(self.data.path)
        return table(self, path, schema)

    monkeypatch.setattr(Project, "table", listed)
    return done


class TestSource:
    def test_is_read_once(self, project: Project, store: Store, read: list[str]) -> None:
        found = [source_now(project, store) for _ in range(3)]
        assert read == ["people.csv"]
        assert set(found) == {source_of(*project.read())}

    def test_is_known_after_exploring(self, project: Project, store: Store, read: list[str]) -> None:
        explore(project, store, workers=1)
        read.clear()
        source = source_now(project, store)
        assert read == []
        assert len(store.candidates(source)) == 5

    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: (folder / "people.csv").write_text(
                (folder / "people.csv").read_text().replace("Ann,21", "Ann,22")
            ),
            lambda folder: aged(folder / "people.csv"),
            lambda folder: (folder / "people.toml").write_text(
                (folder / "people.toml").read_text().replace("[5, 10, 20]", "[5, 10]")
            ),
            lambda folder: (folder / "people.toml").write_text(
                (folder / "people.toml").read_text().replace('"people.csv"', '"people.csv"\nmissing = "drop"')
            ),
        ],
    )
    def test_is_read_again_when_file_or_description_change(
        self,
        project: Project,
        store: Store,
        read: list[str],
        change: Callable[[Path], object],
    ) -> None:
        source_now(project, store)
        change(project.path.parent)
        changed = Project.load(project.path)
        read.clear()
        assert source_now(changed, store) == source_of(*changed.read())
        assert len(read) == 2, "once by each of the two"

    def test_of_a_file_in_a_former_state_by_its_times_is_read_again(
        self, project: Project, store: Store, read: list[str]
    ) -> None:
        before = project.data_path.stat()
        source = source_now(project, store)
        project.data_path.write_text(project.data_path.read_text().replace("Ann,21", "Ann,22"))
        os.utime(project.data_path, ns=(before.st_atime_ns, before.st_mtime_ns))
        # the system's own time of a change moves in steps of some milliseconds
        while project.data_path.stat().st_ctime_ns == before.st_ctime_ns:
            os.utime(project.data_path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert project.data_path.stat().st_size == before.st_size
        assert source_now(project, store) != source

    def test_of_a_file_that_was_just_written_is_not_trusted(
        self, project: Project, store: Store, read: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = project.data_path.stat().st_mtime
        for after, n_reads in (
            (stored_results._UNSETTLED_SECONDS, 2),
            (stored_results._UNSETTLED_SECONDS + 1, 3),
        ):
            monkeypatch.setattr("time.time", lambda after=after: written + after)
            source_now(project, store)
            source_now(project, store)
            assert len(read) == n_reads

    def test_of_other_tries_or_measures_needs_no_reading(
        self, project: Project, store: Store, read: list[str]
    ) -> None:
        source_now(project, store)
        text = project.path.read_text().replace("general-loss", "precision").replace("[2, 3,", "[2,")
        source_now(Project.parse(text, project.path), store)
        assert len(read) == 1

    def test_of_a_missing_file_is_an_error(self, project: Project, store: Store) -> None:
        source_now(project, store)
        project.data_path.unlink()
        with pytest.raises(DataError, match=r"people\.csv"):
            source_now(project, store)


def run(*words: str, folder: Path) -> tuple[str, str, int, list[str]]:
    """Run a command in a process of its own: what it prints, says and returns, and its heavy modules."""
    script = LOOKED_AT.format(heavy=set(HEAVY))
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    *said, facts = done.stderr.splitlines()
    code, modules = json.loads(facts)
    return done.stdout, "\n".join(said), code, modules


class TestCommands:
    @pytest.fixture
    def folder(self, project: Project) -> Path:
        with Store(project.store_path) as store:
            explore(project, store, workers=1)
        return project.path.parent

    def test_that_look_at_the_store_import_nothing_heavy(self, folder: Path) -> None:
        out, _, code, modules = run("frontier", "--json", folder=folder)
        assert (code, modules) == (0, [])
        identity = next(each["id"] for each in json.loads(out)["candidates"])
        for words in (("frontier", "--all"), ("show", identity), ("ask", "best k where general-loss <= 90%")):
            out, said, code, modules = run(*words, folder=folder)
            assert (code, modules) == (0, []), said
            assert "mondrian" in out.lower()

    def test_say_so_in_one_line_when_the_data_has_changed(self, folder: Path) -> None:
        with Store(folder / "people.sqlite") as store:
            (source,) = store.sources()
            identity = store.candidates(source)[0].id
        data = folder / "people.csv"
        data.write_text(data.read_text().replace("Ann,21", "Ann,29"))
        for words in (("frontier",), ("ask", "best k")):
            out, said, code, _ = run(*words, folder=folder)
            assert (out, code) == ("", 1)
            assert said == (
                "sfumato: people.csv, or what people.toml says of it, has changed since it was explored; "
                "run `sfumato explore people.toml` first"
            )
        _, said, code, _ = run("show", identity, folder=folder)
        assert code == 1
        assert said.startswith(f"sfumato: candidate {identity} was made from other data")
        assert "\n" not in said

    def test_say_so_in_one_line_when_the_data_changes_while_it_is_explored(
        self, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from sfumato.interfaces import cli
        from sfumato.workflow.explore import explore_project as exploring

        def fill_and_change(*given: Any, **options: Any) -> object:
            done = fill(*given, **options)
            data = project.data_path
            data.write_text(data.read_text().replace("Ann,21", "Ann,29"))
            return done

        fill = exploring.fill
        monkeypatch.setattr(exploring, "fill", fill_and_change)
        assert cli.run(["explore", str(project.path), "--workers", "1"]) == 1
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith("sfumato: people.csv, or what people.toml says of it, has changed since")

    def test_say_so_when_an_upgrade_has_changed_a_method_or_a_measure(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from sfumato.interfaces import cli
        from sfumato.measures import GeneralLoss
        from sfumato.sanitizers import FullDomain

        def said(*words: str) -> str:
            assert cli.run([*words, "-P", str(folder / "people.toml")]) == 0
            return capsys.readouterr().err

        note = (
            "computed by an earlier version of sfumato, or from a file that has changed since; "
            "`sfumato explore` computes it again"
        )
        assert said("ask", "best k") == ""
        monkeypatch.setattr(FullDomain, "version", 2, raising=False)
        assert said("ask", "best k") == f"1 of 5 candidates: something was {note}\n"
        monkeypatch.setattr(GeneralLoss, "version", 99)
        assert said("ask", "best k") == f"4 of 5 candidates: something was {note}\n"


class TestFilesOfMeasures:
    """A measure may read a file of its own; what it found in another state of that file counts no longer."""

    @pytest.fixture
    def against_population(self, project: Project) -> Project:
        people = project.data_path.read_text().splitlines()
        (project.path.parent / "city.csv").write_text("\n".join([*people, *people[1:] * 9]) + "\n")
        text = project.path.read_text().replace(
            '"general-loss"', '"general-loss", { journalist-risk = { population = "city.csv" } }'
        )
        project.path.write_text(text)
        return Project.load(project.path)

    def risks(self, project: Project, store: Store) -> dict[str, float]:
        return {
            candidate.id: measurement.value
            for candidate in store.candidates(source_now(project, store))
            for measurement in candidate.measurements
            if measurement.measure == "journalist-risk"
        }

    def test_a_changed_population_is_measured_again_and_not_shown_before(
        self, against_population: Project, store: Store
    ) -> None:
        explore(against_population, store, workers=1)
        first = self.risks(against_population, store)
        assert len(first) == 4
        assert explore(against_population, store, workers=1).total == 0
        # the city is no larger than the table after all: every risk is ten times as large
        shutil.copy(against_population.data_path, against_population.path.parent / "city.csv")
        assert self.risks(against_population, store) == {}
        assert store.n_outdated(source_now(against_population, store)) == 4
        assert explore(against_population, store, workers=1).total == 4
        again = self.risks(against_population, store)
        assert again == pytest.approx({identity: 10 * risk for identity, risk in first.items()})
        assert store.n_outdated(source_now(against_population, store)) == 0
