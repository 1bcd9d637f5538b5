"""Exploring: every candidate once, each stored at once, nothing lost or left behind when it ends early."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.miners.cross_validation import forget
from sfumato.reading.datasets.demo_project import write_demo
from sfumato.registry.plugin_errors import MethodFails
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import one_for_each_recipe
from sfumato.runtime.errors import DataError, ParameterError, ProjectError, StoreError
from sfumato.searches import Evolution
from sfumato.workflow.explore import candidate_workers as explore_module
from sfumato.workflow.explore.explore_project import Progress, explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

ATTRIBUTES = """
policy.recipient = "none"
[data]
path = "people.csv"

[attributes.name]
role = "identifying"

[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = { intervals = [5, 10, 20] }

[attributes.zip]
role = "quasi-identifying"
hierarchy = { prefixes = [4, 3] }

[attributes.sex]
role = "quasi-identifying"

[attributes.diagnosis]
role = "sensitive"
"""
CANDIDATES = """
[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3, 5] } }

[[candidates]]
sanitizer = "mondrian"
variant = "relaxed"
model = { k-anonymity = { k = 2 }, probabilistic-diversity = { l = [1.5, 100] } }

[[candidates]]
sanitizer = "full-domain"
suppression = 0.1
levels = { age = [0, 3], zip = 2, sex = 1 }
model = { k-anonymity = { k = 5 } }
"""
N_CANDIDATES, N_INFEASIBLE = 8, 2  # l = 100, and the exact ages
N_MANY = 20
MANY = (
    '[[candidates]]\nsanitizer = "mondrian"\n'
    f"model = {{ k-anonymity = {{ k = [{', '.join(str(2 + n) for n in range(N_MANY))}] }} }}\n"
)


def gated(gate: Any) -> str:
    """Return as many candidates, each of which waits at a gate."""
    ks = ", ".join(str(2 + n) for n in range(N_MANY))
    return f'[[candidates]]\nsanitizer = "gated"\ngate = "{gate.folder}"\nk = [{ks}]\n'


MEASURES = '[measure]\nprivacy = ["privacy-loss"]\nutility = ["general-loss"]\n'

POLICY = '[policy]\nrecipient = "none"\n'

Write = Callable[..., Project]
Process = tuple[int, str]
"""The number of a process, and when it began."""
Facts = dict[str, tuple[str | None, frozenset[tuple[Any, ...]]]]


def records(n: int, seed: int = 1) -> str:
    generator = np.random.default_rng(seed)
    rows = zip(
        generator.integers(20, 80, n),
        generator.integers(0, 30, n),
        generator.integers(0, 2, n),
        generator.integers(0, 6, n),
        strict=True,
    )
    lines = [
        f"person {n},{age},02{zip_:03},{'fm'[sex]},ill-{ill}\n"
        for n, (age, zip_, sex, ill) in enumerate(rows)
    ]
    return "name,age,zip,sex,diagnosis\n" + "".join(lines)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a project of 200 people, or change it."""

    def write_project(candidates: str = CANDIDATES, measures: str = "", data: str | None = None) -> Project:
        people = tmp_path / "people.csv"
        if data is not None or not people.exists():
            people.write_text(data or records(200))
        (tmp_path / "people.toml").write_text(ATTRIBUTES + candidates + measures)
        return Project.load(tmp_path / "people.toml")

    return write_project


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "people.sqlite") as opened:
        yield opened


def stored(project: Project, store: Store) -> tuple[Candidate, ...]:
    return store.candidates(source_of(*project.read()))


def facts(candidates: tuple[Candidate, ...]) -> Facts:
    """Everything about candidates but how long they took and in which order they came."""
    return {
        c.recipe.public_json(): (
            c.infeasible,
            frozenset((m.measure, m.attribute, m.value, m.better, str(m.detail)) for m in c.measurements),
        )
        for c in one_for_each_recipe(candidates)
    }


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """List what is made and measured in this process."""
    done: list[tuple[str, str]] = []
    sanitize, measure = (vars(explore_module)[name] for name in ("sanitize", "measure"))

    def listed_sanitize(table: Any, schema: Any, recipe: Recipe) -> Any:
        done.append(("made", str(recipe)))
        return sanitize(table, schema, recipe)

    def listed_measure(release: Any, measures: Any) -> Any:
        done.extend(("measured", json.dumps(each)) for each in measures)
        return measure(release, measures)

    with monkeypatch.context() as patch:
        patch.setattr(explore_module, "sanitize", listed_sanitize)
        patch.setattr(explore_module, "measure", listed_measure)
        yield done


class TestCandidates:
    def test_are_all_made_and_measured(self, write: Write, store: Store) -> None:
        project = write()
        state = explore(project, store, workers=1)
        candidates = stored(project, store)
        assert (state.done, state.total, state.known, state.infeasible) == (
            N_CANDIDATES,
            N_CANDIDATES,
            0,
            N_INFEASIBLE,
        )
        assert len(candidates) == N_CANDIDATES
        for candidate in candidates:
            measured = {m.measure for m in candidate.measurements}
            assert measured == (set(project.measures) if candidate.infeasible is None else set())
            assert candidate.seconds > 0

    def test_are_the_same_with_one_worker_and_with_two(self, write: Write, tmp_path: Path) -> None:
        project, found = write(), []
        for workers in (1, 2):
            with Store(tmp_path / f"{workers}.sqlite") as store:
                explore(project, store, seed=7, workers=workers)
                found.append(facts(stored(project, store)))
        assert found[0] == found[1]
        assert len(found[0]) == N_CANDIDATES

    @pytest.mark.parametrize("budget", [None, 600.0])
    @pytest.mark.parametrize(
        ("workers", "seconds", "starts"), [(None, 600.0, False), (None, 0.0, True), (2, 600.0, True)]
    )
    def test_are_made_by_processes_when_that_is_told_or_takes_longer_than_a_moment(
        self,
        write: Write,
        store: Store,
        monkeypatch: pytest.MonkeyPatch,
        workers: int | None,
        seconds: float,
        starts: bool,
        budget: float | None,
    ) -> None:
        given: list[Any] = []

        def handed_over(work: Any, pieces: Iterator[Any], *_: Any) -> Iterator[Any]:
            given.extend(iter(lambda: next(pieces, None), None))
            yield from ()

        monkeypatch.setattr("sfumato.runtime.machine.processors", lambda: 4)
        monkeypatch.setattr(explore_module, "_LONGER", seconds)
        monkeypatch.setattr(explore_module, "done_by_workers", handed_over)
        state = explore(write(), store, workers=workers, budget=budget)
        assert bool(given) == starts
        assert (state.done == state.total) != starts

    def test_can_be_made_by_a_thread(self, write: Write, tmp_path: Path) -> None:
        project = write(measures=MEASURES)
        done: list[Progress] = []

        def work() -> None:
            with Store(tmp_path / "people.sqlite") as store:
                done.append(explore(project, store, workers=2))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert [state.done for state in done] == [N_CANDIDATES]

    def test_proposed_twice_are_made_once(self, write: Write, store: Store) -> None:
        twice = (
            '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [5, 5, 7] } }\n'
            '[[candidates]]\nsanitizer = "mondrian"\nvariant = "strict"\n'
            "model = { k-anonymity = { k = [7, 9] } }\n"
        )
        assert explore(write(twice), store, workers=1).total == 3

    def test_of_the_same_seed_are_the_same_in_any_store(self, write: Write, tmp_path: Path) -> None:
        project, found = write(), []
        for name in ("a", "b"):
            with Store(tmp_path / f"{name}.sqlite") as store:
                explore(project, store, seed=11, workers=1)
                found.append(facts(stored(project, store)))
                assert {c.recipe.seed for c in stored(project, store)} == {11}
        assert found[0] == found[1]

    def test_have_names_that_tell_nothing_of_the_seed(self, store: Store) -> None:
        recipe = Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}})
        seeded = Recipe(recipe.sanitizer, recipe.parameters, seed=99)
        assert store.identity(recipe, "source") == store.identity(seeded, "source")
        assert store.identity(recipe, "source") != store.identity(recipe, "other")


class TestResuming:
    @pytest.fixture(autouse=True)
    def _explored(self, write: Write, store: Store) -> None:
        explore(write(measures=MEASURES), store, workers=1)

    def test_a_second_run_makes_nothing(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = write(measures=MEASURES)
        before = stored(project, store)
        with counted(monkeypatch) as done:
            state = explore(project, store, workers=1)
        assert done == []
        assert (state.done, state.total, state.known) == (0, 0, N_CANDIDATES)
        assert stored(project, store) == before

    def test_a_new_measure_is_the_only_one_that_is_taken(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = facts(stored(write(measures=MEASURES), store))
        project = write(measures=MEASURES + "[policy.reidentification-risk]\nat-most = 0.2\n")
        with counted(monkeypatch) as done:
            state = explore(project, store, workers=1)
        assert {what for what in done if what[0] == "measured"} == {("measured", '"reidentification-risk"')}
        assert state.done == N_CANDIDATES - N_INFEASIBLE
        for recipe, (infeasible, measurements) in facts(stored(project, store)).items():
            assert measurements >= before[recipe][1]
            assert len(measurements) == (3 if infeasible is None else 0)

    def test_other_parameters_of_a_measure_are_another_measure(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measures = MEASURES.replace(
            '"privacy-loss"', '"privacy-loss", { reidentification-risk = { threshold = 0.1 } }'
        )
        explore(write(measures=measures), store, workers=1)
        with counted(monkeypatch) as done:
            explore(write(measures=measures.replace("0.1", "0.3")), store, workers=1)
        assert len([what for what in done if what[0] == "measured"]) == N_CANDIDATES - N_INFEASIBLE

    def test_a_search_is_run_once_wherever_it_stands(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        search = (
            '[[candidates]]\nsearch = "evolution"\nproblem = "suppression"\n'
            "population = 12\ngenerations = 4\n"
        )
        explore(write(CANDIDATES + search, MEASURES), store, workers=1)
        before = {candidate.id for candidate in stored(write(CANDIDATES + search, MEASURES), store)}
        assert len(before) > N_CANDIDATES

        def propose(*_: object) -> list[Recipe]:
            raise AssertionError("run again")

        monkeypatch.setattr(Evolution, "propose", propose)
        state = explore(write(search + CANDIDATES, MEASURES), store, workers=1)
        assert (state.total, state.known) == (0, len(before))
        with pytest.warns(MethodFails, match="the search 'evolution' raises AssertionError"):
            explore(write(search.replace("= 4", "= 5") + CANDIDATES, MEASURES), store, workers=1)

    def test_a_new_try_is_the_only_one_that_is_made(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        more = (
            CANDIDATES + '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [5, 6] } }\n'
        )
        with counted(monkeypatch) as done:
            state = explore(write(more, MEASURES), store, workers=1)
        assert [what for what in done if what[0] == "made"] == [("made", "mondrian k=6")]
        assert (state.done, state.known) == (1, N_CANDIDATES)

    def test_a_try_that_is_taken_out_stays_in_the_store(self, write: Write, store: Store) -> None:
        project = write('[[candidates]]\nsanitizer = "as-is"\n', MEASURES)
        assert explore(project, store, workers=1).done == 0
        assert len(stored(project, store)) == N_CANDIDATES

    def test_what_could_not_be_made_is_not_tried_again(
        self, write: Write, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = write(measures=MEASURES)
        reasons = sorted(c.infeasible for c in stored(project, store) if c.infeasible is not None)
        assert len(reasons) == N_INFEASIBLE
        assert "of 200 records" in reasons[0]
        assert "probabilistic-diversity with l = 100 cannot hold" in reasons[1]
        with counted(monkeypatch) as done:
            explore(project, store, workers=1)
        assert done == []

    def test_changed_data_gives_new_candidates_beside_the_old(self, write: Write, store: Store) -> None:
        project = write(measures=MEASURES)
        old = stored(project, store)
        new_project = write(measures=MEASURES, data=records(200, seed=2))
        assert stored(new_project, store) == ()
        assert explore(new_project, store, workers=1).done == N_CANDIDATES
        new = stored(new_project, store)
        assert not {c.id for c in old} & {c.id for c in new}
        assert facts(stored(write(measures=MEASURES, data=records(200)), store)) == facts(old)

    def test_a_changed_role_or_hierarchy_gives_new_candidates(
        self, write: Write, store: Store, tmp_path: Path
    ) -> None:
        file = tmp_path / "people.toml"
        file.write_text(file.read_text().replace("intervals = [5, 10, 20]", "intervals = [5, 10, 20, 40]"))
        assert explore(Project.load(file), store, workers=1).done == N_CANDIDATES

    def test_the_same_records_in_another_file_are_known(
        self, write: Write, store: Store, tmp_path: Path
    ) -> None:
        (tmp_path / "people.csv").rename(tmp_path / "moved.csv")
        file = tmp_path / "people.toml"
        file.write_text(file.read_text().replace("people.csv", "moved.csv"))
        assert explore(Project.load(file), store, workers=1).done == 0

    def test_another_seed_is_refused(self, write: Write, store: Store) -> None:
        with pytest.raises(StoreError, match="another seed"):
            explore(write(measures=MEASURES), store, seed=store.seed() + 1, workers=1)


class TestRefusals:
    def test_nothing_to_try(self, write: Write, store: Store) -> None:
        with pytest.raises(
            ProjectError, match=r"people\.toml has no candidates; add a \[\[candidates\]\] block"
        ):
            explore(write(""), store, workers=1)

    def test_data_that_cannot_be_read(self, write: Write, store: Store, tmp_path: Path) -> None:
        project = write()
        (tmp_path / "people.csv").unlink()
        with pytest.raises(DataError, match=r"people\.csv"):
            explore(project, store, workers=1)

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_parameter_that_does_not_fit_the_data_stops_and_keeps_what_is_stored(
        self, write: Write, store: Store, workers: int
    ) -> None:
        wrong = (
            '[[candidates]]\nsanitizer = "as-is"\n[[candidates]]\n'
            'sanitizer = "full-domain"\nlevels = { agee = [1, 2] }\n'
        )
        project = write(wrong, MEASURES)
        with pytest.raises(ParameterError, match=r"no quasi-identifier 'agee'; did you mean 'age'\?"):
            explore(project, store, workers=workers)
        assert [str(c.recipe) for c in stored(project, store)] == ["as-is"]
        assert multiprocessing.active_children() == []

    def test_a_second_one_at_the_same_time(self, write: Write, store: Store) -> None:
        with Store(store.path) as other, other.exclusive(), pytest.raises(StoreError, match="at work"):
            explore(write(), store, workers=1)


class TestProgress:
    def test_is_told_at_the_start_and_after_every_candidate(self, write: Write, store: Store) -> None:
        project = write(measures=MEASURES)
        states: list[Progress] = []
        stored_then: list[int] = []

        def listen(state: Progress) -> None:
            states.append(state)
            stored_then.append(len(stored(project, store)))

        last = explore(project, store, workers=1, progress=listen)
        assert [state.done for state in states] == stored_then == list(range(N_CANDIDATES + 1))
        assert {state.total for state in states} == {N_CANDIDATES}
        assert {state.known for state in states} == {0}
        assert states[-1] == last
        assert [state.elapsed for state in states] == sorted(state.elapsed for state in states)
        assert states[0].latest == ""
        assert states[1].latest == "as-is"
        infeasible = [state.infeasible for state in states]
        assert infeasible == sorted(infeasible)
        assert infeasible[-1] == N_INFEASIBLE

    def test_counts_only_what_this_run_has_to_do(self, write: Write, store: Store) -> None:
        explore(write('[[candidates]]\nsanitizer = "as-is"\n', MEASURES), store, workers=1)
        states: list[Progress] = []
        explore(write(measures=MEASURES), store, workers=1, progress=states.append)
        assert (states[0].total, states[0].known) == (N_CANDIDATES - 1, 1)


class TestStopping:
    def test_after_a_candidate_keeps_it_and_the_next_run_goes_on(self, write: Write, store: Store) -> None:
        states: list[Progress] = []
        project = write(measures=MEASURES)
        state = explore(
            project,
            store,
            workers=1,
            progress=states.append,
            stop=lambda: bool(states) and states[-1].done == 2,
        )
        assert (state.done, state.is_spent) == (2, False)
        assert explore(project, store, workers=1).known == 2

    def test_ends_a_search_between_its_rounds(self, write: Write, store: Store) -> None:
        search = '[[candidates]]\nsearch = "evolution"\npopulation = 12\ngenerations = 400\n'
        states: list[Progress] = []
        stop = lambda: bool(states) and "generation 40 of" in states[-1].now  # noqa: E731
        project = write(CANDIDATES + search, MEASURES)
        state = explore(project, store, workers=1, progress=states.append, stop=stop)
        assert state.done == N_CANDIDATES
        assert not any("generation 80 of" in each.now for each in states)

    def test_before_the_first_candidate_is_no_error(self, write: Write, store: Store) -> None:
        search = '[[candidates]]\nsearch = "evolution"\n'
        state = explore(write(search, MEASURES), store, workers=1, stop=lambda: True)
        assert (state.done, state.total) == (0, 0)


class TestBreakingOff:
    """With workers, on a table that is large enough to be in the middle."""

    @pytest.fixture
    def project(self, write: Write) -> Project:
        return write(MANY, MEASURES, data=records(3000))

    @pytest.mark.parametrize("workers", [1, 2])
    def test_by_ctrl_c_keeps_every_finished_candidate_and_no_worker(
        self, project: Project, store: Store, workers: int, tmp_path: Path
    ) -> None:
        told: list[str] = []

        def stop(state: Progress) -> None:
            told.append(state.latest)
            if state.done == 6:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explore(project, store, seed=3, workers=workers, progress=stop)
        assert multiprocessing.active_children() == []
        kept = stored(project, store)
        assert [str(c.recipe) for c in kept] == told[1:]
        assert len(kept) == 6
        with store.exclusive():  # the right to explore was given back
            pass

        state = explore(project, store, workers=1)
        assert (state.done, state.known) == (N_MANY - 6, 6)
        with Store(tmp_path / "whole.sqlite") as whole:
            explore(project, whole, seed=3, workers=1)
            assert facts(stored(project, store)) == facts(stored(project, whole))

    def test_ends_no_process_but_its_own(self, project: Project, store: Store) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        echo = "while True: there.send(there.recv())"
        other = context.Process(target=exec, args=(echo, {"there": there}), daemon=True)
        other.start()
        there.close()

        def stop(state: Progress) -> None:
            if state.done == 3:
                raise KeyboardInterrupt

        try:
            with pytest.raises(KeyboardInterrupt):
                explore(project, store, workers=2, progress=stop)
            here.send("who is there?")
            assert here.recv() == "who is there?"
            assert multiprocessing.active_children() == [other]
        finally:
            other.terminate()
            other.join()
            here.close()

    def test_a_worker_that_is_killed_is_told_and_replaced_and_its_candidate_tried_again(
        self, write: Write, store: Store, tmp_path: Path, gate: Any, patience: float
    ) -> None:
        project = write(gated(gate), MEASURES, data=records(3000))

        def kill_a_worker() -> None:
            os.kill(gate.first_waiting(patience), signal.SIGKILL)
            gate.open()

        gate.let_through(3)
        with ThreadPoolExecutor(1) as thread:
            killing = thread.submit(kill_a_worker)
            with pytest.warns(MethodFails, match=r"could not be made: .*was killed \(signal 9\)") as told:
                state = explore(project, store, seed=3, workers=2)
            killing.result()
        assert len(told) == 1
        assert (state.done, state.infeasible) == (N_MANY, 1)
        assert multiprocessing.active_children() == []
        (lost,) = [each for each in stored(project, store) if each.failed]
        assert lost.infeasible in str(told[0].message)
        assert "\n" not in str(told[0].message)
        again = explore(project, store, workers=1)
        assert (again.done, again.known) == (1, N_MANY - 1)
        with Store(tmp_path / "whole.sqlite") as whole:
            explore(project, whole, seed=3, workers=1)
            assert facts(stored(project, store)) == facts(stored(project, whole))


MINED = """
[scenarios.early]
folds = 2

[scenarios.early.user]
target = "diagnosis"
miners = ["naive-bayes", "one-rule"]

[measure]
privacy = ["privacy-loss"]
utility = [{ good-utility = { scenario = "early" } }]
"""
TWO_FOLDS = [(miner, fold) for miner in ("naive-bayes", "one-rule") for fold in (1, 2)]


class TestMining:
    """Measures that let miners predict: they tell how far they are, and are not computed twice."""

    @pytest.fixture
    def project(self, write: Write) -> Project:
        forget()
        candidates = (
            '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = [5, 20, 80, 300] } }\n'
        )
        return write(candidates, MINED, data=records(3000))

    @staticmethod
    def fits(heard: list[str]) -> list[str]:
        """Return the fits that were told of, one for each miner and table."""
        return [words for words in heard if words.endswith("fold 1 of 2")]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_tells_recipe_measure_miner_and_fold_and_fits_the_original_once(
        self, project: Project, store: Store, workers: int
    ) -> None:
        states: list[Progress] = []
        explore(project, store, workers=workers, progress=states.append)
        heard = [state.now for state in states if state.now]
        for k in (5, 20, 80, 300):
            own = [words for words in heard if words.startswith(f"mondrian k={k}: ")]
            for miner, fold in TWO_FOLDS:
                assert f"mondrian k={k}: good-utility: {miner}, fold {fold} of 2" in own
        assert len(self.fits(heard)) == 2 * (1 + 4)
        assert [state.done for state in states if not state.now] == [0, 1, 2, 3, 4]

    def test_broken_off_in_the_middle_of_a_measure_goes_on_without_fitting_again(
        self, project: Project, store: Store, tmp_path: Path
    ) -> None:
        before: list[str] = []

        def stop(state: Progress) -> None:
            if state.now == "mondrian k=5: good-utility: one-rule, fold 1 of 2":
                raise KeyboardInterrupt
            before.append(state.now)

        with pytest.raises(KeyboardInterrupt):
            explore(project, store, seed=5, workers=1, progress=stop)
        assert len(stored(project, store)) == 1
        forget()
        after: list[str] = []
        explore(project, store, workers=1, progress=lambda state: after.append(state.now))
        fits = [*self.fits(before), *self.fits(after)]
        assert len(fits) == 2 * (1 + 4)
        assert len(self.fits(before)) == 5
        with Store(tmp_path / "whole.sqlite") as whole:
            explore(project, whole, seed=5, workers=1)
            assert facts(stored(project, store)) == facts(stored(project, whole))

    def test_leaves_nothing_in_the_store_that_is_as_long_as_the_table(
        self, project: Project, store: Store
    ) -> None:
        explore(project, store, workers=1)
        table, _ = project.read()
        for (sums,) in store._connection.execute("select facts from figure"):
            assert sums.count(",") <= table.n_rows / 20 + 2


COMMAND = [
    sys.executable,
    "-c",
    "from sfumato.interfaces.cli import run; import sys; sys.exit(run(sys.argv[1:]))",
]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
class TestCommand:
    """The whole program, on the embedded census table, ended in the middle."""

    @pytest.fixture
    def demo(self, tmp_path: Path, gate: Any) -> Path:
        path = write_demo(tmp_path)
        text = path.read_text()
        path.write_text(text.split("[[candidates]]")[0] + gated(gate) + MEASURES + POLICY)
        return path

    def test_killed_in_the_middle_goes_on_where_it_stopped(
        self, demo: Path, gate: Any, patience: float
    ) -> None:
        with started(demo) as process:
            gate.let_through(4)
            wait_for(lambda: n_stored(demo) >= 4 and len(gate.waiting()) >= 2, process, patience)
            workers = descendants(process.pid)
            assert {pid for pid, _ in workers} >= set(gate.waiting())
            process.kill()
            process.wait()
        assert all_gone(workers, patience)
        gate.open()

        project = Project.load(demo)
        n_kept = n_stored(demo)
        assert n_kept == 4
        with Store(project.store_path, create=False) as store:
            assert store._connection.execute("pragma integrity_check").fetchone() == ("ok",)
            assert all(len(c.measurements) == 2 for c in stored(project, store))
        again = subprocess.run(
            [*COMMAND, "explore", str(demo), "--workers", "1", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        report = json.loads(again.stdout)
        assert (report["made"], report["known"]) == (N_MANY - n_kept, n_kept)

    @pytest.mark.thorough("while its workers start", but=1)
    @pytest.mark.parametrize("when", ["workers-starting", "workers-busy"])
    def test_interrupted_in_the_middle_says_so_in_one_line(
        self, demo: Path, gate: Any, when: str, patience: float
    ) -> None:
        with started(demo) as process:
            if when == "workers-starting":
                wait_for(
                    lambda: any(uses_numpy(pid) for pid, _ in descendants(process.pid)), process, patience
                )
            else:
                gate.let_through(4)
                wait_for(lambda: n_stored(demo) >= 4 and gate.waiting(), process, patience)
            workers, n_before = descendants(process.pid), n_stored(demo)
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=patience)
        assert process.returncode == 130
        assert output == ""
        lines = [line for line in errors.splitlines() if line and f" of {N_MANY} candidates" not in line]
        assert lines == ["sfumato: stopped; what was stored is kept, the same command goes on from there"]
        assert all_gone(workers, patience)
        assert n_stored(demo) == n_before == (4 if when == "workers-busy" else 0)

    def test_started_twice_refuses_the_second_in_one_line(
        self, demo: Path, gate: Any, patience: float
    ) -> None:
        with started(demo) as process:
            wait_for(gate.waiting, process, patience)
            words = [*COMMAND, "explore", str(demo)]
            second = subprocess.run(words, capture_output=True, text=True, check=False, timeout=patience)
            assert process.poll() is None
            assert (second.returncode, second.stdout) == (1, "")
            assert second.stderr == (
                "sfumato: another `sfumato explore` is at work on adult.sqlite; wait for it or stop it\n"
            )


@contextmanager
def started(project: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `sfumato explore` in a process group of its own, and leave nothing of it."""
    command = [*COMMAND, "explore", str(project), "--workers", "2"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # a shell that runs the tests in the background has them, and what they start, ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, start_new_session=True, **pipes)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def wait_for(reached: Callable[[], bool], process: subprocess.Popen[str], patience: float) -> None:
    ends = time.monotonic() + patience
    while not reached():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < ends, "it takes too long"
        time.sleep(0.02)


def n_stored(project: Path) -> int:
    """Count the candidates in the file as any other program would."""
    store = project.with_suffix(".sqlite")
    if not store.exists():
        return 0
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return int(connection.execute("select count(*) from candidate").fetchone()[0])
    except sqlite3.OperationalError:  # the tables are not there yet
        return 0
    finally:
        connection.close()


def process_facts(pid: int | str) -> tuple[str, int, str] | None:
    """Return the state of a process, its parent, and when it began: another may get its number later."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return facts[0], int(facts[1]), facts[19]


def is_alive(process: Process) -> bool:
    pid, began = process
    found = process_facts(pid)
    return found is not None and found[0] not in "ZX" and found[2] == began


def uses_numpy(pid: int) -> bool:
    """Whether a process has come as far as to import numpy, the first heavy thing that a worker imports."""
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def all_gone(processes: list[Process], patience: float) -> bool:
    ends = time.monotonic() + patience
    while any(map(is_alive, processes)) and time.monotonic() < ends:
        time.sleep(0.05)
    return not any(map(is_alive, processes))


def descendants(pid: int) -> list[Process]:
    """Return what a process started, and what these started: workers are forked from one that waits."""
    numbers = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    known = {number: facts for number in numbers if (facts := process_facts(number))}
    found, parents = list[Process](), {pid}
    while parents:
        below = {number for number, (_, parent, _) in known.items() if parent in parents}
        found += [(number, known[number][2]) for number in below]
        parents = below
    return found
