"""The rooms of the workbench: who may import whom, and where the state of the application is found."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

PACKAGE = Path(str(files("sfumato")))
WORKBENCH = PACKAGE / "interfaces" / "workbench"
ROOMS = {
    "state": {"addresses", "state"},
    "forms": {"addresses", "state", "forms"},
    "views": {"addresses", "state", "views"},
    "routes": {"addresses", "guards", "pages", "state", "forms", "views"},
}
"""What the modules of each room may import of the workbench, now or when they are called."""


def modules(room: str) -> list[Path]:
    # the package of the routes itself brings them in
    return [path for path in sorted((WORKBENCH / room).glob("*.py")) if path.stem != "__init__"]


def imported(path: Path) -> Iterator[str]:
    """Give every module that a file imports, at its top or within a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def neighbours(path: Path) -> set[str]:
    """Return what a file imports of the workbench: rooms, and modules that lie beside them."""
    names = [name.split(".") for name in imported(path)]
    return {
        parts[3] for parts in names if parts[:3] == ["sfumato", "interfaces", "workbench"] and len(parts) > 3
    }


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_before_it(room: str) -> None:
    found = {path.name: neighbours(path) - ROOMS[room] for path in modules(room)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert any(neighbours(path) for path in modules(room))


def is_state_of_application(node: ast.AST) -> bool:
    """Whether this is ``app.state``, ``request.app.state`` or ``scope["app"].state``."""
    if not isinstance(node, ast.Attribute) or node.attr != "state":
        return False
    return ast.unparse(node.value).endswith(("app", "app']"))


def test_the_state_of_the_application_is_read_in_one_place() -> None:
    readers = Counter(
        path.relative_to(WORKBENCH).as_posix()
        for path in WORKBENCH.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and is_state_of_application(node.value)
    )
    assert readers == {"state/state.py": 1}


def test_no_class_of_the_workbench_has_the_name_of_another() -> None:
    def public_classes(folder: Path) -> list[str]:
        return [
            node.name
            for path in folder.rglob("*.py")
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        ]

    named = Counter(public_classes(PACKAGE))
    assert [name for name in public_classes(WORKBENCH) if named[name] > 1] == []


def test_the_tests_lie_in_the_rooms_of_what_they_test() -> None:
    here = Path(__file__).parent
    assert {path.name for path in here.iterdir() if (path / "__init__.py").exists()} == set(ROOMS)
