"""Only the launcher starts processes, and only its messages are unpickled: read from the source itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato

PACKAGE = Path(sfumato.__file__).parent
LAUNCHER = "runtime/processes.py"
MESSAGES = "runtime/messages.py"

STARTS = {
    "subprocess",
    "multiprocessing",
    "concurrent.futures.process",
    "concurrent.futures.ProcessPoolExecutor",
    "asyncio.subprocess",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "pty",
    "popen2",
    "webbrowser",
    "joblib",
    "loky",
    "pexpect",
    "_posixsubprocess",
    "_winapi",
}
"""Modules, and names in modules, whose purpose is to start a process."""
STARTS_OF_OS = ("fork", "exec", "spawn", "posix_spawn", "system", "popen", "startfile")
"""How the names of the functions of `os` begin that do so."""
UNPICKLES = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "_pickle", "copyreg"}
"""Modules that read pickles, or something as dangerous."""


def names_of(source: str) -> Iterator[str]:
    """Yield every name that a module reaches, from the module that it is imported from: ``os.fork``."""
    tree = ast.parse(source)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(given.value) for given in node.args if isinstance(given, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in known:
                yield ".".join([known[first], *rest])


def belongs(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def starts_a_process(source: str) -> bool:
    """Whether the source of a module has what starts processes."""
    return any(
        belongs(name, STARTS) or name.removeprefix("os.").startswith(STARTS_OF_OS)
        for name in names_of(source)
        if belongs(name, STARTS) or name.startswith("os.")
    )


def unpickles(source: str) -> bool:
    """Whether the source of a module has what reads pickles: by such a module, NumPy or pandas."""
    return any(
        belongs(name, UNPICKLES) or name.endswith((".read_pickle", ".Unpickler")) for name in names_of(source)
    ) or any(
        isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False"
        for node in ast.walk(ast.parse(source))
    )


def modules() -> dict[str, str]:
    """Return every module of the package with its source."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}


def test_only_the_launcher_starts_processes() -> None:
    assert len(modules()) > 200
    assert [name for name, source in modules().items() if starts_a_process(source)] == [LAUNCHER]


def test_pickles_are_read_by_the_messages_between_our_own_processes_alone() -> None:
    assert [name for name, source in modules().items() if unpickles(source)] == [MESSAGES]


def test_the_messages_are_read_from_pipes_alone() -> None:
    """The module that unpickles opens no file and no socket, and its users are the launcher and its rooms."""
    source = modules()[MESSAGES]
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    assert not {name for name in called if name.rpartition(".")[2] in ("open", "socket", "connect", "Path")}
    assert {name for name in called if name.endswith(("loads", "load"))} == {"pickle.loads"}
    users = [name for name, text in modules().items() if "unpickled(" in text and name != MESSAGES]
    assert users == [LAUNCHER]
    # the connections are made of nothing but the pipes of a child, or of those to our parent
    made = [
        ast.unparse(node)
        for text in modules().values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "MessagePipes"
    ]
    assert sorted(made) == [
        "MessagePipes(*pipes)",
        "MessagePipes(os.fdopen(our_input, 'rb', 0), os.fdopen(our_output, 'wb', 0))",
        "MessagePipes(process.stdout, process.stdin)",
    ]


@pytest.mark.parametrize(
    "planted",
    [
        "import subprocess",
        "import subprocess as s\ns.run(['ls'])",
        "def f():\n    from subprocess import run",
        "import os\nos.fork()",
        "import os\nos.execv('/bin/ls', [])",
        "import os\nos.spawnl(0, 'ls')",
        "import os\nos.posix_spawn('ls', [], {})",
        "import os\nos.system('ls')",
        "import os\nos.popen('ls')",
        "import os as system\nsystem.forkpty()",
        "from os import fork",
        "from os import execvp as run",
        "import multiprocessing.pool",
        "from multiprocessing import Process",
        "from concurrent.futures import ProcessPoolExecutor",
        "from concurrent import futures\nfutures.ProcessPoolExecutor()",
        "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()",
        "import asyncio\nasyncio.create_subprocess_exec('ls')",
        "import webbrowser",
        "from importlib import import_module\nimport_module('subprocess')",
        "__import__('subprocess')",
    ],
)
def test_whatever_starts_a_process_is_noticed(planted: str) -> None:
    assert starts_a_process(planted)


@pytest.mark.parametrize(
    "planted",
    [
        "import pickle",
        "from pickle import load",
        "def f():\n    import cloudpickle as c\n    return c.loads(b'')",
        "import joblib",
        "import shelve",
        "import marshal",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "import pandas as pd\npd.read_pickle('x')",
    ],
)
def test_whatever_reads_pickles_is_noticed(planted: str) -> None:
    assert unpickles(planted)


@pytest.mark.parametrize(
    "harmless",
    [
        "import os\nos.getcwd()\nos.path.exists('x')",
        "from concurrent.futures import ThreadPoolExecutor",
        "import numpy as np\nnp.load('x', allow_pickle=False)",
        "def fork(): ...\nfork()",
    ],
)
def test_what_does_neither_is_let_be(harmless: str) -> None:
    assert not starts_a_process(harmless)
    assert not unpickles(harmless)
