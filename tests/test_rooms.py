"""Data flows through the rooms in one order, and no import points backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sfumato"
# An object may show itself by a step that comes after it.
SHOWS_ITSELF = {"_repr_html_", "__str__", "plot", "to_html"}


def rooms() -> list[str]:
    """Return the rooms in their order, as CONTRIBUTING lists them."""
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("| room | what happens there |")[2]
    return re.findall(r"^\| `([\w/]+)/` \|", table.partition("\n\n")[0], re.MULTILINE)


ORDER = rooms()


def room_of(name: str) -> int | None:
    """Return the place in the order of the room that a module lies in."""
    path = name.removeprefix("sfumato.").replace(".", "/")
    return next((place for place, room in enumerate(ORDER) if f"{path}/".startswith(f"{room}/")), None)


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield what is imported, also inside functions, but not where an object shows itself."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not (isinstance(node, ast.FunctionDef) and node.name in SHOWS_ITSELF):
            yield from imported(node)


def backward(module: str, source: str) -> list[str]:
    """Return the imports of a module that point to a later room."""
    here = room_of(module)
    found = [(name, room_of(name)) for name in imported(ast.parse(source)) if name.startswith("sfumato.")]
    return [f"{module} imports {name}" for name, there in found if None not in (here, there) and there > here]


def ring(sources: Mapping[str, str]) -> list[str]:
    """Return modules that import each other when they are loaded, or for their types; empty if none do."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        loaded = [
            node for node in ast.parse(source).body if not isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]
        names = [name for node in loaded for name in imported(ast.Module([node], []))]
        # a name that is no module is one of the module before its last dot
        targets = {name if name in sources else name.rpartition(".")[0] for name in names}
        graph[module] = (targets & sources.keys()) - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(("sfumato", *path.relative_to(PACKAGE).with_suffix("").parts)), path


def test_every_folder_is_a_room_in_the_order() -> None:
    listed = {room.partition("/")[0] for room in ORDER}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert len(listed) == 14
    assert folders == listed
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_no_import_points_backward() -> None:
    found = [each for name, path in modules() for each in backward(name, path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("source", "n_found"),
    [
        ("import sfumato.workflow.report.page", 1),
        ("def f():\n    from sfumato.workflow import report", 1),
        ("class A:\n    def plot(self):\n        from sfumato.workflow.report import page", 0),
        ("from sfumato.data.table import Table", 0),
    ],
)
def test_an_import_that_points_backward_is_noticed(source: str, n_found: int) -> None:
    assert len(backward("sfumato.results.release", source)) == n_found


def test_no_modules_import_each_other_even_for_their_types() -> None:
    assert ring({name: path.read_text("utf-8") for name, path in modules()}) == []


@pytest.mark.parametrize(
    ("source", "n_in_ring"),
    [
        ("if TYPE_CHECKING:\n    from sfumato.b import B", 3),
        ("from sfumato import b", 3),
        ("def f():\n    from sfumato.b import B", 0),
        ("import numpy", 0),
    ],
)
def test_modules_that_import_each_other_are_noticed(source: str, n_in_ring: int) -> None:
    assert len(ring({"sfumato.a": source, "sfumato.b": "from sfumato.a import A"})) == n_in_ring


def test_no_stem_is_used_twice_within_a_room() -> None:
    stems: dict[str, list[str]] = {}
    for name, path in modules():
        if path.stem not in ("__init__", "base") and (place := room_of(name)) is not None:
            stems.setdefault(f"{ORDER[place]}/{path.stem}", []).append(name)
    assert [names for names in stems.values() if len(names) > 1] == []


def test_one_module_imports_opendp() -> None:
    importing = {
        module
        for module, path in modules()
        for name in imported(ast.parse(path.read_text("utf-8")))
        if name.partition(".")[0] == "opendp"
    }
    assert importing == {"sfumato.sanitizers.opendp"}
