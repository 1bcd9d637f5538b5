"""The verifier shares nothing with what it verifies."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import sfumato

ROOM = Path(sfumato.__file__).parent / "verification"
MAY_BE_SHARED = {"runtime"}
"""Errors, and what starts the process in which a library reads a file: it knows nothing of releases."""


def test_it_imports_nothing_of_the_package_but_itself_and_the_runtime() -> None:
    """No model, measure, sanitizer, kernel, class or release: not even inside a function."""
    modules = sorted(ROOM.glob("*.py"))
    assert len(modules) > 6
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                if name.split(".")[0] == "sfumato":
                    parts = name.split(".")
                    assert len(parts) > 1, f"{module.name} imports {name}"
                    assert parts[1] in {"verification", *MAY_BE_SHARED}, f"{module.name} imports {name}"


def test_importing_it_loads_nothing_that_makes_or_measures_releases() -> None:
    code = (
        "import sys, sfumato.verification.check, sfumato.verification.signature;"
        "import sfumato.verification.certificate;"
        "print(*sorted(name for name in sys.modules if name.startswith('sfumato.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in run.stdout.split()}
    assert loaded == {"runtime", "verification"}


def test_the_runtime_imports_nothing_else_of_the_package() -> None:
    """So that what the verifier takes from it brings nothing else along."""
    code = (
        "import sys, sfumato.runtime.pool, sfumato.runtime.processes;"
        "print(*sorted(name for name in sys.modules if name.startswith('sfumato.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.split(".")[1] for name in run.stdout.split()} == {"runtime"}
