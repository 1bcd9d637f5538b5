"""The rooms of the workbench: who may import whom, what they use of the library, and where the state is."""

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
LIBRARY = {
    "runtime": "arrays caching errors files machine numerals processes",
    "registry": "declarations methods recipe",
    "data": "hierarchy kinds schema table",
    "models": "base distances",
    "verification": "documents folder",
    "results": (
        "candidate decision formatting frontier inapplicable linked_release manifest measure_label "
        "measure_lookup measurement "
        "pareto policy recipients release released_column"
    ),
    "reading": "base column_shapes mixed_writing role_guess sources",
    "reading/datasets": "demo_project",
    "measures/disclosure": "loss_attribution",
    "measures/identity": "uniqueness",
    "searches": "sweep",
    "workflow/project": "budget new_project project_file",
    "workflow/store": "provenance store",
    "workflow/inspect": "inspected_columns",
    "workflow/explore": "convergence explore_project stored_results",
    "workflow/choose": "question question_answer side_by_side tokens",
    "workflow/report": "attack_rows comparison_text markup owner_report table_rows",
    "workflow/report/charts": "class_size_curves frontier_chart panels plane scatter_matrix svg",
    "workflow/publish": "cautions data_files folder_layout publication_request publish verify",
    "workflow/apply": "parent_publication stored_publications",
}
"""The modules of the library that the workbench uses, by room: it is a face of the library, no part of it."""


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


def test_the_workbench_uses_the_listed_modules_of_the_library_and_no_others() -> None:
    used: dict[str, set[str]] = {}
    for path in WORKBENCH.rglob("*.py"):
        for name in imported(path):
            parts = name.split(".")
            if parts[0] != "sfumato" or parts[1:3] == ["interfaces", "workbench"] or len(parts) < 2:
                continue
            # a name of a module is not the module's own
            if not PACKAGE.joinpath(*parts[1:]).with_suffix(".py").is_file():
                parts.pop()
            used.setdefault("/".join(parts[1:-1]), set()).add(parts[-1])
    assert {room: " ".join(sorted(names)) for room, names in used.items()} == LIBRARY


def test_nothing_but_its_command_imports_the_workbench() -> None:
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if WORKBENCH not in path.parents
        and any(name.startswith("sfumato.interfaces.workbench") for name in imported(path))
    }
    assert importers == {"interfaces/cli/workbench.py"}


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
