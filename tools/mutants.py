"""Change the code in small ways, one at a time, and look whether a test fails: how strong the tests are.

python -m tools.mutants models verifying           every mutant of two rooms
python -m tools.mutants measures --share 0.2       a fifth of them, drawn by --seed
python -m tools.mutants measures --only loss.py    those of the files with that in their name
python -m tools.mutants measures --own             by no tests but facts and those named after the modules
python -m tools.mutants models --again             those that survived before, once more
python -m tools.mutants models --again --more      the same by the slow tests, too
python -m tools.mutants models --seconds 20        with more seconds of tests for each before it has survived
python -m tools.mutants --report                   what is known, and the survivors that nobody has explained

The tests of a room are collected once. One run of them tells which tests run which lines, and how long they
take. Then every mutant gets a process of its own, forked from the one that has everything imported: the
changed code is put into the live functions, and the tests that run the line are run until one fails: first
those that noticed another change of the same function, then the module's own, the quickest first.

Results are kept in build/mutants/, so that a run that was stopped goes on where it was. Survivors that
cannot be killed stand in tools/mutants-explained.toml, each with its reason.
"""

from __future__ import annotations

import argparse
import ast
import base64
import gc
import hashlib
import importlib
import json
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from tools.mutations import Mutation, codes, mutated, mutations

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "build" / "mutants"
EXPLAINED = ROOT / "tools" / "mutants-explained.toml"

# A mutant that passes so many seconds of tests has survived; the census and the miners would take minutes.
_SECONDS_OF_TESTS = 4.0
_MOST_MEMORY = 12 << 30
_FEW_EXAMPLES = 30
_SURVIVED, _FAILED, _NOT_TO_BE_MADE = 0, 1, 2
_NOTICED = "noticed-by"

Results = dict[str, str]


@dataclass(frozen=True)
class Room:
    """What is changed together, the tests that notice soon, and those that the survivors get as well.

    Slow tests are left out of the first where a file has others beside them.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    more: tuple[str, ...]
    slow: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """The modules, as they lie in the repository."""
        places = [place for name in self.sources for place in sorted((ROOT / "src" / "sfumato").glob(name))]
        return [
            file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))
        ]


ROOMS = {
    "models": Room(
        ("models",),
        (
            "src/sfumato/models",
            "tests/models/test_base.py",
            "tests/models/test_order.py",
            "tests/models/test_worked_examples.py",
        ),
        ("tests/models", "tests/contracts/test_models.py"),
    ),
    "verification": Room(
        ("verification", "workflow/publish/verify.py"),
        (
            "src/sfumato/verification",
            "tests/verification/test_agreement.py::test_every_measure_that_can_be_claimed_is_known_here",
            "tests/verification/test_agreement.py::test_what_is_known_of_a_model_is_what_it_declares",
            "tests/verification/test_agreement.py::test_what_is_known_of_a_measure_is_what_it_declares",
            "tests/verification/test_certificate.py",
            "tests/verification/test_check.py",
            "tests/verification/test_check_files.py",
            "tests/verification/test_check_people.py",
            "tests/verification/test_documents.py",
            "tests/verification/test_figures.py",
            "tests/verification/test_folder.py",
            "tests/verification/test_levels.py",
            "tests/verification/test_partitions.py",
            "tests/verification/test_records.py",
            "tests/verification/test_statistics.py",
            "tests/verification/test_tables.py",
            "tests/verification/test_signature.py::TestByHand",
            "tests/verification/test_signature.py::TestReadingKeys",
            "tests/publish/test_verify.py",
        ),
        ("tests/verification", "tests/publish"),
    ),
    "measures": Room(
        ("measures/*.py", "measures/identity", "measures/disclosure", "measures/utility/*.py"),
        (
            "tests/measures/test_base.py",
            "tests/measures/test_facts.py",
            "tests/measures/test_groups.py",
            "tests/measures/test_percentiles.py",
            "tests/measures/test_worked_examples.py",
            "tests/measures/test_loss.py",
            "tests/measures/test_composition.py",
            "tests/measures/test_worst_group.py",
            "tests/measures/test_auxiliary.py",
            "tests/measures/test_grouped.py",
            "tests/measures/test_research.py",
            "tests/measures/test_superpopulation.py",
            "tests/measures/test_weighted_research.py",
            "tests/measures/test_workload.py",
        ),
        ("src/sfumato/measures", "tests/measures", "tests/contracts/test_measures.py"),
        (
            "tests/measures/test_auxiliary.py::test_of_many_people_some_are_drawn",
            "tests/measures/test_grouped.py::test_a_group_of_everybody_has_what_the_whole_has",
            "tests/measures/test_grouped.py::test_every_measure_has_a_figure_or_a_reason",
            "tests/measures/test_research.py::TestLiAndLi",
            "tests/measures/test_research.py::test_candidates_are_asked_the_same_queries",
            "tests/measures/test_research.py::test_withholding_the_sensitive_values_costs_more",
            "tests/measures/test_workload.py::test_a_miner_that_does_not_finish_is_named",
            "tests/measures/test_workload.py::test_a_release_that_keeps_both_sides_gains",
            "tests/measures/test_workload.py::test_a_trivial_release_gains_nothing",
            "tests/measures/test_workload.py::test_an_independent_target_gains_nothing",
            "tests/measures/test_workload.py::test_by_default_every_sensitive_attribute_is_learned",
            "tests/measures/test_workload.py::test_miners_see_cells_as_they_are_told_to",
            "tests/measures/test_workload.py::test_suppressed_records_are_not_predicted",
            "tests/measures/test_workload.py::test_the_baseline_is_the_better_of_the_two",
            "tests/measures/test_workload.py::test_the_best_miner_counts_and_all_are_told",
            "tests/measures/test_workload.py::test_without_its_rows_a_release_is_judged",
        ),
    ),
    "attacks": Room(
        ("measures/attacks",),
        (
            "src/sfumato/measures/attacks",
            "tests/measures/attacks/test_attack.py",
            "tests/measures/attacks/test_attempts.py",
            "tests/measures/attacks/test_distances.py",
            "tests/measures/attacks/test_inference.py",
            "tests/measures/attacks/test_membership.py",
            "tests/measures/attacks/test_predicates.py",
            "tests/measures/attacks/test_rates.py",
            "tests/measures/attacks/test_setting.py",
            "tests/measures/attacks/test_singling_out.py",
        ),
        ("tests/measures/attacks", "tests/contracts/test_measures.py"),
    ),
    "informed": Room(
        ("measures/informed",),
        ("src/sfumato/measures/informed", "tests/measures/informed"),
        ("tests/contracts/test_measures.py",),
    ),
    "fidelity": Room(
        ("measures/utility/fidelity",),
        ("src/sfumato/measures/utility/fidelity", "tests/measures/fidelity"),
        ("tests/contracts/test_measures.py",),
    ),
    "scenarios": Room(
        ("measures/scenarios",),
        (
            "tests/measures/scenarios/test_anti_utility.py",
            "tests/measures/scenarios/test_control.py::test_every_person_stays_or_leaves",
            "tests/measures/scenarios/test_control.py::test_an_outsider_is_written_like_the_smallest_class_around",
            "tests/measures/scenarios/test_control.py::test_noise_is_fresh_for_those_who_stay_and_as_released_for_those_who_leave",
            "tests/measures/scenarios/test_control.py::TestByHand",
            "tests/measures/scenarios/test_control.py::TestCells",
            "tests/measures/scenarios/test_expressions.py",
            "tests/measures/scenarios/test_formulas.py",
            "tests/measures/scenarios/test_good_utility.py",
            "tests/measures/scenarios/test_knowing_more.py::test_what_is_wrong_is_said_in_one_line",
            "tests/measures/scenarios/test_nearer_gains.py",
            "tests/measures/scenarios/test_nearness.py",
            "tests/measures/scenarios/test_scenario.py",
        ),
        ("src/sfumato/measures/scenarios", "tests/measures/scenarios"),
    ),
    "estimation": Room(
        ("measures/utility/estimation",),
        (
            "src/sfumato/measures/utility/estimation",
            "tests/measures/estimation/test_estimate.py",
            "tests/measures/estimation/test_maximum_entropy.py::TestByHand",
            "tests/measures/estimation/test_populations.py",
            "tests/measures/estimation/test_queries.py",
            "tests/measures/estimation/test_reconstruction.py",
        ),
        ("tests/measures/estimation",),
    ),
    "query": Room(
        ("workflow/query",), ("src/sfumato/workflow/query", "tests/query"), ("tests/cli/test_ask.py",)
    ),
    "borders": Room(
        ("sanitizers/generalize/interval_bounds.py",),
        ("src/sfumato/sanitizers/generalize/interval_bounds.py", "tests/sanitizers/test_borders.py"),
        ("tests/sanitizers", "tests/measures/informed"),
    ),
    "release": Room(
        ("results/release.py", "results/linked_release.py", "results/origin.py", "results/written_order.py"),
        ("tests/test_release.py", "tests/test_types_of_release.py", "tests/test_linked_release.py"),
        ("tests/contracts",),
    ),
    "tokens": Room(
        ("workflow/choose/tokens.py",),
        ("tests/choose/test_question.py", "tests/query/test_language.py"),
        ("tests/choose", "tests/query"),
    ),
    "apply": Room(
        ("workflow/apply", "results/intersection.py", "results/recode_records.py", "results/recoding.py"),
        ("src/sfumato/workflow/apply", "tests/apply"),
        ("tests/cli", "tests/publish"),
    ),
}


@dataclass
class Known:
    """What one run of a room's tests tells: how long each takes, which lines it runs, what it needs."""

    seconds: dict[str, float]
    lines_of_test: dict[str, list[str]]
    modules: list[str]
    kernels: list[tuple[str, str, str]]
    failed: list[str]
    contents: dict[str, str]


_NOTHING = Known({}, {}, [], [], [], {})


class Trial:
    """A pytest plug-in that, in place of running the tests, tries every mutant on them."""

    def __init__(self, name: str, tried: Sequence[Mutation], options: argparse.Namespace) -> None:
        self.name, self.room, self.tried, self.options = name, ROOMS[name], tried, options
        self.results = _read_results(name)
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        # the tests that noticed a change of each function, the last one last
        self.noticed: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self.hung: set[Mutation] = set()
        # how often each test noticed a change of each module
        self.often: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_collection(self) -> None:
        """Let Hypothesis neither shrink nor remember what it finds: that something fails is enough."""
        from hypothesis import Phase, settings

        # pytest would import a module whose examples it collects a second time, beside its package's own
        for file in self.room.files:
            importlib.import_module(_module_name(file))
        usual = settings.get_profile("patient")
        # who survives fewer examples gets all of them with --more
        examples = usual.max_examples if self.options.more else _FEW_EXAMPLES
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", usual, phases=phases, database=None, max_examples=examples)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Look which tests run which lines, then try one mutant after the other."""
        known = _looked(session, self.name, self.folder)
        for failed in known.failed:
            print(f"left out, because it fails without any change: {failed}")
        _warm(known)
        # what is frozen would not be found
        gc.unfreeze()
        functions = _functions(self.room.files)
        items = {item.nodeid: item for item in session.items if item.nodeid not in known.failed}
        tests: defaultdict[str, set[str]] = defaultdict(set)
        for name, lines in known.lines_of_test.items():
            for line in lines:
                tests[line].add(name)
        waiting = [(each, _chosen(each, tests, known, items, self.options.seconds)) for each in self.tried]
        gc.collect()
        gc.freeze()
        self._try_all(waiting, known, functions)
        shutil.rmtree(self.folder, ignore_errors=True)
        return True

    def _try_all(self, waiting: Any, known: Known, functions: Any) -> None:
        running: dict[int, tuple[Mutation, list[pytest.Item], Path]] = {}
        for number, (mutation, items) in enumerate(waiting):
            if not items:
                self.results[mutation.name] = "unreached"
                continue
            if len(running) == self.options.jobs:
                self._collect(running, waiting)
            limit = 5 + 3 * sum(known.seconds[item.nodeid] for item in items)
            place = self.folder / f"mutant-{number}"
            noticed, often = self.noticed[mutation.module, mutation.function], self.often[mutation.module]
            in_order = _noticing_first(items, noticed, often)
            running[_forked(mutation, in_order, functions, limit, place)] = (mutation, items, place)
            if number % 20 == 0:
                _save(self.name, self.results)
                print(f"{number} of {len(waiting)}", Counter(self.results.values()), flush=True)
            # the last one may have hung, and is then tried once more behind itself
            while running and number + 1 == len(waiting):
                self._collect(running, waiting)
        while running:
            self._collect(running, waiting)
        _save(self.name, self.results)

    def _collect(self, running: dict[int, tuple[Mutation, list[pytest.Item], Path]], waiting: Any) -> None:
        pid, status, used = os.wait3(0)
        mutation, items, place = running.pop(pid)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(status)
        outcomes = {_SURVIVED: "survived", _NOT_TO_BE_MADE: "not made"}
        if code == -signal.SIGALRM and mutation not in self.hung:
            # a forked process may wait for a lock that a thread held when it was forked
            self.hung.add(mutation)
            waiting.append((mutation, items))
            return
        stopped = code in (-signal.SIGALRM, -signal.SIGXCPU)
        self.results[mutation.name] = "timed out" if stopped else outcomes.get(code, "killed")
        if (place / _NOTICED).exists():
            by = (place / _NOTICED).read_text("utf-8")
            self.noticed[mutation.module, mutation.function].append(by)
            self.often[mutation.module][by] += 1
        shutil.rmtree(place, ignore_errors=True)
        if self.options.verbose:
            seconds = used.ru_utime + used.ru_stime
            print(f"{seconds:.2f} {self.results[mutation.name]}: {mutation.name}", flush=True)


def _module_name(file: Path) -> str:
    parts = file.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Which test runs which line


class Stopwatch:
    """A pytest plug-in that notes how long each test computes, and which fail."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        began = time.process_time()
        done = yield
        self.seconds[item.nodeid] = time.process_time() - began
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def _looked(session: pytest.Session, name: str, folder: Path) -> Known:
    """Return what is known of the room's tests; run those that were changed since, or all if the code was."""
    room, place = ROOMS[name], RESULTS / f"{name}-tests.json"
    before = Known(**json.loads(place.read_text("utf-8"))) if place.exists() else _NOTHING
    contents = {str(file): _content(file) for file in [*room.files, *{item.path for item in session.items}]}
    if any(before.contents.get(str(file)) != contents[str(file)] for file in room.files):
        before = _NOTHING
    same = {file for file, content in contents.items() if before.contents.get(file) == content}
    new = [item for item in session.items if str(item.path) not in same or item.nodeid not in before.seconds]
    now = _traced_apart(new, room, folder)
    place.write_text(json.dumps(vars(_joined(before, now, before.contents | contents))), "utf-8")
    return Known(**json.loads(place.read_text("utf-8")))


def _content(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _joined(before: Known, now: Known, contents: dict[str, str]) -> Known:
    return Known(
        before.seconds | now.seconds,
        before.lines_of_test | now.lines_of_test,
        sorted({*before.modules, *now.modules}),
        sorted({(*each,) for each in (*before.kernels, *now.kernels)}),
        sorted({*now.failed, *(set(before.failed) - now.seconds.keys())}),
        contents,
    )


def _traced_apart(items: list[pytest.Item], room: Room, folder: Path) -> Known:
    """Run tests in a process of their own, so that nothing which they remember reaches a mutant."""
    if not items:
        return _NOTHING
    place = folder / "known.json"
    pid = os.fork()
    if pid == 0:
        try:
            place.write_text(json.dumps(vars(_traced(items, room, folder))), "utf-8")
        except BaseException:
            (folder / "failed.txt").write_text(traceback.format_exc(), "utf-8")
        os._exit(0)
    os.waitpid(pid, 0)
    if not place.exists():
        sys.exit((folder / "failed.txt").read_text("utf-8"))
    return Known(**json.loads(place.read_text("utf-8")))


def _traced(items: list[pytest.Item], room: Room, folder: Path) -> Known:
    coverage = importlib.import_module("coverage")
    config = items[0].config
    _make_quiet(config, folder / "all")
    before, watch = set(sys.modules), Stopwatch()
    config.pluginmanager.register(watch)
    files = [str(file) for file in room.files]
    looking = coverage.Coverage(data_file=None, config_file=False, include=files)
    looking.start()
    for item, following in zip(items, [*items[1:], None], strict=True):
        looking.switch_context(item.nodeid)
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    looking.stop()
    lines = defaultdict(list)
    for file in room.files:
        for line, tests in looking.get_data().contexts_by_lineno(str(file)).items():
            for test in tests:
                lines[test].append(f"{file.relative_to(ROOT)}:{line}")
    modules = [name for name in sys.modules if name not in before]
    return Known(dict(watch.seconds), dict(lines), modules, list(_kernels()), sorted(watch.failed), {})


def _kernels() -> Iterator[tuple[str, str, str]]:
    from numba.core.dispatcher import Dispatcher

    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, Dispatcher):
            for signature in each.nopython_signatures:
                # what is given a function of its own cannot be written down: it is compiled when it is called
                with suppress(pickle.PicklingError, AttributeError, TypeError):
                    written = base64.b64encode(pickle.dumps(signature)).decode("ascii")
                    yield each.py_func.__module__, each.py_func.__qualname__, written


def _warm(known: Known) -> None:
    """Import and compile what the tests need, so that no mutant has to."""
    for name in known.modules:
        if name.split(".")[0] in ("sfumato", "sklearn", "scipy", "pyarrow", "pandas", "pymoo"):
            with suppress(Exception):
                importlib.import_module(name)
    for module, name, signature in known.kernels:
        with suppress(Exception):
            kernel = getattr(importlib.import_module(module), name)
            kernel.compile(pickle.loads(base64.b64decode(signature)))


def _chosen(
    mutation: Mutation,
    tests: dict[str, set[str]],
    known: Known,
    items: dict[str, pytest.Item],
    seconds: float,
) -> list[pytest.Item]:
    """Return the tests that may notice a change, the module's own first, and the quickest first.

    These are the tests that run the line; of what has a name at the module's top those that run a line which
    uses it, and the module's own; of what else is not in a function all, since no line is run.
    """
    reach = {name for line in mutation.lines for name in tests.get(f"{mutation.module}:{line}", ())}
    own = f"/test_{Path(mutation.module).stem}"
    if not mutation.in_body:
        is_used = reach and not mutation.function
        reach |= {name for name in known.seconds if own in name or not is_used}
    names = reach & items.keys()
    firsts = (own, "/test_facts")
    in_order = sorted(names, key=lambda name: (not any(each in name for each in firsts), known.seconds[name]))
    spent, chosen = 0.0, []
    for name in in_order:
        if spent < seconds:
            chosen.append(items[name])
            spent += known.seconds[name]
    return chosen


# One mutant


class Judge:
    """A pytest plug-in that ends the process when a test fails, before anything is told of the failure."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self) -> list[str]:
        """Spare the comparison of what differs: nobody reads it."""
        return ["they differ"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        expected = item.get_closest_marker("xfail") is not None
        if (
            call.excinfo is not None
            and not expected
            and not call.excinfo.errisinstance(pytest.skip.Exception)
        ):
            (self.place / _NOTICED).write_text(item.nodeid, "utf-8")
            os._exit(_FAILED)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(_FAILED)


def _noticing_first(items: list[pytest.Item], noticed: list[str], often: Counter[str]) -> list[pytest.Item]:
    """Put the tests first that noticed another change of the same function, then of the same module.

    Of the first the one that did so last goes before, of the second the one that did so most often.
    """
    rank = {name: place for place, name in enumerate(noticed)}
    return sorted(items, key=lambda item: (-rank.get(item.nodeid, -1), -often[item.nodeid]))


def _forked(mutation: Mutation, items: list[pytest.Item], functions: Any, limit: float, place: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    # what loops is stopped by what it computes, which a busy machine does not change; what waits by the clock
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    signal.alarm(30 + 6 * int(limit))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    _make_quiet(items[0].config, place)
    try:
        changed = _put(mutation, functions)
    except Exception:
        # a module with such a change in it cannot be imported
        os._exit(_FAILED)
    if not changed:
        os._exit(_NOT_TO_BE_MADE)
    gc.disable()
    items[0].config.pluginmanager.register(Judge(place))
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    except BaseException:
        os._exit(_FAILED)
    os._exit(_SURVIVED)


def _make_quiet(config: pytest.Config, place: Path) -> None:
    """Let a forked process print nothing, and write into a folder of its own."""
    config.pluginmanager.unregister(name="terminalreporter")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    place.mkdir(parents=True)
    config._tmp_path_factory._basetemp = place  # type: ignore[attr-defined]


def _functions(files: Sequence[Path]) -> dict[str, list[FunctionType]]:
    """Return the live functions of each file."""
    wanted = {str(file) for file in files}
    found = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in wanted:
            found[each.__code__.co_filename].append(each)
    return found


def _put(mutation: Mutation, functions: dict[str, list[FunctionType]]) -> bool:
    """Put a change into the live module; return whether that could be done."""
    file = ROOT / mutation.module
    source = file.read_text("utf-8")
    tree = mutated(source, mutation)
    if not mutation.in_body:
        return _put_at_top(mutation, tree, sys.modules[_module_name(file)], functions[str(file)])
    old, new = (_codes_around(each, mutation, file) for each in (ast.parse(source), tree))
    places = {code: key for key, code in old.items() if code != new.get(key)}
    n_put = 0
    for function in functions[str(file)]:
        key = places.get(function.__code__)
        if key in new:
            function.__code__ = new[key]
            n_put += 1
    return n_put > 0


def _codes_around(tree: ast.Module, mutation: Mutation, file: Path) -> dict[tuple[str, int, int], CodeType]:
    """Compile the one statement of a module that a change is in, with the imports, which change its code."""
    (_, place), *_ = mutation.path
    assert place is not None
    imports = [
        each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom)) or _is_for_types(each)
    ]
    part = ast.Module([*imports, tree.body[place]], [])
    return codes(compile(part, str(file), "exec", dont_inherit=True))


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _put_at_top(mutation: Mutation, tree: ast.Module, module: ModuleType, live: list[FunctionType]) -> bool:
    """Compute a default or an attribute anew; what else a module computes at its import is not changed."""
    node: Any = tree
    scope: Any = module
    for field, index in mutation.path:
        if isinstance(node, ast.ClassDef):
            scope = getattr(scope, node.name)
        if isinstance(node, ast.FunctionDef):
            return _put_defaults(node, module, live)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            break
        value = getattr(node, field)
        node = value if index is None else value[index]
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name):
        return False
    new = eval(compile(ast.Expression(node.value), "<mutant>", "eval"), vars(module), dict(vars(scope)))
    return _set_attribute(scope, target.id, new)


def _put_defaults(node: ast.FunctionDef, module: ModuleType, live: list[FunctionType]) -> bool:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    for function in live:
        code = function.__code__
        if (code.co_name, code.co_firstlineno) == (node.name, first):
            values = [_value(each, module) for each in node.args.defaults]
            function.__defaults__ = tuple(values) or None
            named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            function.__kwdefaults__ = {each.arg: _value(value, module) for each, value in named if value}
            return True
    return False


def _value(node: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(node), "<mutant>", "eval"), vars(module))


def _set_attribute(scope: Any, name: str, new: Any) -> bool:
    old = vars(scope).get(name)
    if isinstance(scope, ModuleType):
        for module in [each for each in sys.modules.values() if isinstance(each, ModuleType)]:
            if module.__name__.startswith(("sfumato", "tests")) and vars(module).get(name) is old:
                setattr(module, name, new)
        return True
    if is_dataclass(scope) and name in {field.name for field in fields(scope)}:
        return _set_field(scope, name, new)
    if name not in vars(scope) or hasattr(scope, "__struct_fields__"):
        return False
    setattr(scope, name, new)
    return True


def _set_field(scope: Any, name: str, new: Any) -> bool:
    """Change the default of a dataclass' field: on the class, and where its constructor keeps it."""
    if isinstance(new, Field):
        return False
    init = scope.__init__
    optional = [field.name for field in fields(scope) if field.init][-len(init.__defaults__ or ()) :]
    if name not in optional:
        return False
    place = optional.index(name)
    init.__defaults__ = (*init.__defaults__[:place], new, *init.__defaults__[place + 1 :])
    scope.__dataclass_fields__[name].default = new
    setattr(scope, name, new)
    return True


# Results


def _save(room: str, results: Results) -> None:
    place = RESULTS / f"{room}.json"
    place.with_suffix(".part").write_text(json.dumps(results, indent=0), "utf-8")
    place.with_suffix(".part").replace(place)


def _read_results(room: str) -> Results:
    place = RESULTS / f"{room}.json"
    return json.loads(place.read_text("utf-8")) if place.exists() else {}


def explanations() -> dict[str, str]:
    """Return the reasons why mutants survive, by the names of the mutants."""
    written = tomllib.loads(EXPLAINED.read_text("utf-8")) if EXPLAINED.exists() else {}
    return {
        f"{module} | {each['in']} | {each['was']} | {becomes}": each["because"]
        for module, several in written.items()
        for each in several
        for becomes in each["becomes"]
    }


def _every(names: Iterable[str]) -> Iterator[Mutation]:
    for name in names:
        for file in ROOMS[name].files:
            yield from mutations(str(file.relative_to(ROOT)), file.read_text("utf-8"))


def report(names: Iterable[str]) -> int:
    """Print what is known of each module, and every survivor without a reason; return how many they are."""
    results = {name: outcome for room in names for name, outcome in _read_results(room).items()}
    reasons = explanations()
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    left = []
    for mutation in _every(names):
        outcome = results.get(mutation.name, "not tried")
        if outcome != "killed" and mutation.name in reasons:
            outcome = "explained"
        elif outcome in ("survived", "unreached"):
            left.append(f"{outcome}: {mutation.name}")
        counted[mutation.module][outcome] += 1
    print("\n".join(left))
    kinds = ("killed", "timed out", "explained", "survived", "unreached", "not made", "not tried")
    print(f"{'':48}", *(f"{kind:>9}" for kind in kinds))
    total = sum(counted.values(), Counter())
    for module, counts in [*counted.items(), ("all", total)]:
        if counts:
            print(f"{module:48}", *(f"{counts[kind]:9}" for kind in kinds))
    return len(left)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], help="all of them, unless some are named")
    parser.add_argument("--share", type=float, default=1.0, help="try this share of the mutants, drawn")
    parser.add_argument("--seed", type=int, default=1, help="what they are drawn by")
    parser.add_argument("--only", nargs="+", default=[""], help="the mutants with one of these in their name")
    parser.add_argument(
        "--own", action="store_true", help="run only the tests that are named after the modules"
    )
    parser.add_argument("--again", action="store_true", help="try those that survived before, once more")
    parser.add_argument("--more", action="store_true", help="run the slow tests, too")
    parser.add_argument(
        "--seconds",
        type=float,
        default=_SECONDS_OF_TESTS,
        help="of tests that each gets",
    )
    parser.add_argument("--verbose", action="store_true", help="print each, and the seconds that it computed")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes at a time")
    parser.add_argument("--report", action="store_true", help="try nothing, print what is known")
    options = parser.parse_args()
    names = options.rooms or list(ROOMS)
    RESULTS.mkdir(parents=True, exist_ok=True)
    if not options.report:
        for name in names:
            _try_room(name, _drawn(name, options), options)
    sys.exit(report(names) > 0)


def _drawn(room: str, options: argparse.Namespace) -> list[Mutation]:
    """Return the mutants that are to be tried: a share where one is asked for, none that is explained."""
    results, reasons = _read_results(room), explanations()
    every = [each for each in _every([room]) if each.name not in reasons]
    named = dict.fromkeys(each for text in options.only for each in every if text in each.name)
    # drawn by its name, so that it is drawn again when other code changes
    drawn = [each for each in named if random.Random(f"{options.seed} {each.name}").random() < options.share]
    wanted = ("survived", "unreached") if options.again else (None,)
    return [each for each in drawn if results.get(each.name) in wanted]


def _try_room(name: str, tried: Sequence[Mutation], options: argparse.Namespace) -> None:
    if not tried:
        return
    room = ROOMS[name]
    tests: Iterable[str] = (*room.tests, *room.more) if options.more else room.tests
    if options.own:
        tests = _own_tests(room, {each.module for each in tried})
    # pytest would rewrite the assertions of a module that is named here, and its code could not be changed
    plain = ["-q", "-p", "no:cacheprovider", "--assert=plain"]
    if not options.more:
        plain += [f"--deselect={name}" for name in room.slow]
    pytest.main([*plain, *tests], plugins=[Trial(name, tried, options)])


def _own_tests(room: Room, modules: set[str]) -> list[str]:
    """Return the modules, for their examples, the tests named after one, and those of what all declare."""
    places = [ROOT / name for name in (*room.tests, *room.more) if "::" not in name]
    files = {file for place in places for file in ([place] if place.is_file() else place.rglob("*.py"))}
    beginnings = ("test_facts", *(f"test_{Path(module).stem}" for module in modules))
    named = [str(file.relative_to(ROOT)) for file in files if file.name.startswith(beginnings)]
    return sorted({*named, *modules})


if __name__ == "__main__":
    main()
