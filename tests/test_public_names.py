"""The public names: one sorted list, every name there, and nothing heavy imported before it is used."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys

import pytest

import sfumato


def test_the_list_of_public_names_is_sorted_and_has_no_name_twice() -> None:
    assert sfumato.__all__ == sorted(set(sfumato.__all__))


@pytest.mark.parametrize("name", sfumato.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(sfumato, name) is not None
    assert name.startswith("__") or getattr(sfumato, name).__name__.rpartition(".")[2] == name


def test_the_names_that_dir_shows_are_the_public_ones() -> None:
    assert dir(sfumato) == sfumato.__all__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Mondrain'"):
        _ = sfumato.Mondrain  # type: ignore[attr-defined]


def test_a_star_import_brings_the_public_names() -> None:
    namespace: dict[str, object] = {}
    exec("from sfumato import *", namespace)
    assert set(sfumato.__all__) <= set(namespace)


def test_no_module_has_the_name_of_a_verb() -> None:
    verbs = [name for name in sfumato.__all__ if inspect.isfunction(getattr(sfumato, name))]
    assert {
        "ask",
        "compare",
        "explore",
        "inspect",
        "measure",
        "publish",
        "read",
        "sanitize",
        "verify",
    } <= set(verbs)
    assert [name for name in verbs if importlib.util.find_spec(f"sfumato.{name}")] == []


def test_every_public_class_and_function_is_documented() -> None:
    assert [name for name in sfumato.__all__ if not getattr(sfumato, name).__doc__] == []


def imported_by(statement: str) -> set[str]:
    """Return the top-level packages that a statement imports in a fresh interpreter."""
    script = f"{statement}; import sys; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {
    "numpy",
    "pyarrow",
    "numba",
    "pandas",
    "polars",
    "duckdb",
    "matplotlib",
    "scipy",
    "sklearn",
    "msgspec",
}


@pytest.mark.parametrize(
    "statement", ["import sfumato", "import sfumato.runtime.errors", "import sfumato; dir(sfumato)"]
)
def test_the_import_alone_imports_nothing_heavy(statement: str) -> None:
    assert not imported_by(statement) & HEAVY


def test_the_nouns_can_be_named_without_arrow_and_without_the_compiler() -> None:
    assert not imported_by("import sfumato; sfumato.Table, sfumato.Schema, sfumato.Hierarchy") & {
        "numba",
        "pyarrow",
    }


def test_the_package_runs_as_the_command_does() -> None:
    def told(*command: str) -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    script = "import sys; from sfumato.interfaces.cli import main; sys.argv[0] = 'sfumato'; main()"
    for arguments in (["--version"], ["--help"], ["verify", "nothing-here"]):
        assert told("-m", "sfumato", *arguments) == told("-c", script, *arguments)
    assert told("-m", "sfumato", "verify", "nothing-here")[0] == 2
