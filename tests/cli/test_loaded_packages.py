"""Which large packages each command may load: a command that starts to load more takes longer to start."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from sfumato.interfaces.cli import cli

PLACE = Path(__file__).parents[2] / "benchmarks" / "start_up.py"
STORED = {"numpy", "msgspec", "rich"}
# numba loads SciPy and pyarrow pandas wherever they are installed
DATA = STORED | {"numba", "pyarrow", "pandas", "scipy", "cloudpickle"}
PAGES = DATA | {"jinja2"}
QUICK: dict[str, set[str]] = {
    "--help": set(),
    "completion": set(),
    "ask": STORED,
    "frontier": STORED,
    "methods": STORED,
    "score": STORED,
    "shape": STORED,
    "show": STORED,
}
SLOW: dict[str, set[str]] = {
    "apply": PAGES,
    "challenge": PAGES,
    "compare": DATA,
    "doctor": DATA,
    "explore": DATA | {"moocore"},
    "inspect": DATA,
    "measure": DATA,
    "new": DATA,
    "publish": PAGES,
    "query": DATA,
    "sanitize": DATA,
    "verify": PAGES,
}

Load = Callable[[str], set[str]]


@pytest.fixture(scope="module")
def start_up() -> ModuleType:
    spec = importlib.util.spec_from_file_location("start_up", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def load(start_up: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Return a way to run a command and list the large packages that it loads."""
    folder = tmp_path_factory.mktemp("start-up")
    commands = start_up.prepare(folder, adult=False)
    assert {*commands} == {*QUICK, *SLOW}
    assert {*commands} - {"--help"} == {*cli.commands} - {"demo", "workbench"}

    def run(name: str) -> set[str]:
        outcome = start_up.run(folder, *commands[name])
        assert outcome.code == 0, (folder / "err.txt").read_text("utf-8")
        return set(outcome.loaded)

    return run


def test_a_command_that_reads_the_store_loads_no_data(load: Load) -> None:
    assert {name: more for name, allowed in QUICK.items() if (more := load(name) - allowed)} == {}


@pytest.mark.thorough("test_a_command_that_reads_the_store_loads_no_data")
def test_no_command_loads_more_than_it_uses(load: Load) -> None:
    assert {name: more for name, allowed in SLOW.items() if (more := load(name) - allowed)} == {}
