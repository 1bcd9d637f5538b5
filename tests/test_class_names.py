"""A class name means one thing in the whole package, so that a reader need not ask which one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import sfumato

PACKAGE = Path(sfumato.__file__).parent


def classes_by_name() -> dict[str, list[str]]:
    found = defaultdict(list)
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(file.relative_to(PACKAGE)))
    return found


def test_no_two_classes_have_the_same_name() -> None:
    found = classes_by_name()
    assert {"KAnonymity", "Frontier", "Partition"} <= found.keys()
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_module_hands_on_a_name_that_has_its_home_elsewhere() -> None:
    handed_on = [
        f"{file.relative_to(PACKAGE)}: {alias.name}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    assert handed_on == []
