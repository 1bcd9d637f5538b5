"""The changes that ``make mutants`` makes, and the reasons that are given for those which no test notices."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutants import explanations
from tools.mutations import mutated, mutations

ROOT = Path(__file__).parents[1]


def changes(source: str) -> list[str]:
    return [each.becomes for each in mutations("module.py", source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["pass", "a <= b", "a >= b"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = a + b", ["x = a - b"]),
        ("x = 1", ["x = 2", "x = 0"]),
        ("x = True", ["x = False"]),
        ("x = 'a'", ["x = ''"]),
        ("x = a[1:]", ["x = a[:]", "x = a[2:]", "x = a[0:]"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x = f(a, b=c)", ["x = f(a)"]),
        ("x = [a for a in b if c]", ["x = [a for a in b]"]),
        ("x += a", ["x -= a", "pass"]),
        ("def f(a=1): return a", ["def f(a=2):", "def f(a=0):", "return None"]),
        ("if a:\n    raise ValueError('text')", ["pass"]),
    ],
)
def test_a_change_is_small(source: str, expected: list[str]) -> None:
    assert sorted(changes(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""A text for readers: 1 + 1."""',
        "x: Literal['a'] = y",
        "x = cast('int', y)",
        "from a import b",
        "if TYPE_CHECKING:\n    x = 1",
        "@njit\ndef f(a): return a + 1",
        "def __repr__(self): return 'a'",
        "__all__ = ['a']",
        "x = f'{a + 1}'",
        "assert a < b",
        "@dataclass(frozen=True)\nclass A:\n    pass",
    ],
)
def test_what_no_test_should_look_at_stays(source: str) -> None:
    assert changes(source) == []


@pytest.mark.parametrize(
    ("source", "becomes", "lines"),
    [
        ("A = 1\nB = A\ndef f():\n    return B\ndef g():\n    return [A, A]\n", "A = 2", (6,)),
        ("A = 1\n", "A = 2", ()),
        ("class A:\n    b = 1\n    def f(self):\n        return self\n", "b = 2", (1, 2, 3, 4)),
        ("def f(a):\n    return (\n        a + 1\n    )\n", "return a - 1", (2, 3)),
    ],
)
def test_a_change_is_seen_where_it_is_run_or_its_name_is_used(
    source: str, becomes: str, lines: tuple[int, ...]
) -> None:
    (change,) = (each for each in mutations("module.py", source) if each.becomes == becomes)
    assert change.lines == lines


def test_each_change_is_made_alone() -> None:
    source = "def f(a):\n    if a < 1:\n        return a + 2\n    return min(a, 3)\n"
    whole = ast.unparse(ast.parse(source)).splitlines()
    for each in mutations("module.py", source):
        lines = ast.unparse(mutated(source, each)).splitlines()
        differing = [(old, new) for old, new in zip(whole, lines, strict=True) if old != new]
        assert [(old.strip(), new.strip()) for old, new in differing] == [(each.was, each.becomes)]


def test_every_reason_is_given_for_a_change_that_can_be_made() -> None:
    files = {name.split(" | ")[0] for name in explanations()}
    known = {
        each.name for file in files for each in mutations(file, (ROOT / file).read_text(encoding="utf-8"))
    }
    assert not explanations().keys() - known


@pytest.mark.skipif(sys.platform == "win32", reason="only POSIX has fork")
def test_the_tool_says_what_is_known() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.mutants", "models", "--report"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "src/sfumato/models/base.py" in done.stdout
    assert "killed" in done.stdout
