"""Tables that many tests share: the embedded ones, a few extreme ones, and tiny random ones.

Also how long tests wait, which of them may be skipped where everything should run, and what spares them time.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pyarrow as pa
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.registry.method_extras import missing_extra
from sfumato.results.json_schemas import SHAPES, form, schema
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.written_order import Order
from sfumato.runtime.extras import missing_packages

ROOT = Path(__file__).parent
TESTS = ROOT / "tests"
TESTS_OF_PAPERS = ROOT / "papers" / "tests"

# The first example of a test may have to wait for a kernel to be compiled, and on a busy machine everything
# takes long. Where CI is set, Hypothesis would try the same examples every time.
settings.register_profile(
    "patient", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("brisk", settings.get_profile("patient"), max_examples=40)

# Longer than anything takes on a busy machine, shorter than what tests let sleep (600 seconds).
PATIENCE = 300.0

# Keeps a processor busy until the tests have ended, however they end.
BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"

# The reasons for which a test may be skipped where CI is set: what the test needs is not to be had there, and
# something else looks at the same place. Any other skipped test is a failure there.
MAY_BE_SKIPPED = {
    "may read every file": "root may; beside it the refusal comes from a stand-in, for everybody",
    "there are no pipes in folders": "only POSIX has named pipes",
    "looks at processes through /proc": "only Linux has /proc",
    "tells processes by /proc": "only Linux has /proc",
    "needs a POSIX shell": "only POSIX has one",
    "the package mbi is not installed": "it is large, with JAX; `make aim` runs these tests",
    "this user may enter every folder": "root may; the launcher is the same for everybody",
    "only `make evidence` publishes with other dependencies": "CI runs that target after the tests",
}

# The files whose tests make releases by every sanitizer. Where a package that a sanitizer needs is not
# installed, they leave it out; what it says of itself is tested all the same.
BY_EVERY_SANITIZER = {
    TESTS / name
    for name in ("contracts/test_people.py", "contracts/test_sanitizers.py", "external/test_round_trip.py")
}

# The files that take longest. Workers begin with them, so that none is left alone with one at the end:
# first those that compile most kernels, since processes that other tests start would compile them once more.
LONGEST = (
    "tests/contracts/test_sanitizers.py",
    "tests/contracts/test_measures.py",
    "papers/tests/test_quick.py",
    "tests/explore/test_run.py",
    "tests/cli/test_commands.py",
    "tests/external/test_round_trip.py",
    "tests/workbench/state/test_jobs.py",
    "tests/sanitizers/test_cell_suppression.py",
    "tests/sanitizers/test_local_recoding.py",
    "tests/browser/test_explore.py",
    "tests/browser/test_journey.py",
    "tests/browser/test_clinic.py",
    "tests/browser/test_data.py",
    "tests/miners/test_runner.py",
    "tests/verification/test_tampering.py",
    "tests/plugin/test_plugin.py",
    "tests/plugin/test_misbehaving.py",
    "tests/searches/lattice/test_optimum.py",
    "tests/searches/evolution/test_problems.py",
    "tests/report/test_page.py",
    "tests/vectors/test_arx_optima.py",
    "tests/models/test_pycanon.py",
    "tests/measures/test_workload.py",
)

Bound = tuple[Table, Schema]

LETTERS = ("a", "b", "c", "d", "e", "f")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fail-skipped",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="count a skipped test as failed unless conftest.py allows its reason (set where CI is)",
    )

    parser.addoption(
        "--thorough",
        action="store_true",
        help="run the tests marked so, too, and let Hypothesis try as many examples as it does by default",
    )

    parser.addoption(
        "--load",
        type=int,
        default=0,
        metavar="N",
        help="run beside so many processes that each keep a processor busy: no test may notice",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "thorough(instead, but=0): takes long, and looks at what `instead` looks at in less time; "
        "only --thorough runs it, or more than the first `but` sets of its parameters",
    )
    settings.load_profile("patient" if config.getoption("--thorough") else "brisk")
    if config.getoption("--fail-skipped"):
        config.pluginmanager.register(FailSkipped())
    if hasattr(config, "workerinput") and os.name == "posix":
        compile_every_kernel_in_one_worker()

    if not hasattr(config, "workerinput"):
        # told to end, take down what was set up; a shell lets what it starts in the background ignore Ctrl-C
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for _ in range(config.getoption("--load")):
            config.add_cleanup(started_busy())

    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # xdist would begin with the files that have most tests


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for examples in the docstrings of the library alone: those of tests have none."""
    found = yield
    inside = file_path.is_relative_to(TESTS) or file_path.is_relative_to(TESTS_OF_PAPERS)
    return [each for each in found if not (inside and isinstance(each, DoctestModule))]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--thorough"):
        leave_out_what_takes_long(config, items)
    leave_out_what_cannot_run(items)
    if hasattr(config, "workerinput"):
        rank = {ROOT / name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: rank.get(item.path, len(rank)))


def leave_out_what_takes_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked as thorough, all but the first few where the mark leaves some."""
    met: Counter[str] = Counter()
    left_out = []
    for item in items:
        mark = item.get_closest_marker("thorough")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            met[test] += 1
            if met[test] > mark.kwargs.get("but", 0):
                left_out.append(item)
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def leave_out_what_cannot_run(items: list[pytest.Item]) -> None:
    """Skip releases by sanitizers whose package is not installed."""
    needed = {name: missing_extra(cls) for name, cls in methods.registered("sanitizer").items()}
    for item in items if any(needed.values()) else ():
        drawn = getattr(item, "callspec", None) if item.path in BY_EVERY_SANITIZER else None
        for extra in {needed.get(str(each)) for each in drawn.params.values()} - {None} if drawn else ():
            package = missing_packages(extra)[0]
            item.add_marker(pytest.mark.skip(reason=f"the package {package} is not installed"))


def pytest_collection_finish() -> None:
    """Let the garbage collector look seldom, and no more at the thousands of tests: they stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def compile_every_kernel_in_one_worker() -> None:
    """Let a worker that needs a kernel wait while another compiles it, and take it from the cache then."""
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    kernels: Any = Dispatcher
    compiled = kernels.compile

    @functools.wraps(compiled)
    def compiled_in_turn(kernel: Any, signature: Any) -> Any:
        if kernel._cache.cache_path is None:
            return compiled(kernel, signature)
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}.lock"
        # threads first, so that none waits for a file that another thread holds; kernels call none of their
        # callers, so that no two workers wait for each other
        with global_compiler_lock, (Path(kernel._cache.cache_path) / name).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compiled(kernel, signature)

    kernels.compile = compiled_in_turn


def started_busy() -> Callable[[], None]:
    """Start a process that keeps a processor busy, and return what ends it."""
    process = subprocess.Popen([sys.executable, "-S", "-c", BUSY])

    def end() -> None:
        process.kill()
        process.wait()

    return end


class FailSkipped:
    """Turns a skipped test, or a skipped file of tests, into a failed one unless its reason is allowed."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        return _failed_if_skipped((yield))

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        return _failed_if_skipped((yield))


def _failed_if_skipped(report: Any) -> Any:
    if report.skipped and not hasattr(report, "wasxfail"):
        place, line, said = report.longrepr
        reason = said.removeprefix("Skipped: ")
        if reason not in MAY_BE_SKIPPED:
            report.outcome = "failed"
            report.longrepr = f"{place}:{line}: skipped, but nothing may be skipped here for: {reason}"
    return report


@pytest.fixture(scope="session")
def patience() -> float:
    """How many seconds a test waits for something that a busy machine may take long for."""
    return PATIENCE


@pytest.fixture
def gate(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a gate at which candidates of the sanitizer ``gated`` wait, in this process and its children."""
    plugin = str(TESTS / "gate")
    found_before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([plugin, *filter(None, found_before)]))
    monkeypatch.syspath_prepend(plugin)
    gated = import_module("gated")
    yield gated.Gate(tmp_path_factory.mktemp("gate"))
    del sys.modules["gated"]
    for known in methods._registered.values():
        for name in [name for name, cls in known.items() if cls.__module__ == "gated"]:
            del known[name]


@pytest.fixture(scope="session")
def as_made() -> Callable[[LinkedRelease], pa.Table]:
    """Return a function that gives a release's records in the order in which it holds them.

    What is written comes in another order each time, so two releases cannot be compared by it.
    """

    def held(release: LinkedRelease) -> pa.Table:
        rows = np.repeat(np.arange(release.n_rows), release.weights)
        groups = None if release.group_of is None else release.group_of[rows]
        return release.to_arrow(order=Order(rows, rows, groups))

    return held


@pytest.fixture(scope="session")
def adult() -> Bound:
    """UCI Adult, 45,222 complete records, bound."""
    table, schema = datasets.adult()
    return schema.bind(table)


@pytest.fixture(scope="session")
def hospital() -> Bound:
    """The twelve patients of the documentation, bound."""
    table, schema = datasets.hospital()
    return schema.bind(table)


def all_distinct() -> Bound:
    table = Table.from_arrow(
        {"age": list(range(20, 36)), "sex": ["f", "m"] * 8, "illness": list("aaabbbcccdddeeef")}
    )
    return table, Schema.of(age="quasi-identifying", sex="quasi-identifying", illness="sensitive")


def one_row() -> Bound:
    table = Table.from_arrow({"age": [31], "sex": ["f"], "illness": ["flu"]})
    return table, Schema.of(age="quasi-identifying", sex="quasi-identifying", illness="sensitive")


def one_sensitive_value() -> Bound:
    table = Table.from_arrow({"age": [31, 31, 42, 42, 42, 53], "sex": list("fmfmmf"), "illness": ["flu"] * 6})
    return table, Schema.of(age="quasi-identifying", sex="quasi-identifying", illness="sensitive")


def survey() -> Bound:
    """Three households of a sample, each of whose records stands for a few people."""
    people = {"age": [31, 31, 42, 42, 42, 53], "sex": list("fmfmmf"), "illness": list("aababb")}
    table = Table.from_arrow({**people, "perwt": [20.5, 8, 8, 70, 9.5, 4], "home": [1, 1, 2, 2, 3, 3]})
    roles = Schema.of(age="quasi-identifying", sex="quasi-identifying", illness="sensitive").attributes
    return table, Schema(roles, survey_weight="perwt", household="home")


EXTREME = {
    "all-distinct": all_distinct,
    "one-row": one_row,
    "one-sensitive-value": one_sensitive_value,
    "survey": survey,
}


@pytest.fixture(scope="session", params=["hospital", *EXTREME])
def example(request: pytest.FixtureRequest, hospital: Bound) -> Bound:
    """One bound table after the other: an ordinary one and the extremes."""
    if request.param == "hospital":
        return hospital
    table, schema = EXTREME[request.param]()
    return schema.bind(table)


# Described once: to describe them anew for each attribute takes longer than to draw them.
LEVELS: Any = [st.none() | st.tuples(*[st.sampled_from(names)] * len(LETTERS)) for names in ("PQRa", "XY")]
KINDS: Any = st.sampled_from(["numeric", "categorical"])
# Half of the values are missing. One choice for each value, and not another one for whether it is there: the
# values are most of what is drawn.
VALUES: Any = {
    "numeric": st.sampled_from([*[None] * 10, *range(10)]),
    "categorical": st.sampled_from([*[None] * len(LETTERS), *LETTERS]),
}
TYPES: Any = {"numeric": pa.int64(), "categorical": pa.string()}
WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0])
LOWEST = st.sampled_from([0, 1, 2])
TIMES = st.integers(1, 3)
ROLES = {
    "quasi-identifying": st.integers(1, 3),
    "insensitive": st.integers(0, 2),
    "sensitive": st.integers(1, 2),
}


def letter_hierarchy(drawn: tuple[Any, ...]) -> Hierarchy:
    """Make a tree over the letters. A node may be called like a letter that lies elsewhere."""
    levels: list[list[str]] = []
    below = list(LETTERS)
    for parents in drawn:
        if parents is not None:
            parent = dict(zip(dict.fromkeys(below), parents, strict=False))
            below = [parent[node] for node in below]
            levels.append(below)
    return Hierarchy.of_levels(LETTERS, levels)


HIERARCHIES: Any = {
    "numeric": st.none() | st.sampled_from([Intervals((5,)), Intervals((2, 4))]),
    "categorical": st.none() | st.tuples(*LEVELS).map(letter_hierarchy),
}


def attribute(draw: st.DrawFn, name: str, role: Any, *, floors: bool) -> Attribute:
    kind = draw(KINDS)
    weight = draw(WEIGHTS)
    hierarchy = draw(HIERARCHIES[kind])
    lowest = 0
    if floors and role == "quasi-identifying":
        lowest = min(draw(LOWEST), _height(hierarchy))
    return Attribute(name, role, kind, hierarchy, weight, lowest)


def _height(hierarchy: Hierarchy | Intervals | None) -> int:
    if isinstance(hierarchy, Intervals):
        return len(hierarchy.widths) + 1
    return 1 if hierarchy is None else hierarchy.height


@st.composite
def bound_tables(draw: st.DrawFn, *, floors: bool = False) -> Bound:
    """Draw up to 30 records of a random schema, with missing values, repeated records and a name.

    With floors some quasi-identifiers have a lowest level.
    """
    described = [
        attribute(draw, f"{role[0]}{place}", role, floors=floors)
        for role, many in ROLES.items()
        for place in range(draw(many))
    ]
    drawn = st.tuples(TIMES, *(VALUES[a.kind] for a in described))
    repeated = draw(st.lists(drawn, min_size=1, max_size=10))
    records = [record for times, *record in repeated for _ in range(times)]
    columns: dict[str, Any] = {
        a.name: pa.array([record[place] for record in records], TYPES[a.kind])
        for place, a in enumerate(described)
    }
    columns["name"] = [f"person {place}" for place in range(len(records))]
    schema = Schema((*described, Attribute("name", "identifying")))
    return schema.bind(Table.from_arrow(columns))


@pytest.fixture(scope="session")
def tiny_tables() -> st.SearchStrategy[Bound]:
    """A strategy for tiny random tables with their schemas, bound."""
    return bound_tables()


@pytest.fixture(scope="session")
def floored_tables() -> st.SearchStrategy[Bound]:
    """The same, where some attributes must not be released below a level."""
    return bound_tables(floors=True)


@pytest.fixture
def printed() -> Callable[[str, str], dict[str, Any]]:
    """Read what a command printed, if it has its declared shape: no key more, none less, every type right."""

    def read(name: str, written: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(written)
        jsonschema.validate(facts, schema(name), cls=jsonschema.Draft202012Validator)
        assert facts["format"] == form(name)
        msgspec.convert({key: value for key, value in facts.items() if key != "format"}, SHAPES[name])
        return facts

    return read
