"""The threat model names a test for every promise, and that test exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .runtime.test_one_launcher import LAUNCHER, belongs, modules, names_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
HEADER = "| promise | test |"
NETWORK = {
    *("socket", "socketserver", "ssl", "asyncio", "urllib.request", "http.client", "http.server", "xmlrpc"),
    *("ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "requests", "urllib3", "httpx", "aiohttp"),
    *("websockets", "fsspec", "s3fs", "gcsfs", "adlfs", "boto3", "psycopg", "psycopg2", "uvicorn"),
    *("adbc_driver_manager", "adbc_driver_postgresql", "pyarrow.fs", "pyarrow.flight"),
}
"""What Python code needs to open a connection to another machine, or to listen for one."""
# Functions that run a text as code.
RUNNERS = {"eval", "exec", "compile", "__import__", "execfile", "runpy", "run_path", "run_module"}


def promises(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each promise of a page with the tests that it names."""
    for table in page.split(HEADER)[1:]:
        for line in table.splitlines()[2:]:
            if not line.startswith("|"):
                break
            promise, named = (cell.strip() for cell in line.strip("|").split("|", 1))
            yield promise, re.findall(r"`([^`]+)`", named)


def problem_of(named: str) -> str:
    """Return what is wrong with the name of a test, nothing if pytest would find it."""
    file, *inside = named.split("::")
    path = ROOT / file
    if not path.is_file() or not file.startswith("tests/"):
        return f"no file {file}"
    body: list[ast.stmt] = ast.parse(path.read_text("utf-8")).body
    for name in inside:
        defined = {each.name: each for each in body if isinstance(each, (ast.ClassDef, ast.FunctionDef))}
        if name not in defined:
            return f"{file} has no {name}"
        body = defined[name].body
    return "" if inside and inside[-1].startswith("test_") else f"{named} is no test"


def test_every_promise_names_tests_that_exist() -> None:
    found = dict(promises(PAGE))
    assert len(found) > 25
    assert [promise for promise, named in found.items() if not named] == []
    assert [problem for named in found.values() for each in named if (problem := problem_of(each))] == []


@pytest.mark.parametrize(
    "named",
    [
        "tests/test_gone.py::test_it",
        "tests/test_markers.py::test_gone",
        "tests/test_markers.py::Place",
        "tests/test_markers.py",
        "src/sfumato/runtime/errors.py::test_it",
    ],
)
def test_a_test_that_does_not_exist_is_noticed(named: str) -> None:
    page = f"{HEADER}\n|---|---|\n| Nothing happens | `{named}` |\n\n| other | table |\n"
    ((promise, (found,)),) = promises(page)
    assert (promise, found) == ("Nothing happens", named)
    assert problem_of(found)


def runs_code(source: str) -> bool:
    """Return whether a module uses a function that runs a text as code."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and node.attr != "compile":  # re.compile makes a pattern
            names.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.name for alias in node.names} - {"compile"}
            names.add(getattr(node, "module", None) or "")
    return bool(names & RUNNERS)


def test_no_text_is_run_as_code() -> None:
    found = {name for name, source in modules().items() if runs_code(source)}
    assert len(modules()) > 300
    assert found == {LAUNCHER}, "which runs the script that the user has started, again in a worker"


@pytest.mark.parametrize(
    "planted",
    [
        "eval(text)",
        "exec(text)",
        "builtins.eval(text)",
        "from builtins import eval as harmless",
        "import runpy as harmless",
        "from runpy import run_path as harmless",
        "compile(a, b, 'eval')",
        "frame.eval(text)",
    ],
)
def test_running_a_text_would_be_noticed(planted: str) -> None:
    assert runs_code(planted)
    assert not runs_code("pattern = re.compile('a'); evaluated = 1")


def uses_the_network(source: str) -> bool:
    """Return whether a module has what opens a connection, or listens."""
    return any(belongs(name, NETWORK) for name in names_of(source))


def test_only_the_workbench_and_databases_can_use_the_network() -> None:
    found = {name for name, source in modules().items() if uses_the_network(source)}
    assert found == {
        "reading/databases.py",  # the address that you name
        "runtime/processes.py",  # a pair of connected sockets of this machine, without an address
        "interfaces/workbench/server.py",  # listens
    }


@pytest.mark.parametrize(
    "planted",
    [
        "import socket",
        "from urllib.request import urlopen",
        "import urllib.request as harmless",
        "from urllib import request",
        "import http.client",
        "from pyarrow.fs import S3FileSystem",
        "from pyarrow import fs",
        "import pyarrow.flight",
        "from importlib import import_module; import_module('requests')",
    ],
)
def test_a_use_of_the_network_would_be_noticed(planted: str) -> None:
    assert uses_the_network(planted)
    assert not uses_the_network("from urllib.parse import quote; import starlette")
