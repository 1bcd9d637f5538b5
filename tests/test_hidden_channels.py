"""No function aborts, blames or changes another one by a channel that its signature does not show."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sfumato"


def files_with(text: str) -> set[str]:
    return {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if text in path.read_text("utf-8")}


def base_exceptions() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                getattr(base, "id", None) == "BaseException" for base in node.bases
            ):
                yield f"{path.relative_to(SOURCE)}: {node.name}"


def test_frozen_values_are_written_while_they_are_made_by_one_function() -> None:
    assert files_with("object.__setattr__") == {
        "runtime/arrays.py",
        # a scenario that a project file describes
        "measures/scenarios/good_utility.py",
    }


def test_nobody_reads_the_local_variables_of_a_traceback() -> None:
    assert files_with("f_locals") == set()


def test_only_the_signal_that_ends_the_command_line_is_no_exception() -> None:
    assert list(base_exceptions()) == ["interfaces/cli/__init__.py: _Terminated"]
